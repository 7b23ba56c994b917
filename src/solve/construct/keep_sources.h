/* keep_sources: lets more sources stay on the device where there is room for them.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_CONSTRUCT_KEEP_SOURCES_H
#define RP_SOLVE_CONSTRUCT_KEEP_SOURCES_H

#include "base/stop.h"
#include "solve/core/schedule.h"

/* Improves `s`, which is sound and within the limits, until it gets no faster: sources that
 * live on the host stay on the device if every stage without them has room, and the other
 * copies go ahead (copy_ahead.h). *cost is its cost. Ends once `stop` hits. True if `s` has
 * changed. */
bool rp_schedule_keep_sources(const struct rp_instance *p, struct rp_stop *stop,
                              struct rp_schedule *s, struct rp_cost *cost);

#endif
