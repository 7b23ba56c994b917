#include "verify/check_steps.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "verify/check_copies.h"
#include "verify/check_run.h"

static rp_rc check_step(struct rp_plan_state *w, const struct rp_step *s) {
    static const char *const verb[] = {"run", "freed", "swapped", "swapped"};
    if (!w->p->addressed && (s->has_at || s->address != RP_NO_ADDRESS))
        return rp_reject_step(w, "an address, in a plan without addresses");
    if (s->kind == RP_RUN)
        return rp_check_run(w, s);
    if (s->id >= w->g->n_tensors)
        return rp_reject_step(w, "no tensor %u", s->id);
    if (!w->tensors[s->id].movable)
        return rp_reject_step(w, RP_TENSOR " is a source: it cannot be %s",
                              RP_A_TENSOR(w, s->id), verb[s->kind]);
    if (s->kind == RP_FREE)
        return rp_check_free(w, s);
    if (w->g->device.d2h_bytes_per_s == 0 || w->g->device.h2d_bytes_per_s == 0)
        return rp_reject_step(
            w, "a swap, but the graph's device does not state both bandwidths");
    return s->kind == RP_SWAP_OUT ? rp_check_swap_out(w, s) : rp_check_swap_in(w, s);
}

/* ---- the sources that live on the host ---- */

static rp_rc check_home(struct rp_plan_state *w, const struct rp_plan_home *h) {
    if (h->tensor >= w->g->n_tensors)
        return rp_reject_step(w, "no tensor %u", h->tensor);
    struct rp_tensor_state *t = &w->tensors[h->tensor];
    if (w->g->tensors[h->tensor].home == RP_HOME_DEVICE)
        return rp_reject_step(w, RP_TENSOR " has its home on the device",
                              RP_A_TENSOR(w, h->tensor));
    if (t->listed)
        return rp_reject_step(w, RP_TENSOR " stands there twice",
                              RP_A_TENSOR(w, h->tensor));
    if (!w->p->addressed && h->host_at != RP_NO_ADDRESS)
        return rp_reject_step(w, "an address, in a plan without addresses");
    t->movable = t->listed = t->on_host = true;
    return rp_allocate_host(w, h->tensor, h->host_at);
}

/* Sets what is fixed on the device: the sources that the plan does not list. */
static rp_rc check_homes(struct rp_plan_state *w) {
    rp_rc rc = RP_OK;
    w->list = "homes";
    for (w->step = 0; w->step < w->p->homes.n && rc == RP_OK; w->step++)
        rc = check_home(w, &w->p->homes.at[w->step]);
    for (uint32_t x = 0; x < w->g->n_tensors && rc == RP_OK; x++) {
        if (w->g->tensors[x].home == RP_HOME_HOST && !w->tensors[x].listed)
            rc = rp_fail(w->err, RP_NO,
                         "homes: " RP_TENSOR " has its home on the host, but is not listed",
                         RP_A_TENSOR(w, x));
        if (!w->tensors[x].movable)
            w->fixed_bytes += w->g->tensors[x].bytes;
    }
    w->v->fixed_bytes = w->v->peak_bytes = w->fixed_bytes;
    w->list = "steps";
    w->step = 0;
    return rc;
}

/* ---- the whole ---- */

static rp_rc check_graph(const struct rp_graph *g, const struct rp_plan *p,
                         struct rp_err *err) {
    if (strcmp(p->graph_sha256, g->sha256) != 0)
        return rp_fail(
            err, RP_NO,
            "graph: the plan is for \"%.80s\" (sha256 %.12s...), this graph is \"%.80s\" "
            "(sha256 %.12s...)",
            p->graph_name, p->graph_sha256, g->name, g->sha256);
    if (strcmp(p->graph_name, g->name) != 0)
        return rp_fail(err, RP_NO,
                       "graph: the plan is for \"%.80s\", the graph is \"%.80s\"",
                       p->graph_name, g->name);
    return RP_OK;
}

static rp_rc check_fixed(const struct rp_plan_state *w) {
    const struct rp_plan *p = w->p;
    if (w->fixed_bytes > p->budget_bytes)
        return rp_fail(w->err, RP_NO,
                       "budget_bytes: %" PRIu64 " is less than the %" PRIu64
                       " bytes of the sources",
                       p->budget_bytes, w->fixed_bytes);
    if (p->addressed && p->arena_bytes > p->budget_bytes - w->fixed_bytes)
        return rp_fail(w->err, RP_NO,
                       "arena_bytes: %" PRIu64 " and the %" PRIu64
                       " bytes of the sources exceed budget_bytes %" PRIu64,
                       p->arena_bytes, w->fixed_bytes, p->budget_bytes);
    return RP_OK;
}

static rp_rc check_end(const struct rp_plan_state *w) {
    const struct rp_graph *g = w->g;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (w->runs[i] == 0)
            return rp_fail(w->err, RP_NO, "steps: " RP_OP " never runs", RP_AN_OP(w, i));
    for (uint32_t k = 0; k < g->n_keep; k++)
        if (w->tensors[g->keep[k]].movable && !w->tensors[g->keep[k]].on_device)
            return rp_fail(w->err, RP_NO,
                           "steps: " RP_TENSOR " is to be kept, but not there at the end",
                           RP_A_TENSOR(w, g->keep[k]));
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (w->tensors[x].listed && !w->tensors[x].on_host)
            return rp_fail(w->err, RP_NO,
                           "steps: the host copy of " RP_TENSOR
                           " is out of date at the end",
                           RP_A_TENSOR(w, x));
    return RP_OK;
}

static rp_rc check_claims(const struct rp_plan_state *w) {
    const struct rp_claims *c = &w->p->claims;
    const struct rp_verdict *v = w->v;
    const struct {
        const char *name;
        uint64_t claimed, found;
    } claims[] = {
        {"time_ns", c->time_ns, v->time_ns},
        {"baseline_time_ns", c->baseline_time_ns, v->baseline_time_ns},
        {"recompute_ns", c->recompute_ns, v->recompute_ns},
        {"stall_ns", c->stall_ns, v->stall_ns},
        {"peak_bytes", c->peak_bytes, v->peak_bytes},
    };
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++)
        if (claims[k].claimed != claims[k].found)
            return rp_fail(w->err, RP_NO,
                           "claims: %s is %" PRIu64 ", but the steps give %" PRIu64,
                           claims[k].name, claims[k].claimed, claims[k].found);
    if (c->lower_bound_ns > v->time_ns)
        return rp_fail(w->err, RP_NO,
                       "claims: lower_bound_ns %" PRIu64 " is above the time %" PRIu64,
                       c->lower_bound_ns, v->time_ns);
    return RP_OK;
}

/* Rule 10. Version 1 has it for the arena of plans without addresses only. */
static rp_rc check_sizes(const struct rp_plan_state *w) {
    const struct rp_plan *p = w->p;
    const struct rp_verdict *v = w->v;
    if (p->arena_bytes != v->arena_used_bytes && !(p->version_1 && p->addressed))
        return rp_fail(w->err, RP_NO, "arena_bytes: %" PRIu64 " is not %" PRIu64 ", %s",
                       p->arena_bytes, v->arena_used_bytes,
                       p->addressed ? "where the last tensor or workspace ends"
                                    : "the most that is live at once");
    if (p->host_bytes != v->host_used_bytes && !p->version_1)
        return rp_fail(w->err, RP_NO, "host_bytes: %" PRIu64 " is not %" PRIu64 ", %s",
                       p->host_bytes, v->host_used_bytes,
                       p->addressed ? "where the last host copy ends"
                                    : "the sum of all host copies");
    return RP_OK;
}

static rp_rc check_proof(const struct rp_plan_state *w) {
    const struct rp_claims *c = &w->p->claims;
    enum rp_proof proof = c->lower_bound_ns == c->time_ns           ? RP_PROOF_OPTIMAL
                          : c->lower_bound_ns > c->baseline_time_ns ? RP_PROOF_BOUNDED
                                                                    : RP_PROOF_NONE;
    if (c->proof != proof && !w->p->version_1)
        return rp_fail(w->err, RP_NO, "claims: proof is %s, but lower_bound_ns makes it %s",
                       rp_proof_word[c->proof], rp_proof_word[proof]);
    return RP_OK;
}

static void finish_verdict(struct rp_plan_state *w) {
    w->v->time_ns = rp_queue_clocks_end(&w->time);
    w->v->baseline_time_ns = w->g->total_time_ns;
    w->v->stall_ns = w->time.stall_ns;
    w->v->d2h_busy_ns = w->time.d2h_busy_ns;
    w->v->h2d_busy_ns = w->time.h2d_busy_ns;
    if (!w->p->addressed)
        w->v->arena_used_bytes = w->v->peak_bytes - w->fixed_bytes;
}

rp_rc rp_check_steps(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_verdict *v, struct rp_err *err) {
    struct rp_plan_state w;
    *v = (struct rp_verdict){0};
    rp_plan_state_init(&w, g, p, v, err);
    rp_rc rc = check_graph(g, p, err);
    if (rc == RP_OK)
        rc = check_homes(&w);
    if (rc == RP_OK)
        rc = check_fixed(&w);
    for (; w.step < p->steps.n && rc == RP_OK; w.step++)
        rc = check_step(&w, &p->steps.at[w.step]);
    if (rc == RP_OK)
        rc = check_end(&w);
    if (rc == RP_OK) {
        finish_verdict(&w);
        rc = check_claims(&w);
    }
    if (rc == RP_OK)
        rc = check_sizes(&w);
    if (rc == RP_OK)
        rc = check_proof(&w);
    rp_plan_state_fini(&w);
    return rc;
}
