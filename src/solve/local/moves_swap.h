/* moves_swap: moves over I: what is swapped, and when. The instance allows swaps. Each
 * returns false if its random choices left nothing to do. Not thread-safe: one state, one
 * thread.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_SWAP_H
#define RP_SOLVE_LOCAL_MOVES_SWAP_H

#include <stdbool.h>
#include <stdint.h>

struct rp_incremental;

/* Begins a swap-in earlier or later. */
bool rp_move_shift_swap_in(struct rp_incremental *s, uint64_t *random);
/* Frees a tensor that is swapped earlier or later after its first use. */
bool rp_move_shift_free(struct rp_incremental *s, uint64_t *random);
/* Holds a tensor over an interval in which it is swapped, or makes it again. */
bool rp_move_end_swap(struct rp_incremental *s, uint64_t *random);
/* Swaps a tensor that is made again. */
bool rp_move_swap_recomputed(struct rp_incremental *s, uint64_t *random);
/* Ends one swap, and swaps another tensor meanwhile. */
bool rp_move_exchange_swap(struct rp_incremental *s, uint64_t *random);

#endif
