#include "solve/cuts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "solve/cover.h"

/* In scaled bytes, where the limit is 512 or more: well above what the simplex method takes
 * for zero, far below what makes a difference to the bound. */
#define MEMORY_TOLERANCE 1e-3
#define ZERO 1e-6
#define WINDOW_LEAST 0.01 /* violation over length */
#define COVER_LEAST 0.02

void rp_cuts_init(struct rp_cuts *c, const struct rp_form *f, bool windows, bool covers) {
    *c = (struct rp_cuts){.form = f, .windows = windows, .covers = covers};
    rp_memory_init(&c->memory, f);
    rp_windows_init(&c->window, f);
    c->up = rp_calloc(f->n_cols, sizeof *c->up);
    c->over = rp_calloc(f->problem->n_ops, sizeof *c->over);
    c->top = rp_calloc(f->problem->n_ops, sizeof *c->top);
}

void rp_cuts_fini(struct rp_cuts *c) {
    rp_memory_fini(&c->memory);
    rp_windows_fini(&c->window);
    free(c->up);
    free(c->over);
    free(c->top);
    *c = (struct rp_cuts){0};
}

static uint32_t worst_moment(const struct rp_cuts *c, uint32_t t) {
    uint32_t worst = t;
    for (uint32_t k = 0; k < t; k++)
        if (c->over[k] > c->over[worst] + ZERO)
            worst = k;
    return worst;
}

static double depth(const struct rp_rows *rows, uint32_t i, const double *v) {
    return rp_rows_left(rows, i, v) - rows->rhs[i];
}

/* The deepest cover over the moments k of stage t. A cover can be violated at a moment only
 * if its row would be with every positive column at 1. */
static uint32_t find_cover(struct rp_cuts *c, uint32_t t, const double *v,
                           struct rp_rows *rows) {
    struct rp_rows best = {0};
    rp_memory_sweep(&c->memory, t, c->up, c->top);
    for (uint32_t k = 0; k <= t; k++) {
        struct rp_rows memory = {0}, cover = {0};
        if (c->top[k] <= 0 || !rp_form_may_run(c->form, t, k))
            continue;
        rp_memory_row(&c->memory, t, k, v, &memory);
        if (rp_cover_find(&memory, 0, v, COVER_LEAST, &cover) &&
            (best.n == 0 || depth(&cover, 0, v) > depth(&best, 0, v) + ZERO)) {
            struct rp_rows swap = best;
            best = cover;
            cover = swap;
        }
        rp_rows_fini(&memory);
        rp_rows_fini(&cover);
    }
    uint32_t n = best.n;
    if (n > 0)
        rp_rows_copy(rows, &best, 0);
    rp_rows_fini(&best);
    return n;
}

uint32_t rp_cuts_find(struct rp_cuts *c, const double *v, struct rp_rows *rows) {
    uint32_t n_ops = c->form->problem->n_ops, n = 0;
    for (uint32_t j = 0; j < c->form->n_cols; j++)
        c->up[j] = v[j] > ZERO;
    for (uint32_t t = 0; t < n_ops; t++) {
        rp_memory_sweep(&c->memory, t, v, c->over);
        uint32_t k = worst_moment(c, t);
        if (c->over[k] > MEMORY_TOLERANCE) {
            rp_memory_row(&c->memory, t, k, v, rows);
            n++;
        }
        if (c->covers)
            n += find_cover(c, t, v, rows);
    }
    if (c->windows)
        n += rp_windows_find(&c->window, v, WINDOW_LEAST, n_ops, rows);
    return n;
}

uint32_t rp_cuts_exact(struct rp_cuts *c, const double *v, struct rp_rows *rows) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < c->form->problem->n_ops; t++) {
        struct rp_rows memory = {0};
        rp_memory_sweep(&c->memory, t, v, c->over);
        uint32_t k = worst_moment(c, t);
        if (c->over[k] > 0) {
            rp_memory_row(&c->memory, t, k, v, &memory);
            n += rp_cover_find(&memory, 0, v, ZERO, rows);
        }
        rp_rows_fini(&memory);
    }
    return n;
}
