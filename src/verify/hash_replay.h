/* hash_replay: a task graph executed with digests as data.
 *
 * An op's output is a digest of the op's index, the output's position and all cells of all
 * inputs, and it is written into all cells of the output. A source holds a digest of its
 * index, and after an update one of the op's index, of all that the op reads, and of its
 * own old value: a copy that is out of date holds a wrong value. Storage that is freed or
 * allocated is overwritten with a mark, and so is workspace, before and after the op. So a
 * run reads right values only if all steps and waits before it are right. The right values
 * come from the step without rematerialization: each op once, with unlimited memory.
 *
 * In a runtime copies take their time, so the plan does not fix the order between queues;
 * only the waits do. The graph is executed in two or three orders. The first two are the
 * extreme ones that the waits allow: every copy as early as possible, and as late as
 * possible. They are deterministic. If there are copies, a third execution uses three
 * threads, one for each queue, with an event after each task, so that only the waits keep
 * the order. races.h shows without executing anything that no order gives other values.
 *
 * Thread-safe: there is no shared state. The threads it starts have ended when it returns.
 */
#ifndef RP_VERIFY_HASH_REPLAY_H
#define RP_VERIFY_HASH_REPLAY_H

#include "verify/task_graph.h"
#include "verify/verifier.h"

/* As rp_verify_replay, but without the check for races. */
rp_rc rp_hash_replay(const struct rp_graph *g, const struct rp_task_graph *tg,
                     struct rp_replay *r, struct rp_err *err);

#endif
