#include "solve/lp/separation.h"

#include <stdlib.h>

#include "base/mem.h"
#include "solve/lp/sep_cover.h"

/* In scaled bytes, where the limit is 512 or more: well above what the simplex method takes
 * for zero, far below what makes a difference to the bound. */
#define MEMORY_TOLERANCE 1e-3
#define ZERO 1e-6
#define WINDOW_MIN 0.01 /* violation over length */
#define COVER_MIN 0.02

void rp_separation_init(struct rp_separation *c, const struct rp_formulation *f,
                        bool windows, bool covers) {
    *c = (struct rp_separation){.form = f, .windows = windows, .covers = covers};
    rp_sep_memory_init(&c->memory, f);
    rp_sep_path_init(&c->window, f);
    c->up = rp_calloc(f->n_cols, sizeof *c->up);
    c->over = rp_calloc(f->problem->n_ops, sizeof *c->over);
    c->top = rp_calloc(f->problem->n_ops, sizeof *c->top);
}

void rp_separation_fini(struct rp_separation *c) {
    rp_sep_memory_fini(&c->memory);
    rp_sep_path_fini(&c->window);
    free(c->up);
    free(c->over);
    free(c->top);
    *c = (struct rp_separation){0};
}

static uint32_t worst_moment(const struct rp_separation *c, uint32_t t) {
    uint32_t worst = t;
    for (uint32_t k = 0; k < t; k++)
        if (c->over[k] > c->over[worst] + ZERO)
            worst = k;
    return worst;
}

static double depth(const struct rp_row_set *rows, uint32_t i, const double *v) {
    return rp_row_set_left(rows, i, v) - rows->rhs[i];
}

/* The deepest cover over the moments k of stage t. A cover can be violated at a moment only
 * if its row would be with every positive column at 1. */
static uint32_t find_cover(struct rp_separation *c, uint32_t t, const double *v,
                           struct rp_row_set *rows) {
    struct rp_row_set best = {0};
    rp_sep_memory_sweep(&c->memory, t, c->up, c->top);
    for (uint32_t k = 0; k <= t; k++) {
        struct rp_row_set memory = {0}, cover = {0};
        if (c->top[k] <= 0 || !rp_formulation_may_run(c->form, t, k))
            continue;
        rp_sep_memory_row(&c->memory, t, k, v, &memory);
        if (rp_sep_cover_find(&memory, 0, v, COVER_MIN, &cover) &&
            (best.n == 0 || depth(&cover, 0, v) > depth(&best, 0, v) + ZERO)) {
            struct rp_row_set swap = best;
            best = cover;
            cover = swap;
        }
        rp_row_set_fini(&memory);
        rp_row_set_fini(&cover);
    }
    uint32_t n = best.n;
    if (n > 0)
        rp_row_set_copy(rows, &best, 0);
    rp_row_set_fini(&best);
    return n;
}

uint32_t rp_separation_find(struct rp_separation *c, const double *v,
                            struct rp_row_set *rows) {
    uint32_t n_ops = c->form->problem->n_ops, n = 0;
    for (uint32_t j = 0; j < c->form->n_cols; j++)
        c->up[j] = v[j] > ZERO;
    for (uint32_t t = 0; t < n_ops; t++) {
        rp_sep_memory_sweep(&c->memory, t, v, c->over);
        uint32_t k = worst_moment(c, t);
        if (c->over[k] > MEMORY_TOLERANCE) {
            rp_sep_memory_row(&c->memory, t, k, v, rows);
            n++;
        }
        if (c->covers)
            n += find_cover(c, t, v, rows);
    }
    if (c->windows)
        n += rp_sep_path_find(&c->window, v, WINDOW_MIN, n_ops, rows);
    return n;
}

uint32_t rp_separation_exact(struct rp_separation *c, const double *v,
                             struct rp_row_set *rows) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < c->form->problem->n_ops; t++) {
        struct rp_row_set memory = {0};
        rp_sep_memory_sweep(&c->memory, t, v, c->over);
        uint32_t k = worst_moment(c, t);
        if (c->over[k] > 0) {
            rp_sep_memory_row(&c->memory, t, k, v, &memory);
            n += rp_sep_cover_find(&memory, 0, v, ZERO, rows);
        }
        rp_row_set_fini(&memory);
    }
    return n;
}
