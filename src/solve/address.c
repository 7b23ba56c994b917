#include "solve/address.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/pack.h"

struct placing {
    const struct rp_graph *g;
    struct rp_plan *plan;
    struct {
        struct rp_buffer *at;
        size_t n, cap;
    } buffers;
    struct {
        size_t *at; /* per buffer: index in plan->at, or step index for a workspace */
        size_t n, cap;
    } target;
    size_t *live; /* per tensor: 1 + its buffer, 0 if not on the device */
};

/* Time is the index of the step; what a run allocates lives from there on. */
static void add_buffer(struct placing *w, size_t begin, size_t end, uint64_t bytes,
                       size_t target) {
    struct rp_buffer b = {.lower = begin, .upper = end, .size = bytes};
    rp_push(&w->buffers, b);
    rp_push(&w->target, target);
}

static void open_run(struct placing *w, size_t i) {
    struct rp_step *step = &w->plan->steps.at[i];
    const struct rp_op *op = &w->g->ops[step->id];
    step->at = (uint32_t)w->plan->at.n;
    step->n_at = op->n_outputs;
    step->has_at = true;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        rp_push(&w->plan->at, RP_NO_ADDRESS);
        if (w->live[x] != 0)
            continue;
        add_buffer(w, i, w->plan->steps.n, w->g->tensors[x].bytes, w->plan->at.n - 1);
        w->live[x] = w->buffers.n;
    }
    if (op->workspace_bytes > 0)
        add_buffer(w, i, i + 1, op->workspace_bytes, SIZE_MAX - i);
}

void rp_plan_place(const struct rp_graph *g, struct rp_plan *plan, uint64_t capacity,
                   uint64_t work_limit) {
    struct placing w = {.g = g, .plan = plan};
    struct rp_pack_options o = {.alignment = g->device.alignment_bytes,
                                .capacity = capacity,
                                .work_limit = work_limit};
    w.live = rp_calloc(g->n_tensors, sizeof *w.live);
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (step->kind == RP_RUN) {
            open_run(&w, i);
        } else {
            assert(step->kind == RP_FREE && w.live[step->id] != 0);
            w.buffers.at[w.live[step->id] - 1].upper = i;
            w.live[step->id] = 0;
        }
    }
    rp_pack(w.buffers.at, w.buffers.n, &o, &plan->arena_bytes, NULL);
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
}
