/* pdhg: a first-order method for min c x, A x <= b, 0 <= x <= 1, for linear programs that
 * are too large for the simplex method: restarted primal-dual hybrid gradient.
 *
 * One step T from (x, y), where y >= 0 are the multipliers of the rows:
 *   x+ = clip(x - tau (c + A'y)),   y+ = max(0, y + sigma (A (2 x+ - x) - b))
 * (Chambolle and Pock, "A first-order primal-dual algorithm for convex problems", 2011).
 * tau and sigma are diagonal: Ruiz's equilibration in the maximum norm, then the sums of
 * Pock and Chambolle ("Diagonal preconditioning for first order primal-dual algorithms",
 * 2011), divided and multiplied by a weight that balances x and y. Steps are reflected and
 * averaged with an anchor z0 (Halpern):
 *   z <- (k+1)/(k+2) (2 T(z) - z) + 1/(k+2) z0
 * When the residual |z - T(z)| has fallen enough, the method restarts: the anchor moves to
 * T(z). The thresholds are those of Lu and Yang, "Restarted Halpern PDHG for linear
 * programming", 2024. The weight is set anew at each restart as in PDLP (Applegate et al.,
 * "Practical large-scale linear programming using primal-dual hybrid gradient", 2021).
 *
 * No clock and no random numbers: the same calls give the same numbers.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_BOUND_PDHG_H
#define RP_SOLVE_BOUND_PDHG_H

#include "solve/lp/row_set.h"

struct rp_pdhg {
    uint32_t n_cols, n_rows, n_terms;
    float *cost;
    /* A by rows. The first n_short rows have at most one coefficient 1 and two -1. Their
     * columns are row_short[3 * i ..], with n_cols (where points are 0) for none. The other
     * rows are compressed. */
    uint32_t n_short, *row_short, *row_start, *row_col;
    float *row_coef;
    /* A by columns. Rows with coefficient 1 begin at col_start[3 * j], those with -1 at the
     * next start, and the others, which have coefficients, at the one after. */
    uint32_t *col_start, *col_row;
    float *col_coef;
    float *rhs, *tau, *sigma;
    double weight;
    /* The point z, the anchor z0, and T(z); for x also 2 T(z) - z. */
    float *x, *x0, *xt, *xr;
    float *y, *y0, *yt;
    uint32_t since_restart;               /* steps */
    uint64_t steps, restarts;             /* in all */
    double first_residual, last_residual; /* of the first and the last step since then */
};

/* Starts at x = 0. */
void rp_pdhg_init(struct rp_pdhg *s, uint32_t n_cols, const double *cost);
void rp_pdhg_fini(struct rp_pdhg *s); /* safe on a zeroed one */

/* Replaces all rows: first those of `fixed`, rows (2) and (3) of formulation.h, then those
 * of `cuts`. The method continues from s->xt and the multipliers y (one per row; NULL:
 * zeros). */
void rp_pdhg_load(struct rp_pdhg *s, const struct rp_row_set *fixed,
                  const struct rp_row_set *cuts, const float *y);

/* One step. Afterwards s->xt and s->yt are within their bounds. */
void rp_pdhg_step(struct rp_pdhg *s);

/* The bound that s->yt proves, up to rounding errors: sum of min(0, c + A'y) - b y. */
double rp_pdhg_dual(const struct rp_pdhg *s);

#endif
