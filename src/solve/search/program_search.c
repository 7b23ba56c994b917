#include "solve/search/program_search.h"

#include <inttypes.h>
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"
#include "solve/background.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/exhaustive/astar.h"
#include "solve/incumbent.h"

static bool may_run(const struct rp_context *w) {
    return RP_ASTAR != ABLATED_METHOD && !w->o->reorder && rp_astar_accepts(&w->p) &&
           (w->p.n_homes == 0 || w->p.out_ns != NULL);
}

/* Nothing fits so far. Then its part of the time limit is not the least that it has, also
 * where sources may live on the host, and the first of it is its own whatever the clock
 * says. */
static bool is_last_resort(const struct rp_context *w) {
    return may_run(w) && !w->incumbent.found && w->sequence.steps.n == 0;
}

double rp_program_search_seconds(const struct rp_context *w) {
    double limit = w->o->time_limit, longer = limit - EXHAUSTIVE_BEGIN_SECONDS;
    double seconds = fmax(EXHAUSTIVE_SHARE * longer, MIN_EXHAUSTIVE_SHARE * limit);
    return may_run(w) && w->p.n_homes == 0 ? fmin(seconds, MAX_ASTAR_SECONDS) : 0;
}

double rp_program_search_used(const struct rp_context *w) {
    return w->statistics.method[RP_ASTAR].work / ASTAR_WORK_PER_S;
}

/* Of all calls together. */
static double planned_work(const struct rp_context *w) {
    return fmax(rp_program_search_seconds(w) * ASTAR_WORK_PER_S, MIN_ASTAR_WORK);
}

static double last_resort_seconds(const struct rp_context *w) {
    double seconds = fmin(MIN_EXHAUSTIVE_SHARE * w->o->time_limit, MAX_ASTAR_SECONDS);
    return fmax(seconds, MIN_ASTAR_WORK / ASTAR_WORK_PER_S);
}

/* Its plan is the fastest. */
static void place(struct rp_context *w) {
    struct rp_err ignored = {{0}};
    if (w->sequence.steps.n > 0 && rp_program_search_finish(w, &ignored) == RP_OK)
        w->sequence_placed = rp_incumbent_place_plan(w, &w->sequence);
}

/* Goes on where it ended last. easy: as in astar.h. */
static void search(struct rp_context *w, double seconds, bool easy) {
    struct rp_method_statistics *s = &w->statistics.method[RP_ASTAR];
    uint64_t best_ns = w->incumbent.found ? w->incumbent.time_ns : RP_MAX_PLAN_NS;
    uint64_t below_ns = rp_min_u64(best_ns, w->sequence_ns);
    double max_work = seconds * ASTAR_WORK_PER_S;
    if (best_ns > RP_MAX_PLAN_NS || below_ns == w->g->total_time_ns ||
        (w->all_sequences && below_ns <= w->bound_ns) ||
        rp_interval_milp_proves(w, below_ns))
        return;
    if (w->proved || w->bound_ns >= below_ns) /* of schedules */
        max_work = fmin(max_work, MAX_SIDE_ASTAR_WORK);
    if (w->astar == NULL)
        w->astar = rp_astar_new(&w->p, MAX_ASTAR_STATES, planned_work(w));
    struct rp_astar_options o = {
        .below_ns = below_ns,
        .enough_ns =
            w->o->gap > 0 ? (uint64_t)ceil((double)below_ns / (1 + w->o->gap)) : UINT64_MAX,
        .max_work = (uint64_t)max_work,
        .stop = &w->stop,
        .easy = easy,
        .any_plan = !easy && is_last_resort(w),
        .proved_ns =
            w->interval != NULL ? rp_interval_worker_proved_ns(w->interval) : NULL};
    double begin = rp_thread_seconds();
    rp_context_doing(w, rp_method_name[RP_ASTAR]);
    const struct rp_astar_result *r = rp_astar_search(w->astar, &o, &w->sequence);
    w->report->capped = w->report->capped || w->stop.hit;
    w->sequence_ns = r->plan_ns;
    /* A bound that was proved for schedules only may be above this one. Then it does not
     * hold for other step sequences. */
    bool complete = rp_astar_is_complete(&o, r);
    s->bounds += r->bound_ns > w->bound_ns;
    if (complete || r->bound_ns > w->bound_ns) {
        w->bound_ns = r->bound_ns;
        w->all_sequences = w->all_sequences || complete;
    }
    w->proved = w->proved || (complete && w->incumbent.found);
    s->bound_ns = r->bound_ns;
    s->seconds += rp_thread_seconds() - begin;
    s->work = (double)r->work;
    s->calls++;
    w->statistics.astar = r->statistics;
    rp_log(1, "A*: %s, bound %" PRIu64 " ns",
           r->plan_ns < below_ns ? "a faster plan" : "no faster plan", r->bound_ns);
    if (complete)
        place(w);
}

void rp_program_search_begin(struct rp_context *w) {
    double deadline = w->stop.deadline;
    if (!may_run(w))
        return;
    rp_stop_until(&w->stop, INFINITY);
    search(w, FIRST_ASTAR_WORK / ASTAR_WORK_PER_S, true);
    rp_stop_until(&w->stop, deadline);
}

void rp_program_search_go_on(struct rp_context *w, const struct rp_turn *t) {
    double deadline = w->stop.deadline;
    double all = rp_program_search_seconds(w);
    double part = EXHAUSTIVE_BESIDE * all * t->begin / (w->o->time_limit - all);
    double seconds = part - rp_program_search_used(w);
    if (t->begin < fmax(w->sequences_next, EXHAUSTIVE_BEGIN_SECONDS) || seconds <= 0)
        return;
    if (!w->o->ignore_clock)
        rp_stop_until(&w->stop, fmin(deadline, rp_seconds() + 2 * seconds));
    search(w, seconds, false);
    w->sequences_next = 2 * t->begin;
    rp_stop_until(&w->stop, deadline);
}

void rp_program_search_end(struct rp_context *w) {
    double deadline = w->stop.deadline;
    double all = rp_program_search_seconds(w);
    bool last_resort = is_last_resort(w);
    if (last_resort)
        all = fmax(all, last_resort_seconds(w));
    if (last_resort && !w->proved) {
        rp_stop_until(&w->stop, INFINITY);
        search(w, MIN_ASTAR_WORK / ASTAR_WORK_PER_S, false);
    }
    double seconds = all - rp_program_search_used(w);
    if (seconds <= 0 || (w->o->gap > 0 && rp_context_gap_reached(w)))
        return;
    rp_stop_until(&w->stop, rp_context_finish_deadline(w));
    search(w, seconds, false);
    rp_stop_until(&w->stop, deadline);
    rp_astar_free(w->astar);
    w->astar = NULL;
}

rp_rc rp_program_search_finish(struct rp_context *w, struct rp_err *err) {
    if (w->sequence.steps.n == 0 || w->sequence_placed)
        return RP_OK;
    /* A bound that was proved for schedules only does not hold for it. */
    if (w->sequence_ns < w->bound_ns) {
        w->bound_ns = w->statistics.method[RP_ASTAR].bound_ns;
        w->all_sequences = true;
    }
    if (w->sequence.graph_name == NULL) {
        w->sequence.graph_name = rp_strdup(w->g->name);
        w->sequence.graph_sha256 = rp_strdup(w->g->sha256);
    }
    return rp_plan_fill_claims(w->g, &w->sequence, err);
}
