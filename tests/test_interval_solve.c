/* Tests of the optimum of the interval model, compared with brute force over all
 * programs. */
#include "solve/milp/interval_solve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "brute_copies.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/milp/interval_cuts.h"
#include "solve/milp/interval_point.h"
#include "verify/verifier.h"

/* A tiny graph, and what a plan for it may do. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_brute_copies o;
};

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 3));
    uint32_t op;
    shape.max_outputs = 1 + (uint32_t)(seed / 7 % 2);
    shape.training = seed % 3 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 2 ? 15 : 0;
    shape.n_sources = seed % 3;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 200);
    t->g.device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 200);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, seed % 6 == 0 ? 1500 : RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 4 * 500;
    t->o = (struct rp_brute_copies){.limit_bytes = t->p.limit_bytes,
                                    .host_limit_bytes = t->p.host_limit_bytes,
                                    .recompute = seed % 11 != 0,
                                    .swap = true,
                                    .max_states = 100000};
    if (!t->o.recompute)
        rp_instance_run_once(&t->p);
}

static void task_fini(struct task *t) {
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

/* Solves the model. If there is a point and `s` is not NULL, *s becomes its schedule, which
 * the caller owns. */
static struct rp_interval_result solve(const struct task *t, uint64_t horizon_ns,
                                       struct rp_schedule *s) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 2000000};
    rp_interval_model_init(&m, &t->p, horizon_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    if (r.found && s != NULL) {
        rp_schedule_empty(&t->p, s);
        rp_interval_schedule(&m, x, s);
    }
    free(x);
    rp_interval_model_fini(&m);
    return r;
}

/* Is the schedule's plan valid, and does verify find the time that the planner expects? */
static bool verify_agrees(const struct task *t, const struct rp_schedule *s, uint64_t ns) {
    struct rp_plan plan = {.graph_name = rp_strdup(t->g.name),
                           .graph_sha256 = rp_strdup(t->g.sha256),
                           .budget_bytes = t->g.fixed_bytes + t->p.limit_bytes};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    rp_schedule_steps(&t->p, s, NULL, &plan);
    bool ok = rp_plan_fill_claims(&t->g, &plan, &err) == RP_OK &&
              plan.claims.time_ns == ns && rp_verify(&t->g, &plan, &v, &err) == RP_OK;
    rp_plan_fini(&plan);
    return ok;
}

/* 515 graphs that brute force can solve. On 131 of them no plan is as fast as keep-all, and
 * on 116 of these the bound is the optimum. On the others it is not: frees and copies are
 * seen at the ends of stages only, and so is what runs in the middle of a stage. */
static void the_optimum_is_never_above_that_of_all_programs(void) {
    uint32_t n = 720, n_known = 0, n_slower = 0, n_equal = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct task t;
        uint64_t best = 0;
        task_init(&t, seed);
        if (t.p.n_tensors <= RP_BRUTE_COPIED &&
            rp_brute_copies_best(&t.g, &t.o, &best) == RP_BRUTE_FOUND) {
            uint64_t bound_ns = solve(&t, 2 * best, NULL).bound_ns;
            bool slower = best > t.g.total_time_ns;
            n_known++;
            n_slower += slower;
            n_equal += slower && bound_ns == best;
            if (bound_ns > best || solve(&t, best, NULL).bound_ns > best) {
                rp_gen_failed(seed);
                CU_FAIL("a bound above the time of a program");
            }
        }
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || n_known >= 500);
    CU_ASSERT(rp_gen_one_seed() || 100 * n_equal >= 85 * n_slower);
}

/* Copies of this graph take up to 10^10 times as long as an op. The search finds a plan of
 * this time without recomputation, so no bound is above it. */
static void copies_may_take_far_longer_than_ops(void) {
    const uint64_t plan_ns = 395724936188;
    struct task t = {.o = {.recompute = false}};
    struct rp_err err = {{0}};
    CU_ASSERT_FATAL(rp_graph_load("tests/data/milp/slow-copies.json", &t.g, &err) == RP_OK);
    rp_instance_init(&t.p, &t.g, 108407, true, NULL);
    rp_instance_allow_swap(&t.p, RP_MAX_QUANTITY);
    rp_instance_run_once(&t.p);
    struct rp_interval_result r = solve(&t, plan_ns / 4 * 5, NULL);
    CU_ASSERT(r.bound_ns <= plan_ns);
    CU_ASSERT(r.bound_ns > plan_ns / 2);
    task_fini(&t);
}

/* Three dense layers near the floor, where everything goes to the host or is computed
 * again. The best plan takes 12.95 ms. The linear relaxation is 13% below that. What closes
 * it are rows separated in the tree: with those of the root alone the proof takes 240,000.
 */
static void a_chain_is_proved_with_little_work(void) {
    const uint64_t plan_ns = 12950000;
    struct task t = {{0}};
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_err err = {{0}};
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 100000};
    CU_ASSERT_FATAL(rp_graph_load("tests/data/milp/chain.json", &t.g, &err) == RP_OK);
    rp_instance_init(&t.p, &t.g, 17813196, false, NULL);
    rp_instance_allow_swap(&t.p, RP_MAX_QUANTITY);
    rp_interval_model_init(&m, &t.p, plan_ns - 1);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    CU_ASSERT(r.finished && !r.found);
    CU_ASSERT_EQUAL(r.bound_ns, plan_ns);
    CU_ASSERT(r.root_bound_ns < plan_ns / 100 * 90);
    free(x);
    rp_interval_model_fini(&m);
    task_fini(&t);
}

/* Where the point of the optimum describes a schedule that fits, its plan takes the time
 * that verify finds. On 169 of 175 graphs it is the
 * bound, so the plan is optimal. */
static void the_optimum_written_back_is_a_plan(void) {
    uint32_t n = 200, n_fit = 0, n_exact = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct task t;
        struct rp_schedule s = {0};
        task_init(&t, seed);
        uint64_t horizon_ns = 2 * t.g.total_time_ns;
        struct rp_interval_result r = solve(&t, horizon_ns, &s);
        struct rp_cost c = {0};
        if (r.found)
            c = rp_schedule_cost(&t.p, &s);
        if (c.sound && c.peak_bytes <= t.p.limit_bytes &&
            c.host_bytes <= t.p.host_limit_bytes) {
            n_fit++;
            n_exact += c.time_ns == r.bound_ns;
            if (c.time_ns < r.bound_ns || !verify_agrees(&t, &s, c.time_ns)) {
                rp_gen_failed(seed);
                CU_FAIL("a plan below the bound, or not as verify sees it");
            }
        }
        rp_schedule_fini(&s);
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || 100 * n_exact >= 90 * n_fit);
    CU_ASSERT(rp_gen_one_seed() || n_fit >= 150);
}

/* A step of 14 ops whose copies take about as long as its runs, near the floor. */
static void training_task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(14);
    uint32_t op;
    shape.max_outputs = 1;
    shape.training = true;
    shape.once_percent = 0;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = t->g.device.d2h_bytes_per_s = 50000000000u;
    t->g.device.copy_latency_ns = 0;
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 3 * 1000;
}

static uint64_t root_bound_ns(const struct task *t, uint32_t skip_cuts) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK,
                                    .work = 2000000,
                                    .skip_cuts = skip_cuts,
                                    .root_only = true};
    rp_interval_model_init(&m, &t->p, 2 * t->g.total_time_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    free(x);
    rp_interval_model_fini(&m);
    return r.bound_ns;
}

/* For each family there are graphs whose linear relaxation has a lower bound without its
 * rows, though all others are there. */
static void each_family_of_rows_lifts_a_bound(void) {
    uint32_t lifts[RP_CUT_FAMILIES] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task t;
        training_task_init(&t, seed);
        uint64_t all_ns = root_bound_ns(&t, 0), none_ns = root_bound_ns(&t, UINT32_MAX);
        for (uint32_t k = 0; k < RP_CUT_FAMILIES && all_ns > none_ns; k++)
            lifts[k] += root_bound_ns(&t, 1u << k) < all_ns;
        task_fini(&t);
    }
    for (uint32_t k = 0; k < RP_CUT_FAMILIES; k++)
        CU_ASSERT(lifts[k] > 0);
}

void suite_interval_solve(void) {
    RP_SUITE("interval_solve");
    RP_TEST(copies_may_take_far_longer_than_ops);
    RP_TEST(the_optimum_written_back_is_a_plan);
    RP_TEST(a_chain_is_proved_with_little_work);
    RP_TEST(each_family_of_rows_lifts_a_bound);
    RP_TEST(the_optimum_is_never_above_that_of_all_programs);
}
