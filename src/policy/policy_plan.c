#include "policy/policy_plan.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "policy/quick_plans.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "solve/solver.h"

/* Makes the start plan the answer, since it is fast enough already. */
static rp_rc take_start(const struct rp_graph *g, const struct rp_policy_options *o,
                        const struct rp_plan *start, struct rp_plan *plan,
                        struct rp_err *err) {
    rp_plan_restate(start, o->addressed, o->budget_bytes, plan);
    rp_rc rc = rp_plan_fill_claims(g, plan, err);
    rp_plan_set_bound(g, &plan->claims, g->total_time_ns, rp_bound_for_all_plans);
    plan->notes = json_incref(start->notes);
    return rc;
}

/* True if the plan is within all limits as it is, and takes only allowed steps. */
static bool is_allowed(const struct rp_graph *g, const struct rp_policy_options *o,
                       const struct rp_plan *plan) {
    uint64_t n_runs, copied_bytes = rp_plan_copied_bytes(g, plan, &n_runs);
    return (plan->addressed || !o->addressed) &&
           rp_plan_fixed_bytes(plan, g) + plan->arena_bytes <= o->budget_bytes &&
           (!o->no_recompute || n_runs == g->n_ops) && (!o->no_swap || copied_bytes == 0) &&
           plan->host_bytes <= o->host_bytes;
}

/* A search of solve/. On RP_NO and RP_LIMIT `reason` says why. */
static rp_rc search(const struct rp_graph *g, const struct rp_policy *policy,
                    const struct rp_policy_options *o, struct rp_plan *plan, char *reason,
                    size_t size, struct rp_err *err) {
    double begin = rp_seconds();
    struct rp_solve_options so = {.budget_bytes = o->budget_bytes,
                                  .addressed = o->addressed,
                                  .recompute = policy->may_recompute && !o->no_recompute,
                                  .reorder = policy->may_reorder && g->free_order,
                                  .swap = policy->may_swap && !o->no_swap,
                                  .host_bytes = o->host_bytes,
                                  .time_limit = o->time_limit,
                                  .ignore_clock = o->ignore_clock,
                                  .gap = o->gap,
                                  .engine = o->engine,
                                  .seed = o->seed,
                                  .stop = o->stop != NULL ? o->stop->interrupted : NULL};
    struct rp_solve_report sr;
    struct rp_policy_options in_order = *o;
    struct rp_plan recorded;
    rp_rc rc = RP_OK;
    in_order.given_order = true;
    bool have_recorded = rp_best_policy_plan(g, policy, &in_order, &recorded);
    so.start = have_recorded ? &recorded : NULL;
    if (o->start != NULL && is_allowed(g, o, o->start) &&
        (!have_recorded || rp_plan_order(g, o->start, &recorded) <= 0))
        so.start = o->start;
    if (so.start != NULL && is_allowed(g, o, so.start) &&
        rp_is_fast_enough(g, o, so.start->claims.time_ns))
        rc = take_start(g, o, so.start, plan, err);
    else {
        so.spent = rp_seconds() - begin;
        rc = rp_solve(g, &so, plan, &sr, err);
    }
    if (have_recorded)
        rp_plan_fini(&recorded);
    if (rc == RP_NO || rc == RP_LIMIT)
        memcpy(reason, sr.reason, size);
    return rc;
}

rp_rc rp_policy_plan(const struct rp_graph *g, const struct rp_policy *policy,
                     const struct rp_policy_options *o, struct rp_plan *plan,
                     struct rp_policy_report *report, struct rp_err *err) {
    rp_stop_until(o->stop, o->ignore_clock ? INFINITY : rp_seconds() + o->time_limit);
    if (policy->record != NULL)
        return rp_policy_record_plan(g, policy, o, plan, report, err);
    *plan = (struct rp_plan){0};
    *report = (struct rp_policy_report){0};
    rp_rc rc = search(g, policy, o, plan, report->reason, sizeof report->reason, err);
    if (rc != RP_OK)
        return rc;
    report->fits = true;
    report->needed_bytes = rp_plan_fixed_bytes(plan, g) + plan->arena_bytes;
    return RP_OK;
}
