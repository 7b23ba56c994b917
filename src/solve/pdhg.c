#include "solve/pdhg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Restart thresholds on the residual (Lu and Yang 2024, section 5). */
#define FALL_ENOUGH 0.2
#define FALL_SOME 0.8
#define LONG_SHARE 0.36
#define RUIZ_ROUNDS 10
#define WEIGHT_SMOOTHING 0.5

void rp_pdhg_init(struct rp_pdhg *s, uint32_t n_cols, const double *cost) {
    *s = (struct rp_pdhg){.n_cols = n_cols, .cost = cost, .weight = 1};
    s->col_start = rp_calloc((size_t)n_cols + 2, sizeof *s->col_start);
    s->tau = rp_calloc(n_cols, sizeof *s->tau);
    s->x = rp_calloc(n_cols, sizeof *s->x);
    s->x0 = rp_calloc(n_cols, sizeof *s->x0);
    s->xt = rp_calloc(n_cols, sizeof *s->xt);
    s->xr = rp_calloc(n_cols, sizeof *s->xr);
}

void rp_pdhg_fini(struct rp_pdhg *s) {
    free(s->row_start);
    free(s->row_col);
    free(s->row_coef);
    free(s->col_start);
    free(s->col_row);
    free(s->col_coef);
    free(s->rhs);
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

static void append_rows(struct rp_pdhg *s, const struct rp_rows *rows) {
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            s->row_col[s->n_terms] = rows->col[k];
            s->row_coef[s->n_terms++] = (float)rows->coef[k];
        }
        s->rhs[s->n_rows++] = rows->rhs[i];
        s->row_start[s->n_rows] = s->n_terms;
    }
}

static void transpose(struct rp_pdhg *s) {
    uint32_t *next = s->col_start + 1;
    memset(s->col_start, 0, ((size_t)s->n_cols + 2) * sizeof *s->col_start);
    for (uint32_t k = 0; k < s->n_terms; k++)
        next[s->row_col[k] + 1]++;
    for (uint32_t j = 0; j < s->n_cols; j++)
        next[j + 1] += next[j];
    for (uint32_t i = 0; i < s->n_rows; i++)
        for (uint32_t k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            uint32_t at = next[s->row_col[k]]++;
            s->col_row[at] = i;
            s->col_coef[at] = s->row_coef[k];
        }
}

/* One round of Ruiz's: row scale d and column scale e towards largest entries of 1. */
static void equilibrate(const struct rp_pdhg *s, double *d, double *e, double *largest) {
    memset(largest, 0, s->n_cols * sizeof *largest);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        double most = 0;
        for (uint32_t k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            double a = fabs((double)s->row_coef[k]) * d[i] * e[s->row_col[k]];
            most = fmax(most, a);
            largest[s->row_col[k]] = fmax(largest[s->row_col[k]], a);
        }
        d[i] /= most > 0 ? sqrt(most) : 1;
    }
    for (uint32_t j = 0; j < s->n_cols; j++)
        e[j] /= largest[j] > 0 ? sqrt(largest[j]) : 1;
}

/* tau = e / sum |a d| and sigma = d / sum |a e|: the sums of the equilibrated program
 * brought back to this one, so A itself stays as it is. */
static void choose_steps(struct rp_pdhg *s) {
    double *d = rp_calloc(s->n_rows, sizeof *d), *e = rp_calloc(s->n_cols, sizeof *e);
    for (uint32_t i = 0; i < s->n_rows; i++)
        d[i] = 1;
    for (uint32_t j = 0; j < s->n_cols; j++)
        e[j] = 1;
    for (uint32_t round = 0; round < RUIZ_ROUNDS; round++)
        equilibrate(s, d, e, s->tau);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        double sum = 0;
        for (uint32_t k = s->row_start[i]; k < s->row_start[i + 1]; k++)
            sum += fabs((double)s->row_coef[k]) * e[s->row_col[k]];
        s->sigma[i] = sum > 0 ? d[i] / sum : 0;
    }
    for (uint32_t j = 0; j < s->n_cols; j++) {
        double sum = 0;
        for (uint32_t k = s->col_start[j]; k < s->col_start[j + 1]; k++)
            sum += fabs((double)s->col_coef[k]) * d[s->col_row[k]];
        s->tau[j] = sum > 0 ? e[j] / sum : 1;
    }
    free(d);
    free(e);
}

static void move_anchor(struct rp_pdhg *s) {
    memcpy(s->x, s->xt, s->n_cols * sizeof *s->x);
    memcpy(s->x0, s->xt, s->n_cols * sizeof *s->x);
    memcpy(s->y, s->yt, s->n_rows * sizeof *s->y);
    memcpy(s->y0, s->yt, s->n_rows * sizeof *s->y);
    s->since = 0;
}

void rp_pdhg_load(struct rp_pdhg *s, const struct rp_rows *fixed,
                  const struct rp_rows *cuts, const double *y) {
    size_t n = (size_t)fixed->n + cuts->n, terms = (size_t)fixed->n_terms + cuts->n_terms;
    s->row_start = rp_realloc(s->row_start, n + 1, sizeof *s->row_start);
    s->row_col = rp_realloc(s->row_col, terms + 1, sizeof *s->row_col);
    s->row_coef = rp_realloc(s->row_coef, terms + 1, sizeof *s->row_coef);
    s->col_row = rp_realloc(s->col_row, terms + 1, sizeof *s->col_row);
    s->col_coef = rp_realloc(s->col_coef, terms + 1, sizeof *s->col_coef);
    s->rhs = rp_realloc(s->rhs, n + 1, sizeof *s->rhs);
    s->sigma = rp_realloc(s->sigma, n + 1, sizeof *s->sigma);
    s->y = rp_realloc(s->y, n + 1, sizeof *s->y);
    s->y0 = rp_realloc(s->y0, n + 1, sizeof *s->y0);
    s->yt = rp_realloc(s->yt, n + 1, sizeof *s->yt);
    s->n_rows = s->n_terms = s->row_start[0] = 0;
    append_rows(s, fixed);
    append_rows(s, cuts);
    transpose(s);
    choose_steps(s);
    for (size_t i = 0; i < n; i++)
        s->yt[i] = y != NULL ? y[i] : 0;
    move_anchor(s);
}

/* Both halves of a step return their share of the squared residual. */
static double step_columns(struct rp_pdhg *s, double pull) {
    double moved = 0;
    for (uint32_t j = 0; j < s->n_cols; j++) {
        double price = s->cost[j];
        for (uint32_t k = s->col_start[j]; k < s->col_start[j + 1]; k++)
            price += (double)s->col_coef[k] * s->y[s->col_row[k]];
        double x = s->x[j], step = s->tau[j], to = x - step / s->weight * price;
        to = to < 0 ? 0 : to > 1 ? 1 : to;
        moved += (to - x) * (to - x) / step;
        s->xt[j] = to;
        s->xr[j] = 2 * to - x;
        s->x[j] = s->xr[j] + pull * (s->x0[j] - s->xr[j]);
    }
    return moved * s->weight;
}

static double step_rows(struct rp_pdhg *s, double pull) {
    double moved = 0;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        double over = -s->rhs[i];
        for (uint32_t k = s->row_start[i]; k < s->row_start[i + 1]; k++)
            over += (double)s->row_coef[k] * s->xr[s->row_col[k]];
        double y = s->y[i], step = s->sigma[i], to = y + step * s->weight * over;
        to = to < 0 ? 0 : to;
        moved += step > 0 ? (to - y) * (to - y) / step : 0;
        s->yt[i] = to;
        y = 2 * to - y;
        s->y[i] = y + pull * (s->y0[i] - y);
    }
    return moved / s->weight;
}

static void choose_weight(struct rp_pdhg *s) {
    double dx = 0, dy = 0;
    for (uint32_t j = 0; j < s->n_cols; j++)
        dx += (s->xt[j] - s->x0[j]) * (s->xt[j] - s->x0[j]) / s->tau[j];
    for (uint32_t i = 0; i < s->n_rows; i++)
        if (s->sigma[i] > 0)
            dy += (s->yt[i] - s->y0[i]) * (s->yt[i] - s->y0[i]) / s->sigma[i];
    if (dx > 1e-20 && dy > 1e-20)
        s->weight = exp(WEIGHT_SMOOTHING * 0.5 * log(dy / dx) +
                        (1 - WEIGHT_SMOOTHING) * log(s->weight));
}

void rp_pdhg_step(struct rp_pdhg *s) {
    double pull = 1.0 / (s->since + 2);
    double residual = step_columns(s, pull);
    residual = sqrt(residual + step_rows(s, pull));
    if (s->since == 0)
        s->first = s->before = residual;
    s->since++;
    s->steps++;
    if (residual <= FALL_ENOUGH * s->first ||
        (residual <= FALL_SOME * s->first && residual > s->before) ||
        (double)s->since >= LONG_SHARE * (double)s->steps) {
        choose_weight(s);
        move_anchor(s);
    }
    s->before = residual;
}

double rp_pdhg_dual(const struct rp_pdhg *s) {
    double bound = 0;
    for (uint32_t j = 0; j < s->n_cols; j++) {
        double price = s->cost[j];
        for (uint32_t k = s->col_start[j]; k < s->col_start[j + 1]; k++)
            price += (double)s->col_coef[k] * s->yt[s->col_row[k]];
        bound += price < 0 ? price : 0;
    }
    for (uint32_t i = 0; i < s->n_rows; i++)
        bound -= s->yt[i] * s->rhs[i];
    return bound;
}
