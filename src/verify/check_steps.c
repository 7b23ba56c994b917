#include "verify/check_steps.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "verify/check_timeline.h"
#include "verify/range_set.h"

struct tensor_state {
    bool on_device, on_host;
    uint64_t at;            /* on the device, in a plan with addresses */
    uint64_t ready_ns;      /* when its value on the device is complete */
    uint64_t host_ready_ns; /* when its host copy is complete */
};

struct walk {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_verdict *v;
    struct rp_err *err;
    size_t step;
    struct tensor_state *tensors;
    uint32_t *runs;                  /* per op: how often it ran */
    struct rp_range_set arena, slab; /* what is in use, in a plan with addresses */
    struct rp_check_timeline time;
    uint64_t live_bytes; /* of all tensors on the device, without sources */
};

/* How messages name an op or a tensor, and the arguments for that. */
#define OP "op %u \"%.80s\""
#define TENSOR "tensor %u \"%.80s\""
#define AN_OP(w, i) (i), (w)->g->ops[i].name
#define A_TENSOR(w, x) (x), (w)->g->tensors[x].name

__attribute__((format(printf, 2, 3))) static rp_rc reject(struct walk *w, const char *fmt,
                                                          ...) {
    char text[sizeof w->err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rp_fail(w->err, RP_NO, "steps[%zu]: %s", w->step, text);
}

static bool is_source(const struct walk *w, uint32_t x) {
    return w->g->tensors[x].producer == RP_NONE;
}

/* The storage that a tensor or workspace of so many bytes takes. It cannot wrap, since the
 * sum of all of these fits in 63 bits (rp_graph_check). */
static uint64_t size_of(const struct walk *w, uint64_t bytes) {
    return w->p->addressed ? rp_round_up(bytes, w->g->device.alignment_bytes) : bytes;
}

/* ---- memory ---- */

/* May `size` bytes of the arena or the host slab be allocated at `at`? `what` is for
 * messages. */
static rp_rc check_range(struct walk *w, const char *what, uint64_t at, uint64_t size,
                         const struct rp_range_set *in_use, const char *room_name,
                         uint64_t room) {
    uint64_t alignment = w->g->device.alignment_bytes;
    if (at == RP_NO_ADDRESS)
        return reject(w, "%s has no address", what);
    if (at % alignment != 0)
        return reject(w, "%s: address %" PRIu64 " is no multiple of %" PRIu64, what, at,
                      alignment);
    if (at > room || size > room - at)
        return reject(w, "%s: %" PRIu64 " bytes at %" PRIu64 " end beyond %s %" PRIu64,
                      what, size, at, room_name, room);
    /* An empty range of the arena overlaps nothing. A range of the host slab, even an empty
     * one, may touch another but not lie inside it. */
    const struct rp_byte_range *other = NULL;
    if (size > 0 || in_use == &w->slab)
        other = rp_range_set_conflict(in_use, at, at + size);
    if (other != NULL)
        return reject(w,
                      "%s: bytes %" PRIu64 "..%" PRIu64 " overlap " TENSOR " at %" PRIu64
                      "..%" PRIu64,
                      what, at, at + size, A_TENSOR(w, other->tensor), other->lo,
                      other->hi);
    return RP_OK;
}

/* Allocates device storage for tensor x in this step. */
static rp_rc allocate_device(struct walk *w, uint32_t x, uint64_t at) {
    uint64_t size = size_of(w, w->g->tensors[x].bytes);
    if (w->p->addressed) {
        char what[128];
        snprintf(what, sizeof what, TENSOR, A_TENSOR(w, x));
        rp_rc rc =
            check_range(w, what, at, size, &w->arena, "arena_bytes", w->p->arena_bytes);
        if (rc != RP_OK)
            return rc;
        if (size > 0)
            rp_range_set_add(&w->arena, (struct rp_byte_range){at, at + size, x});
        w->v->arena_used_bytes = rp_max_u64(w->v->arena_used_bytes, at + size);
    }
    w->tensors[x].on_device = true;
    w->tensors[x].at = at;
    w->live_bytes += size;
    return RP_OK;
}

static rp_rc allocate_workspace(struct walk *w, uint32_t i, uint64_t at) {
    uint64_t size = size_of(w, w->g->ops[i].workspace_bytes);
    char what[128];
    if (!w->p->addressed)
        return RP_OK;
    if (size == 0 && at != RP_NO_ADDRESS)
        return reject(w, OP " has no workspace to put at workspace_at", AN_OP(w, i));
    if (size == 0)
        return RP_OK;
    snprintf(what, sizeof what, "the workspace of " OP, AN_OP(w, i));
    rp_rc rc = check_range(w, what, at, size, &w->arena, "arena_bytes", w->p->arena_bytes);
    if (rc == RP_OK)
        w->v->arena_used_bytes = rp_max_u64(w->v->arena_used_bytes, at + size);
    return rc;
}

static rp_rc allocate_host(struct walk *w, uint32_t x, uint64_t at) {
    uint64_t size = size_of(w, w->g->tensors[x].bytes);
    char what[128];
    if (!w->p->addressed) {
        w->v->host_used_bytes += size;
        return RP_OK;
    }
    snprintf(what, sizeof what, "the host copy of " TENSOR, A_TENSOR(w, x));
    rp_rc rc = check_range(w, what, at, size, &w->slab, "host_bytes", w->p->host_bytes);
    if (rc != RP_OK)
        return rc;
    rp_range_set_add(&w->slab, (struct rp_byte_range){at, at + size, x});
    w->v->host_used_bytes = rp_max_u64(w->v->host_used_bytes, at + size);
    return RP_OK;
}

/* Holds what is live now and `workspace` against the peak so far and the budget. */
static rp_rc check_budget(struct walk *w, uint64_t workspace) {
    uint64_t bytes = w->g->fixed_bytes + w->live_bytes + workspace;
    w->v->peak_bytes = rp_max_u64(w->v->peak_bytes, bytes);
    if (bytes > w->p->budget_bytes)
        return reject(w, "%" PRIu64 " bytes live, over budget_bytes %" PRIu64, bytes,
                      w->p->budget_bytes);
    return RP_OK;
}

/* ---- the four kinds of step ---- */

/* The run starts when all its inputs are ready. The wait is a stall. */
static rp_rc read_inputs(struct walk *w, uint32_t i) {
    const struct rp_op *op = &w->g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t x = op->inputs[k];
        if (is_source(w, x))
            continue;
        if (!w->tensors[x].on_device)
            return reject(w, OP " reads " TENSOR ", which is not on the device",
                          AN_OP(w, i), A_TENSOR(w, x));
        rp_check_timeline_wait(&w->time, w->tensors[x].ready_ns);
    }
    return RP_OK;
}

/* Op i, which starts now, writes its output x. */
static rp_rc make_output(struct walk *w, uint32_t i, uint32_t x, uint64_t at) {
    const struct tensor_state *t = &w->tensors[x];
    if (!t->on_device)
        return allocate_device(w, x, at);
    if (at != RP_NO_ADDRESS)
        return reject(w, TENSOR " is on the device already: its address must be null",
                      A_TENSOR(w, x));
    if (t->ready_ns > w->time.compute_ns)
        return reject(w,
                      OP " makes " TENSOR " again at %" PRIu64
                         " ns, while its swap-in is under way until %" PRIu64 " ns",
                      AN_OP(w, i), A_TENSOR(w, x), w->time.compute_ns, t->ready_ns);
    return RP_OK;
}

static rp_rc make_outputs(struct walk *w, const struct rp_step *s) {
    const struct rp_op *op = &w->g->ops[s->id];
    uint32_t n_at = s->has_at ? s->n_at : 0;
    if (w->p->addressed && n_at != op->n_outputs)
        return reject(w, OP " has %u outputs, 'at' has %u addresses", AN_OP(w, s->id),
                      op->n_outputs, n_at);
    assert((size_t)s->at + n_at <= w->p->at.n);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint64_t at = w->p->addressed ? w->p->at.at[s->at + k] : RP_NO_ADDRESS;
        rp_rc rc = make_output(w, s->id, op->outputs[k], at);
        if (rc != RP_OK)
            return rc;
    }
    return RP_OK;
}

static rp_rc check_run(struct walk *w, const struct rp_step *s) {
    uint32_t i = s->id;
    if (i >= w->g->n_ops)
        return reject(w, "no op %u", i);
    const struct rp_op *op = &w->g->ops[i];
    if (w->runs[i] > 0 && !op->recompute)
        return reject(w, OP " runs again, though its recompute is false", AN_OP(w, i));
    rp_rc rc = read_inputs(w, i);
    if (rc == RP_OK)
        rc = make_outputs(w, s);
    if (rc == RP_OK)
        rc = allocate_workspace(w, i, s->address);
    if (rc == RP_OK)
        rc = check_budget(w, size_of(w, op->workspace_bytes));
    if (rc != RP_OK)
        return rc;
    if (!rp_check_timeline_run(&w->time, op->time_ns))
        return reject(w, OP " ends after 2^63-1 ns", AN_OP(w, i));
    for (uint32_t k = 0; k < op->n_outputs; k++)
        w->tensors[op->outputs[k]].ready_ns = w->time.compute_ns;
    if (w->runs[i] > 0) {
        w->v->recompute_ns += op->time_ns; /* cannot wrap: at most the compute clock */
        w->v->n_reruns++;
    }
    w->v->n_runs++;
    w->runs[i]++;
    return RP_OK;
}

static rp_rc check_free(struct walk *w, const struct rp_step *s) {
    struct tensor_state *t = &w->tensors[s->id];
    if (!t->on_device)
        return reject(w, TENSOR " is freed, but not on the device", A_TENSOR(w, s->id));
    if (t->on_host)
        rp_check_timeline_wait(&w->time, t->host_ready_ns);
    if (t->ready_ns > w->time.compute_ns)
        return reject(w,
                      TENSOR " is freed at %" PRIu64
                             " ns, while its swap-in is under way until %" PRIu64 " ns",
                      A_TENSOR(w, s->id), w->time.compute_ns, t->ready_ns);
    uint64_t size = size_of(w, w->g->tensors[s->id].bytes);
    if (w->p->addressed && size > 0)
        rp_range_set_remove(&w->arena, t->at);
    t->on_device = false;
    w->live_bytes -= size;
    return RP_OK;
}

static rp_rc check_swap_out(struct walk *w, const struct rp_step *s) {
    struct tensor_state *t = &w->tensors[s->id];
    uint64_t bytes = w->g->tensors[s->id].bytes, ns;
    const struct rp_device *d = &w->g->device;
    if (!t->on_device)
        return reject(w, TENSOR " is swapped out, but not on the device",
                      A_TENSOR(w, s->id));
    if (t->on_host)
        return reject(w, TENSOR " is swapped out a second time", A_TENSOR(w, s->id));
    rp_rc rc = allocate_host(w, s->id, s->address);
    if (rc != RP_OK)
        return rc;
    if (!rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s, &ns) ||
        !rp_check_timeline_copy_out(&w->time, t->ready_ns, ns, &t->host_ready_ns))
        return reject(w, "the swap-out of " TENSOR " ends after 2^63-1 ns",
                      A_TENSOR(w, s->id));
    t->on_host = true;
    w->v->swapped_out_bytes += bytes; /* cannot wrap: each tensor is swapped out once */
    w->v->n_swap_outs++;
    return RP_OK;
}

static rp_rc check_swap_in(struct walk *w, const struct rp_step *s) {
    struct tensor_state *t = &w->tensors[s->id];
    uint64_t bytes = w->g->tensors[s->id].bytes, ns;
    const struct rp_device *d = &w->g->device;
    if (!t->on_host)
        return reject(w, TENSOR " is swapped in, but has no host copy", A_TENSOR(w, s->id));
    if (t->on_device)
        return reject(w, TENSOR " is swapped in, but on the device already",
                      A_TENSOR(w, s->id));
    rp_rc rc = allocate_device(w, s->id, s->address);
    if (rc == RP_OK)
        rc = check_budget(w, 0);
    if (rc != RP_OK)
        return rc;
    if (!rp_check_timeline_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s, &ns) ||
        !rp_check_timeline_copy_in(&w->time, t->host_ready_ns, ns, &t->ready_ns))
        return reject(w, "the swap-in of " TENSOR " ends after 2^63-1 ns",
                      A_TENSOR(w, s->id));
    if (!rp_add(&w->v->swapped_in_bytes, bytes))
        return reject(w, "the sum of bytes swapped in passes 2^63-1");
    w->v->n_swap_ins++;
    return RP_OK;
}

static rp_rc check_step(struct walk *w, const struct rp_step *s) {
    static const char *const verb[] = {"run", "freed", "swapped", "swapped"};
    if (!w->p->addressed && (s->has_at || s->address != RP_NO_ADDRESS))
        return reject(w, "an address, in a plan without addresses");
    if (s->kind == RP_RUN)
        return check_run(w, s);
    if (s->id >= w->g->n_tensors)
        return reject(w, "no tensor %u", s->id);
    if (is_source(w, s->id))
        return reject(w, TENSOR " is a source: it cannot be %s", A_TENSOR(w, s->id),
                      verb[s->kind]);
    if (s->kind == RP_FREE)
        return check_free(w, s);
    if (w->g->device.d2h_bytes_per_s == 0 || w->g->device.h2d_bytes_per_s == 0)
        return reject(w, "a swap, but the graph's device does not state both bandwidths");
    return s->kind == RP_SWAP_OUT ? check_swap_out(w, s) : check_swap_in(w, s);
}

/* ---- the whole ---- */

static rp_rc check_header(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_err *err) {
    if (strcmp(p->graph_sha256, g->sha256) != 0)
        return rp_fail(err, RP_NO, "graph: the plan is for sha256 %.64s, the graph has %s",
                       p->graph_sha256, g->sha256);
    if (strcmp(p->graph_name, g->name) != 0)
        return rp_fail(err, RP_NO,
                       "graph: the plan is for \"%.80s\", the graph is \"%.80s\"",
                       p->graph_name, g->name);
    if (g->fixed_bytes > p->budget_bytes)
        return rp_fail(err, RP_NO,
                       "budget_bytes: %" PRIu64 " is less than the %" PRIu64
                       " bytes of the sources",
                       p->budget_bytes, g->fixed_bytes);
    if (p->addressed && p->arena_bytes > p->budget_bytes - g->fixed_bytes)
        return rp_fail(err, RP_NO,
                       "arena_bytes: %" PRIu64 " and the %" PRIu64
                       " bytes of the sources exceed budget_bytes %" PRIu64,
                       p->arena_bytes, g->fixed_bytes, p->budget_bytes);
    return RP_OK;
}

static rp_rc check_end(const struct walk *w) {
    const struct rp_graph *g = w->g;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (w->runs[i] == 0)
            return rp_fail(w->err, RP_NO, "steps: " OP " never runs", AN_OP(w, i));
    for (uint32_t k = 0; k < g->n_keep; k++)
        if (!is_source(w, g->keep[k]) && !w->tensors[g->keep[k]].on_device)
            return rp_fail(w->err, RP_NO,
                           "steps: " TENSOR " is to be kept, but not there at the end",
                           A_TENSOR(w, g->keep[k]));
    return RP_OK;
}

static rp_rc check_claims(const struct walk *w) {
    const struct rp_claims *c = &w->p->claims;
    const struct rp_verdict *v = w->v;
    const struct {
        const char *name;
        uint64_t claimed, found;
    } claims[] = {
        {"time_ns", c->time_ns, v->time_ns},
        {"baseline_time_ns", c->baseline_time_ns, v->baseline_time_ns},
        {"recompute_ns", c->recompute_ns, v->recompute_ns},
        {"stall_ns", c->stall_ns, v->stall_ns},
        {"peak_bytes", c->peak_bytes, v->peak_bytes},
    };
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++)
        if (claims[k].claimed != claims[k].found)
            return rp_fail(w->err, RP_NO,
                           "claims: %s is %" PRIu64 ", but the steps give %" PRIu64,
                           claims[k].name, claims[k].claimed, claims[k].found);
    if (c->lower_bound_ns > v->time_ns)
        return rp_fail(w->err, RP_NO,
                       "claims: lower_bound_ns %" PRIu64 " is above the time %" PRIu64,
                       c->lower_bound_ns, v->time_ns);
    if (!w->p->addressed && w->p->arena_bytes != v->arena_used_bytes)
        return rp_fail(w->err, RP_NO,
                       "arena_bytes: %" PRIu64 " is not %" PRIu64
                       ", the most that is live at once",
                       w->p->arena_bytes, v->arena_used_bytes);
    return RP_OK;
}

static void finish_verdict(struct walk *w) {
    w->v->time_ns = rp_check_timeline_end(&w->time);
    w->v->baseline_time_ns = w->g->total_time_ns;
    w->v->stall_ns = w->time.stall_ns;
    w->v->d2h_busy_ns = w->time.d2h_busy_ns;
    w->v->h2d_busy_ns = w->time.h2d_busy_ns;
    if (!w->p->addressed)
        w->v->arena_used_bytes = w->v->peak_bytes - w->g->fixed_bytes;
}

rp_rc rp_check_steps(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_verdict *v, struct rp_err *err) {
    struct walk w = {.g = g, .p = p, .v = v, .err = err};
    *v = (struct rp_verdict){.peak_bytes = g->fixed_bytes};
    rp_rc rc = check_header(g, p, err);
    if (rc != RP_OK)
        return rc;
    w.tensors = rp_calloc(g->n_tensors, sizeof *w.tensors);
    w.runs = rp_calloc(g->n_ops, sizeof *w.runs);
    for (; w.step < p->steps.n && rc == RP_OK; w.step++)
        rc = check_step(&w, &p->steps.at[w.step]);
    if (rc == RP_OK)
        rc = check_end(&w);
    if (rc == RP_OK) {
        finish_verdict(&w);
        rc = check_claims(&w);
    }
    rp_range_set_fini(&w.arena);
    rp_range_set_fini(&w.slab);
    free(w.tensors);
    free(w.runs);
    return rc;
}
