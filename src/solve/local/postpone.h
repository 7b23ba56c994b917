/* postpone: begins swap-ins no earlier than their queue gets to them. That frees memory and
 * changes no time.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_POSTPONE_H
#define RP_SOLVE_LOCAL_POSTPONE_H

#include "solve/core/schedule.h"

/* Moves the swap-ins of `s`, which is sound, to later stages: each to the last one, up to
 * that of its first use, that begins before the copy starts. They keep their order. */
void rp_schedule_postpone(const struct rp_instance *p, struct rp_schedule *s);

#endif
