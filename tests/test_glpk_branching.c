/* Tests of the choice of columns to branch on, in GLPK's branch and cut. */
#include "solve/engine/glpk_branching.h"

#include <glpk.h>

#include "run.h"

enum { N_COLS = 60 };

struct asked {
    struct rp_glpk_branching b;
    int n_asked, most_asked; /* it ends then */
};

static void ask(glp_tree *tree, void *info) {
    struct asked *a = info;
    if (glp_ios_reason(tree) == GLP_IROWGEN) {
        rp_glpk_branching_learn(&a->b, tree);
        rp_glpk_branching_learn(&a->b, tree); /* as where rows were added */
    }
    if (glp_ios_reason(tree) != GLP_IBRANCH)
        return;
    rp_glpk_branching_choose(&a->b, tree);
    if (++a->n_asked == a->most_asked)
        glp_ios_terminate(tree);
}

static glp_prob *program(int n_cols, double high, const double *cost) {
    glp_prob *p = glp_create_prob();
    glp_add_cols(p, n_cols);
    for (int j = 1; j <= n_cols; j++) {
        glp_set_col_kind(p, j, GLP_IV);
        glp_set_col_bnds(p, j, GLP_DB, 0, high);
        glp_set_obj_coef(p, j, cost[j - 1]);
    }
    return p;
}

/* The sum of coef[k] times column col[k], k from 1 to n, is at least `low`, or just that.
 */
static void row(glp_prob *p, int kind, double low, int n, const int *col,
                const double *coef) {
    int i = glp_add_rows(p, 1);
    glp_set_row_bnds(p, i, kind, low, low);
    glp_set_mat_row(p, i, n, col, coef);
}

/* n columns that are a half each at the root. What one is below that costs 100 times as
 * much, in a column of its own behind them. */
static glp_prob *halves(int n, const double *cost) {
    glp_prob *p = program(n, 5, cost);
    glp_add_cols(p, n);
    for (int j = 1; j <= n; j++) {
        glp_set_col_bnds(p, n + j, GLP_LO, 0, 0);
        glp_set_obj_coef(p, n + j, 100);
        row(p, GLP_LO, 1, 2, (int[]){0, j, n + j}, (double[]){0, 2, 2});
    }
    return p;
}

static void search(struct asked *a, glp_prob *p, int most_asked) {
    glp_smcp simplex;
    glp_iocp o;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    CU_ASSERT_EQUAL(glp_simplex(p, &simplex), 0);
    glp_init_iocp(&o);
    o.msg_lev = GLP_MSG_OFF;
    o.cb_func = ask;
    o.cb_info = a;
    o.cb_size = RP_GLPK_BRANCHING_NODE_BYTES;
    *a = (struct asked){.most_asked = most_asked};
    rp_glpk_branching_init(&a->b, glp_get_num_cols(p));
    glp_intopt(p, &o);
}

static void end(struct asked *a, glp_prob *p) {
    rp_glpk_branching_fini(&a->b);
    glp_delete_prob(p);
}

/* How often a side of a column has been branched on and solved. */
static int n_learned(const struct asked *a, int side, int col) {
    return a->b.cost[side][col].n;
}

static void the_column_that_lifts_the_bound_most_is_chosen(void) {
    for (int dear = 1; dear <= 3; dear++) {
        struct asked a;
        double cost[3] = {1, 1, 1};
        cost[dear - 1] = 10;
        glp_prob *p = halves(3, cost);
        search(&a, p, 2);
        for (int j = 1; j <= 3; j++)
            CU_ASSERT_EQUAL(n_learned(&a, 1, j), j == dear);
        CU_ASSERT_DOUBLE_EQUAL(a.b.cost[1][dear].sum, 10, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(a.b.cost[1][dear].ahead, 10, 1e-9);
        end(&a, p);
    }
}

/* Column 1 lies at 2.5; columns 2 and 3 pay for what it is above and below that. The others
 * cannot all be integers, so nothing is found that would end the search. */
static void what_a_node_added_is_learned_for_its_side(void) {
    struct asked a;
    glp_prob *p = program(6, 5, (double[]){0, 3, 5, 0, 0, 0});
    glp_set_col_kind(p, 2, GLP_CV);
    glp_set_col_kind(p, 3, GLP_CV);
    row(p, GLP_LO, -2.5, 2, (int[]){0, 1, 2}, (double[]){0, -1, 1});
    row(p, GLP_LO, 2.5, 2, (int[]){0, 1, 3}, (double[]){0, 1, 1});
    row(p, GLP_FX, 3, 3, (int[]){0, 4, 5, 6}, (double[]){0, 2, 2, 2});
    search(&a, p, 0);
    static const double rate[] = {5, 3};
    for (int side = 0; side < 2; side++) {
        CU_ASSERT(n_learned(&a, side, 1) > 0);
        CU_ASSERT_DOUBLE_EQUAL(a.b.cost[side][1].sum, rate[side] * n_learned(&a, side, 1),
                               1e-9);
    }
    end(&a, p);
}

/* Where columns are first seen, a row of the table is looked at for each, and again for the
 * best 30. After that it is for the best 30 only. */
static void few_rows_of_the_table_are_looked_at(void) {
    struct asked a;
    double cost[N_COLS];
    for (int j = 0; j < N_COLS; j++)
        cost[j] = j + 1;
    glp_prob *p = halves(N_COLS, cost);
    search(&a, p, 1);
    CU_ASSERT_EQUAL(a.b.n_rows, N_COLS + 30);
    rp_glpk_branching_fini(&a.b);
    search(&a, p, 2);
    CU_ASSERT_EQUAL(a.b.n_rows, N_COLS + 2 * 30);
    end(&a, p);
}

void suite_glpk_branching(void) {
    RP_SUITE("glpk_branching");
    RP_TEST(the_column_that_lifts_the_bound_most_is_chosen);
    RP_TEST(what_a_node_added_is_learned_for_its_side);
    RP_TEST(few_rows_of_the_table_are_looked_at);
}
