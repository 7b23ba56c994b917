#include "verify/check_run.h"

#include <assert.h>
#include <inttypes.h>

/* The run starts when all its inputs are ready. The wait is a stall. */
static rp_rc read_inputs(struct rp_plan_state *w, uint32_t i) {
    const struct rp_op *op = &w->g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t x = op->inputs[k];
        if (rp_is_source(w, x))
            continue;
        if (!w->tensors[x].on_device)
            return rp_reject_step(w,
                                  RP_OP " reads " RP_TENSOR ", which is not on the device",
                                  RP_AN_OP(w, i), RP_A_TENSOR(w, x));
        rp_queue_clocks_wait(&w->time, w->tensors[x].ready_ns);
    }
    return RP_OK;
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
    if (t->ready_ns > w->time.compute_ns)
        return rp_reject_step(
            w,
            RP_OP " makes " RP_TENSOR " again at %" PRIu64
                  " ns, while its swap-in is under way until %" PRIu64 " ns",
            RP_AN_OP(w, i), RP_A_TENSOR(w, x), w->time.compute_ns, t->ready_ns);
    return RP_OK;
}

static rp_rc make_outputs(struct rp_plan_state *w, const struct rp_step *s) {
    const struct rp_op *op = &w->g->ops[s->id];
    uint32_t n_at = s->has_at ? s->n_at : 0;
    if (w->p->addressed && n_at != op->n_outputs)
        return rp_reject_step(w, RP_OP " has %u outputs, 'at' has %u addresses",
                              RP_AN_OP(w, s->id), op->n_outputs, n_at);
    assert((size_t)s->at + n_at <= w->p->at.n);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint64_t at = w->p->addressed ? w->p->at.at[s->at + k] : RP_NO_ADDRESS;
        rp_rc rc = make_output(w, s->id, op->outputs[k], at);
        if (rc != RP_OK)
            return rc;
    }
    return RP_OK;
}

rp_rc rp_check_run(struct rp_plan_state *w, const struct rp_step *s) {
    uint32_t i = s->id;
    if (i >= w->g->n_ops)
        return rp_reject_step(w, "no op %u", i);
    const struct rp_op *op = &w->g->ops[i];
    if (w->runs[i] > 0 && !op->recompute)
        return rp_reject_step(w, RP_OP " runs again, though its recompute is false",
                              RP_AN_OP(w, i));
    rp_rc rc = read_inputs(w, i);
    if (rc == RP_OK)
        rc = make_outputs(w, s);
    if (rc == RP_OK)
        rc = rp_allocate_workspace(w, i, s->address);
    if (rc == RP_OK)
        rc = rp_check_budget(w, rp_storage_size(w, op->workspace_bytes));
    if (rc != RP_OK)
        return rc;
    if (!rp_queue_clocks_run(&w->time, op->time_ns))
        return rp_reject_step(w, RP_OP " ends after 2^63-1 ns", RP_AN_OP(w, i));
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
