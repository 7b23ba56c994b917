/* Tests of the linear program with one column for those that are alike. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "model/graph.h"
#include "run.h"
#include "solve/engine/lp_engine.h"
#include "solve/moment/fold.h"

enum { BLOCK = 3, COPIES = 5, N = 1 + BLOCK * COPIES };

static void begin_row(struct rp_row_set *rows, double rhs) {
    static const struct rp_row_name name = {
        .kind = RP_ROW_OTHER, .op = RP_NONE, .x = RP_NONE};
    rp_row_set_begin(rows, name, rhs);
}

static double optimum(uint32_t n_cols, const double *cost, const struct rp_row_set *rows) {
    struct rp_sparse_rows view = rp_row_set_view(rows, 0);
    struct rp_lp *lp = rp_lp_new(RP_ENGINE_GLPK, n_cols, cost, 0);
    rp_lp_add_rows(lp, &view);
    enum rp_lp_status status = rp_lp_solve(lp, 10000, HUGE_VAL);
    double bound = status == RP_LP_INFEASIBLE ? HUGE_VAL : rp_lp_bound(lp, NULL);
    rp_lp_free(lp);
    return bound;
}

/* Column 0 and COPIES blocks of BLOCK columns. Each block has the same two rows, and one
 * row more is about all columns. */
static void draw(uint64_t *random, double *cost, struct rp_row_set *rows) {
    double of_block[BLOCK], all[BLOCK], in[2][BLOCK];
    cost[0] = 1;
    for (uint32_t c = 0; c < BLOCK; c++) {
        of_block[c] = (double)rp_random_below(random, 5);
        all[c] = (double)rp_random_below(random, 9);
        for (uint32_t i = 0; i < 2; i++)
            in[i][c] = (double)rp_random_below(random, 7) - 4;
    }
    begin_row(rows, -(double)rp_random_below(random, 30));
    rp_row_set_term(rows, 0, -20);
    for (uint32_t j = 1; j < N; j++) {
        cost[j] = of_block[(j - 1) % BLOCK];
        rp_row_set_term(rows, j, -all[(j - 1) % BLOCK]);
    }
    for (uint32_t i = 0; i < 2 * COPIES; i++) {
        begin_row(rows, i % 2 - 0.5);
        for (uint32_t c = 0; c < BLOCK; c++)
            rp_row_set_term(rows, 1 + i / 2 * BLOCK + c, in[i % 2][c]);
        rp_row_set_term(rows, 0, 1);
    }
}

static void programs_with_equal_blocks_shrink_to_one_and_keep_their_optimum(void) {
    uint64_t random = 7;
    uint32_t possible = 0;
    for (int k = 0; k < 200; k++) {
        struct rp_row_set rows = {0};
        struct rp_fold f;
        double cost[N];
        bool alone[N] = {true};
        draw(&random, cost, &rows);
        rp_fold_init(&f, N, cost, alone, &rows);
        double is = optimum(N, cost, &rows), folded = optimum(f.n_cols, f.cost, &f.rows);
        CU_ASSERT(f.n_cols <= 1 + BLOCK && f.rows.n <= 3 && f.size[0] == 1);
        CU_ASSERT(is == folded || fabs(is - folded) < 1e-6);
        possible += is < HUGE_VAL && is > 0;
        rp_fold_fini(&f);
        rp_row_set_fini(&rows);
    }
    CU_ASSERT(possible > 50);
}

/* x1 + x2 >= 1 and x2 + x3 >= 1: x1 and x3 are alike. x4 is like nothing, and a column that
 * shall be alone stays so. */
static void columns_in_rows_that_differ_are_told_apart(void) {
    static const uint32_t row[3][2] = {{0, 1}, {1, 2}, {3, 1}};
    double cost[4] = {1, 1, 1, 2};
    bool alone[4] = {false};
    struct rp_row_set rows = {0};
    struct rp_fold f;
    for (int i = 0; i < 3; i++) {
        begin_row(&rows, -1);
        rp_row_set_term(&rows, row[i][0], -1);
        rp_row_set_term(&rows, row[i][1], -1);
    }
    rp_fold_init(&f, 4, cost, alone, &rows);
    CU_ASSERT_EQUAL(f.n_cols, 3);
    CU_ASSERT_EQUAL(f.class_of[0], f.class_of[2]);
    CU_ASSERT_EQUAL(f.size[f.class_of[0]], 2);
    CU_ASSERT_EQUAL(f.rows.n, 2);
    rp_fold_fini(&f);
    alone[0] = true;
    rp_fold_init(&f, 4, cost, alone, &rows);
    CU_ASSERT_EQUAL(f.n_cols, 4);
    CU_ASSERT_EQUAL(f.rows.n, 3);
    rp_fold_fini(&f);
    rp_row_set_fini(&rows);
}

/* One row, x0 + x1 + x2 >= 1, where x1 costs more: two classes. The cost of several is
 * rounded down, so that sums of costs prove no more than exact ones. */
static void columns_of_different_costs_are_told_apart(void) {
    double cost[3] = {0.1, 0.3, 0.1};
    bool alone[3] = {false};
    struct rp_row_set rows = {0};
    struct rp_fold f;
    begin_row(&rows, -1);
    for (uint32_t j = 0; j < 3; j++)
        rp_row_set_term(&rows, j, -1);
    rp_fold_init(&f, 3, cost, alone, &rows);
    CU_ASSERT_EQUAL(f.n_cols, 2);
    CU_ASSERT_EQUAL(f.class_of[2], 0);
    CU_ASSERT(f.cost[0] < 0.2 && f.cost[0] > 0.199999);
    CU_ASSERT_EQUAL(f.cost[1], 0.3);
    rp_fold_fini(&f);
    rp_fold_fini(&f);
    rp_row_set_fini(&rows);
}

/* Row i says x_i >= i / 8; no two are alike. */
static void rows_keep_their_order(void) {
    double cost[7] = {1, 1, 1, 1, 1, 1, 1};
    bool alone[7] = {false};
    struct rp_row_set rows = {0};
    struct rp_fold f;
    for (uint32_t i = 0; i < 7; i++) {
        begin_row(&rows, -(double)i / 8);
        rp_row_set_term(&rows, i, -1);
    }
    rp_fold_init(&f, 7, cost, alone, &rows);
    CU_ASSERT_EQUAL_FATAL(f.rows.n, 7);
    for (uint32_t i = 0; i < 7; i++)
        CU_ASSERT(f.rows.rhs[i] == rows.rhs[i] && f.rows.col[f.rows.start[i]] == i);
    rp_fold_fini(&f);
    rp_row_set_fini(&rows);
}

void suite_fold(void) {
    RP_SUITE("fold");
    RP_TEST(programs_with_equal_blocks_shrink_to_one_and_keep_their_optimum);
    RP_TEST(columns_in_rows_that_differ_are_told_apart);
    RP_TEST(columns_of_different_costs_are_told_apart);
    RP_TEST(rows_keep_their_order);
}
