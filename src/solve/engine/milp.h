/* milp: a mixed-integer linear program as plain data, built column by column and row by
 * row. The engines solve it (mip_engine.h), and it can be written for other solvers.
 *
 *   minimise  fixed + sum of cost[j] x[j],    low[j] <= x[j] <= high[j],
 *   rows as in rp_sparse_rows,                x[j] an integer where integer[j]
 *
 * Its owner numbers the columns in the order in which it adds them, and knows what they
 * mean. Bounds of integer columns are finite.
 *
 * The caller owns a program; a zeroed one is empty. Not thread-safe: one object, one
 * thread. */
#ifndef RP_SOLVE_ENGINE_MILP_H
#define RP_SOLVE_ENGINE_MILP_H

#include <stdbool.h>
#include <stdint.h>

/* Rows as the engines read them. A view: it owns nothing, and what it points to must stay
 * as it is while the view is in use.
 *
 *   row i:   low[i]  <=  sum over k in [start[i], start[i + 1]) of coef[k] x[col[k]]
 *                    <=  high[i]
 *
 * start[0] need not be 0. No column occurs twice in a row. */
struct rp_sparse_rows {
    uint32_t n;
    const uint32_t *start, *col; /* n + 1; one per term */
    const double *coef;
    const double *low;  /* -HUGE_VAL: none. NULL: no row has one */
    const double *high; /* HUGE_VAL: none */
};

struct rp_milp {
    double fixed;
    uint32_t n_cols, cap_cols;
    double *cost, *low, *high;
    bool *integer;
    uint32_t n_rows, cap_rows, n_terms, cap_terms;
    uint32_t *start, *col; /* start has n_rows + 1 entries once there is a row */
    double *coef, *row_low, *row_high;
    uint32_t *place, cap_place; /* per column: its term in the row that was started last */
};
void rp_milp_fini(struct rp_milp *m); /* safe on a zeroed one, and twice */

/* Returns the column's number. */
uint32_t rp_milp_add_col(struct rp_milp *m, double cost, double low, double high,
                         bool integer);
/* Starts a row without terms and returns its number. -HUGE_VAL, HUGE_VAL: no limit. */
uint32_t rp_milp_begin_row(struct rp_milp *m, double low, double high);
/* Appends to the row that was started last. A column may come again: its coefficients are
 * added up. */
void rp_milp_term(struct rp_milp *m, uint32_t col, double coef);
/* Appends rows of `rows`, such as separated ones. */
void rp_milp_add_rows(struct rp_milp *m, const struct rp_sparse_rows *rows);
/* Deletes each row i for which drop[i]. Later rows move up. */
void rp_milp_drop_rows(struct rp_milp *m, const bool *drop);
/* Deletes those that x meets, but for `tolerance` (rp_milp_violation). */
void rp_milp_drop_met(struct rp_milp *m, const double *x, double tolerance);
/* All rows, as a view. */
struct rp_sparse_rows rp_milp_rows(const struct rp_milp *m);

/* Rounds what must be an integer and is one but for `tolerance`. Is that all of them? */
bool rp_milp_round(const struct rp_milp *m, double *x, double tolerance);
double rp_milp_left(const struct rp_milp *m, uint32_t i, const double *x); /* of row i */
/* By how much x breaks row i, as a share of the broken limit if that is above 1. */
double rp_milp_violation(const struct rp_milp *m, uint32_t i, const double *x);
/* Does x meet all bounds, rows and integrality up to `tolerance`? */
bool rp_milp_accepts(const struct rp_milp *m, const double *x, double tolerance);
double rp_milp_value(const struct rp_milp *m, const double *x); /* the objective at x */

#endif
