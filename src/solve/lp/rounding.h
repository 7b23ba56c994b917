/* round: schedules that fit, from points of the LP or schedules that do not fit. */
#ifndef RP_SOLVE_LP_ROUNDING_H
#define RP_SOLVE_LP_ROUNDING_H

#include "solve/lp/formulation.h"

/* Makes a sound schedule fit: stage by stage, while the stage is over the limit, what it
 * only carries through is dropped until its next first-run reader, most bytes for the time
 * of its maker first. `weight` (or NULL), one value a column, speaks for holding S. False,
 * with `s` partly changed, if that does not lead to a schedule that fits. */
bool rp_rounding_repair(const struct rp_instance *p, const struct rp_formulation *f,
                        const double *weight, struct rp_schedule *s);

/* Holds what is made again where that fits and saves time: `s` fits before and after. */
void rp_rounding_fill(const struct rp_instance *p, struct rp_schedule *s);

/* The best schedule from rounding S at several thresholds, with both of the above, into
 * `best` if its time is below *best_time_ns; then true. */
bool rp_rounding(const struct rp_formulation *f, const double *v, struct rp_schedule *best,
                 uint64_t *best_time_ns);

#endif
