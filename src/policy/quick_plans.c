#include "policy/quick_plans.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "policy/phases.h"
#include "policy/policy_table.h"

/* Of the time limit: what first plans may take. */
static const double FIRST_PLAN_SHARE = 0.3;

static struct rp_stop stop_of_first_plans(const volatile sig_atomic_t *interrupted,
                                          double time_limit, bool ignore_clock) {
    double seconds = ignore_clock ? INFINITY : FIRST_PLAN_SHARE * time_limit;
    return (struct rp_stop){.interrupted = interrupted, .deadline = rp_seconds() + seconds};
}

static bool suits(const struct rp_policy *policy, const struct rp_graph *g) {
    return (!policy->captured_only || rp_is_captured(g)) &&
           rp_policy_has_sources(policy, g);
}

/* ---- for solve ---- */

/* Takes what the policy records if it is within the limits and faster than `best`. */
static void take_faster(const struct rp_instance *p, const struct rp_policy *policy,
                        const struct rp_solve_options *so, struct rp_stop *stop,
                        struct rp_plan *best) {
    struct rp_policy_options o;
    struct rp_recorder r;
    rp_policy_options_init(&o);
    o.given_order = !so->reorder;
    rp_recorder_init(&r, p);
    r.stop = stop;
    policy->record(p, &o, &r);
    if (!rp_stop_now(stop) && !r.overflow && r.peak_bytes <= p->limit_bytes &&
        r.out_bytes <= so->host_bytes &&
        (best->steps.n == 0 || rp_recorder_end_ns(&r) < best->claims.time_ns)) {
        rp_plan_fini(best);
        *best = r.plan;
        r.plan = (struct rp_plan){0};
        best->claims.time_ns = rp_recorder_end_ns(&r);
        best->host_bytes = r.out_bytes;
    }
    rp_recorder_fini(&r);
}

bool rp_quick_policy_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                          struct rp_plan *plan) {
    struct rp_graph device = *g; /* borrows everything but the bandwidths */
    struct rp_instance p;
    struct rp_stop stop = stop_of_first_plans(o->stop, o->time_limit, o->ignore_clock);
    *plan = (struct rp_plan){0};
    if (!o->recompute || o->budget_bytes < g->fixed_bytes)
        return false;
    if (!o->swap)
        device.device.h2d_bytes_per_s = device.device.d2h_bytes_per_s = 0;
    rp_instance_init(&p, &device, o->budget_bytes, o->addressed, NULL);
    for (size_t i = 0; i < rp_n_policies; i++) {
        const struct rp_policy *policy = rp_policies[i];
        if (rp_policy_is_quick(policy) && rp_policy_can_avoid_swap(policy) &&
            suits(policy, g))
            take_faster(&p, policy, o, &stop, plan);
    }
    rp_instance_fini(&p);
    plan->graph_name = rp_strdup(g->name);
    plan->graph_sha256 = rp_strdup(g->sha256);
    return plan->steps.n > 0;
}

/* ---- for searches by policy ---- */

enum { SLOW_OPS = 1000 }; /* on larger graphs slow policies are not asked */

/* The policy's plan; false if it does not fit or there is none. */
static bool fitting_plan(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, struct rp_plan *plan) {
    struct rp_policy_report report;
    struct rp_err ignored = {{0}};
    bool fits = rp_policy_record_plan(g, policy, o, plan, &report, &ignored) == RP_OK &&
                report.fits;
    if (!fits)
        rp_plan_fini(plan);
    return fits;
}

bool rp_streamed_policy_plan(const struct rp_graph *g, const struct rp_solve_options *so,
                             struct rp_plan *best) {
    struct rp_stop stop = stop_of_first_plans(so->stop, so->time_limit, so->ignore_clock);
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.budget_bytes = so->budget_bytes;
    o.addressed = so->addressed;
    o.no_recompute = !so->recompute;
    o.host_bytes = so->host_bytes;
    o.stop = &stop;
    bool found = false;
    for (size_t i = 0; i < rp_n_policies && so->swap; i++) {
        struct rp_plan plan;
        if (!rp_policies[i]->moves_sources || !fitting_plan(g, rp_policies[i], &o, &plan))
            continue;
        if (found && rp_plan_order(g, best, &plan) <= 0) {
            rp_plan_fini(&plan);
            continue;
        }
        if (found)
            rp_plan_fini(best);
        *best = plan;
        found = true;
    }
    return found;
}

/* The time of the policy's plan, without addresses. UINT64_MAX if it does not fit, or if
 * this policy is not asked. */
static uint64_t fitting_time_ns(const struct rp_graph *g, const struct rp_policy *policy,
                                const struct rp_policy *search,
                                const struct rp_policy_options *o) {
    struct rp_policy_options steps_only = *o;
    struct rp_plan plan;
    bool may_fit = policy->fits_budget || !policy->may_swap;
    bool is_asked = policy->record != NULL && may_fit && suits(policy, g) &&
                    (search->may_swap || !policy->may_swap) &&
                    !(policy->slow && g->n_ops > SLOW_OPS);
    steps_only.addressed = false;
    if (!is_asked || rp_stop_now(o->stop) || !fitting_plan(g, policy, &steps_only, &plan))
        return UINT64_MAX;
    uint64_t time_ns = plan.claims.time_ns;
    rp_plan_fini(&plan);
    return time_ns;
}

bool rp_is_fast_enough(const struct rp_graph *g, const struct rp_policy_options *o,
                       uint64_t time_ns) {
    return time_ns != UINT64_MAX &&
           (double)time_ns <= (double)g->total_time_ns * (1 + o->gap);
}

/* Policies are asked from the last to the first, the newest first, and one that is fast
 * enough is taken at once. Otherwise their plans are tried in order of time, until one fits
 * with addresses. */
bool rp_best_policy_plan(const struct rp_graph *g, const struct rp_policy *search,
                         const struct rp_policy_options *options, struct rp_plan *plan) {
    struct rp_policy_options first = *options;
    const struct rp_policy_options *o = &first;
    struct rp_stop stop =
        stop_of_first_plans(o->stop != NULL ? o->stop->interrupted : NULL, o->time_limit,
                            o->ignore_clock || o->stop == NULL);
    first.stop = &stop;
    if (rp_keep_all_bytes(g, o->addressed) <= o->budget_bytes &&
        fitting_plan(g, rp_policy_find("keep-all"), o, plan))
        return true;
    uint64_t *time_ns = rp_calloc(rp_n_policies, sizeof *time_ns);
    bool found = false;
    for (size_t i = rp_n_policies; i-- > 0 && !found;) {
        time_ns[i] = fitting_time_ns(g, rp_policies[i], search, o);
        if (rp_is_fast_enough(g, o, time_ns[i])) {
            found = fitting_plan(g, rp_policies[i], o, plan);
            time_ns[i] = UINT64_MAX;
        }
    }
    while (!found) {
        size_t best = 0;
        for (size_t i = 1; i < rp_n_policies; i++)
            best = time_ns[i] < time_ns[best] ? i : best;
        if (time_ns[best] == UINT64_MAX)
            break;
        time_ns[best] = UINT64_MAX;
        found = fitting_plan(g, rp_policies[best], o, plan);
    }
    free(time_ns);
    return found;
}
