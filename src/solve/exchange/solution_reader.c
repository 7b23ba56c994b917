#include "solve/exchange/solution_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

rp_rc rp_solution_fail(struct rp_solution_reader *r, char *rule) {
    rp_rc rc =
        rp_fail(r->err, RP_INPUT, "%s:%zu: %.600s", rp_path_name(r->path), r->line, rule);
    free(rule);
    return rc;
}

rp_rc rp_solution_none(struct rp_solution_reader *r) {
    return RP_SOLUTION_FAIL(r, "the file holds no solution");
}

/* ---- lines and words ---- */

char *rp_solution_raw_line(struct rp_solution_reader *r) {
    char *line = strsep(&r->rest, "\n");
    r->line += line != NULL;
    return line;
}

bool rp_solution_line(struct rp_solution_reader *r) {
    char *line = rp_solution_raw_line(r), *word;
    r->n_words = 0;
    if (line == NULL)
        return false;
    while (r->n_words < RP_SOLUTION_WORDS && (word = strsep(&line, " \t\r")) != NULL)
        if (*word != '\0')
            r->word[r->n_words++] = word;
    return true;
}

bool rp_solution_words(struct rp_solution_reader *r) {
    while (rp_solution_line(r))
        if (r->n_words > 0)
            return true;
    return false;
}

const char *rp_solution_word_at(const struct rp_solution_reader *r, int k) {
    return k >= 0 && k < r->n_words ? r->word[k] : "";
}

bool rp_solution_word(const struct rp_solution_reader *r, int k, const char *text) {
    return strcmp(rp_solution_word_at(r, k), text) == 0;
}

/* ---- values ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct rp_solution_name *)a)->name,
                  ((const struct rp_solution_name *)b)->name);
}

void rp_solution_reader_init(struct rp_solution_reader *r, char *const *names) {
    r->named = rp_calloc((size_t)r->n_cols + 1, sizeof *r->named);
    r->seen = rp_calloc((size_t)r->n_cols + 1, sizeof *r->seen);
    for (uint32_t j = 0; j < r->n_cols; j++)
        r->named[j] = (struct rp_solution_name){names[j], j};
    qsort(r->named, r->n_cols, sizeof *r->named, by_name);
    rp_solution_forget(r);
}

void rp_solution_reader_fini(struct rp_solution_reader *r) {
    free(r->named);
    free(r->seen);
}

rp_rc rp_solution_number(struct rp_solution_reader *r, const char *text, double *v) {
    char *end = NULL;
    *v = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*v))
        return RP_SOLUTION_FAIL(r, "'%.40s' is not a number", text);
    return RP_OK;
}

rp_rc rp_solution_set(struct rp_solution_reader *r, uint32_t col, const char *name,
                      const char *number) {
    if (r->seen[col])
        return RP_SOLUTION_FAIL(r, "column '%.100s' comes twice", name);
    r->seen[col] = true;
    r->n_seen++;
    return rp_solution_number(r, number, &r->x[col]);
}

static const struct rp_solution_name *find(const struct rp_solution_reader *r,
                                           const char *name) {
    struct rp_solution_name key = {.name = name};
    return bsearch(&key, r->named, r->n_cols, sizeof *r->named, by_name);
}

bool rp_solution_has_column(const struct rp_solution_reader *r, const char *name) {
    return find(r, name) != NULL;
}

rp_rc rp_solution_set_named(struct rp_solution_reader *r, const char *name,
                            const char *number) {
    const struct rp_solution_name *at = find(r, name);
    if (at != NULL)
        return rp_solution_set(r, at->col, name, number);
    return strcmp(name, "ONE") == 0
               ? RP_OK
               : RP_SOLUTION_FAIL(r, "the model has no column '%.100s'", name);
}

void rp_solution_forget(struct rp_solution_reader *r) {
    for (uint32_t j = 0; j < r->n_cols; j++) {
        r->seen[j] = false;
        r->x[j] = 0;
    }
    r->n_seen = 0;
}

rp_rc rp_solution_all_seen(struct rp_solution_reader *r) {
    for (uint32_t k = 0; k < r->n_cols && r->n_seen < r->n_cols; k++)
        if (!r->seen[r->named[k].col])
            return RP_SOLUTION_FAIL(r, "the file has no column '%.100s'", r->named[k].name);
    return RP_OK;
}
