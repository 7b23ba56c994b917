#include "solve/exchange/solution_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "solve/exchange/solution_reader.h"

/* ---- glpsol -w: "s mip ROWS COLS STATUS COST", "i ROW VALUE", "j COL VALUE" ---- */

static rp_rc read_glpsol_col(struct rp_solution_reader *r) {
    double number;
    rp_rc rc = rp_solution_number(r, rp_solution_word_at(r, 1), &number);
    if (rc != RP_OK || number == r->n_cols + 1.0)
        return rc;
    if (!(number >= 1 && number <= r->n_cols) || number != floor(number))
        return RP_SOLUTION_FAIL(r, "the model has no column %.40s", r->word[1]);
    return rp_solution_set(r, (uint32_t)number - 1, r->word[1], rp_solution_word_at(r, 2));
}

static rp_rc read_glpsol(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    bool ended = false;
    do {
        if (rp_solution_word(r, 0, "s") && !rp_solution_word(r, 1, "mip"))
            rc = RP_SOLUTION_FAIL(r, "this is no solution of a mixed-integer program");
        else if (rp_solution_word(r, 0, "s") && !rp_solution_word(r, 4, "o") &&
                 !rp_solution_word(r, 4, "f"))
            rc = rp_solution_none(r);
        else if (rp_solution_word(r, 0, "j"))
            rc = read_glpsol_col(r);
        ended = rp_solution_word(r, 0, "e");
    } while (rc == RP_OK && !ended && rp_solution_words(r));
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- glpsol -w before 4.65: "ROWS COLS", "STATUS COST", all values, one a line ---- */

static rp_rc read_old_glpsol(struct rp_solution_reader *r) {
    double n_rows, n_cols;
    rp_rc rc = rp_solution_number(r, r->word[0], &n_rows);
    if (rc == RP_OK)
        rc = rp_solution_number(r, r->word[1], &n_cols);
    if (rc == RP_OK && n_cols != r->n_cols && n_cols != r->n_cols + 1.0)
        return RP_SOLUTION_FAIL(r, "%.0f columns, not %" PRIu32, n_cols, r->n_cols);
    if (rc == RP_OK && rp_solution_words(r) && r->n_words != 2)
        return RP_SOLUTION_FAIL(r, "this is no solution of a mixed-integer program");
    if (rc == RP_OK && !rp_solution_word(r, 0, "2") && !rp_solution_word(r, 0, "5"))
        return rp_solution_none(r);
    for (double i = 0; rc == RP_OK && i < n_rows + r->n_cols && rp_solution_words(r); i++)
        if (i >= n_rows)
            rc = rp_solution_set(r, (uint32_t)(i - n_rows), r->word[0], r->word[0]);
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- glpsol -o: a table of rows, then one of columns ---- */

/* A long name stands on a line of its own: number, name, ["*",] activity, bounds. */
static rp_rc read_report_col(struct rp_solution_reader *r) {
    char *name = r->word[1];
    if (r->n_words == 2 && !rp_solution_words(r))
        return RP_SOLUTION_FAIL(r, "column '%.100s' has no value", name);
    bool same_line = r->word[1] == name;
    int k = same_line ? 2 : 0;
    return rp_solution_set_named(r, name,
                                 rp_solution_word_at(r, k + rp_solution_word(r, k, "*")));
}

static rp_rc read_report(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    bool columns = false, table = false;
    while (rc == RP_OK && rp_solution_line(r)) {
        if (rp_solution_word(r, 0, "Status:") && !rp_solution_word(r, 1, "INTEGER"))
            rc = RP_SOLUTION_FAIL(r, "this is no solution of a mixed-integer program");
        else if (rp_solution_word(r, 0, "Status:") && !rp_solution_word(r, 2, "OPTIMAL") &&
                 !rp_solution_word(r, 2, "NON-OPTIMAL"))
            rc = rp_solution_none(r);
        else if (rp_solution_word(r, 0, "No."))
            columns = rp_solution_word(r, 1, "Column");
        else if (r->n_words > 0 && r->word[0][0] == '-')
            table = columns;
        else if (r->n_words == 0)
            table = false;
        else if (table && r->n_words >= 2)
            rc = read_report_col(r);
    }
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- HiGHS: values between "# Columns" and "# Rows" ---- */

/* "# Columns N" is followed by all N columns, name and value; "# Columns -N" by the N that
 * are not 0, which have their number too. */
static rp_rc read_highs_columns(struct rp_solution_reader *r) {
    double announced = 0;
    uint32_t n = 0;
    rp_rc rc = rp_solution_number(r, rp_solution_word_at(r, 2), &announced);
    while (rc == RP_OK && rp_solution_words(r) && !rp_solution_word(r, 0, "#")) {
        rc = rp_solution_set_named(r, r->word[0], rp_solution_word_at(r, 1));
        n++;
    }
    if (rc == RP_OK && n != fabs(announced))
        return RP_SOLUTION_FAIL(r, "%" PRIu32 " columns, not %.0f", n, fabs(announced));
    return rc == RP_OK && !signbit(announced) ? rp_solution_all_seen(r) : rc;
}

static rp_rc read_highs(struct rp_solution_reader *r) {
    bool primal = false;
    do {
        bool heading = rp_solution_word(r, 0, "#");
        primal = primal || (heading && rp_solution_word(r, 1, "Primal"));
        if (primal && heading && rp_solution_word(r, 1, "Columns"))
            return read_highs_columns(r);
        if (primal &&
            (rp_solution_word(r, 0, "None") || rp_solution_word(r, 0, "Infeasible")))
            return rp_solution_none(r);
    } while (rp_solution_words(r));
    return rp_solution_all_seen(r);
}

/* Style 1: "INDEX [STATUS] LOWER UPPER PRIMAL [DUAL] [TYPE] NAME" in a table "Columns". */
static rp_rc read_highs_table(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    if (!rp_solution_words(r) || !rp_solution_word(r, r->n_words - 1, "Name"))
        return RP_SOLUTION_FAIL(r, "the table has no column 'Name'");
    while (rc == RP_OK && rp_solution_words(r) && !rp_solution_word(r, 0, "Rows")) {
        char *end;
        const char *second = rp_solution_word_at(r, 1);
        strtod(second, &end);
        int primal = end != second && *end == '\0' ? 3 : 4;
        rc = r->n_words > primal + 1
                 ? rp_solution_set_named(r, r->word[r->n_words - 1], r->word[primal])
                 : rp_solution_none(r);
    }
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- CBC: "[**] NUMBER NAME VALUE COST" ---- */

/* Rows may come first, which have other names. The numbers of the columns begin anew. */
static rp_rc read_cbc_values(struct rp_solution_reader *r) {
    struct rp_err of_rows = {{0}}, *err = r->err;
    double last = -1, number;
    bool anew = false;
    rp_rc rc = RP_OK, first = RP_OK;
    while (rc == RP_OK && rp_solution_words(r)) {
        int k = rp_solution_word(r, 0, "**");
        if (r->n_words <= k + 2)
            return RP_SOLUTION_FAIL(r, "this line is not: number, name, value, cost");
        rc = rp_solution_number(r, r->word[k], &number);
        if (rc == RP_OK && number <= last) {
            rp_solution_forget(r);
            anew = true;
        }
        last = number;
        if (rc != RP_OK || (first != RP_OK && !anew))
            continue;
        r->err = anew ? err : &of_rows;
        *(anew ? &rc : &first) = rp_solution_set_named(r, r->word[k + 1], r->word[k + 2]);
        r->err = err;
    }
    return rc == RP_OK && !anew && first != RP_OK ? rp_fail(err, first, "%s", of_rows.msg)
                                                  : rc;
}

/* "Stopped on time (no integer solution - continuous used)": of the relaxation. */
static rp_rc read_cbc(struct rp_solution_reader *r) {
    bool relaxed = false;
    for (int k = 0; k < r->n_words; k++) {
        if (strstr(r->word[k], "nfeasible") != NULL ||
            strstr(r->word[k], "nbounded") != NULL)
            return rp_solution_none(r);
        relaxed = relaxed || strstr(r->word[k], "(no") != NULL;
    }
    if (relaxed)
        return RP_SOLUTION_FAIL(r, "the file holds no integer solution, only that of the "
                                   "relaxation");
    return read_cbc_values(r);
}

/* ---- Clp, and CBC without integers: "optimal", "Objective value V", then as CBC ---- */

static rp_rc read_clp(struct rp_solution_reader *r) {
    if (!rp_solution_word(r, 0, "optimal") || !rp_solution_words(r))
        return rp_solution_none(r);
    if (!rp_solution_word(r, 0, "Objective"))
        return RP_SOLUTION_FAIL(r, "this line is not: Objective value");
    return read_cbc(r);
}

/* ---- Gurobi and SCIP: "NAME VALUE". SCIP says its status first, or not ---- */

static rp_rc read_gurobi(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    do {
        if (r->word[0][0] != '#')
            rc = rp_solution_set_named(r, r->word[0], rp_solution_word_at(r, 1));
    } while (rc == RP_OK && rp_solution_words(r));
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

static rp_rc read_scip(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    while (rp_solution_word(r, 0, "primal") || r->word[0][0] == '=')
        if (!rp_solution_words(r))
            return rp_solution_none(r);
    if (rp_solution_word(r, 0, "solution") &&
        (!rp_solution_words(r) || !rp_solution_word(r, 0, "objective")))
        return rp_solution_none(r);
    while (rc == RP_OK && rp_solution_words(r))
        rc = rp_solution_word(r, 0, "no") ? rp_solution_none(r)
             : r->word[0][0] == '#'
                 ? RP_OK
                 : rp_solution_set_named(r, r->word[0], rp_solution_word_at(r, 1));
    return rc;
}

/* ---- CPLEX: <variable name="NAME" index="I" value="VALUE"/> ---- */

/* The text of an attribute up to `end`, which becomes a string; NULL if there is none. */
static char *attribute(char *from, const char *end, const char *key) {
    char *at = from;
    do
        at = strstr(at + 1, key);
    while (at != NULL && at < end &&
           !((at[-1] == ' ' || at[-1] == '\t') && strchr(" \t=", at[strlen(key)]) != NULL));
    if (at == NULL || at >= end)
        return NULL;
    at += strlen(key);
    at += strspn(at, " \t=");
    char *text = *at == '"' || *at == '\'' ? at + 1 : NULL, quote = *at;
    char *close = text != NULL ? strchr(text, quote) : NULL;
    if (close == NULL || close >= end)
        return NULL;
    *close = ' ';
    return text;
}

static rp_rc read_cplex_variable(struct rp_solution_reader *r, char *at, const char *end) {
    char *name = attribute(at, end, "name"), *value = attribute(at, end, "value");
    if (name == NULL || value == NULL)
        return RP_SOLUTION_FAIL(r, "a variable without a name and a value");
    name[strcspn(name, " ")] = '\0';
    value[strcspn(value, " ")] = '\0';
    return rp_solution_set_named(r, name, value);
}

/* The first solution of the file, which is the best one. */
static rp_rc read_cplex(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    char *line;
    bool ended = false;
    while (rc == RP_OK && !ended && (line = rp_solution_raw_line(r)) != NULL) {
        ended = strstr(line, "</variables>") != NULL;
        char *stop = ended ? strstr(line, "</variables>") : line + strlen(line);
        for (char *at = line;
             rc == RP_OK && (at = strstr(at, "<variable ")) != NULL && at < stop;) {
            char *close = strchr(at, '>');
            if (close == NULL)
                return RP_SOLUTION_FAIL(r, "this variable ends on another line");
            rc = read_cplex_variable(r, at, close);
            at = close;
        }
    }
    return rc == RP_OK && !ended ? RP_SOLUTION_FAIL(r, "the variables do not end")
           : rc == RP_OK         ? rp_solution_all_seen(r)
                                 : rc;
}

/* ---- Xpress (.slx): "C NAME VALUE" between NAME and ENDATA ---- */

static rp_rc read_xpress(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    while (rc == RP_OK && rp_solution_words(r) && !rp_solution_word(r, 0, "ENDATA"))
        if (rp_solution_word(r, 0, "C"))
            rc = rp_solution_set_named(r, rp_solution_word_at(r, 1),
                                       rp_solution_word_at(r, 2));
    if (rc == RP_OK && !rp_solution_word(r, 0, "ENDATA"))
        return RP_SOLUTION_FAIL(r, "the file ends without ENDATA");
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- lp_solve: "NAME VALUE" under "Actual values of the variables:" ---- */

/* The last table counts: with some options there is one for each better solution. */
static rp_rc read_lp_solve(struct rp_solution_reader *r) {
    rp_rc rc = RP_OK;
    bool table = false;
    do {
        if (rp_solution_word(r, 2, "infeasible") || rp_solution_word(r, 3, "infeasible") ||
            rp_solution_word(r, 3, "unbounded"))
            rc = rp_solution_none(r);
        else if (rp_solution_word(r, 0, "Actual")) {
            table = rp_solution_word(r, 4, "variables:");
            if (table)
                rp_solution_forget(r);
        } else if (r->n_words == 0 || rp_solution_word(r, 0, "Dual"))
            table = table && r->n_words == 0 && r->n_seen == 0;
        for (int k = 0; rc == RP_OK && table && k + 1 < r->n_words; k += 2)
            if (!rp_solution_word(r, 0, "Actual"))
                rc = rp_solution_set_named(r, r->word[k], r->word[k + 1]);
    } while (rc == RP_OK && rp_solution_line(r));
    return rc == RP_OK ? rp_solution_all_seen(r) : rc;
}

/* ---- which of them it is ---- */

static bool is_one_of(const char *word, const char *const *words, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (strcmp(word, words[k]) == 0)
            return true;
    return false;
}

static bool looks_like_old_glpsol(const struct rp_solution_reader *r) {
    return r->n_words == 2 && strspn(r->word[0], "0123456789") == strlen(r->word[0]) &&
           strspn(r->word[1], "0123456789") == strlen(r->word[1]);
}

static bool looks_like_glpsol(const struct rp_solution_reader *r) {
    return rp_solution_word(r, 0, "c") || rp_solution_word(r, 0, "s");
}
static bool looks_like_report(const struct rp_solution_reader *r) {
    return rp_solution_word(r, 0, "Problem:");
}
static bool looks_like_highs(const struct rp_solution_reader *r) {
    return (rp_solution_word(r, 0, "Model") && rp_solution_word(r, 1, "status")) ||
           (rp_solution_word(r, 0, "#") && rp_solution_word(r, 1, "Primal"));
}
static bool looks_like_cbc(const struct rp_solution_reader *r) {
    static const char *const status[] = {"Optimal", "Infeasible", "Integer", "Unbounded",
                                         "Stopped", "Feasible",   "Status",  "Unknown"};
    return (rp_solution_word(r, r->n_words - 3, "objective") &&
            rp_solution_word(r, r->n_words - 2, "value")) ||
           is_one_of(rp_solution_word_at(r, 0), status, sizeof status / sizeof *status);
}
static bool looks_like_gurobi(const struct rp_solution_reader *r) {
    return r->word[0][0] == '#' ||
           (r->n_words == 2 && rp_solution_has_column(r, r->word[0]));
}
static bool looks_like_scip(const struct rp_solution_reader *r) {
    return rp_solution_word(r, 1, "status:") ||
           (rp_solution_word(r, 0, "primal") && rp_solution_word(r, 1, "solution")) ||
           (rp_solution_word(r, 0, "objective") && rp_solution_word(r, 1, "value:"));
}

static bool looks_like_highs_table(const struct rp_solution_reader *r) {
    return rp_solution_word(r, 0, "Columns") && r->n_words == 1;
}
static bool looks_like_clp(const struct rp_solution_reader *r) {
    static const char *const status[] = {"optimal", "infeasible", "unbounded", "stopped"};
    return is_one_of(rp_solution_word_at(r, 0), status, sizeof status / sizeof *status);
}
/* Before its first line is cut into words: it may be the only one. */
static bool looks_like_cplex(const struct rp_solution_reader *r) {
    const char *text = r->rest + strspn(r->rest, " \t\r\n");
    return strncmp(text, "<?xml", 5) == 0 || strncmp(text, "<CPLEXSolution", 14) == 0;
}
static bool looks_like_xpress(const struct rp_solution_reader *r) {
    return rp_solution_word(r, 0, "NAME");
}
static bool looks_like_lp_solve(const struct rp_solution_reader *r) {
    return (rp_solution_word(r, 0, "Value") && rp_solution_word(r, 2, "objective")) ||
           rp_solution_word(r, 0, "Actual") || rp_solution_word(r, 0, "This");
}

static const struct format {
    const char *writer;
    bool (*looks_like)(const struct rp_solution_reader *r); /* its first line with words */
    rp_rc (*read)(struct rp_solution_reader *r);
} formats[] = {
    {"glpsol", looks_like_glpsol, read_glpsol},
    {"glpsol", looks_like_report, read_report},
    {"glpsol", looks_like_old_glpsol, read_old_glpsol},
    {"HiGHS", looks_like_highs, read_highs},
    {"HiGHS", looks_like_highs_table, read_highs_table},
    {"CBC", looks_like_cbc, read_cbc},
    {"Clp", looks_like_clp, read_clp},
    {"Gurobi", looks_like_gurobi, read_gurobi},
    {"SCIP", looks_like_scip, read_scip},
    {"Xpress", looks_like_xpress, read_xpress},
    {"lp_solve", looks_like_lp_solve, read_lp_solve},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static rp_rc read_any(struct rp_solution_reader *r, const char **writer) {
    if (strncmp(r->rest, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        r->rest += 3;
    if (looks_like_cplex(r)) {
        *writer = "CPLEX";
        return read_cplex(r);
    }
    if (!rp_solution_words(r))
        return RP_SOLUTION_FAIL(r, "the file is empty");
    for (int k = 0; k < N_FORMATS; k++)
        if (formats[k].looks_like(r)) {
            *writer = formats[k].writer;
            return formats[k].read(r);
        }
    return RP_SOLUTION_FAIL(
        r, "this is no solution file of glpsol, HiGHS, CBC, Clp, Gurobi, SCIP, "
           "CPLEX, Xpress or lp_solve");
}

rp_rc rp_solution_parse(char *text, const char *path, uint32_t n_cols, char *const *names,
                        double *x, const char **writer, struct rp_err *err) {
    struct rp_solution_reader r = {
        .rest = text, .path = path, .n_cols = n_cols, .x = x, .err = err};
    rp_solution_reader_init(&r, names);
    rp_rc rc = read_any(&r, writer);
    rp_solution_reader_fini(&r);
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
