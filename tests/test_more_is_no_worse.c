/* Tests that a search with more time, or with options that allow more, never ends with a
 * slower plan; and that --gap ends it after the same work on any machine. */
#include <math.h>
#include <stdlib.h>

#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/core/params.h"
#include "solve/search/sequence.h"
#include "solve/solver.h"
#include "solve/statistics.h"

/* A training graph whose copies take about as long as its ops. */
static void gen_graph(uint64_t seed, uint32_t n_ops, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = shape.bandwidths = true;
    shape.once_percent = 3;
    shape.keep_percent = 1;
    rp_gen_graph(seed, &shape, g);
}

static struct rp_solve_options options_for(const struct rp_graph *g, uint64_t percent,
                                           bool addressed) {
    return (struct rp_solve_options){.budget_bytes =
                                         rp_budget_between(g, addressed, percent),
                                     .addressed = addressed,
                                     .recompute = true,
                                     .swap = true,
                                     .host_bytes = RP_MAX_QUANTITY,
                                     .ignore_clock = true,
                                     .seed = 1};
}

/* UINT64_MAX if no plan was found. */
static uint64_t time_of(const struct rp_graph *g, const struct rp_solve_options *o) {
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    rp_rc rc = rp_solve(g, o, &plan, &report, &err);
    uint64_t time_ns = rc == RP_OK ? plan.claims.time_ns : UINT64_MAX;
    CU_ASSERT(rc == RP_OK || rc == RP_NO || rc == RP_LIMIT);
    rp_plan_fini(&plan);
    return time_ns;
}

static const double limits[] = {0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.15};
enum { N_LIMITS = sizeof limits / sizeof *limits };

/* Counts in *better the limits that gave a faster plan than the one before. */
static bool never_slower_with_more_time(uint64_t seed, uint32_t *better) {
    struct rp_graph g;
    gen_graph(seed, 30 + (uint32_t)(seed % 60), &g);
    struct rp_solve_options o = options_for(&g, 55 + seed % 4 * 5, seed % 2 == 0);
    o.swap = seed % 3 > 0;
    uint64_t before_ns = UINT64_MAX;
    bool ok = true;
    for (size_t k = 0; k < N_LIMITS; k++) {
        o.time_limit = limits[k];
        uint64_t time_ns = time_of(&g, &o);
        ok = ok && time_ns <= before_ns;
        *better += time_ns < before_ns;
        before_ns = time_ns;
    }
    rp_graph_fini(&g);
    return ok;
}

static void a_longer_limit_gives_no_slower_plan(void) {
    uint32_t n = 24, better = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!never_slower_with_more_time(seed, &better)) {
            rp_gen_failed(seed);
            CU_FAIL("more time gave a slower plan");
        }
    /* the limits lie where they make a difference */
    CU_ASSERT(better > 40 || rp_gen_one_seed());
}

/* A limit that ends before the first turn of LP rounding, which takes longer than all
 * before it. The PDHG bound has the rest, and the plan is that of a shorter limit. */
static void time_that_no_turn_fits_into_is_for_the_bound(void) {
    enum { N_OPS = 320 };
    struct rp_graph g;
    struct rp_statistics s[2];
    double seconds = FIRST_ROUNDING_WORK_PER_OP * N_OPS / ANNEAL_WORK_PER_S;
    uint64_t time_ns[2];
    gen_graph(1, N_OPS, &g);
    struct rp_solve_options o = options_for(&g, 60, false);
    o.swap = false;
    for (int k = 0; k < 2; k++) {
        o.time_limit = seconds * (k == 0 ? 0.1 : 0.9);
        o.statistics = &s[k];
        time_ns[k] = time_of(&g, &o);
        CU_ASSERT_EQUAL(s[k].method[RP_LP_ROUNDING].calls, 0);
    }
    CU_ASSERT_EQUAL(time_ns[0], time_ns[1]);
    CU_ASSERT(s[0].pdhg.work < 0.15 * seconds * PDHG_WORK_PER_S);
    CU_ASSERT(s[1].pdhg.work > 0.5 * seconds * PDHG_WORK_PER_S);
    rp_graph_fini(&g);
}

/* What may be allowed, as bits. */
enum { SWAP = 1, RECOMPUTE = 2, REORDER = 4, N_CHOICES = 8 };

/* Where some sources may live on the host, or not. */
static void gen_any_graph(uint64_t seed, uint32_t n_ops, struct rp_graph *g) {
    if (seed % 4 == 3)
        rp_gen_host_graph(seed, n_ops, g);
    else
        gen_graph(seed, n_ops, g);
}

/* A budget from the floor on, and host memory for some or for all. */
static struct rp_solve_options draw_options(const struct rp_graph *g, uint64_t seed) {
    struct rp_rng r = {seed + 1000};
    struct rp_solve_options o =
        options_for(g, 30 + rp_rng_below(&r, 60), rp_rng_percent(&r, 50));
    if (rp_rng_percent(&r, 30))
        o.host_bytes = rp_source_bytes(g) + rp_rng_below(&r, o.budget_bytes + 1);
    o.time_limit = rp_rng_percent(&r, 50) ? 0.003 : 0.03;
    return o;
}

/* Of all choices, tells in *better how many gained something over each that allows less. */
static bool never_slower_with_more_options(uint64_t seed, uint32_t n_ops,
                                           uint32_t *better) {
    struct rp_graph g;
    uint64_t ns[N_CHOICES];
    bool ok = true;
    gen_any_graph(seed, n_ops, &g);
    struct rp_solve_options o = draw_options(&g, seed);
    for (unsigned k = 0; k < N_CHOICES; k++) {
        bool gains = k > 0;
        o.swap = k & SWAP;
        o.recompute = k & RECOMPUTE;
        o.reorder = k & REORDER;
        ns[k] = time_of(&g, &o);
        for (unsigned less = 0; less < k; less++) {
            ok = ok && ((less & ~k) != 0 || ns[k] <= ns[less]);
            gains = gains && ((less & ~k) != 0 || ns[k] < ns[less]);
        }
        *better += gains;
    }
    rp_graph_fini(&g);
    return ok;
}

static void check_wider_options(uint64_t first, uint32_t n, uint32_t least_ops,
                                uint32_t n_sizes, uint32_t least_better) {
    uint32_t better = 0;
    for (uint64_t seed = rp_gen_seed(first, &n); n > 0; n--, seed++)
        if (!never_slower_with_more_options(seed, least_ops + (uint32_t)(seed % n_sizes),
                                            &better)) {
            rp_gen_failed(seed);
            CU_FAIL("an option that allows more gave a slower plan");
        }
    CU_ASSERT(better > least_better || rp_gen_one_seed());
}

static void wider_options_give_no_slower_plan(void) {
    check_wider_options(51, 30, 20, 60, 10);
}

static void wider_options_give_no_slower_plan_of_tiny_graphs(void) {
    check_wider_options(1, 150, 2, 14, 30);
}

/* A device's link makes no difference if it may not be used. */
static void a_search_without_swaps_uses_all_its_time(void) {
    struct rp_graph g;
    struct rp_statistics linked, unlinked;
    gen_graph(5, 90, &g);
    struct rp_solve_options o = options_for(&g, 80, false);
    o.swap = false;
    o.time_limit = 0.2;
    o.statistics = &linked;
    uint64_t linked_ns = time_of(&g, &o);
    g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = 0;
    o.statistics = &unlinked;
    CU_ASSERT_EQUAL(time_of(&g, &o), linked_ns);
    CU_ASSERT(linked.anneal.work > 0);
    CU_ASSERT_EQUAL(linked.anneal.work, unlinked.anneal.work);
    rp_graph_fini(&g);
}

/* Every turn of a short sequence is one of a longer one. */
static void check_cuts(uint32_t n_ops, bool may_swap, bool homes, bool beside) {
    struct rp_sequence a = rp_sequence_begin(n_ops, may_swap, homes, beside), b = a;
    struct rp_turn s, t;
    uint32_t n = 0;
    double end = 0;
    while (rp_sequence_next(&a, 1, &s)) {
        CU_ASSERT(rp_sequence_next(&b, 10, &t));
        CU_ASSERT(s.k == t.k && s.method == t.method && s.space == t.space);
        CU_ASSERT(s.seconds == t.seconds && s.begin == t.begin && s.k == n);
        CU_ASSERT(s.begin == end);
        end = s.begin + s.seconds;
        CU_ASSERT(n == 0 || end <= 1);
        CU_ASSERT(may_swap ? !homes || s.space != RP_WITHOUT_SWAPS
                           : s.space == RP_WITHOUT_SWAPS);
        n++;
    }
    CU_ASSERT(n > 0);
    CU_ASSERT(!rp_sequence_next(&a, 1, &s));
}

static void a_limit_only_cuts_the_sequence(void) {
    for (uint32_t n_ops = 1; n_ops < 6000; n_ops = 3 * n_ops + 1) {
        check_cuts(n_ops, false, false, true);
        check_cuts(n_ops, true, false, false);
        check_cuts(n_ops, true, false, true);
        check_cuts(n_ops, true, true, true);
    }
}

/* Every second round of full length has a run from the incumbent: without swaps in the
 * place of one from keep-all, with swaps, from FIRST_REHEAT on, a longer one beside it. */
static void some_runs_start_from_the_incumbent(void) {
    struct rp_sequence a = rp_sequence_begin(100, true, false, false);
    struct rp_turn t;
    uint32_t n[2] = {0, 0}, reheats = 0;
    while (rp_sequence_next(&a, 60, &t)) {
        bool full = t.method == RP_ANNEAL && t.round >= ROUNDS_TO_FULL_LENGTH;
        bool reheat = full && t.space == RP_BOTH && t.seconds > t.run_seconds;
        CU_ASSERT(full || !t.from_incumbent);
        CU_ASSERT(t.space == RP_WITHOUT_SWAPS || t.from_incumbent == reheat);
        n[t.from_incumbent] += full && t.space == RP_WITHOUT_SWAPS;
        if (reheat) {
            CU_ASSERT_EQUAL(t.round, FIRST_REHEAT + 2 * reheats);
            reheats++;
        }
    }
    CU_ASSERT(n[1] > 0 && (n[0] == n[1] || n[0] == n[1] + 1));
    CU_ASSERT(reheats > 3);
}

/* Where sources may live on the host, one annealing run of each round does not. */
static void one_run_of_a_round_starts_from_keep_all_with_homes(void) {
    struct rp_sequence a = rp_sequence_begin(100, true, true, false);
    struct rp_turn t;
    uint32_t n = 0;
    while (rp_sequence_next(&a, 60, &t)) {
        if (t.method != RP_ANNEAL || t.from_incumbent)
            continue;
        CU_ASSERT_EQUAL(t.space, RP_BOTH);
        CU_ASSERT_EQUAL(t.round, n);
        n++;
    }
    CU_ASSERT(n > ROUNDS_TO_FULL_LENGTH);
}

/* The first turn of a method in a space: its share of the run of its round; 0: none. */
static double share_of(uint32_t n_ops, bool may_swap, enum rp_method method,
                       enum rp_space_id space, uint32_t *round) {
    struct rp_sequence a = rp_sequence_begin(n_ops, may_swap, false, false);
    struct rp_turn t;
    while (rp_sequence_next(&a, INFINITY, &t))
        if (t.method == method && t.space == space) {
            *round = t.round;
            return t.seconds / t.run_seconds;
        }
    return 0;
}

/* The methods of the turns of a round, in which plans may not swap, as bits. */
static unsigned methods_of(uint32_t n_ops, uint32_t round) {
    struct rp_sequence a = rp_sequence_begin(n_ops, false, false, false);
    struct rp_turn t;
    unsigned methods = 0;
    while (rp_sequence_next(&a, INFINITY, &t) && t.round <= round)
        methods |= t.round == round ? 1U << t.method : 0;
    return methods;
}

/* Where a graph is too small or too large for neighbourhoods, annealing takes their
 * turns, or LP rounding the later ones. */
static void other_methods_take_turns_that_do_not_suit_a_graph(void) {
    enum { FULL = ROUNDS_TO_FULL_LENGTH, SMALL = MIN_NEIGHBORHOOD_OPS - 1 };
    enum { LARGE = MAX_NEIGHBORHOOD_OPS + 1 };
    const unsigned anneal = 1U << RP_ANNEAL;
    const unsigned mips = 1U << RP_NEIGHBORHOOD;
    const unsigned rounding = 1U << RP_LP_ROUNDING;
    uint32_t round;
    CU_ASSERT_EQUAL(methods_of(SMALL, FULL), anneal);
    CU_ASSERT_EQUAL(methods_of(MIN_NEIGHBORHOOD_OPS, FULL), anneal | mips);
    CU_ASSERT_EQUAL(methods_of(LARGE - 1, FULL), anneal | mips | rounding);
    CU_ASSERT_EQUAL(methods_of(LARGE, FULL), anneal | rounding);
    CU_ASSERT_EQUAL(methods_of(LARGE, 1), anneal | rounding);
    CU_ASSERT_EQUAL(methods_of(LARGE, 2), anneal);
    CU_ASSERT(share_of(MIN_NEIGHBORHOOD_OPS, false, RP_NEIGHBORHOOD, RP_WITHOUT_SWAPS,
                       &round) > 1.5);
    CU_ASSERT_DOUBLE_EQUAL(share_of(LARGE, true, RP_ANNEAL, RP_WITHOUT_SWAPS, &round), 0.3,
                           1e-9);
}

/* Graphs that LP rounding suits have an early turn of it. */
static void the_first_turn_of_lp_rounding_is_early(void) {
    enum { SMALL = MIN_ROUNDING_OPS - 1, LARGE = MIN_LARGE_OPS };
    uint32_t round;
    for (int swaps = 0; swaps < 2; swaps++) {
        enum rp_space_id space = swaps ? RP_BOTH : RP_WITHOUT_SWAPS;
        CU_ASSERT_EQUAL(share_of(SMALL, swaps, RP_LP_ROUNDING, space, &round), 0);
        CU_ASSERT(share_of(SMALL + 1, swaps, RP_LP_ROUNDING, space, &round) > 0 &&
                  round == FIRST_ROUNDING_ROUND);
        CU_ASSERT(share_of(LARGE, swaps, RP_LP_ROUNDING, space, &round) > 0 &&
                  round == FIRST_ROUNDING_ROUND);
        struct rp_sequence a = rp_sequence_begin(SMALL + 1, swaps, false, false);
        struct rp_turn t;
        CU_ASSERT_FALSE(rp_sequence_will_round(&a, 0.01));
        CU_ASSERT(rp_sequence_will_round(&a, 10));
        while (rp_sequence_next(&a, 10, &t) && t.method != RP_LP_ROUNDING)
            CU_ASSERT(t.round <= FIRST_ROUNDING_ROUND);
        CU_ASSERT_FALSE(rp_sequence_will_round(&a, 10));
        a = rp_sequence_begin(LARGE, swaps, true, false);
        CU_ASSERT_FALSE(rp_sequence_will_round(&a, INFINITY));
    }
}

/* Where a search without swaps runs beside this one, no turn after the first round of full
 * length looks for plans without swaps. */
static void later_turns_leave_plans_without_swaps_to_others(void) {
    for (int beside = 0; beside < 2; beside++) {
        struct rp_sequence a = rp_sequence_begin(100, true, false, beside);
        struct rp_turn t;
        uint32_t last = 0, n = 0;
        while (rp_sequence_next(&a, 60, &t)) {
            last = t.space == RP_WITHOUT_SWAPS ? t.round : last;
            n = t.round;
        }
        CU_ASSERT(n > ROUNDS_TO_FULL_LENGTH + 1);
        CU_ASSERT(beside ? last == ROUNDS_TO_FULL_LENGTH : last >= n - 1);
    }
}

static void the_gap_ends_the_search_early(void) {
    struct rp_graph g;
    struct rp_statistics exact = {0}, near = {0}, again = {0};
    gen_graph(5, 90, &g);
    struct rp_solve_options o = options_for(&g, 80, false);
    o.swap = false;
    o.time_limit = 0.3;
    o.statistics = &exact;
    uint64_t exact_ns = time_of(&g, &o);
    o.gap = 0.5;
    o.statistics = &near;
    uint64_t near_ns = time_of(&g, &o);
    o.statistics = &again;
    CU_ASSERT_EQUAL(time_of(&g, &o), near_ns);
    CU_ASSERT(exact_ns <= near_ns && near_ns < UINT64_MAX);
    CU_ASSERT(near_ns <= 1.5 * (double)g.total_time_ns);
    CU_ASSERT(near.anneal.work < exact.anneal.work);
    CU_ASSERT_EQUAL(near.anneal.work, again.anneal.work);
    rp_graph_fini(&g);
}

/* Annealing runs of a search that may end within `gap` of the bound. */
static uint64_t annealing_calls(const struct rp_graph *g, double gap) {
    struct rp_statistics s;
    struct rp_solve_options o = options_for(g, 75, false);
    o.swap = false;
    o.time_limit = 0.1;
    o.gap = gap;
    o.statistics = &s;
    CU_ASSERT(time_of(g, &o) < UINT64_MAX);
    return s.method[RP_ANNEAL].calls;
}

static void methods_tell_the_work_that_they_did(void) {
    struct rp_graph g;
    struct rp_statistics s;
    gen_graph(5, 40, &g);
    struct rp_solve_options o = options_for(&g, 60, false);
    o.reorder = true;
    o.swap = false;
    o.time_limit = 0.1;
    o.statistics = &s;
    time_of(&g, &o);
    CU_ASSERT(s.moment.work > 0 && s.order.work > 0);
    CU_ASSERT_EQUAL(s.method[RP_MOMENT].work, s.moment.work);
    CU_ASSERT_EQUAL(s.method[RP_ANNEAL_ORDER].work, s.order.work);
    rp_graph_fini(&g);
}

static void nothing_comes_after_the_gap(void) {
    struct rp_graph g;
    gen_graph(5, 32, &g);
    CU_ASSERT(annealing_calls(&g, 0) > 0);
    CU_ASSERT_EQUAL(annealing_calls(&g, 100), 0);
    rp_graph_fini(&g);
}

/* How often the search without swaps beside the other had the faster plan, where copies
 * take far too long. */
static uint64_t n_won(double time_limit) {
    uint64_t n = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rp_graph g;
        struct rp_statistics s;
        gen_graph(seed, 20 + 3 * (uint32_t)seed, &g);
        g.device.h2d_bytes_per_s = g.device.d2h_bytes_per_s = 1000;
        struct rp_solve_options o = options_for(&g, 70, false);
        o.time_limit = time_limit;
        o.statistics = &s;
        uint64_t wide_ns = time_of(&g, &o), won = s.method[RP_NARROWER].incumbents;
        uint64_t calls = s.method[RP_NARROWER].calls; /* none where A* is done at once */
        CU_ASSERT(calls == 2 || calls == 0);
        o.swap = false;
        uint64_t narrow_ns = time_of(&g, &o);
        CU_ASSERT(won ? wide_ns == narrow_ns : wide_ns <= narrow_ns);
        n += won;
        rp_graph_fini(&g);
    }
    return n;
}

/* With more time both find the same plans more often, or the wider search better ones. */
static void the_narrower_search_wins_only_with_a_faster_plan(void) {
    uint64_t won = n_won(0.0005);
    CU_ASSERT(won > 0);
    CU_ASSERT(n_won(0.01) < won);
}

static uint64_t n_narrower(uint32_t n_ops) {
    struct rp_graph g;
    struct rp_statistics statistics;
    gen_graph(1, n_ops, &g);
    struct rp_solve_options o = options_for(&g, 90, true);
    o.time_limit = 0.001;
    o.statistics = &statistics;
    time_of(&g, &o);
    rp_graph_fini(&g);
    return statistics.method[RP_NARROWER].calls;
}

static void very_large_graphs_have_no_narrower_search(void) {
    CU_ASSERT_EQUAL(n_narrower(200), 2);
    CU_ASSERT_EQUAL(n_narrower(MAX_NARROWER_OPS + 1), 0);
}

void suite_more_is_no_worse(void) {
    RP_SUITE("more_is_no_worse");
    RP_TEST(a_longer_limit_gives_no_slower_plan);
    RP_TEST(time_that_no_turn_fits_into_is_for_the_bound);
    RP_TEST(wider_options_give_no_slower_plan);
    RP_TEST(wider_options_give_no_slower_plan_of_tiny_graphs);
    RP_TEST(a_search_without_swaps_uses_all_its_time);
    RP_TEST(a_limit_only_cuts_the_sequence);
    RP_TEST(some_runs_start_from_the_incumbent);
    RP_TEST(one_run_of_a_round_starts_from_keep_all_with_homes);
    RP_TEST(other_methods_take_turns_that_do_not_suit_a_graph);
    RP_TEST(the_first_turn_of_lp_rounding_is_early);
    RP_TEST(later_turns_leave_plans_without_swaps_to_others);
    RP_TEST(the_gap_ends_the_search_early);
    RP_TEST(methods_tell_the_work_that_they_did);
    RP_TEST(nothing_comes_after_the_gap);
    RP_TEST(the_narrower_search_wins_only_with_a_faster_plan);
    RP_TEST(very_large_graphs_have_no_narrower_search);
}
