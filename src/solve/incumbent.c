#include "solve/incumbent.h"

#include <inttypes.h>

#include "base/log.h"
#include "pack/addresses.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/shrink_lifetimes.h"

/* Remembers which offer came nearest to fitting, for the answer when none ever fits. */
static void remember_nearest(struct rp_context *w, const struct rp_cost *c) {
    if (w->nearest.peak_bytes > 0 && c->peak_bytes >= w->nearest.peak_bytes)
        return;
    w->nearest.peak_bytes = c->peak_bytes;
    w->nearest.op = w->p.op_of[c->peak_op];
}

/* Takes a schedule of cost c as the new time of `best`, if it fits and is better. */
static bool take(struct rp_context *w, struct rp_incumbent *best, struct rp_cost c,
                 enum rp_method from) {
    bool in_host = w->p.out_ns == NULL || c.host_bytes <= w->p.host_limit_bytes;
    bool fits = c.sound && in_host && c.peak_bytes <= w->p.limit_bytes;
    bool better = !best->found || c.time_ns < best->time_ns;
    if (c.sound && in_host && c.peak_op != RP_NONE)
        remember_nearest(w, &c);
    rp_log(1, "%s: time %" PRIu64 " ns, %s", rp_method_name[from], c.time_ns,
           !fits    ? "over the limit"
           : better ? "new incumbent"
                    : "no better");
    if (!fits || !better)
        return false;
    best->time_ns = c.time_ns;
    best->found = true;
    w->statistics.method[from].incumbents += best == &w->incumbent;
    return true;
}

bool rp_incumbent_offer(struct rp_context *w, const struct rp_schedule *s,
                        enum rp_method from) {
    return rp_incumbent_offer_in(w, w->whole, s, from);
}

bool rp_incumbent_offer_in(struct rp_context *w, enum rp_space_id space,
                           const struct rp_schedule *s, enum rp_method from) {
    return rp_incumbent_offer_cost(w, space, s, rp_schedule_cost(&w->p, s), from);
}

bool rp_incumbent_offer_cost(struct rp_context *w, enum rp_space_id space,
                             const struct rp_schedule *s, struct rp_cost c,
                             enum rp_method from) {
    struct rp_incumbent *own = rp_context_incumbent(w, space);
    if (rp_stop_interrupted(&w->stop)) /* no turn goes on from the space's own one */
        own = &w->incumbent;
    bool taken = take(w, own, c, from);
    if (taken)
        rp_schedule_copy(&own->s, s);
    if (own != &w->incumbent && take(w, &w->incumbent, c, from))
        rp_schedule_copy(&w->incumbent.s, s);
    return taken;
}

bool rp_incumbent_offer_keep_all(struct rp_context *w) {
    if (w->p.n_homes > 0)
        return false;
    w->statistics.method[RP_KEEP_ALL].calls++;
    return take(w, &w->incumbent, rp_keep_all_cost(&w->p), RP_KEEP_ALL);
}

static bool is_copy(const struct rp_step *s) {
    return s->kind == RP_SWAP_OUT || s->kind == RP_SWAP_IN;
}

/* A source that lives on the host is copied in without being copied out. */
static bool options_allow(const struct rp_context *w, const struct rp_plan *plan) {
    size_t runs = 0, copies = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        runs += plan->steps.at[i].kind == RP_RUN;
        copies += is_copy(&plan->steps.at[i]);
    }
    return (w->o->swap || copies == 0) && (w->o->recompute || runs == w->g->n_ops);
}

/* What sources leave of the budget. False if they take more. */
static bool find_limit(const struct rp_context *w, const struct rp_plan *plan,
                       uint64_t *limit) {
    uint64_t fixed = rp_plan_fixed_bytes(plan, w->g);
    *limit = w->o->budget_bytes - fixed;
    return fixed <= w->o->budget_bytes;
}

/* Gives `plan`, which has none, addresses within the limit. */
static void assign_addresses(struct rp_context *w, uint64_t limit, struct rp_plan *plan) {
    struct rp_pack_options o = {.capacity = limit,
                                .work_limit = rp_most_pack_work(w->o->time_limit),
                                .squeeze = true,
                                .stop = &w->stop};
    rp_shrink_lifetimes(w->g, plan);
    rp_assign_addresses(w->g, plan, &o, &w->statistics.pack);
}

/* Copies the steps of `start` to `plan`, a new one, for this budget. True if they fit.
 * `fewer`: without copies that they can do without. */
static bool restate(struct rp_context *w, const struct rp_plan *start, bool fewer,
                    struct rp_plan *plan) {
    struct rp_err ignored = {{0}};
    uint64_t limit;
    rp_plan_restate(start, !fewer && start->addressed && w->o->addressed,
                    w->o->budget_bytes, plan);
    if (!find_limit(w, plan, &limit))
        return false;
    if (fewer)
        rp_drop_plan_swaps(w->g, limit, plan);
    if (w->o->addressed && !plan->addressed)
        assign_addresses(w, limit, plan);
    return rp_plan_fill_claims(w->g, plan, &ignored) == RP_OK &&
           plan->arena_bytes <= limit && plan->host_bytes <= w->o->host_bytes;
}

/* The same, if the options allow the steps. Addresses that fit stay as they are. Steps
 * without any may find some only with all their copies. */
static bool reuse_plan(struct rp_context *w, const struct rp_plan *start,
                       struct rp_plan *plan) {
    bool addressed = w->o->addressed;
    *plan = (struct rp_plan){0};
    if (!options_allow(w, start))
        return false;
    if (!(addressed && start->addressed) && restate(w, start, true, plan))
        return true;
    rp_plan_fini(plan);
    return addressed && restate(w, start, false, plan);
}

bool rp_incumbent_place_plan(struct rp_context *w, struct rp_plan *plan) {
    struct rp_plan placed;
    bool fits = reuse_plan(w, plan, &placed);
    rp_plan_fini(fits ? plan : &placed);
    if (fits)
        *plan = placed;
    return fits;
}

/* The bytes of all copies. The sum cannot overflow: each copy takes time, and the sum of
 * all times has been checked. */
static uint64_t copied_bytes(const struct rp_graph *g, const struct rp_plan *plan) {
    uint64_t sum = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *s = &plan->steps.at[i];
        if (is_copy(s))
            sum += g->tensors[s->id].bytes;
    }
    return sum;
}

static bool beats(const struct rp_graph *g, const struct rp_plan *other,
                  const struct rp_plan *plan) {
    if (plan->claims.time_ns != other->claims.time_ns)
        return other->claims.time_ns < plan->claims.time_ns;
    return copied_bytes(g, other) < copied_bytes(g, plan);
}

rp_rc rp_incumbent_offer_plan(struct rp_context *w, const struct rp_plan *other, rp_rc rc,
                              struct rp_plan *plan) {
    struct rp_plan reused;
    if (other == NULL || other->steps.n == 0 ||
        (rc != RP_OK && rc != RP_LIMIT && rc != RP_NO))
        return rc;
    if (rc == RP_OK && !beats(w->g, other, plan))
        return rc;
    if (!reuse_plan(w, other, &reused)) {
        rp_plan_fini(&reused);
        return rc;
    }
    rp_plan_fini(plan);
    *plan = reused;
    w->incumbent.time_ns = plan->claims.time_ns;
    /* The plan may run an op twice in a stage, which no schedule does. Then a bound that
     * was proved of schedules need not hold for it. */
    if (w->bound_ns > w->incumbent.time_ns)
        w->bound_ns = w->g->total_time_ns;
    return RP_OK;
}
