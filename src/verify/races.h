/* races: are the waits of a task graph enough?
 *
 * Happens-before from queues and waits alone: any two tasks that use the same cell, one of
 * them writing, must be in order. Then no order that the waits allow gives other values
 * than the one replayed. The orders are kept as vector clocks (F. Mattern, "Virtual time
 * and global states of distributed systems", 1989), one entry for each queue.
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
