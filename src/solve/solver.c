#include "solve/solver.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "pack/addresses.h"
#include "solve/bound/certificate_writer.h"
#include "solve/context.h"
#include "solve/core/plan_claims.h"
#include "solve/core/shrink_lifetimes.h"
#include "solve/core/warm_start.h"
#include "solve/exhaustive/astar.h"
#include "solve/local/drop_swaps.h"

/* The exact method is for graphs of at most so many ops, the first-order bound for more
 * than so many. */
enum { TREE_OPS = 260, BOUND_OPS = 60 };
/* The share of the bound's work that goes into a certificate where another method gave the
 * bound. */
static const double CERTIFY_SHARE = 0.1;

/* No program is looked for that takes longer. */
static const uint64_t LONGEST_NS = (uint64_t)1 << 61;
/* States of small graphs' programs for a second of --time-limit, and at most. */
static const double PROGRAM_STATES = 50e3, MAX_PROGRAM_STATES = 200e3;

enum {
    N_TIGHTEN = 12, /* how often the packing may ask for a tighter schedule, */
    N_ONE_PASS = 4, /* and for one made in one pass where that failed */
};
/* Search work for each tighter schedule, as a share of that of the whole time limit. */
static const double FIRST_TIGHTEN_SHARE = 0.12, TIGHTEN_SHARE = 0.04;
/* Packing work, of a nanosecond each, for one placement and a second of --time-limit. */
static const double PACK_WORK = 4e7;

uint64_t rp_keep_all_bytes(const struct rp_graph *g, bool addressed) {
    struct rp_instance p;
    struct rp_schedule s;
    rp_instance_init(&p, g, g->fixed_bytes, addressed, NULL);
    rp_schedule_keep_all(&p, &s);
    uint64_t bytes = g->fixed_bytes + rp_schedule_cost(&p, &s).peak_bytes;
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    return bytes;
}

bool rp_context_stopped(const struct rp_context *w) {
    return (w->o->stop != NULL && *w->o->stop) || rp_seconds() > w->deadline;
}

bool rp_context_gap_reached(const struct rp_context *w) {
    return w->found && (double)w->time_ns <= (double)w->bound_ns * (1 + w->o->gap);
}

/* The problem with what the options allow in it. */
void rp_context_instance(const struct rp_context *w, struct rp_instance *p,
                         uint64_t budget) {
    rp_instance_init(p, w->g, budget, w->o->addressed, w->order);
    if (w->o->swap)
        rp_instance_allow_swap(p, w->o->host_bytes);
    for (uint32_t i = 0; i < p->n_ops && !w->o->recompute; i++)
        p->recompute[i] = false;
}

static void write_notes(const struct rp_context *w, bool tried_all, struct rp_plan *plan) {
    plan->notes =
        json_pack("{s:s, s:s, s:f, s:I, s:b, s:s}", "program", "remat-plan", "method",
                  tried_all                           ? "search of all programs"
                  : rp_schedule_swaps(&w->best)       ? "annealing over S and I"
                  : w->time_ns == w->g->total_time_ns ? "keep-all"
                                                      : "annealing over S",
                  "time_limit", w->o->time_limit, "seed", (json_int_t)w->o->seed, "capped",
                  (int)w->report->capped, "bound_for",
                  w->report->bound_for_all ? "all" : "schedules");
}

/* The steps of a schedule, with addresses if they are wanted. False if the arena is larger
 * than that. */
static bool place(struct rp_context *w, const struct rp_schedule *s, struct rp_plan *plan,
                  uint64_t limit) {
    rp_plan_fini(plan);
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    plan->budget_bytes = w->o->budget_bytes;
    rp_schedule_steps(&w->p, s, plan);
    rp_shrink_lifetimes(w->g, plan);
    if (!w->o->addressed)
        return true;
    rp_assign_addresses(w->g, plan, limit, (uint64_t)(w->o->time_limit * PACK_WORK));
    return plan->arena_bytes <= limit;
}

/* The same for the best schedule, with as few copies as can be placed: all that can go, or
 * those of small tensors, or of very small ones. */
static bool place_steps(struct rp_context *w, struct rp_plan *plan, uint64_t limit) {
    static const unsigned share_log2[] = {0, 8, 12};
    struct rp_schedule fewer;
    bool placed = false, changed = true;
    rp_schedule_empty(&w->p, &fewer);
    for (size_t k = 0; k < sizeof share_log2 / sizeof *share_log2 && changed && !placed;
         k++) {
        rp_schedule_copy(&fewer, &w->best);
        changed = rp_drop_swaps(&w->p, w->p.limit_bytes >> share_log2[k], &fewer);
        placed = changed && place(w, &fewer, plan, limit);
    }
    rp_schedule_fini(&fewer);
    return placed || place(w, &w->best, plan, limit);
}

/* A schedule within the tightened limit: a little search from the best, and if that fails,
 * one pass or a longer search from keep-all. */
static void search_tightened(struct rp_context *w, struct rp_schedule *scratch,
                             uint64_t k) {
    double work =
        (k == 0 ? FIRST_TIGHTEN_SHARE : TIGHTEN_SHARE) * w->o->time_limit * SEARCH_WORK;
    w->found = w->proved = false;
    rp_schedule_copy(scratch, &w->best);
    rp_portfolio_anneal(w, &w->p, scratch, work, 0.1 * rp_initial_temperature(w, work),
                        w->o->seed + k);
    if (!w->found)
        rp_portfolio_construct(w, scratch);
    if (w->found)
        return;
    rp_schedule_fini(scratch);
    rp_schedule_keep_all(&w->p, scratch);
    rp_portfolio_anneal(w, &w->p, scratch, 2 * work, rp_initial_temperature(w, 2 * work),
                        w->o->seed + k);
}

/* Late or out of tries: a plan by one pass, far enough below the limit to be placed, is
 * better than none. */
static bool place_one_pass(struct rp_context *w, struct rp_plan *plan, uint64_t limit,
                           struct rp_schedule *scratch) {
    double work = TIGHTEN_SHARE * w->o->time_limit * SEARCH_WORK;
    w->deadline = INFINITY; /* it takes a second for ten thousand ops */
    for (uint64_t k = 1; k <= N_ONE_PASS; k++) {
        w->p.limit_bytes = limit - limit / 16 * k;
        w->found = w->proved = false;
        rp_portfolio_construct(w, scratch);
        if (!w->found) { /* on graphs that are no training steps */
            rp_schedule_copy(scratch, &w->best);
            rp_portfolio_anneal(w, &w->p, scratch, work,
                                0.1 * rp_initial_temperature(w, work), w->o->seed + k);
        }
        if (w->found && place_steps(w, plan, limit))
            return true;
    }
    return false;
}

/* Packs; while the arena is too large, tightens the limit by what is missing, and somewhat
 * more each time, and searches a little from the best schedule. */
static rp_rc fit_addresses(struct rp_context *w, struct rp_plan *plan,
                           struct rp_schedule *scratch) {
    uint64_t limit = w->p.limit_bytes;
    w->deadline = w->end;
    for (uint64_t k = 0;; k++) {
        if (place_steps(w, plan, limit))
            return RP_OK;
        uint64_t missing = plan->arena_bytes - limit;
        if (k == 0)
            w->report->missing_bytes = missing;
        rp_log(1, "packing misses %" PRIu64 " bytes: tightening the schedule", missing);
        missing += missing / 4 * k;
        if (k == N_TIGHTEN || missing >= w->p.limit_bytes || rp_context_stopped(w))
            break;
        w->p.limit_bytes -= missing;
        search_tightened(w, scratch, k);
        if (!w->found)
            break;
    }
    w->report->capped = w->report->capped || rp_context_stopped(w);
    if (place_one_pass(w, plan, limit, scratch))
        return RP_OK;
    snprintf(w->report->reason, sizeof w->report->reason,
             "schedules within %" PRIu64 " bytes were found, but no addresses for them",
             w->o->budget_bytes);
    return RP_LIMIT;
}

static rp_rc find_schedule(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_cost c = rp_schedule_cost(&w->p, &w->best);
    w->report->keep_all_bytes = w->g->fixed_bytes + c.peak_bytes;
    w->time_ns = w->bound_ns = w->g->total_time_ns;
    w->found = c.peak_bytes <= w->p.limit_bytes;
    if (w->found)
        return RP_OK;
    if (!w->o->recompute && w->p.out_ns == NULL && !w->o->reorder) {
        w->report->min_bytes = w->report->keep_all_bytes;
        snprintf(w->report->reason, sizeof w->report->reason,
                 "without recomputation the step needs %" PRIu64
                 " bytes, more than the budget of %" PRIu64,
                 w->report->keep_all_bytes, w->o->budget_bytes);
        return RP_NO;
    }
    /* The exact method knows of no swaps. */
    if (w->p.out_ns == NULL && w->p.n_ops <= TREE_OPS && !w->o->reorder) {
        struct rp_branch_cut_options tree = {.gap = w->o->gap};
        w->milp = rp_mip_worker_start(&w->p, &tree);
    }
    if (w->p.out_ns == NULL && w->p.n_ops > BOUND_OPS && !w->o->reorder)
        w->bound = rp_pdhg_bound_new(&w->p, 0);
    rp_schedule_copy(scratch, &w->best);
    if (w->o->start != NULL && !rp_portfolio_warm_start(w, w->o->start))
        rp_log(0, "the plan to start from is no schedule of this search; going on without");
    w->share = 1;
    rp_portfolio_construct(w, scratch);
    if (w->o->reorder)
        rp_search_orders(w, scratch);
    else
        rp_portfolio_run(w, scratch);
    rp_mip_worker_end(w->milp);
    w->milp = NULL;
    w->awaited = false;
    return w->found ? RP_OK : RP_LIMIT;
}

/* Small graphs, whether a schedule was found or not: one faster than the best schedule is
 * in `plan`, if it was found. What was proved of schedules may not be so for all programs.
 */
static rp_rc try_programs(struct rp_context *w, struct rp_plan *plan, struct rp_err *err) {
    double states = w->o->time_limit * PROGRAM_STATES;
    uint64_t below_ns = w->found ? w->time_ns : LONGEST_NS;
    struct rp_astar r;
    if (w->o->reorder || !rp_astar_accepts(&w->p) || below_ns > LONGEST_NS ||
        below_ns == w->g->total_time_ns)
        return RP_OK;
    states = fmin(fmax(states, 1), MAX_PROGRAM_STATES);
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    rp_astar_search(&w->p, below_ns, (uint32_t)states, w->o->stop, &r, plan);
    rp_log(1, "programs: %" PRIu32 " states, bound %" PRIu64 " ns", r.n_states, r.bound_ns);
    w->all_programs = r.found || r.bound_ns >= below_ns;
    if (w->all_programs || r.bound_ns > w->bound_ns)
        w->bound_ns = r.bound_ns;
    return rp_plan_fill_claims(w->g, plan, err);
}

/* Another plan as it is, as `plan`: true if the options allow it and it fits. */
static bool restate(struct rp_context *w, const struct rp_plan *start,
                    struct rp_plan *plan) {
    struct rp_err ignored = {{0}};
    bool addressed = w->o->addressed;
    for (size_t i = 0; i < start->steps.n; i++)
        if (start->steps.at[i].kind == RP_SWAP_OUT && !w->o->swap)
            return false;
    if (!w->o->recompute && start->claims.recompute_ns > 0)
        return false;
    rp_plan_restate(start, addressed && start->addressed, w->o->budget_bytes, plan);
    uint64_t limit = w->o->budget_bytes - w->g->fixed_bytes;
    if (addressed && !start->addressed)
        rp_assign_addresses(w->g, plan, limit, (uint64_t)(w->o->time_limit * PACK_WORK));
    return rp_plan_fill_claims(w->g, plan, &ignored) == RP_OK &&
           plan->arena_bytes <= limit && plan->host_bytes <= w->o->host_bytes;
}

/* Of all copies; what fits in memory many times over does not overflow. */
static uint64_t copied_bytes(const struct rp_graph *g, const struct rp_plan *plan) {
    uint64_t sum = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *s = &plan->steps.at[i];
        if (s->kind == RP_SWAP_OUT || s->kind == RP_SWAP_IN)
            sum += g->tensors[s->id].bytes;
    }
    return sum;
}

/* The result is never slower than another plan that fits, nor does it copy more in the same
 * time; NULL or no steps: there is none. */
static rp_rc prefer(struct rp_context *w, const struct rp_plan *other, rp_rc rc,
                    struct rp_plan *plan) {
    struct rp_plan same;
    if (other == NULL || other->steps.n == 0 ||
        (rc != RP_OK && rc != RP_LIMIT && rc != RP_NO))
        return rc;
    if (rc == RP_OK && (plan->claims.time_ns < other->claims.time_ns ||
                        (plan->claims.time_ns == other->claims.time_ns &&
                         copied_bytes(w->g, plan) <= copied_bytes(w->g, other))))
        return rc;
    if (!restate(w, other, &same)) {
        rp_plan_fini(&same);
        return rc;
    }
    rp_plan_fini(plan);
    *plan = same;
    w->time_ns = plan->claims.time_ns;
    if (w->bound_ns > w->time_ns) /* it runs an op twice in a stage: no schedule does */
        w->bound_ns = w->g->total_time_ns;
    return RP_OK;
}

/* The exact method leaves no rows behind: then the first-order method looks for some. */
static rp_rc certify(struct rp_context *w, struct rp_err *err) {
    unsigned scale_log2;
    if (w->o->certificate == NULL)
        return RP_OK;
    if (w->bound == NULL) {
        w->bound = rp_pdhg_bound_new(&w->p, w->p.out_ns != NULL ? w->time_ns : 0);
        if (w->time_ns > w->g->total_time_ns)
            rp_pdhg_bound_run(w->bound,
                              (uint64_t)(CERTIFY_SHARE * w->o->time_limit * BOUND_WORK),
                              INFINITY, w->o->stop);
    }
    const int64_t *m = rp_pdhg_bound_multipliers(w->bound, &scale_log2);
    const struct rp_formulation *f = rp_pdhg_bound_form(w->bound);
    struct rp_formulation any = {0}; /* where there are no rows */
    if (f == NULL)
        rp_formulation_init(&any, &w->p, &(struct rp_formulation_options){0});
    rp_rc rc =
        rp_certificate_save(w->o->certificate, w->g, f != NULL ? f : &any, w->o->addressed,
                            w->o->budget_bytes, rp_pdhg_bound_rows(w->bound), m, scale_log2,
                            rp_pdhg_bound_horizon_ns(w->bound), err);
    rp_formulation_fini(&any);
    return rc;
}

rp_rc rp_solve(const struct rp_graph *g, const struct rp_solve_options *o,
               struct rp_plan *plan, struct rp_solve_report *report, struct rp_err *err) {
    struct rp_context w = {
        .g = g, .o = o, .report = report, .begin = rp_seconds() - o->spent};
    struct rp_schedule scratch = {0};
    struct rp_plan program = {0};
    *report = (struct rp_solve_report){.floor_op = RP_NONE};
    *plan = (struct rp_plan){0};
    w.end = o->ignore_clock ? INFINITY : w.begin + o->time_limit;
    w.deadline = w.begin + (w.end - w.begin) * (o->addressed ? SCHEDULE_SHARE : 1);
    rp_rc rc = rp_check_floor(&w);
    if (rc != RP_OK)
        return rc;
    assert(!o->reorder || o->certificate == NULL);
    rp_context_instance(&w, &w.p, o->budget_bytes);
    rp_schedule_keep_all(&w.p, &w.best);
    rp_schedule_empty(&w.p, &scratch);
    w.never = rp_calloc(g->n_ops, sizeof *w.never);
    rc = find_schedule(&w, &scratch);
    if (rc == RP_OK || rc == RP_LIMIT) {
        rp_rc tried = try_programs(&w, &program, err);
        if (tried != RP_OK)
            rc = tried;
        else if (rc == RP_LIMIT)
            rc = rp_explain_none_found(&w, &scratch);
    }
    if (rc == RP_OK)
        rc = certify(&w, err);
    if (rc == RP_OK)
        rc = fit_addresses(&w, plan, &scratch);
    if (rc == RP_OK)
        rc = rp_plan_fill_claims(g, plan, err);
    rc = prefer(&w, o->start, rc, plan);
    uint64_t others_ns = rc == RP_OK ? plan->claims.time_ns : UINT64_MAX;
    rc = prefer(&w, &program, rc, plan);
    if (rc == RP_OK) {
        plan->claims.lower_bound_ns = w.bound_ns;
        plan->claims.proof = plan->claims.time_ns == w.bound_ns ? RP_PROOF_OPTIMAL
                             : w.bound_ns > g->total_time_ns    ? RP_PROOF_BOUNDED
                                                                : RP_PROOF_NONE;
        report->bound_for_all = w.all_programs || w.bound_ns <= g->total_time_ns;
        write_notes(&w, plan->claims.time_ns < others_ns && program.steps.n > 0, plan);
    } else {
        rp_plan_fini(plan);
    }
    rp_plan_fini(&program);
    rp_pdhg_bound_free(w.bound);
    rp_schedule_fini(&w.best);
    rp_schedule_fini(&w.start);
    rp_solution_pool_fini(&w.finds);
    rp_schedule_fini(&scratch);
    rp_instance_fini(&w.p);
    free(w.never);
    free(w.order);
    return rc;
}
