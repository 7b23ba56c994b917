/* prefetch: begins swap-ins as early as memory allows, in the order in which they are
 * needed. Where copies take longer than the runs, the queue must never be idle.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_PREFETCH_H
#define RP_SOLVE_LOCAL_PREFETCH_H

#include "solve/core/schedule.h"

/* Moves the swap-ins of `s` to earlier stages, and holds what comes from there on. No stage
 * comes over the limit that was not. A swap-in does not pass one of an earlier stage, nor
 * the last stage that held its tensor. */
void rp_schedule_prefetch(const struct rp_instance *p, struct rp_schedule *s);

#endif
