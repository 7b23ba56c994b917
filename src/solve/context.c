#include "solve/context.h"

#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/mem.h"
#include "model/timeline.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/child/loss.h"
#include "solve/core/params.h"
#include "solve/exhaustive/astar.h"
#include "solve/order/step_end.h"

static void allow_swap(const struct rp_context *w, struct rp_instance *p) {
    if (w->o->swap)
        rp_instance_allow_swap(p, w->o->host_bytes);
}

void rp_context_init(struct rp_context *w) {
    w->losses = rp_losses();
    w->placed_ns = UINT64_MAX;
    w->sequence_ns = UINT64_MAX;
    rp_context_instance(w, &w->p, w->o->budget_bytes);
    if (w->o->certificate != NULL) {
        rp_instance_init(&w->certified, w->g, w->o->budget_bytes, w->o->addressed,
                         w->order);
        allow_swap(w, &w->certified);
        rp_instance_for_certificate(&w->certified);
    }
    w->own_stage = rp_calloc(w->p.n_ops, sizeof *w->own_stage);
    w->all_irreplaceable = rp_calloc(w->p.n_tensors, sizeof *w->all_irreplaceable);
    for (uint32_t j = 0; j < w->p.n_ops; j++)
        w->own_stage[j] = j;
    for (uint32_t x = 0; x < w->p.n_tensors; x++)
        w->all_irreplaceable[x] = true;
}

/* The instance of a space. What it points to stays w's. */
static struct rp_instance restrict_instance(const struct rp_context *w,
                                            enum rp_space_id space) {
    struct rp_instance p = w->p;
    if (space == RP_BOTH)
        rp_instance_copies_at_end(&w->p, &p);
    if (space == RP_WITHOUT_SWAPS)
        p.out_ns = p.in_ns = NULL;
    if (space == RP_WITHOUT_RECOMPUTE) {
        p.last_stage = w->own_stage;
        p.irreplaceable = w->all_irreplaceable;
    }
    return p;
}

bool rp_context_may_narrow(const struct rp_context *w) {
    return ABLATED_METHOD != RP_NARROWER && w->p.n_ops <= MAX_NARROWER_OPS;
}

bool rp_context_may_stay(const struct rp_context *w) {
    return !rp_any_home(w->g, RP_HOME_HOST) && w->g->fixed_bytes <= w->o->budget_bytes;
}

void rp_context_begin_search(struct rp_context *w) {
    bool swap = w->p.out_ns != NULL;
    w->whole = !swap ? RP_WITHOUT_SWAPS : w->o->recompute ? RP_BOTH : RP_WITHOUT_RECOMPUTE;
    bool beside = w->whole == RP_BOTH && !w->o->reorder && rp_context_may_narrow(w) &&
                  rp_context_may_stay(w);
    w->turns = rp_sequence_begin(w->p.n_ops, swap, w->p.n_homes > 0, beside);
    if (w->incumbent.found)
        rp_schedule_keep_all(&w->p, &w->incumbent.s);
    for (int i = 0; i < RP_N_SPACES; i++) {
        struct rp_space *space = &w->spaces[i];
        bool without_copies = i == RP_WITHOUT_SWAPS && w->p.n_homes > 0;
        space->active = i == (int)w->whole || (w->whole == RP_BOTH && !without_copies);
        space->p = restrict_instance(w, i);
        space->tried_ns = UINT64_MAX;
    }
}

void rp_context_free_spaces(struct rp_space *spaces) {
    for (int i = 0; i < RP_N_SPACES; i++) {
        rp_schedule_fini(&spaces[i].incumbent.s);
        rp_schedule_fini(&spaces[i].waiting.s);
        rp_solution_pool_fini(&spaces[i].pool);
        rp_large_neighborhood_fini(&spaces[i].neighborhoods);
        rp_lp_rounding_free(spaces[i].rounding);
    }
}

struct rp_incumbent *rp_context_incumbent(struct rp_context *w, enum rp_space_id space) {
    return space == w->whole ? &w->incumbent : &w->spaces[space].incumbent;
}

void rp_context_fini(struct rp_context *w) {
    rp_pdhg_bound_free(w->bound);
    rp_interval_worker_end(w->interval);
    for (unsigned k = 0; k < RP_MAX_NARROWER; k++)
        rp_narrower_end(w->narrower[k]);
    rp_schedule_fini(&w->incumbent.s);
    rp_schedule_fini(&w->start);
    rp_context_free_spaces(w->spaces);
    rp_plan_fini(&w->placed);
    rp_astar_free(w->astar);
    rp_plan_fini(&w->sequence);
    rp_instance_fini(&w->p);
    rp_instance_fini(&w->certified);
    free(w->own_stage);
    free(w->all_irreplaceable);
    free(w->order);
}

void rp_context_reserve(struct rp_context *w, double seconds) {
    w->reserve_s = fmax(w->reserve_s, 2 * seconds);
    w->stop.deadline = fmin(w->stop.deadline, w->end - w->reserve_s);
}

static void show_progress(const struct rp_context *w) {
    uint64_t time_ns = w->incumbent.time_ns, keep_all_ns = w->g->total_time_ns;
    double left_s = w->end - rp_seconds();
    if (w->incumbent.found)
        rp_progress(left_s, "%s, best %s over keep-all, gap %s", w->doing,
                    rp_show_percent(time_ns - keep_all_ns, keep_all_ns).s,
                    rp_show_percent(time_ns - w->bound_ns, w->bound_ns).s);
    else
        rp_progress(left_s, "%s, no plan yet", w->doing);
}

void rp_context_doing(struct rp_context *w, const char *what) {
    w->doing = what;
    show_progress(w);
}

bool rp_context_lost(const struct rp_context *w) {
    return rp_losses() != w->losses;
}

bool rp_context_stopped(struct rp_context *w) {
    if (rp_progress_due())
        show_progress(w);
    if (w->o->ignore_clock && rp_context_lost(w))
        w->stop.hit = true;
    return rp_stop_now(&w->stop);
}

bool rp_context_stop(void *arg) {
    return rp_context_stopped(arg);
}

double rp_context_last_resort(const struct rp_context *w) {
    return w->p.n_ops <= MAX_UNTIMED_OPS ? INFINITY : w->end + LAST_RESORT_SECONDS;
}

double rp_context_finish_deadline(const struct rp_context *w) {
    return fmax(w->stop.deadline, w->begin + FINISH_SHARE * (w->end - w->begin));
}

const char *rp_context_limit_word(const struct rp_context *w) {
    return rp_stop_interrupted(&w->stop) ? "interrupt"
           : w->report->capped           ? "time limit"
                                         : "work limit";
}

double rp_context_goal_ns(const struct rp_context *w) {
    return (double)w->bound_ns * (1 + w->o->gap);
}

bool rp_context_gap_allows(const struct rp_context *w, double time_ns) {
    return time_ns <= rp_context_goal_ns(w);
}

bool rp_context_gap_reached(const struct rp_context *w) {
    return w->incumbent.found && rp_context_gap_allows(w, (double)w->incumbent.time_ns);
}

void rp_context_instance(const struct rp_context *w, struct rp_instance *p,
                         uint64_t budget_bytes) {
    if (w->homes)
        rp_instance_init_homes(p, w->g, budget_bytes, w->o->addressed, w->order);
    else
        rp_instance_init(p, w->g, budget_bytes, w->o->addressed, w->order);
    allow_swap(w, p);
    /* Certificates assume that nothing runs after the last first run. */
    bool may_run = w->o->recompute && w->o->certificate == NULL;
    rp_instance_add_end_if_needed(
        p, (struct rp_step_end_options){.any_order = w->o->reorder, .may_run = may_run});
    if (!w->o->recompute)
        rp_instance_run_once(p);
}
