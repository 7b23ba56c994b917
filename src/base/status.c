#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The length of the UTF-8 sequence at p, or 0 if it is not a well-formed one (Unicode 15,
 * table 3-7). */
static int character_length(const unsigned char *p) {
    if (p[0] < 0x80)
        return 1;
    int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    bool too_large = p[0] == 0xf4 && p[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : n;
}

static uint32_t code_point(const unsigned char *p, int n) {
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = p[0] & first[n];
    for (int i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3fU);
    return c;
}

/* Characters that take no room or change how those beside them are shown. */
static bool is_hidden(uint32_t c) {
    static const uint32_t ranges[][2] = {
        {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
        {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
        {0xfffe, 0xffff},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* Steps over what is at *p: a character, or a byte of none. Returns how it is shown, of *n
 * bytes: itself, or its escape, in `escape`. */
static const char *shown(const char **p, char escape[16], size_t *n) {
    const char *at = *p;
    const unsigned char *u = (const unsigned char *)at;
    int length = character_length(u);
    uint32_t c = length > 0 ? code_point(u, length) : u[0];
    *p += length > 0 ? length : 1;
    *n = (size_t)length;
    if (length > 0 && !is_hidden(c))
        return at;
    const char *form = length == 0 || c < 0x80 ? "\\x%02x"
                       : c > 0xffff            ? "\\U%08x"
                                               : "\\u%04x";
    *n = (size_t)snprintf(escape, 16, form, (unsigned)c);
    return escape;
}

const char *rp_find_hidden(const char *text, uint32_t *c, size_t *n) {
    for (; *text != '\0'; text += *n) {
        const unsigned char *u = (const unsigned char *)text;
        int length = character_length(u);
        *c = length > 0 ? code_point(u, length) : u[0];
        *n = length > 0 ? (size_t)length : 1;
        if (length == 0 || is_hidden(*c))
            return text;
    }
    return NULL;
}

void rp_clean_into(char *to, size_t size, const char *text) {
    char escape[16];
    size_t used = 0, n;
    while (*text != '\0') {
        const char *s = shown(&text, escape, &n);
        if (used + n >= size)
            break;
        memcpy(to + used, s, n);
        used += n;
    }
    to[used] = '\0';
}

char *rp_clean_copy(const char *text) {
    enum { LONGEST = 10 }; /* of what a byte becomes */
    size_t size = LONGEST * strlen(text) + 1;
    char *copy = rp_calloc(size, 1);
    rp_clean_into(copy, size, text);
    return copy;
}

void rp_put_clean(const char *text, FILE *f) {
    char escape[16];
    size_t n;
    while (*text != '\0') {
        const char *s = shown(&text, escape, &n);
        fwrite(s, 1, n, f);
    }
}

void rp_put_clean_line(const char *before, const char *text, FILE *f) {
    fputs(before, f);
    rp_put_clean(text, f);
    fputc('\n', f);
}

rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...) {
    if (err == NULL || err->msg[0] != '\0')
        return rc;
    va_list ap;
    char raw[sizeof err->msg];
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    rp_clean_into(err->msg, sizeof err->msg, raw);
    return rc;
}
