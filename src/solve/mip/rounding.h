/* rounding: makes schedules that fit from points of the LP, or from schedules that do not
 * fit. It is branch and cut's primal heuristic.
 *
 * Without swaps only: it looks at S and R alone. Thread-safe.
 */
#ifndef RP_SOLVE_MIP_ROUNDING_H
#define RP_SOLVE_MIP_ROUNDING_H

#include "solve/lp/formulation.h"

/* Makes a sound schedule fit. Stage by stage, while the stage is over the limit, it drops a
 * tensor that the stage only carries through, up to the tensor's next first-run reader. It
 * prefers tensors with many bytes per ns of the maker's time. `weight` (or NULL), one value
 * per column, is a point of the LP: the larger S is there, the less likely the tensor is
 * dropped. False, with `s` partly changed, if this does not lead to a schedule that
 * fits. */
bool rp_rounding_repair(const struct rp_instance *p, const struct rp_formulation *f,
                        const double *weight, struct rp_schedule *s);

/* Holds tensors instead of making them again, where that fits and saves time. `s` fits
 * before and after. */
void rp_rounding_fill(const struct rp_instance *p, struct rp_schedule *s);

/* Rounds S of point v at several thresholds, applies both of the above to each schedule,
 * and keeps the fastest. True if it is faster than *best_time_ns. Then `best` and
 * *best_time_ns are replaced. */
bool rp_rounding(const struct rp_formulation *f, const double *v, struct rp_schedule *best,
                 uint64_t *best_time_ns);

#endif
