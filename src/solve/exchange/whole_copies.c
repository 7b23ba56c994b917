#include "solve/exchange/whole_copies.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

static double scaled(const struct rp_whole_model *m, uint64_t ns) {
    return (double)ns * m->interval.time_scale;
}

static bool is_column(uint32_t col) {
    return col != RP_COL_ZERO && col != RP_COL_ONE;
}

/* ---- (M10) ---- */

static void out_row(struct rp_whole_model *m, uint32_t a, uint32_t b) {
    const struct rp_instance *p = m->interval.instance;
    rp_named_row(&m->named, -HUGE_VAL, rp_interval_ops_between(&m->interval, a, b),
                 rp_format("M10_out_%u_%u", a, b));
    for (uint32_t x = p->output_start[a]; x < p->output_start[b]; x++)
        rp_whole_term(m, scaled(m, p->out_ns[x]), RP_INTERVAL_O, b, x);
    rp_named_term(&m->named, -1, m->waited[b]);
    rp_named_term(&m->named, 1, m->waited[a]);
}

/* May something that op a makes be copied out by stage b? */
static bool makes_copied(const struct rp_whole_model *m, uint32_t a, uint32_t b) {
    const struct rp_instance *p = m->interval.instance;
    for (uint32_t x = p->output_start[a]; x < p->output_start[a + 1]; x++)
        if (rp_whole_at(m, RP_INTERVAL_O, b, x) != RP_COL_ZERO)
            return true;
    return false;
}

static void out_rows(struct rp_whole_model *m) {
    uint32_t n = m->interval.instance->n_ops;
    for (uint32_t b = 1; b < n && !rp_whole_is_too_large(m); b++)
        for (uint32_t a = 0; a < b; a++)
            if (makes_copied(m, a, b))
                out_row(m, a, b);
}

/* ---- (W4) ---- */

static void schedule_rows(struct rp_whole_model *m, uint32_t t, uint32_t x) {
    struct rp_named_milp *n = &m->named;
    rp_named_row(n, -HUGE_VAL, 1, rp_format("W4_free_%u_%u", t, x));
    rp_whole_begun(m, 1, t, x);
    rp_whole_term(m, 1, RP_INTERVAL_S, t, x);
    rp_named_row(n, -HUGE_VAL, 0, rp_format("W4_after_%u_%u", t, x));
    rp_whole_begun(m, 1, t, x);
    rp_whole_term(m, -1, RP_INTERVAL_O, t - 1, x);
    rp_named_row(n, -HUGE_VAL, 1, rp_format("W4_once_%u_%u", t, x));
    rp_whole_term(m, 1, RP_INTERVAL_F, t + 1, x);
    rp_whole_term(m, 1, RP_INTERVAL_U, t, x);
    rp_whole_term(m, 1, RP_INTERVAL_R, t, m->interval.instance->producer[x]);
}

/* ---- (W6) ---- */

static void stays_row(struct rp_whole_model *m, uint32_t t, uint32_t x) {
    rp_named_row(&m->named, -HUGE_VAL, 0, rp_format("W6_stays_%u_%u", t, x));
    rp_whole_term(m, 1, RP_INTERVAL_O, m->interval.instance->n_ops, x);
    rp_whole_term(m, -1, RP_INTERVAL_O, t, x);
    rp_whole_term(m, -1, RP_INTERVAL_S, t + 1, x);
}

/* ---- (W2) and (W3) ---- */

/* The copies of one tensor: per s and t the column P, or RP_COL_ZERO. */
struct columns {
    uint32_t *col, n_ops; /* s < n_ops, t <= n_ops */
};

static uint32_t *at(const struct columns *c, uint32_t s, uint32_t t) {
    return &c->col[(size_t)s * (c->n_ops + 1) + t];
}

/* May x be in flight until stage t? */
static bool may_read(const struct rp_whole_model *m, uint32_t t, uint32_t x) {
    uint32_t u = rp_whole_at(m, RP_INTERVAL_U, t, x);
    return is_column(u) && m->named.p.high[u] > 0;
}

/* All copies of x. One that begins in stage s and is read in stage t is in flight at the
 * moments in between. */
static void add_copies(struct rp_whole_model *m, uint32_t x, struct columns *c) {
    uint32_t first = m->interval.instance->producer[x] + 1;
    for (uint32_t s = 0; s < c->n_ops; s++)
        for (uint32_t t = s; t <= c->n_ops; t++)
            *at(c, s, t) = RP_COL_ZERO;
    for (uint32_t s = first; s < c->n_ops; s++)
        for (uint32_t t = s; t <= c->n_ops; t++) {
            if (t > s && !is_column(rp_whole_at(m, RP_INTERVAL_F, t, x)))
                break;
            if (!may_read(m, t, x))
                continue;
            *at(c, s, t) =
                rp_named_col(&m->named, 0, 0, 1, false, rp_format("P_%u_%u_%u", s, t, x));
            rp_push(&m->copies, ((struct rp_whole_copy){s, t, x, *at(c, s, t)}));
        }
}

/* (W2) of stage t: what is read in it, and what is in flight after it. */
static void read_row(struct rp_whole_model *m, const struct columns *c, uint32_t t,
                     uint32_t x) {
    struct rp_named_milp *n = &m->named;
    rp_named_row(n, 0, 0, rp_format("W2_read_%u_%u", t, x));
    rp_whole_term(m, 1, RP_INTERVAL_U, t, x);
    for (uint32_t s = 0; s <= t && s < c->n_ops; s++)
        rp_named_term(n, -1, *at(c, s, t));
}

static void flight_row(struct rp_whole_model *m, const struct columns *c, uint32_t t,
                       uint32_t x) {
    struct rp_named_milp *n = &m->named;
    rp_named_row(n, 0, 0, rp_format("W2_flight_%u_%u", t, x));
    rp_whole_term(m, 1, RP_INTERVAL_F, t + 1, x);
    rp_whole_term(m, -1, RP_INTERVAL_F, t, x);
    for (uint32_t s = 0; s < t; s++)
        rp_named_term(n, 1, *at(c, s, t));
    for (uint32_t u = t + 1; u <= c->n_ops; u++)
        rp_named_term(n, -1, *at(c, t, u));
}

static void copy_rows(struct rp_whole_model *m, const struct columns *c, uint32_t t,
                      uint32_t x) {
    if (may_read(m, t, x))
        read_row(m, c, t, x);
    if (is_column(rp_whole_at(m, RP_INTERVAL_F, t, x)) ||
        is_column(rp_whole_at(m, RP_INTERVAL_F, t + 1, x)))
        flight_row(m, c, t, x);
}

static int by_stages(const void *a, const void *b) {
    const struct rp_whole_copy *p = a, *q = b;
    uint64_t p_at = (uint64_t)p->s << 32 | p->t, q_at = (uint64_t)q->s << 32 | q->t;
    return p_at != q_at ? (p_at > q_at) - (p_at < q_at) : (p->x > q->x) - (p->x < q->x);
}

/* A column that is `a` plus `b`. */
static uint32_t sum_of(struct rp_whole_model *m, uint32_t a, uint32_t b, char kind,
                       uint32_t s, uint32_t t) {
    if (a == RP_COL_ZERO || b == RP_COL_ZERO)
        return a == RP_COL_ZERO ? b : a;
    uint32_t col =
        rp_named_col(&m->named, 0, 0, HUGE_VAL, false, rp_format("%c_%u_%u", kind, s, t));
    rp_named_row(&m->named, 0, 0, rp_format("%c_%u_%u", kind, s, t));
    rp_named_term(&m->named, 1, a);
    rp_named_term(&m->named, 1, b);
    rp_named_term(&m->named, -1, col);
    return col;
}

/* Z[s][t], where `before` is Z[s][t-1]. Copies from *next on begin in stage s and are read
 * in stage t or later, and those in stage t are taken. */
static uint32_t begun_in(struct rp_whole_model *m, size_t *next, uint32_t s, uint32_t t,
                         uint32_t before) {
    const struct rp_whole_copy *c = m->copies.at;
    size_t n = m->copies.n;
    if (*next == n || c[*next].s != s || c[*next].t != t)
        return before;
    uint32_t col =
        rp_named_col(&m->named, 0, 0, HUGE_VAL, false, rp_format("Z_%u_%u", s, t));
    rp_named_row(&m->named, 0, 0, rp_format("Z_%u_%u", s, t));
    rp_named_term(&m->named, -1, col);
    rp_named_term(&m->named, 1, before);
    for (; *next < n && c[*next].s == s && c[*next].t == t; ++*next)
        rp_named_term(&m->named, scaled(m, m->interval.instance->in_ns[c[*next].x]),
                      c[*next].col);
    return col;
}

/* Begins a row: what fits between the beginning of stage s and the first run of op t. */
static void begin_in_row(struct rp_whole_model *m, uint32_t s, uint32_t t, char *name) {
    rp_named_row(&m->named, -HUGE_VAL,
                 rp_interval_ops_between(&m->interval, (int64_t)s - 1, t), name);
    rp_named_term(&m->named, -1, m->waited[t]);
    rp_named_term(&m->named, 1, m->waited[s - 1]);
}

/* (W3) for stage s and all t. later[t] is Y[s+1][t], and becomes Y[s][t]. */
static void in_rows(struct rp_whole_model *m, uint32_t s, uint32_t *later) {
    uint32_t begun = RP_COL_ZERO;
    size_t next = 0;
    while (next < m->copies.n && m->copies.at[next].s < s)
        next++;
    for (uint32_t t = s; t <= m->interval.instance->n_ops; t++) {
        begun = begun_in(m, &next, s, t, begun);
        later[t] = sum_of(m, begun, later[t], 'Y', s, t);
        if (begun == RP_COL_ZERO)
            continue;
        begin_in_row(m, s, t, rp_format("W3_in_%u_%u", s, t));
        rp_named_term(&m->named, 1, later[t]);
    }
}

static void all_in_rows(struct rp_whole_model *m) {
    uint32_t n = m->interval.instance->n_ops;
    uint32_t *later = rp_calloc((size_t)n + 1, sizeof *later);
    for (uint32_t t = 0; t <= n; t++)
        later[t] = RP_COL_ZERO;
    for (uint32_t s = n; s-- > 1 && !rp_whole_is_too_large(m);)
        in_rows(m, s, later);
    free(later);
}

/* ---- (W5) ---- */

/* Adds the columns V[t][j]. */
static void add_runs(struct rp_whole_model *m, uint32_t t, uint32_t *v) {
    uint32_t after = RP_COL_ZERO;
    for (uint32_t j = t; j-- > 0; v[j] = after) {
        if (rp_whole_at(m, RP_INTERVAL_R, t, j) == RP_COL_ZERO)
            continue;
        uint32_t col =
            rp_named_col(&m->named, 0, 0, HUGE_VAL, false, rp_format("V_%u_%u", t, j));
        rp_named_row(&m->named, 0, 0, rp_format("V_%u_%u", t, j));
        rp_named_term(&m->named, 1, after);
        rp_whole_term(m, scaled(m, m->interval.instance->time_ns[j]), RP_INTERVAL_R, t, j);
        rp_named_term(&m->named, -1, col);
        after = col;
    }
}

static void reader_row(struct rp_whole_model *m, const struct rp_whole_copy *c, uint32_t j,
                       uint32_t runs) {
    double in = scaled(m, m->interval.instance->in_ns[c->x]);
    begin_in_row(m, c->t, c->t, rp_format("W5_in_%u_%u_%u", c->t, c->x, j));
    rp_named_term(&m->named, -in, RP_COL_ONE);
    rp_named_term(&m->named, in, c->col);
    rp_whole_term(m, in, RP_INTERVAL_R, c->t, j);
    rp_named_term(&m->named, 1, runs);
}

/* Rows of a copy that begins in the stage that reads it, for each run again that may. */
static void reader_rows(struct rp_whole_model *m, const struct rp_whole_copy *c,
                        const uint32_t *v) {
    const struct rp_instance *p = m->interval.instance;
    for (uint32_t k = p->reader_start[c->x]; k < p->reader_start[c->x + 1]; k++) {
        uint32_t j = p->readers[k];
        if (j < c->t && rp_whole_at(m, RP_INTERVAL_R, c->t, j) != RP_COL_ZERO)
            reader_row(m, c, j, v[j]);
    }
}

static void all_reader_rows(struct rp_whole_model *m) {
    uint32_t n = m->interval.instance->n_ops, t = 0;
    uint32_t *v = rp_calloc(n, sizeof *v);
    for (size_t i = 0; i < m->copies.n && !rp_whole_is_too_large(m); i++) {
        const struct rp_whole_copy *c = &m->copies.at[i];
        if (c->s != c->t)
            continue;
        if (c->t != t)
            add_runs(m, t = c->t, v);
        reader_rows(m, c, v);
    }
    free(v);
}

void rp_whole_copy_rows(struct rp_whole_model *m) {
    const struct rp_instance *p = m->interval.instance;
    uint32_t n = p->n_ops;
    struct columns c = {rp_calloc((size_t)n * (n + 1) + 1, sizeof *c.col), n};
    out_rows(m);
    for (uint32_t x = 0; x < p->n_tensors && !rp_whole_is_too_large(m); x++) {
        size_t before = m->copies.n;
        add_copies(m, x, &c);
        for (uint32_t t = p->producer[x]; t < n && m->copies.n > before; t++)
            stays_row(m, t, x);
        for (uint32_t t = p->producer[x] + 1; t <= n && m->copies.n > before; t++) {
            if (t < n)
                schedule_rows(m, t, x);
            copy_rows(m, &c, t, x);
        }
    }
    if (m->copies.n > 0)
        qsort(m->copies.at, m->copies.n, sizeof *m->copies.at, by_stages);
    all_in_rows(m);
    all_reader_rows(m);
    free(c.col);
}
