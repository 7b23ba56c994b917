#include "solve/solving.h"

#include <inttypes.h>
#include <stdio.h>

static rp_rc say_floor(struct rp_solving *w, uint64_t floor_bytes, uint32_t op) {
    char *reason = w->report->reason;
    size_t size = sizeof w->report->reason;
    if (op == RP_NONE)
        snprintf(reason, size,
                 "the tensors to be kept and the sources take %" PRIu64
                 " bytes together, more than the budget of %" PRIu64,
                 floor_bytes, w->o->budget_bytes);
    else
        snprintf(
            reason, size,
            "op %" PRIu32 " \"%.80s\" alone needs %" PRIu64
            " bytes (its inputs, outputs, workspace, what cannot be made again, and the "
            "sources), more than the budget of %" PRIu64,
            op, w->g->ops[op].name, floor_bytes, w->o->budget_bytes);
    return RP_NO;
}

/* The floor, and whether the budget is at least that. */
rp_rc rp_test_floor(struct rp_solving *w) {
    uint32_t op;
    uint64_t fixed = w->g->fixed_bytes;
    struct rp_problem p;
    rp_solving_problem(w, &p, fixed);
    /* How long what runs once has to stay depends on the order. */
    for (uint32_t i = 0; i < p.n_ops && w->o->reorder; i++)
        p.recompute[i] = true;
    w->report->floor_bytes = fixed + rp_problem_floor(&p, &op);
    w->report->floor_op = op == RP_NONE ? RP_NONE : p.op_of[op];
    rp_problem_fini(&p);
    if (w->o->budget_bytes < w->report->floor_bytes)
        return say_floor(w, w->report->floor_bytes, w->report->floor_op);
    return RP_OK;
}

rp_rc rp_say_none_found(struct rp_solving *w, const struct rp_schedule *least) {
    if (w->proved) {
        snprintf(w->report->reason, sizeof w->report->reason,
                 "proved that no plan fits in %" PRIu64 " bytes in this order of ops",
                 w->o->budget_bytes);
        return RP_NO;
    }
    struct rp_cost c = rp_schedule_cost(&w->p, least);
    w->report->least_bytes = w->g->fixed_bytes + c.peak_bytes;
    snprintf(w->report->reason, sizeof w->report->reason,
             "no plan found within %" PRIu64 " bytes; the least that one was found for is "
             "%" PRIu64 ", where op %" PRIu32 " \"%.80s\" binds; no plan fits in less than "
             "%" PRIu64,
             w->o->budget_bytes, w->report->least_bytes, w->p.op_of[c.peak_op],
             w->g->ops[w->p.op_of[c.peak_op]].name, w->report->floor_bytes);
    return RP_LIMIT;
}
