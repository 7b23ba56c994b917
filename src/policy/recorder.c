#include "policy/recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rp_recorder_init(struct rp_recorder *t, const struct rp_instance *p) {
    uint32_t m = p->n_tensors;
    *t = (struct rp_recorder){.p = p};
    t->on_device = rp_calloc(m, sizeof *t->on_device);
    t->on_host = rp_calloc(m, sizeof *t->on_host);
    t->ready_ns = rp_calloc(m, sizeof *t->ready_ns);
    t->host_ready_ns = rp_calloc(m, sizeof *t->host_ready_ns);
    t->ran = rp_calloc(p->n_ops, sizeof *t->ran);
}

void rp_recorder_fini(struct rp_recorder *t) {
    rp_plan_fini(&t->plan);
    free(t->on_device);
    free(t->on_host);
    free(t->ready_ns);
    free(t->host_ready_ns);
    free(t->ran);
    *t = (struct rp_recorder){0};
}

void rp_recorder_clear(struct rp_recorder *t) {
    const struct rp_instance *p = t->p;
    rp_recorder_fini(t);
    rp_recorder_init(t, p);
}

static void push(struct rp_recorder *t, enum rp_step_kind kind, uint32_t id) {
    struct rp_step step = {.kind = kind, .id = id, .address = RP_NO_ADDRESS};
    rp_push(&t->plan.steps, step);
}

static void raise_to(uint64_t *most, uint64_t x) {
    if (x > *most)
        *most = x;
}

static void add_time(struct rp_recorder *t, uint64_t *clock, uint64_t ns) {
    if (!rp_add(clock, ns)) {
        t->too_long = true;
        *clock = RP_MAX_QUANTITY;
    }
}

/* The compute queue waits: a stall. */
static void wait_until(struct rp_recorder *t, uint64_t ns) {
    if (ns > t->compute_ns) {
        t->stall_ns += ns - t->compute_ns;
        t->compute_ns = ns;
    }
}

void rp_recorder_run(struct rp_recorder *t, uint32_t op) {
    const struct rp_instance *p = t->p;
    assert(!t->ran[op] || p->recompute[op]);
    push(t, RP_RUN, p->op_of[op]);
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++) {
        assert(t->on_device[p->inputs[k]]);
        wait_until(t, t->ready_ns[p->inputs[k]]);
    }
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++) {
        assert(!t->on_device[x] || t->ready_ns[x] <= t->compute_ns);
        t->live_bytes += t->on_device[x] ? 0 : p->bytes[x];
        t->on_device[x] = true;
    }
    raise_to(&t->peak_bytes, t->live_bytes + p->workspace_bytes[op]);
    add_time(t, &t->compute_ns, p->time_ns[op]);
    if (t->ran[op])
        add_time(t, &t->recompute_ns, p->time_ns[op]);
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        t->ready_ns[x] = t->compute_ns;
    t->ran[op] = true;
}

void rp_recorder_free(struct rp_recorder *t, uint32_t x) {
    assert(t->on_device[x]);
    push(t, RP_FREE, t->p->tensor_of[x]);
    if (t->on_host[x])
        wait_until(t, t->host_ready_ns[x]);
    assert(t->ready_ns[x] <= t->compute_ns);
    t->on_device[x] = false;
    t->live_bytes -= t->p->bytes[x];
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t copy_ns(const struct rp_instance *p, uint32_t x, uint64_t bytes_per_s) {
    unsigned __int128 bits = p->graph->tensors[p->tensor_of[x]].bytes;
    unsigned __int128 ns = (bits * 1000000000u + bytes_per_s - 1) / bytes_per_s +
                           p->graph->device.copy_latency_ns;
    return ns > RP_MAX_QUANTITY ? RP_MAX_QUANTITY : (uint64_t)ns;
}

uint64_t rp_copy_out_ns(const struct rp_instance *p, uint32_t x) {
    return copy_ns(p, x, p->graph->device.d2h_bytes_per_s);
}

uint64_t rp_copy_in_ns(const struct rp_instance *p, uint32_t x) {
    return copy_ns(p, x, p->graph->device.h2d_bytes_per_s);
}

bool rp_may_swap(const struct rp_instance *p) {
    return p->graph->device.h2d_bytes_per_s > 0 && p->graph->device.d2h_bytes_per_s > 0;
}

void rp_recorder_swap_out(struct rp_recorder *t, uint32_t x) {
    assert(t->on_device[x] && !t->on_host[x]);
    push(t, RP_SWAP_OUT, t->p->tensor_of[x]);
    t->d2h_ns = later(t->d2h_ns, later(t->compute_ns, t->ready_ns[x]));
    add_time(t, &t->d2h_ns, rp_copy_out_ns(t->p, x));
    t->host_ready_ns[x] = t->d2h_ns;
    t->on_host[x] = true;
    t->out_bytes += t->p->graph->tensors[t->p->tensor_of[x]].bytes;
}

void rp_recorder_swap_in(struct rp_recorder *t, uint32_t x) {
    assert(t->on_host[x] && !t->on_device[x]);
    push(t, RP_SWAP_IN, t->p->tensor_of[x]);
    t->live_bytes += t->p->bytes[x];
    raise_to(&t->peak_bytes, t->live_bytes);
    t->h2d_ns = later(t->h2d_ns, later(t->compute_ns, t->host_ready_ns[x]));
    add_time(t, &t->h2d_ns, rp_copy_in_ns(t->p, x));
    t->ready_ns[x] = t->h2d_ns;
    t->on_device[x] = true;
    if (!rp_add(&t->in_bytes, t->p->graph->tensors[t->p->tensor_of[x]].bytes))
        t->too_long = true;
}

uint64_t rp_recorder_need(const struct rp_recorder *t, uint32_t op) {
    const struct rp_instance *p = t->p;
    uint64_t need = p->workspace_bytes[op];
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        need += t->on_device[x] ? 0 : p->bytes[x];
    return need;
}

void rp_recorder_schedule(struct rp_recorder *t, const struct rp_schedule *s) {
    const struct rp_instance *p = t->p;
    struct rp_plan plan = {0};
    uint32_t *here = rp_calloc(p->graph->n_ops + p->graph->n_tensors, sizeof *here);
    uint32_t *op_here = here, *tensor_here = here + p->graph->n_ops;
    for (uint32_t i = 0; i < p->n_ops; i++)
        op_here[p->op_of[i]] = i;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        tensor_here[p->tensor_of[x]] = x;
    rp_recorder_clear(t);
    rp_schedule_steps(p, s, &plan);
    for (size_t i = 0; i < plan.steps.n; i++) {
        const struct rp_step *step = &plan.steps.at[i];
        if (step->kind == RP_RUN)
            rp_recorder_run(t, op_here[step->id]);
        else
            rp_recorder_free(t, tensor_here[step->id]);
    }
    free(here);
    rp_plan_fini(&plan);
}

uint64_t rp_recorder_time(const struct rp_recorder *t) {
    return later(t->compute_ns, later(t->d2h_ns, t->h2d_ns));
}
