/* Tests of the turns that methods take, one by one. */
#include "solve/portfolio.h"

#include <math.h>

#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/background.h"
#include "solve/core/params.h"
#include "solve/core/schedule.h"
#include "solve/incumbent.h"
#include "solve/placement.h"
#include "solve/solver.h"
#include "solve/statistics.h"

/* What works beside the search is not even laid out once the time is over. */
static void no_method_begins_after_the_time_limit(void) {
    struct rp_gen_shape shape = rp_gen_small(100);
    struct rp_graph g;
    rp_gen_graph(1, &shape, &g);
    for (int late = 0; late < 2; late++) {
        struct rp_solve_options o = {.budget_bytes = g.fixed_bytes, .recompute = true};
        struct rp_context w = {.g = &g, .o = &o, .stop = {.deadline = INFINITY}};
        w.stop.hit = late;
        rp_context_init(&w);
        rp_context_begin_search(&w);
        rp_portfolio_begin(&w);
        CU_ASSERT_EQUAL(w.mip == NULL && w.bound == NULL, late);
        rp_mip_end(&w);
        rp_context_fini(&w);
    }
    rp_graph_fini(&g);
}

/* Whichever turn is the last. */
static void the_pool_holds_the_fastest_schedule(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    uint32_t found = 0;
    shape.training = true;
    shape.bandwidths = false;
    rp_gen_graph(1, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false), part = (all - g.fixed_bytes) / 10;
    for (uint32_t k = 1; k <= 20; k++) {
        struct rp_solve_options o = {.budget_bytes = g.fixed_bytes + 6 * part,
                                     .recompute = true,
                                     .seed = k,
                                     .plan_only = true,
                                     .time_limit = 0.001 * k};
        struct rp_solve_report report = {0};
        struct rp_context w = {.g = &g,
                               .o = &o,
                               .report = &report,
                               .stop = {.deadline = INFINITY},
                               .share = 1};
        struct rp_schedule scratch;
        rp_context_init(&w);
        rp_context_begin_search(&w);
        rp_schedule_empty(&w.p, &scratch);
        rp_portfolio_run(&w, &scratch);
        const struct rp_solution_pool *pool = &w.spaces[RP_WITHOUT_SWAPS].pool;
        if (w.incumbent.found)
            CU_ASSERT(pool->n > 0 && pool->at[0].time_ns == w.incumbent.time_ns);
        found += w.incumbent.found;
        rp_schedule_fini(&scratch);
        rp_context_fini(&w);
    }
    CU_ASSERT(found > 0);
    rp_graph_fini(&g);
}

/* A search without swaps on a graph of n_ops ops that takes the turns it is told to. */
struct turns {
    struct rp_graph g;
    struct rp_solve_options o;
    struct rp_solve_report report;
    struct rp_context w;
    struct rp_schedule scratch;
};

static void open_turns(struct turns *t, uint64_t seed, uint32_t n_ops) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    *t = (struct turns){.o = {.recompute = true, .plan_only = true}};
    shape.training = true;
    shape.bandwidths = false;
    rp_gen_graph(seed, &shape, &t->g);
    t->o.budget_bytes = rp_budget_between(&t->g, false, 75);
    t->w = (struct rp_context){.g = &t->g,
                               .o = &t->o,
                               .report = &t->report,
                               .stop = {.deadline = INFINITY},
                               .share = 1};
    rp_context_init(&t->w);
    rp_context_begin_search(&t->w);
    rp_schedule_empty(&t->w.p, &t->scratch);
}

static void close_turns(struct turns *t) {
    rp_schedule_fini(&t->scratch);
    rp_context_fini(&t->w);
    rp_graph_fini(&t->g);
}

/* Takes the next turn of this method from this round on, and leaves out those before it.
 * True if the pool has a schedule as fast as the incumbent, and none that is faster. */
static bool take_turn_of(struct turns *t, enum rp_method method, uint32_t round) {
    struct rp_context *w = &t->w;
    const struct rp_solution_pool *pool = &w->spaces[RP_WITHOUT_SWAPS].pool;
    struct rp_sequence after = w->turns;
    struct rp_turn turn;
    while (rp_sequence_next(&after, INFINITY, &turn) &&
           (turn.method != method || turn.round < round))
        w->turns = after;
    t->o.time_limit = after.done;
    rp_portfolio_run(w, &t->scratch);
    CU_ASSERT_FATAL(w->incumbent.found && pool->n > 0);
    return pool->at[0].time_ns == w->incumbent.time_ns;
}

/* What the neighbourhoods find becomes the incumbent. They begin with that, wherever it
 * comes from. */
static void neighborhoods_go_on_from_the_incumbent(void) {
    struct turns t, other;
    open_turns(&t, 1, 62);
    take_turn_of(&t, RP_ANNEAL, 0);
    CU_ASSERT(take_turn_of(&t, RP_NEIGHBORHOOD, 4));
    CU_ASSERT(t.w.statistics.method[RP_NEIGHBORHOOD].incumbents > 0);
    open_turns(&other, 1, 62);
    CU_ASSERT(rp_incumbent_offer(&other.w, &t.w.incumbent.s, RP_WARM_START));
    CU_ASSERT_FALSE(take_turn_of(&other, RP_ANNEAL, 0));
    CU_ASSERT(take_turn_of(&other, RP_NEIGHBORHOOD, 0));
    CU_ASSERT_EQUAL(other.w.statistics.method[RP_NEIGHBORHOOD].calls, 1);
    close_turns(&other);
    close_turns(&t);
}

/* A turn of LP rounding finds the first schedule that fits, and joins the pool. The bound
 * beside it goes on meanwhile. */
static void lp_rounding_finds_schedules(void) {
    struct turns t;
    struct rp_err err = {{0}};
    const struct rp_method_statistics *m = t.w.statistics.method;
    open_turns(&t, 3, MIN_ROUNDING_OPS);
    t.o.plan_only = false;
    rp_portfolio_begin(&t.w);
    CU_ASSERT(take_turn_of(&t, RP_LP_ROUNDING, 0));
    CU_ASSERT_EQUAL(m[RP_LP_ROUNDING].incumbents, 1);
    CU_ASSERT(m[RP_LP_ROUNDING].work > 0 && m[RP_PDHG].work > 0);
    CU_ASSERT_EQUAL(m[RP_ANNEAL].calls, 0);
    CU_ASSERT_EQUAL(rp_portfolio_finish(&t.w, &err), RP_OK);
    close_turns(&t);
}

/* Neighbourhoods cannot be asked to meet, so those beside them get the work of a whole turn
 * at once. */
static void bounds_go_on_beside_neighborhoods(void) {
    struct turns t;
    struct rp_err err = {{0}};
    const struct rp_method_statistics *m = t.w.statistics.method;
    open_turns(&t, 1, 62);
    t.o.plan_only = false;
    rp_portfolio_begin(&t.w);
    take_turn_of(&t, RP_ANNEAL, 0);
    uint64_t mip = m[RP_BRANCH_CUT].calls, pdhg = m[RP_PDHG].calls;
    take_turn_of(&t, RP_NEIGHBORHOOD, ROUNDS_TO_FULL_LENGTH);
    CU_ASSERT_EQUAL(m[RP_NEIGHBORHOOD].calls, 1);
    CU_ASSERT_EQUAL(m[RP_BRANCH_CUT].calls, mip + 1);
    CU_ASSERT_EQUAL(m[RP_PDHG].calls, pdhg + 1);
    CU_ASSERT(m[RP_PDHG].work > 0 && m[RP_BRANCH_CUT].work > 0);
    CU_ASSERT_EQUAL(rp_portfolio_finish(&t.w, &err), RP_OK);
    close_turns(&t);
}

/* Unless a certificate is wanted. */
static void an_abandoned_bound_stays_what_it_was(void) {
    for (int certified = 0; certified < 2; certified++) {
        struct turns t;
        struct rp_err err = {{0}};
        const struct rp_method_statistics *pdhg = &t.w.statistics.method[RP_PDHG];
        open_turns(&t, 1, 62);
        t.o.plan_only = false;
        rp_portfolio_begin(&t.w);
        uint64_t before_ns = t.w.bound_ns;
        rp_bound_submit(&t.w, 1e9);
        t.o.certificate = certified ? "certificate" : NULL;
        rp_bound_abandon(&t.w);
        CU_ASSERT_EQUAL(t.w.bound_pending, certified);
        rp_bound_wait(&t.w);
        CU_ASSERT_EQUAL(t.w.bound_ns > before_ns, certified);
        CU_ASSERT_EQUAL(pdhg->work > 0, certified);
        t.o.certificate = NULL;
        CU_ASSERT_EQUAL(rp_portfolio_finish(&t.w, &err), RP_OK);
        close_turns(&t);
    }
}

/* The last attempt to place a schedule is worth the packer's work of the whole search. */
static void the_last_attempt_has_the_most_work(void) {
    struct turns t;
    open_turns(&t, 1, 20);
    take_turn_of(&t, RP_ANNEAL, 0);
    t.o.addressed = true;
    t.o.time_limit = 8;
    t.w.unplaced = true;
    t.w.end = INFINITY;
    rp_place_last(&t.w, &t.scratch);
    CU_ASSERT(t.w.spaces[t.w.whole].tried_work >
              (uint64_t)(8 * MAX_PACKING_SHARE * PACK_WORK_PER_S));
    close_turns(&t);
}

/* With a plan in hand, attempts wait while they have taken more than their share. Without
 * one they do not, and what they take is not counted. */
static void attempts_that_took_too_much_wait(void) {
    struct rp_turn turn = {.space = RP_WITHOUT_SWAPS, .begin = 1, .run_seconds = 1};
    for (int k = 0; k < 4; k++) {
        bool has_plan = k % 2 == 1, waits = has_plan && k >= 2;
        double left = k >= 2 ? -1e-9 : 0;
        struct turns t;
        open_turns(&t, 1, 20);
        take_turn_of(&t, RP_ANNEAL, 0);
        t.o.addressed = true;
        t.o.time_limit = 8;
        struct rp_space *space = &t.w.spaces[t.w.whole];
        space->placing_seconds = left;
        t.w.placed_ns = has_plan ? t.w.incumbent.time_ns + 1 : UINT64_MAX;
        rp_place_incumbent(&t.w, &turn, &t.scratch);
        CU_ASSERT_EQUAL(t.w.placed_ns == t.w.incumbent.time_ns, !waits);
        CU_ASSERT_EQUAL(space->tried_ns == t.w.incumbent.time_ns, !waits);
        CU_ASSERT_EQUAL(space->placing_seconds < left, has_plan && !waits);
        close_turns(&t);
    }
}

void suite_portfolio(void) {
    RP_SUITE("portfolio");
    RP_TEST(no_method_begins_after_the_time_limit);
    RP_TEST(the_pool_holds_the_fastest_schedule);
    RP_TEST(neighborhoods_go_on_from_the_incumbent);
    RP_TEST(lp_rounding_finds_schedules);
    RP_TEST(bounds_go_on_beside_neighborhoods);
    RP_TEST(an_abandoned_bound_stays_what_it_was);
    RP_TEST(the_last_attempt_has_the_most_work);
    RP_TEST(attempts_that_took_too_much_wait);
}
