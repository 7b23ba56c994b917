#include "cmd/unit_hint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/quantity.h"

/* Units as people write them, in any case. `factor` of them is one of the argument's. */
static const struct {
    const char *argument, *said;
    const char *written[5];
    double factor;
} units[] = {
    {"SEC", "seconds", {"s", "sec", "secs", "second", "seconds"}, 1},
    {"SEC", "seconds", {"ms", "msec", "millisecond", "milliseconds"}, 0.001},
    {"SEC", "seconds", {"m", "min", "mins", "minute", "minutes"}, 60},
    {"SEC", "seconds", {"h", "hr", "hour", "hours"}, 3600},
    {"PERCENT", "percent", {"%", "percent", "pct"}, 1},
    {"GB/s", "GB/s", {"GB/s", "GBps", "GB", "GBs", "G"}, 1},
    {"GB/s", "GB/s", {"MB/s", "MBps", "MB", "MBs", "M"}, 0.001},
};
enum { N_UNITS = sizeof units / sizeof units[0] };

static bool is_written(size_t row, const char *unit) {
    for (size_t i = 0; i < 5 && units[row].written[i] != NULL; i++)
        if (strcasecmp(units[row].written[i], unit) == 0)
            return true;
    return false;
}

/* A number, and what follows it. */
struct quantity {
    char number[16]; /* digits with at most one point */
    const char *unit;
};

/* Reads "1.5 GiB", "1,5 GiB", ".5GiB" or, of -b=2GiB, "=2GiB". False if the text does not
 * begin with such a number. */
static bool split(const char *text, struct quantity *q) {
    text += text[0] == '=';
    size_t n = strspn(text, "0123456789");
    bool bare = text[0] == '.'; /* without a digit in front of the point */
    if ((text[n] == '.' || text[n] == ',') && isdigit((unsigned char)text[n + 1]))
        n += 1 + strspn(text + n + 1, "0123456789");
    if (n == 0 || n + bare >= sizeof q->number)
        return false;
    snprintf(q->number, sizeof q->number, "%s%.*s", bare ? "0" : "", (int)n, text);
    char *comma = strchr(q->number, ',');
    if (comma != NULL)
        *comma = '.';
    q->unit = text + n + strspn(text + n, " ");
    return true;
}

/* What a unit of sizes begins with, 'K' to 'T' or 'B', and whether it is one of 1024 ('i')
 * or of 1000 ('b'); 0 if it does not say. False if it is no unit of sizes. */
static bool read_size_unit(const char *unit, char *letter, char *base) {
    static const char *const words[] = {"byte", "kilo", "mega", "giga", "tera"};
    char folded[16];
    size_t n = 0;
    for (; unit[n] != '\0' && n < sizeof folded - 1; n++)
        folded[n] = (char)tolower((unsigned char)unit[n]);
    folded[n] = '\0';
    *letter = (char)toupper((unsigned char)folded[0]);
    *base = '\0';
    if (unit[n] != '\0' || folded[0] == '\0')
        return false;
    for (int i = 0; i < 5; i++)
        if (strncmp(folded, words[i], 4) == 0) {
            *base = i > 0 ? 'b' : '\0';
            return true;
        }
    const char *rest = folded + 1;
    if (folded[0] == 'b')
        return *rest == '\0';
    *base = *rest;
    return strchr("kmgt", folded[0]) != NULL &&
           (strcmp(rest, "") == 0 || strcmp(rest, "b") == 0 || strcmp(rest, "bs") == 0 ||
            strcmp(rest, "i") == 0 || strcmp(rest, "ib") == 0 || strcmp(rest, "ibs") == 0);
}

/* What may have been meant: up to two texts, the others empty. */
static void guess_sizes(const struct quantity *q, bool share_accepted,
                        struct rp_text32 guess[2]) {
    char letter, base = '\0';
    double value = atof(q->number);
    bool share = strcmp(q->unit, "%") == 0 || strcasecmp(q->unit, "percent") == 0;
    if (share || (*q->unit == '\0' && share_accepted && value <= 1))
        snprintf(guess[0].s, sizeof guess[0].s, "%g%%", share ? value : 100 * value);
    else if (!read_size_unit(q->unit, &letter, &base))
        return;
    else if (letter == 'B')
        snprintf(guess[0].s, sizeof guess[0].s, "%s", q->number);
    else
        snprintf(guess[0].s, sizeof guess[0].s, "%s%c%s", q->number, letter,
                 base == 'b' ? "B" : "iB");
    if (base == 'b')
        snprintf(guess[1].s, sizeof guess[1].s, "%s%ciB", q->number, letter);
}

static bool is_size(const char *text) {
    uint64_t bytes;
    return rp_parse_bytes(text, &bytes) || rp_parse_share(text, 1, &bytes);
}

struct rp_text64 rp_hint_of_size(const char *text, bool share_accepted) {
    struct rp_text64 t = {{0}};
    struct rp_text32 guess[2] = {{{0}}, {{0}}};
    struct quantity q;
    if (!split(text, &q))
        return t;
    guess_sizes(&q, share_accepted, guess);
    if (strchr(guess[0].s, '%') != NULL && !share_accepted)
        snprintf(t.s, sizeof t.s, "; it cannot be a share");
    else if (is_size(guess[0].s))
        snprintf(t.s, sizeof t.s, "; did you mean %.18s%s%.18s?", guess[0].s,
                 guess[1].s[0] != '\0' ? " or " : "", guess[1].s);
    return t;
}

struct rp_text64 rp_hint_of_number(const char *text, const char *unit) {
    struct rp_text64 t = {{0}};
    struct quantity q;
    if (!split(text, &q))
        return t;
    for (size_t i = 0; i < N_UNITS; i++)
        if (strcmp(units[i].argument, unit) == 0 && is_written(i, q.unit))
            snprintf(t.s, sizeof t.s, "; did you mean %g, in %s?",
                     atof(q.number) * units[i].factor, units[i].said);
    return t;
}

bool rp_is_unit(const char *text) {
    char letter, base;
    for (size_t i = 0; i < N_UNITS; i++)
        if (is_written(i, text))
            return true;
    return read_size_unit(text, &letter, &base);
}
