#include "solve/lp/simplex_glpk.h"

#include <float.h>
#include <glpk.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"

/* GLPK numbers rows and columns from 1. Row i and column j here are i + 1 and j + 1 there.
 */
struct rp_lp {
    glp_prob *glp;
    int *index;    /* one row or column, from index[1] on */
    double *value; /* its coefficients, likewise */
    int cap;
    double *multiplier; /* per row */
    int cap_rows;
};

static int to_log(void *info, const char *text) {
    (void)info;
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
        for (end = text; *end != '\0' && *end != '\n'; end++)
            ;
        if (end > text)
            rp_log(2, "glpk: %.*s", (int)(end - text), text);
    }
    return 1; /* tells GLPK to print nothing itself */
}

static void ensure_capacity(struct rp_lp *lp) {
    int rows = glp_get_num_rows(lp->glp), cols = glp_get_num_cols(lp->glp);
    int needed = (rows > cols ? rows : cols) + 1;
    if (needed > lp->cap) {
        lp->cap = 2 * needed;
        lp->index = rp_realloc(lp->index, (size_t)lp->cap, sizeof *lp->index);
        lp->value = rp_realloc(lp->value, (size_t)lp->cap, sizeof *lp->value);
    }
    if (rows > lp->cap_rows) {
        lp->cap_rows = 2 * rows;
        lp->multiplier =
            rp_realloc(lp->multiplier, (size_t)lp->cap_rows, sizeof *lp->multiplier);
    }
}

struct rp_lp *rp_lp_new(uint32_t n_cols, const double *cost, double fixed) {
    struct rp_lp *lp = rp_calloc(1, sizeof *lp);
    glp_term_hook(to_log, NULL);
    lp->glp = glp_create_prob();
    glp_set_obj_dir(lp->glp, GLP_MIN);
    glp_set_obj_coef(lp->glp, 0, fixed);
    if (n_cols > 0)
        glp_add_cols(lp->glp, (int)n_cols);
    for (uint32_t j = 0; j < n_cols; j++) {
        glp_set_col_bnds(lp->glp, (int)j + 1, GLP_DB, 0, 1);
        glp_set_obj_coef(lp->glp, (int)j + 1, cost[j]);
    }
    ensure_capacity(lp);
    return lp;
}

void rp_lp_free(struct rp_lp *lp) {
    if (lp == NULL)
        return;
    glp_delete_prob(lp->glp);
    free(lp->index);
    free(lp->value);
    free(lp->multiplier);
    free(lp);
}

uint32_t rp_lp_add_sum(struct rp_lp *lp, uint32_t n, const uint32_t *cols) {
    int col = glp_add_cols(lp->glp, 1), row = glp_add_rows(lp->glp, 1);
    ensure_capacity(lp);
    glp_set_col_bnds(lp->glp, col, GLP_DB, 0, n);
    lp->index[1] = col;
    lp->value[1] = -1;
    for (uint32_t k = 0; k < n; k++) {
        lp->index[k + 2] = (int)cols[k] + 1;
        lp->value[k + 2] = 1;
    }
    glp_set_mat_row(lp->glp, row, (int)n + 1, lp->index, lp->value);
    glp_set_row_bnds(lp->glp, row, GLP_FX, 0, 0);
    return (uint32_t)col - 1;
}

void rp_lp_add_rows(struct rp_lp *lp, const struct rp_row_set *rows, uint32_t first) {
    if (first == rows->n)
        return;
    int row = glp_add_rows(lp->glp, (int)(rows->n - first));
    ensure_capacity(lp);
    for (uint32_t i = first; i < rows->n; i++, row++) {
        uint32_t start = rows->start[i], n = rows->start[i + 1] - start;
        for (uint32_t k = 0; k < n; k++) {
            lp->index[k + 1] = (int)rows->col[start + k] + 1;
            lp->value[k + 1] = rows->coef[start + k];
        }
        glp_set_mat_row(lp->glp, row, (int)n, lp->index, lp->value);
        glp_set_row_bnds(lp->glp, row, GLP_UP, 0, rows->rhs[i]);
    }
}

void rp_lp_drop_rows(struct rp_lp *lp, const bool *drop) {
    int n = 0;
    for (int i = 0; i < glp_get_num_rows(lp->glp); i++)
        if (drop[i])
            lp->index[++n] = i + 1;
    if (n > 0)
        glp_del_rows(lp->glp, n, lp->index);
}

uint32_t rp_lp_n_rows(const struct rp_lp *lp) {
    return (uint32_t)glp_get_num_rows(lp->glp);
}

uint32_t rp_lp_n_cols(const struct rp_lp *lp) {
    return (uint32_t)glp_get_num_cols(lp->glp);
}

void rp_lp_set_bounds(struct rp_lp *lp, uint32_t col, double low, double high) {
    glp_set_col_bnds(lp->glp, (int)col + 1, low < high ? GLP_DB : GLP_FX, low, high);
}

double rp_lp_low(const struct rp_lp *lp, uint32_t col) {
    return glp_get_col_lb(lp->glp, (int)col + 1);
}

double rp_lp_high(const struct rp_lp *lp, uint32_t col) {
    return glp_get_col_type(lp->glp, (int)col + 1) == GLP_FX
               ? glp_get_col_lb(lp->glp, (int)col + 1)
               : glp_get_col_ub(lp->glp, (int)col + 1);
}

/* The minimum of with_cost * (cost x) + y (A x - b) over the bounds of the columns, or a
 * little less. y holds the multipliers. They are >= 0, except that those of sum columns'
 * rows (b = 0) are free. Any such y gives a valid bound (Neumaier and Shcherbina, "Safe
 * bounds in linear and mixed-integer linear programming", 2004). Sums are in long doubles.
 * Their rounding error is less than the sum of all magnitudes times their number times
 * LDBL_EPSILON, which is subtracted. */
static double min_value(struct rp_lp *lp, bool with_cost, double *reduced) {
    int rows = glp_get_num_rows(lp->glp), cols = glp_get_num_cols(lp->glp);
    long double sum = with_cost ? glp_get_obj_coef(lp->glp, 0) : 0, size = fabsl(sum);
    for (int i = 1; i <= rows; i++) {
        long double yb = (long double)lp->multiplier[i - 1] * glp_get_row_ub(lp->glp, i);
        sum -= yb;
        size += fabsl(yb);
    }
    for (int j = 1; j <= cols; j++) {
        long double d = with_cost ? glp_get_obj_coef(lp->glp, j) : 0, part = fabsl(d);
        double low = rp_lp_low(lp, (uint32_t)j - 1), high = rp_lp_high(lp, (uint32_t)j - 1);
        int n = glp_get_mat_col(lp->glp, j, lp->index, lp->value);
        for (int k = 1; k <= n; k++) {
            long double ya = (long double)lp->multiplier[lp->index[k] - 1] * lp->value[k];
            d += ya;
            part += fabsl(ya);
        }
        sum += d > 0 ? d * low : d * high;
        size += part * fmax(fabs(low), fabs(high));
        if (reduced != NULL)
            reduced[j - 1] = (double)d;
    }
    sum -= size * (rows + cols) * LDBL_EPSILON;
    return (double)(sum - fabsl(sum) * DBL_EPSILON); /* rounded down */
}

static void set_multiplier(struct rp_lp *lp, int row, double y) {
    if (glp_get_row_type(lp->glp, row) != GLP_FX && !(y > 0))
        y = 0;
    lp->multiplier[row - 1] = y;
}

/* Proves that no point meets all rows, if the basis has a basic variable out of its bounds:
 * the multipliers are the variable's row of the tableau (a Farkas certificate). */
static bool proves_infeasible(struct rp_lp *lp) {
    int rows = glp_get_num_rows(lp->glp), k = glp_get_unbnd_ray(lp->glp);
    if (k == 0 || (!glp_bf_exists(lp->glp) && glp_factorize(lp->glp) != 0))
        return false;
    bool is_row = k <= rows;
    double at = is_row ? glp_get_row_prim(lp->glp, k) : glp_get_col_prim(lp->glp, k - rows);
    double high =
        is_row ? glp_get_row_ub(lp->glp, k) : rp_lp_high(lp, (uint32_t)(k - rows - 1));
    double side = at > high ? 1 : -1;
    for (int i = 0; i < rows; i++)
        lp->multiplier[i] = 0;
    int n = glp_eval_tab_row(lp->glp, k, lp->index, lp->value);
    for (int i = 1; i <= n; i++)
        if (lp->index[i] <= rows)
            set_multiplier(lp, lp->index[i], -side * lp->value[i]);
    if (is_row)
        set_multiplier(lp, k, side);
    return min_value(lp, false, NULL) > 0;
}

static enum rp_lp_status solve_once(struct rp_lp *lp, uint64_t max_pivots, double cutoff,
                                    int method) {
    glp_smcp s;
    glp_init_smcp(&s);
    s.msg_lev = rp_log_level() >= 2 ? GLP_MSG_ALL : GLP_MSG_OFF;
    s.meth = method;
    s.it_lim = max_pivots < INT32_MAX ? (int)max_pivots : INT32_MAX;
    if (cutoff < HUGE_VAL)
        s.obj_ul = cutoff;
    int rc = glp_simplex(lp->glp, &s), status = glp_get_status(lp->glp);
    if (rc == GLP_EOBJUL)
        return RP_LP_CUTOFF;
    if (rc == GLP_EITLIM)
        return RP_LP_LIMIT;
    if (rc == 0 && status == GLP_OPT)
        return RP_LP_OPTIMAL;
    return rc == 0 && status == GLP_NOFEAS && proves_infeasible(lp) ? RP_LP_INFEASIBLE
                                                                    : RP_LP_FAILED;
}

enum rp_lp_status rp_lp_solve(struct rp_lp *lp, uint64_t max_pivots, double cutoff) {
    enum rp_lp_status st = solve_once(lp, max_pivots, cutoff, GLP_DUAL);
    if (st == RP_LP_FAILED) { /* the basis has become ill-conditioned: start anew */
        glp_std_basis(lp->glp);
        st = solve_once(lp, max_pivots, cutoff, GLP_DUAL);
    }
    return st;
}

uint64_t rp_lp_pivots(const struct rp_lp *lp) {
    return (uint64_t)glp_get_it_cnt(lp->glp);
}

void rp_lp_point(const struct rp_lp *lp, double *v) {
    for (int j = 0; j < glp_get_num_cols(lp->glp); j++) {
        double x = glp_get_col_prim(lp->glp, j + 1);
        double low = rp_lp_low(lp, (uint32_t)j), high = rp_lp_high(lp, (uint32_t)j);
        v[j] = x < low ? low : x > high ? high : x;
    }
}

bool rp_lp_row_is_slack(const struct rp_lp *lp, uint32_t i) {
    return glp_get_row_stat(lp->glp, (int)i + 1) == GLP_BS;
}

double rp_lp_bound(struct rp_lp *lp, double *reduced) {
    for (int i = 1; i <= glp_get_num_rows(lp->glp); i++)
        set_multiplier(lp, i, -glp_get_row_dual(lp->glp, i));
    return min_value(lp, true, reduced);
}
