/* incremental_timeline: how long the runs wait for copies, kept up to date move by move.
 * The time line is that of docs/formats.md; model/timeline.h walks it step by step for
 * finished plans.
 *
 * All times count from the beginning of some stage, so that a change early in the step does
 * not touch what is known of later stages. A move is simulated in intervals of stages: from
 * a stage that it changes, as long as the queues or the copies under way differ from what
 * they were, relative to the compute queue; then on to the next stage that it changes.
 * While both copy queues are idle no copy is under way, so intervals are short where copies
 * are few.
 *
 * Callers have p->out_ns != NULL: the instance allows swaps.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_TIMELINE_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_TIMELINE_H

#include "solve/incremental/incremental_state.h"

void rp_incremental_timeline_init(struct rp_incremental *s);
void rp_incremental_timeline_fini(struct rp_incremental *s); /* safe without init */

/* Simulates all stages. The rest of the state has been loaded. */
void rp_incremental_timeline_load(struct rp_incremental *s);
/* Sets *stall_ns to what swaps.stall_ns will be; the dirty stages of the move are
 * evaluated. False if a tensor would be freed or made again while its swap-in is under way.
 */
bool rp_incremental_timeline_evaluate(struct rp_incremental *s, double *stall_ns);
/* Adds flips against the stalls of the last evaluation: tensors are freed later and swapped
 * in earlier. False if nothing stalled. */
bool rp_incremental_timeline_shift(struct rp_incremental *s);
/* Makes the last evaluation part of the state. */
void rp_incremental_timeline_commit(struct rp_incremental *s);

#endif
