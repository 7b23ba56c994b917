/* What follows from constants among R and S, for tidy schedules whose R is the closure of
 * their S. A table entry is RP_COL_ZERO, RP_COL_ONE or RP_COL_OPEN. */
#include "solve/lp/formulation.h"

struct deduction {
    struct rp_formulation *f;
    bool changed;
};

/* R[t][j] (j < t) or S[t][x] gets a value, or clashes with the one it has. */
static void set(struct deduction *d, uint32_t *entry, uint32_t place, uint32_t value) {
    uint32_t now = entry != NULL ? *entry : place;
    if (now == value)
        return;
    if (now != RP_COL_OPEN) {
        d->f->empty = true;
        return;
    }
    *entry = value;
    d->changed = true;
}

static void set_run(struct deduction *d, uint32_t t, uint32_t j, uint32_t value) {
    struct rp_formulation *f = d->f;
    bool has = t > j && t <= f->r_last[j];
    set(d, has ? &f->r_col[f->r_start[j] + (t - j - 1)] : NULL, rp_formulation_run(f, t, j),
        value);
}

static void set_held(struct deduction *d, uint32_t t, uint32_t x, uint32_t value) {
    struct rp_formulation *f = d->f;
    uint32_t p = f->problem->producer[x];
    bool has = t > p && t <= f->s_last[x];
    set(d, has ? &f->s_col[f->s_start[x] + (t - p - 1)] : NULL,
        rp_formulation_held(f, t, x), value);
}

/* `want` is R[t][j] or S[t+1][x] that needs x in stage t, as in (2) and (3). Returns what
 * the want must be. */
static uint32_t supply(struct deduction *d, uint32_t t, uint32_t x, uint32_t want) {
    struct rp_formulation *f = d->f;
    uint32_t p = f->problem->producer[x];
    uint32_t run = rp_formulation_run(f, t, p), held = rp_formulation_held(f, t, x);
    if (run == RP_COL_ZERO && held == RP_COL_ZERO)
        return RP_COL_ZERO;
    if (want == RP_COL_ONE && run == RP_COL_ZERO)
        set_held(d, t, x, RP_COL_ONE);
    if (want == RP_COL_ONE && held == RP_COL_ZERO)
        set_run(d, t, p, RP_COL_ONE);
    return want;
}

static bool may_be_read(const struct rp_formulation *f, uint32_t t, uint32_t x) {
    const struct rp_instance *p = f->problem;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (rp_formulation_may_run(f, t, p->readers[k]))
            return true;
    return false;
}

static void look_at_tensor(struct deduction *d, uint32_t t, uint32_t x) {
    struct rp_formulation *f = d->f;
    const struct rp_instance *p = f->problem;
    uint32_t maker = p->producer[x], next = rp_formulation_held(f, t + 1, x);
    if (supply(d, t, x, next) != next)
        set_held(d, t + 1, x, RP_COL_ZERO);
    if (p->bytes[x] == 0 || maker == t)
        return;
    /* Tidy: held for something. (A tensor of no bytes may be held for nothing.) */
    if (rp_formulation_held(f, t + 1, x) == RP_COL_ZERO && !may_be_read(f, t, x))
        set_held(d, t, x, RP_COL_ZERO);
    /* The closure makes nothing that is there. */
    if (p->output_start[maker + 1] - p->output_start[maker] == 1) {
        if (rp_formulation_held(f, t, x) == RP_COL_ONE)
            set_run(d, t, maker, RP_COL_ZERO);
        if (rp_formulation_run(f, t, maker) == RP_COL_ONE)
            set_held(d, t, x, RP_COL_ZERO);
    }
}

static void look_at_op(struct deduction *d, uint32_t t, uint32_t j) {
    struct rp_formulation *f = d->f;
    const struct rp_instance *p = f->problem;
    bool wanted = j == t;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t run = rp_formulation_run(f, t, j);
        if (supply(d, t, p->inputs[k], run) != run)
            set_run(d, t, j, RP_COL_ZERO);
    }
    /* The closure runs an op for what is held on or read. */
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1] && !wanted; x++)
        wanted = rp_formulation_held(f, t + 1, x) != RP_COL_ZERO || may_be_read(f, t, x);
    if (!wanted)
        set_run(d, t, j, RP_COL_ZERO);
}

void rp_formulation_propagate(struct rp_formulation *f) {
    const struct rp_instance *p = f->problem;
    struct deduction d = {f, true};
    while (d.changed && !f->empty) {
        d.changed = false;
        for (uint32_t t = p->n_ops; t-- > 0;) {
            for (uint32_t x = 0; x < p->output_start[t + 1]; x++)
                look_at_tensor(&d, t, x);
            for (uint32_t j = t + 1; j-- > 0;)
                if (rp_formulation_may_run(f, t, j))
                    look_at_op(&d, t, j);
        }
    }
}
