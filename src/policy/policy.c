#include "policy/policy.h"

#include <jansson.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "pack/addresses.h"
#include "solve/core/plan_claims.h"

bool rp_policy_can_avoid_recompute(const struct rp_policy *policy) {
    return !policy->may_recompute || policy->moves_sources ||
           (policy->record == NULL && policy->may_swap);
}

bool rp_policy_can_avoid_swap(const struct rp_policy *policy) {
    return !policy->needs_swap;
}

bool rp_policy_is_quick(const struct rp_policy *policy) {
    return policy->record != NULL && !policy->slow;
}

bool rp_policy_has_sources(const struct rp_policy *policy, const struct rp_graph *g) {
    return !policy->moves_sources || rp_any_source_may_move(g);
}

/* ---- from recorded steps to a plan ---- */

/* Says that there is no plan, since a stop came first. */
static rp_rc refuse_stopped(const struct rp_policy_options *o,
                            struct rp_policy_report *report) {
    snprintf(report->reason, sizeof report->reason, "the %s came first",
             rp_stop_interrupted(o->stop) ? "interrupt" : "time limit");
    return RP_LIMIT;
}

static rp_rc finish_plan(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, struct rp_recorder *r,
                         struct rp_plan *plan, struct rp_policy_report *report,
                         struct rp_err *err) {
    if (rp_stop_now(o->stop))
        return refuse_stopped(o, report);
    if (r->overflow)
        return rp_fail(err, RP_INPUT, "the plan's time passes 2^63-1 ns");
    *plan = r->plan;
    r->plan = (struct rp_plan){0};
    plan->graph_name = rp_strdup(g->name);
    plan->graph_sha256 = rp_strdup(g->sha256);
    uint64_t fixed_bytes = rp_plan_fixed_bytes(plan, g);
    struct rp_pack_options pack = {
        .capacity = o->budget_bytes > fixed_bytes ? o->budget_bytes - fixed_bytes : 0,
        .work_limit = UINT64_C(200000000),
        .squeeze = true,
        .stop = o->stop,
    };
    if (o->addressed)
        rp_assign_addresses(g, plan, &pack, NULL);
    rp_rc rc = rp_plan_fill_claims(g, plan, err);
    if (rc != RP_OK)
        return rc;
    rp_plan_set_bound(g, &plan->claims, g->total_time_ns, rp_bound_for_all_plans);
    plan->notes = json_pack("{s:s, s:s}", "program", "remat-plan", "policy", policy->name);
    return RP_OK;
}

/* The policy's plan for o->budget_bytes. Sources that may live on the host are no tensors
 * of the instance: a policy that moves them knows them from the graph. */
static rp_rc plan_within(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, struct rp_plan *plan,
                         struct rp_policy_report *report, struct rp_err *err) {
    struct rp_instance p;
    struct rp_recorder r;
    rp_instance_init(&p, g, rp_max_u64(o->budget_bytes, g->fixed_bytes), o->addressed,
                     NULL);
    if (policy->makes_schedule && rp_schedule_too_large(&p)) {
        rp_instance_fini(&p);
        snprintf(report->reason, sizeof report->reason,
                 "the graph has too many ops and tensors for a schedule");
        return RP_LIMIT;
    }
    rp_recorder_init(&r, &p);
    r.stop = o->stop;
    policy->record(&p, o, &r);
    rp_rc rc = finish_plan(g, policy, o, &r, plan, report, err);
    report->out_bytes = r.out_bytes;
    report->in_bytes = r.in_bytes;
    rp_recorder_fini(&r);
    rp_instance_fini(&p);
    return rc;
}

/* The policy's plan for the budget. If its steps fit but their addresses do not, the policy
 * plans again, a few times, for a limit that is lower by what was missing. */
static rp_rc plan_for_budget(const struct rp_graph *g, const struct rp_policy *policy,
                             const struct rp_policy_options *o, struct rp_plan *plan,
                             struct rp_policy_report *report, struct rp_err *err) {
    enum { MAX_TIGHTENINGS = 6 };
    struct rp_policy_options tight = *o;
    for (int k = 0;; k++) {
        rp_rc rc = plan_within(g, policy, &tight, plan, report, err);
        if (rc != RP_OK)
            return rc;
        uint64_t fixed = rp_plan_fixed_bytes(plan, g);
        uint64_t needed = fixed + plan->arena_bytes;
        uint64_t missing = needed > o->budget_bytes ? needed - o->budget_bytes : 0;
        bool steps_fit = plan->claims.peak_bytes <= tight.budget_bytes;
        /* Without the stop, the packing may have gone on to addresses that fit. */
        if (missing > 0 && rp_stop_hit(o->stop) &&
            plan->claims.peak_bytes <= o->budget_bytes) {
            rp_plan_fini(plan);
            return refuse_stopped(o, report);
        }
        if (missing == 0 || !policy->fits_budget || !steps_fit || k == MAX_TIGHTENINGS ||
            missing >= tight.budget_bytes - fixed)
            return RP_OK;
        tight.budget_bytes -= missing;
        rp_plan_fini(plan);
    }
}

/* Why the policy has no plan, whatever the budget; NULL if it may have one. */
static const char *why_impossible(const struct rp_graph *g, const struct rp_policy *policy,
                                  const struct rp_policy_options *o) {
    if (o->no_recompute && !rp_policy_can_avoid_recompute(policy))
        return "recomputes, which is not allowed";
    if (o->no_swap && !rp_policy_can_avoid_swap(policy))
        return "swaps, which is not allowed";
    if (policy->needs_swap && !rp_device_can_swap(&g->device))
        return "swaps, but the graph's device does not state both bandwidths";
    if (policy->record != NULL && !policy->moves_sources && rp_any_home(g, RP_HOME_HOST))
        return "does not do sources on the host";
    if (!rp_policy_has_sources(policy, g))
        return "needs sources that may live on the host";
    return NULL;
}

/* Without bandwidths, a policy that can avoid swaps makes none. So it gets a device without
 * them if swaps are not allowed, or if its host copies are too large. */
rp_rc rp_policy_record_plan(const struct rp_graph *g, const struct rp_policy *policy,
                            const struct rp_policy_options *o, struct rp_plan *plan,
                            struct rp_policy_report *report, struct rp_err *err) {
    struct rp_graph no_link = *g; /* borrows everything but the bandwidths */
    const char *why = why_impossible(g, policy, o);
    no_link.device.h2d_bytes_per_s = no_link.device.d2h_bytes_per_s = 0;
    *plan = (struct rp_plan){0};
    *report = (struct rp_policy_report){0};
    if (why != NULL) {
        snprintf(report->reason, sizeof report->reason, "%s %s", policy->name, why);
        return RP_NO;
    }
    rp_rc rc = plan_for_budget(o->no_swap ? &no_link : g, policy, o, plan, report, err);
    if (rc == RP_OK && plan->host_bytes > o->host_bytes &&
        rp_policy_can_avoid_swap(policy)) {
        rp_plan_fini(plan);
        rc = plan_for_budget(&no_link, policy, o, plan, report, err);
    }
    if (rc != RP_OK)
        return rc;
    report->needed_bytes = rp_plan_fixed_bytes(plan, g) + plan->arena_bytes;
    bool within = report->needed_bytes <= o->budget_bytes;
    report->fits = within && plan->host_bytes <= o->host_bytes;
    plan->budget_bytes = within ? o->budget_bytes : report->needed_bytes;
    return RP_OK;
}

/* ---- which plan is better ---- */

uint64_t rp_plan_copied_bytes(const struct rp_graph *g, const struct rp_plan *plan,
                              uint64_t *n_runs) {
    uint64_t bytes = 0;
    *n_runs = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        *n_runs += step->kind == RP_RUN;
        if ((step->kind == RP_SWAP_OUT || step->kind == RP_SWAP_IN) &&
            !rp_add(&bytes, g->tensors[step->id].bytes))
            bytes = RP_MAX_QUANTITY;
    }
    return bytes;
}

static int order(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

int rp_plan_order(const struct rp_graph *g, const struct rp_plan *a,
                  const struct rp_plan *b) {
    uint64_t a_runs, b_runs;
    uint64_t a_bytes = rp_plan_copied_bytes(g, a, &a_runs);
    uint64_t b_bytes = rp_plan_copied_bytes(g, b, &b_runs);
    int by_time = order(a->claims.time_ns, b->claims.time_ns);
    int by_bytes = order(a_bytes, b_bytes);
    return by_time != 0 ? by_time : by_bytes != 0 ? by_bytes : order(a_runs, b_runs);
}
