#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/engine/highs_api.h"
#include "solve/engine/lp_solver.h"

enum { DUAL_SIMPLEX = 1 }; /* of the option simplex_strategy */

/* The library's object, and what the last solve left: taken at once, since adding rows
 * discards it. */
struct highs {
    const struct rp_highs_api *api;
    void *p;
    uint32_t n_cols, n_rows;
    uint32_t cap_cols, cap_rows;
    double *x, *y;            /* per column its value, per row its dual value */
    int *col_status, *status; /* per column; per row */
    uint64_t pivots;
};

static void *create(double fixed) {
    struct highs *s = rp_calloc(1, sizeof *s);
    struct rp_err err = {{0}};
    s->api = rp_highs_api(&err);
    s->p = rp_highs_create();
    s->api->setStringOptionValue(s->p, "solver", "simplex");
    s->api->setStringOptionValue(s->p, "presolve", "off");
    s->api->setIntOptionValue(s->p, "simplex_strategy", DUAL_SIMPLEX);
    s->api->changeObjectiveOffset(s->p, fixed);
    return s;
}

static void destroy(void *self) {
    struct highs *s = self;
    s->api->destroy(s->p);
    free(s->x);
    free(s->y);
    free(s->col_status);
    free(s->status);
    free(s);
}

/* Makes room for one value more per column and `more` per row, all zero. */
static void reserve(struct highs *s, uint32_t more_cols, uint32_t more_rows) {
    if (s->n_cols + more_cols > s->cap_cols) {
        s->cap_cols = 2 * (s->n_cols + more_cols);
        s->x = rp_realloc(s->x, s->cap_cols, sizeof *s->x);
        s->col_status = rp_realloc(s->col_status, s->cap_cols, sizeof *s->col_status);
    }
    if (s->n_rows + more_rows > s->cap_rows) {
        s->cap_rows = 2 * (s->n_rows + more_rows);
        s->y = rp_realloc(s->y, s->cap_rows, sizeof *s->y);
        s->status = rp_realloc(s->status, s->cap_rows, sizeof *s->status);
    }
    for (uint32_t k = 0; k < more_cols; k++, s->n_cols++)
        s->x[s->n_cols] = 0;
    for (uint32_t k = 0; k < more_rows; k++, s->n_rows++) {
        s->y[s->n_rows] = 0;
        s->status[s->n_rows] = RP_HIGHS_BASIC;
    }
}

static void add_col(void *self, double cost, double low, double high) {
    struct highs *s = self;
    s->api->addCols(s->p, 1, &cost, &low, &high, 0, NULL, NULL, NULL);
    reserve(s, 1, 0);
}

static void add_rows(void *self, const struct rp_sparse_rows *rows) {
    struct highs *s = self;
    uint32_t first = rows->start[0], n_terms = rows->start[rows->n] - first;
    int *start = rp_calloc(rows->n, sizeof *start);
    int *index = rp_calloc(n_terms, sizeof *index);
    double *low = rp_calloc(rows->n, sizeof *low);
    for (uint32_t i = 0; i < rows->n; i++) {
        start[i] = (int)(rows->start[i] - first);
        low[i] = rows->low != NULL ? rows->low[i] : -HUGE_VAL;
    }
    for (uint32_t k = 0; k < n_terms; k++)
        index[k] = (int)rows->col[first + k];
    s->api->addRows(s->p, (int)rows->n, low, rows->high, (int)n_terms, start, index,
                    rows->coef + first);
    reserve(s, 0, rows->n);
    free(start);
    free(index);
    free(low);
}

static void drop_rows(void *self, const bool *drop) {
    struct highs *s = self;
    int *mask = rp_calloc(s->n_rows, sizeof *mask);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        mask[i] = drop[i];
        s->y[n] = s->y[i];
        s->status[n] = s->status[i];
        n += !drop[i];
    }
    s->n_rows = n;
    s->api->deleteRowsByMask(s->p, mask);
    free(mask);
}

static void set_bounds(void *self, uint32_t col, double low, double high) {
    struct highs *s = self;
    s->api->changeColBounds(s->p, (int)col, low, high);
}

static void take_result(struct highs *s) {
    int n = 0;
    s->api->getSolution(s->p, s->x, NULL, NULL, s->y);
    s->api->getBasis(s->p, s->col_status, s->status);
    if (s->api->getIntInfoValue(s->p, "simplex_iteration_count", &n) != -1 && n > 0)
        s->pivots += (uint64_t)n;
}

static enum rp_lp_status solve(void *self, uint64_t max_pivots, double cutoff) {
    struct highs *s = self;
    int limit = max_pivots < INT32_MAX ? (int)max_pivots : INT32_MAX;
    s->api->setIntOptionValue(s->p, "simplex_iteration_limit", limit);
    s->api->setDoubleOptionValue(s->p, "objective_bound", cutoff);
    if (s->api->run(s->p) == -1)
        return RP_LP_FAILED;
    take_result(s);
    switch (s->api->getModelStatus(s->p)) {
    case RP_HIGHS_OPTIMAL:
        return RP_LP_OPTIMAL;
    case RP_HIGHS_OBJECTIVE_BOUND:
        return RP_LP_CUTOFF;
    case RP_HIGHS_ITERATION_LIMIT:
        return RP_LP_LIMIT;
    case RP_HIGHS_INFEASIBLE:
        return RP_LP_INFEASIBLE;
    default:
        return RP_LP_FAILED;
    }
}

static void forget_basis(void *self) {
    struct highs *s = self;
    s->api->setLogicalBasis(s->p);
}

static uint64_t pivots(const void *self) {
    const struct highs *s = self;
    return s->pivots;
}

static double value(const void *self, uint32_t col) {
    const struct highs *s = self;
    return s->x[col];
}

static bool row_is_slack(const void *self, uint32_t row) {
    const struct highs *s = self;
    return s->status[row] == RP_HIGHS_BASIC;
}

static void multipliers(void *self, double *y) {
    struct highs *s = self;
    for (uint32_t i = 0; i < s->n_rows; i++)
        y[i] = -s->y[i];
}

static bool ray(void *self, double *y) {
    struct highs *s = self;
    int has = 0;
    if (s->api->getDualRay(s->p, &has, y) == -1 || !has)
        return false;
    for (uint32_t i = 0; i < s->n_rows; i++)
        y[i] = -y[i];
    return true;
}

const struct rp_lp_solver rp_lp_highs = {
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
