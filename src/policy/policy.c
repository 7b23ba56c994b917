#include "policy/policy.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/addresses.h"
#include "solve/core/warm_start.h"
#include "solve/solver.h"

const struct rp_policy rp_policies[] = {
    {.name = "keep-all",
     .summary = "every op once, nothing moved",
     .record = rp_record_keep_all},
    {.name = "chen-sqrt",
     .summary = "sqrt(n) segments made again (Chen et al. 2016)",
     .record = rp_record_chen_sqrt,
     .remake = true},
    {.name = "chen-greedy",
     .summary = "segments of like size made again, to fit (Chen et al. 2016)",
     .record = rp_record_chen_greedy,
     .aims = true,
     .slow = true,
     .remake = true},
    {.name = "revolve",
     .summary = "binomial checkpointing (Griewank and Walther 2000)",
     .record = rp_record_revolve,
     .aims = true,
     .slow = true,
     .remake = true},
    {.name = "dtr",
     .summary = "eviction by cost/(bytes * staleness) (Kirisame et al. 2021)",
     .record = rp_record_dtr,
     .aims = true,
     .slow = true,
     .remake = true},
    {.name = "vdnn-all",
     .summary = "swap all layers' inputs (Rhu et al. 2016)",
     .record = rp_record_vdnn_all,
     .moves = true,
     .swaps = true},
    {.name = "vdnn-conv",
     .summary = "swap convolutions' inputs (Rhu et al. 2016)",
     .record = rp_record_vdnn_conv,
     .moves = true,
     .swaps = true},
    {.name = "tflms",
     .summary = "swap by graph rewriting (Le et al. 2018)",
     .record = rp_record_tflms,
     .moves = true,
     .swaps = true},
    {.name = "superneurons",
     .summary = "swap convolutions, recompute cheap layers (Wang et al. 2018)",
     .record = rp_record_superneurons,
     .aims = true,
     .remake = true,
     .moves = true,
     .swaps = true},
    {.name = "capuchin",
     .summary = "swap if it hides, else recompute by MSPS (Peng et al. 2020)",
     .record = rp_record_capuchin,
     .aims = true,
     .remake = true,
     .moves = true},
    {.name = "alibaba",
     .summary = "swap distant uses, recompute attention (Meng et al. 2017)",
     .record = rp_record_alibaba,
     .aims = true,
     .remake = true,
     .moves = true,
     .swaps = true},
    {.name = "libra",
     .summary = "recompute first, swap where that makes a peak",
     .record = rp_record_libra,
     .aims = true,
     .remake = true,
     .moves = true},
    {.name = "checkmate",
     .summary = "the best recomputation that is found (after Jain et al. 2020)",
     .aims = true,
     .remake = true},
    {.name = "remat",
     .summary = "this program's own plan",
     .aims = true,
     .remake = true,
     .moves = true},
};
const size_t rp_n_policies = sizeof rp_policies / sizeof rp_policies[0];

const struct rp_policy *rp_policy_find(const char *name) {
    for (size_t i = 0; i < rp_n_policies; i++)
        if (strcmp(rp_policies[i].name, name) == 0)
            return &rp_policies[i];
    return NULL;
}

bool rp_policy_spares_recompute(const struct rp_policy *policy) {
    return !policy->remake || (policy->record == NULL && policy->moves);
}

bool rp_policy_spares_swap(const struct rp_policy *policy) {
    return !policy->swaps;
}

void rp_policy_options_init(struct rp_policy_options *o) {
    *o = (struct rp_policy_options){
        .addressed = true,
        .host_bytes = RP_MAX_QUANTITY,
        .tflms = {.n_tensors = UINT64_MAX,
                  .lb = 1,
                  .ub = 10000}, /* the module's defaults */
        .time_limit = 60,
        .seed = 1,
    };
}

/* ---- a tape of this folder ---- */

static rp_rc finish_plan(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, struct rp_recorder *t,
                         struct rp_plan *plan, struct rp_err *err) {
    if (t->too_long)
        return rp_fail(err, RP_INPUT, "the plan's time passes 2^63-1 ns");
    *plan = t->plan;
    t->plan = (struct rp_plan){0};
    plan->graph_name = rp_strdup(g->name);
    plan->graph_sha256 = rp_strdup(g->sha256);
    plan->arena_bytes = t->peak_bytes;
    plan->host_bytes = t->out_bytes;
    if (o->addressed)
        rp_assign_addresses(g, plan, t->p->limit_bytes, UINT64_C(200000000));
    plan->claims = (struct rp_claims){
        .time_ns = rp_recorder_time(t),
        .baseline_time_ns = g->total_time_ns,
        .recompute_ns = t->recompute_ns,
        .stall_ns = t->stall_ns,
        .peak_bytes = g->fixed_bytes + t->peak_bytes,
        .lower_bound_ns = g->total_time_ns,
        .proof = rp_recorder_time(t) == g->total_time_ns ? RP_PROOF_OPTIMAL : RP_PROOF_NONE,
    };
    plan->notes = json_pack("{s:s, s:s}", "program", "remat-plan", "policy", policy->name);
    return RP_OK;
}

/* The policy's plan for `limit` bytes besides the sources. */
static rp_rc plan_within(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, uint64_t limit,
                         struct rp_plan *plan, struct rp_policy_report *report,
                         struct rp_err *err) {
    struct rp_instance p;
    struct rp_recorder t;
    rp_instance_init(&p, g, g->fixed_bytes + limit, o->addressed, NULL);
    rp_recorder_init(&t, &p);
    policy->record(&p, o, &t);
    rp_rc rc = finish_plan(g, policy, o, &t, plan, err);
    report->out_bytes = t.out_bytes;
    report->in_bytes = t.in_bytes;
    rp_recorder_fini(&t);
    rp_instance_fini(&p);
    return rc;
}

/* The policy's plan for the budget; where its addresses do not fit, for less, a few times.
 */
static rp_rc plan_aimed(const struct rp_graph *g, const struct rp_policy *policy,
                        const struct rp_policy_options *o, struct rp_plan *plan,
                        struct rp_policy_report *report, struct rp_err *err) {
    enum { N_TIGHTEN = 6 }; /* how often the packing may ask for a smaller plan */
    uint64_t limit =
        o->budget_bytes > g->fixed_bytes ? o->budget_bytes - g->fixed_bytes : 0;
    uint64_t aim = limit;
    for (int k = 0;; k++) {
        rp_rc rc = plan_within(g, policy, o, aim, plan, report, err);
        if (rc != RP_OK)
            return rc;
        uint64_t missing = plan->arena_bytes > limit ? plan->arena_bytes - limit : 0;
        bool packing = plan->claims.peak_bytes - g->fixed_bytes <= aim;
        if (missing == 0 || !policy->aims || !packing || k == N_TIGHTEN || missing >= aim)
            return RP_OK;
        aim -= missing;
        rp_plan_fini(plan);
    }
}

/* Why the policy has no plan here whatever the budget; NULL if it may have. */
static const char *hindrance(const struct rp_graph *g, const struct rp_policy *policy,
                             const struct rp_policy_options *o) {
    if (o->no_recompute && !rp_policy_spares_recompute(policy))
        return "recomputes, which is not allowed";
    if (o->no_swap && !rp_policy_spares_swap(policy))
        return "swaps, which is not allowed";
    if (policy->swaps && (g->device.h2d_bytes_per_s == 0 || g->device.d2h_bytes_per_s == 0))
        return "swaps, but the graph's device does not state both bandwidths";
    return NULL;
}

/* Without bandwidths a policy that can do without copies makes none. That is also its
 * answer to host memory too small for the copies it would make. */
static rp_rc plan_recorded(const struct rp_graph *g, const struct rp_policy *policy,
                           const struct rp_policy_options *o, struct rp_plan *plan,
                           struct rp_policy_report *report, struct rp_err *err) {
    struct rp_graph without = *g; /* borrows all but the bandwidths */
    const char *why = hindrance(g, policy, o);
    without.device.h2d_bytes_per_s = without.device.d2h_bytes_per_s = 0;
    *plan = (struct rp_plan){0};
    *report = (struct rp_policy_report){0};
    if (why != NULL) {
        snprintf(report->reason, sizeof report->reason, "%s %s", policy->name, why);
        return RP_NO;
    }
    rp_rc rc = plan_aimed(o->no_swap ? &without : g, policy, o, plan, report, err);
    if (rc == RP_OK && plan->host_bytes > o->host_bytes && rp_policy_spares_swap(policy)) {
        rp_plan_fini(plan);
        rc = plan_aimed(&without, policy, o, plan, report, err);
    }
    if (rc != RP_OK)
        return rc;
    report->needed_bytes = g->fixed_bytes + plan->arena_bytes;
    bool within = report->needed_bytes <= o->budget_bytes;
    report->fits = within && plan->host_bytes <= o->host_bytes;
    plan->budget_bytes = within ? o->budget_bytes : report->needed_bytes;
    return RP_OK;
}

/* ---- which plan is better ---- */

static int order(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Bytes of all copies out and in; *runs: of ops. */
static uint64_t copied_bytes(const struct rp_graph *g, const struct rp_plan *p,
                             uint64_t *runs) {
    uint64_t bytes = 0;
    *runs = 0;
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct rp_step *step = &p->steps.at[i];
        *runs += step->kind == RP_RUN;
        if ((step->kind == RP_SWAP_OUT || step->kind == RP_SWAP_IN) &&
            !rp_add(&bytes, g->tensors[step->id].bytes))
            bytes = RP_MAX_QUANTITY;
    }
    return bytes;
}

int rp_plan_order(const struct rp_graph *g, const struct rp_plan *a,
                  const struct rp_plan *b) {
    uint64_t a_runs, b_runs;
    uint64_t a_bytes = copied_bytes(g, a, &a_runs), b_bytes = copied_bytes(g, b, &b_runs);
    int by_time = order(a->claims.time_ns, b->claims.time_ns);
    int by_bytes = order(a_bytes, b_bytes);
    return by_time != 0 ? by_time : by_bytes != 0 ? by_bytes : order(a_runs, b_runs);
}

/* ---- a search of solve/ ---- */

enum { SLOW_OPS = 1000 }; /* on larger graphs slow policies are not asked for first plans */

/* The time of what the policy records within the budget, addresses left out of account;
 * UINT64_MAX if that does not fit or is not to be asked for. */
static uint64_t recorded_time(const struct rp_graph *g, const struct rp_policy *other,
                              const struct rp_policy *policy,
                              const struct rp_policy_options *o) {
    struct rp_policy_options plain = *o;
    struct rp_policy_report report;
    struct rp_err ignored = {{0}};
    struct rp_plan plan;
    uint64_t time = UINT64_MAX;
    bool asked = other->record != NULL && other->aims && (policy->moves || !other->moves) &&
                 !(other->slow && g->n_ops > SLOW_OPS);
    if (!asked || (o->stop != NULL && *o->stop))
        return time;
    plain.addressed = false;
    if (plan_recorded(g, other, &plain, &plan, &report, &ignored) == RP_OK && report.fits)
        time = plan.claims.time_ns;
    rp_plan_fini(&plan);
    return time;
}

static bool fast_enough(const struct rp_graph *g, const struct rp_policy_options *o,
                        uint64_t time_ns) {
    return time_ns != UINT64_MAX &&
           (double)time_ns <= (double)g->total_time_ns * (1 + o->gap);
}

/* The recorded policy's plan, with addresses if these are wanted; false if it does not fit.
 */
static bool take_recorded(const struct rp_graph *g, const struct rp_policy *other,
                          const struct rp_policy_options *o, struct rp_plan *plan) {
    struct rp_policy_report report;
    struct rp_err ignored = {{0}};
    bool fits = plan_recorded(g, other, o, plan, &report, &ignored) == RP_OK && report.fits;
    if (!fits)
        rp_plan_fini(plan);
    return fits;
}

/* After keep-all the newest first: one that is fast enough is taken at once. Those whose
 * packing fails are passed over. */
bool rp_best_policy_plan(const struct rp_graph *g, const struct rp_policy *search,
                         const struct rp_policy_options *o, struct rp_plan *plan) {
    if (rp_keep_all_bytes(g, o->addressed) <= o->budget_bytes &&
        take_recorded(g, rp_policy_find("keep-all"), o, plan))
        return true;
    uint64_t *time = rp_calloc(rp_n_policies, sizeof *time);
    bool found = false;
    for (size_t i = rp_n_policies; i-- > 0 && !found;) {
        time[i] = recorded_time(g, &rp_policies[i], search, o);
        if (fast_enough(g, o, time[i])) {
            found = take_recorded(g, &rp_policies[i], o, plan);
            time[i] = UINT64_MAX;
        }
    }
    while (!found) {
        size_t first = 0;
        for (size_t i = 1; i < rp_n_policies; i++)
            first = time[i] < time[first] ? i : first;
        if (time[first] == UINT64_MAX)
            break;
        time[first] = UINT64_MAX;
        found = take_recorded(g, &rp_policies[first], o, plan);
    }
    free(time);
    return found;
}

/* The start plan as the answer: it is fast enough already. */
static rp_rc take_first(const struct rp_graph *g, const struct rp_policy_options *o,
                        const struct rp_plan *first, struct rp_plan *plan) {
    rp_plan_restate(first, o->addressed, o->budget_bytes, plan);
    plan->claims = first->claims;
    plan->claims.lower_bound_ns = g->total_time_ns;
    plan->claims.proof =
        first->claims.time_ns == g->total_time_ns ? RP_PROOF_OPTIMAL : RP_PROOF_NONE;
    plan->arena_bytes = first->arena_bytes;
    plan->host_bytes = first->host_bytes;
    plan->notes = json_incref(first->notes);
    return RP_OK;
}

/* Within the budget as it is, and doing nothing that is not allowed. */
static bool fits_within(const struct rp_graph *g, const struct rp_policy_options *o,
                        const struct rp_plan *plan) {
    uint64_t runs, bytes = copied_bytes(g, plan, &runs);
    return (plan->addressed || !o->addressed) &&
           g->fixed_bytes + plan->arena_bytes <= o->budget_bytes &&
           (!o->no_recompute || runs == g->n_ops) && (!o->no_swap || bytes == 0) &&
           plan->host_bytes <= o->host_bytes;
}

static rp_rc search(const struct rp_graph *g, const struct rp_policy *policy,
                    const struct rp_policy_options *o, struct rp_plan *plan,
                    struct rp_policy_report *report, struct rp_err *err) {
    struct rp_solve_options so = {.budget_bytes = o->budget_bytes,
                                  .addressed = o->addressed,
                                  .recompute = policy->remake && !o->no_recompute,
                                  .swap = policy->moves && !o->no_swap,
                                  .host_bytes = o->host_bytes,
                                  .time_limit = o->time_limit,
                                  .ignore_clock = o->ignore_clock,
                                  .gap = o->gap,
                                  .seed = o->seed,
                                  .stop = o->stop};
    struct rp_solve_report sr;
    struct rp_plan recorded;
    bool have = rp_best_policy_plan(g, policy, o, &recorded);
    so.start = have ? &recorded : NULL;
    if (o->start != NULL && fits_within(g, o, o->start) &&
        (!have || rp_plan_order(g, o->start, &recorded) <= 0))
        so.start = o->start;
    bool enough = so.start != NULL && fits_within(g, o, so.start) &&
                  fast_enough(g, o, so.start->claims.time_ns);
    rp_rc rc = enough ? take_first(g, o, so.start, plan) : rp_solve(g, &so, plan, &sr, err);
    if (have)
        rp_plan_fini(&recorded);
    if (rc == RP_NO || rc == RP_LIMIT)
        memcpy(report->reason, sr.reason, sizeof report->reason);
    if (rc != RP_OK)
        return rc;
    report->fits = true;
    report->needed_bytes = g->fixed_bytes + plan->arena_bytes;
    return RP_OK;
}

rp_rc rp_policy_plan(const struct rp_graph *g, const struct rp_policy *policy,
                     const struct rp_policy_options *o, struct rp_plan *plan,
                     struct rp_policy_report *report, struct rp_err *err) {
    *plan = (struct rp_plan){0};
    *report = (struct rp_policy_report){0};
    if (policy->record == NULL)
        return search(g, policy, o, plan, report, err);
    return plan_recorded(g, policy, o, plan, report, err);
}
