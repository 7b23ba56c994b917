#include "solve/milp/interval_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/swap_relaxation.h"

/* Times are scaled so that the longest op takes about 1, or, where copies take far longer
 * than ops, so that the slack is at most this. With larger coefficients beside those of
 * ops, an engine's absolute tolerances make it call programs infeasible that are not. */
#define MAX_SPAN 2048

/* ---- rows in the making ---- */

void rp_interval_row_init(struct rp_interval_row *r, const struct rp_interval_model *m) {
    *r = (struct rp_interval_row){.model = m};
    r->sum = rp_calloc(m->n_cols, sizeof *r->sum);
    r->is_used = rp_calloc(m->n_cols, sizeof *r->is_used);
    r->used = rp_calloc(m->n_cols, sizeof *r->used);
}

void rp_interval_row_fini(struct rp_interval_row *r) {
    free(r->sum);
    free(r->is_used);
    free(r->used);
    *r = (struct rp_interval_row){0};
}

void rp_interval_row_add(struct rp_interval_row *r, double coef, enum rp_interval_kind kind,
                         uint32_t t, uint32_t id) {
    uint32_t col = rp_interval_at(r->model, kind, t, id);
    if (col == RP_COL_ONE)
        r->constant += coef;
    if (col == RP_COL_ONE || col == RP_COL_ZERO)
        return;
    if (!r->is_used[col])
        r->used[r->n_used++] = col;
    r->is_used[col] = true;
    r->sum[col] += coef;
}

void rp_interval_row_add_h(struct rp_interval_row *r, double coef, uint32_t t, uint32_t x) {
    rp_interval_row_add(r, coef, RP_INTERVAL_S, t, x);
    rp_interval_row_add(r, -coef, RP_INTERVAL_F, t, x);
}

void rp_interval_row_add_d(struct rp_interval_row *r, double coef, uint32_t first,
                           uint32_t last) {
    for (uint32_t u = first; u <= last; u++)
        rp_interval_row_add(r, coef, RP_INTERVAL_D, u, 0);
}

static double largest(const struct rp_interval_model *m, uint32_t col) {
    return m->col[col].kind == RP_INTERVAL_D ? m->span : 1;
}

int rp_interval_row_end(struct rp_interval_row *r, double rhs, struct rp_row_set *rows) {
    static const struct rp_row_name name = {RP_ROW_OTHER, 0, RP_NONE, RP_NONE, 0};
    double low = 0, high = 0;
    rhs -= r->constant;
    for (uint32_t k = 0; k < r->n_used; k++) {
        double most = r->sum[r->used[k]] * largest(r->model, r->used[k]);
        low += fmin(most, 0);
        high += fmax(most, 0);
    }
    if (high > rhs) {
        rp_row_set_begin(rows, name, rhs);
        for (uint32_t k = 0; k < r->n_used; k++)
            if (r->sum[r->used[k]] != 0)
                rp_row_set_term(rows, r->used[k], r->sum[r->used[k]]);
    }
    for (; r->n_used > 0; r->n_used--) {
        uint32_t col = r->used[r->n_used - 1];
        r->sum[col] = 0;
        r->is_used[col] = false;
    }
    r->constant = 0;
    return high <= rhs ? 0 : low > rhs * (1 + 1e-9) + 1e-6 ? -1 : 1;
}

/* ---- columns ---- */

static uint32_t *slot(struct rp_interval_model *m, enum rp_interval_kind kind, uint32_t t,
                      uint32_t id) {
    return &m->at[kind][rp_interval_cell(m->instance, kind, t, id)];
}

static void add_col(struct rp_interval_model *m, enum rp_interval_kind kind, uint32_t t,
                    uint32_t id) {
    if ((m->n_cols & (m->n_cols - 1)) == 0)
        m->col =
            rp_realloc(m->col, m->n_cols > 0 ? 2 * (size_t)m->n_cols : 1, sizeof *m->col);
    m->col[m->n_cols] = (struct rp_interval_col){kind, t, id};
    *slot(m, kind, t, id) = m->n_cols++;
}

/* A column, or what the scope says of it. Those of an op or tensor are added in order. */
static void open_col(struct rp_interval_model *m, const struct rp_interval_scope *scope,
                     enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    uint8_t known = RP_INTERVAL_OPEN;
    if (scope != NULL && scope->known[kind] != NULL)
        known = scope->known[kind][rp_interval_cell(m->instance, kind, t, id)];
    if (known == RP_INTERVAL_OPEN)
        add_col(m, kind, t, id);
    else if (known == RP_INTERVAL_AS_BEFORE)
        *slot(m, kind, t, id) = *slot(m, kind, t - 1, id);
    else if (known == RP_INTERVAL_ONE)
        *slot(m, kind, t, id) = RP_COL_ONE;
}

/* May stage t read x? The end of the step reads what is kept. */
static bool may_read(const struct rp_interval_model *m, uint32_t t, uint32_t x) {
    const struct rp_instance *p = m->instance;
    if (t == p->n_ops && p->kept[x])
        return true;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (rp_interval_at(m, RP_INTERVAL_R, t, p->readers[k]) != RP_COL_ZERO)
            return true;
    return false;
}

static void add_runs(struct rp_interval_model *m, const struct rp_interval_reach *c,
                     const struct rp_interval_scope *scope) {
    const struct rp_instance *p = m->instance;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        if (j >= m->first && j <= m->last)
            *slot(m, RP_INTERVAL_R, j, j) = RP_COL_ONE;
        for (uint32_t t = rp_max_u32(j + 1, m->first);
             t <= c->r_last[j] && p->time_ns[j] <= c->window.most_ns; t++)
            open_col(m, scope, RP_INTERVAL_R, t, j);
    }
}

static void add_holds(struct rp_interval_model *m, const struct rp_interval_reach *c,
                      const struct rp_interval_scope *scope) {
    const struct rp_instance *p = m->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        bool stays = p->pinned[x] || p->bytes[x] == 0 || c->is_assumed[x];
        for (uint32_t t = rp_max_u32(p->producer[x] + 1, m->first); t <= c->s_last[x];
             t++) {
            if (stays)
                *slot(m, RP_INTERVAL_S, t, x) = RP_COL_ONE;
            else if (rp_interval_fits(c, t, x))
                open_col(m, scope, RP_INTERVAL_S, t, x);
        }
        if (p->kept[x] && m->last == p->n_ops)
            *slot(m, RP_INTERVAL_S, p->n_ops + 1, x) = RP_COL_ONE;
    }
}

/* The columns of a tensor's copies. Its copy out takes until some first stage, and it can
 * be read in those after that which leave time for both copies. */
static void add_copies_of(struct rp_interval_model *m, const struct rp_interval_reach *c,
                          const struct rp_interval_scope *scope, uint32_t x) {
    const struct rp_instance *p = m->instance;
    uint32_t maker = p->producer[x], first = maker + 1, last = 0;
    double out_ns = (double)p->out_ns[x], both_ns = out_ns + (double)p->in_ns[x];
    while (first < c->s_last[x] &&
           rp_interval_between_ns(c, maker, first) + c->slack_ns < out_ns)
        first++;
    first = rp_max_u32(first, rp_interval_first_op(m));
    for (uint32_t t = rp_max_u32(first, m->first); t <= c->s_last[x]; t++)
        if (may_read(m, t, x) &&
            rp_interval_between_ns(c, maker, t) + c->slack_ns >= both_ns) {
            open_col(m, scope, RP_INTERVAL_U, t, x);
            last = t;
        }
    for (uint32_t t = first; t <= last; t++) {
        open_col(m, scope, RP_INTERVAL_O, t, x);
        if (t > first && t >= m->first &&
            rp_interval_at(m, RP_INTERVAL_S, t, x) != RP_COL_ZERO)
            open_col(m, scope, RP_INTERVAL_F, t, x);
    }
    /* O[0] is 0, and so are all of a tensor that is never copied in. */
    for (uint32_t t = last + 1; t <= p->n_ops + 1; t++)
        *slot(m, RP_INTERVAL_O, t, x) = *slot(m, RP_INTERVAL_O, last, x);
}

/* The last stage that may read x; 0: none. */
static uint32_t last_read(const struct rp_interval_model *m,
                          const struct rp_interval_reach *c, uint32_t x) {
    uint32_t t = c->s_last[x];
    while (t > 0 && !may_read(m, t, x))
        t--;
    return t;
}

/* The columns V of a tensor. Stages that can neither make nor read it do not change V. */
static void add_available(struct rp_interval_model *m, const struct rp_interval_reach *c,
                          uint32_t x) {
    const struct rp_instance *p = m->instance;
    uint32_t maker = p->producer[x];
    for (uint32_t t = last_read(m, c, x); t > maker; t--) {
        bool remade = rp_interval_at(m, RP_INTERVAL_R, t, maker) != RP_COL_ZERO;
        uint32_t after = rp_interval_at(m, RP_INTERVAL_V, t + 1, x);
        if (!remade && (after == RP_COL_ONE || rp_interval_must_read(p, t, x)))
            *slot(m, RP_INTERVAL_V, t, x) = RP_COL_ONE;
        else if (!remade && !may_read(m, t, x))
            *slot(m, RP_INTERVAL_V, t, x) = after;
        else
            add_col(m, RP_INTERVAL_V, t, x);
    }
}

static void find_room(struct rp_interval_model *m, const struct rp_interval_reach *c) {
    const struct rp_instance *p = m->instance;
    uint32_t *last = rp_calloc(p->n_tensors, sizeof *last);
    uint64_t *room = rp_calloc(2 * (size_t)p->n_ops, sizeof *room);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        last[x] = last_read(m, c, x);
    rp_swap_relaxation_limits(p, last, m->horizon_ns, room);
    m->room_bytes = room;
    free(last);
}

static void add_columns(struct rp_interval_model *m, const struct rp_interval_reach *c,
                        const struct rp_interval_scope *scope) {
    const struct rp_instance *p = m->instance;
    for (int kind = 0; kind < RP_INTERVAL_KINDS; kind++) {
        size_t n = rp_interval_cells(p, kind);
        m->at[kind] = rp_calloc(n, sizeof *m->at[kind]);
        for (size_t i = 0; i < n; i++)
            m->at[kind][i] = RP_COL_ZERO;
    }
    add_runs(m, c, scope);
    add_holds(m, c, scope);
    for (uint32_t x = 0; x < p->n_tensors && p->out_ns != NULL; x++)
        if (!p->pinned[x] && p->bytes[x] > 0 && !c->is_assumed[x])
            add_copies_of(m, c, scope, x);
    if (p->out_ns != NULL && scope == NULL && !rp_is_window(p, &c->window)) {
        for (uint32_t x = 0; x < p->n_tensors; x++)
            add_available(m, c, x);
        find_room(m, c);
    }
    m->n_integer = m->n_cols;
    for (uint32_t t = m->first; t <= m->last; t++)
        add_col(m, RP_INTERVAL_D, t, 0);
}

/* ---- rows ---- */

/* The rows of one model, and the one in the making. */
struct writer {
    struct rp_interval_model *m;
    struct rp_interval_row row;
};

static void end_row(struct writer *w, uint8_t number, double rhs) {
    struct rp_interval_model *m = w->m;
    int added = rp_interval_row_end(&w->row, rhs, &m->rows);
    m->empty = m->empty || added < 0;
    if (m->rows.n > m->cap_rows) {
        m->cap_rows = 2 * m->rows.n;
        m->row_number = rp_realloc(m->row_number, m->cap_rows, sizeof *m->row_number);
    }
    if (added != 0)
        m->row_number[m->rows.n - 1] = number;
}

static void add(struct writer *w, double coef, enum rp_interval_kind kind, uint32_t t,
                uint32_t id) {
    rp_interval_row_add(&w->row, coef, kind, t, id);
}

/* Q[t][x] */
static void add_due(struct writer *w, double coef, uint32_t t, uint32_t x) {
    add(w, coef, RP_INTERVAL_O, t, x);
    add(w, -coef, RP_INTERVAL_O, t - 1, x);
}

static void time_row(struct writer *w, uint32_t t) {
    const struct rp_instance *p = w->m->instance;
    for (uint32_t j = 0; j < t && j < p->n_ops; j++)
        add(w, (double)p->time_ns[j] * w->m->time_scale, RP_INTERVAL_R, t, j);
    add(w, -1, RP_INTERVAL_D, t, 0);
    end_row(w, 2, 0);
}

static void read_row(struct writer *w, uint32_t t, uint32_t j, uint32_t x) {
    if (rp_interval_at(w->m, RP_INTERVAL_R, t, j) == RP_COL_ZERO)
        return;
    add(w, 1, RP_INTERVAL_R, t, j);
    add(w, -1, RP_INTERVAL_R, t, w->m->instance->producer[x]);
    rp_interval_row_add_h(&w->row, -1, t, x);
    add(w, -1, RP_INTERVAL_U, t, x);
    end_row(w, 3, 0);
}

static void hold_row(struct writer *w, uint32_t t, uint32_t x) {
    uint32_t maker = w->m->instance->producer[x];
    if (rp_interval_at(w->m, RP_INTERVAL_S, t + 1, x) == RP_COL_ZERO)
        return;
    rp_interval_row_add_h(&w->row, 1, t + 1, x);
    rp_interval_row_add_h(&w->row, -1, t, x);
    add_due(w, 1, t, x);
    add(w, -1, RP_INTERVAL_R, t, maker);
    add(w, -1, RP_INTERVAL_U, t, x);
    end_row(w, 4, 0);
}

static void copy_rows(struct writer *w, uint32_t t, uint32_t x) {
    add(w, 1, RP_INTERVAL_F, t, x);
    add(w, -1, RP_INTERVAL_F, t + 1, x);
    add(w, -1, RP_INTERVAL_U, t, x);
    end_row(w, 5, 0);
    add(w, 1, RP_INTERVAL_F, t, x);
    add(w, -1, RP_INTERVAL_S, t, x);
    end_row(w, 5, 0);
    add(w, 1, RP_INTERVAL_F, t + 1, x);
    add(w, -1, RP_INTERVAL_O, t, x);
    end_row(w, 6, 0);
    add(w, 1, RP_INTERVAL_U, t, x);
    add(w, -1, RP_INTERVAL_O, t, x);
    end_row(w, 6, 0);
    add_due(w, -1, t, x);
    end_row(w, 6, 0);
}

/* (M7) for b = t and for b at the end; those between add little. */
static void due_rows(struct writer *w, uint32_t t, uint32_t x) {
    const struct rp_instance *p = w->m->instance;
    uint32_t last[] = {t, p->n_ops};
    for (int k = 0; k < 2; k++) {
        if (rp_interval_at(w->m, RP_INTERVAL_O, last[k], x) ==
            rp_interval_at(w->m, RP_INTERVAL_O, t - 1, x))
            continue; /* nothing is due: all points meet it */
        add(w, 1, RP_INTERVAL_O, last[k], x);
        add(w, -1, RP_INTERVAL_O, t - 1, x);
        rp_interval_row_add_h(&w->row, -1, t, x);
        for (uint32_t u = t; u <= last[k]; u++)
            add(w, -1, RP_INTERVAL_R, u, p->producer[x]);
        end_row(w, 7, 0);
    }
}

static void memory_row(struct writer *w, uint32_t t) {
    const struct rp_instance *p = w->m->instance;
    for (uint32_t x = 0; x < p->output_start[t]; x++)
        if (!rp_interval_touches(p, t, x))
            add(w, w->m->held_bytes[x], RP_INTERVAL_S, t + 1, x);
    end_row(w, 8, (double)p->limit_bytes * w->m->byte_scale - w->m->working_set[t]);
}

static void available_read_row(struct writer *w, uint32_t t, uint32_t j, uint32_t x) {
    if (rp_interval_at(w->m, RP_INTERVAL_R, t, j) == RP_COL_ZERO)
        return;
    add(w, 1, RP_INTERVAL_R, t, j);
    add(w, -1, RP_INTERVAL_R, t, w->m->instance->producer[x]);
    add(w, -1, RP_INTERVAL_V, t, x);
    end_row(w, 14, 0);
}

static void available_rows(struct writer *w, uint32_t t, uint32_t x) {
    if (rp_interval_at(w->m, RP_INTERVAL_V, t + 1, x) !=
        rp_interval_at(w->m, RP_INTERVAL_V, t, x)) {
        add(w, 1, RP_INTERVAL_V, t + 1, x);
        add(w, -1, RP_INTERVAL_V, t, x);
        add(w, -1, RP_INTERVAL_R, t, w->m->instance->producer[x]);
        end_row(w, 15, 0);
    }
    add(w, 1, RP_INTERVAL_V, t, x);
    rp_interval_row_add_h(&w->row, -1, t, x);
    add(w, -1, RP_INTERVAL_O, t - 1, x);
    end_row(w, 17, 0);
}

static void room_row(struct writer *w, uint32_t t) {
    const struct rp_instance *p = w->m->instance;
    for (uint32_t x = 0; x < p->output_start[t]; x++)
        if (!rp_interval_touches(p, t, x))
            add(w, w->m->held_bytes[x], RP_INTERVAL_V, t + 1, x);
    end_row(w, 16, (double)w->m->room_bytes[t] * w->m->byte_scale - w->m->working_set[t]);
}

static void add_available_rows(struct writer *w) {
    const struct rp_instance *p = w->m->instance;
    for (uint32_t t = 0; t <= p->n_ops; t++) {
        for (uint32_t j = 0; j <= t && j < p->n_ops; j++)
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
                available_read_row(w, t, j, p->inputs[k]);
        if (t < p->n_ops)
            room_row(w, t);
    }
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = p->producer[x] + 1; t <= p->n_ops; t++)
            available_rows(w, t, x);
}

static void host_row(struct writer *w) {
    const struct rp_instance *p = w->m->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        add(w, (double)p->bytes[x] * w->m->byte_scale, RP_INTERVAL_O, p->n_ops, x);
    end_row(w, 12, (double)p->host_limit_bytes * w->m->byte_scale);
}

static void add_rows(struct rp_interval_model *m) {
    const struct rp_instance *p = m->instance;
    struct writer w = {.m = m};
    rp_interval_row_init(&w.row, m);
    for (uint32_t t = rp_interval_first_op(m); t <= m->last; t++) {
        if (t >= m->first)
            time_row(&w, t);
        for (uint32_t j = 0; j <= t && j < p->n_ops && t >= m->first; j++)
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
                read_row(&w, t, j, p->inputs[k]);
        if (t < p->n_ops)
            memory_row(&w, t);
    }
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = rp_max_u32(p->producer[x] + 1, m->first); t <= m->last; t++) {
            hold_row(&w, t, x);
            if (p->out_ns == NULL)
                continue;
            copy_rows(&w, t, x);
            due_rows(&w, t, x);
        }
    if (p->out_ns != NULL)
        host_row(&w);
    if (m->room_bytes != NULL)
        add_available_rows(&w);
    rp_interval_row_fini(&w.row);
}

/* ---- the model ---- */

static uint64_t common_divisor_ns(const struct rp_instance *p) {
    uint64_t g = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        g = rp_gcd_u64(g, p->time_ns[j]);
    for (uint32_t x = 0; x < p->n_tensors && p->out_ns != NULL; x++)
        g = rp_gcd_u64(g, rp_gcd_u64(p->out_ns[x], p->in_ns[x]));
    return g == 0 ? 1 : g;
}

/* The power of two that brings x to [0.5, 1). */
static double scale_of(double x) {
    int exponent = 0;
    frexp(x, &exponent);
    return ldexp(1, -exponent);
}

static void init(struct rp_interval_model *m, const struct rp_instance *p,
                 uint64_t horizon_ns, struct rp_interval_window w,
                 const struct rp_interval_scope *scope) {
    struct rp_interval_reach c;
    uint64_t longest = 1, total = 0;
    *m = (struct rp_interval_model){.instance = p,
                                    .divisor_ns = common_divisor_ns(p),
                                    .first = w.first,
                                    .last = w.last};
    for (uint32_t j = 0; j < p->n_ops; j++) {
        total += p->time_ns[j];
        longest = rp_max_u64(longest, p->time_ns[j]);
    }
    horizon_ns -= horizon_ns % m->divisor_ns;
    uint64_t slack_ns = horizon_ns > total ? horizon_ns - total : 0;
    w.most_ns = rp_min_u64(w.most_ns - w.most_ns % m->divisor_ns, slack_ns);
    rp_interval_reach_init(&c, p, &w, slack_ns);
    m->horizon_ns = rp_min_u64(horizon_ns, total + w.most_ns);
    double most_ns = (double)w.most_ns;
    m->time_scale = 2 * scale_of(fmax((double)longest, most_ns / MAX_SPAN));
    m->byte_scale = 1024 * scale_of((double)p->limit_bytes);
    m->span = most_ns * m->time_scale;
    m->fixed_cost = (double)total * m->time_scale;
    m->since_start = rp_calloc((size_t)p->n_ops + 1, sizeof *m->since_start);
    for (uint32_t t = 0; t <= p->n_ops; t++)
        m->since_start[t] = c.before_ns[t] * m->time_scale;
    m->held_bytes = rp_calloc(p->n_tensors, sizeof *m->held_bytes);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        m->held_bytes[x] = c.is_assumed[x] ? 0 : (double)p->bytes[x] * m->byte_scale;
    m->working_set = rp_calloc(p->n_ops, sizeof *m->working_set);
    for (uint32_t j = 0; j < p->n_ops; j++)
        m->working_set[j] = (double)c.working_set[j] * m->byte_scale;
    add_columns(m, &c, scope);
    add_rows(m);
    rp_interval_reach_fini(&c);
}

void rp_interval_model_init_within(struct rp_interval_model *m, const struct rp_instance *p,
                                   uint64_t horizon_ns,
                                   const struct rp_interval_scope *scope) {
    struct rp_interval_window whole = {0, p->n_ops, UINT64_MAX, UINT32_MAX};
    init(m, p, horizon_ns, whole, scope);
}

void rp_interval_model_init_window(struct rp_interval_model *m, const struct rp_instance *p,
                                   uint64_t horizon_ns,
                                   const struct rp_interval_window *w) {
    init(m, p, horizon_ns, *w, NULL);
}

void rp_interval_model_init(struct rp_interval_model *m, const struct rp_instance *p,
                            uint64_t horizon_ns) {
    rp_interval_model_init_within(m, p, horizon_ns, NULL);
}

void rp_interval_model_fini(struct rp_interval_model *m) {
    for (int kind = 0; kind < RP_INTERVAL_KINDS; kind++)
        free(m->at[kind]);
    rp_row_set_fini(&m->rows);
    free(m->since_start);
    free(m->held_bytes);
    free(m->working_set);
    free(m->room_bytes);
    free(m->row_number);
    free(m->col);
    *m = (struct rp_interval_model){0};
}

/* ---- names ---- */

static char *plain(const char *name) {
    char *s = rp_strdup(name);
    for (char *c = s; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return s;
}

char *rp_interval_col_name(const struct rp_interval_model *m, uint32_t col) {
    const struct rp_instance *p = m->instance;
    const struct rp_interval_col *c = &m->col[col];
    if (c->kind == RP_INTERVAL_D)
        return rp_format("d_%u", c->t);
    char *name =
        plain(c->kind == RP_INTERVAL_R ? p->graph->ops[p->op_of[c->id]].name
                                       : p->graph->tensors[p->tensor_of[c->id]].name);
    char *full = rp_format("%c_%u_%u_%.40s", "RSFUOVd"[c->kind], c -> t, c -> id, name);
    free(name);
    return full;
}

char *rp_interval_row_name(const struct rp_interval_model *m, uint32_t row) {
    static const char *const word[] = {[2] = "time",       [3] = "read",
                                       [4] = "hold",       [5] = "flight",
                                       [6] = "host",       [7] = "due",
                                       [8] = "memory",     [12] = "host_limit",
                                       [14] = "available", [15] = "stays_available",
                                       [16] = "room",      [17] = "somewhere"};
    return rp_format("M%u_%s_%u", m->row_number[row], word[m->row_number[row]], row);
}
