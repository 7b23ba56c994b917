#include "cmd/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

/* Longer texts are no mistyped names. */
enum { MAX_LETTERS = 48 };

/* Writes what counts of text[0..len-1]. Returns its length; 0 if it is too long. */
static size_t fold(const char *text, size_t len, char letters[MAX_LETTERS]) {
    size_t n = 0;
    for (size_t i = 0; i < len && text[i] != '\0'; i++) {
        if (strchr("-_ ", text[i]) != NULL)
            continue;
        if (n == MAX_LETTERS)
            return 0;
        letters[n++] = (char)tolower((unsigned char)text[i]);
    }
    return n;
}

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

typedef size_t costs[MAX_LETTERS + 1][MAX_LETTERS + 1];

/* c[i][k] is the cost of turning the first i letters of a into the first k of b. */
static void compare(const char *a, size_t n, const char *b, size_t m, costs c) {
    enum { EDIT = 2 };
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            if (i == 0 || k == 0) {
                c[i][k] = (i + k) * EDIT;
                continue;
            }
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            c[i][k] = min(c[i - 1][k], c[i][k - 1]) + EDIT;
            c[i][k] = min(c[i][k], c[i - 1][k - 1] + (a[i - 1] != b[k - 1] ? EDIT : 0));
            if (swapped)
                c[i][k] = min(c[i][k], c[i - 2][k - 2] + EDIT);
        }
}

/* The cost of the whole texts, or of one of them and the beginning of the other. */
static size_t cost(const char *a, size_t n, const char *b, size_t m) {
    enum { END = 1, MIN_BEGINNING = 3 };
    costs c;
    compare(a, n, b, m, c);
    size_t least = c[n][m];
    for (size_t k = MIN_BEGINNING; k < m && n >= MIN_BEGINNING; k++)
        least = min(least, c[n][k] + END);
    for (size_t i = MIN_BEGINNING; i < n && m >= MIN_BEGINNING; i++)
        least = min(least, c[i][m] + END);
    return least;
}

struct rp_nearest rp_nearest_to(const char *text, size_t len) {
    return (struct rp_nearest){text, len, SIZE_MAX, 0, {NULL}};
}

/* Two mistakes in a short word are another word. */
static size_t max_cost(size_t n_letters) {
    return n_letters <= 4 ? min(n_letters, 2) : 2 + n_letters / 2;
}

void rp_nearest_try_as(struct rp_nearest *near, const char *spelling, const char *name) {
    char a[MAX_LETTERS], b[MAX_LETTERS];
    size_t n = fold(near->text, near->len, a), m = fold(spelling, strlen(spelling), b);
    if (n == 0 || m == 0)
        return;
    size_t c = cost(a, n, b, m);
    if (c > max_cost(min(n, m)))
        return;
    if (c < near->cost) {
        near->cost = c;
        near->n = 0;
    }
    bool again = near->n > 0 && near->names[near->n - 1] == name;
    if (c == near->cost && near->n < RP_MAX_NEAREST && !again)
        near->names[near->n++] = name;
}

void rp_nearest_try(struct rp_nearest *near, const char *name) {
    rp_nearest_try_as(near, name, name);
}

void rp_nearest_try_all(struct rp_nearest *near, rp_names *names) {
    for (size_t i = 0; names(i) != NULL; i++)
        rp_nearest_try(near, names(i));
}

/* What stands before the i-th of n names. */
static const char *between(size_t i, size_t n) {
    return i == 0 ? "" : i + 1 < n ? ", " : " or ";
}

rp_rc rp_refuse_name(const char *what, const char *text, const char *prefix,
                     const struct rp_nearest *near, const char *advice,
                     struct rp_err *err) {
    char *names;
    size_t len;
    if (near->n == 0)
        return rp_fail(err, RP_USAGE, "%s '%.80s' (%s)", what, text, advice);
    FILE *f = rp_text_open(&names, &len);
    for (size_t i = 0; i < near->n; i++)
        fprintf(f, "%s'%s%s'", between(i, near->n), prefix, near->names[i]);
    rp_text_close(f);
    rp_fail(err, RP_USAGE, "%s '%.80s'; did you mean %s?", what, text, names);
    free(names);
    return RP_USAGE;
}

static rp_rc refuse_choice(const char *command, const char *option, const char *word,
                           rp_names *names, size_t n, struct rp_err *err) {
    struct rp_nearest near = rp_nearest_to(word, strlen(word));
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_nearest_try_all(&near, names);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%s", between(i, n), names(i));
    for (size_t i = 0; i < near.n; i++)
        fprintf(f, "%s'%s'%s", i == 0 ? "; did you mean " : between(i, near.n),
                near.names[i], i + 1 == near.n ? "?" : "");
    rp_text_close(f);
    rp_fail(err, RP_USAGE, "%s: --%s: '%.80s' is not %s", command, option, word, text);
    free(text);
    return RP_USAGE;
}

rp_rc rp_choose(const char *command, const char *option, const char *word, rp_names *names,
                size_t *chosen, struct rp_err *err) {
    size_t n = 0;
    for (; names(n) != NULL; n++)
        if (strcmp(word, names(n)) == 0) {
            *chosen = n;
            return RP_OK;
        }
    return refuse_choice(command, option, word, names, n, err);
}

char *rp_list_names(const char *before, rp_names *names) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    for (size_t i = 0; names(i) != NULL; i++)
        fprintf(f, "%s%s", i > 0 ? ", " : before, names(i));
    rp_text_close(f);
    return text;
}
