/* combine: what several searches found, joined into one schedule by the exact method.
 *
 * Where two annealing runs end differs in a few hundred of the columns R and S. All others
 * are fixed, what follows from them too (rp_formulation_options.known), and branch and cut
 * finds the best of what is left: the best way to take every open decision as some of the
 * schedules does (Danna, Rothberg, Le Pape 2005, "Exploring relaxation induced
 * neighborhoods", and Rothberg 2007, who joins solutions). It is a large neighbourhood of
 * each of them, and leaves a schedule at least as good as the best.
 */
#ifndef RP_SOLVE_MIP_CROSSOVER_H
#define RP_SOLVE_MIP_CROSSOVER_H

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

enum { RP_MAX_POOL = 12 };

/* Sound schedules of one problem that fit, the fastest first, at most that many. */
struct rp_solution_pool {
    struct rp_pool_solution {
        struct rp_schedule s;
        uint64_t time_ns;
    } * at;
    size_t n, cap;
};

/* Keeps a copy of s, which fits and takes time_ns, unless there are many faster ones or it
 * is there already. */
void rp_solution_pool_add(struct rp_solution_pool *f, const struct rp_schedule *s,
                          uint64_t time_ns);
void rp_solution_pool_fini(struct rp_solution_pool *f);

struct rp_crossover_options {
    uint64_t work;                /* limit, in units of the exact method (branch_cut.h) */
    bool (*stop)(void *stop_arg); /* asked a few times a second: true ends it */
    void *stop_arg;
};

/* Joins the fastest two, the fastest three, and so on. A better schedule is added to `f`,
 * in first place. For a problem without swaps. Works in a process of its own, and does
 * nothing if the system gives none. Returns the work done. */
uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_solution_pool *f);

#endif
