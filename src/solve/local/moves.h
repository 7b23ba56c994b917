/* moves: what the local search may do to a schedule, as one table. A move is a few flips
 * (solve/incremental/incremental_flip.h). moves_hold.h has the moves over S, moves_swap.h
 * those over I, moves_home.h that over where sources live, moves_interval.h what they
 * share.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_H
#define RP_SOLVE_LOCAL_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct rp_incremental;

/* The name of row i of the table; NULL past its end. It has at most RP_MAX_MOVES rows. */
const char *rp_move_name(uint32_t i);

/* Begins one random move and proposes its flips; *move is its row. False if the random
 * choices left nothing to do. Even then there may be flips, so the caller undoes the move.
 */
bool rp_propose_move(struct rp_incremental *s, uint64_t *random, uint32_t *move);

/* Checks the shares of the table: true if each draw has a row. For tests. */
bool rp_moves_are_complete(void);

#endif
