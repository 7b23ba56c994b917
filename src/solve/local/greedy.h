/* greedy: makes a schedule that fits in one pass, for graphs too large to search from
 * keep-all.
 *
 * The step is followed op by op. What is missing is made again. Where memory is short, the
 * tensor with the largest bytes * time to its next use / time to make it again is dropped:
 * Belady's rule ("A study of replacement algorithms", IBM Systems Journal 1966: drop what
 * is needed last) with the costs of Kirisame et al., "Dynamic Tensor Rematerialization"
 * (ICLR 2021), but with the future known.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_GREEDY_H
#define RP_SOLVE_LOCAL_GREEDY_H

#include <stdbool.h>

#include "base/stop.h"
#include "solve/core/schedule.h"

/* Writes the schedule into `s`, which has the instance's shape. Nothing is swapped. False,
 * with `s` partly changed, if the pass reaches a dead end repeats too many runs or meets
 * `stop` (which may be NULL). A stage
 * may need more memory than the pass counted, so the caller checks with
 * rp_schedule_cost. */
bool rp_schedule_greedy(const struct rp_instance *p, struct rp_stop *stop,
                        struct rp_schedule *s);

#endif
