#include "solve/placement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/format.h"
#include "base/log.h"
#include "base/mem.h"
#include "pack/addresses.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/temperature.h"
#include "solve/incumbent.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/shrink_lifetimes.h"
#include "solve/portfolio.h"

/* The steps of a schedule (NULL: keep-all), with addresses if these are wanted. False if
 * the arena is larger than `limit`. */
static bool place(struct rp_context *w, const struct rp_schedule *s, struct rp_plan *plan,
                  uint64_t limit) {
    struct rp_statistics *statistics = &w->statistics;
    rp_plan_fini(plan);
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    plan->budget_bytes = w->o->budget_bytes;
    if (s != NULL)
        rp_schedule_steps(&w->p, s, NULL, plan);
    else
        rp_keep_all_steps(&w->p, plan);
    rp_shrink_lifetimes(w->g, plan);
    if (!w->o->addressed)
        return true;
    double begin = rp_seconds();
    rp_assign_addresses(w->g, plan, limit, (uint64_t)(w->o->time_limit * PACK_WORK_PER_S),
                        &w->stop, &statistics->pack);
    statistics->pack_seconds += rp_seconds() - begin;
    statistics->placements++;
    return plan->arena_bytes <= limit;
}

/* Places the incumbent with as few copies as possible. It drops all copies that the
 * schedule can do without; if that cannot be placed, only those of small tensors; then only
 * those of very small ones; then none. */
static bool place_incumbent(struct rp_context *w, struct rp_plan *plan, uint64_t limit) {
    static const unsigned share_log2[] = {0, 8, 12};
    struct rp_schedule fewer;
    bool placed = false, changed = rp_schedule_swaps(&w->incumbent.s);
    rp_schedule_empty(&w->p, &fewer);
    for (size_t k = 0; k < sizeof share_log2 / sizeof *share_log2 && changed && !placed &&
                       !rp_context_stopped(w);
         k++) {
        rp_schedule_copy(&fewer, &w->incumbent.s);
        changed = rp_drop_swaps(&w->p, w->p.limit_bytes >> share_log2[k], &w->stop, &fewer);
        placed = changed && place(w, &fewer, plan, limit);
    }
    rp_schedule_fini(&fewer);
    return placed || place(w, &w->incumbent.s, plan, limit);
}

/* A short, cool search from the incumbent, whether that fits or not. */
static void search_near(struct rp_context *w, struct rp_schedule *scratch, double work,
                        uint64_t k) {
    rp_schedule_copy(scratch, &w->incumbent.s);
    rp_portfolio_anneal(w, &w->p, scratch, work,
                        0.1 * rp_initial_temperature(w->p.n_ops, work), w->o->seed + k,
                        RP_POLISH);
}

/* A schedule within a lowered limit: from the incumbent, in one pass, or from keep-all. */
static void tighten(struct rp_context *w, struct rp_schedule *scratch, uint64_t k) {
    double work = (k == 0 ? FIRST_TIGHTEN_SHARE : TIGHTEN_SHARE) * w->o->time_limit *
                  ANNEAL_WORK_PER_S;
    w->statistics.tightenings++;
    rp_incumbent_forget(w);
    search_near(w, scratch, work, k);
    if (!w->incumbent.found)
        rp_portfolio_construct(w, scratch);
    if (w->incumbent.found)
        return;
    rp_schedule_fini(scratch);
    rp_schedule_keep_all(&w->p, scratch);
    rp_portfolio_anneal(w, &w->p, scratch, 2 * work,
                        rp_initial_temperature(w->p.n_ops, 2 * work), w->o->seed + k,
                        RP_ANNEAL);
}

/* The last resort when time or tightenings have run out: schedules made in one pass, far
 * enough below the limit for their addresses to fit. */
static bool place_constructed(struct rp_context *w, struct rp_plan *plan, uint64_t limit,
                              struct rp_schedule *scratch) {
    double work = TIGHTEN_SHARE * w->o->time_limit * ANNEAL_WORK_PER_S;
    rp_stop_until(&w->stop, w->end + LAST_RESORT_SECONDS);
    for (uint64_t k = 1; k <= MAX_GREEDY_TIGHTENINGS && !rp_context_stopped(w); k++) {
        w->p.limit_bytes = limit - limit / 16 * k;
        rp_incumbent_forget(w);
        rp_portfolio_construct(w, scratch);
        if (!w->incumbent.found &&
            !rp_context_stopped(w)) /* happens on graphs that are no training steps */
            search_near(w, scratch, work, k);
        if (w->incumbent.found && place_incumbent(w, plan, limit))
            return true;
    }
    return false;
}

bool rp_place_keep_all(struct rp_context *w, struct rp_plan *plan) {
    rp_stop_until(&w->stop, w->end);
    return place(w, NULL, plan, w->p.limit_bytes);
}

rp_rc rp_place(struct rp_context *w, struct rp_plan *plan, struct rp_schedule *scratch) {
    uint64_t limit = w->p.limit_bytes;
    rp_stop_until(&w->stop, w->end);
    bool tried = plan->steps.n > 0; /* by rp_place_keep_all */
    for (uint64_t k = 0;; k++) {
        if ((k > 0 || !tried) && place_incumbent(w, plan, limit))
            return RP_OK;
        uint64_t missing = plan->arena_bytes - limit;
        if (k == 0)
            w->report->missing_bytes = missing;
        rp_log(1, "the arena is %" PRIu64 " bytes too large: lowering the schedule's limit",
               missing);
        missing += missing / 4 * k; /* somewhat more each time */
        if (k == MAX_TIGHTENINGS || missing >= w->p.limit_bytes || rp_context_stopped(w))
            break;
        w->p.limit_bytes -= missing;
        tighten(w, scratch, k);
        if (!w->incumbent.found)
            break;
    }
    w->report->capped = w->report->capped || rp_context_stopped(w);
    if (place_constructed(w, plan, limit, scratch))
        return RP_OK;
    snprintf(w->report->reason, sizeof w->report->reason,
             "schedules within %s were found, but no addresses for them before the %s",
             rp_show_exactly(w->o->budget_bytes).s, rp_context_limit_word(w));
    return RP_LIMIT;
}
