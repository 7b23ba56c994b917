/* Tests of swapping in the planner: the time that the search computes incrementally, the
 * plans, and the options that allow or forbid it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brute_copies.h"
#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/core/schedule.h"
#include "solve/incremental/incremental.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* A random graph whose copies take about as long as its ops. */
static void gen_graph(uint64_t seed, uint32_t n_ops, uint32_t max_outputs,
                      struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.max_outputs = max_outputs;
    shape.keep_percent = max_outputs > 1 ? 5 : 0;
    struct rp_rng r = {seed};
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    shape.training = seed % 3 != 0;
    shape.rules_percent = seed % 2 * 15;
    rp_gen_graph(seed, &shape, g);
    g->device.d2h_bytes_per_s = 10000000000u + rp_rng_below(&r, 200000000000u);
    g->device.h2d_bytes_per_s = 10000000000u + rp_rng_below(&r, 200000000000u);
    /* Dump and parse it, so that the digest is right. */
    rp_graph_dump(g, &text, &len);
    rp_graph_fini(g);
    if (rp_graph_parse(text, len, "random", g, &err) != RP_OK)
        CU_FAIL_FATAL("the graph is refused");
    free(text);
}

/* Makes a few random flips of held tensors or swap-ins. */
static void flip_at_random(struct rp_incremental *s, struct rp_rng *r) {
    const struct rp_instance *p = s->p;
    for (int k = 0; k < 3; k++) {
        uint32_t x = (uint32_t)rp_rng_below(r, p->n_tensors), first = p->producer[x] + 1;
        if (first >= p->n_ops)
            continue;
        uint32_t a = first + (uint32_t)rp_rng_below(r, p->n_ops - first);
        uint32_t b = a + (uint32_t)rp_rng_below(r, p->n_ops - a);
        if (rp_rng_percent(r, 40)) {
            rp_incremental_flip(s, x, a, b, rp_rng_percent(r, 50));
            continue;
        }
        if (rp_rng_percent(r, 40) && rp_incremental_swapped_in(s, a, x)) {
            rp_incremental_flip_swap_in(s, x, a, false);
            continue;
        }
        rp_incremental_flip(s, x, a, a, false);
        rp_incremental_flip_swap_in(s, x, a, true);
        if (a < b)
            rp_incremental_flip(s, x, a + 1, b, true);
    }
}

/* Does the schedule's plan have the time of `s`, and does verify accept it? */
static bool plan_agrees(const struct rp_graph *g, const struct rp_instance *p,
                        const struct rp_schedule *now, const struct rp_incremental *s) {
    struct rp_cost c = rp_schedule_cost(p, now);
    struct rp_plan plan = {.graph_name = strdup(g->name),
                           .graph_sha256 = strdup(g->sha256),
                           .budget_bytes = g->fixed_bytes + c.peak_bytes};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    plan.arena_bytes = c.peak_bytes;
    plan.host_bytes = c.host_bytes;
    rp_schedule_steps(p, now, NULL, &plan);
    /* The claims that do not need the time line. The recompute time is taken from the
     * verdict. */
    plan.claims.time_ns = c.time_ns;
    plan.claims.stall_ns = c.stall_ns;
    plan.claims.baseline_time_ns = g->total_time_ns;
    plan.claims.peak_bytes = plan.budget_bytes;
    rp_plan_set_bound(g, &plan.claims, 0, rp_bound_for_all_plans);
    rp_verify(g, &plan, &v, &err);
    plan.claims.recompute_ns = v.recompute_ns;
    bool ok = c.sound && (double)c.time_ns == s->time_ns &&
              (c.peak_bytes > p->limit_bytes) == (s->overflow_bytes > 0) &&
              c.host_bytes == s->swaps.host_bytes &&
              rp_verify(g, &plan, &v, &err) == RP_OK && v.host_used_bytes == c.host_bytes;
    if (!ok)
        printf("%s\n", err.msg);
    rp_plan_fini(&plan);
    return ok;
}

static bool times_agree(uint64_t seed, uint64_t *n_swaps, uint64_t *n_stalls) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_incremental s, fresh;
    struct rp_schedule now;
    struct rp_rng r = {seed};
    bool ok = true;
    gen_graph(seed, 5 + (uint32_t)(seed % 60), 2, &g);
    rp_instance_init(&p, &g, rp_budget_between(&g, false, 60), false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_schedule_keep_all(&p, &now);
    rp_incremental_init(&s, &p);
    rp_incremental_init(&fresh, &p);
    rp_incremental_load(&s, &now);
    for (int k = 0; k < 200 && ok && p.n_ops > 1 && p.n_tensors > 0; k++) {
        rp_incremental_begin(&s);
        flip_at_random(&s, &r);
        bool may_shift = rp_rng_percent(&r, 50);
        if (!rp_incremental_evaluate(&s, 1, 1e30, may_shift) || rp_rng_percent(&r, 30))
            rp_incremental_undo(&s);
        else
            rp_incremental_commit(&s);
        rp_incremental_store(&s, &now);
        rp_incremental_load(&fresh, &now);
        ok = s.time_ns == fresh.time_ns && s.overflow_bytes == fresh.overflow_bytes &&
             s.swaps.stall_ns == fresh.swaps.stall_ns && plan_agrees(&g, &p, &now, &s);
        *n_swaps += s.swaps.n_copies;
        *n_stalls += s.swaps.stall_ns > 0;
    }
    rp_incremental_fini(&s);
    rp_incremental_fini(&fresh);
    rp_schedule_fini(&now);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void incremental_time_equals_that_of_the_time_line(void) {
    uint64_t n_swaps = 0, n_stalls = 0;
    uint32_t n = 40;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!times_agree(seed, &n_swaps, &n_stalls)) {
            rp_gen_failed(seed);
            CU_FAIL("time, memory or host bytes drifted");
        }
    CU_ASSERT((n_swaps > 1000 && n_stalls > 1000) || rp_gen_one_seed());
}

static rp_rc solve(const struct rp_graph *g, uint64_t budget, uint64_t host_bytes,
                   bool recompute, struct rp_plan *plan) {
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .recompute = recompute,
                                 .swap = true,
                                 .host_bytes = host_bytes,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .seed = 1};
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    return rp_solve(g, &o, plan, &report, &err);
}

/* A budget that is `percent` of the way from the smallest possible peak to the peak of
 * keep-all. */
static uint64_t budget_from_floor(const struct rp_graph *g, uint64_t percent) {
    struct rp_instance p;
    uint32_t op;
    rp_instance_init(&p, g, g->fixed_bytes, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    uint64_t floor_bytes = g->fixed_bytes + rp_instance_floor(&p, &op);
    uint64_t keep_all_bytes = rp_keep_all_bytes(g, false);
    rp_instance_fini(&p);
    return floor_bytes + (keep_all_bytes - floor_bytes) / 100 * percent;
}

struct tally {
    uint32_t n, best, proved;
};

/* Compares the planner with brute force over all step sequences. Returns false if its plan
 * is faster than the optimum or its bound is above it. */
static bool agrees_with_brute_force(uint64_t seed, struct tally *tally) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    uint64_t best;
    gen_graph(seed, 5 + (uint32_t)(seed % 2), 1, &g);
    bool ok = true;
    if (g.n_tensors <= 2 + RP_BRUTE_COPIED) {
        uint64_t budget = budget_from_floor(&g, seed % 4 * 25);
        struct rp_brute_copies o = {.limit_bytes = budget - g.fixed_bytes,
                                    .host_limit_bytes = RP_MAX_QUANTITY,
                                    .recompute = true,
                                    .swap = true,
                                    .max_states = 400000};
        enum rp_brute_result result = rp_brute_copies_best(&g, &o, &best);
        rp_rc rc = solve(&g, budget, RP_MAX_QUANTITY, true, &plan);
        if (result == RP_BRUTE_FOUND) {
            tally->n++;
            tally->best += rc == RP_OK && plan.claims.time_ns == best;
            tally->proved += rc == RP_OK && plan.claims.proof == RP_PROOF_OPTIMAL;
            ok = rc != RP_OK ||
                 (plan.claims.time_ns >= best && plan.claims.lower_bound_ns <= best &&
                  rp_verify(&g, &plan, &v, &err) == RP_OK);
        } else if (result == RP_BRUTE_NONE) {
            ok = rc != RP_OK;
        }
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
    return ok;
}

static void small_graphs_are_solved_to_the_optimum_over_all_step_sequences(void) {
    struct tally tally = {0};
    uint32_t n = 50;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!agrees_with_brute_force(seed, &tally)) {
            rp_gen_failed(seed);
            CU_FAIL("better than the best program");
        }
    CU_ASSERT(tally.best == tally.n && tally.proved == tally.n);
}

/* The plan contains nothing that the options forbid, and both checkers accept it. */
static bool options_hold(uint64_t seed, uint32_t *n_swaps) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_verdict v;
    struct rp_replay replay;
    struct rp_err err = {{0}};
    gen_graph(seed, 12 + (uint32_t)(seed % 20), 2, &g);
    uint64_t host_bytes = seed % 2 ? RP_MAX_QUANTITY : 4096;
    struct rp_solve_options o = {.budget_bytes = rp_budget_between(&g, true, 70),
                                 .addressed = true,
                                 .recompute = seed % 3 != 0,
                                 .swap = seed % 5 != 0,
                                 .host_bytes = host_bytes,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .seed = 1};
    bool ok = true;
    if (rp_solve(&g, &o, &plan, &report, &err) == RP_OK) {
        ok = rp_verify(&g, &plan, &v, &err) == RP_OK &&
             rp_verify_replay(&g, &plan, &replay, &err) == RP_OK &&
             (o.recompute || v.n_reruns == 0) && (o.swap || v.n_swap_outs == 0) &&
             v.host_used_bytes <= host_bytes && plan.host_bytes <= host_bytes;
        *n_swaps += v.n_swap_outs > 0;
    } else {
        ok = report.reason[0] != '\0';
    }
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

static void plans_use_only_what_the_options_allow(void) {
    uint32_t n = 45, n_swaps = 0, seeds = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++, seeds++)
        if (!options_hold(seed, &n_swaps)) {
            rp_gen_failed(seed);
            CU_FAIL(
                "a plan was rejected, does what it may not, or is not there for no reason");
        }
    CU_ASSERT(rp_gen_one_seed() || n_swaps * 4 > seeds);
}

void suite_solver_swap(void) {
    RP_SUITE("solver_swap");
    RP_TEST(small_graphs_are_solved_to_the_optimum_over_all_step_sequences);
    RP_TEST(plans_use_only_what_the_options_allow);
    RP_TEST(incremental_time_equals_that_of_the_time_line);
}
