/* moves_interval: what the moves have in common.
 *
 * An interval of a tensor is the range of rows between two stages that use it: from the row
 * after the earlier stage to the row of the later one. Over an interval the tensor is held,
 * or it is swapped, or the later stage makes it again.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_INTERVAL_H
#define RP_SOLVE_LOCAL_MOVES_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/incremental/incremental.h"

/* The interval of x around row t, rows *first..*last. False if there is none, or if x is
 * pinned or a version of a source that stays, so that nothing can be decided. */
bool rp_find_interval(const struct rp_incremental *s, uint32_t x, uint32_t t,
                      uint32_t *first, uint32_t *last);
/* Some output of an op that runs again, in stage *t. RP_NONE if the random choice finds
 * none. */
uint32_t rp_random_recomputed(const struct rp_incremental *s, uint64_t *random,
                              uint32_t *t);
/* For each input that the run of op j in stage t would have to make first: holds it, or
 * leaves it to be made and does so for its own inputs, by chance and `depth` levels deep.
 */
void rp_rehold_inputs(struct rp_incremental *s, uint64_t *random, uint32_t j, uint32_t t,
                      uint32_t depth);

/* Drops x over an interval in which it is held. It is made again at the end of the interval
 * or at an earlier stage in it, or it is swapped. False if neither is possible, or if x is
 * small (incremental_state.h): that gains no room. */
bool rp_drop_interval(struct rp_incremental *s, uint64_t *random, uint32_t x,
                      uint32_t first, uint32_t last);

/* The instance allows swaps, and x has bytes to copy and is not small. */
bool rp_swappable(const struct rp_incremental *s, uint32_t x);
/* Swaps x over an interval. It is held until its copy out should have ended, and swapped in
 * as late as should cause no wait. False if no stage is left for the swap-in. */
bool rp_swap_interval(struct rp_incremental *s, uint64_t *random, uint32_t x,
                      uint32_t first, uint32_t last);
/* The row to which x has to be held so that its copy out, begun when it is first made, is
 * over when it is freed. This is an estimate from the queue as it is now. 0 for version 0
 * of a source, which is on the host already. */
uint32_t rp_copied_out_by(const struct rp_incremental *s, uint32_t x);
/* The last stage from `first` to `last` in which a swap-in of x can begin and be over by
 * stage `last`. This is an estimate from the queue as it is now; `margin` >= 1 multiplies
 * the copy's time. */
uint32_t rp_last_swap_in(const struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, double margin);

#endif
