/* SPDX-License-Identifier: MIT */
#include "remat/remat_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool remat_grow(void **at, size_t *cap, size_t size) {
    size_t want = *cap > 0 ? 2 * *cap : 64;
    void *to = want > SIZE_MAX / 2 / size ? NULL : realloc(*at, want * size);
    if (to == NULL)
        return false;
    *at = to;
    *cap = want;
    return true;
}

bool remat_fail(struct remat_error *error, const char *fmt, ...) {
    if (error == NULL || error->text[0] != '\0')
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, ap);
    va_end(ap);
    /* Names come from files, and nothing in them may move a terminal's cursor. */
    for (char *c = error->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    return false;
}
