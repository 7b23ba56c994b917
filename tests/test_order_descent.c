/* Tests of the descent over orders that moves stages with their copies. */

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/order/order_descent.h"
#include "verify/verifier.h"

static bool never(void *arg) {
    (void)arg;
    return false;
}

/* Are the steps a plan that verify accepts, faster than the start and within the limit? */
static bool is_improved(const struct rp_graph *g, const struct rp_instance *p,
                        uint64_t start_ns, struct rp_plan *plan) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    plan->graph_name = rp_strdup(g->name);
    plan->graph_sha256 = rp_strdup(g->sha256);
    plan->budget_bytes = p->fixed_bytes + p->limit_bytes;
    return rp_plan_fill_claims(g, plan, &err) == RP_OK &&
           rp_verify(g, plan, &v, &err) == RP_OK && plan->claims.time_ns < start_ns;
}

/* From keep-all with what lives on the host copied in at the beginning. */
static bool descends(uint64_t seed, uint32_t *n_found) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule start;
    struct rp_plan plan = {0};
    struct rp_order_descent_options o = {
        .seed = seed, .work = 500000, .may_recompute = true, .stop = never};
    bool ok = true;
    rp_gen_host_graph(seed, 6 + (uint32_t)(seed % 20), &g);
    rp_instance_init_homes(&p, &g, RP_MAX_QUANTITY / 2, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_keep_all(&p, &start);
    struct rp_cost c = rp_schedule_cost(&p, &start);
    p.limit_bytes = c.peak_bytes;
    if (c.sound && rp_order_descent(&p, &start, &o, &plan)) {
        ok = is_improved(&g, &p, c.time_ns, &plan);
        (*n_found)++;
    }
    rp_plan_fini(&plan);
    rp_schedule_fini(&start);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void steps_of_another_order_are_valid_and_faster(void) {
    uint32_t n = 40, n_found = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!descends(seed, &n_found)) {
            rp_gen_failed(seed);
            CU_FAIL("not valid, over the limit, or not faster");
        }
    CU_ASSERT(n_found >= 10 || rp_gen_one_seed());
}

void suite_order_descent(void) {
    RP_SUITE("order_descent");
    RP_TEST(steps_of_another_order_are_valid_and_faster);
}
