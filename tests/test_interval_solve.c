/* Tests of the optimum of the interval model, compared with brute force over all
 * programs. */
#include "solve/milp/interval_solve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engines.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/milp/interval_point.h"
#include "solve/milp_cuts/interval_cuts.h"
#include "tiny_task.h"
#include "verify/verifier.h"

/* A graph of tests/data/milp, whose tensors may all go to the host. */
static void task_load(struct rp_tiny_task *t, const char *path, uint64_t budget_bytes,
                      bool addressed) {
    struct rp_err err = {{0}};
    *t = (struct rp_tiny_task){0};
    CU_ASSERT_FATAL(rp_graph_load(path, &t->g, &err) == RP_OK);
    rp_instance_init(&t->p, &t->g, budget_bytes, addressed, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
}

/* Solves the model. If there is a point and `s` is not NULL, *s becomes its schedule, which
 * the caller owns. */
static struct rp_interval_result solve_within(const struct rp_tiny_task *t,
                                              uint64_t horizon_ns, uint64_t work,
                                              struct rp_schedule *s) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = work};
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

static struct rp_interval_result solve(const struct rp_tiny_task *t, uint64_t horizon_ns,
                                       struct rp_schedule *s) {
    return solve_within(t, horizon_ns, 2000000, s);
}

/* Is the schedule's plan valid, and does verify find the time that the planner expects? */
static bool verify_agrees(const struct rp_tiny_task *t, const struct rp_schedule *s,
                          uint64_t ns) {
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
        struct rp_tiny_task t;
        uint64_t best = 0;
        rp_tiny_task_init(&t, seed, true);
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
        rp_tiny_task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || n_known >= 500);
    CU_ASSERT(rp_gen_one_seed() || 100 * n_equal >= 85 * n_slower);
}

/* Copies of this graph take up to 10^10 times as long as an op. The search finds a plan of
 * this time without recomputation, so no bound is above it. */
static void copies_may_take_far_longer_than_ops(void) {
    const uint64_t plan_ns = 395724936188;
    struct rp_tiny_task t;
    task_load(&t, "tests/data/milp/slow-copies.json", 108407, true);
    rp_instance_run_once(&t.p);
    struct rp_interval_result r = solve(&t, plan_ns / 4 * 5, NULL);
    CU_ASSERT(r.bound_ns <= plan_ns);
    CU_ASSERT(r.bound_ns > plan_ns / 2);
    rp_tiny_task_fini(&t);
}

/* Ops of this graph take from 1 ns to 1.6 s. GLPK called its program infeasible while the
 * coefficients of the shortest ones were in it. The search finds a plan of this time. With
 * so much work its nodes prove more than its root. */
static void ops_may_take_far_longer_than_others(void) {
    const uint64_t plan_ns = 75416585186;
    struct rp_tiny_task t;
    task_load(&t, "tests/data/milp/wide-times.json", 94375, true);
    struct rp_interval_result r = solve_within(&t, 2 * plan_ns, 3200000, NULL);
    CU_ASSERT(r.bound_ns <= plan_ns && r.work > 0);
    CU_ASSERT(r.bound_ns > r.root_bound_ns);
    CU_ASSERT(r.bound_ns > t.g.total_time_ns);
    rp_tiny_task_fini(&t);
}

/* Three dense layers near the floor, where everything goes to the host or is computed
 * again. The best plan takes 12.95 ms, and the linear relaxation proves it: without (M13e)
 * it is 13% below. */
static void a_chain_is_proved_with_little_work(void) {
    const uint64_t plan_ns = 12950000;
    struct rp_tiny_task t;
    task_load(&t, "tests/data/milp/chain.json", 17813196, false);
    struct rp_interval_result r = solve_within(&t, plan_ns - 1, 100000, NULL);
    CU_ASSERT(r.finished && !r.found);
    CU_ASSERT_EQUAL(r.bound_ns, plan_ns);
    CU_ASSERT(r.root_bound_ns == plan_ns && r.nodes == 0);
    rp_tiny_task_fini(&t);
}

/* Where the point of the optimum describes a schedule that fits, its plan takes the time
 * that verify finds. On 169 of 175 graphs it is the
 * bound, so the plan is optimal. */
static void the_optimum_written_back_is_a_plan(void) {
    uint32_t n = 200, n_fit = 0, n_exact = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++) {
        struct rp_tiny_task t;
        struct rp_schedule s = {0};
        rp_tiny_task_init(&t, seed, true);
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
        rp_tiny_task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || 100 * n_exact >= 90 * n_fit);
    CU_ASSERT(rp_gen_one_seed() || n_fit >= 150);
}

/* A step of 14 ops whose copies take about as long as its runs, near the floor. */
static void training_task_init(struct rp_tiny_task *t, uint64_t seed) {
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

static uint64_t root_bound_ns(const struct rp_tiny_task *t, uint64_t horizon_ns,
                              uint32_t skip_cuts) {
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK,
                                    .work = 2000000,
                                    .skip_cuts = skip_cuts,
                                    .root_only = true};
    rp_interval_model_init(&m, &t->p, horizon_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    free(x);
    rp_interval_model_fini(&m);
    return r.bound_ns;
}

static bool all_lift(const uint32_t *lifts) {
    for (uint32_t k = 0; k <= RP_CUT_ROUNDING; k++)
        if (lifts[k] == 0 && k != RP_CUT_OUT)
            return false;
    return true;
}

static void count_lifts(const struct rp_tiny_task *t, uint64_t horizon_ns,
                        uint32_t *lifts) {
    uint64_t all_ns = root_bound_ns(t, horizon_ns, 0);
    uint64_t none_ns = root_bound_ns(t, horizon_ns, UINT32_MAX);
    for (uint32_t k = 0; k <= RP_CUT_ROUNDING && all_ns > none_ns; k++)
        lifts[k] += root_bound_ns(t, horizon_ns, 1u << k) < all_ns;
}

/* For each family but (M10) there are graphs whose linear relaxation has a lower bound
 * without its rows, though all others are there. What (M10) says at fractional points,
 * (M13b) and (M13c) say too. Rows about V say more where the horizon is near. */
static void each_family_of_rows_lifts_a_bound(void) {
    uint32_t lifts[RP_CUT_ROUNDING + 1] = {0};
    for (uint64_t seed = 1; seed <= 90 && !all_lift(lifts); seed++) {
        struct rp_tiny_task t;
        training_task_init(&t, seed);
        count_lifts(&t, 2 * t.g.total_time_ns, lifts);
        count_lifts(&t, t.g.total_time_ns * 6 / 5, lifts);
        rp_tiny_task_fini(&t);
    }
    CU_ASSERT(all_lift(lifts));
}

/* ---- single searches ---- */

/* What a search of a training task, or with slow copies, gives and counts. */
struct search {
    uint64_t seed;
    uint32_t horizon_percent; /* of the time of all ops */
    uint32_t slow;            /* how much slower than its ops its copies are */
    uint64_t work;
    const char *expected;
    uint32_t skip_cuts; /* all: only points that are cut off bring rows */
};

static char *counters(const struct rp_interval_result *r) {
    return rp_format("bound %" PRIu64 " root %" PRIu64
                     "%s%s fixed %u cuts %u nodes %" PRIu64 " work %" PRIu64,
                     r->bound_ns, r->root_bound_ns, r->found ? " found" : "",
                     r->finished ? " finished" : "", r->n_fixed, r->n_cuts, r->nodes,
                     r->work);
}

/* All but those about V, which only bounds are told. */
static bool meets_all_rows(const struct rp_interval_model *m, const double *x) {
    struct rp_interval_cuts cuts;
    struct rp_row_set found = {0};
    rp_interval_cuts_init(&cuts, m);
    bool all = rp_interval_cuts_find(&cuts, x, 1e-5, 1u << RP_CUT_ROOM, &found) == 0;
    for (uint32_t i = 0; i < m->rows.n; i++)
        all = all && (m->row_number[i] >= 14 ||
                      rp_row_set_left(&m->rows, i, x) <= m->rows.rhs[i] + 1e-5);
    rp_row_set_fini(&found);
    rp_interval_cuts_fini(&cuts);
    return all;
}

static double cost_ns(const struct rp_interval_model *m, const double *x) {
    double cost = m->fixed_cost;
    for (uint32_t j = m->n_integer; j < m->n_cols; j++)
        cost += x[j];
    return cost / m->time_scale;
}

static void one_search(const struct search *s) {
    struct rp_tiny_task t;
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {
        .engine = RP_ENGINE_GLPK, .work = s->work, .skip_cuts = s->skip_cuts};
    training_task_init(&t, s->seed);
    for (uint32_t x = 0; x < t.p.n_tensors; x++) {
        t.p.out_ns[x] *= s->slow;
        t.p.in_ns[x] *= s->slow;
    }
    rp_interval_model_init(&m, &t.p, t.g.total_time_ns * s->horizon_percent / 100);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    CU_ASSERT(!r.found || meets_all_rows(&m, x));
    char *text = counters(&r);
    if (strcmp(text, s->expected) != 0)
        printf("    {%" PRIu64 ", %u, %u, %" PRIu64 ",\n     \"%s\"},\n", s->seed,
               s->horizon_percent, s->slow, s->work, text);
    CU_ASSERT_STRING_EQUAL(text, s->expected);
    free(text);
    free(x);
    rp_interval_model_fini(&m);
    rp_tiny_task_fini(&t);
}

/* Searches do the same as before. */
static void single_searches_are_the_same(void) {
    static const struct search searches[] = {
        {1, 101, 1, 200000, "bound 655 root 0 finished fixed 0 cuts 0 nodes 0 work 0"},
        {1, 101, 30, 200000, "bound 655 root 0 finished fixed 0 cuts 0 nodes 0 work 0"},
        {1, 120, 1, 200000,
         "bound 698 root 678 found finished fixed 0 cuts 1130 nodes 21 work 45308"},
        {1, 120, 30, 200000,
         "bound 778 root 778 finished fixed 240 cuts 122 nodes 0 work 1431"},
        {1, 180, 30, 200000,
         "bound 858 root 815 found finished fixed 0 cuts 323 nodes 23 work 21783"},
        {2, 180, 1000, 200000,
         "bound 1012 root 1012 found finished fixed 0 cuts 271 nodes 3 work 5787"},
        {3, 120, 1, 200000,
         "bound 790 root 790 finished fixed 450 cuts 1174 nodes 0 work 19293"},
        {3, 120, 30, 200000,
         "bound 790 root 790 finished fixed 249 cuts 129 nodes 0 work 1504"},
        {4, 120, 30, 200000,
         "bound 683 root 683 finished fixed 174 cuts 136 nodes 0 work 1043"},
        {4, 120, 1, 200000,
         "bound 601 root 596 found finished fixed 0 cuts 656 nodes 13 work 16173"},
        {6, 120, 1, 200000,
         "bound 698 root 698 finished fixed 540 cuts 767 nodes 0 work 10088"},
        {1, 120, 1, 20000, "bound 685 root 674 fixed 0 cuts 674 nodes 17 work 20041"},
        /* A tensor without bytes stays after its last reader. A path cut took that for a
         * need: the bound was 801, and there is a program of 785 ns. */
        {1358, 106, 3, 100000,
         "bound 785 root 785 found finished fixed 0 cuts 726 nodes 1 work 9146"},
        {5, 101, 1, 200000,
         "bound 664 root 664 found finished fixed 0 cuts 510 nodes 21 work 12540"},
        {4, 180, 1, 10000, "bound 596 root 591 fixed 0 cuts 481 nodes 9 work 10005"},
        {3, 180, 1, 1000, "bound 655 root 655 fixed 0 cuts 34 nodes 0 work 1023"},
        {6, 180, 1000, 20000,
         "bound 1046 root 1046 finished fixed 0 cuts 161 nodes 0 work 1975"},
        {4, 10000, 1000, 100000,
         "bound 736 root 736 found finished fixed 0 cuts 738 nodes 49 work 48896"},
        {2, 10000, 1000, 50000,
         "bound 1012 root 1012 found finished fixed 0 cuts 517 nodes 58 work 35365"},
        {6, 60000, 1000, 50000,
         "bound 32714 root 32714 fixed 0 cuts 988 nodes 0 work 50110"},
        {3, 20000, 100, 50000, "bound 1050 root 1050 fixed 0 cuts 1098 nodes 0 work 50098"},
        {4, 10000, 1000, 100000,
         "bound 736 root 631 found finished fixed 0 cuts 327 nodes 46 work 40480",
         UINT32_MAX},
        {2, 10000, 1000, 100000,
         "bound 1012 root 916 found finished fixed 0 cuts 254 nodes 12 work 21760",
         UINT32_MAX},
        {5, 120, 30, 10000,
         "bound 664 root 664 found finished fixed 0 cuts 145 nodes 23 work 6542",
         UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        one_search(&searches[i]);
}

/* The same graphs as above, on both engines: rows that HiGHS's point violates are added and
 * it is solved again. */
static void find_points(enum rp_engine e) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct rp_tiny_task t;
        struct rp_interval_model m;
        struct rp_interval_result r;
        struct rp_interval_options o = {.engine = e, .work = 2000000};
        rp_tiny_task_init(&t, seed, true);
        rp_interval_model_init(&m, &t.p, 2 * t.g.total_time_ns);
        double *x = rp_calloc(m.n_cols, sizeof *x);
        rp_interval_solve(&m, &o, x, &r);
        CU_ASSERT(r.finished);
        if (r.found) {
            CU_ASSERT(meets_all_rows(&m, x));
            CU_ASSERT_DOUBLE_EQUAL(cost_ns(&m, x), (double)r.bound_ns, 0.01);
        }
        free(x);
        rp_interval_model_fini(&m);
        rp_tiny_task_fini(&t);
    }
}
static void what_is_found_meets_all_rows_and_costs_the_bound(void) {
    rp_on_engines(find_points);
}

/* No plan fits, as a row says that cannot be met. So nothing is solved. */
static void a_model_without_points_needs_no_search(void) {
    struct rp_tiny_task t;
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 1000};
    training_task_init(&t, 1);
    t.p.limit_bytes /= 2;
    rp_interval_model_init(&m, &t.p, 2 * t.g.total_time_ns);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    rp_interval_solve(&m, &o, x, &r);
    CU_ASSERT(m.empty && r.finished && !r.found && r.work == 0);
    CU_ASSERT_EQUAL(r.bound_ns, m.horizon_ns + m.divisor_ns);
    free(x);
    rp_interval_model_fini(&m);
    rp_tiny_task_fini(&t);
}

void suite_interval_solve(void) {
    RP_SUITE("interval_solve");
    RP_TEST(single_searches_are_the_same);
    RP_TEST(what_is_found_meets_all_rows_and_costs_the_bound);
    RP_TEST(a_model_without_points_needs_no_search);
    RP_TEST(copies_may_take_far_longer_than_ops);
    RP_TEST(ops_may_take_far_longer_than_others);
    RP_TEST(the_optimum_written_back_is_a_plan);
    RP_TEST(a_chain_is_proved_with_little_work);
    RP_TEST(each_family_of_rows_lifts_a_bound);
    RP_TEST(the_optimum_is_never_above_that_of_all_programs);
}
