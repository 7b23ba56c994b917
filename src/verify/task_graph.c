#include "verify/task_graph.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

#define NO_TASK SIZE_MAX

/* Where a memory is cut into cells: cell k is bytes at[k] .. at[k + 1] - 1. */
struct cuts {
    uint64_t *at;
    size_t n, cap;
};

/* Where a tensor is after the tasks so far. */
struct location {
    bool on_device, on_host;
    struct rp_cell_range device, host; /* the latest ranges; outdated if not on_... */
    size_t swap_in, swap_out;          /* the latest copies, or NO_TASK */
};

struct builder {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_task_graph *tg;
    struct rp_err *err;
    struct cuts arena, slab;
    struct location *tensors;
    size_t step;
    size_t last_compute; /* the latest task of the compute queue, or NO_TASK */
};

enum rp_task_queue rp_task_queue_of(enum rp_step_kind kind) {
    return kind == RP_SWAP_OUT  ? RP_QUEUE_D2H
           : kind == RP_SWAP_IN ? RP_QUEUE_H2D
                                : RP_QUEUE_COMPUTE;
}

__attribute__((format(printf, 2, 3))) static rp_rc reject(struct builder *b,
                                                          const char *fmt, ...) {
    char text[sizeof b->err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rp_fail(b->err, RP_NO, "steps[%zu]: %s", b->step, text);
}

/* ---- cells ---- */

static uint64_t size_of(const struct builder *b, uint64_t bytes) {
    return rp_round_up(bytes, b->g->device.alignment_bytes);
}

static rp_rc cut(struct builder *b, struct cuts *cuts, uint64_t at, uint64_t bytes,
                 uint64_t capacity) {
    uint64_t size = size_of(b, bytes);
    if (at == RP_NO_ADDRESS)
        return RP_OK;
    if (at > capacity || size > capacity - at)
        return reject(b, "%" PRIu64 " bytes at %" PRIu64 " end beyond %" PRIu64, size, at,
                      capacity);
    rp_push(cuts, at);
    rp_push(cuts, at + size);
    return RP_OK;
}

static rp_rc cut_run(struct builder *b, const struct rp_step *s) {
    const struct rp_op *op = &b->g->ops[s->id];
    if ((s->has_at ? s->n_at : 0) != op->n_outputs)
        return reject(b, "not one address per output");
    assert((size_t)s->at + op->n_outputs <= b->p->at.n);
    rp_rc rc = cut(b, &b->arena, s->address, op->workspace_bytes, b->p->arena_bytes);
    for (uint32_t k = 0; k < op->n_outputs && rc == RP_OK; k++)
        rc = cut(b, &b->arena, b->p->at.at[s->at + k], b->g->tensors[op->outputs[k]].bytes,
                 b->p->arena_bytes);
    return rc;
}

static rp_rc cut_copy(struct builder *b, const struct rp_step *s) {
    bool out = s->kind == RP_SWAP_OUT;
    return cut(b, out ? &b->slab : &b->arena, s->address, b->g->tensors[s->id].bytes,
               out ? b->p->host_bytes : b->p->arena_bytes);
}

static void sort_cuts(struct cuts *c) {
    size_t n = 0;
    if (c->n == 0)
        return;
    qsort(c->at, c->n, sizeof *c->at, rp_compare_u64);
    for (size_t k = 0; k < c->n; k++)
        if (n == 0 || c->at[n - 1] != c->at[k])
            c->at[n++] = c->at[k];
    c->n = n;
}

/* Checks what later passes rely on: the step's op or tensor exists, and its ranges lie in
 * their memory. Cuts that memory at the ends of the ranges. */
static rp_rc cut_step(struct builder *b, const struct rp_step *s) {
    if (s->kind == RP_RUN && s->id >= b->g->n_ops)
        return reject(b, "no op %u", s->id);
    if (s->kind != RP_RUN && s->id >= b->g->n_tensors)
        return reject(b, "no tensor %u", s->id);
    if (s->kind != RP_RUN && b->g->tensors[s->id].producer == RP_NONE)
        return reject(b, "tensor %u is a source", s->id);
    if (!b->p->addressed || s->kind == RP_FREE)
        return RP_OK;
    return s->kind == RP_RUN ? cut_run(b, s) : cut_copy(b, s);
}

static rp_rc cut_memories(struct builder *b) {
    rp_rc rc = RP_OK;
    for (b->step = 0; b->step < b->p->steps.n && rc == RP_OK; b->step++)
        rc = cut_step(b, &b->p->steps.at[b->step]);
    sort_cuts(&b->arena);
    sort_cuts(&b->slab);
    return rc;
}

static size_t cell_at(const struct cuts *c, uint64_t at) {
    size_t from = 0, to = c->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (c->at[mid] < at)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static struct rp_cell_range cells_at(const struct builder *b, const struct cuts *c,
                                     uint64_t at, uint64_t bytes) {
    size_t first = cell_at(c, at);
    return (struct rp_cell_range){first, cell_at(c, at + size_of(b, bytes)) - first, true};
}

/* The cell of a tensor without an address, one of those that follow `before` others. */
static struct rp_cell_range own_cell(const struct rp_graph *g, uint32_t x, size_t before) {
    return (struct rp_cell_range){before + x, g->tensors[x].bytes > 0, true};
}

/* ---- tasks ---- */

static void add_range(struct builder *b, struct rp_cell_range range, bool fresh) {
    range.fresh = fresh;
    rp_push(&b->tg->ranges, range);
}

static void add_wait(struct builder *b, size_t task) {
    if (task != NO_TASK)
        rp_push(&b->tg->waits, task);
}

/* Allocates device storage for tensor x in this step. */
static rp_rc allocate(struct builder *b, uint32_t x, uint64_t at) {
    struct location *l = &b->tensors[x];
    if (b->p->addressed && at == RP_NO_ADDRESS)
        return reject(b, "tensor %u has no address", x);
    l->device = b->p->addressed ? cells_at(b, &b->arena, at, b->g->tensors[x].bytes)
                                : own_cell(b->g, x, b->arena.n);
    l->on_device = true;
    l->swap_in = NO_TASK;
    add_range(b, l->device, true);
    return RP_OK;
}

/* A run waits for the swap-ins of its inputs. An input that was freed is still read where
 * it was, and the replay sees what the op finds there. */
static rp_rc add_inputs(struct builder *b, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const struct location *l = &b->tensors[op->inputs[k]];
        if (l->device.first == SIZE_MAX)
            return reject(b, "tensor %u was never there to be read", op->inputs[k]);
        add_range(b, l->device, false);
        add_wait(b, l->swap_in);
    }
    return RP_OK;
}

/* While an op rewrites an output that is on the device, nothing else may use it. The time
 * line has no such wait: it matters only while a copy of the tensor is under way. */
static void add_rewritten(struct builder *b, const struct location *l) {
    add_range(b, l->device, false);
    add_wait(b, l->swap_out);
    add_wait(b, l->swap_in);
}

static rp_rc add_run(struct builder *b, const struct rp_step *s) {
    const struct rp_op *op = &b->g->ops[s->id];
    rp_rc rc = add_inputs(b, op);
    for (uint32_t k = 0; k < op->n_outputs && rc == RP_OK; k++) {
        uint32_t x = op->outputs[k];
        uint64_t at = b->p->addressed ? b->p->at.at[s->at + k] : RP_NO_ADDRESS;
        if (b->tensors[x].on_device && at == RP_NO_ADDRESS)
            add_rewritten(b, &b->tensors[x]);
        else
            rc = allocate(b, x, at);
    }
    struct rp_cell_range workspace = {0, 0, true};
    if (b->p->addressed && s->address != RP_NO_ADDRESS)
        workspace = cells_at(b, &b->arena, s->address, op->workspace_bytes);
    else if (b->p->addressed && op->workspace_bytes > 0)
        return reject(b, "the workspace of op %u has no address", s->id);
    add_range(b, workspace, true);
    return rc;
}

/* Waits for the copies, because the storage may be used again after the free. */
static rp_rc add_free(struct builder *b, const struct rp_step *s) {
    struct location *l = &b->tensors[s->id];
    if (!l->on_device)
        return reject(b, "tensor %u is not there to be freed", s->id);
    add_range(b, l->device, false);
    add_wait(b, l->swap_out);
    add_wait(b, l->swap_in);
    l->on_device = false;
    return RP_OK;
}

static rp_rc add_swap_out(struct builder *b, const struct rp_step *s) {
    struct location *l = &b->tensors[s->id];
    if (!l->on_device || l->on_host)
        return reject(b, "tensor %u cannot be swapped out", s->id);
    if (b->p->addressed && s->address == RP_NO_ADDRESS)
        return reject(b, "tensor %u has no host address", s->id);
    l->host = b->p->addressed
                  ? cells_at(b, &b->slab, s->address, b->g->tensors[s->id].bytes)
                  : own_cell(b->g, s->id, 0);
    l->on_host = true;
    l->swap_out = b->step;
    add_range(b, l->device, false);
    add_range(b, l->host, true);
    add_wait(b, b->last_compute);
    return RP_OK;
}

static rp_rc add_swap_in(struct builder *b, const struct rp_step *s) {
    struct location *l = &b->tensors[s->id];
    if (!l->on_host || l->on_device)
        return reject(b, "tensor %u cannot be swapped in", s->id);
    rp_rc rc = allocate(b, s->id, s->address);
    add_range(b, l->host, false);
    add_wait(b, b->last_compute);
    add_wait(b, l->swap_out);
    l->swap_in = b->step;
    return rc;
}

static rp_rc add_task(struct builder *b, const struct rp_step *s) {
    struct rp_task_graph *tg = b->tg;
    struct rp_task task = {.kind = s->kind, .id = s->id};
    task.first_range = tg->ranges.n;
    task.first_wait = tg->waits.n;
    rp_rc rc = s->kind == RP_RUN        ? add_run(b, s)
               : s->kind == RP_FREE     ? add_free(b, s)
               : s->kind == RP_SWAP_OUT ? add_swap_out(b, s)
                                        : add_swap_in(b, s);
    task.n_waits = tg->waits.n - task.first_wait;
    rp_push(&tg->tasks, task);
    if (rp_task_queue_of(s->kind) == RP_QUEUE_COMPUTE)
        b->last_compute = b->step;
    return rc;
}

static void init_tensors(struct builder *b) {
    const struct rp_graph *g = b->g;
    b->tensors = rp_calloc(g->n_tensors, sizeof *b->tensors);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct location *l = &b->tensors[x];
        l->on_device = g->tensors[x].producer == RP_NONE;
        l->device = own_cell(g, x, b->arena.n);
        if (!l->on_device)
            l->device.first = SIZE_MAX; /* no storage yet */
        l->swap_in = l->swap_out = NO_TASK;
    }
}

/* Records where every tensor is at the end. */
static void finish(struct builder *b) {
    struct rp_task_graph *tg = b->tg;
    tg->final = rp_calloc(b->g->n_tensors, sizeof *tg->final);
    tg->on_device = rp_calloc(b->g->n_tensors, sizeof *tg->on_device);
    for (uint32_t x = 0; x < b->g->n_tensors; x++) {
        tg->final[x] = b->tensors[x].device;
        tg->on_device[x] = b->tensors[x].on_device;
    }
    tg->n_device_cells = b->arena.n + b->g->n_tensors;
    tg->n_host_cells = b->p->addressed ? b->slab.n : b->g->n_tensors;
}

rp_rc rp_task_graph_build(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_task_graph *tg, struct rp_err *err) {
    struct builder b = {.g = g, .p = p, .tg = tg, .err = err, .last_compute = NO_TASK};
    *tg = (struct rp_task_graph){0};
    rp_rc rc = cut_memories(&b);
    init_tensors(&b);
    for (b.step = 0; b.step < p->steps.n && rc == RP_OK; b.step++)
        rc = add_task(&b, &p->steps.at[b.step]);
    if (rc == RP_OK)
        finish(&b);
    free(b.arena.at);
    free(b.slab.at);
    free(b.tensors);
    return rc;
}

void rp_task_graph_fini(struct rp_task_graph *tg) {
    free(tg->tasks.at);
    free(tg->waits.at);
    free(tg->ranges.at);
    free(tg->final);
    free(tg->on_device);
    *tg = (struct rp_task_graph){0};
}
