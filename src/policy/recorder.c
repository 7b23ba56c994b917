#include "policy/recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/keep_all_schedule.h"

enum { NS_PER_STEP = 50 }; /* about */

void rp_recorder_init(struct rp_recorder *r, const struct rp_instance *p) {
    *r = (struct rp_recorder){.p = p, .alignment = 1};
    rp_timeline_init(&r->time, p->graph);
    r->on_device = rp_calloc(p->n_tensors, sizeof *r->on_device);
    r->on_host = rp_calloc(p->n_tensors, sizeof *r->on_host);
    r->ran = rp_calloc(p->n_ops, sizeof *r->ran);
    r->source_on_device = rp_calloc(p->graph->n_tensors, sizeof *r->source_on_device);
    r->source_is_current = rp_calloc(p->graph->n_tensors, sizeof *r->source_is_current);
}

void rp_recorder_fini(struct rp_recorder *r) {
    rp_plan_fini(&r->plan);
    rp_timeline_fini(&r->time);
    free(r->on_device);
    free(r->on_host);
    free(r->ran);
    free(r->source_on_device);
    free(r->source_is_current);
    *r = (struct rp_recorder){0};
}

void rp_recorder_clear(struct rp_recorder *r) {
    const struct rp_instance *p = r->p;
    struct rp_stop *stop = r->stop;
    uint64_t alignment = r->alignment;
    rp_recorder_fini(r);
    rp_recorder_init(r, p);
    r->stop = stop;
    r->alignment = alignment;
}

/* `id` is the op or tensor in the graph. */
static void append(struct rp_recorder *r, enum rp_step_kind kind, uint32_t id) {
    struct rp_step step = {.kind = kind, .id = id, .address = RP_NO_ADDRESS};
    rp_push(&r->plan.steps, step);
    rp_timeline_step(&r->time, &step);
    assert(r->time.sound);
    r->overflow = r->overflow || r->time.overflow;
}

static void add(struct rp_recorder *r, uint64_t *sum, uint64_t x) {
    if (!rp_add(sum, x))
        r->overflow = true;
}

static uint64_t copied_bytes(const struct rp_instance *p, uint32_t x) {
    return p->graph->tensors[p->tensor_of[x]].bytes;
}

/* What it updates makes the host copies out of date. */
static void update_sources(struct rp_recorder *r, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_updates; k++)
        r->source_is_current[op->updates[k]] = false;
}

void rp_recorder_run(struct rp_recorder *r, uint32_t op) {
    const struct rp_instance *p = r->p;
    assert(r->n_first <= p->last_stage[op] || !r->ran[op]);
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        assert(r->on_device[p->inputs[k]]);
    r->peak_bytes = rp_max_u64(r->peak_bytes, r->live_bytes + rp_recorder_run_bytes(r, op));
    append(r, RP_RUN, p->op_of[op]);
    update_sources(r, &p->graph->ops[p->op_of[op]]);
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++) {
        r->live_bytes += r->on_device[x] ? 0 : p->bytes[x];
        r->on_device[x] = true;
    }
    if (r->ran[op])
        add(r, &r->recompute_ns, p->time_ns[op]);
    r->n_first += !r->ran[op];
    r->ran[op] = true;
}

void rp_recorder_free(struct rp_recorder *r, uint32_t x) {
    assert(r->on_device[x] && !r->p->pinned[x]);
    append(r, RP_FREE, r->p->tensor_of[x]);
    r->on_device[x] = false;
    r->live_bytes -= r->p->bytes[x];
}

void rp_recorder_swap_out(struct rp_recorder *r, uint32_t x) {
    assert(r->on_device[x] && !r->on_host[x]);
    append(r, RP_SWAP_OUT, r->p->tensor_of[x]);
    r->on_host[x] = true;
    r->out_bytes += copied_bytes(r->p, x); /* at most once a tensor, so it fits */
}

void rp_recorder_swap_in(struct rp_recorder *r, uint32_t x) {
    assert(r->on_host[x] && !r->on_device[x]);
    append(r, RP_SWAP_IN, r->p->tensor_of[x]);
    r->live_bytes += r->p->bytes[x];
    r->peak_bytes = rp_max_u64(r->peak_bytes, r->live_bytes);
    r->on_device[x] = true;
    add(r, &r->in_bytes, copied_bytes(r->p, x));
}

/* ---- sources ---- */

uint64_t rp_recorder_source_bytes(const struct rp_recorder *r, uint32_t x) {
    return rp_round_up(r->p->graph->tensors[x].bytes, r->alignment);
}

void rp_recorder_source_home(struct rp_recorder *r, uint32_t x) {
    struct rp_plan_home home = {x, RP_NO_ADDRESS};
    rp_push(&r->plan.homes, home);
    r->source_is_current[x] = true;
}

void rp_recorder_source_in(struct rp_recorder *r, uint32_t x) {
    assert(!r->source_on_device[x] && r->source_is_current[x]);
    append(r, RP_SWAP_IN, x);
    r->live_bytes += rp_recorder_source_bytes(r, x);
    r->peak_bytes = rp_max_u64(r->peak_bytes, r->live_bytes);
    r->source_on_device[x] = true;
    add(r, &r->in_bytes, r->p->graph->tensors[x].bytes);
}

void rp_recorder_source_out(struct rp_recorder *r, uint32_t x) {
    assert(r->source_on_device[x] && !r->source_is_current[x]);
    append(r, RP_SWAP_OUT, x);
    r->source_is_current[x] = true;
    add(r, &r->out_bytes, r->p->graph->tensors[x].bytes);
}

void rp_recorder_source_free(struct rp_recorder *r, uint32_t x) {
    assert(r->source_on_device[x] && r->source_is_current[x]);
    append(r, RP_FREE, x);
    r->source_on_device[x] = false;
    r->live_bytes -= rp_recorder_source_bytes(r, x);
}

/* Clears the recorder, then appends runs and frees, which are numbered as in the graph. */
static void append_steps(struct rp_recorder *r, const struct rp_plan *plan) {
    const struct rp_instance *p = r->p;
    uint32_t *op_here = rp_calloc(p->graph->n_ops, sizeof *op_here);
    uint32_t *tensor_here = rp_calloc(p->graph->n_tensors, sizeof *tensor_here);
    for (uint32_t i = 0; i < p->n_ops; i++)
        op_here[p->op_of[i]] = i;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        tensor_here[p->tensor_of[x]] = x;
    rp_recorder_clear(r);
    for (size_t i = 0; i < plan->steps.n && !rp_stop_after(r->stop, NS_PER_STEP); i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (step->kind == RP_RUN)
            rp_recorder_run(r, op_here[step->id]);
        else
            rp_recorder_free(r, tensor_here[step->id]);
    }
    free(op_here);
    free(tensor_here);
}

void rp_recorder_schedule(struct rp_recorder *r, const struct rp_schedule *s) {
    struct rp_plan plan = {0};
    struct rp_cost c = rp_schedule_cost_until(r->p, s, r->stop);
    if (c.sound || c.overflows)
        rp_schedule_steps(r->p, s, r->stop, &plan);
    else
        rp_keep_all_steps(r->p, &plan);
    append_steps(r, &plan);
    rp_plan_fini(&plan);
}

void rp_recorder_keep_all(struct rp_recorder *r) {
    struct rp_plan plan = {0};
    rp_keep_all_steps(r->p, &plan);
    append_steps(r, &plan);
    rp_plan_fini(&plan);
}

uint64_t rp_recorder_run_bytes(const struct rp_recorder *r, uint32_t op) {
    const struct rp_instance *p = r->p;
    uint64_t bytes = p->workspace_bytes[op];
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        bytes += r->on_device[x] ? p->shadow_bytes[x] : p->bytes[x];
    return bytes;
}

uint64_t rp_recorder_ready_ns(const struct rp_recorder *r, uint32_t x) {
    return r->time.ready_ns[r->p->tensor_of[x]];
}

uint64_t rp_recorder_host_ready_ns(const struct rp_recorder *r, uint32_t x) {
    return r->time.host_ready_ns[r->p->tensor_of[x]];
}

uint64_t rp_recorder_end_ns(const struct rp_recorder *r) {
    return rp_timeline_end(&r->time);
}

uint64_t rp_swap_out_ns(const struct rp_instance *p, uint32_t x) {
    return rp_device_d2h_ns(&p->graph->device, copied_bytes(p, x));
}

uint64_t rp_swap_in_ns(const struct rp_instance *p, uint32_t x) {
    return rp_device_h2d_ns(&p->graph->device, copied_bytes(p, x));
}

bool rp_may_swap(const struct rp_instance *p) {
    return rp_device_can_swap(&p->graph->device);
}
