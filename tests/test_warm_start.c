/* Tests of searches that start from a given plan. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/construct/greedy.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* A random graph and a random plan for it: recomputation, perhaps swaps, true claims. */
static void random_pair(uint64_t seed, bool addressed, bool swaps, struct rp_graph *g,
                        struct rp_plan *plan) {
    struct rp_gen_shape shape = rp_gen_small(5 + (uint32_t)(seed % 20));
    struct rp_err err = {{0}};
    shape.training = seed % 2;
    shape.bandwidths = swaps;
    rp_gen_graph(seed, &shape, g);
    rp_gen_plan(seed, g, addressed, plan);
    CU_ASSERT_EQUAL(rp_plan_fill_claims(g, plan, &err), RP_OK);
}

static rp_rc solve_from(const struct rp_graph *g, const struct rp_plan *start,
                        uint64_t budget, bool addressed, double seconds,
                        struct rp_plan *plan) {
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .addressed = addressed,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = seconds,
                                 .ignore_clock = true,
                                 .seed = 1,
                                 .start = start};
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    return rp_solve(g, &o, plan, &report, &err);
}

static bool schedule_runs_no_more(uint64_t seed) {
    struct rp_graph g;
    struct rp_plan plan, again = {0};
    struct rp_instance p;
    struct rp_schedule s, t;
    random_pair(seed, false, false, &g, &plan);
    rp_instance_init(&p, &g, plan.budget_bytes, false, NULL);
    rp_schedule_empty(&p, &s);
    rp_schedule_empty(&p, &t);
    bool ok = rp_schedule_from_plan(&p, &plan, NULL, &s);
    ok = ok && rp_schedule_cost(&p, &s).time_ns <= plan.claims.time_ns;
    /* The steps of the schedule give the same schedule again. */
    rp_schedule_steps(&p, &s, NULL, &again);
    ok = ok && rp_schedule_from_plan(&p, &again, NULL, &t) &&
         memcmp(s.rows, t.rows, ((size_t)p.n_ops + 1) * s.words * sizeof *s.rows) == 0;
    rp_plan_fini(&plan);
    rp_plan_fini(&again);
    rp_schedule_fini(&s);
    rp_schedule_fini(&t);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void the_schedule_of_a_plan_runs_no_more_than_the_plan(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!schedule_runs_no_more(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("more runs, or another schedule from its own steps");
        }
}

static bool result_is_not_slower(uint64_t seed) {
    struct rp_graph g;
    struct rp_plan start, plan;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    bool addressed = seed % 3 == 0;
    random_pair(seed, addressed, seed % 2, &g, &start);
    rp_rc rc = solve_from(&g, &start, start.budget_bytes, addressed, 1e-4, &plan);
    bool ok = rc == RP_OK && plan.claims.time_ns <= start.claims.time_ns &&
              rp_verify(&g, &plan, &v, &err) == RP_OK;
    rp_plan_fini(&plan);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
    return ok;
}

/* Some of these plans run an op twice in a stage, which takes less memory than any
 * schedule. */
static void the_result_is_never_slower_than_a_start_that_fits(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!result_is_not_slower(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("no plan, a slower one, or one that verify rejects");
        }
}

/* The number of swap-ins in the plan. *same: its schedule takes the plan's time. */
static size_t swaps_of_same_schedule(uint64_t seed, bool *same) {
    struct rp_graph g;
    struct rp_plan start, plan;
    struct rp_instance p;
    struct rp_schedule s;
    size_t n_ins = 0;
    random_pair(seed, false, true, &g, &start);
    uint64_t all = rp_keep_all_bytes(&g, false);
    rp_rc rc = solve_from(&g, NULL, g.fixed_bytes + (all - g.fixed_bytes) / 10 * 7, false,
                          0.02, &plan);
    if (rc == RP_OK) {
        rp_instance_init(&p, &g, all, false, NULL);
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        rp_schedule_empty(&p, &s);
        *same = rp_schedule_from_plan(&p, &plan, NULL, &s) &&
                rp_schedule_cost(&p, &s).time_ns == plan.claims.time_ns;
        for (size_t i = 0; i < plan.steps.n; i++)
            n_ins += plan.steps.at[i].kind == RP_SWAP_IN;
        rp_schedule_fini(&s);
        rp_instance_fini(&p);
    }
    rp_plan_fini(&plan);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
    return n_ins;
}

/* A tensor that is freed during its swap-in becomes recomputation, which may take longer.
 */
static void most_plans_with_swaps_give_back_their_schedule(void) {
    enum { N = 20 };
    uint32_t n = N;
    size_t swaps = 0, n_same = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        bool same = true;
        swaps += swaps_of_same_schedule(seed, &same);
        n_same += same;
    }
    CU_ASSERT((swaps > 0 && n_same >= N * 9 / 10) || rp_gen_one_seed());
}

/* Ops a, b and c take 100 ns and follow each other; their outputs have 10 bytes each. d
 * reads a and c. This takes 21 bytes if a runs twice, and 30 otherwise. */
static const char diamond[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"imported:"
    "x\",\"tensors\":["
    "{\"name\":\"a\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"d\",\"bytes\":1,\"kind\":\"activation\"}],"
    "\"ops\":[{\"name\":\"a\",\"kind\":\"f\",\"inputs\":[],\"outputs\":[0],\"time_ns\":"
    "100},"
    "{\"name\":\"b\",\"kind\":\"f\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":100},"
    "{\"name\":\"c\",\"kind\":\"f\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":100},"
    "{\"name\":\"d\",\"kind\":\"f\",\"inputs\":[0,2],\"outputs\":[3],\"time_ns\":100}],"
    "\"keep\":[3]}";

static void a_start_over_the_budget_is_improved_until_it_fits(void) {
    struct rp_graph g;
    struct rp_plan start, plan;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(diamond, sizeof diamond - 1, "g", &g, &err),
                          RP_OK);
    rp_gen_keep_all(&g, false, &start);
    CU_ASSERT_EQUAL(solve_from(&g, &start, 29, false, 1e-4, &plan), RP_OK);
    CU_ASSERT_EQUAL(plan.claims.time_ns, 500);
    rp_plan_fini(&plan);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
}

static void a_plan_with_another_order_of_first_runs_gives_no_schedule(void) {
    struct rp_graph g;
    struct rp_plan start;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_err err = {{0}};
    uint32_t order[4] = {1, 0, 2, 3}, found[4];
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(diamond, sizeof diamond - 1, "g", &g, &err),
                          RP_OK);
    rp_gen_keep_all(&g, false, &start);
    rp_plan_first_runs(&g, &start, found);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(found[i], i);
    rp_instance_init(&p, &g, 100, false, order);
    rp_schedule_empty(&p, &s);
    CU_ASSERT_FALSE(rp_schedule_from_plan(&p, &start, NULL, &s));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
}

/* ---- the schedule of a plan ---- */

/* A chain, of which a is kept, and away while c and d run. Only the step after the last op
 * brings it back. */
static void what_comes_in_after_the_last_op_is_of_the_last_stage(void) {
    static const struct rp_step steps[] = {
        {.kind = RP_RUN, .id = 0},     {.kind = RP_SWAP_OUT, .id = 0},
        {.kind = RP_RUN, .id = 1},     {.kind = RP_FREE, .id = 0},
        {.kind = RP_RUN, .id = 2},     {.kind = RP_RUN, .id = 3},
        {.kind = RP_SWAP_IN, .id = 0},
    };
    char chain[sizeof diamond];
    memcpy(chain, diamond, sizeof diamond);
    memcpy(strstr(chain, "[0,2]"), "[  2]", 5);
    struct rp_graph g;
    struct rp_plan plan = {0};
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(chain, sizeof chain - 1, "g", &g, &err), RP_OK);
    g.kept[0] = true;
    g.device.d2h_bytes_per_s = g.device.h2d_bytes_per_s = 1000000000;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        rp_push(&plan.steps, steps[i]);
    rp_instance_init(&p, &g, 100, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    CU_ASSERT(rp_schedule_from_plan(&p, &plan, NULL, &s));
    CU_ASSERT(rp_swapped_in(&s, 3, 0) && !rp_held(&s, 3, 0) && rp_held(&s, 4, 0));
    CU_ASSERT_EQUAL(rp_schedule_cost(&p, &s).time_ns, 400);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* Sets every bit, as if the memory had been used before. */
static void set_all_bits(const struct rp_instance *p, struct rp_schedule *s) {
    size_t bytes = ((size_t)p->n_ops + 1) * s->words * sizeof *s->rows;
    memset(s->rows, 0xff, bytes);
    rp_schedule_set_in(s, 0, 0, true); /* allocates the swap-ins */
    memset(s->ins, 0xff, bytes);
}

static bool has_swap_ins(const struct rp_instance *p, const struct rp_schedule *s) {
    for (size_t k = 0; s->ins != NULL && k < ((size_t)p->n_ops + 1) * s->words; k++)
        if (s->ins[k] != 0)
            return true;
    return false;
}

/* Earlier contents of the schedule do not matter. Counts the plans with swaps whose
 * schedule has none. */
static bool schedule_is_new(uint64_t seed, uint32_t *n_remade) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_instance p;
    struct rp_schedule s, dirty;
    random_pair(seed, false, true, &g, &plan);
    rp_instance_init(&p, &g, plan.budget_bytes, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_empty(&p, &s);
    rp_schedule_empty(&p, &dirty);
    set_all_bits(&p, &dirty);
    size_t bytes = ((size_t)p.n_ops + 1) * s.words * sizeof *s.rows;
    bool made = rp_schedule_from_plan(&p, &plan, NULL, &s);
    bool ok = rp_schedule_from_plan(&p, &plan, NULL, &dirty) == made;
    ok = ok && (!made || memcmp(s.rows, dirty.rows, bytes) == 0);
    ok = ok && (!made || (s.ins != NULL ? memcmp(s.ins, dirty.ins, bytes) == 0
                                        : !has_swap_ins(&p, &dirty)));
    *n_remade += made && plan.host_bytes > 0 && !has_swap_ins(&p, &s);
    rp_schedule_fini(&s);
    rp_schedule_fini(&dirty);
    rp_instance_fini(&p);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

static void the_schedule_depends_on_the_plan_alone(void) {
    uint32_t n = 200, remade = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!schedule_is_new(seed, &remade)) {
            rp_gen_failed(seed);
            CU_FAIL("another schedule in used memory");
        }
    CU_ASSERT(remade > 5 || rp_gen_one_seed());
}

/* ---- a plan for another budget ---- */

/* Leaves no spare capacity in the lists, so that a sanitizer sees access beyond the end. */
static void trim(struct rp_plan *p) {
    p->steps.at = rp_realloc(p->steps.at, p->steps.n, sizeof *p->steps.at);
    p->at.at = rp_realloc(p->at.at, p->at.n, sizeof *p->at.at);
    p->steps.cap = p->steps.n;
    p->at.cap = p->at.n;
}

static bool same_steps(const struct rp_plan *a, const struct rp_plan *b, bool addressed) {
    if (a->steps.n != b->steps.n || b->at.n != (addressed ? a->at.n : 0))
        return false;
    for (size_t i = 0; i < a->steps.n; i++) {
        const struct rp_step *s = &a->steps.at[i], *t = &b->steps.at[i];
        if (s->kind != t->kind || s->id != t->id)
            return false;
        if (addressed ? t->at != s->at || t->n_at != s->n_at || t->has_at != s->has_at ||
                            t->address != s->address
                      : t->n_at != 0 || t->has_at || t->address != RP_NO_ADDRESS)
            return false;
    }
    for (size_t i = 0; i < b->at.n; i++)
        if (a->at.at[i] != b->at.at[i])
            return false;
    return true;
}

static void plans_for_another_budget_keep_their_steps_with_or_without_addresses(void) {
    for (uint64_t seed = 1; seed < 20; seed++)
        for (int addressed = 0; addressed < 2; addressed++) {
            struct rp_graph g;
            struct rp_plan from, to;
            struct rp_verdict v;
            struct rp_err err = {{0}};
            random_pair(seed, true, true, &g, &from);
            trim(&from);
            rp_plan_restate(&from, addressed, from.budget_bytes + 7, &to);
            CU_ASSERT_EQUAL(to.budget_bytes, from.budget_bytes + 7);
            CU_ASSERT_EQUAL(to.addressed, addressed);
            CU_ASSERT_STRING_EQUAL(to.graph_name, from.graph_name);
            CU_ASSERT_STRING_EQUAL(to.graph_sha256, from.graph_sha256);
            CU_ASSERT_EQUAL(to.arena_bytes, addressed ? from.arena_bytes : 0);
            CU_ASSERT_EQUAL(to.host_bytes, addressed ? from.host_bytes : 0);
            CU_ASSERT(same_steps(&from, &to, addressed));
            CU_ASSERT_EQUAL(rp_plan_fill_claims(&g, &to, &err), RP_OK);
            CU_ASSERT_EQUAL(rp_verify(&g, &to, &v, &err), RP_OK);
            rp_plan_fini(&from);
            rp_plan_fini(&to);
            rp_graph_fini(&g);
        }
}

static void homes_keep_their_host_addresses_only_if_the_plan_has_addresses(void) {
    struct rp_plan from = {.graph_name = (char *)"g", .graph_sha256 = (char *)"0"};
    struct rp_plan_home home = {.tensor = 3, .host_at = 64};
    rp_push(&from.homes, home);
    for (int addressed = 0; addressed < 2; addressed++) {
        struct rp_plan to;
        rp_plan_restate(&from, addressed, 7, &to);
        CU_ASSERT_FATAL(to.homes.n == 1);
        CU_ASSERT_EQUAL(to.homes.at[0].tensor, 3);
        CU_ASSERT_EQUAL(to.homes.at[0].host_at, addressed ? 64 : RP_NO_ADDRESS);
        rp_plan_fini(&to);
    }
    free(from.homes.at);
}

static void first_runs_are_counted_once(void) {
    struct rp_step runs[] = {{.kind = RP_RUN, .id = 2},
                             {.kind = RP_RUN, .id = 0},
                             {.kind = RP_FREE, .id = 1},
                             {.kind = RP_RUN, .id = 2},
                             {.kind = RP_RUN, .id = 1}};
    struct rp_graph g = {.n_ops = 3};
    struct rp_plan plan = {0};
    uint32_t order[3];
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        rp_push(&plan.steps, runs[i]);
    trim(&plan);
    rp_plan_first_runs(&g, &plan, order);
    CU_ASSERT(order[0] == 2 && order[1] == 0 && order[2] == 1);
    rp_plan_fini(&plan);
}

/* ---- the greedy schedule ---- */

/* 1: the schedule fits; 0: no schedule, or one that does not fit; 2: the schedule is not
 * sound. */
static int check_greedy(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(20 + (uint32_t)(seed % 60));
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    shape.training = true;
    shape.once_percent = seed % 2 ? 0 : 10;
    rp_gen_graph(seed, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false);
    rp_instance_init(&p, &g, all - (all - g.fixed_bytes) / 5, false, NULL);
    rp_schedule_empty(&p, &s);
    bool made = rp_schedule_greedy(&p, NULL, NULL, &s);
    struct rp_cost c = rp_schedule_cost(&p, &s);
    int result = made ? (c.sound ? c.peak_bytes <= p.limit_bytes : 2) : 0;
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return result;
}

static void the_greedy_schedule_mostly_fits(void) {
    uint32_t n = 100, all = n, fits = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        int result = check_greedy(seed);
        fits += result == 1;
        if (result == 2) {
            rp_gen_failed(seed);
            CU_FAIL("not a sound schedule");
        }
    }
    CU_ASSERT(fits >= all / 2 || rp_gen_one_seed());
}

void suite_warm_start(void) {
    RP_SUITE("warm_start");
    RP_TEST(the_schedule_of_a_plan_runs_no_more_than_the_plan);
    RP_TEST(the_result_is_never_slower_than_a_start_that_fits);
    RP_TEST(most_plans_with_swaps_give_back_their_schedule);
    RP_TEST(a_start_over_the_budget_is_improved_until_it_fits);
    RP_TEST(the_greedy_schedule_mostly_fits);
    RP_TEST(a_plan_with_another_order_of_first_runs_gives_no_schedule);
    RP_TEST(what_comes_in_after_the_last_op_is_of_the_last_stage);
    RP_TEST(the_schedule_depends_on_the_plan_alone);
    RP_TEST(plans_for_another_budget_keep_their_steps_with_or_without_addresses);
    RP_TEST(homes_keep_their_host_addresses_only_if_the_plan_has_addresses);
    RP_TEST(first_runs_are_counted_once);
}
