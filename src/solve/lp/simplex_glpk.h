/* glpk: a linear program that grows and shrinks by rows, through GLPK's dual simplex. Knows
 * nothing of plans. The only file that includes simplex_glpk.h.
 *
 *   minimise  fixed + sum of cost[j] x[j],   rows  sum of a[i][j] x[j] <= b[i],
 *   low[j] <= x[j] <= high[j], both finite.
 *
 * GLPK runs without presolve from the basis of the solve before, so any change of bounds or
 * rows costs only the pivots it needs. What it says is never taken as a bound: rp_lp_bound
 * derives one from the row multipliers by weak duality, which holds for any of them; and
 * "infeasible" is only said when multipliers prove it.
 */
#ifndef RP_SOLVE_LP_SIMPLEX_GLPK_H
#define RP_SOLVE_LP_SIMPLEX_GLPK_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/lp/formulation.h"

struct rp_lp;

/* n_cols columns in [0, 1]. */
struct rp_lp *rp_lp_new(uint32_t n_cols, const double *cost, double fixed);
void rp_lp_free(struct rp_lp *lp);

/* A new column of no cost that equals the sum of n others; returns its number. */
uint32_t rp_lp_add_sum(struct rp_lp *lp, uint32_t n, const uint32_t *cols);
/* Rows first .. rows->n - 1 are appended. */
void rp_lp_add_rows(struct rp_lp *lp, const struct rp_row_set *rows, uint32_t first);
/* Deletes row i for which drop[i]; later ones move up. */
void rp_lp_drop_rows(struct rp_lp *lp, const bool *drop);
uint32_t rp_lp_n_rows(const struct rp_lp *lp); /* sums included */
uint32_t rp_lp_n_cols(const struct rp_lp *lp); /* sums included */

void rp_lp_set_bounds(struct rp_lp *lp, uint32_t col, double low, double high);
double rp_lp_low(const struct rp_lp *lp, uint32_t col);
double rp_lp_high(const struct rp_lp *lp, uint32_t col);

enum rp_lp_status {
    RP_LP_OPTIMAL,
    RP_LP_INFEASIBLE, /* proved */
    RP_LP_CUTOFF,     /* the optimum is above the cutoff */
    RP_LP_LIMIT,      /* solve again to go on */
    RP_LP_FAILED      /* GLPK could not, from any basis */
};
/* At most max_pivots iterations. cutoff: HUGE_VAL for none. */
enum rp_lp_status rp_lp_solve(struct rp_lp *lp, uint64_t max_pivots, double cutoff);
uint64_t rp_lp_pivots(const struct rp_lp *lp); /* in all solves so far */

double rp_lp_value(const struct rp_lp *lp);          /* objective, as GLPK has it */
void rp_lp_point(const struct rp_lp *lp, double *v); /* one value a column */
/* Row i is slack at the vertex: its multiplier is zero. */
bool rp_lp_row_is_slack(const struct rp_lp *lp, uint32_t i);

/* A lower bound of the optimum from the multipliers at hand, whatever the last solve said:
 * below the exact value by a margin for rounding. reduced[j] (or NULL): cost of raising
 * x[j] in that bound. */
double rp_lp_bound(struct rp_lp *lp, double *reduced);

#endif
