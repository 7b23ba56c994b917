#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* The length of the UTF-8 sequence at p, or 0 if it is not a well-formed printable
 * character (Unicode 15, table 3-7). The C1 controls U+0080..U+009F are not printable. */
static int printable_length(const unsigned char *p) {
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    bool too_large = p[0] == 0xf4 && p[1] >= 0x90;
    bool c1 = p[0] == 0xc2 && p[1] < 0xa0;
    return overlong || surrogate || too_large || c1 ? 0 : n;
}

void rp_clean_text(char *text) {
    unsigned char *p = (unsigned char *)text;
    while (*p != '\0') {
        int n = printable_length(p);
        if (n == 0)
            *p = '?';
        p += n ? n : 1;
    }
}

void rp_put_clean(const char *text, FILE *f) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p != '\0') {
        int n = printable_length(p);
        if (n == 0)
            fputc('?', f);
        else
            fwrite(p, 1, (size_t)n, f);
        p += n ? n : 1;
    }
}

rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...) {
    if (err == NULL || err->msg[0] != '\0')
        return rc;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    rp_clean_text(err->msg);
    return rc;
}
