#include "solve/core/plan_claims.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

struct tally {
    const struct rp_graph *g;
    const struct rp_plan *plan;
    uint64_t alignment, live_bytes, recompute_ns;
    uint64_t host_bytes; /* without addresses the sum, else where the last copy ends */
    uint64_t arena_end;  /* where the last tensor or workspace ends */
    bool *on_device, *has_host_range; /* per tensor */
    bool *ran;                        /* per op */
};

static uint64_t size_of(const struct tally *c, uint32_t x) {
    return rp_round_up(c->g->tensors[x].bytes, c->alignment);
}

static void allocate(struct tally *c, uint32_t x) {
    if (!c->on_device[x])
        c->live_bytes += size_of(c, x);
    c->on_device[x] = true;
}

static void raise_end(uint64_t *end, uint64_t at, uint64_t size) {
    if (at != RP_NO_ADDRESS)
        *end = rp_max_u64(*end, at + size);
}

/* Returns the workspace. */
static uint64_t count_run(struct tally *c, const struct rp_step *step) {
    const struct rp_op *op = &c->g->ops[step->id];
    uint64_t workspace = rp_round_up(op->workspace_bytes, c->alignment);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (c->on_device[op->outputs[k]] && op->cannot_rewrite)
            workspace += size_of(c, op->outputs[k]);
        allocate(c, op->outputs[k]);
        if (c->plan->addressed)
            raise_end(&c->arena_end, c->plan->at.at[step->at + k],
                      size_of(c, op->outputs[k]));
    }
    raise_end(&c->arena_end, step->address, workspace);
    if (c->ran[step->id])
        c->recompute_ns += op->time_ns;
    c->ran[step->id] = true;
    return workspace;
}

/* The room of a tensor's host copy, at this address; the same each time. */
static void count_host_range(struct tally *c, uint32_t x, uint64_t at) {
    if (at != RP_NO_ADDRESS)
        raise_end(&c->host_bytes, at, size_of(c, x));
    else if (!c->has_host_range[x])
        c->host_bytes += size_of(c, x);
    c->has_host_range[x] = true;
}

/* Returns the bytes in use during a run, or after another step. */
static uint64_t count_step(struct tally *c, const struct rp_step *step) {
    uint64_t workspace = 0;
    switch (step->kind) {
    case RP_RUN:
        workspace = count_run(c, step);
        break;
    case RP_FREE:
        c->live_bytes -= size_of(c, step->id);
        c->on_device[step->id] = false;
        break;
    case RP_SWAP_OUT:
        count_host_range(c, step->id, step->address);
        break;
    case RP_SWAP_IN:
        allocate(c, step->id);
        raise_end(&c->arena_end, step->address, size_of(c, step->id));
        break;
    }
    return c->live_bytes + workspace;
}

static struct tally tally_begin(const struct rp_graph *g, const struct rp_plan *plan) {
    return (struct tally){.g = g,
                          .plan = plan,
                          .alignment = plan->addressed ? g->device.alignment_bytes : 1,
                          .on_device = rp_calloc(g->n_tensors, sizeof(bool)),
                          .has_host_range = rp_calloc(g->n_tensors, sizeof(bool)),
                          .ran = rp_calloc(g->n_ops, sizeof(bool))};
}

static void tally_end(struct tally *c) {
    free(c->on_device);
    free(c->has_host_range);
    free(c->ran);
}

void rp_plan_used_bytes(const struct rp_graph *g, const struct rp_plan *plan,
                        uint64_t *used_bytes) {
    struct tally c = tally_begin(g, plan);
    for (size_t i = 0; i < plan->steps.n; i++)
        used_bytes[i] = count_step(&c, &plan->steps.at[i]);
    tally_end(&c);
}

rp_rc rp_plan_fill_claims(const struct rp_graph *g, struct rp_plan *plan,
                          struct rp_err *err) {
    struct tally c = tally_begin(g, plan);
    struct rp_claims *claims = &plan->claims;
    struct rp_timeline timeline;
    uint64_t peak_bytes = 0;
    rp_timeline_init(&timeline, g);
    claims->baseline_time_ns = g->total_time_ns;
    for (size_t k = 0; k < plan->homes.n; k++)
        count_host_range(&c, plan->homes.at[k].tensor, plan->homes.at[k].host_at);
    for (size_t i = 0; i < plan->steps.n; i++) {
        peak_bytes = rp_max_u64(peak_bytes, count_step(&c, &plan->steps.at[i]));
        rp_timeline_step(&timeline, &plan->steps.at[i]);
    }
    claims->time_ns = rp_timeline_end(&timeline);
    claims->stall_ns = timeline.stall_ns;
    claims->recompute_ns = c.recompute_ns;
    claims->peak_bytes = rp_plan_fixed_bytes(plan, g) + peak_bytes;
    plan->arena_bytes = plan->addressed ? c.arena_end : peak_bytes;
    plan->host_bytes = c.host_bytes;
    rp_rc rc = timeline.overflow
                   ? rp_fail(err, RP_INPUT, "the plan's time passes 2^63-1 ns")
                   : RP_OK;
    rp_timeline_fini(&timeline);
    tally_end(&c);
    return rc;
}

void rp_plan_set_bound(const struct rp_graph *g, struct rp_claims *claims,
                       uint64_t bound_ns, struct rp_bound_scope scope) {
    bool trivial = bound_ns <= g->total_time_ns;
    claims->lower_bound_ns = trivial ? g->total_time_ns : bound_ns;
    claims->bound_for = trivial ? rp_bound_for_all_plans : scope;
    claims->proof = claims->time_ns == claims->lower_bound_ns ? RP_PROOF_OPTIMAL
                    : trivial                                 ? RP_PROOF_NONE
                                                              : RP_PROOF_BOUNDED;
}
