/* replay: a program carried out, with digests for data.
 *
 * An op's output is a digest of the op's index, the output's position and all cells of all
 * inputs, written into all of its cells; a source holds a digest of its index. Storage that
 * is freed or newly taken is overwritten with a mark, and so is workspace, before and after
 * the op. So a value that a run reads is right only if every step and every wait up to it
 * did its part. What is right comes from the un-rematerialized step: each op once, memory
 * without end.
 *
 * A runtime's copies take their time, so the order between queues is not fixed by the plan;
 * only the waits are. The program runs once for each schedule in replay.c: the two extreme
 * orders of all tasks that the waits allow, which are always the same, and then, if there
 * are copies, on three threads, one a queue, with an event behind each task: there the
 * waits are all that keeps the order. What a task does is the same for all. That the waits
 * leave no other order with other values is shown without running (races.c).
 */
#ifndef RP_VERIFY_HASH_REPLAY_H
#define RP_VERIFY_HASH_REPLAY_H

#include "verify/task_graph.h"
#include "verify/verifier.h"

/* As rp_verify_replay, for a program already built from `p`'s steps for `g`. */
rp_rc rp_hash_replay(const struct rp_graph *g, const struct rp_task_graph *prog,
                     struct rp_replay *r, struct rp_err *err);

#endif
