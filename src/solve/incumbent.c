#include "solve/incumbent.h"

#include <inttypes.h>

#include "base/log.h"
#include "pack/addresses.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "solve/local/drop_swaps.h"

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

static bool options_allow(const struct rp_context *w, const struct rp_plan *plan) {
    size_t runs = 0, swap_outs = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        runs += plan->steps.at[i].kind == RP_RUN;
        swap_outs += plan->steps.at[i].kind == RP_SWAP_OUT;
    }
    return (w->o->swap || swap_outs == 0) && (w->o->recompute || runs == w->g->n_ops);
}

/* Copies the steps of `start` to `plan`, a new one, for this budget. True if the options
 * allow them and they fit. */
static bool reuse_plan(struct rp_context *w, const struct rp_plan *start,
                       struct rp_plan *plan) {
    struct rp_err ignored = {{0}};
    bool addressed = w->o->addressed;
    *plan = (struct rp_plan){0};
    if (!options_allow(w, start))
        return false;
    rp_plan_restate(start, addressed && start->addressed, w->o->budget_bytes, plan);
    uint64_t fixed = rp_plan_fixed_bytes(plan, w->g);
    if (fixed > w->o->budget_bytes)
        return false;
    uint64_t limit = w->o->budget_bytes - fixed;
    struct rp_pack_options pack = {.capacity = limit,
                                   .work_limit = rp_most_pack_work(w->o->time_limit),
                                   .squeeze = true,
                                   .stop = &w->stop};
    if (!addressed)
        rp_drop_plan_swaps(w->g, limit, plan);
    if (addressed && !start->addressed)
        rp_assign_addresses(w->g, plan, &pack, &w->statistics.pack);
    return rp_plan_fill_claims(w->g, plan, &ignored) == RP_OK &&
           plan->arena_bytes <= limit && plan->host_bytes <= w->o->host_bytes;
}

/* The bytes of all copies. The sum cannot overflow: each copy takes time, and the sum of
 * all times has been checked. */
static uint64_t copied_bytes(const struct rp_graph *g, const struct rp_plan *plan) {
    uint64_t sum = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *s = &plan->steps.at[i];
        if (s->kind == RP_SWAP_OUT || s->kind == RP_SWAP_IN)
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
