#include <glpk.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/engine/lp_solver.h"

/* Each solve begins with raised costs (engine.h), and ends with a few pivots of the
 * primal simplex for the true ones. */
#define RAISED 1e-5 /* of the mean cost: the most that a cost is raised */

/* GLPK numbers rows and columns from 1. Row i and column j here are i + 1 and j + 1 there.
 */
struct glpk {
    glp_prob *p;
    RP_VEC(double) cost; /* per column; GLPK may have raised ones */
    int *index;          /* one row, from index[1] on */
    double *value;       /* its coefficients, likewise */
    int cap;
};

static void ensure_capacity(struct glpk *s, int n) {
    if (n < s->cap)
        return;
    s->cap = 2 * n + 1;
    s->index = rp_realloc(s->index, (size_t)s->cap, sizeof *s->index);
    s->value = rp_realloc(s->value, (size_t)s->cap, sizeof *s->value);
}

static void *create(double fixed) {
    struct glpk *s = rp_calloc(1, sizeof *s);
    rp_engine_glpk_log();
    s->p = glp_create_prob();
    glp_set_obj_dir(s->p, GLP_MIN);
    glp_set_obj_coef(s->p, 0, fixed);
    return s;
}

static void destroy(void *self) {
    struct glpk *s = self;
    glp_delete_prob(s->p);
    free(s->cost.at);
    free(s->index);
    free(s->value);
    free(s);
}

static void set_bounds(void *self, uint32_t col, double low, double high) {
    struct glpk *s = self;
    glp_set_col_bnds(s->p, (int)col + 1, low < high ? GLP_DB : GLP_FX, low, high);
}

static void add_col(void *self, double cost, double low, double high) {
    struct glpk *s = self;
    int col = glp_add_cols(s->p, 1);
    set_bounds(s, (uint32_t)col - 1, low, high);
    rp_push(&s->cost, cost);
}

static void add_rows(void *self, const struct rp_sparse_rows *rows) {
    struct glpk *s = self;
    int row = glp_add_rows(s->p, (int)rows->n);
    ensure_capacity(s, glp_get_num_cols(s->p) + 1);
    for (uint32_t i = 0; i < rows->n; i++, row++) {
        uint32_t start = rows->start[i], n = rows->start[i + 1] - start;
        bool equation = rows->low != NULL && rows->low[i] == rows->high[i];
        for (uint32_t k = 0; k < n; k++) {
            s->index[k + 1] = (int)rows->col[start + k] + 1;
            s->value[k + 1] = rows->coef[start + k];
        }
        glp_set_mat_row(s->p, row, (int)n, s->index, s->value);
        glp_set_row_bnds(s->p, row, equation ? GLP_FX : GLP_UP, rows->high[i],
                         rows->high[i]);
    }
}

static void drop_rows(void *self, const bool *drop) {
    struct glpk *s = self;
    int n = 0;
    ensure_capacity(s, glp_get_num_rows(s->p) + 1);
    for (int i = 0; i < glp_get_num_rows(s->p); i++)
        if (drop[i])
            s->index[++n] = i + 1;
    if (n > 0)
        glp_del_rows(s->p, n, s->index);
}

static double col_high(glp_prob *p, int col) {
    return glp_get_col_type(p, col) == GLP_FX ? glp_get_col_lb(p, col)
                                              : glp_get_col_ub(p, col);
}

static uint64_t pivots(const void *self) {
    const struct glpk *s = self;
    return (uint64_t)glp_get_it_cnt(s->p);
}

/* Gives GLPK costs that are raised by half of `most` to all of it. Returns what this adds
 * to the cost of a point at most. */
static double set_costs(struct glpk *s, double most) {
    double sum = 0;
    for (int j = 1; j <= glp_get_num_cols(s->p); j++) {
        double raised = most * rp_engine_glpk_raise(j);
        glp_set_obj_coef(s->p, j, s->cost.at[j - 1] + raised);
        sum += raised * fmax(fabs(glp_get_col_lb(s->p, j)), fabs(col_high(s->p, j)));
    }
    return sum;
}

static enum rp_lp_status run(struct glpk *s, int method, uint64_t max_pivots,
                             double cutoff) {
    glp_smcp o;
    glp_init_smcp(&o);
    o.msg_lev = rp_engine_glpk_log();
    o.meth = method;
    o.it_lim = max_pivots < INT32_MAX ? (int)max_pivots : INT32_MAX;
    if (cutoff < HUGE_VAL)
        o.obj_ul = cutoff;
    int rc = glp_simplex(s->p, &o), status = glp_get_status(s->p);
    if (rc == GLP_EOBJUL)
        return RP_LP_CUTOFF;
    if (rc == GLP_EITLIM)
        return RP_LP_LIMIT;
    if (rc == 0 && status == GLP_OPT)
        return RP_LP_OPTIMAL;
    return rc == 0 && status == GLP_NOFEAS ? RP_LP_INFEASIBLE : RP_LP_FAILED;
}

static enum rp_lp_status solve(void *self, uint64_t max_pivots, double cutoff) {
    struct glpk *s = self;
    uint64_t before = pivots(s);
    double most = rp_engine_glpk_most_raised(RAISED, s->cost.n, s->cost.at);
    double added = set_costs(s, most);
    enum rp_lp_status status = run(s, GLP_DUAL, max_pivots, cutoff + added);
    if (status != RP_LP_OPTIMAL)
        return status;
    set_costs(s, 0);
    uint64_t done = pivots(s) - before;
    return run(s, GLP_PRIMAL, done < max_pivots ? max_pivots - done : 1, HUGE_VAL);
}

static void forget_basis(void *self) {
    struct glpk *s = self;
    glp_std_basis(s->p);
}

static double value(const void *self, uint32_t col) {
    const struct glpk *s = self;
    return glp_get_col_prim(s->p, (int)col + 1);
}

static bool row_is_slack(const void *self, uint32_t row) {
    const struct glpk *s = self;
    return glp_get_row_stat(s->p, (int)row + 1) == GLP_BS;
}

static void multipliers(void *self, double *y) {
    struct glpk *s = self;
    for (int i = 1; i <= glp_get_num_rows(s->p); i++)
        y[i - 1] = -glp_get_row_dual(s->p, i);
}

/* The row of the tableau of a basic variable that is out of its bounds. */
static bool ray(void *self, double *y) {
    struct glpk *s = self;
    int rows = glp_get_num_rows(s->p), k = glp_get_unbnd_ray(s->p);
    if (k == 0 || (!glp_bf_exists(s->p) && glp_factorize(s->p) != 0))
        return false;
    bool is_row = k <= rows;
    double at = is_row ? glp_get_row_prim(s->p, k) : glp_get_col_prim(s->p, k - rows);
    double high = is_row ? glp_get_row_ub(s->p, k) : col_high(s->p, k - rows);
    double side = at > high ? 1 : -1;
    for (int i = 0; i < rows; i++)
        y[i] = 0;
    ensure_capacity(s, glp_get_num_cols(s->p) + 1);
    int n = glp_eval_tab_row(s->p, k, s->index, s->value);
    for (int i = 1; i <= n; i++)
        if (s->index[i] <= rows)
            y[s->index[i] - 1] = -side * s->value[i];
    if (is_row)
        y[k - 1] = side;
    return true;
}

const struct rp_lp_solver rp_lp_glpk = {
    .create = create,
    .destroy = destroy,
    .add_col = add_col,
    .add_rows = add_rows,
    .drop_rows = drop_rows,
    .set_bounds = set_bounds,
    .solve = solve,
    .forget_basis = forget_basis,
    .pivots = pivots,
    .value = value,
    .row_is_slack = row_is_slack,
    .multipliers = multipliers,
    .ray = ray,
};
