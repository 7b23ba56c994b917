#include "model/timeline.h"

#include <stdlib.h>

#include "base/mem.h"

void rp_timeline_init(struct rp_timeline *c, const struct rp_graph *g) {
    *c = (struct rp_timeline){.g = g, .sound = true};
    c->ready_ns = rp_calloc(g->n_tensors, sizeof *c->ready_ns);
    c->host_ready_ns = rp_calloc(g->n_tensors, sizeof *c->host_ready_ns);
}

void rp_timeline_fini(struct rp_timeline *c) {
    free(c->ready_ns);
    free(c->host_ready_ns);
    *c = (struct rp_timeline){0};
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void wait_until(struct rp_timeline *c, uint64_t ns) {
    if (ns <= c->compute_ns)
        return;
    c->stall_ns += ns - c->compute_ns;
    c->compute_ns = ns;
}

static void add(struct rp_timeline *c, uint64_t *clock_ns, uint64_t ns) {
    if (!rp_add(clock_ns, ns))
        c->overflow = true;
}

static void run(struct rp_timeline *c, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        wait_until(c, c->ready_ns[op->inputs[k]]);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        c->sound = c->sound && c->ready_ns[op->outputs[k]] <= c->compute_ns;
    add(c, &c->compute_ns, op->time_ns);
}

/* A copy of `bytes` that may start at ready_ns; when it ends. */
static uint64_t copy(struct rp_timeline *c, uint64_t *queue_ns, uint64_t *busy_ns,
                     uint64_t ready_ns, uint64_t bytes, uint64_t bytes_per_s) {
    unsigned __int128 ns = (unsigned __int128)bytes * 1000000000u;
    ns = ns / bytes_per_s + (ns % bytes_per_s != 0) + c->g->device.copy_latency_ns;
    uint64_t takes = ns > RP_MAX_QUANTITY ? UINT64_MAX : (uint64_t)ns;
    *queue_ns = later(*queue_ns, later(c->compute_ns, ready_ns));
    add(c, queue_ns, takes);
    add(c, busy_ns, takes);
    return *queue_ns;
}

void rp_timeline_step(struct rp_timeline *c, const struct rp_step *step) {
    const struct rp_device *d = &c->g->device;
    uint32_t x = step->id;
    switch (step->kind) {
    case RP_RUN:
        run(c, &c->g->ops[step->id]);
        break;
    case RP_FREE:
        wait_until(c, c->host_ready_ns[x]);
        c->sound = c->sound && c->ready_ns[x] <= c->compute_ns;
        break;
    case RP_SWAP_OUT: /* what it copies was made on the compute queue or has arrived */
        c->host_ready_ns[x] = copy(c, &c->d2h_ns, &c->d2h_busy_ns, c->ready_ns[x],
                                   c->g->tensors[x].bytes, d->d2h_bytes_per_s);
        break;
    case RP_SWAP_IN:
        c->ready_ns[x] = copy(c, &c->h2d_ns, &c->h2d_busy_ns, c->host_ready_ns[x],
                              c->g->tensors[x].bytes, d->h2d_bytes_per_s);
        break;
    }
}

uint64_t rp_timeline_end(const struct rp_timeline *c) {
    return later(c->compute_ns, later(c->d2h_ns, c->h2d_ns));
}
