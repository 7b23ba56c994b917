/* incremental: a schedule under small changes, and what they do to time and memory. It is
 * what local search evaluates its moves with.
 *
 * A move is a handful of flips (incremental_flip.h) that are evaluated together. The order
 * of calls, from left to right and from top to bottom:
 *
 *   rp_incremental_init
 *     rp_incremental_load                      a schedule; again at any time between moves
 *       rp_incremental_begin                   +
 *         rp_incremental_flip                  |  any number of both
 *         rp_incremental_flip_swap_in          |
 *         rp_incremental_evaluate              |  once; adds flips of its own
 *           true:  rp_incremental_commit       |  one move, repeated
 *              or  rp_incremental_undo         |
 *           false: rp_incremental_undo         |
 *       (or undo without evaluate)             +
 *     rp_incremental_store                     the present schedule; between moves
 *   rp_incremental_fini
 *
 * Between moves all fields of the state describe one sound schedule; incremental_check.h
 * tests that. During a move the schedule (S, I) has the flips, and the costs (R, times,
 * bytes) are still those from before.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_H

#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/incremental/incremental_evaluate.h"
#include "solve/incremental/incremental_flip.h"
#include "solve/incremental/incremental_state.h"

/* `p` must outlive `s` and not change. The caller owns `s`. */
void rp_incremental_init(struct rp_incremental *s, const struct rp_instance *p);
void rp_incremental_fini(struct rp_incremental *s);

/* Loads a sound schedule; stores the present one into `to`, which has the instance's shape.
 * The second is false once `stop` (which may be NULL) hits: then `s` can be loaded again or
 * freed, nothing else. */
void rp_incremental_load(struct rp_incremental *s, const struct rp_schedule *from);
bool rp_incremental_load_until(struct rp_incremental *s, const struct rp_schedule *from,
                               struct rp_stop *stop);
void rp_incremental_store(const struct rp_incremental *s, struct rp_schedule *to);

#endif
