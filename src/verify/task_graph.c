#include "verify/task_graph.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define NO_TASK SIZE_MAX

/* Where a memory is cut into cells: cell k is bytes at[k] .. at[k + 1] - 1. */
struct cuts {
    uint64_t *at;
    size_t n, cap;
};

/* What the program so far has made of one tensor. */
struct whereabouts {
    bool on_device, on_host;
    struct rp_region device, host; /* the latest places, stale if not on_... */
    size_t swap_in, swap_out;      /* the copies that made it so, or NO_TASK */
};

struct builder {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_task_graph *prog;
    struct rp_err *err;
    struct cuts arena, slab;
    struct whereabouts *tensors;
    size_t step;
    size_t compute; /* the latest task of the compute queue, or NO_TASK */
};

enum rp_queue rp_queue_of(enum rp_step_kind kind) {
    return kind == RP_SWAP_OUT ? RP_D2H : kind == RP_SWAP_IN ? RP_H2D : RP_COMPUTE;
}

__attribute__((format(printf, 2, 3))) static rp_rc cannot(struct builder *b,
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
    return rp_rounding_up(bytes, b->g->device.alignment_bytes);
}

static rp_rc cut(struct builder *b, struct cuts *cuts, uint64_t at, uint64_t bytes,
                 uint64_t room) {
    uint64_t size = size_of(b, bytes);
    if (at == RP_NO_ADDRESS)
        return RP_OK;
    if (at > room || size > room - at)
        return cannot(b, "%" PRIu64 " bytes at %" PRIu64 " end beyond %" PRIu64, size, at,
                      room);
    rp_push(cuts, at);
    rp_push(cuts, at + size);
    return RP_OK;
}

static rp_rc cut_run(struct builder *b, const struct rp_step *s) {
    const struct rp_op *op = &b->g->ops[s->id];
    if ((s->has_at ? s->n_at : 0) != op->n_outputs)
        return cannot(b, "not one address per output");
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

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y); /* mutation: same */
}

static void sort_cuts(struct cuts *c) {
    size_t n = 0;
    if (c->n == 0)
        return;
    qsort(c->at, c->n, sizeof *c->at, compare);
    for (size_t k = 0; k < c->n; k++)
        if (n == 0 || c->at[n - 1] != c->at[k])
            c->at[n++] = c->at[k];
    c->n = n;
}

/* What every later pass may rely on: steps name what exists, ranges lie in their memory. */
static rp_rc survey_step(struct builder *b, const struct rp_step *s) {
    if (s->kind == RP_RUN && s->id >= b->g->n_ops)
        return cannot(b, "no op %u", s->id);
    if (s->kind != RP_RUN && s->id >= b->g->n_tensors)
        return cannot(b, "no tensor %u", s->id);
    if (s->kind != RP_RUN && b->g->tensors[s->id].producer == RP_NONE)
        return cannot(b, "tensor %u is a source", s->id);
    if (!b->p->addressed || s->kind == RP_FREE)
        return RP_OK;
    return s->kind == RP_RUN ? cut_run(b, s) : cut_copy(b, s);
}

static rp_rc survey(struct builder *b) {
    rp_rc rc = RP_OK;
    for (b->step = 0; b->step < b->p->steps.n && rc == RP_OK; b->step++)
        rc = survey_step(b, &b->p->steps.at[b->step]);
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

static struct rp_region region_at(const struct builder *b, const struct cuts *c,
                                  uint64_t at, uint64_t bytes) {
    size_t first = cell_at(c, at);
    return (struct rp_region){first, cell_at(c, at + size_of(b, bytes)) - first, true};
}

/* Storage that the plan gives no address: the tensor's own cell. */
static struct rp_region own_cell(const struct rp_graph *g, uint32_t x, size_t before) {
    return (struct rp_region){before + x, g->tensors[x].bytes > 0, true};
}

/* ---- tasks ---- */

static void add_region(struct builder *b, struct rp_region region, bool fresh) {
    region.fresh = fresh;
    rp_push(&b->prog->regions, region);
}

static void add_wait(struct builder *b, size_t task) {
    if (task != NO_TASK)
        rp_push(&b->prog->waits, task);
}

/* Device storage for tensor x, from this step on. */
static rp_rc take(struct builder *b, uint32_t x, uint64_t at) {
    struct whereabouts *t = &b->tensors[x];
    if (b->p->addressed && at == RP_NO_ADDRESS)
        return cannot(b, "tensor %u has no address", x);
    t->device = b->p->addressed ? region_at(b, &b->arena, at, b->g->tensors[x].bytes)
                                : own_cell(b->g, x, b->arena.n);
    t->on_device = true;
    t->swap_in = NO_TASK;
    add_region(b, t->device, true);
    return RP_OK;
}

/* Waits for the copies in that it reads. An input that was freed is still read where it
 * was: what the op finds there is the replay's business. */
static rp_rc add_inputs(struct builder *b, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const struct whereabouts *t = &b->tensors[op->inputs[k]];
        if (t->device.first == SIZE_MAX)
            return cannot(b, "tensor %u was never there to be read", op->inputs[k]);
        add_region(b, t->device, false);
        add_wait(b, t->swap_in);
    }
    return RP_OK;
}

/* While an op writes anew what is there, nothing else may read or write it. The time line
 * knows no such wait: it matters only where a copy of the tensor is still under way. */
static void add_rewritten(struct builder *b, const struct whereabouts *t) {
    add_region(b, t->device, false);
    add_wait(b, t->swap_out);
    add_wait(b, t->swap_in);
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
            rc = take(b, x, at);
    }
    struct rp_region workspace = {0, 0, true};
    if (b->p->addressed && s->address != RP_NO_ADDRESS)
        workspace = region_at(b, &b->arena, s->address, op->workspace_bytes);
    else if (b->p->addressed && op->workspace_bytes > 0)
        return cannot(b, "the workspace of op %u has no address", s->id);
    add_region(b, workspace, true);
    return rc;
}

/* Its storage may be used again once no copy touches it. */
static rp_rc add_free(struct builder *b, const struct rp_step *s) {
    struct whereabouts *t = &b->tensors[s->id];
    if (!t->on_device)
        return cannot(b, "tensor %u is not there to be freed", s->id);
    add_region(b, t->device, false);
    add_wait(b, t->swap_out);
    add_wait(b, t->swap_in);
    t->on_device = false;
    return RP_OK;
}

static rp_rc add_swap_out(struct builder *b, const struct rp_step *s) {
    struct whereabouts *t = &b->tensors[s->id];
    if (!t->on_device || t->on_host)
        return cannot(b, "tensor %u cannot be swapped out", s->id);
    if (b->p->addressed && s->address == RP_NO_ADDRESS)
        return cannot(b, "tensor %u has no host address", s->id);
    t->host = b->p->addressed
                  ? region_at(b, &b->slab, s->address, b->g->tensors[s->id].bytes)
                  : own_cell(b->g, s->id, 0);
    t->on_host = true;
    t->swap_out = b->step;
    add_region(b, t->device, false);
    add_region(b, t->host, true);
    add_wait(b, b->compute);
    return RP_OK;
}

static rp_rc add_swap_in(struct builder *b, const struct rp_step *s) {
    struct whereabouts *t = &b->tensors[s->id];
    if (!t->on_host || t->on_device)
        return cannot(b, "tensor %u cannot be swapped in", s->id);
    rp_rc rc = take(b, s->id, s->address);
    add_region(b, t->host, false);
    add_wait(b, b->compute);
    add_wait(b, t->swap_out);
    t->swap_in = b->step;
    return rc;
}

static rp_rc add_task(struct builder *b, const struct rp_step *s) {
    struct rp_task_graph *prog = b->prog;
    struct rp_task task = {.kind = s->kind, .id = s->id};
    task.regions = prog->regions.n;
    task.waits = prog->waits.n;
    rp_rc rc = s->kind == RP_RUN        ? add_run(b, s)
               : s->kind == RP_FREE     ? add_free(b, s)
               : s->kind == RP_SWAP_OUT ? add_swap_out(b, s)
                                        : add_swap_in(b, s);
    task.n_waits = prog->waits.n - task.waits;
    rp_push(&prog->tasks, task);
    if (rp_queue_of(s->kind) == RP_COMPUTE)
        b->compute = b->step;
    return rc;
}

static void open_tensors(struct builder *b) {
    const struct rp_graph *g = b->g;
    b->tensors = rp_calloc(g->n_tensors, sizeof *b->tensors);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct whereabouts *t = &b->tensors[x];
        t->on_device = g->tensors[x].producer == RP_NONE;
        t->device = own_cell(g, x, b->arena.n);
        if (!t->on_device)
            t->device.first = SIZE_MAX; /* nowhere yet */
        t->swap_in = t->swap_out = NO_TASK;
    }
}

/* Where everything is when the program has ended. */
static void close_tensors(struct builder *b) {
    struct rp_task_graph *prog = b->prog;
    prog->last = rp_calloc(b->g->n_tensors, sizeof *prog->last);
    prog->there = rp_calloc(b->g->n_tensors, sizeof *prog->there);
    for (uint32_t x = 0; x < b->g->n_tensors; x++) {
        prog->last[x] = b->tensors[x].device;
        prog->there[x] = b->tensors[x].on_device;
    }
    prog->device_cells = b->arena.n + b->g->n_tensors;
    prog->host_cells = b->p->addressed ? b->slab.n : b->g->n_tensors;
}

rp_rc rp_task_graph_build(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_task_graph *prog, struct rp_err *err) {
    struct builder b = {.g = g, .p = p, .prog = prog, .err = err, .compute = NO_TASK};
    *prog = (struct rp_task_graph){0};
    rp_rc rc = survey(&b);
    open_tensors(&b);
    for (b.step = 0; b.step < p->steps.n && rc == RP_OK; b.step++)
        rc = add_task(&b, &p->steps.at[b.step]);
    if (rc == RP_OK)
        close_tensors(&b);
    free(b.arena.at);
    free(b.slab.at);
    free(b.tensors);
    return rc;
}

void rp_task_graph_fini(struct rp_task_graph *prog) {
    free(prog->tasks.at);
    free(prog->waits.at);
    free(prog->regions.at);
    free(prog->last);
    free(prog->there);
    *prog = (struct rp_task_graph){0};
}
