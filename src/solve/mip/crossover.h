/* crossover: combines the schedules that several searches have found into a better one.
 *
 * The schedules in which two annealing runs end differ in a few hundred of the columns R
 * and S. All other columns are fixed, and with them what follows
 * (rp_formulation_options.known). Branch and cut then finds the best of what is left: the
 * best way to take every open decision as one of the schedules does. This is a large
 * neighbourhood of each of them, and the result is at least as good as the best. (Danna,
 * Rothberg and Le Pape, "Exploring relaxation induced neighborhoods to improve MIP
 * solutions", 2005. Rothberg, "An evolutionary algorithm for polishing mixed integer
 * programming solutions", 2007, combines solutions.)
 */
#ifndef RP_SOLVE_MIP_CROSSOVER_H
#define RP_SOLVE_MIP_CROSSOVER_H

#include "solve/core/instance.h"
#include "solve/engine/engine.h"
#include "solve/mip/recent.h"
#include "solve/mip/solution_pool.h"

struct rp_crossover_options {
    enum rp_engine engine;        /* of branch and cut */
    uint64_t work;                /* limit, in units of branch_cut.h */
    bool (*stop)(void *stop_arg); /* called a few times a second: true ends it */
    void *stop_arg;
};

/* What earlier calls have done: hashes of their programs. A zeroed state is a new one. */
struct rp_crossover_state {
    struct rp_recent solved;   /* or known to give nothing new */
    struct rp_recent given_up; /* with the limit of work that was too little */
};

struct rp_crossover_statistics {
    uint64_t dropped;      /* schedules that the formulation cannot represent */
    uint64_t pairs;        /* pairs of schedules that were crossed */
    uint64_t crossings;    /* runs of branch and cut, for pairs and for more schedules */
    uint64_t solved;       /* of these: to the end */
    uint64_t improvements; /* of these: found a faster schedule */
    uint64_t work;         /* in units of branch_cut.h */
    double seconds;        /* of processor time of branch and cut */
};
void rp_crossover_statistics_add(struct rp_crossover_statistics *into,
                                 const struct rp_crossover_statistics *from);

/* Crosses the best schedule of `pool` with each of the others, then the best with the
 * second and the third, and so on, then all other pairs. Each program gets the same limit
 * of work. Once all have been run, those that were too much get twice as much, and so on.
 * A better schedule replaces the faster one of those that it was made from; schedules that
 * the formulation cannot represent are dropped from `pool`. No program is run twice with
 * the same `state` and limit, nor one that could give nothing new. `p` allows no swaps.
 * Branch and cut runs in a process of its own; if the system cannot start one, nothing is
 * crossed. Returns the work done, and adds to *stats, which may be NULL. Not thread-safe:
 * one pool, one thread. */
uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_crossover_state *state, struct rp_solution_pool *pool,
                      struct rp_crossover_statistics *stats);

#endif
