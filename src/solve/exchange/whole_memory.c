#include "solve/exchange/whole_memory.h"

#include <math.h>
#include <stdlib.h>

/* The stage, and per tensor the column that says whether it is live from some op on. */
struct stage {
    struct rp_whole_model *m;
    const struct rp_instance *p;
    uint32_t t, *live;
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
    for (uint32_t x = end; x < p->output_start[s->t]; x++) {
        rp_whole_term(s->m, (double)p->bytes[x] * scale, RP_INTERVAL_S, s->t, x);
        rp_whole_begun(s->m, (double)p->bytes[x] * scale, s->t, x);
    }
    free(twice);
}

void rp_whole_memory_rows(struct rp_whole_model *m, uint32_t t) {
    const struct rp_instance *p = m->interval.instance;
    struct stage s = {m, p, t, rp_calloc((size_t)p->n_tensors + 1, sizeof(uint32_t))};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        s.live[x] = rp_whole_at(m, RP_INTERVAL_S, t + 1, x);
    add_reader(&s, t);
    for (uint32_t k = t; k-- > 0;) {
        if (run(&s, k) == RP_COL_ZERO)
            continue;
        add_reader(&s, k);
        memory_row(&s, k);
    }
    free(s.live);
}
