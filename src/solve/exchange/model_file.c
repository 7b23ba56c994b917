#include "solve/exchange/model_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Precise enough to be read back as the same number. */
#define NUMBER "%.17g"

static bool has_low(const struct rp_milp *m, uint32_t i) {
    return m->row_low[i] > -HUGE_VAL;
}
static bool has_high(const struct rp_milp *m, uint32_t i) {
    return m->row_high[i] < HUGE_VAL;
}
static bool is_equation(const struct rp_milp *m, uint32_t i) {
    return m->row_low[i] == m->row_high[i];
}

/* Writes the title with `mark` before each line. */
static void write_title(const char *title, const char *mark, FILE *f) {
    for (const char *end; *title != '\0'; title = end + 1) {
        end = strchr(title, '\n');
        fprintf(f, "%s %.*s\n", mark, (int)(end - title), title);
    }
}

/* ---- MPS ---- */

/* The terms column by column. */
struct columns {
    uint32_t *start, *row; /* n_cols + 1; per term */
    double *coef;
};

static void transpose(const struct rp_milp *m, struct columns *c) {
    c->start = rp_calloc((size_t)m->n_cols + 2, sizeof *c->start);
    c->row = rp_calloc((size_t)m->n_terms + 1, sizeof *c->row);
    c->coef = rp_calloc((size_t)m->n_terms + 1, sizeof *c->coef);
    for (uint32_t k = 0; k < m->n_terms; k++)
        c->start[m->col[k] + 2]++;
    for (uint32_t j = 0; j < m->n_cols; j++)
        c->start[j + 2] += c->start[j + 1];
    for (uint32_t i = 0; i < m->n_rows; i++)
        for (uint32_t k = m->start[i]; k < m->start[i + 1]; k++) {
            uint32_t at = c->start[m->col[k] + 1]++;
            c->row[at] = i;
            c->coef[at] = m->coef[k];
        }
}

static char mps_kind(const struct rp_milp *m, uint32_t i) {
    return is_equation(m, i) ? 'E' : has_high(m, i) ? 'L' : has_low(m, i) ? 'G' : 'N';
}

static void write_marker(bool begin, FILE *f) {
    fprintf(f, " MARKER 'MARKER' '%s'\n", begin ? "INTORG" : "INTEND");
}

static void write_mps_columns(const struct rp_named_milp *n, FILE *f) {
    const struct rp_milp *m = &n->p;
    struct columns c;
    bool integer = false;
    transpose(m, &c);
    fputs("COLUMNS\n", f);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        if (m->integer[j] != integer)
            write_marker(!integer, f);
        integer = m->integer[j];
        fprintf(f, " %s cost " NUMBER "\n", n->cols.at[j], m->cost[j]);
        for (uint32_t k = c.start[j]; k < c.start[j + 1]; k++)
            fprintf(f, " %s %s " NUMBER "\n", n->cols.at[j], n->rows.at[c.row[k]],
                    c.coef[k]);
    }
    if (integer)
        write_marker(false, f);
    fprintf(f, " ONE cost " NUMBER "\n", m->fixed);
    free(c.start);
    free(c.row);
    free(c.coef);
}

static void write_mps_limits(const struct rp_named_milp *n, FILE *f) {
    const struct rp_milp *m = &n->p;
    fputs("RHS\n", f);
    for (uint32_t i = 0; i < m->n_rows; i++) {
        double limit = has_high(m, i) ? m->row_high[i] : m->row_low[i];
        if (limit != 0 && (has_high(m, i) || has_low(m, i)))
            fprintf(f, " RHS %s " NUMBER "\n", n->rows.at[i], limit);
    }
    fputs("RANGES\n", f);
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (has_high(m, i) && has_low(m, i) && !is_equation(m, i))
            fprintf(f, " RNG %s " NUMBER "\n", n->rows.at[i],
                    m->row_high[i] - m->row_low[i]);
    fputs("BOUNDS\n", f);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        if (m->low[j] == -HUGE_VAL)
            fprintf(f, " MI BND %s\n", n->cols.at[j]);
        else if (m->low[j] != 0)
            fprintf(f, " LO BND %s " NUMBER "\n", n->cols.at[j], m->low[j]);
        if (m->high[j] < HUGE_VAL)
            fprintf(f, " UP BND %s " NUMBER "\n", n->cols.at[j], m->high[j]);
    }
    fputs(" FX BND ONE 1\nENDATA\n", f);
}

void rp_write_mps(const struct rp_named_milp *n, FILE *f) {
    const struct rp_milp *m = &n->p;
    write_title(n->title, "*", f);
    fputs("NAME remat_plan\nROWS\n N cost\n", f);
    for (uint32_t i = 0; i < m->n_rows; i++)
        fprintf(f, " %c %s\n", mps_kind(m, i), n->rows.at[i]);
    write_mps_columns(n, f);
    write_mps_limits(n, f);
}

/* ---- LP ---- */

/* Starts a new line every few terms: some programs limit a line to 255 characters. */
static void write_term(double coef, const char *name, uint32_t k, FILE *f) {
    fprintf(f, "%s%c " NUMBER " %s", k % 4 == 3 ? "\n  " : " ", coef < 0 ? '-' : '+',
            fabs(coef), name);
}

static void write_lp_row(const struct rp_named_milp *n, uint32_t i, const char *suffix,
                         const char *relation, double limit, FILE *f) {
    const struct rp_milp *m = &n->p;
    fprintf(f, " %s%s:", n->rows.at[i], suffix);
    for (uint32_t k = m->start[i]; k < m->start[i + 1]; k++)
        write_term(m->coef[k], n->cols.at[m->col[k]], k - m->start[i], f);
    if (m->start[i] == m->start[i + 1])
        fputs(" 0 ONE", f);
    fprintf(f, " %s " NUMBER "\n", relation, limit);
}

static void write_lp_bounds(const struct rp_named_milp *n, FILE *f) {
    const struct rp_milp *m = &n->p;
    fputs("Bounds\n", f);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        if (m->low[j] == m->high[j]) {
            fprintf(f, " %s = " NUMBER "\n", n->cols.at[j], m->low[j]);
            continue;
        }
        if (m->low[j] > -HUGE_VAL)
            fprintf(f, " " NUMBER " <= %s", m->low[j], n->cols.at[j]);
        else
            fprintf(f, " -inf <= %s", n->cols.at[j]);
        if (m->high[j] < HUGE_VAL)
            fprintf(f, " <= " NUMBER, m->high[j]);
        fputc('\n', f);
    }
    fputs(" ONE = 1\n", f);
}

void rp_write_lp(const struct rp_named_milp *n, FILE *f) {
    const struct rp_milp *m = &n->p;
    write_title(n->title, "\\", f);
    fputs("Minimize\n cost:", f);
    for (uint32_t j = 0; j < m->n_cols; j++)
        write_term(m->cost[j], n->cols.at[j], j, f);
    write_term(m->fixed, "ONE", m->n_cols, f);
    fputs("\nSubject To\n", f);
    for (uint32_t i = 0; i < m->n_rows; i++) {
        bool both = has_low(m, i) && has_high(m, i) && !is_equation(m, i);
        if (has_high(m, i))
            write_lp_row(n, i, "", is_equation(m, i) ? "=" : "<=", m->row_high[i], f);
        if (has_low(m, i) && !is_equation(m, i))
            write_lp_row(n, i, both ? "_low" : "", ">=", m->row_low[i], f);
    }
    write_lp_bounds(n, f);
    fputs("Generals", f);
    for (uint32_t j = 0, k = 0; j < m->n_cols; j++)
        if (m->integer[j])
            fprintf(f, "%s%s", k++ % 8 == 0 ? "\n " : " ", n->cols.at[j]);
    fputs("\nEnd\n", f);
}
