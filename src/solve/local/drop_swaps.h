/* drop_swaps: removes the copies that a schedule can do without. The search counts time and
 * memory only, so a copy that hides behind compute costs it nothing. On a device it takes
 * bandwidth and a call.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_DROP_SWAPS_H
#define RP_SOLVE_LOCAL_DROP_SWAPS_H

#include <stdbool.h>

#include "base/stop.h"
#include "solve/core/schedule.h"

/* Leaves in `fewer` what is left of `s` without some swap-ins of tensors of at most
 * `max_bytes`, the largest first. The tensor stays on the device instead, wherever that
 * keeps within the limit and takes no more time. `s` is sound and within the limit; `fewer`
 * has its shape, and what it held is lost. Ends early at `stop`, which may be NULL. False
 * if all stay; then `fewer` is none. */
bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_stop *stop,
                   const struct rp_schedule *s, struct rp_schedule *fewer);

#endif
