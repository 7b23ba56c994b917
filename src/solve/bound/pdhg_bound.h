/* bound: a time that no schedule within the limit can beat, for problems of any size.
 *
 * For any multipliers y >= 0 of rows A v <= b and columns in [0, 1],
 *
 *   (7)  sum of time + sum over columns of min(0, c + A'y) - b y
 *
 * is at most the least time (weak duality), however y was found. Here a first-order method
 * (pdhg.h) finds y for rows (2) and (3) and for the rows (4), windows (5) and covers (6)
 * that its points violate, which are added as it goes. y is then rounded to integers over a
 * power of two and (7) is worked out in integers, with bytes and nanoseconds as they are in
 * the problem: what rp_pdhg_bound_ns says rests on no floating-point sum. Times are
 * integers, so (7) may be rounded up.
 *
 * The work done is counted, not timed: the same calls give the same numbers unless a
 * deadline or a signal struck.
 */
#ifndef RP_SOLVE_BOUND_PDHG_BOUND_H
#define RP_SOLVE_BOUND_PDHG_BOUND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "solve/lp/formulation.h"

struct rp_pdhg_bound;

/* `p` must outlive it. A problem whose formulation is too large for about 2 GiB is left
 * with the sum of all times as its bound. horizon_ns == 0: no plan without swaps is faster
 * than the bound. Above 0 (`p` allows swaps): no plan at all, if it is at most horizon_ns,
 * the time of some plan or more; no bound is above that (swap_relaxation.h). */
struct rp_pdhg_bound *rp_pdhg_bound_new(const struct rp_instance *p, uint64_t horizon_ns);
/* Another size of the program than its own choice: at most so many stages, 0 for all. */
struct rp_pdhg_bound *rp_pdhg_bound_new_with(const struct rp_instance *p,
                                             uint64_t horizon_ns, uint32_t max_stages);
/* A plan of horizon_ns has been found: the less, the more is proved. */
void rp_pdhg_bound_tighten(struct rp_pdhg_bound *b, uint64_t horizon_ns);
void rp_pdhg_bound_free(struct rp_pdhg_bound *b); /* NULL is fine */

/* Works on for about `work` units (a unit is one term of the program touched), until
 * rp_seconds() passes `deadline`, or until *stop (which may be NULL). Call it again to go
 * on. False if there is nothing more to gain. */
bool rp_pdhg_bound_run(struct rp_pdhg_bound *b, uint64_t work, double deadline,
                       const volatile sig_atomic_t *stop);

/* The best bound so far. */
uint64_t rp_pdhg_bound_ns(const struct rp_pdhg_bound *b);

/* The formulation, and the fractional point of it that the method has come to (a value a
 * column; a guide for a search). NULL if the problem was too large. */
const struct rp_formulation *rp_pdhg_bound_form(const struct rp_pdhg_bound *b);
const double *rp_pdhg_bound_point(const struct rp_pdhg_bound *b);

/* What proves rp_pdhg_bound_ns: the rows that it takes, and for each the multiplier
 * multipliers[i] / 2^scale_log2, in ns, for rows (4) in ns a byte. No
 * rows: the sum of all times. Valid until the next call of rp_pdhg_bound_run. */
const struct rp_row_set *rp_pdhg_bound_rows(const struct rp_pdhg_bound *b);
const int64_t *rp_pdhg_bound_multipliers(const struct rp_pdhg_bound *b,
                                         unsigned *scale_log2);
/* With swaps: it is so for plans of at most so many ns. 0 without, and without rows. */
uint64_t rp_pdhg_bound_horizon_ns(const struct rp_pdhg_bound *b);

/* (7) from doubles, in ns: what the integers are checked against. */
double rp_pdhg_bound_estimate(const struct rp_pdhg_bound *b);

#endif
