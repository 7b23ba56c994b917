/* greedy: makes a schedule that fits in one pass, for graphs too large to search from
 * keep-all.
 *
 * The step is followed op by op. What is missing is made again. Where memory is short, the
 * tensor with the largest bytes * time to its next use / time to make it again is dropped:
 * Belady's rule ("A study of replacement algorithms", IBM Systems Journal 1966: drop what
 * is needed last) with the costs of Kirisame et al., "Dynamic Tensor Rematerialization"
 * (ICLR 2021), but with the future known.
 *
 * Sources that live on the host are swapped in where they are missing. They are dropped by
 * the same rule, with the time of the copy for that of the runs. What an update has made
 * stays until it is copied out. When that is, and when copies in end, is estimated as if
 * both queues were always busy.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_CONSTRUCT_GREEDY_H
#define RP_SOLVE_CONSTRUCT_GREEDY_H

#include <stdbool.h>

#include "base/stop.h"
#include "solve/core/schedule.h"

/* Writes the schedule into `s`, which has the instance's shape. Nothing is swapped but
 * sources that live on the host: those for whose version 0 `stays` is false. It may be NULL
 * if there are none. They come in the stage that reads them. False, with `s` partly
 * changed, if the pass reaches a dead end, repeats too many runs or meets `stop` (which may
 * be NULL). A stage may need more memory than the pass counted, so the caller checks with
 * rp_schedule_cost. */
bool rp_schedule_greedy(const struct rp_instance *p, const bool *stays,
                        struct rp_stop *stop, struct rp_schedule *s);

#endif
