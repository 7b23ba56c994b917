/* Tests of which budgets a sweep plans. */
#include "cmd/sweep_budgets.h"

#include "run.h"

static void rounds_have_all_points_and_the_first_both_ends(void) {
    for (uint64_t n = 2; n <= 40; n++) {
        uint64_t sum = 0;
        for (uint32_t round = 0; round < RP_SWEEP_ROUNDS; round++)
            sum += rp_round_points(n, round);
        CU_ASSERT_EQUAL(sum, n);
        CU_ASSERT(rp_round_points(n, 0) >= 2);
    }
    CU_ASSERT_EQUAL(rp_round_points(30, 0), 7);
    CU_ASSERT_EQUAL(rp_round_points(30, 1), 7);
    CU_ASSERT_EQUAL(rp_round_points(30, 2), 8);
}

static void the_first_round_is_an_even_grid_without_repetitions(void) {
    uint64_t b[5];
    CU_ASSERT_EQUAL(rp_even_budgets(100, 200, 5, b), 5);
    CU_ASSERT_EQUAL(b[0], 100);
    CU_ASSERT_EQUAL(b[1], 125);
    CU_ASSERT_EQUAL(b[4], 200);
    CU_ASSERT_EQUAL(rp_even_budgets(7, 8, 5, b), 2);
    CU_ASSERT_EQUAL(b[0], 7);
    CU_ASSERT_EQUAL(b[1], 8);
    CU_ASSERT_EQUAL(rp_even_budgets(7, 7, 5, b), 1);
}

/* Rectangles of 100 x 80, 100 x 20 and 100 x 0. Two cuts leave 33 x 27 of the first, which
 * is less than the second, and one cut leaves 50 x 10 of the second. */
static void budgets_go_where_the_time_falls(void) {
    const struct rp_known_point known[] = {{400, 100}, {100, 200}, {300, 100}, {200, 120}};
    uint64_t b[4];
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 4, 100, 1, b), 1);
    CU_ASSERT_EQUAL(b[0], 150);
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 4, 100, 4, b), 4);
    CU_ASSERT_EQUAL(b[0], 125);
    CU_ASSERT_EQUAL(b[1], 150);
    CU_ASSERT_EQUAL(b[2], 175);
    CU_ASSERT_EQUAL(b[3], 250);
}

static void of_equal_gaps_the_one_of_smaller_budgets_comes_first(void) {
    const struct rp_known_point known[] = {{100, 120}, {200, 110}, {300, 100}};
    uint64_t b[1];
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 3, 100, 1, b), 1);
    CU_ASSERT_EQUAL(b[0], 150);
}

/* A plan of a smaller budget fits: the time of the second point is really 110. */
static void a_worse_plan_at_a_larger_budget_does_not_count(void) {
    const struct rp_known_point known[] = {{100, 110}, {200, 150}, {300, 100}};
    uint64_t b[2];
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 3, 100, 2, b), 2);
    CU_ASSERT_EQUAL(b[0], 233);
    CU_ASSERT_EQUAL(b[1], 266);
}

/* The slowest plan is 20 over the baseline, so that no plan counts as 40 over it. */
static void a_point_without_a_plan_counts_as_twice_as_slow(void) {
    const struct rp_known_point known[] = {{100, 0}, {200, 120}, {304, 100}};
    uint64_t b[1];
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 3, 100, 1, b), 1);
    CU_ASSERT_EQUAL(b[0], 252);
    const struct rp_known_point none[] = {{100, 0}, {200, 0}};
    CU_ASSERT_EQUAL(rp_bend_budgets(none, 2, 100, 1, b), 0);
    const struct rp_known_point fast[] = {{100, 0}, {200, 100}};
    CU_ASSERT_EQUAL(rp_bend_budgets(fast, 2, 100, 1, b), 1);
    CU_ASSERT_EQUAL(b[0], 150);
}

static void there_are_fewer_budgets_if_no_others_are_left(void) {
    const struct rp_known_point known[] = {{10, 200}, {13, 100}};
    uint64_t b[5];
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 2, 100, 5, b), 2);
    CU_ASSERT_EQUAL(b[0], 11);
    CU_ASSERT_EQUAL(b[1], 12);
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 1, 100, 5, b), 0);
    CU_ASSERT_EQUAL(rp_bend_budgets(known, 0, 100, 5, b), 0);
}

void suite_sweep_budgets(void) {
    RP_SUITE("sweep_budgets");
    RP_TEST(rounds_have_all_points_and_the_first_both_ends);
    RP_TEST(the_first_round_is_an_even_grid_without_repetitions);
    RP_TEST(budgets_go_where_the_time_falls);
    RP_TEST(of_equal_gaps_the_one_of_smaller_budgets_comes_first);
    RP_TEST(a_worse_plan_at_a_larger_budget_does_not_count);
    RP_TEST(a_point_without_a_plan_counts_as_twice_as_slow);
    RP_TEST(there_are_fewer_budgets_if_no_others_are_left);
}
