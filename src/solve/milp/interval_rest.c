#include "solve/milp/interval_rest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

/* Of the work that is left: that of one window. The longer ones need more, but bound few
 * states. */
#define WINDOW_SHARE 0.1

static uint64_t solve_window(const struct rp_instance *p, uint64_t plan_ns,
                             uint64_t first_runs_ns, uint32_t t,
                             const struct rp_interval_options *o, uint64_t *bound_ns) {
    struct rp_interval_window w = {t, p->n_ops, plan_ns - 1 - first_runs_ns, UINT32_MAX};
    struct rp_interval_model m;
    struct rp_interval_result r;
    rp_interval_model_init_window(&m, p, plan_ns - 1, &w);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, o, x, &r);
    *bound_ns = rp_max_u64(r.bound_ns, first_runs_ns) - first_runs_ns;
    free(x);
    rp_interval_model_fini(&m);
    return r.work + 1;
}

uint64_t rp_interval_rest(const struct rp_instance *p, uint64_t plan_ns,
                          const struct rp_interval_options *o, uint64_t *rest_ns) {
    uint64_t first_runs_ns = 0, work = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        first_runs_ns += p->time_ns[j];
    rest_ns[p->n_ops + 1] = 0;
    for (uint32_t t = p->n_ops; t > 0; t--) {
        struct rp_interval_options part = *o;
        uint64_t bound_ns = 0;
        part.work =
            (uint64_t)(WINDOW_SHARE * (double)(o->work - rp_min_u64(work, o->work)));
        if (part.work > 0 && !rp_stop_now(o->stop))
            work += solve_window(p, plan_ns, first_runs_ns, t, &part, &bound_ns);
        rest_ns[t] = rp_max_u64(rest_ns[t + 1], bound_ns);
    }
    rest_ns[0] = rest_ns[1];
    return work;
}
