#include "solve/bound/pdhg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Restart thresholds on the residual (Lu and Yang 2024, section 5). */
#define SUFFICIENT_DECAY 0.2
#define NECESSARY_DECAY 0.8
#define ARTIFICIAL_SHARE 0.36 /* of all steps, without a restart */
#define RUIZ_PASSES 10
#define WEIGHT_SMOOTHING 0.5
#define FIRST_WEIGHT 0.2 /* found by experiment on training graphs */

void rp_pdhg_init(struct rp_pdhg *s, uint32_t n_cols, const double *cost) {
    *s = (struct rp_pdhg){.n_cols = n_cols, .weight = FIRST_WEIGHT};
    s->col_start = rp_calloc(3 * (size_t)n_cols + 5, sizeof *s->col_start);
    s->cost = rp_calloc(n_cols, sizeof *s->cost);
    for (uint32_t j = 0; j < n_cols; j++)
        s->cost[j] = (float)cost[j];
    s->tau = rp_calloc(n_cols, sizeof *s->tau);
    s->x = rp_calloc(n_cols, sizeof *s->x);
    s->x0 = rp_calloc(n_cols, sizeof *s->x0);
    s->xt = rp_calloc(n_cols, sizeof *s->xt);
    s->xr = rp_calloc((size_t)n_cols + 1, sizeof *s->xr);
}

void rp_pdhg_fini(struct rp_pdhg *s) {
    free(s->row_short);
    free(s->row_start);
    free(s->row_col);
    free(s->row_coef);
    free(s->col_start);
    free(s->col_row);
    free(s->col_coef);
    free(s->rhs);
    free(s->cost);
    free(s->tau);
    free(s->sigma);
    free(s->x);
    free(s->x0);
    free(s->xt);
    free(s->xr);
    free(s->y);
    free(s->y0);
    free(s->yt);
    *s = (struct rp_pdhg){0};
}

static void append_short(struct rp_pdhg *s, const struct rp_row_set *rows) {
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t *at = s->row_short + 3 * (size_t)i, minus = 0;
        at[0] = at[1] = at[2] = s->n_cols;
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            assert(rows->coef[k] == 1 ? at[0] == s->n_cols
                                      : rows->coef[k] == -1 && minus < 2);
            at[rows->coef[k] == 1 ? 0 : ++minus] = rows->col[k];
        }
        s->rhs[i] = (float)rows->rhs[i];
    }
    s->n_rows = s->n_short = rows->n;
    s->n_terms = rows->n_terms;
}

static void append_long(struct rp_pdhg *s, const struct rp_row_set *rows) {
    for (uint32_t i = 0; i < rows->n; i++)
        s->rhs[s->n_rows++] = (float)rows->rhs[i];
    s->row_start[0] = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        s->row_start[i + 1] = rows->start[i + 1];
    for (uint32_t k = 0; k < rows->n_terms; k++) {
        s->row_col[k] = rows->col[k];
        s->row_coef[k] = (float)rows->coef[k];
    }
    s->n_terms += rows->n_terms;
}

static void transpose(struct rp_pdhg *s) {
    uint32_t *next = s->col_start + 1, n = s->n_rows - s->n_short;
    size_t starts = 3 * (size_t)s->n_cols;
    memset(s->col_start, 0, (starts + 5) * sizeof *s->col_start);
    for (size_t k = 0; k < 3 * (size_t)s->n_short; k++)
        next[3 * (size_t)s->row_short[k] + (k % 3 != 0) + 1]++;
    for (uint32_t k = 0; k < s->row_start[n]; k++)
        next[3 * (size_t)s->row_col[k] + 3]++;
    for (size_t k = 0; k < starts; k++)
        next[k + 1] += next[k];
    for (size_t k = 0; k < 3 * (size_t)s->n_short; k++)
        if (s->row_short[k] < s->n_cols)
            s->col_row[next[3 * (size_t)s->row_short[k] + (k % 3 != 0)]++] =
                (uint32_t)(k / 3);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            uint32_t at = next[3 * (size_t)s->row_col[k] + 2]++;
            s->col_row[at] = s->n_short + i;
            s->col_coef[at] = s->row_coef[k];
        }
}

struct row {
    const uint32_t *col;
    const float *coef; /* NULL: 1 or -1 */
    uint32_t n;
};

static struct row get_row(const struct rp_pdhg *s, uint32_t i) {
    if (i < s->n_short)
        return (struct row){s->row_short + 3 * (size_t)i, NULL, 3};
    uint32_t first = s->row_start[i - s->n_short];
    return (struct row){s->row_col + first, s->row_coef + first,
                        s->row_start[i - s->n_short + 1] - first};
}

/* One pass of Ruiz's equilibration: changes the row scales d and the column scales e so
 * that the largest entries of d A e come closer to 1. */
static void equilibrate(const struct rp_pdhg *s, double *d, double *e, double *largest) {
    memset(largest, 0, s->n_cols * sizeof *largest);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        struct row row = get_row(s, i);
        double row_max = 0;
        for (uint32_t k = 0; k < row.n; k++) {
            if (row.col[k] == s->n_cols)
                continue;
            double a = (row.coef ? fabs((double)row.coef[k]) : 1) * d[i] * e[row.col[k]];
            row_max = fmax(row_max, a);
            largest[row.col[k]] = fmax(largest[row.col[k]], a);
        }
        d[i] /= row_max > 0 ? sqrt(row_max) : 1;
    }
    for (uint32_t j = 0; j < s->n_cols; j++)
        e[j] /= largest[j] > 0 ? sqrt(largest[j]) : 1;
}

/* tau = e / sum |a d| and sigma = d / sum |a e|. These are the sums of the equilibrated
 * linear program, scaled back, so that A itself need not be scaled. */
static void choose_step_sizes(struct rp_pdhg *s) {
    double *d = rp_calloc(s->n_rows, sizeof *d), *e = rp_calloc(s->n_cols, sizeof *e);
    double *sums = rp_calloc(s->n_cols, sizeof *sums);
    for (uint32_t i = 0; i < s->n_rows; i++)
        d[i] = 1;
    for (uint32_t j = 0; j < s->n_cols; j++)
        e[j] = 1;
    for (uint32_t pass = 0; pass < RUIZ_PASSES; pass++)
        equilibrate(s, d, e, sums);
    memset(sums, 0, s->n_cols * sizeof *sums);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        struct row row = get_row(s, i);
        double sum = 0;
        for (uint32_t k = 0; k < row.n; k++) {
            if (row.col[k] == s->n_cols)
                continue;
            double a = row.coef ? fabs((double)row.coef[k]) : 1;
            sum += a * e[row.col[k]];
            sums[row.col[k]] += a * d[i];
        }
        s->sigma[i] = sum > 0 ? (float)(d[i] / sum) : 0;
    }
    for (uint32_t j = 0; j < s->n_cols; j++)
        s->tau[j] = sums[j] > 0 ? (float)(e[j] / sums[j]) : 1;
    free(d);
    free(e);
    free(sums);
}

/* The anchor, and the point, move to T of the point. */
static void restart(struct rp_pdhg *s) {
    memcpy(s->x, s->xt, s->n_cols * sizeof *s->x);
    memcpy(s->x0, s->xt, s->n_cols * sizeof *s->x);
    memcpy(s->y, s->yt, s->n_rows * sizeof *s->y);
    memcpy(s->y0, s->yt, s->n_rows * sizeof *s->y);
    s->since_restart = 0;
}

void rp_pdhg_load(struct rp_pdhg *s, const struct rp_row_set *fixed,
                  const struct rp_row_set *cuts, const float *y) {
    size_t n = (size_t)fixed->n + cuts->n, terms = (size_t)fixed->n_terms + cuts->n_terms;
    s->row_short = rp_realloc(s->row_short, 3 * (size_t)fixed->n + 1, sizeof *s->row_short);
    s->row_start = rp_realloc(s->row_start, (size_t)cuts->n + 1, sizeof *s->row_start);
    s->row_col = rp_realloc(s->row_col, (size_t)cuts->n_terms + 1, sizeof *s->row_col);
    s->row_coef = rp_realloc(s->row_coef, (size_t)cuts->n_terms + 1, sizeof *s->row_coef);
    s->col_row = rp_realloc(s->col_row, terms + 1, sizeof *s->col_row);
    s->col_coef = rp_realloc(s->col_coef, terms + 1, sizeof *s->col_coef);
    s->rhs = rp_realloc(s->rhs, n + 1, sizeof *s->rhs);
    s->sigma = rp_realloc(s->sigma, n + 1, sizeof *s->sigma);
    s->y = rp_realloc(s->y, n + 1, sizeof *s->y);
    s->y0 = rp_realloc(s->y0, n + 1, sizeof *s->y0);
    s->yt = rp_realloc(s->yt, n + 1, sizeof *s->yt);
    append_short(s, fixed);
    append_long(s, cuts);
    transpose(s);
    choose_step_sizes(s);
    for (size_t i = 0; i < n; i++)
        s->yt[i] = y != NULL ? y[i] : 0;
    restart(s);
}

/* Entry j of A'y. */
static inline float price(const struct rp_pdhg *s, uint32_t j, const float *y) {
    const uint32_t *start = s->col_start + 3 * (size_t)j;
    float plus = 0, minus = 0;
    uint32_t k = start[0];
    for (; k < start[1]; k++)
        plus += y[s->col_row[k]];
    for (; k < start[2]; k++)
        minus += y[s->col_row[k]];
    for (; k < start[3]; k++)
        plus += s->col_coef[k] * y[s->col_row[k]];
    return plus - minus;
}

/* The two halves of a step. Each returns its share of the squared residual. pull: the
 * weight of the anchor. */
static double step_columns(struct rp_pdhg *s, float pull) {
    double moved = 0;
    float inverse = (float)(1 / s->weight);
    for (uint32_t j = 0; j < s->n_cols; j++) {
        float x = s->x[j], step = s->tau[j];
        float to = x - step * inverse * (s->cost[j] + price(s, j, s->y));
        to = to < 0 ? 0 : to > 1 ? 1 : to;
        float delta = to - x, reflected = to + delta;
        moved += (double)(delta * delta / step);
        s->xt[j] = to;
        s->xr[j] = reflected;
        s->x[j] = reflected + pull * (s->x0[j] - reflected);
    }
    return moved * s->weight;
}

static inline float step_row(struct rp_pdhg *s, uint32_t i, float left, float pull,
                             float weight) {
    float y = s->y[i], step = s->sigma[i], to = y + step * weight * (left - s->rhs[i]);
    to = to < 0 ? 0 : to;
    float delta = to - y, reflected = to + delta;
    s->yt[i] = to;
    s->y[i] = reflected + pull * (s->y0[i] - reflected);
    return step > 0 ? delta * delta / step : 0;
}

static double step_rows(struct rp_pdhg *s, float pull) {
    double moved = 0;
    float weight = (float)s->weight;
    const float *x = s->xr;
    for (uint32_t i = 0; i < s->n_short; i++) {
        const uint32_t *col = s->row_short + 3 * (size_t)i;
        moved += (double)step_row(s, i, x[col[0]] - x[col[1]] - x[col[2]], pull, weight);
    }
    for (uint32_t i = s->n_short; i < s->n_rows; i++) {
        struct row row = get_row(s, i);
        float left = 0;
        for (uint32_t k = 0; k < row.n; k++)
            left += row.coef[k] * x[row.col[k]];
        moved += (double)step_row(s, i, left, pull, weight);
    }
    return moved / s->weight;
}

/* Balances the distances that x and y have moved since the last restart. */
static void choose_weight(struct rp_pdhg *s) {
    double dx = 0, dy = 0;
    for (uint32_t j = 0; j < s->n_cols; j++)
        dx += (double)((s->xt[j] - s->x0[j]) * (s->xt[j] - s->x0[j]) / s->tau[j]);
    for (uint32_t i = 0; i < s->n_rows; i++)
        if (s->sigma[i] > 0)
            dy += (double)((s->yt[i] - s->y0[i]) * (s->yt[i] - s->y0[i]) / s->sigma[i]);
    if (dx > 1e-20 && dy > 1e-20)
        s->weight = exp(WEIGHT_SMOOTHING * 0.5 * log(dy / dx) +
                        (1 - WEIGHT_SMOOTHING) * log(s->weight));
}

void rp_pdhg_step(struct rp_pdhg *s) {
    float pull = 1.0F / (float)(s->since_restart + 2);
    double residual = step_columns(s, pull);
    residual = sqrt(residual + step_rows(s, pull));
    if (s->since_restart == 0)
        s->first_residual = s->last_residual = residual;
    s->since_restart++;
    s->steps++;
    if (residual <= SUFFICIENT_DECAY * s->first_residual ||
        (residual <= NECESSARY_DECAY * s->first_residual && residual > s->last_residual) ||
        (double)s->since_restart >= ARTIFICIAL_SHARE * (double)s->steps) {
        choose_weight(s);
        restart(s);
        s->restarts++;
    }
    s->last_residual = residual;
}

double rp_pdhg_dual(const struct rp_pdhg *s) {
    double bound = 0;
    for (uint32_t j = 0; j < s->n_cols; j++)
        bound += fmin(0, (double)(s->cost[j] + price(s, j, s->yt)));
    for (uint32_t i = 0; i < s->n_rows; i++)
        bound -= (double)s->yt[i] * (double)s->rhs[i];
    return bound;
}
