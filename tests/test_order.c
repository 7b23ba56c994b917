/* Tests of orders of first runs other than the graph's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/claims.h"
#include "solve/order.h"
#include "solve/schedule.h"
#include "solve/solve.h"
#include "solve/start.h"
#include "verify/verify.h"

/* Everything over all orders there are: ops are exchanged in the graph itself. */
struct all_orders {
    struct rp_graph *g;
    struct rp_op given[16];
    bool used[16];
    uint32_t order[16];
    uint64_t limit_bytes;
    bool keep_all_fits; /* in some order */
    bool any;           /* some order has a schedule that fits, the fastest takes */
    uint64_t time_ns;
};

static void judge_order(struct all_orders *a) {
    struct rp_err err = {{0}};
    struct rp_problem p;
    struct rp_schedule s;
    uint64_t time_ns;
    for (uint32_t i = 0; i < a->g->n_ops; i++)
        a->g->ops[i] = a->given[a->order[i]];
    if (rp_graph_check(a->g, "g", &err) != RP_OK)
        return; /* not topological */
    rp_problem_init(&p, a->g, a->g->fixed_bytes + a->limit_bytes, false, NULL);
    rp_schedule_keep_all(&p, &s);
    a->keep_all_fits |= rp_schedule_cost(&p, &s).peak_bytes <= a->limit_bytes;
    rp_schedule_fini(&s);
    rp_problem_fini(&p);
    if (rp_brute_best(a->g, a->limit_bytes, &time_ns) &&
        (!a->any || time_ns < a->time_ns)) {
        a->any = true;
        a->time_ns = time_ns;
    }
}

static void try_orders(struct all_orders *a, uint32_t n) {
    uint32_t once = 0;
    if (n == a->g->n_ops)
        judge_order(a);
    for (uint32_t i = 0; i < a->g->n_ops; i++) {
        if (a->used[i])
            continue;
        if (!a->given[i].recompute && once++ > 0)
            continue; /* one that runs once only stands before it */
        a->used[i] = true;
        a->order[n] = i;
        try_orders(a, n + 1);
        a->used[i] = false;
    }
}

static void all_orders(struct rp_graph *g, uint64_t limit_bytes, struct all_orders *a) {
    struct rp_err err = {{0}};
    *a = (struct all_orders){.g = g, .limit_bytes = limit_bytes};
    memcpy(a->given, g->ops, g->n_ops * sizeof *g->ops);
    try_orders(a, 0);
    memcpy(g->ops, a->given, g->n_ops * sizeof *g->ops);
    CU_ASSERT_EQUAL(rp_graph_check(g, "g", &err), RP_OK);
}

static void small_graph(uint64_t seed, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(5);
    shape.max_outputs = 1;
    shape.bandwidths = false;
    rp_gen_graph(seed, &shape, g);
}

static bool agrees_with_all_orders(uint64_t seed, uint32_t *optimal) {
    struct rp_graph g;
    struct all_orders a;
    struct rp_plan plan;
    struct rp_verdict v;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    small_graph(seed, &g);
    uint64_t all = rp_keep_all_bytes(&g, false);
    struct rp_solve_options o = {.budget_bytes =
                                     g.fixed_bytes + (all - g.fixed_bytes) / 10 * 7,
                                 .recompute = true,
                                 .reorder = true,
                                 .time_limit = 0.01,
                                 .ignore_clock = true,
                                 .seed = 1};
    all_orders(&g, o.budget_bytes - g.fixed_bytes, &a);
    rp_rc rc = rp_solve(&g, &o, &plan, &report, &err);
    bool ok = rc != RP_NO || !a.any;
    if (rc == RP_OK)
        ok = a.any && rp_verify(&g, &plan, &v, &err) == RP_OK &&
             plan.claims.time_ns >= a.time_ns && plan.claims.lower_bound_ns <= a.time_ns &&
             (!a.keep_all_fits || plan.claims.time_ns == g.total_time_ns);
    *optimal += rc == RP_OK ? plan.claims.time_ns == a.time_ns : !a.any;
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

/* Nothing is claimed that fails in another order; a first-run order in which nothing need
 * run again is found; few plans are not the best of all orders. */
static void plans_in_any_order_against_all_orders(void) {
    uint32_t n = 60, optimal = 0, all = n;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!agrees_with_all_orders(seed, &optimal)) {
            rp_gen_failed(seed);
            CU_FAIL("a false claim, or a free order that was not found");
        }
    CU_ASSERT(optimal >= all * 9 / 10 || getenv("RP_SEED") != NULL);
}

static bool never(void *arg) {
    (void)arg;
    return false;
}

/* The steps are a plan that verify takes, in time and memory as the sequence says; ops that
 * run once keep their order. */
static bool order_is_sound(uint64_t seed, uint32_t *n_again) {
    struct rp_gen_shape shape = rp_gen_small(10 + (uint32_t)(seed % 60));
    struct rp_graph g;
    struct rp_problem p;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    struct rp_plan plan = {0};
    struct rp_order_options o = {
        .seed = seed, .again = seed % 4 > 0, .work = 200000, .stop = never};
    bool ok = true;
    uint32_t once = 0;
    shape.once_percent = 20;
    rp_gen_graph(seed, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false);
    rp_problem_init(&p, &g, g.fixed_bytes + (all - g.fixed_bytes) / 10 * 7, false, NULL);
    if (rp_order_search(&p, &o, &plan)) {
        uint32_t *order = rp_calloc(g.n_ops, sizeof *order);
        plan.graph_name = rp_strdup(g.name);
        plan.graph_sha256 = rp_strdup(g.sha256);
        plan.budget_bytes = RP_MAX_QUANTITY;
        ok = rp_plan_claim(&g, &plan, &err) == RP_OK &&
             rp_verify(&g, &plan, &v, &err) == RP_OK &&
             (o.again || plan.claims.recompute_ns == 0);
        rp_plan_first_runs(&g, &plan, order);
        for (uint32_t i = 0; i < g.n_ops; i++) {
            bool again = g.ops[order[i]].recompute;
            ok = ok && (again || order[i] >= once);
            once = again ? once : order[i];
        }
        *n_again += plan.claims.recompute_ns > 0;
        free(order);
    }
    rp_plan_fini(&plan);
    rp_problem_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void sequences_are_plans_and_keep_the_order_of_ops_that_run_once(void) {
    uint32_t n = 60, again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!order_is_sound(seed, &again)) {
            rp_gen_failed(seed);
            CU_FAIL("no plan, or another one than asked for, or run-once ops exchanged");
        }
    CU_ASSERT(again > 5 || getenv("RP_SEED") != NULL);
}

void suite_order(void) {
    RP_SUITE("order");
    RP_TEST(plans_in_any_order_against_all_orders);
    RP_TEST(sequences_are_plans_and_keep_the_order_of_ops_that_run_once);
}
