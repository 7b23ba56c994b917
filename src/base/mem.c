#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

void rp_out_of_memory(void) {
    fputs("remat-plan: out of memory\n", stderr);
    fflush(stderr);
    /* In a forked process, exit() would write the parent's output again. */
    _exit(RP_ENV);
}

static void *or_exit(void *p) {
    if (p == NULL)
        rp_out_of_memory();
    return p;
}

void *rp_calloc(size_t n, size_t size) {
    return or_exit(calloc(n ? n : 1, size ? size : 1));
}

void *rp_realloc(void *p, size_t n, size_t size) {
    return or_exit(n > SIZE_MAX / 2 / size ? NULL : realloc(p, n ? n * size : 1));
}

char *rp_strdup(const char *s) {
    return s == NULL ? NULL : or_exit(strdup(s));
}

char *rp_format(const char *fmt, ...) {
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return or_exit(n < 0 ? NULL : text);
}
