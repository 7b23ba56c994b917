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

/* Removes swap-ins of tensors of at most `max_bytes` from `s`, the largest first. The
 * tensor stays on the device instead, wherever that keeps within the limit and takes no
 * more time. `s` is sound and within the limit. Ends early at `stop`,
 * which may be NULL. False if nothing is changed. */
bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_stop *stop,
                   struct rp_schedule *s);

#endif
