#include "cmd/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool rp_parse_nat(const char *text, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || v > RP_MAX_QUANTITY)
        return false;
    *value = v;
    return true;
}

bool rp_parse_number(const char *text, double *value) {
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    errno = 0;
    double v = strtod(text, &end);
    if (errno != 0 || *end != '\0' || !isfinite(v) || v < 0 || strpbrk(text, "xXpP"))
        return false;
    *value = v;
    return true;
}

/* The factor that a size suffix stands for. 0 if it is not one. */
static uint64_t suffix_factor(const char *s) {
    static const char letters[] = "KMGT";
    if (*s == '\0' || strcmp(s, "B") == 0)
        return 1;
    const char *p = strchr(letters, toupper((unsigned char)s[0]));
    if (p == NULL || *p == '\0')
        return 0;
    bool decimal = strcmp(s + 1, "B") == 0;
    if (!decimal && s[1] != '\0' && strcmp(s + 1, "iB") != 0)
        return 0;
    uint64_t factor = 1;
    for (long i = 0; i <= p - letters; i++)
        factor *= decimal ? 1000 : 1024;
    return factor;
}

/* Reads digits with an optional fraction, exactly: scaled / pow10, each below 2^67. Returns
 * what follows them, or NULL if `text` does not begin so. */
static const char *read_decimal(const char *text, unsigned __int128 *scaled,
                                unsigned __int128 *pow10) {
    const char *p = text;
    bool point = false;
    *scaled = 0;
    *pow10 = 1;
    if (!isdigit((unsigned char)*p))
        return NULL;
    for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (*scaled > RP_MAX_QUANTITY || *pow10 > RP_MAX_QUANTITY)
            return NULL;
        *scaled = *scaled * 10 + (unsigned)(*p - '0');
        *pow10 *= point ? 10 : 1;
    }
    return p[-1] == '.' ? NULL : p;
}

bool rp_parse_bytes(const char *text, uint64_t *bytes) {
    unsigned __int128 scaled, pow10;
    const char *suffix = read_decimal(text, &scaled, &pow10);
    uint64_t factor = suffix == NULL ? 0 : suffix_factor(suffix);
    if (factor == 0)
        return false;
    scaled *= factor;
    if (scaled % pow10 != 0 && factor == 1)
        return false;
    if (scaled / pow10 > RP_MAX_QUANTITY)
        return false;
    *bytes = (uint64_t)(scaled / pow10);
    return true;
}

bool rp_parse_share(const char *text, uint64_t whole, uint64_t *part) {
    unsigned __int128 scaled, pow10;
    const char *suffix = read_decimal(text, &scaled, &pow10);
    if (suffix == NULL || strcmp(suffix, "%") != 0 || scaled == 0 ||
        scaled > RP_MAX_QUANTITY)
        return false;
    unsigned __int128 bytes = scaled * whole / (100 * pow10);
    if (bytes > RP_MAX_QUANTITY)
        return false;
    *part = (uint64_t)bytes;
    return true;
}
