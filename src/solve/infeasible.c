#include "solve/infeasible.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"

/* What op `op` reads, writes and works in. */
static uint64_t own_bytes(const struct rp_instance *p, uint32_t op) {
    uint64_t sum = p->workspace_bytes[op];
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        sum += rp_is_version(p, x) ? 0 : p->bytes[x];
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        sum += rp_instance_least_bytes(p, p->inputs[k]);
    return sum;
}

static bool holds_any(const struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].held)
            return true;
    return false;
}

static rp_rc explain_floor(struct rp_context *w, const struct rp_instance *p, uint32_t op) {
    char *reason = w->report->reason;
    size_t size = sizeof w->report->reason;
    uint64_t floor_bytes = w->report->floor_bytes, fixed = p->fixed_bytes;
    struct rp_text64 needs = rp_show_exactly(floor_bytes);
    struct rp_text64 budget = rp_show_exactly(w->o->budget_bytes);
    if (op == RP_NONE) {
        snprintf(reason, size,
                 "the tensors to be kept and the sources take %s together, more than the "
                 "budget of %s",
                 needs.s, budget.s);
        return RP_NO;
    }
    uint64_t own = own_bytes(p, op), off_host = rp_instance_bytes_off_host(p, op);
    uint64_t others = floor_bytes - fixed - own - off_host;
    int n = snprintf(reason, size,
                     "while op %" PRIu32 " \"%.80s\" runs, %s are on the device, more than "
                     "the budget of %s: %s of its inputs, outputs and workspace, %s of "
                     "sources",
                     p->op_of[op], w->g->ops[p->op_of[op]].name, needs.s, budget.s,
                     rp_show_bytes(own).s, rp_show_bytes(fixed).s);
    if (off_host > 0 && floor_bytes - off_host <= w->o->budget_bytes)
        w->report->least_host_bytes = w->o->host_bytes + floor_bytes - w->o->budget_bytes;
    if (off_host > 0)
        n += snprintf(reason + n, size - (size_t)n,
                      ", %s of others for which the host budget of %s has no room",
                      rp_show_bytes(off_host).s, rp_show_bytes(w->o->host_bytes).s);
    if (others > 0)
        snprintf(
            reason + n, size - (size_t)n,
            ", %s that later ops need and that can be neither made again nor swapped%s",
            rp_show_bytes(others).s, holds_any(w->g) ? ", or that is held" : "");
    return RP_NO;
}

/* Without copies, nothing may live on the host that an op touches. A source that none
 * touches may, but no search knows that case. */
static rp_rc refuse_home(struct rp_context *w, const struct rp_instance *p, uint32_t x) {
    bool touched = p->reader_start[x] < p->reader_start[x + 1];
    snprintf(w->report->reason, sizeof w->report->reason,
             "tensor %" PRIu32 " \"%.80s\" lives on the host, and %s%s", p->tensor_of[x],
             w->g->tensors[p->tensor_of[x]].name,
             touched ? "no copy can bring it to the device"
                     : "no plan is looked for that copies nothing",
             !touched     ? ""
             : w->o->swap ? ": the device does not state both bandwidths"
                          : " without swaps");
    w->report->remedy = RP_COPIES;
    return touched ? RP_NO : RP_LIMIT;
}

/* Can every op get what lives on the host, and does that have room there? */
static rp_rc check_host(struct rp_context *w, const struct rp_instance *p) {
    struct rp_solve_report *r = w->report;
    uint64_t bytes = 0;
    rp_rc rc = RP_OK;
    for (uint32_t x = 0; x < p->n_homes && rc != RP_NO; x++) {
        bytes += p->lives_on_host[x] ? p->bytes[x] : 0;
        if (p->lives_on_host[x] && p->out_ns == NULL)
            rc = refuse_home(w, p, x);
    }
    if (rc != RP_OK || bytes <= w->o->host_bytes)
        return rc;
    snprintf(r->reason, sizeof r->reason,
             "the tensors that live on the host take %s, more than the host budget of %s",
             rp_show_exactly(bytes).s, rp_show_exactly(w->o->host_bytes).s);
    r->remedy = RP_HOST_MEMORY;
    r->least_host_bytes = bytes;
    return RP_NO;
}

rp_rc rp_check_floor(struct rp_context *w) {
    uint32_t op;
    struct rp_instance p;
    rp_context_instance(w, &p, w->g->fixed_bytes);
    if (w->o->reorder)
        rp_instance_any_order(&p);
    w->report->floor_bytes = p.fixed_bytes + rp_instance_floor(&p, &op);
    w->report->floor_op = op == RP_NONE ? RP_NONE : p.op_of[op];
    rp_rc rc = check_host(w, &p);
    if (rc == RP_OK && w->o->budget_bytes < w->report->floor_bytes)
        rc = explain_floor(w, &p, op);
    rp_instance_fini(&p);
    return rc;
}

rp_rc rp_explain_too_large(struct rp_context *w) {
    w->report->min_bytes = w->report->keep_all_bytes;
    snprintf(w->report->reason, sizeof w->report->reason,
             "none found within %s; the graph has %" PRIu32 " ops and %" PRIu32
             " tensors, too many for a search, so only keep-all%s was tried; no plan fits "
             "in less than %s",
             rp_show_exactly(w->o->budget_bytes).s, w->g->n_ops, w->p.n_tensors,
             w->o->start != NULL ? " and the initial plan" : "",
             rp_show_exactly(w->report->floor_bytes).s);
    return RP_LIMIT;
}

/* A search for a certificate makes nothing again after the last op (rp_context_instance),
 * so it proves nothing of plans that do. */
static bool leaves_plans_out(const struct rp_context *w) {
    return w->o->certificate != NULL && w->o->recompute && w->p.has_end;
}

rp_rc rp_explain_none_found(struct rp_context *w) {
    if (leaves_plans_out(w) && (w->proved || w->bound_ns >= RP_MAX_PLAN_NS)) {
        snprintf(w->report->reason, sizeof w->report->reason,
                 "none found within %" PRIu64
                 " bytes that runs nothing after the last op; without --certificate there "
                 "may be one",
                 w->o->budget_bytes);
        return RP_LIMIT;
    }
    if (w->all_sequences && w->bound_ns >= RP_MAX_PLAN_NS) {
        snprintf(w->report->reason, sizeof w->report->reason,
                 "proved that no plan fits in %" PRIu64 " bytes in this order of ops",
                 w->o->budget_bytes);
        return RP_NO;
    }
    if (w->proved) {
        snprintf(
            w->report->reason, sizeof w->report->reason,
            "none found within %" PRIu64
            " bytes; in this order of ops, every plan within them runs an op twice between "
            "two first runs",
            w->o->budget_bytes);
        return RP_LIMIT;
    }
    if (w->nearest.peak_bytes == 0) {
        snprintf(w->report->reason, sizeof w->report->reason,
                 "none found within %s before the %s; every plan needs at least %s",
                 rp_show_exactly(w->o->budget_bytes).s, rp_context_limit_word(w),
                 rp_show_exactly(w->report->floor_bytes).s);
        return RP_LIMIT;
    }
    char binding[128] = "what is kept binds";
    if (w->nearest.op != RP_NONE)
        snprintf(binding, sizeof binding, "op %" PRIu32 " \"%.80s\" binds", w->nearest.op,
                 w->g->ops[w->nearest.op].name);
    w->report->min_bytes = w->p.fixed_bytes + w->nearest.peak_bytes;
    snprintf(w->report->reason, sizeof w->report->reason,
             "none found within %s before the %s; the least that one was found for is %s, "
             "where %s; every plan needs at least %s",
             rp_show_exactly(w->o->budget_bytes).s, rp_context_limit_word(w),
             rp_show_exactly(w->report->min_bytes).s, binding,
             rp_show_exactly(w->report->floor_bytes).s);
    return RP_LIMIT;
}
