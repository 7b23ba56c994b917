#include "emit/memory/memory_trace.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/timeline.h"

typedef unsigned __int128 u128;

/* Whether one tensor is on the device, and how long it was not. */
struct place {
    bool live;         /* on the device */
    bool freed;        /* was freed at least once */
    uint64_t freed_ns; /* when it was freed last */
    uint64_t off_ns;   /* time between a free and the next allocation, summed up */
};

struct walk {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_memory_trace *t;
    struct rp_timeline timeline;
    struct rp_memory_split held; /* on the device, fixed ones included */
    struct place *places;        /* per tensor */
    uint32_t *runs;              /* per op */
};

static uint64_t size_of(const struct walk *w, uint64_t bytes) {
    return w->p->addressed ? rp_round_up(bytes, w->g->device.alignment_bytes) : bytes;
}

static void allocate(struct walk *w, uint32_t x, uint64_t now_ns) {
    struct place *at = &w->places[x];
    assert(!at->live);
    if (at->freed)
        at->off_ns += now_ns - at->freed_ns;
    at->live = true;
    rp_memory_split_add(&w->held, w->g->tensors[x].kind,
                        size_of(w, w->g->tensors[x].bytes));
}

static void walk_run(struct walk *w, uint32_t i, struct rp_timed_step *s) {
    const struct rp_op *op = &w->g->ops[i];
    s->end_ns = w->timeline.compute_ns;
    s->clock_ns = s->start_ns = s->end_ns - op->time_ns;
    s->again = w->runs[i]++ > 0;
    uint64_t workspace = size_of(w, op->workspace_bytes);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (!w->places[op->outputs[k]].live)
            allocate(w, op->outputs[k], s->start_ns);
        else if (op->cannot_rewrite)
            workspace += size_of(w, w->g->tensors[op->outputs[k]].bytes);
    s->during = w->held;
    rp_memory_split_add(&s->during, RP_WORKSPACE, workspace);
    if (s->again)
        w->t->recompute_ns += op->time_ns;
}

static void walk_free(struct walk *w, uint32_t x, struct rp_timed_step *s) {
    struct place *at = &w->places[x];
    assert(at->live);
    s->clock_ns = s->start_ns = s->end_ns = w->timeline.compute_ns;
    s->during = w->held;
    rp_memory_split_take(&w->held, w->g->tensors[x].kind,
                         size_of(w, w->g->tensors[x].bytes));
    at->live = false;
    at->freed = true;
    at->freed_ns = s->end_ns;
}

static void walk_copy(struct walk *w, uint32_t x, uint64_t end_ns, uint64_t copy_ns,
                      struct rp_timed_step *s) {
    s->clock_ns = w->timeline.compute_ns;
    s->end_ns = end_ns;
    s->start_ns = end_ns - copy_ns;
    w->t->copied_bytes[s->queue] += w->g->tensors[x].bytes;
    if (s->queue == RP_TRACE_TO_DEVICE)
        allocate(w, x, s->clock_ns);
    s->during = w->held;
}

static void walk_step(struct walk *w, const struct rp_step *step, struct rp_timed_step *s) {
    struct rp_timeline *t = &w->timeline;
    const uint64_t d2h_busy_ns = t->d2h_busy_ns, h2d_busy_ns = t->h2d_busy_ns;
    assert(step->id < (step->kind == RP_RUN ? w->g->n_ops : w->g->n_tensors));
    rp_timeline_step(t, step);
    s->kind = step->kind;
    switch (step->kind) {
    case RP_RUN:
        walk_run(w, step->id, s);
        break;
    case RP_FREE:
        walk_free(w, step->id, s);
        break;
    case RP_SWAP_OUT:
        s->queue = RP_TRACE_TO_HOST;
        walk_copy(w, step->id, t->d2h_ns, t->d2h_busy_ns - d2h_busy_ns, s);
        break;
    case RP_SWAP_IN:
        s->queue = RP_TRACE_TO_DEVICE;
        walk_copy(w, step->id, t->h2d_ns, t->h2d_busy_ns - h2d_busy_ns, s);
        break;
    }
    s->after = w->held;
    w->t->busy_ns[s->queue] += s->end_ns - s->start_ns;
}

static struct rp_rerun rerun_of(const struct walk *w, uint32_t i) {
    const struct rp_op *op = &w->g->ops[i];
    struct rp_rerun r = {.op = i, .times = w->runs[i] - 1};
    u128 byte_ns = 0;
    r.extra_ns = r.times * op->time_ns;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        r.bytes += w->g->tensors[x].bytes;
        byte_ns += (u128)w->g->tensors[x].bytes * w->places[x].off_ns;
    }
    r.off_ns = r.bytes > 0 ? (uint64_t)(byte_ns / r.bytes) : 0;
    return r;
}

static int by_extra_time(const void *a, const void *b) {
    const struct rp_rerun *x = a, *y = b;
    if (x->extra_ns != y->extra_ns)
        return x->extra_ns < y->extra_ns ? 1 : -1;
    return x->op < y->op ? -1 : 1;
}

static void finish(struct walk *w) {
    struct rp_memory_trace *t = w->t;
    t->time_ns = rp_timeline_end(&w->timeline);
    t->stall_ns = w->timeline.stall_ns;
    for (size_t s = 0; s < t->n_steps; s++)
        if (t->steps[s].during.bytes > t->peak.bytes) {
            t->peak = t->steps[s].during;
            t->peak_op = w->p->steps.at[s].kind == RP_RUN ? w->p->steps.at[s].id : RP_NONE;
        }
    for (uint32_t i = 0; i < w->g->n_ops; i++)
        if (w->runs[i] > 1)
            rp_push(&t->reruns, rerun_of(w, i));
    if (t->reruns.n > 0)
        qsort(t->reruns.at, t->reruns.n, sizeof *t->reruns.at, by_extra_time);
}

void rp_memory_trace_plan(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_memory_trace *t) {
    *t = (struct rp_memory_trace){.n_steps = p->steps.n,
                                  .fixed = rp_memory_split_fixed(g, p)};
    t->steps = rp_calloc(p->steps.n, sizeof *t->steps);
    t->peak = t->fixed;
    t->peak_op = RP_NONE;
    struct walk w = {.g = g, .p = p, .t = t, .held = t->fixed};
    rp_timeline_init(&w.timeline, g);
    w.places = rp_calloc(g->n_tensors, sizeof *w.places);
    w.runs = rp_calloc(g->n_ops, sizeof *w.runs);
    for (size_t s = 0; s < p->steps.n; s++)
        walk_step(&w, &p->steps.at[s], &t->steps[s]);
    finish(&w);
    free(w.places);
    free(w.runs);
    rp_timeline_fini(&w.timeline);
}

static void push_step(struct rp_plan *p, enum rp_step_kind kind, uint32_t id) {
    rp_push(&p->steps, ((struct rp_step){.kind = kind, .id = id}));
}

static bool stays(const struct rp_graph *g, uint32_t x) {
    return g->kept[x] || g->tensors[x].held;
}

void rp_memory_trace_keep_all(const struct rp_graph *g, bool addressed,
                              struct rp_memory_trace *t) {
    struct rp_plan p = {.addressed = addressed};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        push_step(&p, RP_RUN, i);
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            uint32_t x = op->inputs[k];
            if (g->tensors[x].producer != RP_NONE && !stays(g, x) &&
                g->readers[g->reader_start[x + 1] - 1] == i)
                push_step(&p, RP_FREE, x);
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            uint32_t x = op->outputs[k];
            if (!stays(g, x) && g->reader_start[x] == g->reader_start[x + 1])
                push_step(&p, RP_FREE, x);
        }
    }
    rp_memory_trace_plan(g, &p, t);
    rp_plan_fini(&p);
}

void rp_memory_trace_fini(struct rp_memory_trace *t) {
    free(t->steps);
    free(t->reruns.at);
    *t = (struct rp_memory_trace){0};
}

/* `held` from start_ns to end_ns. If both are equal, the instant counts in the column that
 * ends there. */
static void raise_columns(uint64_t start_ns, uint64_t end_ns,
                          const struct rp_memory_split *held, uint64_t total_ns, uint32_t n,
                          struct rp_memory_split *most) {
    u128 first = (u128)start_ns * n / total_ns;
    u128 end = ((u128)end_ns * n + total_ns - 1) / total_ns;
    if (start_ns == end_ns)
        first = end > 0 ? end - 1 : 0;
    if (end <= first)
        end = first + 1;
    for (u128 c = first; c < end && c < n; c++)
        if (most[c].bytes < held->bytes)
            most[c] = *held;
}

void rp_memory_trace_columns(const struct rp_memory_trace *t, uint64_t total_ns, uint32_t n,
                             struct rp_memory_split *most) {
    const struct rp_memory_split *held = &t->fixed;
    uint64_t at = 0;
    for (uint32_t c = 0; c < n; c++)
        most[c] = (struct rp_memory_split){0};
    for (size_t s = 0; s < t->n_steps; s++) {
        const struct rp_timed_step *m = &t->steps[s];
        uint64_t until = m->queue == RP_TRACE_COMPUTE ? m->end_ns : m->clock_ns;
        raise_columns(at, m->clock_ns, held, total_ns, n, most);
        raise_columns(m->clock_ns, until, &m->during, total_ns, n, most);
        at = until;
        held = &m->after;
    }
    raise_columns(at, t->time_ns, held, total_ns, n, most);
}
