/* Tests of the planner as a whole, and of the state that the search updates incrementally.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "brute.h"
#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/background.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/schedule.h"
#include "solve/incremental/incremental.h"
#include "solve/incumbent.h"
#include "solve/local/anneal.h"
#include "solve/order_search.h"
#include "solve/portfolio.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

static rp_rc solve(const struct rp_graph *g, uint64_t budget, bool addressed,
                   struct rp_plan *plan, struct rp_solve_report *report) {
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .addressed = addressed,
                                 .recompute = true,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .seed = 1};
    struct rp_err err = {{0}};
    return rp_solve(g, &o, plan, report, &err);
}

static bool plan_passes_verify(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(6 + (uint32_t)(seed % 30));
    shape.training = seed % 2;
    shape.rules_percent = seed % 3 * 10;
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    bool addressed = seed % 3 != 0, ok = true;
    rp_gen_graph(seed, &shape, &g);
    for (uint64_t percent = 50; percent <= 100 && ok; percent += 10) {
        rp_rc rc =
            solve(&g, rp_budget_between(&g, addressed, percent), addressed, &plan, &report);
        ok = rc == RP_OK ? rp_verify(&g, &plan, &v, &err) == RP_OK
                         : (rc == RP_NO || rc == RP_LIMIT) && report.reason[0] != '\0';
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
    return ok;
}

static void every_plan_of_a_random_graph_passes_verify(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!plan_passes_verify(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a plan was rejected, or none came without a reason");
        }
}

/* Compares the peak, time and overflow that moves update with those computed anew. */
static bool incremental_agrees(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(5 + (uint32_t)(seed % 90));
    struct rp_graph g;
    struct rp_instance p;
    struct rp_incremental s, fresh;
    struct rp_schedule now;
    struct rp_rng r = {seed};
    bool ok = true;
    shape.training = seed % 2;
    shape.rules_percent = seed % 3 * 10;
    rp_gen_graph(seed, &shape, &g);
    rp_instance_init(&p, &g, rp_budget_between(&g, false, 60), false, NULL);
    rp_schedule_keep_all(&p, &now);
    rp_incremental_init(&s, &p);
    rp_incremental_init(&fresh, &p);
    rp_incremental_load(&s, &now);
    for (int k = 0; k < 300 && ok && p.n_ops > 1 && p.n_tensors > 0; k++) {
        uint32_t x = (uint32_t)rp_rng_below(&r, p.n_tensors), first = p.producer[x] + 1;
        if (first >= p.n_ops)
            continue;
        uint32_t a = first + (uint32_t)rp_rng_below(&r, p.n_ops - first);
        uint32_t b = a + (uint32_t)rp_rng_below(&r, p.n_ops - a);
        rp_incremental_begin(&s);
        rp_incremental_flip(&s, x, a, b, rp_rng_percent(&r, 50));
        if (!rp_incremental_evaluate(&s, 1, 1e30, false) || rp_rng_percent(&r, 30)) {
            rp_incremental_undo(&s);
        } else {
            rp_incremental_commit(&s);
        }
        rp_incremental_store(&s, &now);
        rp_incremental_load(&fresh, &now);
        ok = s.time_ns == fresh.time_ns && s.overflow_bytes == fresh.overflow_bytes;
        struct rp_cost c = rp_schedule_cost(&p, &now);
        ok = ok && c.sound && (double)c.time_ns == s.time_ns &&
             (c.peak_bytes > p.limit_bytes) == (s.overflow_bytes > 0);
    }
    rp_incremental_fini(&s);
    rp_incremental_fini(&fresh);
    rp_schedule_fini(&now);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void incremental_totals_equal_those_computed_anew(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!incremental_agrees(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("time or overflow drifted");
        }
}

static void the_same_seed_and_work_give_the_same_plan(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    struct rp_plan a, b;
    struct rp_solve_report report;
    char *s, *t;
    size_t n, m;
    shape.training = true;
    shape.once_percent = 0;
    rp_gen_graph(7, &shape, &g);
    uint64_t budget = rp_budget_between(&g, true, 85);
    CU_ASSERT_EQUAL_FATAL(solve(&g, budget, true, &a, &report), RP_OK);
    CU_ASSERT_EQUAL_FATAL(solve(&g, budget, true, &b, &report), RP_OK);
    rp_plan_dump(&a, &s, &n);
    rp_plan_dump(&b, &t, &m);
    CU_ASSERT_STRING_EQUAL(s, t);
    free(s);
    free(t);
    rp_plan_fini(&a);
    rp_plan_fini(&b);
    rp_graph_fini(&g);
}

/* Two ops of 100 ns. The second one reads the 10 bytes that the first one makes, and makes
 * 10 itself. */
static const char two_ops[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"imported:"
    "x\","
    "\"tensors\":[{\"name\":\"w\",\"bytes\":8,\"kind\":\"parameter\"},"
    "{\"name\":\"a\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":10,\"kind\":\"activation\"}],"
    "\"ops\":[{\"name\":\"f\",\"kind\":\"f\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":"
    "100},"
    "{\"name\":\"h\",\"kind\":\"h\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":100}],"
    "\"keep\":[2]}";

static void a_budget_below_the_floor_names_the_op_that_needs_more(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(two_ops, sizeof two_ops - 1, "g", &g, &err),
                          RP_OK);
    CU_ASSERT_EQUAL(solve(&g, 27, false, &plan, &report), RP_NO);
    CU_ASSERT_EQUAL(report.floor_bytes, 28);
    CU_ASSERT_EQUAL(report.floor_op, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"h\""));
    CU_ASSERT_EQUAL(solve(&g, 28, false, &plan, &report), RP_OK);
    CU_ASSERT_EQUAL(plan.claims.proof, RP_PROOF_OPTIMAL);
    CU_ASSERT_EQUAL(plan.claims.time_ns, 200);
    CU_ASSERT_EQUAL(plan.claims.peak_bytes, 28);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* Compares the search with brute force over all schedules. */
static bool search_reaches_the_optimum(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(6);
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    uint64_t best;
    shape.training = true;
    shape.max_outputs = 1;
    shape.rules_percent = seed % 2 * 15;
    rp_gen_graph(seed, &shape, &g);
    uint64_t budget = rp_budget_between(&g, false, 70);
    bool any = rp_brute_best(&g, budget - g.fixed_bytes, &best);
    rp_rc rc = solve(&g, budget, false, &plan, &report);
    bool ok = any ? rc == RP_OK && plan.claims.time_ns == best &&
                        plan.claims.lower_bound_ns <= best
                  : rc != RP_OK;
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

static void small_graphs_are_solved_to_the_exhaustive_optimum(void) {
    uint32_t n = 40;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!search_reaches_the_optimum(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("not the optimum");
        }
}

/* A graph with too many ops for a schedule: keep-all is found, placed and valid, and below
 * it the answer is that there was no search. */
static void keep_all_needs_no_schedule(void) {
    struct rp_gen_shape shape = {.n_ops = 100000,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .reach = 2,
                                 .max_bytes = 1000,
                                 .max_time_ns = 1000,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    rp_gen_graph(1, &shape, &g);
    CU_ASSERT(rp_is_too_large_to_search(&g));
    struct rp_solve_options o = {.budget_bytes = 2 * rp_keep_all_bytes(&g, true),
                                 .addressed = true,
                                 .recompute = true,
                                 .time_limit = 1,
                                 .ignore_clock = true};
    CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(&g, &plan, &v, &err), RP_OK);
    CU_ASSERT_EQUAL(plan.claims.proof, RP_PROOF_OPTIMAL);
    rp_plan_fini(&plan);
    o.budget_bytes = report.floor_bytes;
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "too many for a search"));
    CU_ASSERT_EQUAL(report.min_bytes, report.keep_all_bytes);
    rp_graph_fini(&g);
}

/* What keep_all_schedule.h says without a matrix is what the matrix says. */
static void keep_all_is_the_same_with_and_without_a_matrix(void) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)(seed % 12));
        struct rp_graph g;
        struct rp_instance p;
        struct rp_schedule s;
        struct rp_plan with = {0}, without = {0};
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init(&p, &g, g.fixed_bytes, seed % 2, NULL);
        rp_schedule_keep_all(&p, &s);
        struct rp_cost a = rp_schedule_cost(&p, &s), b = rp_keep_all_cost(&p);
        CU_ASSERT(a.sound == b.sound && a.time_ns == b.time_ns && a.peak_op == b.peak_op);
        CU_ASSERT(a.peak_bytes == b.peak_bytes && a.peak_stage == b.peak_stage);
        rp_schedule_steps(&p, &s, NULL, &with);
        rp_keep_all_steps(&p, &without);
        CU_ASSERT_EQUAL_FATAL(with.steps.n, without.steps.n);
        for (size_t k = 0; k < with.steps.n; k++)
            CU_ASSERT(with.steps.at[k].kind == without.steps.at[k].kind &&
                      with.steps.at[k].id == without.steps.at[k].id);
        rp_plan_fini(&with);
        rp_plan_fini(&without);
        rp_schedule_fini(&s);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* A search that is cut short says so: in turns, in several orders, and over sequences. */
static void what_is_cut_short_says_so(void) {
    static const volatile sig_atomic_t flags[] = {0, 1};
    struct rp_gen_shape shape = rp_gen_small(14);
    struct rp_graph g;
    shape.max_outputs = 1;
    rp_gen_graph(5, &shape, &g);
    for (int late = 0; late < 2; late++) {
        struct rp_solve_options o = {.budget_bytes = rp_budget_between(&g, false, 60),
                                     .recompute = true,
                                     .time_limit = 0.2};
        struct rp_solve_report report = {0};
        struct rp_context w = {.g = &g,
                               .o = &o,
                               .report = &report,
                               .stop = {.interrupted = &flags[late], .deadline = INFINITY}};
        struct rp_schedule scratch;
        struct rp_err err = {{0}};
        w.end = INFINITY;
        rp_context_init(&w);
        w.bound_ns = g.total_time_ns;
        rp_context_begin_search(&w);
        rp_schedule_empty(&w.p, &scratch);
        w.share = 1;
        rp_portfolio_begin(&w);
        rp_portfolio_run(&w, &scratch);
        CU_ASSERT_EQUAL(report.capped, late);
        CU_ASSERT(w.statistics.method[RP_ASTAR].calls > 0 && w.astar == NULL);
        report.capped = false;
        rp_search_orders(&w, &scratch);
        CU_ASSERT_EQUAL(report.capped, late);
        CU_ASSERT_EQUAL(rp_portfolio_finish(&w, &err), RP_OK);
        CU_ASSERT_PTR_NULL(w.mip);
        rp_schedule_fini(&scratch);
        rp_context_fini(&w);
    }
    rp_graph_fini(&g);
}

static void the_first_turn_comes_whatever_the_limit(void) {
    struct rp_sequence s = rp_sequence_begin(10, false, false, false);
    struct rp_turn turn;
    CU_ASSERT(rp_sequence_next(&s, 0, &turn));
    CU_ASSERT_FALSE(rp_sequence_next(&s, 0, &turn));
}

/* A schedule of a large graph takes a second to make. */
static void no_schedule_is_made_before_one_is_found(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    rp_gen_graph(1, &shape, &g);
    for (int fits = 0; fits < 2; fits++) {
        uint64_t bytes = rp_keep_all_bytes(&g, false);
        struct rp_solve_options o = {.budget_bytes = fits ? bytes : bytes - 1,
                                     .recompute = true};
        struct rp_context w = {.g = &g, .o = &o, .stop = {.deadline = INFINITY}};
        rp_context_init(&w);
        CU_ASSERT_EQUAL(rp_incumbent_offer_keep_all(&w), fits);
        rp_context_begin_search(&w);
        CU_ASSERT_EQUAL(w.incumbent.s.rows != NULL, fits);
        for (int i = 0; i < RP_N_SPACES; i++)
            CU_ASSERT_PTR_NULL(w.spaces[i].incumbent.s.rows);
        rp_context_fini(&w);
    }
    rp_graph_fini(&g);
}

/* Each evaluation may only bring the end of the search forward. */
static void the_search_leaves_time_for_what_comes_after_it(void) {
    struct rp_context w = {.end = 100, .stop = {.deadline = 85}};
    rp_context_reserve(&w, 5);
    CU_ASSERT_EQUAL(w.stop.deadline, 85);
    rp_context_reserve(&w, 10);
    CU_ASSERT_EQUAL(w.stop.deadline, 80);
    rp_context_reserve(&w, 1);
    CU_ASSERT_EQUAL(w.stop.deadline, 80);
    CU_ASSERT_EQUAL(w.reserve_s, 20);
}

/* On a large graph each schedule takes a long time. The certificate is still written. */
static void an_interrupt_before_the_search_leaves_the_start_plan(void) {
    volatile sig_atomic_t interrupted = 1;
    char certificate[] = "/tmp/remat-test-XXXXXX";
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    struct rp_plan start, plan;
    struct rp_solve_report report;
    struct rp_statistics statistics;
    struct rp_err err = {{0}};
    rp_gen_graph(1, &shape, &g);
    struct rp_solve_options o = {
        .recompute = true, .time_limit = 0.1, .ignore_clock = true};
    o.budget_bytes = rp_keep_all_bytes(&g, false) - 1;
    CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &start, &report, &err), RP_OK);
    CU_ASSERT_FATAL(start.claims.time_ns > g.total_time_ns);
    close(mkstemp(certificate));
    o.start = &start;
    o.stop = &interrupted;
    o.certificate = certificate;
    o.statistics = &statistics;
    CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(plan.claims.time_ns, start.claims.time_ns);
    CU_ASSERT_EQUAL(statistics.method[RP_WARM_START].calls, 0);
    struct stat s;
    CU_ASSERT(stat(certificate, &s) == 0 && s.st_size > 0);
    unlink(certificate);
    rp_plan_fini(&plan);
    o.certificate = "/dev/null/c.json"; /* which cannot be written */
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_ENV);
    CU_ASSERT(plan.steps.n == 0 && plan.graph_name == NULL);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
}

/* True if a plan was found. */
static bool makes_only_a_first_plan(const struct rp_graph *g, bool addressed,
                                    double spent) {
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_statistics statistics;
    struct rp_err err = {{0}};
    struct rp_solve_options o = {.budget_bytes = rp_budget_between(g, addressed, 85),
                                 .addressed = addressed,
                                 .recompute = true,
                                 .time_limit = 10,
                                 .spent = spent,
                                 .statistics = &statistics};
    rp_rc rc = rp_solve(g, &o, &plan, &report, &err);
    CU_ASSERT(report.capped);
    CU_ASSERT_EQUAL(statistics.anneal.runs, 0);
    rp_plan_fini(&plan);
    return rc == RP_OK;
}

/* All of the time limit has passed when the search begins, or the part of it that is not
 * for addresses. A busy machine may hold the search up, and it ends without a
 * plan then, but not a hundred times. */
static void a_late_search_makes_only_a_first_plan(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    int k = 0;
    shape.training = true;
    rp_gen_graph(7, &shape, &g);
    for (int late = 0; late < 2; late++) {
        while (!makes_only_a_first_plan(&g, late == 0, late == 0 ? 9 : 10) && k < 100)
            k++;
        CU_ASSERT(k < 100);
    }
    rp_graph_fini(&g);
}

/* So without either no search is needed to see that nothing fits. */
static void without_recomputation_and_copies_the_floor_is_that_of_keep_all(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)(seed % 20));
        struct rp_graph g;
        struct rp_instance p;
        uint32_t op;
        bool addressed = seed % 2;
        shape.training = seed % 3 > 0;
        shape.rules_percent = seed % 4 * 10;
        shape.n_sources = seed % 5;
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init(&p, &g, g.fixed_bytes, addressed, NULL);
        rp_instance_run_once(&p);
        uint64_t floor_bytes = rp_source_bytes(&g) + rp_instance_floor(&p, &op);
        CU_ASSERT(rp_source_bytes(&g) + rp_kept_bytes(&g, addressed) <= floor_bytes);
        if (floor_bytes != rp_keep_all_bytes(&g, addressed)) {
            rp_gen_failed(seed);
            CU_FAIL("keep-all does not need just the floor");
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* The plan has been placed by then. */
static void a_certificate_that_cannot_be_written_leaves_no_plan(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_statistics statistics;
    struct rp_err err = {{0}};
    shape.training = true;
    rp_gen_graph(7, &shape, &g);
    struct rp_solve_options o = {.budget_bytes = rp_budget_between(&g, true, 85),
                                 .addressed = true,
                                 .recompute = true,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .certificate = "/dev/null/c.json",
                                 .statistics = &statistics};
    CU_ASSERT_EQUAL(rp_solve(&g, &o, &plan, &report, &err), RP_ENV);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "/dev/null/c.json"));
    CU_ASSERT(plan.steps.n == 0 && statistics.placements > 0);
    rp_graph_fini(&g);
}

void suite_solver(void) {
    RP_SUITE("solver");
    RP_TEST(every_plan_of_a_random_graph_passes_verify);
    RP_TEST(incremental_totals_equal_those_computed_anew);
    RP_TEST(the_same_seed_and_work_give_the_same_plan);
    RP_TEST(a_budget_below_the_floor_names_the_op_that_needs_more);
    RP_TEST(small_graphs_are_solved_to_the_exhaustive_optimum);
    RP_TEST(keep_all_needs_no_schedule);
    RP_TEST(keep_all_is_the_same_with_and_without_a_matrix);
    RP_TEST(what_is_cut_short_says_so);
    RP_TEST(the_first_turn_comes_whatever_the_limit);
    RP_TEST(no_schedule_is_made_before_one_is_found);
    RP_TEST(the_search_leaves_time_for_what_comes_after_it);
    RP_TEST(an_interrupt_before_the_search_leaves_the_start_plan);
    RP_TEST(a_late_search_makes_only_a_first_plan);
    RP_TEST(without_recomputation_and_copies_the_floor_is_that_of_keep_all);
    RP_TEST(a_certificate_that_cannot_be_written_leaves_no_plan);
}
