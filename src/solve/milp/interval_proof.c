#include "solve/milp/interval_proof.h"

#include "base/numbers.h"
#include "solve/core/params.h"

/* Of the work: that of the whole model, if windows follow. */
#define WHOLE_SHARE 0.1

/* What `from` proves too. The point, if there is one, is of *into. */
static void join(struct rp_interval_result *into, const struct rp_interval_result *from) {
    into->finished = into->finished || from->finished;
    into->bound_ns = rp_max_u64(into->bound_ns, from->bound_ns);
    into->root_bound_ns = rp_max_u64(into->root_bound_ns, from->root_bound_ns);
    into->n_fixed += from->n_fixed;
    into->n_cuts += from->n_cuts;
    into->work += from->work;
    into->nodes += from->nodes;
}

/* Where little is left to prove, the whole model gets all of the work after all. */
static bool is_close(const struct rp_interval_proof *q,
                     const struct rp_interval_result *r) {
    return (double)q->plan_ns <= (1 + MIN_WINDOWS_GAP) * (double)r->bound_ns;
}

void rp_interval_prove(const struct rp_interval_proof *q,
                       const struct rp_interval_options *o, double *x,
                       struct rp_interval_result *r) {
    struct rp_interval_options part = *o;
    struct rp_interval_result rest;
    if (q->whole == NULL) {
        rp_interval_windows_solve(q->p, q->plan_ns, q->d_ns, o, r);
        return;
    }
    if (q->d_ns != NULL)
        part.work = (uint64_t)(WHOLE_SHARE * (double)o->work) + 1;
    rp_interval_solve(q->whole, &part, x, r);
    if (q->d_ns == NULL || r->finished || r->work >= o->work || rp_stop_now(o->stop))
        return;
    part.work = o->work - r->work;
    if (is_close(q, r)) {
        uint64_t work = r->work;
        rp_interval_solve(q->whole, &part, x, r);
        r->work += work;
    } else {
        rp_interval_windows_solve(q->p, q->plan_ns, q->d_ns, &part, &rest);
        join(r, &rest);
    }
}
