/* Tests of the interval model's columns and rows, against those of its header written out
 * once more. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dense_row.h"
#include "gen.h"
#include "run.h"

/* ---- columns ---- */

/* What decides on the columns: time in ns. */
struct reach {
    const struct rp_small_model *w;
    uint64_t slack_ns;
    uint32_t *r_last, *s_last;
};

static uint64_t ops_between(const struct rp_instance *p, uint32_t a, uint32_t b) {
    uint64_t ns = 0;
    for (uint32_t u = a + 1; u < b; u++)
        ns += p->time_ns[u];
    return ns;
}

static bool may_run(const struct reach *c, uint32_t t, uint32_t j) {
    return t == j || (t > j && t <= c->r_last[j] && c->w->p.time_ns[j] <= c->slack_ns);
}

static bool may_be_read(const struct reach *c, uint32_t t, uint32_t x) {
    const struct rp_instance *p = &c->w->p;
    bool read = t == p->n_ops && p->kept[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        read = read || may_run(c, t, p->readers[k]);
    return read;
}

/* Is there time for x's copy out, or for both copies, before op t? */
static bool is_time(const struct reach *c, uint32_t t, uint32_t x, bool both) {
    const struct rp_instance *p = &c->w->p;
    return ops_between(p, p->producer[x], t) + c->slack_ns >=
           p->out_ns[x] + (both ? p->in_ns[x] : 0);
}

static bool may_copy_in(const struct reach *c, uint32_t t, uint32_t x) {
    const struct rp_instance *p = &c->w->p;
    return p->out_ns != NULL && !p->pinned[x] && p->bytes[x] != 0 && t > p->producer[x] &&
           t <= c->s_last[x] && may_be_read(c, t, x) && is_time(c, t, x, true);
}

/* The last stage that may copy x in; 0: none. */
static uint32_t last_in(const struct reach *c, uint32_t x) {
    uint32_t t = c->w->p.n_ops + 1;
    while (t > 0 && !may_copy_in(c, t, x))
        t--;
    return t;
}

static bool may_be_out(const struct reach *c, uint32_t t, uint32_t x) {
    return t > c->w->p.producer[x] && t <= last_in(c, x) && is_time(c, t, x, false);
}

static bool op_uses(const struct rp_instance *p, uint32_t j, uint32_t x) {
    bool uses = p->producer[x] == j;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        uses = uses || p->inputs[k] == x;
    return uses;
}

/* Is there room for x while op j runs, beside what op j uses? */
static bool is_room(const struct rp_instance *p, uint32_t j, uint32_t x) {
    uint64_t bytes = p->workspace_bytes[j] + p->bytes[x];
    for (uint32_t y = 0; y < p->n_tensors; y++)
        bytes += op_uses(p, j, y) ? p->bytes[y] : 0;
    return op_uses(p, j, x) || bytes <= p->limit_bytes;
}

static bool may_be_held(const struct reach *c, uint32_t t, uint32_t x) {
    const struct rp_instance *p = &c->w->p;
    bool stays = p->pinned[x] || p->bytes[x] == 0;
    return t > p->producer[x] && t <= c->s_last[x] && (stays || is_room(p, t - 1, x));
}

static bool must_be_read(const struct reach *c, uint32_t t, uint32_t x) {
    const struct rp_instance *p = &c->w->p;
    bool read = t == p->n_ops && p->kept[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        read = read || p->readers[k] == t;
    return read;
}

/* RP_COL_ONE if x is certain to be read before anything can make it again, RP_COL_ZERO if
 * it can't be; 0: a column. *first: the first stage from t on whose V that is. */
static uint32_t expected_available(const struct reach *c, uint32_t t, uint32_t x,
                                   uint32_t *first) {
    uint32_t n = c->w->p.n_ops, maker = c->w->p.producer[x], last = n + 1;
    while (last > maker && !may_be_read(c, last, x))
        last--;
    if (c->w->p.out_ns == NULL || t <= maker || t > last)
        return RP_COL_ZERO;
    for (uint32_t u = t; u <= last && !may_run(c, u, maker); u++)
        if (must_be_read(c, u, x))
            return RP_COL_ONE;
    for (*first = t; !may_run(c, *first, maker) && !may_be_read(c, *first, x);)
        ++*first;
    return 0;
}

/* RP_COL_ONE, RP_COL_ZERO, or 0 for a column. */
static uint32_t expected(const struct reach *c, int kind, uint32_t t, uint32_t id) {
    const struct rp_instance *p = &c->w->p;
    switch (kind) {
    case R:
        return t == id ? RP_COL_ONE : may_run(c, t, id) ? 0 : RP_COL_ZERO;
    case S:
        if (t == p->n_ops + 1)
            return p->kept[id] ? RP_COL_ONE : RP_COL_ZERO;
        if (!may_be_held(c, t, id))
            return RP_COL_ZERO;
        return p->pinned[id] || p->bytes[id] == 0 ? RP_COL_ONE : 0;
    case F:
        return t > 0 && may_be_out(c, t, id) && may_be_out(c, t - 1, id) &&
                       may_be_held(c, t, id)
                   ? 0
                   : RP_COL_ZERO;
    case U:
        return may_copy_in(c, t, id) ? 0 : RP_COL_ZERO;
    case O:
        return last_in(c, id) > 0 && (t > last_in(c, id) || may_be_out(c, t, id))
                   ? 0
                   : RP_COL_ZERO;
    case V:
        return expected_available(c, t, id, &(uint32_t){0});
    default:
        return t <= p->n_ops ? 0 : RP_COL_ZERO;
    }
}

static bool is_right_column(const struct reach *c, int kind, uint32_t t, uint32_t id) {
    const struct rp_interval_model *m = &c->w->m;
    uint32_t col = rp_interval_at(m, (enum rp_interval_kind)kind, t, id),
             want = expected(c, kind, t, id);
    if (want != 0 || col >= m->n_cols)
        return col == want;
    if (kind == O && t > last_in(c, id)) /* what is on the host stays there */
        return col == rp_interval_at(m, O, t - 1, id);
    if (kind == V) /* stages that cannot make or read it share one */
        expected_available(c, t, id, &t);
    return (int)m->col[col].kind == kind && m->col[col].t == t && m->col[col].id == id &&
           (col >= m->n_integer) == (kind == D);
}

static bool has_right_columns(const struct rp_small_model *w) {
    const struct rp_instance *p = &w->p;
    struct reach c = {.w = w,
                      .slack_ns = w->m.horizon_ns - w->total_ns,
                      .r_last = rp_calloc(p->n_ops, sizeof(uint32_t)),
                      .s_last = rp_calloc(p->n_tensors, sizeof(uint32_t))};
    bool good = true;
    rp_instance_last_uses(p, c.r_last, c.s_last);
    for (int kind = R; kind <= D; kind++) {
        uint32_t ids = kind == R ? p->n_ops : kind == D ? 1 : p->n_tensors;
        for (uint32_t t = 0; t <= p->n_ops + 1; t++)
            for (uint32_t id = 0; id < ids; id++)
                good = good && is_right_column(&c, kind, t, id);
    }
    free(c.r_last);
    free(c.s_last);
    return good;
}

/* ---- rows ---- */

/* Goes through the model's rows in their order. */
struct check {
    const struct rp_interval_model *m;
    const struct rp_instance *p;
    uint32_t n;       /* rows seen */
    bool good, empty; /* so far; some row cannot be met */
};

static struct rp_dense_row row(const struct check *c, double right) {
    return rp_dense_row_new(c->m, right);
}

static void plus(struct rp_dense_row *r, double coef, int kind, uint32_t t, uint32_t id) {
    rp_dense_row_add(r, coef, (enum rp_interval_kind)kind, t, id);
}

/* coef (S - F)[t][x] */
static void plus_readable(struct rp_dense_row *r, double coef, uint32_t t, uint32_t x) {
    plus(r, coef, S, t, x);
    plus(r, -coef, F, t, x);
}

/* The model has this row next, if it says anything. */
static void expect(struct check *c, int number, struct rp_dense_row r) {
    if (rp_dense_row_most(&r) > 0) {
        c->good = c->good && rp_dense_row_is(&r, &c->m->rows, c->n) &&
                  c->m->row_number[c->n] == number;
        c->n++;
    }
    c->empty = c->empty || rp_dense_row_least(&r) > 0;
    rp_dense_row_free(&r);
}

static void expect_stage(struct check *c, uint32_t t) {
    const struct rp_instance *p = c->p;
    struct rp_dense_row r = row(c, 0);
    for (uint32_t j = 0; j < t && j < p->n_ops; j++)
        plus(&r, (double)p->time_ns[j] * c->m->time_scale, R, t, j);
    plus(&r, -1, D, t, 0);
    expect(c, 2, r);
    for (uint32_t j = 0; j < p->n_ops; j++)
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t x = p->inputs[k];
            if (rp_interval_at(c->m, R, t, j) == RP_COL_ZERO)
                continue;
            r = row(c, 0);
            plus(&r, 1, R, t, j);
            plus(&r, -1, R, t, p->producer[x]);
            plus_readable(&r, -1, t, x);
            plus(&r, -1, U, t, x);
            expect(c, 3, r);
        }
}

static bool uses(const struct rp_instance *p, uint32_t j, uint32_t x) {
    bool found = p->producer[x] == j;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        found = found || p->inputs[k] == x;
    return found;
}

static void expect_memory(struct check *c, uint32_t t) {
    const struct rp_instance *p = c->p;
    double scale = c->m->byte_scale;
    struct rp_dense_row r =
        row(c, ((double)p->limit_bytes - (double)p->workspace_bytes[t]) * scale);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        double bytes = (double)p->bytes[x] * scale;
        if (uses(p, t, x))
            r.right -= bytes;
        else if (p->producer[x] < t)
            plus(&r, bytes, S, t + 1, x);
    }
    expect(c, 8, r);
}

static void expect_hold(struct check *c, uint32_t t, uint32_t x) {
    struct rp_dense_row r = row(c, 0);
    plus_readable(&r, 1, t + 1, x);
    plus_readable(&r, -1, t, x);
    plus(&r, 1, O, t, x);
    plus(&r, -1, O, t - 1, x);
    plus(&r, -1, R, t, c->p->producer[x]);
    plus(&r, -1, U, t, x);
    if (rp_interval_at(c->m, S, t + 1, x) == RP_COL_ZERO)
        rp_dense_row_free(&r);
    else
        expect(c, 4, r);
}

/* a[t][x] <= b[u][x] + c[t][x] */
static void expect_order(struct check *c, int number, uint32_t x, int a, uint32_t t, int b,
                         uint32_t u, int third) {
    struct rp_dense_row r = row(c, 0);
    plus(&r, 1, a, t, x);
    plus(&r, -1, b, u, x);
    if (third >= 0)
        plus(&r, -1, third, t, x);
    expect(c, number, r);
}

static void expect_due(struct check *c, uint32_t t, uint32_t b, uint32_t x) {
    struct rp_dense_row r = row(c, 0);
    plus(&r, 1, O, b, x);
    plus(&r, -1, O, t - 1, x);
    plus_readable(&r, -1, t, x);
    for (uint32_t u = t; u <= b; u++)
        plus(&r, -1, R, u, c->p->producer[x]);
    expect(c, 7, r);
}

static void expect_tensor(struct check *c, uint32_t t, uint32_t x) {
    expect_hold(c, t, x);
    if (c->p->out_ns == NULL)
        return;
    expect_order(c, 5, x, F, t, F, t + 1, U);
    expect_order(c, 5, x, F, t, S, t, -1);
    expect_order(c, 6, x, F, t + 1, O, t, -1);
    expect_order(c, 6, x, U, t, O, t, -1);
    expect_order(c, 6, x, O, t - 1, O, t, -1);
    expect_due(c, t, t, x);
    expect_due(c, t, c->p->n_ops, x);
}

static void expect_host(struct check *c) {
    const struct rp_instance *p = c->p;
    struct rp_dense_row r = row(c, (double)p->host_limit_bytes * c->m->byte_scale);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        plus(&r, (double)p->bytes[x] * c->m->byte_scale, O, p->n_ops, x);
    expect(c, 12, r);
}

/* ---- (M14) to (M17) ---- */

static void expect_reads_available(struct check *c, uint32_t t) {
    for (uint32_t j = 0; j < c->p->n_ops; j++)
        for (uint32_t k = c->p->input_start[j]; k < c->p->input_start[j + 1]; k++) {
            uint32_t x = c->p->inputs[k];
            if (rp_interval_at(c->m, R, t, j) == RP_COL_ZERO)
                continue;
            struct rp_dense_row r = row(c, 0);
            plus(&r, 1, R, t, j);
            plus(&r, -1, R, t, c->p->producer[x]);
            plus(&r, -1, V, t, x);
            expect(c, 14, r);
        }
}

/* With what can be on the host alone while op t runs (test_swap_relaxation.c). */
static void expect_room(struct check *c, uint32_t t) {
    const struct rp_instance *p = c->p;
    double scale = c->m->byte_scale;
    struct rp_dense_row r =
        row(c, ((double)c->m->room_bytes[t] - (double)p->workspace_bytes[t]) * scale);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        double bytes = (double)p->bytes[x] * scale;
        if (uses(p, t, x))
            r.right -= bytes;
        else if (p->producer[x] < t)
            plus(&r, bytes, V, t + 1, x);
    }
    c->good = c->good && c->m->room_bytes[t] >= p->limit_bytes;
    expect(c, 16, r);
}

static void expect_available(struct check *c, uint32_t t, uint32_t x) {
    struct rp_dense_row r = row(c, 0);
    plus(&r, 1, V, t + 1, x);
    plus(&r, -1, V, t, x);
    plus(&r, -1, R, t, c->p->producer[x]);
    /* Where both are one column, the row holds. */
    if (rp_interval_at(c->m, V, t + 1, x) == rp_interval_at(c->m, V, t, x))
        rp_dense_row_free(&r);
    else
        expect(c, 15, r);
    r = row(c, 0);
    plus(&r, 1, V, t, x);
    plus_readable(&r, -1, t, x);
    plus(&r, -1, O, t - 1, x);
    expect(c, 17, r);
}

static void expect_rows_about_v(struct check *c) {
    for (uint32_t t = 0; t <= c->p->n_ops; t++) {
        expect_reads_available(c, t);
        if (t < c->p->n_ops)
            expect_room(c, t);
    }
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        for (uint32_t t = c->p->producer[x] + 1; t <= c->p->n_ops; t++)
            expect_available(c, t, x);
}

static bool has_right_rows(const struct rp_small_model *w) {
    struct check c = {.m = &w->m, .p = &w->p, .good = true};
    for (uint32_t t = 0; t <= w->p.n_ops; t++) {
        expect_stage(&c, t);
        if (t < w->p.n_ops)
            expect_memory(&c, t);
    }
    for (uint32_t x = 0; x < w->p.n_tensors; x++)
        for (uint32_t t = w->p.producer[x] + 1; t <= w->p.n_ops; t++)
            expect_tensor(&c, t, x);
    if (w->p.out_ns != NULL)
        expect_host(&c);
    c.good = c.good && (w->p.out_ns != NULL) == (w->m.room_bytes != NULL);
    if (w->m.room_bytes != NULL && c.good)
        expect_rows_about_v(&c);
    return c.good && c.n == w->m.rows.n && c.empty == w->m.empty;
}

static void columns_and_rows_are_those_of_the_header(void) {
    uint32_t n = 300, n_empty = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_small_model w;
        rp_small_model_init(&w, seed);
        n_empty += w.m.empty;
        if (!has_right_columns(&w) || !has_right_rows(&w)) {
            rp_gen_failed(seed);
            CU_FAIL("another column or row");
        }
        rp_small_model_fini(&w);
    }
    CU_ASSERT(rp_gen_one_seed() || n_empty > 0);
}

/* ---- small coefficients ---- */

/* x0 + x1 / 8 - x2 / 8 <= 1, with x2 up to 16. Without its small terms it
 * allows 2 more. */
static void rows_without_small_terms_are_weaker(void) {
    static const double most[] = {1, 1, 16}, coef[] = {1, 0.125, -0.125};
    static const struct rp_row_name name = {RP_ROW_OTHER, 0, RP_NONE, RP_NONE, 0};
    struct rp_row_set rows = {0};
    rp_row_set_drop_small(&rows, 0, 1, most);
    CU_ASSERT(rows.n == 0 && rows.n_terms == 0);
    for (int i = 0; i < 3; i++) {
        rp_row_set_begin(&rows, name, 1);
        for (uint32_t j = 0; j < 3; j++)
            rp_row_set_term(&rows, i == 2 ? 2 - j : j, i == 2 ? coef[2 - j] : coef[j]);
    }
    rp_row_set_drop_small(&rows, 0, 0.125, most);
    CU_ASSERT(rows.n_terms == 9 && rows.rhs[0] == 1);
    rp_row_set_drop_small(&rows, 1, 0.25, most);
    CU_ASSERT(rows.start[1] == 3 && rows.start[2] == 4 && rows.start[3] == 5);
    CU_ASSERT(rows.n_terms == 5 && rows.rhs[0] == 1);
    CU_ASSERT(rows.rhs[1] == 3 && rows.rhs[2] == 3);
    for (uint32_t k = 3; k < 5; k++)
        CU_ASSERT(rows.col[k] == 0 && rows.coef[k] == 1);
    rp_row_set_fini(&rows);
}

void suite_interval_rows(void) {
    RP_SUITE("interval_rows");
    RP_TEST(columns_and_rows_are_those_of_the_header);
    RP_TEST(rows_without_small_terms_are_weaker);
}
