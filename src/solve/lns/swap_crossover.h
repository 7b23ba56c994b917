/* swap_crossover: combines the schedules that several searches have found into a faster
 * one, where plans may swap. Without swaps mip/crossover.h does so.
 *
 * Two schedules are joined by a restricted interval MILP (interval_join.h): it takes each
 * decision in which they differ as one of them does. Annealing does not find such joint
 * changes, since a copy takes the place of others on its queue. Where two schedules differ
 * in so much that the program is not solved with the work of a try, only a part of that is
 * decided anew. The part grows with each program that is solved, and shrinks with each
 * that is not.
 * (Rothberg, "An evolutionary algorithm for polishing mixed integer programming solutions",
 * 2007, combines solutions. Shaw, "Using constraint programming and local search methods to
 * solve vehicle routing problems", 1998, decides a part anew.)
 *
 * Not thread-safe: one pool and state, one thread.
 */
#ifndef RP_SOLVE_LNS_SWAP_CROSSOVER_H
#define RP_SOLVE_LNS_SWAP_CROSSOVER_H

#include "base/stop.h"
#include "solve/core/instance.h"
#include "solve/engine/engine.h"
#include "solve/mip/crossover.h"
#include "solve/mip/recent.h"
#include "solve/mip/solution_pool.h"

/* What a search knows of its pool. A zeroed state is a new one. */
struct rp_swap_crossover {
    struct rp_recent crossed; /* pairs that give nothing more */
    int64_t work_left;        /* allotted and not used */
    double size;              /* tensors that are decided anew; 0: not known yet */
};

struct rp_swap_crossover_options {
    enum rp_engine engine; /* loaded */
    uint64_t seed;
    struct rp_stop *stop;
};

/* Crosses one pair of the pool, if there is one and state->work_left is enough for a try.
 * Pairs with the fastest schedule come first, and of these the pair that differs in the
 * fewest tensors. *parent is the faster schedule. If a child is found, it is where a search
 * for a schedule faster than *parent can begin: it may be unsound, or over the limits.
 * False: nothing was crossed. Takes the work off state->work_left, and adds to *stats. */
bool rp_swap_crossover_try(const struct rp_instance *p,
                           const struct rp_swap_crossover_options *o,
                           struct rp_swap_crossover *state,
                           const struct rp_solution_pool *pool, size_t *parent, bool *found,
                           struct rp_schedule *child,
                           struct rp_crossover_statistics *stats);

#endif
