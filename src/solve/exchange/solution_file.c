#include "solve/exchange/solution_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"

enum { MAX_WORDS = 8 };

struct named {
    const char *name;
    uint32_t col;
};

/* One file, of which line after line is taken. */
struct reader {
    char *rest; /* NULL at the end */
    const char *path;
    size_t line;
    char *word[MAX_WORDS]; /* of the line that was taken last */
    int n_words;
    uint32_t n_cols, n_seen;
    struct named *named; /* by name */
    bool *seen;
    double *x;
    struct rp_err *err;
};

#define FAIL(r, ...) fail_at(r, rp_format(__VA_ARGS__))
static rp_rc fail_at(struct reader *r, char *rule) {
    rp_rc rc =
        rp_fail(r->err, RP_INPUT, "%s:%zu: %.600s", rp_path_name(r->path), r->line, rule);
    free(rule);
    return rc;
}

/* ---- lines and words ---- */

/* Takes the next line and cuts it into words. False at the end. */
static bool next_line(struct reader *r) {
    char *line = strsep(&r->rest, "\n"), *word;
    r->n_words = 0;
    if (line == NULL)
        return false;
    r->line++;
    while (r->n_words < MAX_WORDS && (word = strsep(&line, " \t\r")) != NULL)
        if (*word != '\0')
            r->word[r->n_words++] = word;
    return true;
}

/* The same for lines that are not empty. */
static bool next_words(struct reader *r) {
    while (next_line(r))
        if (r->n_words > 0)
            return true;
    return false;
}

static bool word_is(const struct reader *r, int k, const char *text) {
    return k >= 0 && k < r->n_words && strcmp(r->word[k], text) == 0;
}

/* ---- values ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static rp_rc read_number(struct reader *r, int k, double *v) {
    char *end = NULL;
    *v = k < r->n_words ? strtod(r->word[k], &end) : 0;
    if (end == NULL || *end != '\0' || !isfinite(*v))
        return FAIL(r, "'%.40s' is not a number", k < r->n_words ? r->word[k] : "");
    return RP_OK;
}

/* Sets a column to word k. */
static rp_rc set_col(struct reader *r, uint32_t col, const char *name, int k) {
    if (r->seen[col])
        return FAIL(r, "column '%.100s' comes twice", name);
    r->seen[col] = true;
    r->n_seen++;
    return read_number(r, k, &r->x[col]);
}

static rp_rc set_named(struct reader *r, const char *name, int k) {
    struct named key = {.name = name};
    const struct named *at = bsearch(&key, r->named, r->n_cols, sizeof *r->named, by_name);
    if (at != NULL)
        return set_col(r, at->col, name, k);
    return strcmp(name, "ONE") == 0 ? RP_OK
                                    : FAIL(r, "the model has no column '%.100s'", name);
}

static rp_rc all_seen(struct reader *r) {
    for (uint32_t k = 0; k < r->n_cols && r->n_seen < r->n_cols; k++)
        if (!r->seen[r->named[k].col])
            return FAIL(r, "the file has no column '%.100s'", r->named[k].name);
    return RP_OK;
}

static rp_rc no_solution(struct reader *r) {
    return FAIL(r, "the file holds no solution");
}

/* ---- glpsol -w: "s mip ROWS COLS STATUS COST", "i ROW VALUE", "j COL VALUE" ---- */

static rp_rc read_glpsol_col(struct reader *r) {
    double number;
    rp_rc rc = read_number(r, 1, &number);
    if (rc != RP_OK || number == r->n_cols + 1.0)
        return rc;
    if (!(number >= 1 && number <= r->n_cols) || number != floor(number))
        return FAIL(r, "the model has no column %.40s", r->word[1]);
    return set_col(r, (uint32_t)number - 1, r->word[1], 2);
}

static rp_rc read_glpsol(struct reader *r) {
    rp_rc rc = RP_OK;
    bool ended = false;
    do {
        if (word_is(r, 0, "s") && !word_is(r, 1, "mip"))
            rc = FAIL(r, "this is no solution of a mixed-integer program");
        else if (word_is(r, 0, "s") && !word_is(r, 4, "o") && !word_is(r, 4, "f"))
            rc = no_solution(r);
        else if (word_is(r, 0, "j"))
            rc = read_glpsol_col(r);
        ended = word_is(r, 0, "e");
    } while (rc == RP_OK && !ended && next_words(r));
    return rc == RP_OK ? all_seen(r) : rc;
}

/* ---- glpsol -o: a table of rows, then one of columns ---- */

/* A long name stands on a line of its own: number, name, ["*",] activity, bounds. */
static rp_rc read_report_col(struct reader *r) {
    char *name = r->word[1];
    if (r->n_words == 2 && !next_words(r))
        return FAIL(r, "column '%.100s' has no value", name);
    bool same_line = r->word[1] == name;
    int k = same_line ? 2 : 0;
    return set_named(r, name, word_is(r, k, "*") ? k + 1 : k);
}

static rp_rc read_report(struct reader *r) {
    rp_rc rc = RP_OK;
    bool columns = false, table = false;
    while (rc == RP_OK && next_line(r)) {
        if (word_is(r, 0, "Status:") && !word_is(r, 2, "OPTIMAL") &&
            !word_is(r, 2, "NON-OPTIMAL"))
            rc = no_solution(r);
        else if (word_is(r, 0, "No."))
            columns = word_is(r, 1, "Column");
        else if (r->n_words > 0 && r->word[0][0] == '-')
            table = columns;
        else if (r->n_words == 0)
            table = false;
        else if (table && r->n_words >= 2)
            rc = read_report_col(r);
    }
    return rc == RP_OK ? all_seen(r) : rc;
}

/* ---- HiGHS: values between "# Columns" and "# Rows" ---- */

static rp_rc read_highs(struct reader *r) {
    rp_rc rc = RP_OK;
    bool primal = false, columns = false;
    while (rc == RP_OK && next_words(r)) {
        if (word_is(r, 0, "#")) {
            primal = primal || word_is(r, 1, "Primal");
            if (columns)
                break;
            columns = primal && word_is(r, 1, "Columns");
        } else if (columns) {
            rc = set_named(r, r->word[0], 1);
        } else if (primal && (word_is(r, 0, "None") || word_is(r, 0, "Infeasible"))) {
            rc = no_solution(r);
        }
    }
    return rc == RP_OK ? all_seen(r) : rc;
}

/* ---- CBC: "[**] NUMBER NAME VALUE COST" ---- */

static rp_rc read_cbc(struct reader *r) {
    rp_rc rc = RP_OK;
    for (int k = 0; k < r->n_words; k++)
        if (strstr(r->word[k], "nfeasible") != NULL)
            return no_solution(r);
    while (rc == RP_OK && next_words(r)) {
        int k = word_is(r, 0, "**");
        rc = r->n_words > k + 2 ? set_named(r, r->word[k + 1], k + 2)
                                : FAIL(r, "this line is not: number, name, value, cost");
    }
    return rc;
}

/* ---- Gurobi and SCIP: "NAME VALUE". SCIP says its status first, or not ---- */

static rp_rc read_gurobi(struct reader *r) {
    rp_rc rc = RP_OK;
    do {
        if (r->word[0][0] != '#')
            rc = set_named(r, r->word[0], 1);
    } while (rc == RP_OK && next_words(r));
    return rc == RP_OK ? all_seen(r) : rc;
}

static rp_rc read_scip(struct reader *r) {
    rp_rc rc = RP_OK;
    if (word_is(r, 0, "solution") && (!next_words(r) || !word_is(r, 0, "objective")))
        return no_solution(r);
    while (rc == RP_OK && next_words(r))
        rc = word_is(r, 0, "no") ? no_solution(r) : set_named(r, r->word[0], 1);
    return rc;
}

/* ---- which of them it is ---- */

static bool looks_like_glpsol(const struct reader *r) {
    return word_is(r, 0, "c") || word_is(r, 0, "s");
}
static bool looks_like_report(const struct reader *r) {
    return word_is(r, 0, "Problem:");
}
static bool looks_like_highs(const struct reader *r) {
    return word_is(r, 0, "Model") && word_is(r, 1, "status");
}
static bool looks_like_cbc(const struct reader *r) {
    return word_is(r, r->n_words - 3, "objective") && word_is(r, r->n_words - 2, "value");
}
static bool looks_like_gurobi(const struct reader *r) {
    return r->n_words > 0 && r->word[0][0] == '#';
}
static bool looks_like_scip(const struct reader *r) {
    return word_is(r, 1, "status:") ||
           (word_is(r, 0, "objective") && word_is(r, 1, "value:"));
}

static const struct format {
    const char *writer;
    bool (*looks_like)(const struct reader *r); /* its first line that is not empty */
    rp_rc (*read)(struct reader *r);
} formats[] = {
    {"glpsol", looks_like_glpsol, read_glpsol}, {"glpsol", looks_like_report, read_report},
    {"HiGHS", looks_like_highs, read_highs},    {"CBC", looks_like_cbc, read_cbc},
    {"Gurobi", looks_like_gurobi, read_gurobi}, {"SCIP", looks_like_scip, read_scip},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static rp_rc read_any(struct reader *r, const char **writer) {
    if (!next_words(r))
        return FAIL(r, "the file is empty");
    for (int k = 0; k < N_FORMATS; k++)
        if (formats[k].looks_like(r)) {
            *writer = formats[k].writer;
            return formats[k].read(r);
        }
    return FAIL(r, "this is no solution file of glpsol, HiGHS, CBC, Gurobi or SCIP");
}

rp_rc rp_solution_parse(char *text, const char *path, uint32_t n_cols, char *const *names,
                        double *x, const char **writer, struct rp_err *err) {
    struct reader r = {.rest = text, .path = path, .n_cols = n_cols, .x = x, .err = err};
    r.named = rp_calloc((size_t)n_cols + 1, sizeof *r.named);
    r.seen = rp_calloc((size_t)n_cols + 1, sizeof *r.seen);
    for (uint32_t j = 0; j < n_cols; j++) {
        r.named[j] = (struct named){names[j], j};
        x[j] = 0;
    }
    qsort(r.named, n_cols, sizeof *r.named, by_name);
    rp_rc rc = read_any(&r, writer);
    free(r.named);
    free(r.seen);
    return rc;
}

rp_rc rp_solution_load(const char *path, uint32_t n_cols, char *const *names, double *x,
                       const char **writer, struct rp_err *err) {
    char *text;
    size_t len;
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_solution_parse(text, path, n_cols, names, x, writer, err);
    free(text);
    return rc;
}

/* HiGHS skips six lines and a word. SCIP wants two words in every line. */
void rp_solution_write(uint32_t n_cols, char *const *names, const double *x, double cost,
                       FILE *f) {
    fprintf(
        f,
        "# Objective value = %.17g\n"
        "# A plan of remat-plan as a point of its model, to start another solver from.\n"
        "# Times and bytes are in units that the model's file explains.\n"
        "# Primal solution values\n"
        "# Feasible\n"
        "# Objective %.17g\n"
        "# Columns %" PRIu64 "\n",
        cost, cost, (uint64_t)n_cols + 1);
    for (uint32_t j = 0; j < n_cols; j++)
        fprintf(f, "%s %.17g\n", names[j], x[j]);
    fputs("ONE 1\n", f);
}
