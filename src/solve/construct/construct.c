#include "solve/construct/construct.h"

#include <assert.h>
#include <math.h>

#include "solve/construct/construct_homes.h"
#include "solve/construct/greedy.h"
#include "solve/construct/swap_descent.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"
#include "solve/incumbent.h"
#include "solve/local/offload_all.h"

/* May the steps of the warm start be taken in this space? *cost is the cost then. */
static bool space_allows_start(struct rp_context *w, const struct rp_space *space,
                               struct rp_cost *cost) {
    if (!space->active || (space->p.out_ns == NULL && rp_schedule_swaps(&w->start)))
        return false;
    *cost = rp_schedule_cost_until(&space->p, &w->start, &w->stop);
    return cost->sound;
}

bool rp_construct_from_plan(struct rp_context *w, const struct rp_plan *plan) {
    w->statistics.method[RP_WARM_START].calls++;
    rp_schedule_empty(&w->p, &w->start);
    if (!rp_schedule_from_plan(&w->p, plan, &w->stop, &w->start)) {
        rp_schedule_fini(&w->start);
        return false;
    }
    for (int i = 0; i < RP_N_SPACES; i++) {
        struct rp_cost cost;
        w->spaces[i].warm = space_allows_start(w, &w->spaces[i], &cost);
        if (w->spaces[i].warm)
            rp_incumbent_offer_cost(w, i, &w->start, cost, RP_WARM_START);
    }
    return true;
}

/* True if `s` is a schedule of p within its limits. *cost is its cost. */
static bool fits(struct rp_context *w, const struct rp_instance *p,
                 const struct rp_schedule *s, struct rp_cost *cost) {
    double begin = rp_seconds();
    *cost = rp_schedule_cost_until(p, s, &w->stop);
    rp_context_reserve(w, rp_seconds() - begin);
    return rp_cost_fits(p, cost);
}

/* Tries the limit, then lower ones, since a stage may need more memory than the pass
 * counted. */
static bool construct_greedily(struct rp_context *w, const struct rp_instance *p,
                               struct rp_schedule *s, struct rp_cost *cost) {
    enum { MAX_PASSES = 4 };
    struct rp_instance lower = *p;
    for (int k = 0; k < MAX_PASSES && !rp_context_stopped(w); k++) {
        w->statistics.method[RP_GREEDY].calls++;
        if (rp_schedule_greedy(&lower, NULL, &w->stop, s) && fits(w, p, s, cost))
            return true;
        lower.limit_bytes -= lower.limit_bytes / 32;
    }
    return false;
}

/* Takes copies out of a schedule that swaps everything and fits. If the search is to stop
 * then, it stays as it was. */
static void leave_copies_out(struct rp_context *w, const struct rp_instance *p, bool early,
                             struct rp_schedule *s, struct rp_cost *cost) {
    struct rp_stop stop = w->stop;
    struct rp_cost new_cost;
    double now = rp_seconds();
    stop.deadline = fmin(stop.deadline, now + SWAP_DESCENT_SHARE * (w->end - now));
    rp_swap_descent(p, &stop, s);
    if (fits(w, p, s, &new_cost))
        *cost = new_cost;
    else
        rp_schedule_offload_all(p, early, s);
}

/* If every tensor is on the host between its uses, the schedule fits nearly every limit
 * above the floor. Most copies can then be left out: with `descend` they are, but where
 * sources may live on the host, as annealing finds more there from all copies. */
static bool construct_by_offloading(struct rp_context *w, const struct rp_instance *p,
                                    bool descend, struct rp_schedule *s,
                                    struct rp_cost *cost) {
    for (int early = 1; early >= 0 && !rp_context_stopped(w); early--) {
        w->statistics.method[RP_OFFLOAD_ALL].calls++;
        rp_schedule_offload_all(p, early, s);
        if (!fits(w, p, s, cost))
            continue;
        if (descend && p->n_homes == 0)
            leave_copies_out(w, p, early, s, cost);
        return true;
    }
    return false;
}

/* rp_construct, with a greedy pass or without. */
static bool construct(struct rp_context *w, enum rp_space_id space,
                      const struct rp_instance *p, bool greedily, struct rp_schedule *s,
                      struct rp_constructed *made) {
    made->from = RP_GREEDY;
    if (p->n_homes > 0 && rp_construct_homes(w, &w->spaces[space], p, s, &made->cost))
        return true;
    if (p->n_homes == 0 && w->o->recompute && greedily &&
        construct_greedily(w, p, s, &made->cost))
        return true;
    made->from = RP_OFFLOAD_ALL;
    return p->out_ns != NULL && construct_by_offloading(w, p, true, s, &made->cost);
}

bool rp_construct(struct rp_context *w, enum rp_space_id space, const struct rp_instance *p,
                  struct rp_schedule *s, struct rp_constructed *made) {
    return construct(w, space, p, space != RP_WITHOUT_RECOMPUTE, s, made);
}

bool rp_construct_offloaded(struct rp_context *w, const struct rp_instance *p,
                            struct rp_schedule *s, struct rp_cost *cost) {
    return p->out_ns != NULL && construct_by_offloading(w, p, false, s, cost);
}

/* The whole space comes after the first one, which has tried all that swaps nothing, and
 * before the last one, whose copies it can leave out. */
static const enum rp_space_id in_order[] = {RP_WITHOUT_SWAPS, RP_BOTH,
                                            RP_WITHOUT_RECOMPUTE};
static_assert(sizeof in_order / sizeof *in_order == RP_N_SPACES, "a space is missing");

void rp_construct_incumbents(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_constructed made;
    bool homes = w->p.n_homes > 0;
    for (int k = 0; k < RP_N_SPACES; k++) {
        enum rp_space_id i = in_order[k];
        if (w->spaces[i].active && (homes || !rp_context_incumbent(w, i)->found) &&
            construct(w, i, &w->spaces[i].p, i == RP_WITHOUT_SWAPS, scratch, &made))
            rp_incumbent_offer_cost(w, i, scratch, made.cost, made.from);
    }
}
