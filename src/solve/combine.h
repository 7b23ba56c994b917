/* combine: what several searches found, joined into one schedule by the exact method.
 *
 * Where two annealing runs end differs in a few hundred of the columns R and S. All others
 * are fixed, what follows from them too (rp_form_options.known), and branch and cut finds
 * the best of what is left: the best way to take every open decision as some of the
 * schedules does (Danna, Rothberg, Le Pape 2005, "Exploring relaxation induced
 * neighborhoods", and Rothberg 2007, who joins solutions). It is a large neighbourhood of
 * each of them, and leaves a schedule at least as good as the best.
 */
#ifndef RP_SOLVE_COMBINE_H
#define RP_SOLVE_COMBINE_H

#include "solve/problem.h"
#include "solve/schedule.h"

enum { RP_MOST_FINDS = 12 };

/* Sound schedules of one problem that fit, the fastest first, at most that many. */
struct rp_finds {
    struct rp_find {
        struct rp_schedule s;
        uint64_t time_ns;
    } * at;
    size_t n, cap;
};

/* Keeps a copy of s, which fits and takes time_ns, unless there are many faster ones or it
 * is there already. */
void rp_finds_add(struct rp_finds *f, const struct rp_schedule *s, uint64_t time_ns);
void rp_finds_fini(struct rp_finds *f);

struct rp_combine_options {
    uint64_t work;                /* limit, in units of the exact method (tree.h) */
    bool (*stop)(void *stop_arg); /* asked a few times a second: true ends it */
    void *stop_arg;
};

/* Joins the fastest two, the fastest three, and so on. A better schedule is added to `f`,
 * in first place. For a problem without swaps. Works in a process of its own, and does
 * nothing if the system gives none. Returns the work done. */
uint64_t rp_combine(const struct rp_problem *p, const struct rp_combine_options *o,
                    struct rp_finds *f);

#endif
