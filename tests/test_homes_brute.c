/* The planner against brute force where sources may live on the host: all choices of homes,
 * recomputation, copies and updates. */
#include <stdlib.h>

#include "brute_copies.h"
#include "gen.h"
#include "run.h"
#include "solve/core/instance.h"
#include "solve/solver.h"
#include "verify/verifier.h"

struct tally {
    uint32_t n;      /* graphs that brute force solves */
    uint32_t late;   /* with an optimum above the sum of op times */
    uint32_t none;   /* without a plan by brute force */
    uint32_t best;   /* with a plan of the optimum */
    uint32_t proved; /* with a bound of the optimum */
    double over;     /* sum of the plans' times over the optimum, as shares */
};

/* From the least that a plan can need on, in steps. */
static uint64_t budget_of(const struct rp_graph *g, uint64_t steps) {
    struct rp_instance p;
    uint32_t op;
    rp_instance_init_homes(&p, g, RP_MAX_QUANTITY / 2, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    uint64_t bytes = p.fixed_bytes + rp_instance_floor(&p, &op) + steps * 1500;
    rp_instance_fini(&p);
    return bytes;
}

/* What is tried beside the plain case. */
enum { PLAIN = 0, REORDER = 1, LITTLE_HOST_MEMORY = 2 }; /* bits */

/* For the host copies of some sources, not of all. */
static uint64_t host_budget(const struct rp_graph *g, uint64_t seed, unsigned v) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        bytes += g->tensors[x].home != RP_HOME_DEVICE ? g->tensors[x].bytes : 0;
    return v & LITTLE_HOST_MEMORY ? bytes / 8 * (seed % 7 + 2) : RP_MAX_QUANTITY;
}

static rp_rc solve(const struct rp_graph *g, uint64_t budget, uint64_t host_bytes,
                   bool reorder, struct rp_plan *plan) {
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .recompute = true,
                                 .reorder = reorder,
                                 .swap = true,
                                 .host_bytes = host_bytes,
                                 .time_limit = 0.02,
                                 .ignore_clock = true,
                                 .seed = 1};
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    return rp_solve(g, &o, plan, &report, &err);
}

/* False if there is no plan, or it is faster than the optimum, is not valid, or has a bound
 * above it. */
static bool agrees(const struct rp_graph *g, rp_rc rc, const struct rp_plan *plan,
                   uint64_t best_ns, struct tally *t) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    t->n++;
    t->late += best_ns > g->total_time_ns;
    if (rc != RP_OK)
        return false;
    t->best += plan->claims.time_ns == best_ns;
    t->proved += plan->claims.lower_bound_ns == best_ns;
    t->over += best_ns > 0 ? (double)plan->claims.time_ns / (double)best_ns - 1 : 0;
    if (plan->claims.lower_bound_ns > g->total_time_ns)
        CU_ASSERT(plan->claims.bound_for.all_programs);
    return plan->claims.time_ns >= best_ns && plan->claims.lower_bound_ns <= best_ns &&
           rp_verify(g, plan, &v, &err) == RP_OK;
}

static bool is_no_better_than_brute_force(uint64_t seed, unsigned v, struct tally *t) {
    struct rp_graph g;
    struct rp_plan plan = {0};
    uint64_t best_ns;
    bool ok = true;
    rp_gen_host_graph(seed, 4 + (uint32_t)(seed % 2), &g);
    if (rp_gen_movable(&g) <= RP_BRUTE_COPIED) {
        uint64_t budget = budget_of(&g, seed % 4);
        struct rp_brute_copies o = {.limit_bytes = budget - g.fixed_bytes,
                                    .host_limit_bytes = host_budget(&g, seed, v),
                                    .recompute = true,
                                    .swap = true,
                                    .any_order = v & REORDER,
                                    .max_states = 20000};
        enum rp_brute_result result = rp_brute_copies_best(&g, &o, &best_ns);
        rp_rc rc = result == RP_BRUTE_GAVE_UP
                       ? RP_LIMIT
                       : solve(&g, budget, o.host_limit_bytes, v & REORDER, &plan);
        if (result == RP_BRUTE_FOUND)
            ok = agrees(&g, rc, &plan, best_ns, t);
        else if (result == RP_BRUTE_NONE)
            ok = v & REORDER ? rc != RP_OK : rc == RP_NO;
        t->none += result == RP_BRUTE_NONE;
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
    return ok;
}

static struct tally hold_against_brute_force(uint32_t n, unsigned v) {
    struct tally t = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!is_no_better_than_brute_force(seed, v, &t)) {
            rp_gen_failed(seed);
            CU_FAIL("not what brute force says");
        }
    return t;
}

static void plans_are_the_fastest_and_proved_to_be(void) {
    struct tally t = hold_against_brute_force(600, PLAIN);
    CU_ASSERT(t.n < 2 || (t.n >= 300 && t.late * 10 >= t.n * 8));
    CU_ASSERT(t.best == t.n && t.proved == t.n);
}

/* The same over all orders of first runs. */
static void no_plan_in_any_order_is_faster_than_the_optimum_either(void) {
    struct tally t = hold_against_brute_force(200, REORDER);
    CU_ASSERT(t.n < 2 || (t.n >= 80 && t.late * 10 >= t.n * 8 && t.best * 10 >= t.n * 8 &&
                          t.proved * 2 >= t.n && t.over < 0.04 * t.n));
}

/* And where there is none, that is proved. */
static void so_they_are_where_host_memory_is_little(void) {
    struct tally t = hold_against_brute_force(300, LITTLE_HOST_MEMORY);
    CU_ASSERT(t.n < 2 || (t.n >= 100 && t.none >= 100));
    CU_ASSERT(t.best == t.n && t.proved == t.n);
}

/* Of some graphs, all plans have another order of first runs than the given one. */
static void no_plan_is_missed_that_needs_another_order(void) {
    struct tally t = hold_against_brute_force(190, REORDER | LITTLE_HOST_MEMORY);
    CU_ASSERT(t.n < 2 || (t.n >= 60 && t.best * 10 >= t.n * 8));
}

void suite_homes_brute(void) {
    RP_SUITE("homes_brute");
    RP_TEST(plans_are_the_fastest_and_proved_to_be);
    RP_TEST(no_plan_in_any_order_is_faster_than_the_optimum_either);
    RP_TEST(so_they_are_where_host_memory_is_little);
    RP_TEST(no_plan_is_missed_that_needs_another_order);
}
