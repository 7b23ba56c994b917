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
    bool movable; /* an op makes it, or the plan lists it as a source on the host */
    bool on_device, on_host;           /* on_host: there is a copy, perhaps out of date */
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
    uint64_t workspace = size_of(b, op->workspace_bytes);
    for (uint32_t k = 0; k < op->n_outputs && op->cannot_rewrite; k++)
        if (b->p->at.at[s->at + k] == RP_NO_ADDRESS)
            workspace += size_of(b, b->g->tensors[op->outputs[k]].bytes);
    rp_rc rc = cut(b, &b->arena, s->address, workspace, b->p->arena_bytes);
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
    if (s->kind != RP_RUN && !b->tensors[s->id].movable)
        return reject(b, "tensor %u is a source", s->id);
    if (!b->p->addressed || s->kind == RP_FREE)
        return RP_OK;
    return s->kind == RP_RUN ? cut_run(b, s) : cut_copy(b, s);
}

static rp_rc cut_homes(struct builder *b) {
    rp_rc rc = RP_OK;
    for (size_t k = 0; k < b->p->homes.n && rc == RP_OK; k++) {
        const struct rp_plan_home *h = &b->p->homes.at[k];
        const bool is_source =
            h->tensor < b->g->n_tensors && b->g->tensors[h->tensor].producer == RP_NONE;
        if (!is_source)
            return rp_fail(b->err, RP_NO, "homes[%zu]: no source %u", k, h->tensor);
        if (b->p->addressed && h->host_at == RP_NO_ADDRESS)
            return rp_fail(b->err, RP_NO, "homes[%zu]: no host address", k);
        b->tensors[h->tensor].movable = true;
        rc = b->p->addressed ? cut(b, &b->slab, h->host_at, b->g->tensors[h->tensor].bytes,
                                   b->p->host_bytes)
                             : RP_OK;
    }
    return rc;
}

static rp_rc cut_memories(struct builder *b) {
    rp_rc rc = cut_homes(b);
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
    return (struct rp_cell_range){
        .first = first, .n = cell_at(c, at + size_of(b, bytes)) - first, .fresh = true};
}

/* The cell of a tensor without an address, one of those that follow `before` others. */
static struct rp_cell_range own_cell(const struct rp_graph *g, uint32_t x, size_t before) {
    return (struct rp_cell_range){
        .first = before + x, .n = g->tensors[x].bytes > 0, .fresh = true};
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

/* A run waits for the swap-in of what it reads, and for the swap-out of what it updates. A
 * tensor that was freed is still read where it was, and the replay sees what the op finds
 * there. */
static rp_rc add_read(struct builder *b, uint32_t x, bool update) {
    const struct location *l = &b->tensors[x];
    if (l->device.first == SIZE_MAX)
        return reject(b, "tensor %u was never there to be read", x);
    add_range(b, l->device, false);
    add_wait(b, l->swap_in);
    if (update)
        add_wait(b, l->swap_out);
    return RP_OK;
}

static rp_rc add_reads(struct builder *b, const struct rp_op *op) {
    rp_rc rc = RP_OK;
    for (uint32_t k = 0; k < op->n_inputs && rc == RP_OK; k++)
        rc = add_read(b, op->inputs[k], false);
    for (uint32_t k = 0; k < op->n_updates && rc == RP_OK; k++)
        rc = add_read(b, op->updates[k], true);
    return rc;
}

/* The outputs on the device that op leaves alone are made a second time in its workspace.
 */
static rp_rc add_workspace(struct builder *b, const struct rp_step *s,
                           uint64_t left_bytes) {
    uint64_t bytes = size_of(b, b->g->ops[s->id].workspace_bytes) + left_bytes;
    struct rp_cell_range workspace = {.fresh = true};
    if (b->p->addressed && s->address != RP_NO_ADDRESS)
        workspace = cells_at(b, &b->arena, s->address, bytes);
    else if (b->p->addressed && bytes > 0)
        return reject(b, "the workspace of op %u has no address", s->id);
    add_range(b, workspace, true);
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
    uint64_t left_bytes = 0;
    rp_rc rc = add_reads(b, op);
    for (uint32_t k = 0; k < op->n_outputs && rc == RP_OK; k++) {
        uint32_t x = op->outputs[k];
        uint64_t at = b->p->addressed ? b->p->at.at[s->at + k] : RP_NO_ADDRESS;
        bool there = b->tensors[x].on_device && at == RP_NO_ADDRESS;
        if (there && op->cannot_rewrite) {
            add_range(b, b->tensors[x].device, false);
            b->tg->ranges.at[b->tg->ranges.n - 1].left = true;
            left_bytes += size_of(b, b->g->tensors[x].bytes);
        } else if (there) {
            add_rewritten(b, &b->tensors[x]);
        } else {
            rc = allocate(b, x, at);
        }
    }
    return rc == RP_OK ? add_workspace(b, s, left_bytes) : rc;
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
    if (!l->on_device || (l->on_host && !b->tg->listed[s->id]))
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

/* Before the memories are cut. */
static void init_movable(struct builder *b) {
    const struct rp_graph *g = b->g;
    b->tensors = rp_calloc(g->n_tensors, sizeof *b->tensors);
    b->tg->listed = rp_calloc(g->n_tensors, sizeof *b->tg->listed);
    b->tg->host = rp_calloc(g->n_tensors, sizeof *b->tg->host);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        b->tensors[x].movable = g->tensors[x].producer != RP_NONE;
        b->tensors[x].swap_in = b->tensors[x].swap_out = NO_TASK;
    }
}

/* After it: where everything is when the step begins. */
static void init_tensors(struct builder *b) {
    const struct rp_graph *g = b->g;
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct location *l = &b->tensors[x];
        l->on_device = !l->movable;
        l->device = own_cell(g, x, b->arena.n);
        if (!l->on_device)
            l->device.first = SIZE_MAX; /* no storage yet */
    }
    for (size_t k = 0; k < b->p->homes.n; k++) {
        const struct rp_plan_home *h = &b->p->homes.at[k];
        struct location *l = &b->tensors[h->tensor];
        l->on_host = b->tg->listed[h->tensor] = true;
        l->host = b->p->addressed
                      ? cells_at(b, &b->slab, h->host_at, g->tensors[h->tensor].bytes)
                      : own_cell(g, h->tensor, 0);
        b->tg->host[h->tensor] = l->host;
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
    init_movable(&b);
    rp_rc rc = cut_memories(&b);
    if (rc == RP_OK)
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
    free(tg->listed);
    free(tg->host);
}
