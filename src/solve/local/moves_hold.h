/* moves_hold: moves over S: what is held, and what is made again. Each returns false if its
 * random choices left nothing to do. Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_HOLD_H
#define RP_SOLVE_LOCAL_MOVES_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct rp_incremental;

/* Drops something where memory is short. */
bool rp_move_reduce_peak(struct rp_incremental *s, uint64_t *random);
/* Holds or drops the interval next to a random use of a tensor. */
bool rp_move_toggle_at_use(struct rp_incremental *s, uint64_t *random);
/* Holds or drops an interval of a random tensor around a random row. */
bool rp_move_toggle_random(struct rp_incremental *s, uint64_t *random);
/* Holds or drops all tensors of a short run of ops across one row. */
bool rp_move_toggle_segment(struct rp_incremental *s, uint64_t *random);
/* Holds one tensor that is made again, and drops another one that is held meanwhile. */
bool rp_move_exchange_1_1(struct rp_incremental *s, uint64_t *random);
/* Drops one tensor, and holds in the memory it leaves some that are made again. */
bool rp_move_exchange_1_n(struct rp_incremental *s, uint64_t *random);
/* Holds one tensor that is made again, and drops others until there is memory for it. */
bool rp_move_exchange_n_1(struct rp_incremental *s, uint64_t *random);
/* Makes a tensor again in an earlier stage that uses an input of its op, and holds it from
 * there. If there is none, and the instance allows swaps: a few stages earlier, or where it
 * is used next. */
bool rp_move_shift_recompute(struct rp_incremental *s, uint64_t *random);
/* Holds a tensor that is made again instead of one that its op reads. */
bool rp_move_shift_checkpoint(struct rp_incremental *s, uint64_t *random);

#endif
