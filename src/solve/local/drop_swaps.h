/* drop_swaps: removes the copies that a schedule or a plan can do without. The search
 * counts time and memory only, so a copy that hides behind compute costs it nothing. On a
 * device it takes bandwidth and a call.
 *
 * Thread safety: different schedules and plans may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_DROP_SWAPS_H
#define RP_SOLVE_LOCAL_DROP_SWAPS_H

#include <stdbool.h>

#include "base/stop.h"
#include "model/plan.h"
#include "solve/core/schedule.h"

/* Leaves in `fewer` what is left of `s` without some swap-ins of tensors of at most
 * `max_bytes`, the smallest first. The tensor stays on the device instead, wherever that
 * keeps within the limit and takes no more time; so do sources that may. `s` is sound and
 * within the limit; `fewer` has its shape, and what it held is lost. Ends early at `stop`,
 * which may be NULL. False if all stay; then `fewer` is none. */
bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_stop *stop,
                   const struct rp_schedule *s, struct rp_schedule *fewer);

/* The same for a valid plan without addresses, which may be no schedule: a tensor that an
 * op makes stays where the plan frees it and later swaps it in, as far as that keeps within
 * limit_bytes beside the sources on the device, the largest first; and it is not swapped
 * out if it is never swapped in. All stay if the plan would then take more time. */
void rp_drop_plan_swaps(const struct rp_graph *g, uint64_t limit_bytes,
                        struct rp_plan *plan);

#endif
