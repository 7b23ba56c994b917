/* stay: takes the copies back that a schedule can do without. The search counts time and
 * memory only, so a copy that hides behind compute costs it nothing; on a device it takes
 * bandwidth and a call.
 */
#ifndef RP_SOLVE_LOCAL_DROP_SWAPS_H
#define RP_SOLVE_LOCAL_DROP_SWAPS_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Tensors of at most `max_bytes` that `s`, sound and within the limit, swaps stay on the
 * device instead, the largest first, wherever that needs no more memory than the limit and
 * no more time. False if nothing is changed. */
bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_schedule *s);

#endif
