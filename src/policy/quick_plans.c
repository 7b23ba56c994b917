#include "policy/quick_plans.h"

#include "base/mem.h"
#include "policy/policy.h"

/* What the policy records, if it is within the limits and faster than `best`. */
static void take_faster(const struct rp_instance *p, rp_record *record, uint64_t host_bytes,
                        struct rp_plan *best) {
    struct rp_policy_options o;
    struct rp_recorder t;
    rp_policy_options_init(&o);
    rp_recorder_init(&t, p);
    record(p, &o, &t);
    if (!t.too_long && t.peak_bytes <= p->limit_bytes && t.out_bytes <= host_bytes &&
        (best->steps.n == 0 || rp_recorder_time(&t) < best->claims.time_ns)) {
        rp_plan_fini(best);
        *best = t.plan;
        t.plan = (struct rp_plan){0};
        best->claims.time_ns = rp_recorder_time(&t);
        best->host_bytes = t.out_bytes;
    }
    rp_recorder_fini(&t);
}

bool rp_quick_policy_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                          struct rp_plan *plan) {
    static rp_record *const quick[] = {rp_record_capuchin, rp_record_libra};
    struct rp_graph device = *g; /* borrows all but the bandwidths */
    struct rp_instance p;
    *plan = (struct rp_plan){0};
    if (!o->recompute || o->budget_bytes < g->fixed_bytes)
        return false;
    if (!o->swap)
        device.device.h2d_bytes_per_s = device.device.d2h_bytes_per_s = 0;
    rp_instance_init(&p, &device, o->budget_bytes, o->addressed, NULL);
    for (size_t k = 0; k < sizeof quick / sizeof *quick; k++)
        if (o->stop == NULL || !*o->stop)
            take_faster(&p, quick[k], o->host_bytes, plan);
    rp_instance_fini(&p);
    plan->graph_name = rp_strdup(g->name);
    plan->graph_sha256 = rp_strdup(g->sha256);
    return plan->steps.n > 0;
}
