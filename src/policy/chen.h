/* chen: sqrt(n) segments, for the policies that add activation checkpointing to something
 * else. The paper and its interpretation are in chen.c.
 *
 * Thread-safe: functions only read what they are given.
 */
#ifndef RP_POLICY_CHEN_H
#define RP_POLICY_CHEN_H

#include "base/stop.h"
#include "solve/core/schedule.h"

/* Sets the empty schedule `s` to that of chen-sqrt; unfinished once `stop` (which may be
 * NULL) hits. */
void rp_chen_sqrt_schedule(const struct rp_instance *p, struct rp_stop *stop,
                           struct rp_schedule *s);

#endif
