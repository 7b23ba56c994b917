#include "pack/addresses.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct placing {
    const struct rp_graph *g;
    struct rp_plan *plan;
    RP_VEC(struct rp_buffer) buffers; /* times are indices of steps */
    /* Per buffer: index in plan->at, or SIZE_MAX - step for a step's own address. */
    RP_VEC(size_t) target;
    size_t *live;      /* per tensor: 1 + its buffer, 0 if not on the device */
    uint64_t *host_at; /* per tensor: of its host range; RP_NO_ADDRESS: it has none yet */
};

static void add_buffer(struct placing *w, size_t begin, size_t end, uint64_t bytes,
                       size_t target) {
    struct rp_buffer b = {.lower = begin, .upper = end, .size = bytes};
    rp_push(&w->buffers, b);
    rp_push(&w->target, target);
}

static void add_run(struct placing *w, size_t i) {
    struct rp_step *step = &w->plan->steps.at[i];
    const struct rp_op *op = &w->g->ops[step->id];
    uint64_t alignment = w->g->device.alignment_bytes;
    step->at = (uint32_t)w->plan->at.n;
    step->n_at = op->n_outputs;
    step->has_at = true;
    uint64_t workspace = rp_round_up(op->workspace_bytes, alignment);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        rp_push(&w->plan->at, RP_NO_ADDRESS);
        if (w->live[x] != 0 && op->cannot_rewrite)
            workspace += rp_round_up(w->g->tensors[x].bytes, alignment);
        if (w->live[x] != 0)
            continue;
        add_buffer(w, i, w->plan->steps.n, w->g->tensors[x].bytes, w->plan->at.n - 1);
        w->live[x] = w->buffers.n;
    }
    if (workspace > 0)
        add_buffer(w, i, i + 1, workspace, SIZE_MAX - i);
}

static void add_swap_in(struct placing *w, size_t i) {
    uint32_t x = w->plan->steps.at[i].id;
    assert(w->live[x] == 0);
    add_buffer(w, i, w->plan->steps.n, w->g->tensors[x].bytes, SIZE_MAX - i);
    w->live[x] = w->buffers.n;
}

static void end_tensor(struct placing *w, size_t i) {
    uint32_t x = w->plan->steps.at[i].id;
    assert(w->live[x] != 0);
    w->buffers.at[w->live[x] - 1].upper = i;
    w->live[x] = 0;
}

/* The host range of x, the same for all its copies. */
static uint64_t host_range(struct placing *w, uint32_t x) {
    if (w->host_at[x] == RP_NO_ADDRESS) {
        w->host_at[x] = w->plan->host_bytes;
        w->plan->host_bytes +=
            rp_round_up(w->g->tensors[x].bytes, w->g->device.alignment_bytes);
    }
    return w->host_at[x];
}

static void add_step(struct placing *w, size_t i) {
    switch (w->plan->steps.at[i].kind) {
    case RP_RUN:
        add_run(w, i);
        break;
    case RP_FREE:
        end_tensor(w, i);
        break;
    case RP_SWAP_OUT:
        w->plan->steps.at[i].address = host_range(w, w->plan->steps.at[i].id);
        break;
    case RP_SWAP_IN:
        add_swap_in(w, i);
        break;
    }
}

uint64_t rp_assign_addresses(const struct rp_graph *g, struct rp_plan *plan,
                             const struct rp_pack_options *o,
                             struct rp_pack_statistics *statistics) {
    struct placing w = {.g = g, .plan = plan};
    struct rp_pack_options aligned = *o;
    aligned.alignment = g->device.alignment_bytes;
    struct rp_pack_result result;
    w.live = rp_calloc(g->n_tensors, sizeof *w.live);
    w.host_at = rp_calloc(g->n_tensors, sizeof *w.host_at);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        w.host_at[x] = RP_NO_ADDRESS;
    plan->host_bytes = 0;
    for (size_t k = 0; k < plan->homes.n; k++)
        plan->homes.at[k].host_at = host_range(&w, plan->homes.at[k].tensor);
    for (size_t i = 0; i < plan->steps.n; i++)
        add_step(&w, i);
    rp_pack(w.buffers.at, w.buffers.n, &aligned, &result, statistics);
    plan->arena_bytes = result.arena_bytes;
    for (size_t k = 0; k < w.buffers.n; k++) {
        size_t target = w.target.at[k];
        if (target > SIZE_MAX / 2)
            plan->steps.at[SIZE_MAX - target].address = w.buffers.at[k].offset;
        else
            plan->at.at[target] = w.buffers.at[k].offset;
    }
    plan->addressed = true;
    free(w.buffers.at);
    free(w.target.at);
    free(w.live);
    free(w.host_at);
    return result.arena_bytes - result.peak_bytes;
}
