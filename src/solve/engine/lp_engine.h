/* lp_engine: a linear program to which rows are added and from which they are dropped,
 * solved by the dual simplex method of one of the engines. It knows nothing of plans.
 *
 *   minimise  fixed + sum of cost[j] x[j],   rows  sum of a[i][j] x[j] <= b[i],
 *   low[j] <= x[j] <= high[j], both finite.
 *
 * The engine runs without presolve from the last basis, so after a change of bounds or rows
 * a solve takes only the pivots that the change needs. The engine's own objective value is
 * never used as a bound. rp_lp_bound derives one from the row multipliers by weak duality,
 * which is valid for any multipliers. Likewise RP_LP_INFEASIBLE is returned only if
 * multipliers prove it.
 *
 * Not thread-safe: an engine is used from one thread at a time.
 */
#ifndef RP_SOLVE_ENGINE_LP_ENGINE_H
#define RP_SOLVE_ENGINE_LP_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/engine/engine.h"
#include "solve/engine/milp.h"

struct rp_lp;

/* A linear program without rows and with n_cols columns in [0, 1]. The engine must be
 * loaded. The caller frees it. */
struct rp_lp *rp_lp_new(enum rp_engine engine, uint32_t n_cols, const double *cost,
                        double fixed);
void rp_lp_free(struct rp_lp *lp); /* NULL is fine */

/* Adds a column of no cost that equals the sum of n others, and its row. Returns its
 * number. Call it before rp_lp_add_rows. */
uint32_t rp_lp_add_sum(struct rp_lp *lp, uint32_t n, const uint32_t *cols);
/* Appends rows without lower limits, low = NULL. */
void rp_lp_add_rows(struct rp_lp *lp, const struct rp_sparse_rows *rows);
/* Deletes each row i for which drop[i]. Later rows move up. */
void rp_lp_drop_rows(struct rp_lp *lp, const bool *drop);
uint32_t rp_lp_n_rows(const struct rp_lp *lp); /* those of sums included */
uint32_t rp_lp_n_cols(const struct rp_lp *lp); /* sums included */
/* What a pivot takes, in a unit that is about the same for programs of 100 to 200,000 rows:
 * a pass through vectors of rows and columns, and through some of the coefficients. */
uint64_t rp_lp_pivot_work(const struct rp_lp *lp);

void rp_lp_set_bounds(struct rp_lp *lp, uint32_t col, double low, double high);
double rp_lp_low(const struct rp_lp *lp, uint32_t col);
double rp_lp_high(const struct rp_lp *lp, uint32_t col);

enum rp_lp_status {
    RP_LP_OPTIMAL,
    RP_LP_INFEASIBLE, /* proved */
    RP_LP_CUTOFF,     /* the optimum is above the cutoff */
    RP_LP_LIMIT,      /* max_pivots were not enough; solve again to continue */
    RP_LP_FAILED      /* the engine could not solve it, from any basis */
};
/* Takes at most max_pivots simplex iterations. cutoff: HUGE_VAL for none. */
enum rp_lp_status rp_lp_solve(struct rp_lp *lp, uint64_t max_pivots, double cutoff);
uint64_t rp_lp_pivots(const struct rp_lp *lp); /* in all solves so far */

/* The point of the last solve: one value per column, sums included, within the bounds. */
void rp_lp_point(const struct rp_lp *lp, double *v);
/* Is row i slack at that vertex? Then its multiplier is zero. */
bool rp_lp_row_is_slack(const struct rp_lp *lp, uint32_t i);

/* A valid lower bound of the optimum from the current multipliers, whatever the last solve
 * returned. It is below the exact value by a margin for rounding errors. reduced[j] (or
 * NULL) gets the reduced cost of column j, which is what raising x[j] by 1 costs in that
 * bound. */
double rp_lp_bound(struct rp_lp *lp, double *reduced);

#endif
