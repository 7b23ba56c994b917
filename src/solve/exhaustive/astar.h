/* programs: the fastest of all programs with copies, for small graphs. A* (Hart, Nilsson
 * and Raphael, 1968) over where a program can stand: what has run, what is on the device
 * and the host, and when the three queues and each copy end (docs/formats.md, the time
 * line). Nothing is relaxed: a copy may begin between any two steps, an op may run twice
 * between two first runs, so this also finds what no schedule (schedule.h) can say.
 *
 * How far a state is from the end is at least the time of the first runs still to come, and
 * of what must run again because it is wanted and neither on the device nor the host.
 *
 * Not all programs are tried, but for each there is one among those tried that is as fast:
 *
 * - Where two states have the same on device and host, one that is nowhere later dominates.
 *   What is copied in and freed unread could have been left out, so waiting is never needed
 *   to make a free legal.
 * - A copy out begins right after a run that makes its tensor, or after another copy out.
 *   Moved there from later, in the same order, none starts later than it did.
 * - What nothing can want any more is freed by the run that leaves it, unless a copy of it
 *   is under way. All else is freed just before a run or copy in that needs the room, and
 *   no more than it needs: a free that comes later waits no longer.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/instance.h"

enum { RP_ASTAR_MAX_TENSORS = 24, RP_ASTAR_MAX_OPS = 40 }; /* no graph with more */

struct rp_astar {
    uint64_t bound_ns; /* no program is faster; at most the time asked to be below */
    bool found;        /* one faster than that: its steps are in the plan */
    uint32_t n_states;
};

/* True if p is small enough; p may or may not allow swaps. */
bool rp_astar_accepts(const struct rp_instance *p);

/* Looks for programs faster than below_ns, the fastest first, with at most `max_states`
 * states or until *stop. Appends the steps of what it finds. */
void rp_astar_search(const struct rp_instance *p, uint64_t below_ns, uint32_t max_states,
                     const volatile sig_atomic_t *stop, struct rp_astar *result,
                     struct rp_plan *plan);

#endif
