#include "emit/memory_trace.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

typedef unsigned __int128 u128;

struct place {         /* where one tensor is */
    bool live, freed;  /* on the device; was freed at least once */
    uint64_t ready_ns; /* its device storage, its host copy, is complete */
    uint64_t host_ns;
    uint64_t freed_ns, off_ns; /* last freed at; off the device for, so far */
};

struct walk {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_memory_trace *t;
    uint64_t clock[RP_N_QUEUES]; /* when each queue is free */
    uint64_t held;               /* bytes on the device, fixed ones included */
    struct place *places;        /* per tensor */
    uint32_t *runs;              /* per op */
};

static uint64_t size_of(const struct walk *w, uint64_t bytes) {
    return w->p->addressed ? rp_rounding_up(bytes, w->g->device.alignment_bytes) : bytes;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void take(struct walk *w, uint32_t x, uint64_t ready_ns) {
    struct place *at = &w->places[x];
    assert(!at->live);
    if (at->freed)
        at->off_ns += w->clock[RP_COMPUTE] - at->freed_ns;
    at->live = true;
    at->ready_ns = ready_ns;
    w->held += size_of(w, w->g->tensors[x].bytes);
}

static void walk_run(struct walk *w, uint32_t i, struct rp_moment *m) {
    const struct rp_op *op = &w->g->ops[i];
    uint64_t start = w->clock[RP_COMPUTE];
    for (uint32_t k = 0; k < op->n_inputs; k++)
        start = later(start, w->places[op->inputs[k]].ready_ns);
    w->t->stall_ns += start - w->clock[RP_COMPUTE];
    w->clock[RP_COMPUTE] = start;
    m->again = w->runs[i]++ > 0;
    m->end_ns = start + op->time_ns;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        struct place *at = &w->places[op->outputs[k]];
        if (!at->live)
            take(w, op->outputs[k], m->end_ns);
        at->ready_ns = m->end_ns;
    }
    m->clock_ns = m->start_ns = start;
    m->during_bytes = w->held + size_of(w, op->workspace_bytes);
    w->clock[RP_COMPUTE] = m->end_ns;
    if (m->again)
        w->t->recompute_ns += op->time_ns;
}

static void walk_free(struct walk *w, uint32_t x, struct rp_moment *m) {
    struct place *at = &w->places[x];
    assert(at->live);
    uint64_t out = later(at->host_ns, w->clock[RP_COMPUTE]);
    w->t->stall_ns += out - w->clock[RP_COMPUTE];
    w->clock[RP_COMPUTE] = m->clock_ns = m->start_ns = m->end_ns = out;
    m->during_bytes = w->held;
    w->held -= size_of(w, w->g->tensors[x].bytes);
    at->live = false;
    at->freed = true;
    at->freed_ns = out;
}

static uint64_t copy_ns(const struct walk *w, uint64_t bytes, uint64_t bytes_per_s) {
    assert(bytes_per_s > 0);
    return w->g->device.copy_latency_ns +
           (uint64_t)(((u128)bytes * 1000000000 + bytes_per_s - 1) / bytes_per_s);
}

static void walk_copy(struct walk *w, uint32_t x, enum rp_queue queue,
                      struct rp_moment *m) {
    const struct rp_device *d = &w->g->device;
    struct place *at = &w->places[x];
    uint64_t bytes = w->g->tensors[x].bytes;
    bool out = queue == RP_TO_HOST;
    m->queue = queue;
    m->clock_ns = w->clock[RP_COMPUTE];
    m->start_ns =
        later(later(m->clock_ns, w->clock[queue]), out ? at->ready_ns : at->host_ns);
    m->end_ns =
        m->start_ns + copy_ns(w, bytes, out ? d->d2h_bytes_per_s : d->h2d_bytes_per_s);
    w->clock[queue] = m->end_ns;
    w->t->copied_bytes[queue] += bytes;
    if (out)
        at->host_ns = m->end_ns;
    else
        take(w, x, m->end_ns);
    m->during_bytes = w->held;
}

static void walk_step(struct walk *w, const struct rp_step *s, struct rp_moment *m) {
    assert(s->id < (s->kind == RP_RUN ? w->g->n_ops : w->g->n_tensors));
    switch (s->kind) {
    case RP_RUN:
        walk_run(w, s->id, m);
        break;
    case RP_FREE:
        walk_free(w, s->id, m);
        break;
    case RP_SWAP_OUT:
        walk_copy(w, s->id, RP_TO_HOST, m);
        break;
    case RP_SWAP_IN:
        walk_copy(w, s->id, RP_TO_DEVICE, m);
        break;
    }
    m->after_bytes = w->held;
    w->t->busy_ns[m->queue] += m->end_ns - m->start_ns;
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
    for (int q = 0; q < RP_N_QUEUES; q++)
        t->time_ns = later(t->time_ns, w->clock[q]);
    for (size_t s = 0; s < t->n_moments; s++)
        if (t->moments[s].during_bytes > t->peak_bytes) {
            t->peak_bytes = t->moments[s].during_bytes;
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
    *t = (struct rp_memory_trace){.n_moments = p->steps.n, .fixed_bytes = g->fixed_bytes};
    t->moments = rp_calloc(p->steps.n, sizeof *t->moments);
    t->peak_bytes = g->fixed_bytes;
    t->peak_op = RP_NONE;
    struct walk w = {.g = g, .p = p, .t = t, .held = g->fixed_bytes};
    w.places = rp_calloc(g->n_tensors, sizeof *w.places);
    w.runs = rp_calloc(g->n_ops, sizeof *w.runs);
    for (size_t s = 0; s < p->steps.n; s++)
        walk_step(&w, &p->steps.at[s], &t->moments[s]);
    finish(&w);
    free(w.places);
    free(w.runs);
}

static void push_step(struct rp_plan *p, enum rp_step_kind kind, uint32_t id) {
    rp_push(&p->steps, ((struct rp_step){.kind = kind, .id = id}));
}

void rp_memory_trace_keep_all(const struct rp_graph *g, bool addressed,
                              struct rp_memory_trace *t) {
    struct rp_plan p = {.addressed = addressed};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        push_step(&p, RP_RUN, i);
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            uint32_t x = op->inputs[k];
            if (g->tensors[x].producer != RP_NONE && !g->kept[x] &&
                g->readers[g->reader_start[x + 1] - 1] == i)
                push_step(&p, RP_FREE, x);
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            uint32_t x = op->outputs[k];
            if (!g->kept[x] && g->reader_start[x] == g->reader_start[x + 1])
                push_step(&p, RP_FREE, x);
        }
    }
    rp_memory_trace_plan(g, &p, t);
    rp_plan_fini(&p);
}

void rp_memory_trace_fini(struct rp_memory_trace *t) {
    free(t->moments);
    free(t->reruns.at);
    *t = (struct rp_memory_trace){0};
}

/* `bytes` are held from start_ns until end_ns. An instant counts in the column that ends
 * there. */
static void hold(uint64_t start_ns, uint64_t end_ns, uint64_t bytes, uint64_t total_ns,
                 uint32_t n, uint64_t *max_bytes) {
    u128 first = (u128)start_ns * n / total_ns;
    u128 end = ((u128)end_ns * n + total_ns - 1) / total_ns;
    if (start_ns == end_ns)
        first = end > 0 ? end - 1 : 0;
    if (end <= first)
        end = first + 1;
    for (u128 c = first; c < end && c < n; c++)
        if (max_bytes[c] < bytes)
            max_bytes[c] = bytes;
}

void rp_memory_trace_columns(const struct rp_memory_trace *t, uint64_t total_ns, uint32_t n,
                             uint64_t *max_bytes) {
    uint64_t at = 0, held = t->fixed_bytes;
    for (uint32_t c = 0; c < n; c++)
        max_bytes[c] = 0;
    for (size_t s = 0; s < t->n_moments; s++) {
        const struct rp_moment *m = &t->moments[s];
        uint64_t until = m->queue == RP_COMPUTE ? m->end_ns : m->clock_ns;
        hold(at, m->clock_ns, held, total_ns, n, max_bytes);
        hold(m->clock_ns, until, m->during_bytes, total_ns, n, max_bytes);
        at = until;
        held = m->after_bytes;
    }
    hold(at, t->time_ns, held, total_ns, n, max_bytes);
}
