/* construct_homes: first schedules where sources may live on the host, in a few dozen
 * passes.
 *
 * A pass chooses sources that stay on the device, makes a schedule greedily with some
 * memory left over (greedy.h), and uses that for copies ahead of time
 * (copy_ahead.h). Passes differ in three settings (context.h), which a pattern search
 * chooses. In the best schedule, sources stay for which there is room (keep_sources.h).
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_CONSTRUCT_CONSTRUCT_HOMES_H
#define RP_SOLVE_CONSTRUCT_CONSTRUCT_HOMES_H

#include "solve/context.h"

/* Tries passes on `p`, which is the instance of `space` or that with a lower limit, and has
 * sources that may live on the host. The first call for a space searches the settings,
 * later ones try the best that have been found. False if no schedule fits. Else `s`, which
 * has the instance's shape, is the fastest, and *cost is its cost. */
bool rp_construct_homes(struct rp_context *w, struct rp_space *space,
                        const struct rp_instance *p, struct rp_schedule *s,
                        struct rp_cost *cost);

#endif
