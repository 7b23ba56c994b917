#include "solve/exchange/whole_memory.h"

#include <math.h>
#include <stdlib.h>

/* The stage. Per tensor the column that says whether it is live from some op on, and the
 * one that says whether it is live from the start, if it is made by a later op. */
struct stage {
    struct rp_whole_model *m;
    const struct rp_instance *p;
    uint32_t t, *live, *stays; /* RP_COL_ZERO in stays: S + B - Q says it */
};

/* A column that is at least `a` and `b`. */
static uint32_t larger(const struct stage *s, uint32_t a, uint32_t b, uint32_t k,
                       uint32_t x) {
    struct rp_named_milp *n = &s->m->named;
    if (a == b || a == RP_COL_ZERO || b == RP_COL_ONE)
        return b;
    if (b == RP_COL_ZERO || a == RP_COL_ONE)
        return a;
    uint32_t part[] = {a, b};
    uint32_t col = rp_named_col(n, 0, 0, 1, false, rp_format("L_%u_%u_%u", s->t, x, k));
    for (uint32_t i = 0; i < 2; i++) {
        rp_named_row(n, -HUGE_VAL, 0, rp_format("live_%u_%u_%u_%u", s->t, x, k, i));
        rp_named_term(n, 1, part[i]);
        rp_named_term(n, -1, col);
    }
    return col;
}

static uint32_t run(const struct stage *s, uint32_t k) {
    return rp_whole_at(s->m, RP_INTERVAL_R, s->t, k);
}

/* What op k reads is live while it runs and before. */
static void add_reader(const struct stage *s, uint32_t k) {
    for (uint32_t i = s->p->input_start[k]; i < s->p->input_start[k + 1]; i++) {
        uint32_t x = s->p->inputs[i];
        s->live[x] = larger(s, s->live[x], run(s, k), k, x);
    }
}

/* May x, there when the stage begins, be freed in it after its copy out, but not before a
 * run has read it? */
static bool may_be_freed_late(const struct stage *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    bool is_read = false;
    for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++)
        is_read =
            is_read || (p->readers[i] <= s->t && run(s, p->readers[i]) != RP_COL_ZERO);
    return is_read && rp_whole_at(s->m, RP_INTERVAL_S, s->t, x) != RP_COL_ZERO &&
           rp_whole_at(s->m, RP_INTERVAL_O, s->t, x) != RP_COL_ZERO;
}

/* S + B - Q: it is there when the stage begins, or soon after, and not freed at once. */
static void held_terms(const struct stage *s, double coef, uint32_t x) {
    rp_whole_term(s->m, coef, RP_INTERVAL_S, s->t, x);
    rp_whole_begun(s->m, coef, s->t, x);
    rp_whole_term(s->m, -coef, RP_INTERVAL_O, s->t, x);
    rp_whole_term(s->m, coef, RP_INTERVAL_O, s->t - 1, x);
}

/* The column L[t][x], or RP_COL_ZERO. */
static uint32_t stays(const struct stage *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    struct rp_named_milp *n = &s->m->named;
    if (!may_be_freed_late(s, x))
        return RP_COL_ZERO;
    uint32_t col = rp_named_col(n, 0, 0, 1, false, rp_format("L_%u_%u", s->t, x));
    rp_named_row(n, -HUGE_VAL, 0, rp_format("stays_%u_%u", s->t, x));
    held_terms(s, 1, x);
    rp_named_term(n, -1, col);
    for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
        uint32_t j = p->readers[i];
        if (j > s->t || run(s, j) == RP_COL_ZERO)
            continue;
        rp_named_row(n, -HUGE_VAL, 0, rp_format("stays_%u_%u_%u", s->t, x, j));
        rp_named_term(n, 1, run(s, j));
        rp_named_term(n, -1, run(s, p->producer[x]));
        rp_named_term(n, -1, col);
    }
    return col;
}

/* The column W for output x of op k, or a constant. */
static uint32_t shadow(const struct stage *s, uint32_t k, uint32_t x) {
    struct rp_named_milp *n = &s->m->named;
    if (s->p->shadow_bytes[x] == 0 ||
        rp_whole_at(s->m, RP_INTERVAL_S, s->t, x) == RP_COL_ZERO)
        return RP_COL_ZERO;
    uint32_t col = rp_named_col(n, 0, 0, 1, false, rp_format("W_%u_%u", s->t, x));
    rp_named_row(n, -HUGE_VAL, 1, rp_format("rewrite_%u_%u", s->t, x));
    rp_whole_term(s->m, 1, RP_INTERVAL_S, s->t, x);
    rp_named_term(n, 1, run(s, k));
    rp_named_term(n, -1, col);
    return col;
}

/* Memory while op k runs again. Outputs of k are live then, and so is what is made later
 * and was there at the start. */
static void memory_row(const struct stage *s, uint32_t k) {
    const struct rp_instance *p = s->p;
    struct rp_named_milp *n = &s->m->named;
    double scale = s->m->interval.byte_scale;
    uint32_t first = p->output_start[k], end = p->output_start[k + 1];
    uint32_t *twice = rp_calloc((size_t)(end - first) + 1, sizeof *twice);
    for (uint32_t x = first; x < end; x++) {
        s->live[x] = larger(s, s->live[x], run(s, k), k, x);
        twice[x - first] = shadow(s, k, x);
    }
    rp_named_row(n, -HUGE_VAL, (double)p->limit_bytes * scale,
                 rp_format("W1_memory_%u_%u", s->t, k));
    rp_named_term(n, (double)p->workspace_bytes[k] * scale, run(s, k));
    for (uint32_t x = 0; x < end; x++)
        rp_named_term(n, (double)p->bytes[x] * scale, s->live[x]);
    for (uint32_t x = first; x < end; x++)
        rp_named_term(n, (double)p->shadow_bytes[x] * scale, twice[x - first]);
    for (uint32_t x = end; x < p->output_start[s->t]; x++)
        if (s->stays[x] != RP_COL_ZERO)
            rp_named_term(n, (double)p->bytes[x] * scale, s->stays[x]);
        else
            held_terms(s, (double)p->bytes[x] * scale, x);
    free(twice);
}

void rp_whole_memory_rows(struct rp_whole_model *m, uint32_t t) {
    const struct rp_instance *p = m->interval.instance;
    uint32_t first = 0; /* the first op that may run in the stage */
    uint32_t *cols = rp_calloc(2 * (size_t)p->n_tensors + 1, sizeof *cols);
    struct stage s = {m, p, t, cols, cols + p->n_tensors};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        s.live[x] = rp_whole_at(m, RP_INTERVAL_S, t + 1, x);
    while (run(&s, first) == RP_COL_ZERO)
        first++;
    for (uint32_t x = p->output_start[first + 1]; x < p->output_start[t]; x++)
        s.stays[x] = stays(&s, x);
    add_reader(&s, t);
    for (uint32_t k = t; k-- > first;) {
        if (run(&s, k) == RP_COL_ZERO)
            continue;
        add_reader(&s, k);
        memory_row(&s, k);
    }
    free(cols);
}
