#include "emit/naive_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

#define WORKSPACE RP_NONE

struct range {
    uint64_t lo, hi;
    uint32_t tensor;
};

struct arena {
    struct range *at; /* live ranges in the order of addresses; none overlap */
    size_t n, cap;
    uint64_t alignment, max_end;
};

/* First fit: the lowest gap that is large enough. */
static uint64_t allocate(struct arena *a, uint32_t x, uint64_t bytes) {
    const uint64_t size = rp_round_up(bytes, a->alignment);
    uint64_t lo = 0;
    size_t k = 0;
    while (k < a->n && a->at[k].lo - lo < size)
        lo = a->at[k++].hi;
    rp_push(a, ((struct range){0}));
    memmove(&a->at[k + 1], &a->at[k], (a->n - 1 - k) * sizeof *a->at);
    a->at[k] = (struct range){lo, lo + size, x};
    a->max_end = rp_max_u64(a->max_end, lo + size);
    return lo;
}

/* x is in the arena. */
static void release(struct arena *a, uint32_t x) {
    size_t k = 0;
    while (a->at[k].tensor != x)
        k++;
    memmove(&a->at[k], &a->at[k + 1], (--a->n - k) * sizeof *a->at);
}

static bool is_last_use(const struct rp_graph *g, uint32_t x, uint32_t op) {
    const uint32_t from = g->reader_start[x], to = g->reader_start[x + 1];
    return !g->kept[x] && (to == from || g->readers[to - 1] == op);
}

static void add_addresses(struct rp_schedule_tables *s, const uint64_t *at,
                          const uint32_t *tensors, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        rp_push(&s->addresses, at[tensors[k]]);
}

static void add_run(const struct rp_graph *g, uint32_t i, struct arena *a, uint64_t *at,
                    struct rp_schedule_tables *s) {
    const struct rp_op *op = &g->ops[i];
    struct replay_step step = {.what = REPLAY_RUN,
                               .id = i,
                               .where = (uint32_t)s->addresses.n,
                               .at = REPLAY_NOWHERE,
                               .host_at = REPLAY_NOWHERE};
    for (uint32_t k = 0; k < op->n_outputs; k++)
        at[op->outputs[k]] = allocate(a, op->outputs[k], g->tensors[op->outputs[k]].bytes);
    add_addresses(s, at, op->inputs, op->n_inputs);
    add_addresses(s, at, op->updates, op->n_updates);
    add_addresses(s, at, op->outputs, op->n_outputs);
    add_addresses(s, at, op->updates, op->n_updates);
    if (op->workspace_bytes > 0) {
        step.at = allocate(a, WORKSPACE, op->workspace_bytes);
        release(a, WORKSPACE);
    }
    rp_push(&s->steps, step);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (at[op->inputs[k]] != REPLAY_NOWHERE && is_last_use(g, op->inputs[k], i))
            release(a, op->inputs[k]);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (is_last_use(g, op->outputs[k], i))
            release(a, op->outputs[k]);
}

void rp_naive_layout(const struct rp_graph *g, struct rp_schedule_tables *s,
                     uint64_t *arena_bytes) {
    struct arena a = {.alignment = g->device.alignment_bytes};
    uint64_t *at = rp_calloc(g->n_tensors, sizeof *at);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        at[x] = REPLAY_NOWHERE;
    for (uint32_t i = 0; i < g->n_ops; i++)
        add_run(g, i, &a, at, s);
    s->kept_at = rp_calloc(g->n_keep, sizeof *s->kept_at);
    for (uint32_t k = 0; k < g->n_keep; k++)
        s->kept_at[k] = at[g->keep[k]];
    *arena_bytes = a.max_end;
    free(a.at);
    free(at);
}
