/* Tests of linear programs, on every engine that is there. */
#include "solve/engine/lp_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "engines.h"
#include "run.h"

/* minimise 1 + x + 2 y + 3 z,  -x - y <= -1,  -y - z <= -1,  -x - z <= -1, so each of x, y
 * and z is a half: 4. */
static const uint32_t start[] = {0, 2, 4, 6}, col[] = {0, 1, 1, 2, 0, 2};
static const double coef[] = {-1, -1, -1, -1, -1, -1}, high[] = {-1, -1, -1};
static const double cost[] = {1, 2, 3};
static const struct rp_sparse_rows triangle = {3, start, col, coef, NULL, high};

static struct rp_lp *triangle_lp(enum rp_engine e) {
    struct rp_lp *lp = rp_lp_new(e, 3, cost, 1);
    rp_lp_add_rows(lp, &triangle);
    return lp;
}

static void solve_triangle(enum rp_engine e) {
    struct rp_lp *lp = triangle_lp(e);
    double v[3], reduced[3] = {9, 9, 9};
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    rp_lp_point(lp, v);
    double bound = rp_lp_bound(lp, reduced);
    CU_ASSERT(bound <= 4 && bound > 4 - 1e-9);
    for (int j = 0; j < 3; j++) {
        CU_ASSERT_DOUBLE_EQUAL(v[j], 0.5, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(reduced[j], 0, 1e-9); /* it is between its bounds */
    }
    CU_ASSERT(rp_lp_pivots(lp) > 0);
    rp_lp_free(lp);
}
static void a_small_program_is_solved(void) {
    rp_on_engines(solve_triangle);
}

static void change_triangle(enum rp_engine e) {
    struct rp_lp *lp = triangle_lp(e);
    double v[3];
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    rp_lp_set_bounds(lp, 2, 0, 0); /* then x = y = 1 */
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 4, 1e-9);
    rp_lp_set_bounds(lp, 1, 0, 0); /* and no row without both */
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_INFEASIBLE);
    rp_lp_set_bounds(lp, 1, 0, 1);
    rp_lp_set_bounds(lp, 2, 0, 1);
    rp_lp_drop_rows(lp, (bool[]){false, true, true});
    CU_ASSERT_EQUAL(rp_lp_n_rows(lp), 1);
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    rp_lp_point(lp, v);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 2, 1e-9);
    CU_ASSERT(v[0] == 1 && v[1] == 0 && v[2] == 0);
    CU_ASSERT_FALSE(rp_lp_row_is_slack(lp, 0));
    CU_ASSERT(rp_lp_low(lp, 2) == 0 && rp_lp_high(lp, 2) == 1);
    rp_lp_free(lp);
}
static void bounds_and_rows_can_change_between_solves(void) {
    rp_on_engines(change_triangle);
}

/* Until the next solve, rows keep their multipliers, here 1, 2 and 3 behind a row that is
 * slack; new ones have none. */
static void drop_and_add(enum rp_engine e) {
    static const uint32_t first[] = {0, 1}, x[] = {0};
    static const double one = 1;
    static const struct rp_sparse_rows slack = {1, first, x, &one, NULL, &one};
    struct rp_lp *lp = rp_lp_new(e, 3, (double[]){4, 3, 5}, 0);
    rp_lp_add_rows(lp, &slack);
    rp_lp_add_rows(lp, &triangle);
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 6, 1e-9);
    CU_ASSERT_TRUE(rp_lp_row_is_slack(lp, 0));
    rp_lp_drop_rows(lp, (bool[]){true, true, false, false});
    CU_ASSERT_FALSE(rp_lp_row_is_slack(lp, 0));
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 5, 1e-9);
    rp_lp_drop_rows(lp, (bool[]){true, false});
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 3, 1e-9);
    rp_lp_add_rows(lp, &triangle);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 3, 1e-9);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(rp_lp_row_is_slack(lp, i), i > 0);
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 6, 1e-9);
    rp_lp_free(lp);
}
static void rows_keep_what_they_have(void) {
    rp_on_engines(drop_and_add);
}

static void sum_triangle(enum rp_engine e) {
    struct rp_lp *lp = rp_lp_new(e, 3, cost, 1);
    uint32_t sum = rp_lp_add_sum(lp, 3, (uint32_t[]){0, 1, 2});
    double v[4];
    rp_lp_add_rows(lp, &triangle);
    CU_ASSERT_EQUAL(sum, 3);
    CU_ASSERT(rp_lp_n_rows(lp) == 4 && rp_lp_n_cols(lp) == 4 && rp_lp_high(lp, sum) == 3);
    rp_lp_set_bounds(lp, sum, 2, 3); /* x = y = 1 are the cheapest two */
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    rp_lp_point(lp, v);
    CU_ASSERT_DOUBLE_EQUAL(v[sum], 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 4, 1e-9);
    rp_lp_set_bounds(lp, sum, 0, 1);
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_INFEASIBLE);
    rp_lp_free(lp);
}
static void a_sum_column_equals_its_sum(void) {
    rp_on_engines(sum_triangle);
}

static void stop_at_cutoff(enum rp_engine e) {
    struct rp_lp *lp = triangle_lp(e);
    enum rp_lp_status st = rp_lp_solve(lp, 1000, 2);
    CU_ASSERT(st == RP_LP_CUTOFF || (st == RP_LP_OPTIMAL && rp_lp_bound(lp, NULL) > 2));
    CU_ASSERT_EQUAL(rp_lp_solve(lp, 1000, HUGE_VAL), RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), 4, 1e-9);
    rp_lp_free(lp);
}
static void a_cutoff_ends_a_solve_early(void) {
    rp_on_engines(stop_at_cutoff);
}

/* n columns of random cost, and rows that ask for at least one of three. */
static struct rp_lp *random_lp(enum rp_engine e, uint64_t seed, uint32_t n) {
    double *random_cost = rp_calloc(n, sizeof *random_cost);
    struct rp_milp rows = {0};
    for (uint32_t j = 0; j < n; j++)
        random_cost[j] = 1 + (double)rp_random_below(&seed, 100);
    struct rp_lp *lp = rp_lp_new(e, n, random_cost, 0);
    for (uint32_t i = 0; i < 2 * n; i++) {
        rp_milp_begin_row(&rows, -HUGE_VAL, -1);
        for (int k = 0; k < 3; k++)
            rp_milp_term(&rows, (uint32_t)rp_random_below(&seed, n), -1);
    }
    struct rp_sparse_rows view = rp_milp_rows(&rows);
    view.low = NULL;
    rp_lp_add_rows(lp, &view);
    rp_milp_fini(&rows);
    free(random_cost);
    return lp;
}

static void solve_in_steps(enum rp_engine e) {
    struct rp_lp *whole = random_lp(e, 5, 60), *steps = random_lp(e, 5, 60);
    enum rp_lp_status st = RP_LP_LIMIT;
    int n = 0;
    CU_ASSERT_EQUAL(rp_lp_solve(whole, UINT64_MAX, HUGE_VAL), RP_LP_OPTIMAL);
    double best = rp_lp_bound(whole, NULL);
    for (; st == RP_LP_LIMIT && n < 1000; n++) {
        st = rp_lp_solve(steps, 3, HUGE_VAL);
        CU_ASSERT(rp_lp_bound(steps, NULL) <= best + 1e-6);
    }
    CU_ASSERT(n > 3 && st == RP_LP_OPTIMAL);
    CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(steps, NULL), best, 1e-6);
    rp_lp_free(whole);
    rp_lp_free(steps);
}
static void a_solve_can_be_cut_short_and_continued(void) {
    rp_on_engines(solve_in_steps);
}

/* The bound of any engine at its end is that of GLPK. */
static void solve_many(enum rp_engine e) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rp_lp *lp = random_lp(e, seed, 40);
        struct rp_lp *other = random_lp(RP_ENGINE_GLPK, seed, 40);
        CU_ASSERT_EQUAL(rp_lp_solve(lp, UINT64_MAX, HUGE_VAL), RP_LP_OPTIMAL);
        CU_ASSERT_EQUAL(rp_lp_solve(other, UINT64_MAX, HUGE_VAL), RP_LP_OPTIMAL);
        CU_ASSERT_DOUBLE_EQUAL(rp_lp_bound(lp, NULL), rp_lp_bound(other, NULL), 1e-6);
        rp_lp_free(lp);
        rp_lp_free(other);
    }
}
static void engines_agree(void) {
    rp_on_engines(solve_many);
}

/* x[0] + ... + x[n - 1] >= 1 where all x are 0: the sum is spread over rows of three terms,
 * s[i] = s[i - 1] + x[i], so that only a row of the tableau has many. */
static void sum_many(enum rp_engine e) {
    enum { N = 2000 };
    static const double no_cost[2 * N];
    struct rp_milp rows = {0};
    struct rp_lp *lp = rp_lp_new(e, 2 * N, no_cost, 0);
    for (uint32_t i = 0; i < N; i++) {
        rp_milp_begin_row(&rows, -HUGE_VAL, 0);
        rp_milp_term(&rows, N + i, 1);
        rp_milp_term(&rows, i, -1);
        if (i > 0)
            rp_milp_term(&rows, N + i - 1, -1);
        rp_lp_set_bounds(lp, i, 0, 0);
    }
    struct rp_sparse_rows view = rp_milp_rows(&rows);
    view.low = NULL;
    rp_lp_add_rows(lp, &view);
    rp_lp_set_bounds(lp, 2 * N - 1, 1, 1);
    CU_ASSERT_EQUAL(rp_lp_solve(lp, UINT64_MAX, HUGE_VAL), RP_LP_INFEASIBLE);
    rp_milp_fini(&rows);
    rp_lp_free(lp);
}
static void a_proof_may_need_all_rows(void) {
    rp_on_engines(sum_many);
}

static void engines_have_names_and_versions(void) {
    struct rp_err err = {{0}};
    CU_ASSERT_STRING_EQUAL(rp_engine_name(RP_ENGINE_GLPK), "glpk");
    CU_ASSERT_EQUAL(rp_engine_load(RP_ENGINE_GLPK, &err), RP_OK);
    CU_ASSERT_PTR_NOT_NULL(rp_engine_version(RP_ENGINE_GLPK));
}

void suite_lp_engine(void) {
    RP_SUITE("lp_engine");
    RP_TEST(a_small_program_is_solved);
    RP_TEST(bounds_and_rows_can_change_between_solves);
    RP_TEST(rows_keep_what_they_have);
    RP_TEST(a_sum_column_equals_its_sum);
    RP_TEST(a_cutoff_ends_a_solve_early);
    RP_TEST(a_solve_can_be_cut_short_and_continued);
    RP_TEST(engines_agree);
    RP_TEST(a_proof_may_need_all_rows);
    RP_TEST(engines_have_names_and_versions);
}
