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
 * Where that takes long, a search of columns comes first (astar_search.h), which finds good
 * plans. The states that it adds are of use to the proof too, and with a faster plan fewer
 * states are of interest.
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
 * Where sources may live on the host, there is a first state for each choice of those that
 * do. The others take no part, but for their memory. An update makes the next version of a
 * source (instance.h), where the last one lay, and the host copy of that one is of no more
 * use. A version may be freed only if it has a host copy, and the last ones must have one
 * in the end.
 *
 * Small tensors, such as gradients of weights, would double the states each time that one
 * is made. At first they count as no bytes. The best plan may not fit then; only in that
 * case they are taken as they are.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "model/plan.h"
#include "solve/core/instance.h"

struct rp_astar;

/* Of a graph that it accepts. Homes: choices of the sources that live on the host. */
enum { RP_ASTAR_MAX_TENSORS = 64, RP_ASTAR_MAX_OPS = 64, RP_ASTAR_MAX_HOMES = 1 << 8 };

struct rp_astar_statistics {
    uint64_t states_added;
    uint64_t expanded;
    uint64_t dominated; /* states not added or not expanded: another one is no worse */
    uint64_t pruned_by_bound; /* states not added, or expanded: no faster plan can follow */
};

/* Of all calls for one problem. */
struct rp_astar_result {
    uint64_t bound_ns; /* no plan is faster; at most below_ns, and plan_ns */
    uint64_t plan_ns;  /* of the fastest plan that was found; UINT64_MAX: none */
    uint64_t work;
    struct rp_astar_statistics statistics;
};

struct rp_astar_options {
    uint64_t below_ns;    /* plans that take as long, or longer, are of no interest */
    uint64_t enough_ns;   /* a bound that is high enough; UINT64_MAX: none is */
    uint64_t max_work;    /* in comparisons of two states: about 4 ns each */
    struct rp_stop *stop; /* or NULL */
    /* Or NULL: what another process has proved so far, as bound_ns of the result. The
     * search ends when it is what plans must take less than. */
    const uint64_t *proved_ns;
    /* Only what takes no windows, which easy graphs do not need: a call without it goes on.
     */
    bool easy;
    /* Any plan is of use: proofs get their shares of this call's work only. */
    bool any_plan;
};

/* Is p small enough? It may or may not allow swaps. */
bool rp_astar_accepts(const struct rp_instance *p);

/* With at most max_states states at a time, 1 or more for each choice of homes: about 150
 * bytes each. `work` is that
 * of all calls together, about: it says how much goes into windows. p must outlive it. */
struct rp_astar *rp_astar_new(const struct rp_instance *p, uint32_t max_states,
                              double work);
void rp_astar_free(struct rp_astar *a); /* or NULL */

/* Looks for the fastest plan, and goes on where the last call ended. o->below_ns is no more
 * than in calls before. Leaves the steps of a plan faster than all known before in `plan`,
 * without addresses. The result is a's. */
const struct rp_astar_result *
rp_astar_search(struct rp_astar *a, const struct rp_astar_options *o, struct rp_plan *plan);

/* Is it known which plan is the fastest, or that none takes less than below_ns? */
bool rp_astar_is_complete(const struct rp_astar_options *o,
                          const struct rp_astar_result *r);

#endif
