/* offload_all: the schedule that holds least and swaps most. It is the other extreme of
 * rp_schedule_keep_all, for where nothing better fits.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_OFFLOAD_ALL_H
#define RP_SOLVE_LOCAL_OFFLOAD_ALL_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Replaces `s`: whatever is not used in a stage is on the host alone meanwhile, so no stage
 * holds more than an op's working set. Nothing runs again, and the runs wait a lot. Kept
 * tensors stay on the device from their last use on (`early`), or come in at the end. `p`
 * allows swaps. */
void rp_schedule_offload_all(const struct rp_instance *p, bool early,
                             struct rp_schedule *s);

#endif
