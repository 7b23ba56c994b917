/* Tests of lower bounds on graphs that are too large for brute force: none is above the
 * time of a plan that A* or a whole search finds. */
#include "base/mem.h"
#include "base/numbers.h"
#include "gen.h"
#include "interval_runs.h"
#include "run.h"
#include "solve/bound/copies_bound.h"
#include "solve/core/plan_claims.h"
#include "solve/exhaustive/astar.h"
#include "solve/milp/interval_point.h"
#include "solve/milp/interval_windows.h"
#include "solve/moment/moment_bound.h"
#include "solve/order/step_end.h"
#include "solve/solver.h"
#include "verify/verifier.h"

enum { MAX_STATES = 100000, PLAN_WORK = 10000000 };

/* A graph of 8 to 17 ops near its floor, and a plan for it. */
struct task {
    uint64_t seed;
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan plan;
    struct rp_interval_program q; /* the plan's */
    struct rp_rng r;
};

static uint64_t one_of(struct rp_rng *r, const uint64_t *values, uint32_t n) {
    return values[rp_rng_below(r, n)];
}
#define ONE_OF(r, ...)                                                                     \
    one_of(r, (const uint64_t[]){__VA_ARGS__},                                             \
           sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

/* Some tensors have no bytes, and many the same number. */
static void make_ties(struct rp_graph *g, struct rp_rng *r) {
    uint32_t no_bytes_percent = (uint32_t)ONE_OF(r, 0, 10, 30);
    uint64_t unit = ONE_OF(r, 1, 500, 1000);
    struct rp_err err = {{0}};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        g->tensors[x].bytes =
            rp_rng_percent(r, no_bytes_percent) ? 0 : g->tensors[x].bytes / unit * unit;
    for (uint32_t j = 0; j < g->n_ops; j++)
        g->ops[j].workspace_bytes = g->ops[j].workspace_bytes / unit * unit;
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "ties", &err), RP_OK);
}

static void draw_graph(struct rp_graph *g, uint64_t seed, struct rp_rng *r) {
    struct rp_gen_shape shape = rp_gen_small(8 + (uint32_t)rp_rng_below(r, 10));
    shape.max_inputs = (uint32_t)ONE_OF(r, 2, 3, 4);
    shape.max_outputs = (uint32_t)ONE_OF(r, 1, 1, 1, 2);
    shape.training = rp_rng_percent(r, 75);
    shape.once_percent = (uint32_t)ONE_OF(r, 0, 0, 0, 15);
    shape.rules_percent = (uint32_t)ONE_OF(r, 0, 0, 0, 15);
    shape.workspace_percent = (uint32_t)ONE_OF(r, 0, 30);
    shape.n_sources = (uint32_t)rp_rng_below(r, 4);
    shape.reach = (uint32_t)ONE_OF(r, 0, 0, 3);
    shape.keep_percent = (uint32_t)ONE_OF(r, 0, 5, 15, 50);
    shape.max_time_ns = ONE_OF(r, 10, 100, 1000);
    rp_gen_graph(seed, &shape, g);
    make_ties(g, r);
    g->device.h2d_bytes_per_s = 1000000000u * ONE_OF(r, 2, 5, 20, 50, 200);
    g->device.d2h_bytes_per_s = rp_rng_percent(r, 60)
                                    ? g->device.h2d_bytes_per_s
                                    : 1000000000u * ONE_OF(r, 2, 5, 20, 50, 200);
    g->device.copy_latency_ns = ONE_OF(r, 0, 0, 20);
}

/* Whether A* finds a plan. */
static bool find_plan(struct task *t) {
    struct rp_astar_options o = {UINT64_MAX / 4, UINT64_MAX, PLAN_WORK, NULL, NULL};
    struct rp_astar *a = rp_astar_new(&t->p, MAX_STATES, PLAN_WORK);
    bool found = rp_astar_search(a, &o, &t->plan)->plan_ns < UINT64_MAX;
    rp_astar_free(a);
    return found;
}

static bool verify_accepts(struct task *t) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    t->plan.graph_name = rp_strdup(t->g.name);
    t->plan.graph_sha256 = rp_strdup(t->g.sha256);
    t->plan.budget_bytes = t->g.fixed_bytes + t->p.limit_bytes;
    return rp_plan_fill_claims(&t->g, &t->plan, &err) == RP_OK &&
           rp_verify(&t->g, &t->plan, &v, &err) == RP_OK &&
           t->plan.host_bytes <= t->p.host_limit_bytes;
}

/* False if there is no plan to compare with, or one as fast as keep-all. */
static bool task_init(struct task *t, uint64_t seed) {
    uint32_t op;
    *t = (struct task){.seed = seed, .r = {seed * 77 + 5}};
    draw_graph(&t->g, seed, &t->r);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    if (rp_rng_percent(&t->r, 85))
        rp_instance_allow_swap(&t->p,
                               ONE_OF(&t->r, RP_MAX_QUANTITY, RP_MAX_QUANTITY, 1500, 5000));
    bool once = rp_rng_percent(&t->r, 8);
    if (once)
        rp_instance_run_once(&t->p);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + ONE_OF(&t->r, 0, 0, 500, 1000, 2000);
    struct rp_step_end_options end = {.any_order = rp_rng_percent(&t->r, 30),
                                      .may_run = !once};
    if (rp_rng_percent(&t->r, 80))
        rp_instance_add_end_if_needed(&t->p, end);
    if (once)
        rp_instance_run_once(&t->p);
    if (!find_plan(t))
        return false;
    CU_ASSERT(verify_accepts(t));
    CU_ASSERT(rp_interval_program_read(&t->p, NULL, &t->plan, &t->q));
    CU_ASSERT_EQUAL(t->q.time_ns, t->plan.claims.time_ns);
    return t->q.time_ns > t->g.total_time_ns;
}

static void task_fini(struct task *t) {
    rp_interval_program_fini(&t->q);
    rp_instance_fini(&t->p);
    rp_plan_fini(&t->plan);
    rp_graph_fini(&t->g);
}

static void check(const struct task *t, uint64_t bound_ns, uint64_t plan_ns) {
    if (bound_ns > plan_ns) {
        rp_gen_failed(t->seed);
        CU_FAIL("a bound above the time of a plan");
    }
}

/* How many graphs there are, and of how many a bound is above the sum of op times; of how
 * many the interval model proves the plan optimal; of how many the instance has `end`. */
struct tally {
    uint32_t n, ends, optimal, windows, moment;
};

static void whole_holds(struct task *t, struct tally *tally) {
    uint64_t ns = t->q.time_ns, horizons[] = {ns, ns + ns / 50, ns + ns / 4};
    bool optimal = false;
    for (uint32_t k = 0; k < 3; k++) {
        struct rp_interval_model m;
        rp_interval_model_init(&m, &t->p, horizons[k]);
        uint64_t bound_ns = rp_solve_and_free(&m, 20000).bound_ns;
        check(t, bound_ns, ns);
        optimal = optimal || bound_ns == ns;
    }
    tally->optimal += optimal;
}

static void window_holds(struct task *t, struct tally *tally) {
    uint32_t stages = t->p.n_ops + 1, first = (uint32_t)rp_rng_below(&t->r, stages);
    uint32_t last = first + (uint32_t)rp_rng_below(&t->r, rp_min_u32(stages - first, 9));
    struct rp_interval_model m;
    uint64_t beside_ns = 0;
    for (uint32_t u = first; u <= last; u++)
        beside_ns += t->q.d_ns[u];
    struct rp_interval_window w = {
        .first = first,
        .last = last,
        .most_ns = beside_ns + (rp_rng_percent(&t->r, 50) ? 0 : beside_ns / 10),
        .max_runs = (uint32_t)ONE_OF(&t->r, UINT32_MAX, 0, 2, 5)};
    rp_interval_model_init_window(&m, &t->p, t->q.time_ns, &w);
    uint64_t bound_ns = rp_solve_and_free(&m, 8000).bound_ns - t->g.total_time_ns;
    check(t, bound_ns, beside_ns);
    tally->windows += bound_ns > 0;
}

static void moment_holds(const struct task *t, struct tally *tally) {
    bool above = false;
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t ns = t->q.time_ns;
        struct rp_moment_statistics statistics = {0};
        struct rp_moment_bound_options o = {.any_order = k >= 2,
                                            .horizon_ns = k % 2 ? ns : ns + ns / 4,
                                            .goal_ns = UINT64_MAX,
                                            .work = 100000};
        uint64_t bound_ns = rp_moment_bound(&t->p, &o, &statistics).bound_ns;
        check(t, bound_ns, ns);
        above = above || bound_ns > t->g.total_time_ns;
    }
    tally->moment += above;
}

/* Of A* with too few states, and too little work, to find the plan again. */
static void astar_holds(const struct task *t) {
    for (uint32_t max_states = 1; max_states < MAX_STATES; max_states *= 40) {
        uint64_t work = 300000 + 3000 * (uint64_t)max_states;
        struct rp_astar_options o = {t->q.time_ns + 1, UINT64_MAX, work, NULL, NULL};
        struct rp_astar *a = rp_astar_new(&t->p, max_states, (double)work);
        struct rp_plan plan = {0};
        check(t, rp_astar_search(a, &o, &plan)->bound_ns, t->q.time_ns);
        rp_astar_free(a);
        rp_plan_fini(&plan);
    }
}

/* The interval model with horizons at the plan's time and above, windows of it that take
 * what the plan takes there or a little more, moments, and A* itself. RP_SEED runs any
 * other seed. */
static void no_bound_is_above_a_plan(void) {
    uint32_t n = 80;
    struct tally tally = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        if (task_init(&t, seed)) {
            tally.n++;
            tally.ends += t.p.has_end;
            whole_holds(&t, &tally);
            for (uint32_t k = 0; k < 6; k++)
                window_holds(&t, &tally);
            moment_holds(&t, &tally);
            astar_holds(&t);
        }
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || tally.n >= 40);
    CU_ASSERT(rp_gen_one_seed() || tally.ends >= 12);
    CU_ASSERT(rp_gen_one_seed() || 100 * tally.optimal >= 70 * tally.n);
    CU_ASSERT(rp_gen_one_seed() || tally.windows >= tally.n);
    CU_ASSERT(rp_gen_one_seed() || 100 * tally.moment >= 50 * tally.n);
}

/* Returns the bound in shares of the time of the best plan that runs each op once; 0: there
 * is none, or the bound is no more than the sum of all op times. */
static double copies_bound_of(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 9));
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    shape.training = seed % 3 > 0;
    shape.bandwidths = true;
    shape.keep_percent = seed % 5 == 0 ? 30 : 0;
    rp_gen_graph(seed, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false), above = all - g.fixed_bytes;
    struct rp_solve_options o = {.budget_bytes = all - above * (1 + seed % 5) / 10,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = 0.01,
                                 .ignore_clock = true};
    rp_instance_init(&p, &g, o.budget_bytes, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_run_once(&p);
    uint64_t bound_ns = rp_copies_bound_ns(&p);
    rp_rc rc = rp_solve(&g, &o, &plan, &report, &err);
    bool tells = rc == RP_OK && bound_ns > g.total_time_ns;
    double share = tells ? (double)bound_ns / (double)plan.claims.time_ns : 0;
    CU_ASSERT(bound_ns >= g.total_time_ns);
    rp_plan_fini(&plan);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return share;
}

static void no_bound_of_copies_is_above_a_plan_that_runs_each_op_once(void) {
    uint32_t n = 200, tells = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        double share = copies_bound_of(seed);
        if (share > 1) {
            rp_gen_failed(seed);
            CU_FAIL("a bound of copies is above a plan");
        }
        tells += share > 0;
    }
    CU_ASSERT(tells > 20 || rp_gen_one_seed());
}

void suite_bounds_hold(void) {
    RP_SUITE("bounds_hold");
    RP_TEST(no_bound_of_copies_is_above_a_plan_that_runs_each_op_once);
    RP_TEST(no_bound_is_above_a_plan);
}
