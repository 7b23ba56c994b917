/* drop_swaps: takes out the copies that a schedule can do without. The search counts time
 * and memory only, so a copy that hides behind compute costs it nothing. On a device it
 * takes bandwidth and a call.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_DROP_SWAPS_H
#define RP_SOLVE_LOCAL_DROP_SWAPS_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Takes swap-ins of tensors of at most `max_bytes` out of `s`, the largest first: such a
 * tensor stays on the device instead, wherever that needs no more memory than the limit and
 * no more time. `s` is sound and within the limit. False if nothing is changed. */
bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_schedule *s);

#endif
