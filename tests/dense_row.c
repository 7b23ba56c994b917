#include "dense_row.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"

void rp_small_model_init(struct rp_small_model *w, uint64_t seed) {
    struct rp_rng r = {seed * 77};
    struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)rp_rng_below(&r, 6));
    uint32_t op;
    shape.max_outputs = 1 + (uint32_t)(seed % 2);
    shape.rules_percent = seed % 3 == 0 ? 20 : 0;
    shape.training = seed / 2 % 2;
    shape.keep_percent = 15;
    shape.n_sources = seed % 4 == 3 ? 0 : 2;
    rp_gen_graph(seed, &shape, &w->g);
    w->g.device.h2d_bytes_per_s = 1000000000u * (20 + rp_rng_below(&r, 200));
    w->g.device.d2h_bytes_per_s = 1000000000u * (20 + rp_rng_below(&r, 200));
    rp_instance_init(&w->p, &w->g, w->g.fixed_bytes, false, NULL);
    if (seed % 7 != 0)
        rp_instance_allow_swap(&w->p, seed % 2 ? rp_rng_below(&r, 9000) : RP_MAX_QUANTITY);
    w->p.limit_bytes = rp_instance_floor(&w->p, &op) + rp_rng_below(&r, 4) * 500;
    if (seed % 16 == 0)
        w->p.limit_bytes -= w->p.limit_bytes / 4;
    w->total_ns = w->g.total_time_ns;
    w->horizon_ns = w->total_ns + (seed % 8 == 0 ? 0 : rp_rng_below(&r, w->total_ns + 20));
    rp_interval_model_init(&w->m, &w->p, w->horizon_ns);
}

void rp_small_model_fini(struct rp_small_model *w) {
    rp_interval_model_fini(&w->m);
    rp_instance_fini(&w->p);
    rp_graph_fini(&w->g);
}

struct rp_dense_row rp_dense_row_new(const struct rp_interval_model *m, double right) {
    return (struct rp_dense_row){m, rp_calloc(m->n_cols, sizeof(double)), right};
}

void rp_dense_row_free(struct rp_dense_row *r) {
    free(r->coef);
}

void rp_dense_row_add(struct rp_dense_row *r, double coef, enum rp_interval_kind kind,
                      uint32_t t, uint32_t id) {
    uint32_t col = rp_interval_at(r->m, kind, t, id);
    if (col < r->m->n_cols)
        r->coef[col] += coef;
    else
        r->right -= col == RP_COL_ONE ? coef : 0;
}

void rp_dense_row_wait(struct rp_dense_row *r, uint32_t first, uint32_t last) {
    for (uint32_t u = first; u <= last; u++)
        rp_dense_row_add(r, -1, RP_INTERVAL_D, u, 0);
}

double rp_dense_row_over(const struct rp_dense_row *r, const double *v) {
    double over = -r->right;
    for (uint32_t c = 0; c < r->m->n_cols; c++)
        over += r->coef[c] * v[c];
    return over;
}

/* With each column at the bound where coef * sign is larger. */
static double extreme(const struct rp_dense_row *r, double sign) {
    double over = -r->right;
    for (uint32_t c = 0; c < r->m->n_cols; c++)
        if (r->coef[c] * sign > 0)
            over += r->coef[c] * (c < r->m->n_integer ? 1 : r->m->span);
    return over;
}

double rp_dense_row_least(const struct rp_dense_row *r) {
    return extreme(r, -1);
}

double rp_dense_row_most(const struct rp_dense_row *r) {
    return extreme(r, 1);
}

bool rp_dense_row_is(const struct rp_dense_row *r, const struct rp_row_set *rows,
                     uint32_t i) {
    double *coef = rp_calloc(r->m->n_cols, sizeof *coef);
    bool same = i < rows->n && rows->rhs[i] == r->right;
    for (uint32_t k = same ? rows->start[i] : 0; same && k < rows->start[i + 1]; k++) {
        same = rows->coef[k] != 0 && coef[rows->col[k]] == 0;
        coef[rows->col[k]] = rows->coef[k];
    }
    for (uint32_t c = 0; same && c < r->m->n_cols; c++)
        same = coef[c] == r->coef[c];
    free(coef);
    return same;
}
