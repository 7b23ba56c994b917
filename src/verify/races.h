/* races: are the waits of a task graph enough?
 *
 * Queues and waits define a happens-before relation. Any two tasks that use the same cell,
 * at least one of them writing, must be ordered by it. Then every order that the waits
 * allow gives the values of the one replayed. The relation is computed with vector clocks
 * (F. Mattern, "Virtual time and global states of distributed systems", 1989) that have one
 * entry for each queue.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_VERIFY_RACES_H
#define RP_VERIFY_RACES_H

#include "verify/task_graph.h"

/* RP_NO: two tasks use the same storage, one of them writes, and no chain of waits puts
 * them in order: "replay: steps[7] does not wait for steps[6], ...". */
rp_rc rp_check_races(const struct rp_graph *g, const struct rp_task_graph *tg,
                     struct rp_err *err);

#endif
