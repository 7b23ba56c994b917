#include "solve/search/moment_proof.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/numbers.h"
#include "solve/core/params.h"

void rp_prove_moment(struct rp_context *w) {
    struct rp_method_statistics *s = &w->statistics.method[RP_MOMENT];
    struct rp_moment_bound_options o = {
        .any_order = w->o->reorder,
        .horizon_ns = w->incumbent.time_ns,
        .goal_ns = w->incumbent.found ? w->incumbent.time_ns : UINT64_MAX,
        .work = (uint64_t)(MOMENT_SHARE * w->o->time_limit * MIP_WORK_PER_S) + 1,
        .stop = &w->stop};
    if (ABLATED_METHOD == RP_MOMENT || w->o->plan_only || w->o->certificate != NULL ||
        (w->p.out_ns != NULL && !w->incumbent.found))
        return;
    double begin = rp_thread_seconds();
    struct rp_moment_bound b = rp_moment_bound(&w->p, &o, &w->statistics.moment);
    s->seconds += rp_thread_seconds() - begin;
    s->work = w->statistics.moment.work;
    s->calls++;
    s->bounds += b.bound_ns > w->bound_ns;
    /* No other method bounds searches with sources that may live on the host. */
    if (w->p.n_homes > 0 && b.bound_ns > w->bound_ns)
        w->all_sequences = true;
    s->bound_ns = rp_max_u64(s->bound_ns, b.bound_ns);
    w->bound_ns = rp_max_u64(w->bound_ns, b.bound_ns);
    rp_log(1, "moment bound: %" PRIu64 " ns%s", b.bound_ns,
           b.optimal ? ", the best of its moment" : "");
}
