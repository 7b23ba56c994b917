#include "solve/claims.h"

#include <stdlib.h>

#include "base/mem.h"

struct tally {
    const struct rp_graph *g;
    uint64_t alignment, live, peak;
    bool *on_device; /* per tensor */
    bool *ran;       /* per op */
};

static rp_rc count_run(struct tally *c, uint32_t i, struct rp_claims *claims,
                       struct rp_err *err) {
    const struct rp_op *op = &c->g->ops[i];
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        if (!c->on_device[x])
            c->live += rp_round_up(c->g->tensors[x].bytes, c->alignment);
        c->on_device[x] = true;
    }
    uint64_t now = c->live + rp_round_up(op->workspace_bytes, c->alignment);
    c->peak = now > c->peak ? now : c->peak;
    if (!rp_add(&claims->time_ns, op->time_ns))
        return rp_fail(err, RP_INPUT, "the plan's time passes 2^63-1 ns");
    if (c->ran[i])
        claims->recompute_ns += op->time_ns;
    c->ran[i] = true;
    return RP_OK;
}

rp_rc rp_plan_claim(const struct rp_graph *g, struct rp_plan *plan, struct rp_err *err) {
    struct tally c = {.g = g,
                      .alignment = plan->addressed ? g->device.alignment_bytes : 1,
                      .on_device = rp_calloc(g->n_tensors, sizeof(bool)),
                      .ran = rp_calloc(g->n_ops, sizeof(bool))};
    struct rp_claims *claims = &plan->claims;
    claims->time_ns = claims->recompute_ns = claims->stall_ns = 0;
    claims->baseline_time_ns = g->total_time_ns;
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < plan->steps.n && rc == RP_OK; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (step->kind == RP_RUN) {
            rc = count_run(&c, step->id, claims, err);
        } else {
            c.live -= rp_round_up(g->tensors[step->id].bytes, c.alignment);
            c.on_device[step->id] = false;
        }
    }
    claims->peak_bytes = g->fixed_bytes + c.peak;
    if (!plan->addressed)
        plan->arena_bytes = c.peak;
    free(c.on_device);
    free(c.ran);
    return rc;
}
