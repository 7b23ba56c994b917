#include "solve/solver.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"
#include "solve/background.h"
#include "solve/bound/certificate_writer.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/child/loss.h"
#include "solve/construct/construct.h"
#include "solve/context.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/incumbent.h"
#include "solve/infeasible.h"
#include "solve/order_search.h"
#include "solve/placement.h"
#include "solve/portfolio.h"
#include "solve/search/every_order.h"
#include "solve/search/moment_proof.h"
#include "solve/search/program_search.h"

uint64_t rp_source_bytes(const struct rp_graph *g) {
    uint64_t bytes = g->fixed_bytes;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        bytes += g->tensors[x].home == RP_HOME_HOST ? g->tensors[x].bytes : 0;
    return bytes;
}

uint64_t rp_keep_all_bytes(const struct rp_graph *g, bool addressed) {
    struct rp_instance p;
    rp_instance_init(&p, g, g->fixed_bytes, addressed, NULL);
    uint64_t bytes = rp_source_bytes(g) + rp_keep_all_cost(&p).peak_bytes;
    rp_instance_fini(&p);
    return bytes;
}

uint64_t rp_kept_bytes(const struct rp_graph *g, bool addressed) {
    struct rp_instance p;
    uint64_t bytes = 0;
    rp_instance_init(&p, g, g->fixed_bytes, addressed, NULL);
    for (uint32_t x = 0; x < p.n_tensors; x++)
        bytes += p.kept[x] ? p.bytes[x] : 0;
    rp_instance_fini(&p);
    return bytes;
}

bool rp_is_too_large_to_search(const struct rp_graph *g) {
    struct rp_instance p;
    rp_instance_init(&p, g, g->fixed_bytes, false, NULL);
    bool too_large = rp_schedule_too_large(&p);
    rp_instance_fini(&p);
    return too_large;
}

static bool swaps(const struct rp_plan *plan) {
    for (size_t i = 0; i < plan->steps.n; i++)
        if (plan->steps.at[i].kind == RP_SWAP_OUT)
            return true;
    return false;
}

static void write_notes(const struct rp_context *w, bool from_sequences,
                        struct rp_plan *plan) {
    plan->notes =
        json_pack("{s:s, s:s, s:f, s:I, s:b}", "program", "remat-plan", "method",
                  from_sequences                                ? "search of all programs"
                  : swaps(plan)                                 ? "annealing over S and I"
                  : plan->claims.time_ns == w->g->total_time_ns ? "keep-all"
                                                                : "annealing over S",
                  "time_limit", w->o->time_limit, "seed", (json_int_t)w->o->seed, "capped",
                  (int)w->report->capped);
    if (w->o->engine != RP_ENGINE_GLPK)
        json_object_set_new(plan->notes, "engine",
                            json_string(rp_engine_name(w->o->engine)));
}

/* First schedules: of the start plan, or made in one pass. */
static void construct(struct rp_context *w, struct rp_schedule *scratch) {
    double deadline = w->stop.deadline;
    rp_stop_until(&w->stop, rp_context_last_resort(w));
    w->report->start_left_out = w->o->start != NULL &&
                                !rp_construct_from_plan(w, w->o->start) && !w->o->reorder &&
                                !rp_context_stopped(w);
    rp_construct_incumbents(w, scratch);
    rp_stop_until(&w->stop, fmin(deadline, w->end - w->reserve_s));
    rp_place_first(w, scratch);
}

/* First schedules, then the turns of the portfolio. RP_OK if a schedule fits. If keep-all
 * does, only its addresses are still to be found. */
static rp_rc find_schedule(struct rp_context *w, struct rp_schedule *scratch) {
    bool keep_all = w->incumbent.found;
    if (!keep_all && !w->sequence_placed)
        rp_portfolio_begin(w);
    construct(w, scratch);
    if (!keep_all && !w->sequence_placed && w->p.out_ns == NULL)
        rp_prove_moment(w);
    w->share = 1;
    if (w->o->reorder && !keep_all)
        rp_search_orders(w, scratch);
    else
        rp_portfolio_run(w, scratch);
    if (w->o->reorder && !w->incumbent.found)
        rp_search_every_order(w);
    if (!keep_all && !w->sequence_placed && w->p.out_ns != NULL && !w->o->reorder &&
        !rp_context_gap_reached(w))
        rp_prove_moment(w);
    return w->incumbent.found ? RP_OK : RP_LIMIT;
}

/* Branch and cut leaves no multipliers. If PDHG has not run, it runs now to find some.
 * Without rows, the certificate proves the sum of all op times. */
static rp_rc certify(struct rp_context *w, struct rp_err *err) {
    unsigned scale_log2;
    if (w->o->certificate == NULL || (w->o->ignore_clock && rp_context_lost(w)))
        return RP_OK; /* judge_losses says why there is none */
    if (w->bound == NULL) {
        w->bound = rp_bound_new(w, w->p.out_ns != NULL ? w->incumbent.time_ns : 0);
        if (w->incumbent.time_ns > w->g->total_time_ns)
            rp_pdhg_bound_run(
                w->bound, (uint64_t)(CERTIFY_SHARE * w->o->time_limit * PDHG_WORK_PER_S),
                &w->stop);
    }
    const int64_t *m = rp_pdhg_bound_multipliers(w->bound, &scale_log2);
    const struct rp_formulation *f = rp_pdhg_bound_formulation(w->bound);
    struct rp_formulation without_rows = {0};
    if (f == NULL)
        rp_formulation_init(&without_rows, &w->certified,
                            &(struct rp_formulation_options){0});
    rp_rc rc = rp_certificate_save(w->o->certificate, w->g, f != NULL ? f : &without_rows,
                                   w->o->addressed, w->o->budget_bytes,
                                   rp_pdhg_bound_rows(w->bound), m, scale_log2,
                                   rp_pdhg_bound_horizon_ns(w->bound), err);
    rp_formulation_fini(&without_rows);
    return rc;
}

/* What the search's bounds are about. Where the device states no bandwidths, no plan can
 * swap, so a bound without swaps is about plans with them too. The bound for every order is
 * one for all programs. With a certificate the claim is about schedules, as certificates
 * are. */
static struct rp_bound_scope bound_scope(const struct rp_context *w) {
    const struct rp_device *d = &w->g->device;
    bool may_swap = w->p.out_ns != NULL, limits_host = w->o->host_bytes < RP_MAX_QUANTITY;
    uint64_t host_bytes = may_swap && limits_host ? w->o->host_bytes : RP_NO_LIMIT;
    uint64_t if_all_stay = w->homes ? RP_NO_LIMIT : rp_host_bytes_without_sources(w->g);
    return (struct rp_bound_scope){
        .recompute = w->o->recompute,
        .swap = may_swap || d->h2d_bytes_per_s == 0 || d->d2h_bytes_per_s == 0,
        .any_order = w->o->reorder,
        .all_programs = (w->all_sequences || w->o->reorder) && w->o->certificate == NULL,
        .host_budget_bytes = rp_min_u64(host_bytes, if_all_stay),
    };
}

/* Looks for a schedule and places it. If keep-all fits, it is the schedule, and it has been
 * certified. Its addresses did not fit then. */
static rp_rc search(struct rp_context *w, struct rp_err *err) {
    struct rp_schedule scratch;
    bool keep_all = w->incumbent.found;
    rp_context_begin_search(w);
    if (!keep_all)
        rp_program_search_begin(w);
    if (!w->sequence_placed)
        rp_narrower_begin(w, rp_solve);
    rp_schedule_empty(&w->p, &scratch);
    rp_rc rc = find_schedule(w, &scratch);
    if (!keep_all && (rc == RP_OK || rc == RP_LIMIT)) {
        rp_rc finished = rp_portfolio_finish(w, err);
        if (finished != RP_OK)
            rc = finished;
        else if (rc == RP_LIMIT)
            rc = rp_explain_none_found(w);
    }
    if (rc == RP_OK && !keep_all)
        rc = certify(w, err);
    if (rc == RP_OK)
        rc = rp_place_last(w, &scratch);
    rp_schedule_fini(&scratch);
    return rc;
}

/* An interrupt that came before the search leaves no time for its first schedules. */
static rp_rc find_plan(struct rp_context *w, bool keep_all, struct rp_err *err) {
    if (rp_schedule_too_large(&w->p))
        return rp_explain_too_large(w);
    if (!keep_all && rp_stop_interrupted(&w->stop))
        return rp_explain_none_found(w);
    return search(w, err);
}

static uint64_t time_of(rp_rc rc, const struct rp_plan *plan) {
    return rc == RP_OK ? plan->claims.time_ns : UINT64_MAX;
}

static rp_rc solve_above_floor(struct rp_context *w, struct rp_plan *plan,
                               struct rp_err *err) {
    rp_context_init(w);
    w->report->keep_all_bytes = rp_keep_all_bytes(w->g, w->o->addressed);
    w->bound_ns = w->g->total_time_ns;
    bool keep_all = rp_incumbent_offer_keep_all(w);
    rp_rc rc = keep_all ? certify(w, err) : RP_OK;
    if (rc == RP_OK && !(keep_all && rp_place_keep_all(w)))
        rc = find_plan(w, keep_all, err);
    if (rc == RP_OK) {
        rp_place_take(w, plan);
        rc = rp_plan_fill_claims(w->g, plan, err);
    }
    bool certified = rc == RP_OK;
    rc = rp_incumbent_offer_plan(w, w->o->start, rc, plan);
    uint64_t before_ns = time_of(rc, plan);
    rc = rp_incumbent_offer_plan(w, &w->sequence, rc, plan);
    uint64_t sequence_ns = time_of(rc, plan);
    rc = rp_narrower_offer(w, rc, plan);
    w->report->capped = w->report->capped || rp_context_lost(w);
    if (rc == RP_OK) {
        bool from_sequences = sequence_ns < before_ns && time_of(rc, plan) == sequence_ns;
        rp_plan_set_bound(w->g, &plan->claims, w->bound_ns, bound_scope(w));
        write_notes(w, from_sequences, plan);
    }
    return rc == RP_OK && !certified ? certify(w, err) : rc;
}

static bool may_copy(const struct rp_context *w) {
    bool may = w->o->swap && rp_device_can_swap(&w->g->device);
    for (uint32_t x = 0; x < w->g->n_tensors && may; x++)
        may = rp_may_be_copied(&w->g->device, w->g->tensors[x].bytes);
    return may;
}

/* Per tensor: an op reads or updates it. The caller frees the result. */
static bool *find_touched(const struct rp_graph *g) {
    bool *touched = rp_calloc(g->n_tensors, sizeof *touched);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        touched[x] = g->reader_start[x] < g->reader_start[x + 1];
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++)
            touched[g->ops[i].updates[k]] = true;
    return touched;
}

/* Were sources left on the device that may live on the host? Only without copies, and then
 * those that no op touches. */
static bool left_sources(const struct rp_context *w) {
    bool left = false;
    if (w->homes || rp_host_bytes_without_sources(w->g) >= w->o->host_bytes)
        return false;
    bool *touched = find_touched(w->g);
    for (uint32_t x = 0; x < w->g->n_tensors && !left; x++)
        left = w->g->tensors[x].home == RP_HOME_ANY && w->g->tensors[x].bytes > 0 &&
               !touched[x];
    free(touched);
    return left;
}

/* That no plan exists is proved for plans which leave all sources on the device. RP_LIMIT
 * if there are others. */
static rp_rc confirm_none(const struct rp_context *w) {
    struct rp_solve_report *r = w->report;
    size_t n = strlen(r->reason);
    if (!left_sources(w))
        return RP_NO;
    snprintf(r->reason + n, sizeof r->reason - n,
             "; sources that may live on the host were left on the device");
    return RP_LIMIT;
}

/* Does the plan decide which sources live on the host? Not where keep-all fits. */
static bool plans_homes(const struct rp_context *w) {
    const struct rp_solve_options *o = w->o;
    return rp_any_home(w->g, RP_HOME_HOST) ||
           (may_copy(w) && rp_host_bytes_without_sources(w->g) < o->host_bytes &&
            rp_keep_all_bytes(w->g, o->addressed) > o->budget_bytes);
}

/* Says what was lost. Where the work is fixed, so is the plan, and there is none then. */
static rp_rc judge_losses(const struct rp_context *w, rp_rc rc, struct rp_err *err) {
    char what[128];
    if (!rp_context_lost(w) || (rc != RP_OK && rc != RP_LIMIT))
        return rc;
    rp_describe_loss(what, sizeof what);
    if (w->o->ignore_clock && !rp_stop_interrupted(&w->stop))
        return rp_fail(err, RP_ENV,
                       "%s; with --ignore-clock the search cannot go on without it", what);
    rp_log(0, "%s; the search went on without it", what);
    return rc;
}

rp_rc rp_solve(const struct rp_graph *g, const struct rp_solve_options *o,
               struct rp_plan *plan, struct rp_solve_report *report, struct rp_err *err) {
    struct rp_context w = {.g = g,
                           .o = o,
                           .report = report,
                           .begin = rp_seconds() - o->spent,
                           .doing = "making a first plan"};
    *report = (struct rp_solve_report){.floor_op = RP_NONE};
    *plan = (struct rp_plan){0};
    assert(!o->reorder || o->certificate == NULL);
    w.end = o->ignore_clock ? INFINITY : w.begin + o->time_limit;
    w.stop.interrupted = o->stop;
    w.stop.deadline =
        w.begin + (w.end - w.begin) * (o->addressed ? SCHEDULE_SHARE : UNPLACED_SHARE);
    w.homes = plans_homes(&w);
    rp_rc rc = rp_check_floor(&w);
    if (rc == RP_OK)
        rc = solve_above_floor(&w, plan, err);
    if (rc == RP_NO)
        rc = confirm_none(&w);
    rc = judge_losses(&w, rc, err);
    if (rc != RP_OK)
        rp_plan_fini(plan);
    if (o->statistics != NULL)
        *o->statistics = w.statistics;
    rp_context_fini(&w);
    return rc;
}
