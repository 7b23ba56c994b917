#include "solve/search/construct.h"

#include "solve/core/warm_start.h"
#include "solve/incumbent.h"
#include "solve/local/greedy.h"
#include "solve/local/offload_all.h"
#include "solve/search/construct_homes.h"

/* May the steps of the warm start be taken in this space? */
static bool space_allows_start(const struct rp_context *w, const struct rp_space *space) {
    return space->active && (space->p.out_ns != NULL || !rp_schedule_swaps(&w->start)) &&
           rp_schedule_cost(&space->p, &w->start).sound;
}

bool rp_construct_from_plan(struct rp_context *w, const struct rp_plan *plan) {
    w->statistics.method[RP_WARM_START].calls++;
    rp_schedule_empty(&w->p, &w->start);
    if (!rp_schedule_from_plan(&w->p, plan, &w->stop, &w->start)) {
        rp_schedule_fini(&w->start);
        return false;
    }
    for (int i = 0; i < RP_N_SPACES; i++) {
        w->spaces[i].warm =
            !rp_stop_interrupted(&w->stop) && space_allows_start(w, &w->spaces[i]);
        if (w->spaces[i].warm)
            rp_incumbent_offer_in(w, i, &w->start, RP_WARM_START);
    }
    return true;
}

/* Tries the limit, then lower ones, since a stage may need more memory than the pass
 * counted. */
static bool construct_greedily(struct rp_context *w, const struct rp_instance *p,
                               struct rp_schedule *s) {
    enum { MAX_PASSES = 4 };
    struct rp_instance lower = *p;
    lower.out_ns = lower.in_ns = NULL;
    for (int k = 0; k < MAX_PASSES && !rp_context_stopped(w); k++) {
        w->statistics.method[RP_GREEDY].calls++;
        if (rp_schedule_greedy(&lower, NULL, &w->stop, s) && rp_schedule_fits(p, s))
            return true;
        lower.limit_bytes -= lower.limit_bytes / 32;
    }
    return false;
}

/* If every tensor is on the host between its uses, the schedule fits nearly every limit
 * above the floor. */
static bool construct_by_offloading(struct rp_context *w, const struct rp_instance *p,
                                    struct rp_schedule *s) {
    for (int early = 1; early >= 0 && !rp_context_stopped(w); early--) {
        w->statistics.method[RP_OFFLOAD_ALL].calls++;
        rp_schedule_offload_all(p, early, s);
        if (rp_schedule_fits(p, s))
            return true;
    }
    return false;
}

bool rp_construct(struct rp_context *w, enum rp_space_id space, const struct rp_instance *p,
                  struct rp_schedule *s, enum rp_method *from) {
    *from = RP_GREEDY;
    if (p->n_homes > 0 && rp_construct_homes(w, &w->spaces[space], p, s))
        return true;
    if (p->n_homes == 0 && w->o->recompute && space != RP_WITHOUT_RECOMPUTE &&
        construct_greedily(w, p, s))
        return true;
    *from = RP_OFFLOAD_ALL;
    return p->out_ns != NULL && construct_by_offloading(w, p, s);
}

void rp_construct_incumbents(struct rp_context *w, struct rp_schedule *scratch) {
    enum rp_method from;
    bool homes = w->p.n_homes > 0;
    for (int i = 0; i < RP_N_SPACES; i++)
        if (w->spaces[i].active && (homes || !rp_context_incumbent(w, i)->found) &&
            rp_construct(w, i, &w->spaces[i].p, scratch, &from))
            rp_incumbent_offer_in(w, i, scratch, from);
}
