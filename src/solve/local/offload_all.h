/* offload_all: the schedule that holds as little and swaps as much as possible. It is the
 * opposite of rp_schedule_keep_all, for limits that nothing better fits.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_OFFLOAD_ALL_H
#define RP_SOLVE_LOCAL_OFFLOAD_ALL_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Replaces `s`: in stages that do not use a tensor it is on the host only, so no stage
 * holds more than an op's working set. Nothing runs again, and runs wait long for copies.
 * Kept tensors stay on the device from their last use on (`early`), or are swapped in at
 * the end. `p` allows swaps. */
void rp_schedule_offload_all(const struct rp_instance *p, bool early,
                             struct rp_schedule *s);

#endif
