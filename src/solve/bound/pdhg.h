/* pdhg: a first-order method for  min c x,  A x <= b,  0 <= x <= 1,  for programs too large
 * for the simplex method.
 *
 * One step T from (x, y), y >= 0 the multipliers of the rows:
 *   x+ = clip(x - tau (c + A'y)),   y+ = max(0, y + sigma (A (2 x+ - x) - b))
 * (Chambolle and Pock 2011). tau and sigma are diagonal: Ruiz's equilibration in the
 * largest norm, then Pock and Chambolle's (2011) sums, over and times a weight that
 * balances x and y. Steps are reflected and drawn back to an anchor, z <- (k+1)/(k+2) (2
 * T(z) - z) + 1/(k+2) z0 (Halpern), and the anchor moves to T(z) when the residual |z -
 * T(z)| has fallen enough (restarts; Lu and Yang 2024, "Restarted Halpern PDHG for linear
 * programming", whose thresholds are used). The weight is set anew at each restart as in
 * PDLP (Applegate et al. 2021). No clock, no randomness: same calls, same numbers.
 */
#ifndef RP_SOLVE_BOUND_PDHG_H
#define RP_SOLVE_BOUND_PDHG_H

#include "solve/lp/formulation.h"

struct rp_pdhg {
    uint32_t n_cols, n_rows, n_terms;
    float *cost;
    /* A by rows. The first n_short rows have at most one coefficient 1 and two -1: their
     * columns are row_short[3 * i ..], n_cols (where points are 0) for none. The others are
     * in compressed rows. */
    uint32_t n_short, *row_short, *row_start, *row_col;
    float *row_coef;
    /* A by columns: rows with coefficient 1 from col_start[3 * j], with -1 from the next
     * start, and others from the one after, with coefficients. */
    uint32_t *col_start, *col_row;
    float *col_coef;
    float *rhs, *tau, *sigma;
    double weight;
    /* the point, the anchor, T of the point, and the reflected point */
    float *x, *x0, *xt, *xr;
    float *y, *y0, *yt;
    uint32_t since;       /* steps since the anchor moved, */
    uint64_t steps;       /* and in all */
    double first, before; /* residuals: at the anchor, and one step ago */
};

/* Starts at x = 0. */
void rp_pdhg_init(struct rp_pdhg *s, uint32_t n_cols, const double *cost);
void rp_pdhg_fini(struct rp_pdhg *s);

/* Takes over new rows: all of `fixed`, rows (2) and (3), then all of `cuts`. The point goes
 * on from s->xt and the multipliers y (one a row; NULL for zeros). */
void rp_pdhg_load(struct rp_pdhg *s, const struct rp_row_set *fixed,
                  const struct rp_row_set *cuts, const float *y);

/* One step; s->xt and s->yt are then within their bounds. */
void rp_pdhg_step(struct rp_pdhg *s);

/* The bound that s->yt proves: sum of min(0, c + A'y) - b y. */
double rp_pdhg_dual(const struct rp_pdhg *s);

#endif
