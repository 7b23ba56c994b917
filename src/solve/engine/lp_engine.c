#include "solve/engine/lp_engine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/engine/lp_solver.h"
#include "solve/engine/milp.h"

struct rp_lp {
    struct rp_milp p; /* the program as we know it: no column is integer */
    const struct rp_lp_solver *solver;
    void *self;
    double *multiplier;          /* per row */
    long double *reduced, *size; /* per column: sums of min_value */
};

static const struct rp_lp_solver *const solvers[] = {
    [RP_ENGINE_GLPK] = &rp_lp_glpk, [RP_ENGINE_HIGHS] = &rp_lp_highs};

static uint32_t add_col(struct rp_lp *lp, double cost, double high) {
    lp->solver->add_col(lp->self, cost, 0, high);
    return rp_milp_add_col(&lp->p, cost, 0, high, false);
}

struct rp_lp *rp_lp_new(enum rp_engine engine, uint32_t n_cols, const double *cost,
                        double fixed) {
    struct rp_lp *lp = rp_calloc(1, sizeof *lp);
    lp->solver = solvers[engine];
    lp->self = lp->solver->create(fixed);
    lp->p.fixed = fixed;
    for (uint32_t j = 0; j < n_cols; j++)
        add_col(lp, cost[j], 1);
    return lp;
}

void rp_lp_free(struct rp_lp *lp) {
    if (lp == NULL)
        return;
    lp->solver->destroy(lp->self);
    rp_milp_fini(&lp->p);
    free(lp->multiplier);
    free(lp->reduced);
    free(lp->size);
    free(lp);
}

uint32_t rp_lp_add_sum(struct rp_lp *lp, uint32_t n, const uint32_t *cols) {
    uint32_t sum = add_col(lp, 0, n);
    uint32_t *col = rp_calloc((size_t)n + 1, sizeof *col);
    double *coef = rp_calloc((size_t)n + 1, sizeof *coef), zero = 0;
    col[0] = sum;
    coef[0] = -1;
    for (uint32_t k = 0; k < n; k++) {
        col[k + 1] = cols[k];
        coef[k + 1] = 1;
    }
    rp_lp_add_rows(
        lp, &(struct rp_sparse_rows){1, (uint32_t[]){0, n + 1}, col, coef, &zero, &zero});
    free(col);
    free(coef);
    return sum;
}

void rp_lp_add_rows(struct rp_lp *lp, const struct rp_sparse_rows *rows) {
    if (rows->n == 0)
        return;
    rp_milp_add_rows(&lp->p, rows);
    lp->solver->add_rows(lp->self, rows);
    lp->multiplier = rp_realloc(lp->multiplier, lp->p.n_rows, sizeof *lp->multiplier);
}

void rp_lp_drop_rows(struct rp_lp *lp, const bool *drop) {
    lp->solver->drop_rows(lp->self, drop);
    rp_milp_drop_rows(&lp->p, drop);
}

uint32_t rp_lp_n_rows(const struct rp_lp *lp) {
    return lp->p.n_rows;
}

uint32_t rp_lp_n_cols(const struct rp_lp *lp) {
    return lp->p.n_cols;
}

uint64_t rp_lp_pivot_work(const struct rp_lp *lp) {
    uint64_t rows = lp->p.n_rows, cols = lp->p.n_cols,
             terms = rows > 0 ? lp->p.start[rows] : 0;
    return (rows + cols) / 2 + terms / 4 + 1;
}

void rp_lp_set_bounds(struct rp_lp *lp, uint32_t col, double low, double high) {
    lp->solver->set_bounds(lp->self, col, low, high);
    lp->p.low[col] = low;
    lp->p.high[col] = high;
}

double rp_lp_low(const struct rp_lp *lp, uint32_t col) {
    return lp->p.low[col];
}

double rp_lp_high(const struct rp_lp *lp, uint32_t col) {
    return lp->p.high[col];
}

/* ---- what the multipliers prove ---- */

/* Makes the multipliers valid: any are that are >= 0, except that those of equations (sum
 * columns' rows) are free. */
static void clamp_multipliers(struct rp_lp *lp) {
    for (uint32_t i = 0; i < lp->p.n_rows; i++)
        if (lp->p.row_low[i] != lp->p.row_high[i] && !(lp->multiplier[i] > 0))
            lp->multiplier[i] = 0;
}

/* Sets, per column, its reduced cost and the sum of the magnitudes in it. */
static void price_columns(struct rp_lp *lp, bool with_cost) {
    const struct rp_milp *p = &lp->p;
    lp->reduced = rp_realloc(lp->reduced, p->n_cols, sizeof *lp->reduced);
    lp->size = rp_realloc(lp->size, p->n_cols, sizeof *lp->size);
    for (uint32_t j = 0; j < p->n_cols; j++) {
        lp->reduced[j] = with_cost ? p->cost[j] : 0;
        lp->size[j] = fabsl(lp->reduced[j]);
    }
    for (uint32_t i = p->n_rows; i-- > 0;)
        for (uint32_t k = p->start[i]; k < p->start[i + 1]; k++) {
            long double ya = (long double)lp->multiplier[i] * p->coef[k];
            lp->reduced[p->col[k]] += ya;
            lp->size[p->col[k]] += fabsl(ya);
        }
}

/* The minimum of with_cost * (cost x) + y (A x - b) over the bounds of the columns, or a
 * little less. y holds the multipliers, and any valid ones give a bound (Neumaier and
 * Shcherbina, "Safe bounds in linear and mixed-integer linear programming", 2004). Sums are
 * in long doubles. Their rounding error is less than the sum of all magnitudes times their
 * number times LDBL_EPSILON, which is subtracted. */
static double min_value(struct rp_lp *lp, bool with_cost) {
    const struct rp_milp *p = &lp->p;
    long double sum = with_cost ? p->fixed : 0, size = fabsl(sum);
    clamp_multipliers(lp);
    price_columns(lp, with_cost);
    for (uint32_t i = 0; i < p->n_rows; i++) {
        long double yb = (long double)lp->multiplier[i] * p->row_high[i];
        sum -= yb;
        size += fabsl(yb);
    }
    for (uint32_t j = 0; j < p->n_cols; j++) {
        sum += lp->reduced[j] * (lp->reduced[j] > 0 ? p->low[j] : p->high[j]);
        size += lp->size[j] * fmax(fabs(p->low[j]), fabs(p->high[j]));
    }
    sum -= size * ((int)p->n_rows + (int)p->n_cols) * LDBL_EPSILON;
    return (double)(sum - fabsl(sum) * DBL_EPSILON); /* rounded down */
}

double rp_lp_bound(struct rp_lp *lp, double *reduced) {
    lp->solver->multipliers(lp->self, lp->multiplier);
    double bound = min_value(lp, true);
    for (uint32_t j = 0; j < lp->p.n_cols && reduced != NULL; j++)
        reduced[j] = (double)lp->reduced[j];
    return bound;
}

/* ---- solving ---- */

/* Proves that no point meets all rows, if the engine has a ray (a Farkas certificate). */
static bool proves_infeasible(struct rp_lp *lp) {
    return lp->solver->ray(lp->self, lp->multiplier) && min_value(lp, false) > 0;
}

static enum rp_lp_status solve_once(struct rp_lp *lp, uint64_t max_pivots, double cutoff) {
    enum rp_lp_status st = lp->solver->solve(lp->self, max_pivots, cutoff);
    return st == RP_LP_INFEASIBLE && !proves_infeasible(lp) ? RP_LP_FAILED : st;
}

enum rp_lp_status rp_lp_solve(struct rp_lp *lp, uint64_t max_pivots, double cutoff) {
    enum rp_lp_status st = solve_once(lp, max_pivots, cutoff);
    if (st == RP_LP_FAILED) { /* the basis has become ill-conditioned */
        lp->solver->forget_basis(lp->self);
        st = solve_once(lp, max_pivots, cutoff);
    }
    return st;
}

uint64_t rp_lp_pivots(const struct rp_lp *lp) {
    return lp->solver->pivots(lp->self);
}

void rp_lp_point(const struct rp_lp *lp, double *v) {
    for (uint32_t j = 0; j < lp->p.n_cols; j++) {
        double x = lp->solver->value(lp->self, j);
        v[j] = x < lp->p.low[j] ? lp->p.low[j] : x > lp->p.high[j] ? lp->p.high[j] : x;
    }
}

bool rp_lp_row_is_slack(const struct rp_lp *lp, uint32_t i) {
    return lp->solver->row_is_slack(lp->self, i);
}
