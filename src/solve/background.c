#include "solve/context.h"

#include <inttypes.h>

#include "base/log.h"

/* The exact method is for graphs of at most TREE_OPS ops, the first-order bound for larger
 * ones and some below: where both are, the latter has a share of its work only. */
static const double BESIDE_SHARE = 0.4;

void rp_mip_poll(struct rp_context *w, double seconds) {
    struct rp_mip_worker_result r;
    if (!w->awaited)
        return;
    enum rp_mip_worker_status status = rp_mip_worker_wait(w->milp, seconds, &r);
    if (status == RP_MIP_DEADLINE)
        return;
    w->awaited = false;
    if (status == RP_MIP_DEAD) {
        rp_log(0, "the exact method's process ended early; going on without it");
        rp_mip_worker_end(w->milp);
        w->milp = NULL;
        return;
    }
    if (r.state.found && (!w->found || r.state.time_ns <= w->time_ns)) {
        rp_schedule_copy(&w->best, r.schedule);
        w->time_ns = r.state.time_ns;
        w->found = true;
    }
    if (r.state.bound_ns != UINT64_MAX && r.state.bound_ns > w->bound_ns)
        w->bound_ns = r.state.bound_ns;
    w->proved = status == RP_MIP_FINISHED && r.state.status != RP_BRANCH_CUT_FAILED;
    w->report->tree = r.state;
    rp_log(1,
           "tree: %" PRIu32 " rows, %" PRIu32 " columns, %" PRIu64 " cuts, %" PRIu64
           " nodes, %" PRIu64 " pivots, bound %" PRIu64,
           r.state.n_rows, r.state.n_cols, r.state.cuts, r.state.nodes, r.state.pivots,
           r.state.bound_ns);
}

void rp_mip_submit(struct rp_context *w, double work) {
    if (w->milp == NULL || w->proved)
        return;
    rp_mip_worker_submit(w->milp, (uint64_t)work + 1, w->found ? &w->best : NULL);
    w->awaited = true;
}

void rp_mip_wait(struct rp_context *w) {
    while (w->awaited && !rp_context_stopped(w))
        rp_mip_poll(w, 0.2);
}

static void *bound_some(void *arg) {
    struct rp_context *w = arg;
    rp_pdhg_bound_run(w->bound, w->bound_work, w->deadline, w->o->stop);
    return NULL;
}

/* With swaps it is for plans that are no slower than the best, so it waits for one. */
static void aim_bound(struct rp_context *w) {
    if (w->p.out_ns == NULL || !w->found || w->o->reorder)
        return;
    if (w->bound == NULL)
        w->bound = rp_pdhg_bound_new(&w->p, w->time_ns);
    else
        rp_pdhg_bound_tighten(w->bound, w->time_ns);
}

void rp_bound_submit(struct rp_context *w, double work) {
    aim_bound(w);
    w->bound_work = (uint64_t)(w->milp != NULL ? BESIDE_SHARE * work : work) + 1;
    w->bounding =
        w->bound != NULL && pthread_create(&w->bound_thread, NULL, bound_some, w) == 0;
}

void rp_bound_wait(struct rp_context *w) {
    if (!w->bounding)
        return;
    pthread_join(w->bound_thread, NULL);
    w->bounding = false;
    uint64_t bound = rp_pdhg_bound_ns(w->bound);
    w->bound_ns = bound > w->bound_ns ? bound : w->bound_ns;
    rp_log(1, "bound: %" PRIu64 " after %.1f s", w->bound_ns, rp_seconds() - w->begin);
}
