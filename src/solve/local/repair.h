/* repair: makes a schedule fit that is over the limit, by swaps.
 *
 * Little above the least budget, annealing ends in schedules that are over the limit in a
 * few stages. What helps there is a swap that takes long, at the right place. No move
 * proposes that often, as it is seldom good elsewhere. This tries all of them, stage by
 * stage, and takes the one that costs the least time for the bytes that it frees.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_LOCAL_REPAIR_H
#define RP_SOLVE_LOCAL_REPAIR_H

#include <stdbool.h>

#include "solve/incremental/incremental.h"

/* Continues until no stage is over the limit, and then returns true. False if a stage
 * cannot be made to fit in this way, after `work` more units of s->work, or once `stop`
 * (which may be NULL) hits; then less is over the limit than before, or as much. The
 * instance allows swaps or not; if not, nothing changes. No move is in progress before and
 * after. */
bool rp_repair(struct rp_incremental *s, uint64_t work, struct rp_stop *stop);

#endif
