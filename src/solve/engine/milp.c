#include "solve/engine/milp.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void rp_milp_fini(struct rp_milp *m) {
    free(m->cost);
    free(m->low);
    free(m->high);
    free(m->integer);
    free(m->start);
    free(m->col);
    free(m->coef);
    free(m->row_low);
    free(m->row_high);
    free(m->place);
    *m = (struct rp_milp){0};
}

uint32_t rp_milp_add_col(struct rp_milp *m, double cost, double low, double high,
                         bool integer) {
    if (m->n_cols == m->cap_cols) {
        size_t cap = m->cap_cols = m->cap_cols > 0 ? 2 * m->cap_cols : 64;
        m->cost = rp_realloc(m->cost, cap, sizeof *m->cost);
        m->low = rp_realloc(m->low, cap, sizeof *m->low);
        m->high = rp_realloc(m->high, cap, sizeof *m->high);
        m->integer = rp_realloc(m->integer, cap, sizeof *m->integer);
    }
    m->cost[m->n_cols] = cost;
    m->low[m->n_cols] = low;
    m->high[m->n_cols] = high;
    m->integer[m->n_cols] = integer;
    return m->n_cols++;
}

uint32_t rp_milp_begin_row(struct rp_milp *m, double low, double high) {
    if (m->n_rows == m->cap_rows) {
        size_t cap = m->cap_rows = m->cap_rows > 0 ? 2 * m->cap_rows : 64;
        m->start = rp_realloc(m->start, cap + 1, sizeof *m->start);
        m->row_low = rp_realloc(m->row_low, cap, sizeof *m->row_low);
        m->row_high = rp_realloc(m->row_high, cap, sizeof *m->row_high);
    }
    m->start[m->n_rows] = m->n_terms;
    m->start[m->n_rows + 1] = m->n_terms;
    m->row_low[m->n_rows] = low;
    m->row_high[m->n_rows] = high;
    return m->n_rows++;
}

/* The column's term in the last row, or n_terms. */
static uint32_t find_term(struct rp_milp *m, uint32_t col) {
    if (col >= m->cap_place) {
        size_t cap = col < 64 ? 128 : 2 * (size_t)col;
        m->place = rp_realloc(m->place, cap, sizeof *m->place);
        for (size_t j = m->cap_place; j < cap; j++)
            m->place[j] = 0;
        m->cap_place = (uint32_t)cap;
    }
    uint32_t k = m->place[col];
    bool found = k >= m->start[m->n_rows - 1] && k < m->n_terms && m->col[k] == col;
    return found ? k : m->n_terms;
}

void rp_milp_term(struct rp_milp *m, uint32_t col, double coef) {
    uint32_t k = find_term(m, col);
    if (k < m->n_terms) {
        m->coef[k] += coef;
        return;
    }
    if (m->n_terms == m->cap_terms) {
        size_t cap = m->cap_terms = m->cap_terms > 0 ? 2 * m->cap_terms : 256;
        m->col = rp_realloc(m->col, cap, sizeof *m->col);
        m->coef = rp_realloc(m->coef, cap, sizeof *m->coef);
    }
    m->col[k] = col;
    m->coef[k] = coef;
    m->place[col] = k;
    m->start[m->n_rows] = ++m->n_terms;
}

void rp_milp_add_rows(struct rp_milp *m, const struct rp_sparse_rows *rows) {
    for (uint32_t i = 0; i < rows->n; i++) {
        rp_milp_begin_row(m, rows->low == NULL ? -HUGE_VAL : rows->low[i], rows->high[i]);
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            rp_milp_term(m, rows->col[k], rows->coef[k]);
    }
}

void rp_milp_drop_rows(struct rp_milp *m, const bool *drop) {
    uint32_t n_rows = 0, n_terms = 0;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        uint32_t first = m->start[i], end = m->start[i + 1];
        if (drop[i])
            continue;
        m->start[n_rows] = n_terms;
        for (uint32_t k = first; k < end; k++, n_terms++) {
            m->col[n_terms] = m->col[k];
            m->coef[n_terms] = m->coef[k];
        }
        m->row_low[n_rows] = m->row_low[i];
        m->row_high[n_rows++] = m->row_high[i];
    }
    m->n_rows = n_rows;
    m->n_terms = n_terms;
    if (m->start != NULL)
        m->start[n_rows] = n_terms;
}

struct rp_sparse_rows rp_milp_rows(const struct rp_milp *m) {
    static const uint32_t none[1] = {0};
    return (struct rp_sparse_rows){m->n_rows,  m->n_rows > 0 ? m->start : none,
                                   m->col,     m->coef,
                                   m->row_low, m->row_high};
}

double rp_milp_left(const struct rp_milp *m, uint32_t i, const double *x) {
    double sum = 0;
    for (uint32_t k = m->start[i]; k < m->start[i + 1]; k++)
        sum += m->coef[k] * x[m->col[k]];
    return sum;
}

double rp_milp_violation(const struct rp_milp *m, uint32_t i, const double *x) {
    double left = rp_milp_left(m, i, x), low = m->row_low[i], high = m->row_high[i];
    double over = left > high ? (left - high) / fmax(1, fabs(high)) : 0;
    return left < low ? (low - left) / fmax(1, fabs(low)) : over;
}

static bool column_accepts(const struct rp_milp *m, uint32_t j, double v,
                           double tolerance) {
    return v >= m->low[j] - tolerance && v <= m->high[j] + tolerance &&
           (!m->integer[j] || fabs(v - round(v)) <= tolerance);
}

bool rp_milp_accepts(const struct rp_milp *m, const double *x, double tolerance) {
    for (uint32_t j = 0; j < m->n_cols; j++)
        if (!column_accepts(m, j, x[j], tolerance))
            return false;
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (rp_milp_violation(m, i, x) > tolerance)
            return false;
    return true;
}

double rp_milp_value(const struct rp_milp *m, const double *x) {
    double sum = m->fixed;
    for (uint32_t j = 0; j < m->n_cols; j++)
        sum += m->cost[j] * x[j];
    return sum;
}

void rp_milp_drop_met(struct rp_milp *m, const double *x, double tolerance) {
    bool *met = rp_calloc((size_t)m->n_rows + 1, sizeof *met);
    for (uint32_t i = 0; i < m->n_rows; i++)
        met[i] = rp_milp_violation(m, i, x) <= tolerance;
    rp_milp_drop_rows(m, met);
    free(met);
}

bool rp_milp_round(const struct rp_milp *m, double *x, double tolerance) {
    bool whole = true;
    for (uint32_t j = 0; j < m->n_cols; j++) {
        if (!m->integer[j])
            continue;
        if (fabs(x[j] - round(x[j])) > tolerance)
            whole = false;
        else
            x[j] = round(x[j]);
    }
    return whole;
}
