#include "verify/plan_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

rp_rc rp_reject_step(struct rp_plan_state *w, const char *fmt, ...) {
    char text[sizeof w->err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rp_fail(w->err, RP_NO, "%s[%zu]: %s", w->list, w->step, text);
}

/* Lists the updaters of each source: counts them, sums up, and fills in. */
static void list_updaters(struct rp_plan_state *w) {
    const struct rp_graph *g = w->g;
    uint32_t *start = w->updater_start = rp_calloc(g->n_tensors + (size_t)1, sizeof *start);
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++)
            start[g->ops[i].updates[k] + 1]++;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        start[x + 1] += start[x];
    w->updaters = rp_calloc(start[g->n_tensors], sizeof *w->updaters);
    uint32_t *next = rp_calloc(g->n_tensors, sizeof *next);
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++) {
            uint32_t x = g->ops[i].updates[k];
            w->updaters[start[x] + next[x]++] = i;
        }
    free(next);
}

void rp_plan_state_init(struct rp_plan_state *w, const struct rp_graph *g,
                        const struct rp_plan *p, struct rp_verdict *v, struct rp_err *err) {
    *w = (struct rp_plan_state){
        .g = g, .p = p, .v = v, .err = err, .list = "steps", .last_ordered = RP_NONE};
    w->tensors = rp_calloc(g->n_tensors, sizeof *w->tensors);
    w->runs = rp_calloc(g->n_ops, sizeof *w->runs);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        w->tensors[x].movable = !rp_is_source(w, x);
    list_updaters(w);
}

void rp_plan_state_fini(struct rp_plan_state *w) {
    rp_range_set_fini(&w->arena);
    rp_range_set_fini(&w->slab);
    free(w->tensors);
    free(w->runs);
    free(w->updater_start);
    free(w->updaters);
}

bool rp_is_source(const struct rp_plan_state *w, uint32_t x) {
    return w->g->tensors[x].producer == RP_NONE;
}

uint64_t rp_storage_size(const struct rp_plan_state *w, uint64_t bytes) {
    return w->p->addressed ? rp_round_up(bytes, w->g->device.alignment_bytes) : bytes;
}

/* May `size` bytes of the arena or the host slab be allocated at `at`? The memory has
 * `capacity` bytes. `what` and `capacity_name` are for messages. */
static rp_rc check_range(struct rp_plan_state *w, const char *what, uint64_t at,
                         uint64_t size, const struct rp_range_set *in_use,
                         const char *capacity_name, uint64_t capacity) {
    uint64_t alignment = w->g->device.alignment_bytes;
    if (at == RP_NO_ADDRESS)
        return rp_reject_step(w, "%s has no address", what);
    if (at % alignment != 0)
        return rp_reject_step(w, "%s: address %" PRIu64 " is no multiple of %" PRIu64, what,
                              at, alignment);
    if (at > capacity || size > capacity - at)
        return rp_reject_step(w,
                              "%s: %" PRIu64 " bytes at %" PRIu64 " end beyond %s %" PRIu64,
                              what, size, at, capacity_name, capacity);
    const struct rp_byte_range *other = rp_range_set_conflict(in_use, at, at + size);
    if (other != NULL)
        return rp_reject_step(w,
                              "%s: bytes %" PRIu64 "..%" PRIu64 " overlap " RP_TENSOR
                              " at %" PRIu64 "..%" PRIu64,
                              what, at, at + size, RP_A_TENSOR(w, other->tensor), other->lo,
                              other->hi);
    return RP_OK;
}

rp_rc rp_allocate_device(struct rp_plan_state *w, uint32_t x, uint64_t at) {
    uint64_t size = rp_storage_size(w, w->g->tensors[x].bytes);
    if (w->p->addressed) {
        char what[128];
        snprintf(what, sizeof what, RP_TENSOR, RP_A_TENSOR(w, x));
        rp_rc rc =
            check_range(w, what, at, size, &w->arena, "arena_bytes", w->p->arena_bytes);
        if (rc != RP_OK)
            return rc;
        rp_range_set_add(&w->arena, (struct rp_byte_range){at, at + size, x});
        w->v->arena_used_bytes = rp_max_u64(w->v->arena_used_bytes, at + size);
    }
    w->tensors[x].on_device = true;
    w->tensors[x].at = at;
    w->live_bytes += size;
    return RP_OK;
}

rp_rc rp_allocate_workspace(struct rp_plan_state *w, uint32_t i, uint64_t size,
                            uint64_t at) {
    char what[128];
    if (!w->p->addressed)
        return RP_OK;
    if (size == 0 && at != RP_NO_ADDRESS)
        return rp_reject_step(w, RP_OP " has no workspace to put at workspace_at",
                              RP_AN_OP(w, i));
    if (size == 0)
        return RP_OK;
    snprintf(what, sizeof what, "the workspace of " RP_OP, RP_AN_OP(w, i));
    rp_rc rc = check_range(w, what, at, size, &w->arena, "arena_bytes", w->p->arena_bytes);
    if (rc == RP_OK)
        w->v->arena_used_bytes = rp_max_u64(w->v->arena_used_bytes, at + size);
    return rc;
}

rp_rc rp_allocate_host(struct rp_plan_state *w, uint32_t x, uint64_t at) {
    struct rp_tensor_state *t = &w->tensors[x];
    uint64_t size = rp_storage_size(w, w->g->tensors[x].bytes);
    char what[128];
    if (t->has_host_range && at == t->host_at)
        return RP_OK;
    if (t->has_host_range)
        return rp_reject_step(w, RP_TENSOR " has its host copy at %" PRIu64,
                              RP_A_TENSOR(w, x), t->host_at);
    t->has_host_range = true;
    t->host_at = at;
    if (!w->p->addressed) {
        w->v->host_used_bytes += size;
        return RP_OK;
    }
    snprintf(what, sizeof what, "the host copy of " RP_TENSOR, RP_A_TENSOR(w, x));
    rp_rc rc = check_range(w, what, at, size, &w->slab, "host_bytes", w->p->host_bytes);
    if (rc != RP_OK)
        return rc;
    rp_range_set_add(&w->slab, (struct rp_byte_range){at, at + size, x});
    w->v->host_used_bytes = rp_max_u64(w->v->host_used_bytes, at + size);
    return RP_OK;
}

rp_rc rp_check_budget(struct rp_plan_state *w, uint64_t workspace) {
    uint64_t bytes = w->fixed_bytes + w->live_bytes + workspace;
    w->v->peak_bytes = rp_max_u64(w->v->peak_bytes, bytes);
    if (bytes > w->p->budget_bytes)
        return rp_reject_step(w, "%" PRIu64 " bytes live, over budget_bytes %" PRIu64,
                              bytes, w->p->budget_bytes);
    return RP_OK;
}
