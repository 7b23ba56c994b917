#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...) {
    if (err == NULL || err->msg[0] != '\0')
        return rc;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    /* Names come from files: nothing in them may move the reader's cursor. */
    for (unsigned char *p = (unsigned char *)err->msg; *p != '\0'; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
    return rc;
}
