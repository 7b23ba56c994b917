/* Tests of A*'s part of the time limit. What it finds and proves: test_astar.c. */
#include "solve/search/program_search.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "gen.h"
#include "model/timeline.h"
#include "policies.h"
#include "run.h"
#include "solve/construct/construct.h"
#include "solve/core/params.h"
#include "solve/portfolio.h"

/* A search that has not begun. Its graph has n_ops ops and slow links. */
struct scene {
    struct rp_graph g;
    struct rp_solve_options o;
    struct rp_solve_report report;
    struct rp_context w;
};

static void open_scene(struct scene *s, uint32_t n_ops, double time_limit) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = true;
    shape.max_outputs = 1;
    *s = (struct scene){0};
    rp_gen_graph(2, &shape, &s->g);
    s->g.device.h2d_bytes_per_s = s->g.device.d2h_bytes_per_s = 5000000;
    s->o = (struct rp_solve_options){.budget_bytes = rp_budget_between(&s->g, false, 45),
                                     .recompute = true,
                                     .swap = true,
                                     .host_bytes = RP_MAX_QUANTITY,
                                     .time_limit = time_limit,
                                     .ignore_clock = true};
    s->w = (struct rp_context){.g = &s->g, .o = &s->o, .report = &s->report, .share = 1};
    s->w.end = s->w.stop.deadline = INFINITY;
    rp_context_init(&s->w);
    s->w.bound_ns = s->g.total_time_ns;
}

static void close_scene(struct scene *s) {
    rp_context_fini(&s->w);
    CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    rp_graph_fini(&s->g);
}

static double seconds(uint32_t n_ops, double time_limit, bool reorder) {
    struct scene s;
    open_scene(&s, n_ops, time_limit);
    s.o.reorder = reorder;
    double result = rp_program_search_seconds(&s.w);
    close_scene(&s);
    return result;
}

static void it_has_a_part_of_the_time_limit_on_small_graphs(void) {
    CU_ASSERT_DOUBLE_EQUAL(seconds(20, 0.5, false), 0.05, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(seconds(20, 1, false), 0.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(seconds(20, 5, false), 2.6, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(seconds(20, 600, false), MAX_ASTAR_SECONDS, 1e-9);
    CU_ASSERT_EQUAL(seconds(20, 5, true), 0);
    CU_ASSERT_EQUAL(seconds(RP_ASTAR_MAX_OPS + 1, 5, false), 0);
}

/* Without any schedule, and after the time limit. */
static void it_finds_a_plan_where_all_else_has_failed(void) {
    struct scene s;
    uint32_t op;
    open_scene(&s, 24, 1);
    s.w.p.limit_bytes = rp_instance_floor(&s.w.p, &op);
    s.o.ignore_clock = false;
    s.w.end = s.w.begin = s.w.stop.deadline = 0;
    rp_context_begin_search(&s.w);
    rp_program_search_end(&s.w);
    CU_ASSERT(s.w.sequence.steps.n > 0);
    CU_ASSERT_EQUAL(s.w.sequence_ns,
                    rp_steps_time_ns(&s.g, s.w.sequence.steps.at, s.w.sequence.steps.n));
    close_scene(&s);
}

enum { N_OPS = 44 };

/* Makes the first schedules of a search, then does `work`. */
static void run(struct scene *s, void (*work)(struct rp_context *, struct rp_schedule *)) {
    struct rp_schedule scratch;
    rp_context_begin_search(&s->w);
    rp_schedule_empty(&s->w.p, &scratch);
    rp_construct_incumbents(&s->w, &scratch);
    work(&s->w, &scratch);
    rp_schedule_fini(&scratch);
}

static void search_alone(struct rp_context *w, struct rp_schedule *scratch) {
    (void)scratch;
    rp_program_search_end(w);
}

/* As if it had found keep-all. */
static void leave_keep_all(struct scene *s) {
    struct rp_plan *plan = &s->w.sequence;
    rp_gen_keep_all(&s->g, false, plan);
    free(plan->graph_name);
    free(plan->graph_sha256);
    plan->graph_name = plan->graph_sha256 = NULL;
    s->w.sequence_ns = s->g.total_time_ns;
}

/* It goes on twice where its proof is too hard: after a second of turns, and at the end. */
static void it_works_between_turns(void) {
    static const double limit = 2.4;
    struct scene s;
    open_scene(&s, N_OPS, limit);
    double all = rp_program_search_seconds(&s.w);
    run(&s, rp_portfolio_run);
    double used = rp_program_search_used(&s.w);
    CU_ASSERT(!s.w.proved && s.w.astar == NULL);
    CU_ASSERT_STRING_EQUAL(s.w.doing, rp_method_name[RP_ASTAR]);
    CU_ASSERT_EQUAL(s.w.statistics.method[RP_ASTAR].calls, 2);
    CU_ASSERT(used >= all && used < 1.2 * all);
    CU_ASSERT(s.w.turns.done > 0.9 * (limit - used) && s.w.turns.done <= limit - all);
    close_scene(&s);
}

/* Once with A*, once as if it had come to its end before, without a proof. */
static void the_turns_get_what_it_leaves(void) {
    static const double limit = 2.4;
    double done[2];
    for (int i = 0; i < 2; i++) {
        struct scene s;
        open_scene(&s, N_OPS, limit);
        s.w.sequence_ns = i == 0 ? UINT64_MAX : s.w.g->total_time_ns;
        run(&s, rp_portfolio_run);
        CU_ASSERT_EQUAL(s.w.statistics.method[RP_ASTAR].calls, i == 0 ? 2 : 0);
        done[i] = s.w.turns.done;
        close_scene(&s);
    }
    CU_ASSERT(done[1] > 1.2 * done[0] && done[1] <= limit);
}

/* Faster than the first schedules. */
static void it_leaves_the_plan_that_it_finds(void) {
    struct scene s;
    open_scene(&s, 26, 1.9);
    run(&s, search_alone);
    CU_ASSERT(s.w.incumbent.found && s.w.sequence_ns < s.w.incumbent.time_ns);
    CU_ASSERT(s.w.sequence_ns >= s.w.bound_ns && s.w.sequence.steps.n > 26);
    close_scene(&s);
}

/* No schedule takes less than the bound says, but a plan that is none. */
static void a_bound_for_schedules_gives_way_to_a_faster_plan(void) {
    struct scene s;
    struct rp_err err = {{0}};
    for (uint64_t less = 0; less < 2; less++) {
        open_scene(&s, N_OPS, 1);
        uint64_t time_ns = s.g.total_time_ns;
        leave_keep_all(&s);
        s.w.statistics.method[RP_ASTAR].bound_ns = time_ns - 10;
        s.w.bound_ns = time_ns + 1 - less;
        CU_ASSERT_EQUAL(rp_program_search_finish(&s.w, &err), RP_OK);
        CU_ASSERT_EQUAL(s.w.bound_ns, less == 0 ? time_ns - 10 : time_ns);
        CU_ASSERT_EQUAL(s.w.all_sequences, less == 0);
        CU_ASSERT_EQUAL(s.w.sequence.claims.time_ns, time_ns);
        close_scene(&s);
    }
}

/* It is a whole plan then, as it may be the fastest. */
static void a_plan_is_finished_where_the_gap_is_reached(void) {
    struct scene s;
    struct rp_err err = {{0}};
    open_scene(&s, N_OPS, 1);
    leave_keep_all(&s);
    s.w.incumbent.time_ns = s.g.total_time_ns;
    s.w.incumbent.found = true;
    s.o.gap = 0.01;
    CU_ASSERT_FATAL(rp_context_gap_reached(&s.w));
    CU_ASSERT_EQUAL(rp_portfolio_finish(&s.w, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(s.w.sequence.graph_name, s.g.name);
    s.w.incumbent.found = false;
    close_scene(&s);
}

/* Solves a graph of n_ops ops when the time limit is long over, or with all the time. */
static rp_rc solve(uint32_t n_ops, bool late, bool addressed, struct rp_plan *plan) {
    struct scene s;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    open_scene(&s, n_ops, 1);
    s.o.addressed = addressed;
    s.o.budget_bytes = rp_budget_between(&s.g, addressed, 75);
    s.o.ignore_clock = !late;
    s.o.spent = late ? 1000 : 0;
    rp_rc rc = rp_solve(&s.g, &s.o, plan, &report, &err);
    close_scene(&s);
    return rc;
}

/* Tiny graphs are solved, and others have a plan. */
static void no_clock_cuts_the_first_work(void) {
    uint32_t n_found = 0;
    struct rp_plan late, plan;
    for (uint32_t n_ops = 4; n_ops <= 9; n_ops++)
        for (int addressed = 0; addressed < 2; addressed++) {
            rp_rc rc = solve(n_ops, false, addressed, &plan);
            CU_ASSERT_EQUAL_FATAL(solve(n_ops, true, addressed, &late), rc);
            n_found += rc == RP_OK;
            CU_ASSERT_EQUAL(late.claims.time_ns, plan.claims.time_ns);
            CU_ASSERT_EQUAL(late.claims.lower_bound_ns, plan.claims.time_ns);
            rp_plan_fini(&late);
            rp_plan_fini(&plan);
        }
    CU_ASSERT(n_found >= 4);
    CU_ASSERT_EQUAL(solve(MAX_UNTIMED_OPS, true, true, &late), RP_OK);
    rp_plan_fini(&late);
}

/* What the clock does not end, a signal does. */
static void a_signal_ends_the_first_work(void) {
    struct scene s;
    volatile sig_atomic_t stop = 1;
    open_scene(&s, 7, 1);
    rp_context_begin_search(&s.w);
    s.w.stop.interrupted = &stop;
    rp_program_search_begin(&s.w);
    CU_ASSERT_FALSE(s.w.all_sequences);
    stop = 0;
    s.w.stop.hit = false;
    rp_program_search_begin(&s.w);
    CU_ASSERT(s.w.all_sequences && s.w.bound_ns > s.g.total_time_ns);
    close_scene(&s);
}

void suite_program_search(void) {
    RP_SUITE("program_search");
    RP_TEST(it_has_a_part_of_the_time_limit_on_small_graphs);
    RP_TEST(it_finds_a_plan_where_all_else_has_failed);
    RP_TEST(it_works_between_turns);
    RP_TEST(the_turns_get_what_it_leaves);
    RP_TEST(it_leaves_the_plan_that_it_finds);
    RP_TEST(a_bound_for_schedules_gives_way_to_a_faster_plan);
    RP_TEST(a_plan_is_finished_where_the_gap_is_reached);
    RP_TEST(no_clock_cuts_the_first_work);
    RP_TEST(a_signal_ends_the_first_work);
}
