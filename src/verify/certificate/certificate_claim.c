#include "verify/certificate/certificate_claim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

static bool has_graph_order(const struct rp_certificate *c) {
    for (uint32_t i = 0; c->has_order && i < c->order.n; i++)
        if (c->order.at[i] != i)
            return false;
    return true;
}

/* Can it help a plan to run ops again after the last first run? Only to make a kept tensor,
 * whose maker may run again and is not the last op, which has just run. */
static bool may_run_at_the_end(const struct rp_graph *g) {
    for (uint32_t k = 0; k < g->n_keep; k++) {
        const struct rp_tensor *t = &g->tensors[g->keep[k]];
        if (t->bytes > 0 && t->producer != RP_NONE && t->producer + 1 < g->n_ops &&
            g->ops[t->producer].recompute && g->ops[t->producer].n_updates == 0)
            return true;
    }
    return false;
}

/* NULL if the bound is for all plans that the claim is about. */
static const char *why_claim_is_wider(const struct rp_certificate *c,
                                      const struct rp_graph *g,
                                      const struct rp_bound_scope *claim, bool in_order) {
    bool may_swap =
        claim->swap && g->device.h2d_bytes_per_s > 0 && g->device.d2h_bytes_per_s > 0;
    uint64_t host = rp_min_u64(claim->host_budget_bytes, RP_MAX_QUANTITY);
    if (may_swap && !c->swaps)
        return "not for plans that swap";
    if (may_swap && host > c->host_budget_bytes)
        return "not for plans with so much host memory";
    if (claim->any_order || !has_graph_order(c))
        return claim->any_order ? "only for one order of first runs"
                                : "only for another order of first runs";
    if (claim->all_programs && in_order)
        return "only for plans whose runs between two first runs are in order";
    if (claim->all_programs && may_run_at_the_end(g))
        return "not for plans that run ops again after the last first run";
    return NULL;
}

/* ---- a check of the check ---- */

/* Bytes of all host copies together. */
static uint64_t copied_bytes(const struct rp_graph *g, const struct rp_plan *p) {
    uint64_t alignment = p->addressed ? g->device.alignment_bytes : 1, sum = 0;
    bool *seen = rp_calloc(g->n_tensors, sizeof *seen);
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct rp_step *s = &p->steps.at[i];
        if (s->kind != RP_SWAP_OUT || seen[s->id])
            continue;
        seen[s->id] = true;
        sum += rp_round_up(g->tensors[s->id].bytes, alignment);
    }
    free(seen);
    return sum;
}

/* Is the plan one of those that the bound is for? */
static bool bound_is_for(const struct rp_certificate *c, const struct rp_graph *g,
                         const struct rp_plan *p, bool in_order) {
    uint32_t *position = rp_calloc(g->n_ops, sizeof *position);
    uint32_t stage = 0, last = RP_NONE; /* position of the last run in this stage */
    bool is = !c->swaps || copied_bytes(g, p) <= c->host_budget_bytes;
    for (uint32_t i = 0; i < g->n_ops; i++)
        position[c->has_order ? c->order.at[i] : i] = i;
    for (size_t i = 0; i < p->steps.n && is; i++) {
        const struct rp_step *step = &p->steps.at[i];
        is = c->swaps || step->kind == RP_RUN || step->kind == RP_FREE;
        if (step->kind != RP_RUN)
            continue;
        uint32_t at = position[step->id];
        is =
            stage < g->n_ops && at <= stage && !(in_order && last != RP_NONE && at <= last);
        last = at == stage ? RP_NONE : at;
        stage += at == stage;
    }
    free(position);
    return is;
}

rp_rc rp_certificate_check_plan(const struct rp_certificate *c, const struct rp_graph *g,
                                const struct rp_plan *p, struct rp_certified_bound *b,
                                struct rp_err *err) {
    rp_rc rc = rp_certificate_check(c, g, b, err);
    if (rc != RP_OK)
        return rc;
    if (c->budget_bytes != p->budget_bytes)
        return rp_fail(err, RP_NO,
                       "it is for budget_bytes %" PRIu64 ", the plan has %" PRIu64,
                       c->budget_bytes, p->budget_bytes);
    if (c->addressed != p->addressed)
        return rp_fail(err, RP_NO, "it is for plans %s addresses",
                       c->addressed ? "with" : "without");
    b->for_plan = bound_is_for(c, g, p, b->in_order);
    if (b->bound_ns > p->claims.time_ns && b->for_plan)
        return rp_fail(err, RP_NO,
                       "its rows give a bound of %" PRIu64
                       " ns, but this plan takes %" PRIu64 " ns",
                       b->bound_ns, p->claims.time_ns);
    const char *why = why_claim_is_wider(c, g, &p->claims.bound_for, b->in_order);
    if (why != NULL)
        b->claim_bound_ns = g->total_time_ns;
    if (b->claim_bound_ns >= p->claims.lower_bound_ns)
        return RP_OK;
    if (why != NULL)
        return rp_fail(err, RP_NO,
                       "it proves %" PRIu64 " ns, but %s; the plan claims %" PRIu64
                       " ns for more than that",
                       b->bound_ns, why, p->claims.lower_bound_ns);
    return rp_fail(err, RP_NO,
                   "it supports a bound of %" PRIu64 " ns; the plan claims %" PRIu64,
                   b->bound_ns, p->claims.lower_bound_ns);
}
