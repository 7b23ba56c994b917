/* stay: takes the copies back that a schedule can do without. The search counts time and
 * memory only, so a copy that hides behind compute costs it nothing; on a device it takes
 * bandwidth and a call.
 */
#ifndef RP_SOLVE_STAY_H
#define RP_SOLVE_STAY_H

#include <stdbool.h>

#include "solve/schedule.h"

/* Tensors of at most `most_bytes` that `s`, sound and within the limit, swaps stay on the
 * device instead, the largest first, wherever that needs no more memory than the limit and
 * no more time. False if nothing is changed. */
bool rp_schedule_stay(const struct rp_problem *p, uint64_t most_bytes,
                      struct rp_schedule *s);

#endif
