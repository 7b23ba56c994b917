#include "solve/lp/propagate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct propagation {
    struct rp_formulation *f;
    bool *pending; /* per stage: its runs or holds, or those held after it, have changed */
    uint32_t n_pending;
};

static void set_pending(struct propagation *d, uint32_t t) {
    d->n_pending += !d->pending[t];
    d->pending[t] = true;
}

/* Fixes R[t][j] (j < t) or S[t][x] at a constant. `entry` is its place in the table, or
 * NULL if it has none. Then its value is `constant`. True if that is new. */
static bool fix(struct propagation *d, uint32_t *entry, uint32_t constant, uint32_t value) {
    uint32_t now = entry != NULL ? *entry : constant;
    if (now == value)
        return false;
    if (now != RP_COL_OPEN) {
        d->f->empty = true;
        return false;
    }
    *entry = value;
    return true;
}

static void fix_run(struct propagation *d, uint32_t t, uint32_t j, uint32_t value) {
    struct rp_formulation *f = d->f;
    uint32_t own = f->stage_of[j];
    bool has_entry = t > own && t <= f->r_last[j];
    if (fix(d, has_entry ? &f->r_col[f->r_start[j] + (t - own - 1)] : NULL,
            rp_formulation_run(f, t, j), value))
        set_pending(d, t);
}

static void fix_held(struct propagation *d, uint32_t t, uint32_t x, uint32_t value) {
    struct rp_formulation *f = d->f;
    uint32_t first = rp_formulation_maker_stage(f, x);
    bool has_entry = t > first && t <= f->s_last[x];
    if (!fix(d, has_entry ? &f->s_col[f->s_start[x] + (t - first - 1)] : NULL,
             rp_formulation_held(f, t, x), value))
        return;
    set_pending(d, t - 1);
    if (t < f->n_stages)
        set_pending(d, t);
}

/* `want` is R[t][j] or S[t+1][x], which needs x in stage t by (2) or (3). Fixes what it
 * needs if there is only one way to get it. Returns what `want` must be. */
static uint32_t supply(struct propagation *d, uint32_t t, uint32_t x, uint32_t want) {
    struct rp_formulation *f = d->f;
    uint32_t p = f->instance->producer[x];
    uint32_t run = rp_formulation_run(f, t, p), held = rp_formulation_held(f, t, x);
    if (run == RP_COL_ZERO && held == RP_COL_ZERO)
        return RP_COL_ZERO;
    if (want == RP_COL_ONE && run == RP_COL_ZERO)
        fix_held(d, t, x, RP_COL_ONE);
    if (want == RP_COL_ONE && held == RP_COL_ZERO)
        fix_run(d, t, p, RP_COL_ONE);
    return want;
}

static bool may_be_read(const struct rp_formulation *f, uint32_t t, uint32_t x) {
    const struct rp_instance *p = f->instance;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (rp_formulation_may_run(f, t, p->readers[k]))
            return true;
    return false;
}

static void propagate_tensor(struct propagation *d, uint32_t t, uint32_t x) {
    struct rp_formulation *f = d->f;
    const struct rp_instance *p = f->instance;
    uint32_t maker = p->producer[x], next = rp_formulation_held(f, t + 1, x);
    if (supply(d, t, x, next) != next)
        fix_held(d, t + 1, x, RP_COL_ZERO);
    if (p->bytes[x] == 0 || f->stage_of[maker] == t)
        return;
    /* Pruned: x is held for something. (Tensors of no bytes are held without a reason.) */
    if (rp_formulation_held(f, t + 1, x) == RP_COL_ZERO && !may_be_read(f, t, x))
        fix_held(d, t, x, RP_COL_ZERO);
    /* Closure: nothing is made that is there already. (In a stage with several first runs,
     * it may be freed and made again.) */
    if (f->n_stages == p->n_ops &&
        p->output_start[maker + 1] - p->output_start[maker] == 1) {
        if (rp_formulation_held(f, t, x) == RP_COL_ONE)
            fix_run(d, t, maker, RP_COL_ZERO);
        if (rp_formulation_run(f, t, maker) == RP_COL_ONE)
            fix_held(d, t, x, RP_COL_ZERO);
    }
}

static void propagate_op(struct propagation *d, uint32_t t, uint32_t j) {
    struct rp_formulation *f = d->f;
    const struct rp_instance *p = f->instance;
    bool wanted = f->stage_of[j] == t;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t run = rp_formulation_run(f, t, j);
        if (supply(d, t, p->inputs[k], run) != run)
            fix_run(d, t, j, RP_COL_ZERO);
    }
    /* Closure: an op runs again only if an output is held on or read. */
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1] && !wanted; x++)
        wanted = rp_formulation_held(f, t + 1, x) != RP_COL_ZERO || may_be_read(f, t, x);
    if (!wanted)
        fix_run(d, t, j, RP_COL_ZERO);
}

/* Applies the rules of stage t until they change nothing in it. */
static void propagate_stage(struct propagation *d, uint32_t t) {
    while (d->pending[t] && !d->f->empty) {
        d->pending[t] = false;
        d->n_pending--;
        uint32_t end = d->f->last_op[t] + 1;
        for (uint32_t x = 0; x < d->f->instance->output_start[end]; x++)
            propagate_tensor(d, t, x);
        for (uint32_t j = end; j-- > 0;)
            if (rp_formulation_may_run(d->f, t, j))
                propagate_op(d, t, j);
    }
}

void rp_formulation_propagate(struct rp_formulation *f) {
    uint32_t n = f->n_stages;
    struct propagation d = {f, rp_calloc(n, sizeof *d.pending), n};
    memset(d.pending, true, n * sizeof *d.pending);
    /* Most of what follows concerns earlier stages. */
    while (d.n_pending > 0 && !f->empty)
        for (uint32_t t = n; t-- > 0;)
            propagate_stage(&d, t);
    free(d.pending);
}
