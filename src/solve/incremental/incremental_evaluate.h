/* incremental_evaluate: what a move does to time and overflow.
 *
 * The dirty stages are evaluated anew, the rows between them only shift by the bytes of the
 * flips. Where the instance allows swaps, incremental_timeline.h then says how long the
 * runs wait.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_EVALUATE_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_EVALUATE_H

#include <stdbool.h>

#include "solve/incremental/incremental_state.h"

/* Evaluates the move: sets new_time_ns and new_overflow_bytes. False if it cannot be done
 * (s->infeasible), or if time + price * overflow would rise by more than `max_rise_ns`;
 * then these are not set. `price` is in ns per byte.
 *
 * Outputs of ops that may run only once, but are needed again, are held by further flips.
 * Holds and swap-ins that lose their use are removed. With `may_shift`, tensors for whose
 * copies the runs would wait longer than before are freed later and swapped in earlier. */
bool rp_incremental_evaluate(struct rp_incremental *s, double price, double max_rise_ns,
                             bool may_shift);
/* Makes the move that was evaluated part of the state. */
void rp_incremental_commit(struct rp_incremental *s);

#endif
