/* The un-rematerialized step with addresses, for a GPU: what the plan is compared with. It
 * is placed simply, not well; if it does not fit, the replay says so and goes without. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "emit/replay_tables.h"

#define WORKSPACE RP_NONE

/* Live ranges by address; none overlap. */
struct range {
    uint64_t lo, hi;
    uint32_t tensor;
};

struct arena {
    struct range *at;
    size_t n, cap;
    uint64_t alignment, top; /* highest end so far */
};

static uint64_t take(struct arena *a, uint32_t x, uint64_t bytes) {
    const uint64_t size = rp_rounding_up(bytes, a->alignment);
    uint64_t lo = 0;
    size_t k = 0;
    while (k < a->n && a->at[k].lo - lo < size)
        lo = a->at[k++].hi;
    rp_push(a, ((struct range){0}));
    memmove(&a->at[k + 1], &a->at[k], (a->n - 1 - k) * sizeof *a->at);
    a->at[k] = (struct range){lo, lo + size, x};
    a->top = lo + size > a->top ? lo + size : a->top;
    return lo;
}

static void release(struct arena *a, uint32_t x) {
    size_t k = 0;
    while (k < a->n && a->at[k].tensor != x)
        k++;
    if (k < a->n)
        memmove(&a->at[k], &a->at[k + 1], (--a->n - k) * sizeof *a->at);
}

static bool last_use(const struct rp_graph *g, uint32_t x, uint32_t op) {
    const uint32_t from = g->reader_start[x], to = g->reader_start[x + 1];
    return !g->kept[x] && (to == from || g->readers[to - 1] == op);
}

static void add_run(const struct rp_graph *g, uint32_t i, struct arena *a, uint64_t *at,
                    struct rp_schedule_tables *s) {
    const struct rp_op *op = &g->ops[i];
    struct replay_step step = {.what = REPLAY_RUN,
                               .id = i,
                               .where = (uint32_t)s->addresses.n,
                               .at = REPLAY_NOWHERE,
                               .host_at = REPLAY_NOWHERE};
    for (uint32_t k = 0; k < op->n_inputs; k++)
        rp_push(&s->addresses, at[op->inputs[k]]);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t x = op->outputs[k];
        at[x] = take(a, x, g->tensors[x].bytes);
        rp_push(&s->addresses, at[x]);
    }
    if (op->workspace_bytes > 0) {
        step.at = take(a, WORKSPACE, op->workspace_bytes);
        release(a, WORKSPACE);
    }
    rp_push(&s->steps, step);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (at[op->inputs[k]] != REPLAY_NOWHERE && last_use(g, op->inputs[k], i))
            release(a, op->inputs[k]);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (last_use(g, op->outputs[k], i))
            release(a, op->outputs[k]);
}

void rp_replay_tables_keep_all(const struct rp_graph *g, struct rp_schedule_tables *s,
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
    *arena_bytes = a.top;
    free(a.at);
    free(at);
}
