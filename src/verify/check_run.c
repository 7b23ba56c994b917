#include "verify/check_run.h"

#include <assert.h>
#include <inttypes.h>

/* Rule 1: may op i run now, for the first time or again? */
static rp_rc check_again(struct rp_plan_state *w, uint32_t i) {
    const struct rp_op *op = &w->g->ops[i];
    if (w->runs[i] > 0 && !op->recompute)
        return rp_reject_step(w, RP_OP " runs again, though its recompute is false",
                              RP_AN_OP(w, i));
    if (w->runs[i] > 0 && op->n_updates > 0)
        return rp_reject_step(w, RP_OP " runs again, though it updates tensors",
                              RP_AN_OP(w, i));
    if (w->runs[i] > 0 || !op->ordered)
        return RP_OK;
    if (w->last_ordered != RP_NONE && w->last_ordered > i)
        return rp_reject_step(w, RP_OP " first runs after " RP_OP ", but both are ordered",
                              RP_AN_OP(w, i), RP_AN_OP(w, w->last_ordered));
    w->last_ordered = i;
    return RP_OK;
}

/* Rule 7: op i must find source x after the updates of the ops before it, and no others.
 * Each op updates x once and obeys this rule too, so updates come in op order. */
static rp_rc check_updates_so_far(struct rp_plan_state *w, uint32_t i, uint32_t x) {
    const uint32_t *updaters = w->updaters + w->updater_start[x];
    uint32_t n = w->updater_start[x + 1] - w->updater_start[x];
    uint32_t done = w->tensors[x].n_updates;
    if (done < n && updaters[done] < i)
        return rp_reject_step(w, RP_OP " needs " RP_TENSOR " as " RP_OP " leaves it",
                              RP_AN_OP(w, i), RP_A_TENSOR(w, x),
                              RP_AN_OP(w, updaters[done]));
    if (done > 0 && updaters[done - 1] >= i)
        return rp_reject_step(w, RP_OP " needs " RP_TENSOR " as it was before " RP_OP,
                              RP_AN_OP(w, i), RP_A_TENSOR(w, x),
                              RP_AN_OP(w, updaters[done - 1]));
    return RP_OK;
}

/* The run starts when all it reads and updates is ready, and no swap-out of what it updates
 * is under way. The wait is a stall. */
static rp_rc read_tensor(struct rp_plan_state *w, uint32_t i, uint32_t x, bool update) {
    const struct rp_tensor_state *t = &w->tensors[x];
    if (t->movable && !t->on_device)
        return rp_reject_step(w, RP_OP " %s " RP_TENSOR ", which is not on the device",
                              RP_AN_OP(w, i), update ? "updates" : "reads",
                              RP_A_TENSOR(w, x));
    rp_queue_clocks_wait(&w->time, t->in_ns);
    if (update)
        rp_queue_clocks_wait(&w->time, t->out_ns);
    return rp_is_source(w, x) ? check_updates_so_far(w, i, x) : RP_OK;
}

static rp_rc read_tensors(struct rp_plan_state *w, uint32_t i) {
    const struct rp_op *op = &w->g->ops[i];
    rp_rc rc = RP_OK;
    for (uint32_t k = 0; k < op->n_inputs && rc == RP_OK; k++)
        rc = read_tensor(w, i, op->inputs[k], false);
    for (uint32_t k = 0; k < op->n_updates && rc == RP_OK; k++)
        rc = read_tensor(w, i, op->updates[k], true);
    return rc;
}

/* An update makes the host copy of a listed source out of date. */
static void update_sources(struct rp_plan_state *w, const struct rp_op *op) {
    for (uint32_t k = 0; k < op->n_updates; k++) {
        struct rp_tensor_state *t = &w->tensors[op->updates[k]];
        t->n_updates++;
        t->on_host = false;
    }
}

/* Op i, which starts now, writes its output x. */
static rp_rc make_output(struct rp_plan_state *w, uint32_t i, uint32_t x, uint64_t at) {
    const struct rp_tensor_state *t = &w->tensors[x];
    if (!t->on_device)
        return rp_allocate_device(w, x, at);
    if (at != RP_NO_ADDRESS)
        return rp_reject_step(
            w, RP_TENSOR " is on the device already: its address must be null",
            RP_A_TENSOR(w, x));
    if (t->in_ns > w->time.compute_ns)
        return rp_reject_step(
            w,
            RP_OP " makes " RP_TENSOR " again at %" PRIu64
                  " ns, while its swap-in is under way until %" PRIu64 " ns",
            RP_AN_OP(w, i), RP_A_TENSOR(w, x), w->time.compute_ns, t->in_ns);
    return RP_OK;
}

/* *left_bytes is the storage of the outputs that op i leaves alone: further workspace of
 * the run. */
static rp_rc make_outputs(struct rp_plan_state *w, const struct rp_step *s,
                          uint64_t *left_bytes) {
    const struct rp_op *op = &w->g->ops[s->id];
    uint32_t n_at = s->has_at ? s->n_at : 0;
    if (w->p->addressed && n_at != op->n_outputs)
        return rp_reject_step(w, RP_OP " has %u outputs, 'at' has %u addresses",
                              RP_AN_OP(w, s->id), op->n_outputs, n_at);
    assert((size_t)s->at + n_at <= w->p->at.n);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint64_t at = w->p->addressed ? w->p->at.at[s->at + k] : RP_NO_ADDRESS;
        bool left = w->tensors[op->outputs[k]].on_device && op->cannot_rewrite;
        rp_rc rc = make_output(w, s->id, op->outputs[k], at);
        if (rc != RP_OK)
            return rc;
        if (left)
            *left_bytes += rp_storage_size(w, w->g->tensors[op->outputs[k]].bytes);
    }
    return RP_OK;
}

rp_rc rp_check_run(struct rp_plan_state *w, const struct rp_step *s) {
    uint32_t i = s->id;
    uint64_t left_bytes = 0;
    if (i >= w->g->n_ops)
        return rp_reject_step(w, "no op %u", i);
    const struct rp_op *op = &w->g->ops[i];
    rp_rc rc = check_again(w, i);
    if (rc == RP_OK)
        rc = read_tensors(w, i);
    if (rc == RP_OK)
        rc = make_outputs(w, s, &left_bytes);
    uint64_t workspace = rp_storage_size(w, op->workspace_bytes) + left_bytes;
    if (rc == RP_OK)
        rc = rp_allocate_workspace(w, i, workspace, s->address);
    if (rc == RP_OK)
        rc = rp_check_budget(w, workspace);
    if (rc != RP_OK)
        return rc;
    if (!rp_queue_clocks_run(&w->time, op->time_ns))
        return rp_reject_step(w, RP_OP " ends after 2^63-1 ns", RP_AN_OP(w, i));
    update_sources(w, op);
    if (w->runs[i] > 0) {
        w->v->recompute_ns += op->time_ns; /* cannot wrap: at most the compute clock */
        w->v->n_reruns++;
    }
    w->v->n_runs++;
    w->runs[i]++;
    return RP_OK;
}
