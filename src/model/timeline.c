#include "model/timeline.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

bool rp_device_can_swap(const struct rp_device *d) {
    return d->d2h_bytes_per_s > 0 && d->h2d_bytes_per_s > 0;
}

static uint64_t copy_ns(const struct rp_device *d, uint64_t bytes, uint64_t bytes_per_s) {
    unsigned __int128 ns = (unsigned __int128)bytes * 1000000000u;
    ns = ns / bytes_per_s + (ns % bytes_per_s != 0) + d->copy_latency_ns;
    return ns > RP_MAX_QUANTITY ? UINT64_MAX : (uint64_t)ns;
}

uint64_t rp_device_d2h_ns(const struct rp_device *d, uint64_t bytes) {
    return copy_ns(d, bytes, d->d2h_bytes_per_s);
}

uint64_t rp_device_h2d_ns(const struct rp_device *d, uint64_t bytes) {
    return copy_ns(d, bytes, d->h2d_bytes_per_s);
}

void rp_timeline_init(struct rp_timeline *t, const struct rp_graph *g) {
    *t = (struct rp_timeline){.g = g, .sound = true};
    t->ready_ns = rp_calloc(g->n_tensors, sizeof *t->ready_ns);
    t->host_ready_ns = rp_calloc(g->n_tensors, sizeof *t->host_ready_ns);
}

void rp_timeline_fini(struct rp_timeline *t) {
    free(t->ready_ns);
    free(t->host_ready_ns);
    *t = (struct rp_timeline){0};
}

static void wait_until(struct rp_timeline *t, uint64_t ns) {
    if (ns <= t->compute_ns)
        return;
    t->stall_ns += ns - t->compute_ns;
    t->compute_ns = ns;
}

static void add(struct rp_timeline *t, uint64_t *clock_ns, uint64_t ns) {
    if (rp_add(clock_ns, ns))
        return;
    *clock_ns = RP_MAX_QUANTITY;
    t->overflow = true;
}

static void run(struct rp_timeline *t, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        wait_until(t, t->ready_ns[op->inputs[k]]);
    for (uint32_t k = 0; k < op->n_updates; k++) {
        wait_until(t, t->ready_ns[op->updates[k]]);
        wait_until(t, t->host_ready_ns[op->updates[k]]); /* a swap-out under way */
    }
    for (uint32_t k = 0; k < op->n_outputs; k++)
        t->sound = t->sound && t->ready_ns[op->outputs[k]] <= t->compute_ns;
    add(t, &t->compute_ns, op->time_ns);
}

/* Appends a copy to a queue. It may not start before `earliest_ns`. Returns when it ends.
 */
static uint64_t copy(struct rp_timeline *t, uint64_t *queue_ns, uint64_t *busy_ns,
                     uint64_t earliest_ns, uint64_t takes_ns) {
    *queue_ns = rp_max_u64(*queue_ns, rp_max_u64(t->compute_ns, earliest_ns));
    add(t, queue_ns, takes_ns);
    add(t, busy_ns, takes_ns);
    return *queue_ns;
}

void rp_timeline_step(struct rp_timeline *t, const struct rp_step *step) {
    const struct rp_device *d = &t->g->device;
    uint32_t x = step->id;
    switch (step->kind) {
    case RP_RUN:
        run(t, &t->g->ops[step->id]);
        break;
    case RP_FREE:
        wait_until(t, t->host_ready_ns[x]);
        t->sound = t->sound && t->ready_ns[x] <= t->compute_ns;
        break;
    case RP_SWAP_OUT: /* the tensor was made on the compute queue or is being swapped in */
        t->host_ready_ns[x] = copy(t, &t->d2h_ns, &t->d2h_busy_ns, t->ready_ns[x],
                                   rp_device_d2h_ns(d, t->g->tensors[x].bytes));
        break;
    case RP_SWAP_IN:
        t->ready_ns[x] = copy(t, &t->h2d_ns, &t->h2d_busy_ns, t->host_ready_ns[x],
                              rp_device_h2d_ns(d, t->g->tensors[x].bytes));
        break;
    }
}

void rp_timeline_wait(struct rp_timeline *t, uint32_t x) {
    wait_until(t, t->ready_ns[x]);
}

uint64_t rp_timeline_end(const struct rp_timeline *t) {
    return rp_max_u64(t->compute_ns, rp_max_u64(t->d2h_ns, t->h2d_ns));
}

uint64_t rp_steps_time_ns(const struct rp_graph *g, const struct rp_step *steps, size_t n) {
    struct rp_timeline t;
    rp_timeline_init(&t, g);
    for (size_t i = 0; i < n; i++)
        rp_timeline_step(&t, &steps[i]);
    uint64_t ns = t.sound && !t.overflow ? rp_timeline_end(&t) : UINT64_MAX;
    rp_timeline_fini(&t);
    return ns;
}
