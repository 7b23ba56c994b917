/* Tests of planning with sources that may live on the host: instances, schedules, first
 * schedules and whole plans. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "layers.h"
#include "run.h"
#include "solve/construct/construct_homes.h"
#include "solve/construct/copy_ahead.h"
#include "solve/construct/greedy.h"
#include "solve/construct/keep_sources.h"
#include "solve/core/schedule.h"
#include "solve/core/warm_start.h"
#include "solve/local/offload_all.h"
#include "solve/solver.h"
#include "verify/verifier.h"

static void gen_graph(uint64_t seed, uint32_t n_ops, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    shape.training = true;
    shape.version_2 = true;
    shape.n_sources = 5;
    rp_gen_graph(seed, &shape, g);
    g->device.d2h_bytes_per_s = g->device.h2d_bytes_per_s = 40000000000u;
    /* Dump and parse it, so that the digest is right. */
    rp_graph_dump(g, &text, &len);
    rp_graph_fini(g);
    CU_ASSERT_FATAL(rp_graph_parse(text, len, "random", g, &err) == RP_OK);
    free(text);
}

/* ---- instances ---- */

/* One op reads w, one updates it, one reads it again, with the homes of w and of b, which
 * no op uses. */
static const char *const three_ops =
    "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"g\",\"time_source\":\"imported:"
    "x\","
    "\"device\":{\"name\":\"d\",\"h2d_bytes_per_s\":1000000000,"
    "\"d2h_bytes_per_s\":1000000000,\"alignment_bytes\":1},"
    "\"tensors\":[{\"name\":\"w\",\"bytes\":100,\"kind\":\"parameter\",\"home\":\"host\"},"
    "{\"name\":\"b\",\"bytes\":10,\"kind\":\"state\",\"home\":\"any\"},"
    "{\"name\":\"x\",\"bytes\":7,\"kind\":\"activation\"},"
    "{\"name\":\"y\",\"bytes\":3,\"kind\":\"activation\"}],"
    "\"ops\":[{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[2],\"time_ns\":50}"
    ","
    "{\"name\":\"u\",\"kind\":\"k\",\"inputs\":[2],\"outputs\":[],\"updates\":[0],"
    "\"time_ns\":20},"
    "{\"name\":\"r\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[3],\"time_ns\":30}],"
    "\"keep\":[3]}";

static void parse(const char *text, struct rp_graph *g) {
    struct rp_err err = {{0}};
    CU_ASSERT_FATAL(rp_graph_parse(text, strlen(text), "g", g, &err) == RP_OK);
}

static void each_content_of_a_source_is_a_tensor(void) {
    struct rp_graph g;
    struct rp_instance p;
    parse(three_ops, &g);
    rp_instance_init_homes(&p, &g, 1000, false, NULL);
    /* Tensors: b and w as the step begins (w is used first, so it comes last), x, w after
     * the update, y. */
    CU_ASSERT_FATAL(p.n_ops == 4 && p.n_tensors == 5 && p.n_homes == 2);
    CU_ASSERT(rp_is_begin(&p, 0) && p.op_of[0] == RP_NONE && p.time_ns[0] == 0);
    CU_ASSERT(p.tensor_of[0] == 1 && p.tensor_of[1] == 0 && p.tensor_of[3] == 0);
    CU_ASSERT(p.version_0[3] == 1 && p.next_version[1] == 3 &&
              p.next_version[3] == RP_NONE);
    CU_ASSERT(p.lives_on_host[1] && !p.lives_on_host[0]);
    CU_ASSERT(rp_last_row(&p, 1) == 2 && rp_last_row(&p, 3) == 4);
    CU_ASSERT(rp_must_copy_out(&p, 3) && !rp_must_copy_out(&p, 1));
    CU_ASSERT(p.readers[p.reader_start[3]] == 3 && p.last_stage[1] == 2);
    CU_ASSERT(p.overwritten_bytes[0] == 110 && p.overwritten_bytes[2] == 100);
    CU_ASSERT(p.fixed_bytes == 0 && p.limit_bytes == 1000);
    rp_instance_fini(&p);
    rp_instance_init(&p, &g, 1000, false, NULL);
    CU_ASSERT(p.n_ops == 3 && p.n_tensors == 2 && p.n_homes == 0 && p.fixed_bytes == 10);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static void the_time_is_that_of_the_copies_and_runs(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    struct rp_solve_options o = {.budget_bytes = 1000,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = 0.05,
                                 .ignore_clock = true};
    parse(three_ops, &g);
    CU_ASSERT_FATAL(rp_solve(&g, &o, &plan, &report, &err) == RP_OK);
    /* w comes in for 100 ns, f and u take 70, and w goes out for 100 beside r. */
    CU_ASSERT_EQUAL(plan.claims.time_ns, 270);
    CU_ASSERT_EQUAL(plan.claims.baseline_time_ns, 100);
    CU_ASSERT(plan.homes.n >= 1 && plan.homes.at[0].tensor == 0);
    CU_ASSERT_EQUAL(report.keep_all_bytes, 117);
    rp_plan_fini(&plan);
    o.swap = false;
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "no copy can bring it"));
    o.swap = true;
    o.host_bytes = 99;
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "host budget"));
    o.host_bytes = RP_MAX_QUANTITY;
    o.budget_bytes = 106;
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_NO);
    CU_ASSERT_EQUAL(report.floor_bytes, 107);
    rp_graph_fini(&g);
}

/* ---- schedules ---- */

static bool is_cost(const struct rp_instance *p, const struct rp_schedule *s,
                    uint64_t max_time_ns, uint64_t max_peak_bytes) {
    struct rp_cost c = rp_schedule_cost(p, s);
    return c.sound && c.time_ns <= max_time_ns && c.peak_bytes <= max_peak_bytes;
}

struct copies_tally {
    uint32_t faster, keeping;
};

/* Offloading everything takes little memory and long. Copies ahead of time make it faster
 * within the limit; trimmed again, they take less memory and no more time; and sources that
 * stay save copies. */
static bool copies_go_ahead_and_back(uint64_t seed, struct copies_tally *tally) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    gen_graph(seed, 6 + (uint32_t)(seed % 20), &g);
    rp_instance_init_homes(&p, &g, rp_keep_all_bytes(&g, false), false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, true, &s);
    struct rp_cost all = rp_schedule_cost(&p, &s);
    rp_schedule_prefetch(&p, NULL, &s);
    struct rp_cost ahead = rp_schedule_cost(&p, &s);
    rp_schedule_trim(&p, NULL, &s);
    bool ok = !all.sound || (ahead.sound && ahead.peak_bytes <= p.limit_bytes &&
                             is_cost(&p, &s, ahead.time_ns, ahead.peak_bytes));
    if (ok && all.sound) {
        tally->faster += ahead.time_ns < all.time_ns;
        struct rp_cost kept = ahead;
        bool keeps = rp_schedule_keep_sources(&p, NULL, &s, &kept);
        tally->keeping += keeps;
        ok = keeps == (kept.time_ns < ahead.time_ns) &&
             is_cost(&p, &s, kept.time_ns, p.limit_bytes);
    }
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

/* What is left out once the stop hits leaves the schedule as it is, or sound. */
static void copies_stay_where_they_are_once_the_work_is_to_end(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_stop stop = {.deadline = 0};
    gen_graph(3, 20, &g);
    rp_instance_init_homes(&p, &g, rp_keep_all_bytes(&g, false), false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, true, &s);
    struct rp_cost all = rp_schedule_cost(&p, &s), cost = all;
    CU_ASSERT(rp_stop_now(&stop));
    rp_schedule_prefetch(&p, &stop, &s);
    rp_schedule_trim(&p, &stop, &s);
    CU_ASSERT_FALSE(rp_schedule_keep_sources(&p, &stop, &s, &cost));
    CU_ASSERT_FALSE(rp_schedule_cost_until(&p, &s, &stop).sound);
    CU_ASSERT(is_cost(&p, &s, all.time_ns, all.peak_bytes));
    CU_ASSERT_EQUAL(cost.time_ns, all.time_ns);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static void copies_ahead_of_time_fit_and_help(void) {
    uint32_t n = 100;
    struct copies_tally tally = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!copies_go_ahead_and_back(seed, &tally)) {
            rp_gen_failed(seed);
            CU_FAIL("not sound, over the limit or slower");
        }
    CU_ASSERT((tally.faster > 20 && tally.keeping > 20) || rp_gen_one_seed());
}

/* What was copied out is freed when the copy has ended, not at the end of the step. */
static void what_was_copied_out_is_freed(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    rp_layers_parse(6, 40, &g);
    for (uint32_t x = 0; x < g.n_tensors; x++)
        if (g.tensors[x].home == RP_HOME_ANY)
            g.tensors[x].home = RP_HOME_HOST;
    rp_instance_init_homes(&p, &g, 1000, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, true, &s);
    uint32_t last = RP_NONE; /* m5 after its update, the first of all */
    for (uint32_t x = 0; x < p.n_tensors; x++)
        if (x >= p.n_homes && p.tensor_of[x] == 11)
            last = x;
    rp_schedule_set(&s, last, p.producer[last] + 1, p.n_ops - 1, true);
    uint64_t time_ns = rp_schedule_cost(&p, &s).time_ns;
    rp_schedule_trim(&p, NULL, &s);
    CU_ASSERT(rp_held(&s, p.producer[last] + 1, last));
    CU_ASSERT(!rp_held(&s, p.n_ops - 1, last));
    CU_ASSERT(is_cost(&p, &s, time_ns, UINT64_MAX));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Sources of 1, 2, 4 .. bytes, of which ever fewer bytes are tried: the schedule may take
 * no time, so that nothing helps. Each round asks once, and three times for its copies. */
static void sources_are_let_stay_in_twenty_rounds_at_most(void) {
    enum { N = 24 };
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_stop stop = {.deadline = INFINITY};
    struct rp_cost cost = {.sound = true, .time_ns = 0};
    rp_layers_parse(N, 1, &g);
    for (uint32_t x = 0; x < N; x++)
        g.tensors[x].bytes = UINT64_C(1) << x;
    rp_instance_init_homes(&p, &g, UINT64_C(1) << (N + 1), false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, true, &s);
    CU_ASSERT_FALSE(rp_schedule_keep_sources(&p, &stop, &s, &cost));
    CU_ASSERT_EQUAL(stop.questions, 20 * (1 + 3));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* Copies that come early leave no room. Sources are let stay in what room there is once
 * the copies come as late as they may. */
static void copies_make_room_for_sources_that_stay(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    gen_graph(36, 22, &g);
    rp_instance_init_homes(&p, &g, rp_keep_all_bytes(&g, false) * 5 / 8, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_offload_all(&p, true, &s);
    rp_schedule_prefetch(&p, NULL, &s);
    struct rp_cost cost = rp_schedule_cost(&p, &s);
    uint64_t before_ns = cost.time_ns;
    CU_ASSERT(rp_cost_fits(&p, &cost));
    CU_ASSERT(rp_schedule_keep_sources(&p, NULL, &s, &cost));
    CU_ASSERT(cost.time_ns < before_ns && rp_schedule_fits(&p, &s));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static bool copies_are_the_same(const struct rp_schedule *a, const struct rp_schedule *b) {
    return memcmp(a->ins, b->ins, (size_t)a->n_stages * a->words * sizeof *a->ins) == 0;
}

/* Here a fourth time would still move a copy. */
static void copies_go_ahead_three_times(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s, expected;
    rp_gen_host_graph(28, 34, &g);
    rp_instance_init_homes(&p, &g, rp_keep_all_bytes(&g, false) / 2, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_empty(&p, &expected);
    rp_schedule_offload_all(&p, false, &s);
    rp_schedule_copy(&expected, &s);
    rp_schedule_copy_ahead(&p, NULL, &s);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT_EQUAL(copies_are_the_same(&s, &expected), k == 3);
        rp_schedule_prefetch(&p, NULL, &expected);
        rp_schedule_trim(&p, NULL, &expected);
    }
    CU_ASSERT_FALSE(copies_are_the_same(&s, &expected));
    rp_schedule_fini(&s);
    rp_schedule_fini(&expected);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* w lives on the host, and nothing uses b. So no source may stay, and the passes differ
 * only in the room that is left for copies: half of it and twice it are tried. */
static void what_nobody_uses_is_no_candidate(void) {
    struct rp_graph g;
    struct rp_schedule s;
    struct rp_cost cost;
    struct rp_solve_options o = {.budget_bytes = 1000,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY};
    parse(three_ops, &g);
    struct rp_context w = {.g = &g, .o = &o, .homes = true, .stop = {.deadline = INFINITY}};
    rp_context_init(&w);
    rp_context_begin_search(&w);
    rp_schedule_empty(&w.p, &s);
    CU_ASSERT(rp_construct_homes(&w, &w.spaces[w.whole], &w.p, &s, &cost));
    CU_ASSERT_EQUAL(w.statistics.method[RP_GREEDY].calls, 3);
    rp_schedule_fini(&s);
    rp_context_fini(&w);
    rp_graph_fini(&g);
}

/* Not all of x0 .. x15 fit beside the parameters. Each can run again until its parameter
 * is updated, and is needed no later, unless something that reads it runs again. */
static void greedy_drops_what_can_run_again_in_time(void) {
    enum { N = 16, LIMIT = N * 10 + 100 };
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    bool stays[2 * N];
    rp_layers_parse(N, 10, &g);
    rp_instance_init_homes(&p, &g, LIMIT, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    for (uint32_t x = 0; x < p.n_homes; x++)
        stays[x] = g.tensors[p.tensor_of[x]].kind == RP_PARAMETER;
    rp_schedule_empty(&p, &s);
    CU_ASSERT_FATAL(rp_schedule_greedy(&p, stays, NULL, &s));
    CU_ASSERT(is_cost(&p, &s, UINT64_MAX, LIMIT));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* ---- plans ---- */

static struct rp_solve_options draw_options(const struct rp_graph *g, struct rp_rng *r) {
    bool addressed = rp_rng_percent(r, 50);
    uint64_t all = rp_keep_all_bytes(g, addressed);
    return (struct rp_solve_options){
        .budget_bytes = all / 100 * (40 + rp_rng_below(r, 90)),
        .addressed = addressed,
        .recompute = rp_rng_percent(r, 70),
        .swap = true,
        .host_bytes = rp_rng_percent(r, 80) ? RP_MAX_QUANTITY : 2000 * rp_rng_below(r, 10),
        .time_limit = 0.02,
        .ignore_clock = true,
        .seed = 1,
    };
}

/* The plan's schedule, read back, takes no longer. */
static bool reads_back(const struct rp_graph *g, const struct rp_solve_options *o,
                       const struct rp_plan *plan) {
    struct rp_instance p;
    struct rp_schedule s;
    rp_instance_init_homes(&p, g, o->budget_bytes, false, NULL);
    rp_instance_allow_swap(&p, o->host_bytes);
    rp_schedule_empty(&p, &s);
    bool ok = rp_schedule_from_plan(&p, plan, NULL, &s);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    return ok;
}

/* Copies take as long as the runs. So sources of all layers must stay, not only of those
 * that are updated last. */
static void copies_are_spread_over_the_step(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    struct rp_solve_options o = {.budget_bytes = 1300,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = 0.01,
                                 .ignore_clock = true};
    rp_layers_parse(32, 60, &g);
    CU_ASSERT_FATAL(rp_solve(&g, &o, &plan, &report, &err) == RP_OK);
    CU_ASSERT_EQUAL(plan.claims.baseline_time_ns, 960);
    CU_ASSERT(plan.claims.time_ns <= 1600);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* The search of another order goes on without the start plan, which the given one keeps. */
static void a_start_plan_belongs_to_its_order(void) {
    struct rp_graph g;
    struct rp_plan start, plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        gen_graph(seed, 20, &g);
        struct rp_solve_options o = {.budget_bytes =
                                         rp_keep_all_bytes(&g, false) / 100 * 60,
                                     .recompute = true,
                                     .swap = true,
                                     .host_bytes = RP_MAX_QUANTITY,
                                     .time_limit = 0.01,
                                     .ignore_clock = true};
        if (rp_solve(&g, &o, &start, &report, &err) == RP_OK) {
            o.reorder = true;
            o.start = &start;
            CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
            CU_ASSERT(plan.claims.time_ns <= start.claims.time_ns);
            rp_plan_fini(&plan);
        }
        rp_plan_fini(&start);
        rp_graph_fini(&g);
    }
}

struct tally {
    uint32_t plans, on_host, staying, refused;
};

static bool plan_is_valid(uint64_t seed, struct tally *tally) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_verdict v;
    struct rp_replay replay;
    struct rp_err err = {{0}};
    struct rp_rng r = {seed};
    gen_graph(seed, 4 + (uint32_t)(seed % 20), &g);
    struct rp_solve_options o = draw_options(&g, &r);
    rp_rc rc = rp_solve(&g, &o, &plan, &report, &err);
    bool ok = report.reason[0] != '\0' && (rc == RP_NO || rc == RP_LIMIT);
    if (rc == RP_OK)
        ok = rp_verify(&g, &plan, &v, &err) == RP_OK &&
             rp_verify_replay(&g, &plan, &replay, &err) == RP_OK &&
             plan.host_bytes <= o.host_bytes &&
             rp_plan_fixed_bytes(&plan, &g) + plan.arena_bytes <= o.budget_bytes &&
             (o.recompute || v.n_reruns == 0) && reads_back(&g, &o, &plan);
    tally->refused += rc != RP_OK;
    tally->plans += rc == RP_OK;
    tally->on_host += plan.homes.n > 0;
    tally->staying +=
        rc == RP_OK && plan.homes.n < 5 && rp_plan_fixed_bytes(&plan, &g) < g.fixed_bytes;
    if (!ok)
        printf("%s\n", err.msg);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

static void every_plan_is_valid(void) {
    uint32_t n = 120;
    struct tally tally = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!plan_is_valid(seed, &tally)) {
            rp_gen_failed(seed);
            CU_FAIL("the plan is not valid");
        }
    CU_ASSERT((tally.plans > 60 && tally.on_host > 50 && tally.staying > 10) ||
              rp_gen_one_seed());
}

void suite_solver_homes(void) {
    RP_SUITE("solver_homes");
    RP_TEST(each_content_of_a_source_is_a_tensor);
    RP_TEST(the_time_is_that_of_the_copies_and_runs);
    RP_TEST(copies_ahead_of_time_fit_and_help);
    RP_TEST(copies_stay_where_they_are_once_the_work_is_to_end);
    RP_TEST(what_was_copied_out_is_freed);
    RP_TEST(sources_are_let_stay_in_twenty_rounds_at_most);
    RP_TEST(copies_make_room_for_sources_that_stay);
    RP_TEST(copies_go_ahead_three_times);
    RP_TEST(what_nobody_uses_is_no_candidate);
    RP_TEST(a_start_plan_belongs_to_its_order);
    RP_TEST(greedy_drops_what_can_run_again_in_time);
    RP_TEST(copies_are_spread_over_the_step);
    RP_TEST(every_plan_is_valid);
}
