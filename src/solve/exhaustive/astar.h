/* astar: finds the fastest of all step sequences, with swaps or without, for small graphs.
 *
 * A* (Hart, Nilsson and Raphael, "A formal basis for the heuristic determination of minimum
 * cost paths", 1968). A state describes a plan between two steps: what has run, what is on
 * the device and on the host, and when the three queues and each copy end (docs/formats.md,
 * the time line). Nothing is relaxed: a copy may begin between any two steps, and an op may
 * run twice between two first runs. So this also finds plans that no schedule (schedule.h)
 * can represent.
 *
 * The remaining time of a state is at least what astar_problem.h says: what has to run
 * again or be copied in for each first run, and after that what every plan takes. Searches
 * of windows that end with the step (astar_search.h) find that first, the last op's first.
 * (Such searches of relaxed problems are pattern databases: Culberson and Schaeffer,
 * 1998.)
 *
 * Not all step sequences are tried. For each that is left out, one that is tried is as
 * fast:
 *
 * - Of two states with the same ops run and the same tensors on the device, one dominates
 *   the other if it is nowhere later and has on the host what the other has there. Waiting
 *   is never needed to make a free legal: what is copied in and freed unread need not have
 *   been copied in.
 * - A copy out begins right after a run that makes its tensor, or after another copy out.
 *   Copies that are moved there from later, in the same order, start no later than before.
 * - A tensor that nothing can need any more is freed right after the run that made it so,
 *   unless a copy of it is under way. So is one that can only serve to make another again
 *   which is there and no larger. Everything else is freed just before a run or a copy
 *   in that needs the memory, and no more than it needs: a later free waits no longer. That
 *   can be an output of that very run, which then makes it again, if the op cannot rewrite
 *   it in place.
 *
 * Small tensors, such as gradients of weights, would double the states each time that one
 * is made. At first they count as no bytes. A plan that is found then may not fit; only in
 * that case they are taken as they are.
 *
 * Thread-safe: different searches may run at the same time.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "model/plan.h"
#include "solve/core/instance.h"

enum { RP_ASTAR_MAX_TENSORS = 64, RP_ASTAR_MAX_OPS = 64 }; /* of a graph that it accepts */

/* Plain data. */
struct rp_astar_statistics {
    uint64_t states_added;
    uint64_t expanded;
    uint64_t dominated; /* states not added or not expanded: another one is no worse */
    uint64_t pruned_by_bound; /* states not added: no faster plan can follow */
};
void rp_astar_statistics_add(struct rp_astar_statistics *into,
                             const struct rp_astar_statistics *from);

struct rp_astar_result {
    uint64_t bound_ns; /* no plan is faster; at most below_ns */
    bool found; /* the fastest plan was found; it takes bound_ns, less than below_ns */
    struct rp_astar_statistics statistics;
};

/* Is p small enough? It may or may not allow swaps. */
bool rp_astar_accepts(const struct rp_instance *p);

struct rp_astar_options {
    uint64_t below_ns;    /* plans that take as long, or longer, are of no interest */
    uint32_t max_states;  /* at least 1; the work is in proportion to it */
    struct rp_stop *stop; /* or NULL */
    /* Or NULL: what another process has proved so far, as bound_ns of the result. The
     * search ends when it is below_ns. */
    const uint64_t *proved_ns;
};

/* Looks for the fastest plan. Appends the steps of what it finds to `plan`, without
 * addresses. */
void rp_astar_search(const struct rp_instance *p, const struct rp_astar_options *o,
                     struct rp_astar_result *result, struct rp_plan *plan);

#endif
