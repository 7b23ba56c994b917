/* warm_start: an existing plan as the first schedule of a search, and as a bound on its
 * result.
 *
 * Thread safety: different plans and schedules may be used by different threads.
 */
#ifndef RP_SOLVE_CORE_WARM_START_H
#define RP_SOLVE_CORE_WARM_START_H

#include "model/graph.h"
#include "model/plan.h"
#include "solve/core/schedule.h"

/* Writes the ops in the order of their first runs into `order`, which has room for n_ops.
 * `plan` is valid for `g`. */
void rp_plan_first_runs(const struct rp_graph *g, const struct rp_plan *plan,
                        uint32_t *order);

/* Writes into `s`, which has the instance's shape, what the plan has on the device as each
 * stage begins and what it swaps in, pruned. For a plan without swaps, `s` runs no op more
 * often than the plan does. Swap-ins become recomputation if the instance allows no swaps,
 * or if a tensor would be freed during its swap-in. False, with `s` partly changed, if the
 * plan's first runs come in another order than the instance's, or if only a swap brings
 * back the output of an op that may run only once, or once `stop` (which may be NULL)
 * hits. */
bool rp_schedule_from_plan(const struct rp_instance *p, const struct rp_plan *plan,
                           struct rp_stop *stop, struct rp_schedule *s);

/* Copies the steps of `from` to `to`, a new plan for another budget, which the caller owns.
 * If `addressed`, addresses and sizes are copied too, else they are left to fill in. Claims
 * and notes are left to fill in. */
void rp_plan_restate(const struct rp_plan *from, bool addressed, uint64_t budget_bytes,
                     struct rp_plan *to);

#endif
