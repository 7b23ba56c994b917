/* start: a plan that is there already, as the first schedule of a search and as what its
 * result must not be worse than. */
#ifndef RP_SOLVE_CORE_WARM_START_H
#define RP_SOLVE_CORE_WARM_START_H

#include "model/graph.h"
#include "model/plan.h"
#include "solve/core/schedule.h"

/* The ops by their first runs, into `order` (n_ops places). `plan` is valid for `g`. */
void rp_plan_first_runs(const struct rp_graph *g, const struct rp_plan *plan,
                        uint32_t *order);

/* What the plan has on the device as each stage begins, and swaps in, without what serves
 * nothing. Of a plan that swaps nothing `s` runs no more than the plan does. Swap-ins count
 * as made again if the problem allows no swaps, or if one would be freed on its way in. `s`
 * has the problem's shape. False, with `s` partly changed, if the plan's first runs come in
 * another order than the problem's, or only a swap brings back what is made once. */
bool rp_schedule_from_plan(const struct rp_instance *p, const struct rp_plan *plan,
                           struct rp_schedule *s);

/* Steps and sizes of `from` into an empty plan, with or without its addresses, for another
 * budget. Claims, notes and sizes without addresses are left to fill in. */
void rp_plan_restate(const struct rp_plan *from, bool addressed, uint64_t budget_bytes,
                     struct rp_plan *to);

#endif
