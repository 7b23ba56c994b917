#include "solve/bound/sep_copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

#define LEAST_SHARE 2e-4 /* of the right side: what a row must be violated by */
#define MAX_LENGTHS 8    /* that a row is rounded by */
#define FRACTIONAL 1e-3  /* what such a column is away from 0 and 1 */

/* Per tensor: how long its copy takes at that rate. NULL if nothing has bytes. */
static uint64_t *copy_times(const struct rp_instance *p, struct rp_copy_rate rate) {
    if (rate.bytes == 0)
        return NULL;
    uint64_t *ns = rp_calloc(p->n_tensors, sizeof *ns);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        ns[x] = rp_copy_rate_ns(rate, p->bytes[x], false);
    return ns;
}

void rp_sep_copy_init(struct rp_sep_copy *s, const struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    *s = (struct rp_sep_copy){.formulation = f,
                              .in = rp_copy_rate_best(p, p->in_ns),
                              .out = rp_copy_rate_best(p, p->out_ns)};
    s->before_ns = rp_calloc((size_t)p->n_ops + 1, sizeof *s->before_ns);
    s->beside = rp_calloc(p->n_tensors, sizeof *s->beside);
    s->next = rp_calloc(p->n_tensors, sizeof *s->next);
    s->due = rp_calloc(p->n_tensors, sizeof *s->due);
    s->from = rp_calloc((size_t)p->n_ops + 1, sizeof *s->from);
    for (uint32_t j = 0; j < p->n_ops; j++)
        s->before_ns[j + 1] = s->before_ns[j] + p->time_ns[j];
    for (uint32_t x = 0; x < p->n_tensors; x++)
        s->all_bytes += p->bytes[x];
    s->in_ns = copy_times(p, s->in);
    s->out_ns = copy_times(p, s->out);
}

void rp_sep_copy_fini(struct rp_sep_copy *s) {
    free(s->in_ns);
    free(s->out_ns);
    free(s->before_ns);
    free(s->beside);
    free(s->next);
    free(s->due);
    free(s->from);
    free(s->terms.at);
    *s = (struct rp_sep_copy){0};
}

void rp_sep_copy_stages(const struct rp_formulation *f, struct rp_row_set *rows) {
    const struct rp_instance *p = f->instance;
    double unit = rp_formulation_slack(f);
    for (uint32_t t = 0; t < f->n_stages; t++) {
        rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_EXTRA, t, RP_NONE, RP_NONE, 0},
                         0);
        rp_row_set_term(rows, rp_formulation_extra(f, t), unit);
        rp_row_set_term(rows, rp_formulation_wait(f, t), -unit);
        for (uint32_t j = 0; j < p->n_ops && f->stage_of[j] < t; j++)
            if (p->time_ns[j] > 0)
                rp_row_set_term(rows, rp_formulation_run(f, t, j),
                                -(double)p->time_ns[j] * f->time_scale);
    }
}

/* ---- the moment when op k runs ---- */

/* A stage b, and what rows (9) and (10) of it need. */
struct moment {
    uint32_t b, k;
    uint64_t room_bytes;
};

static void mark_working_set(struct rp_sep_copy *s, uint32_t k, bool value) {
    const struct rp_instance *p = s->formulation->instance;
    for (uint32_t i = p->input_start[k]; i < p->input_start[k + 1]; i++)
        s->beside[p->inputs[i]] = value;
    for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
        s->beside[x] = value;
}

static uint64_t find_room(const struct rp_sep_copy *s, uint32_t k) {
    const struct rp_instance *p = s->formulation->instance;
    return p->limit_bytes - rp_min_u64(rp_instance_op_bytes(p, k), p->limit_bytes);
}

/* The op that x has to be on the device for, if S[b+1][x] = 1: that of the next first run
 * that reads it, or the last one of the stages that can want it. */
static uint32_t find_due(struct rp_sep_copy *s, uint32_t k, uint32_t x) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    uint32_t due = f->s_last[x] < f->n_stages ? f->last_op[f->s_last[x]] : p->n_ops;
    uint32_t *next = &s->next[x], n = p->reader_start[x + 1] - p->reader_start[x];
    while (*next < n && p->readers[p->reader_start[x] + *next] <= k)
        ++*next;
    return *next < n ? rp_min_u32(due, p->readers[p->reader_start[x] + *next]) : due;
}

static struct moment begin_moment(struct rp_sep_copy *s, uint32_t b) {
    const struct rp_formulation *f = s->formulation;
    struct moment m = {
        .b = b, .k = f->last_op[b], .room_bytes = find_room(s, f->last_op[b])};
    mark_working_set(s, m.k, true);
    for (uint32_t x = 0; x < f->instance->output_start[m.k]; x++)
        s->due[x] = f->instance->pinned[x] ? m.k : find_due(s, m.k, x);
    return m;
}

/* E[t] at the point. */
static double extra_ns(const struct rp_formulation *f, uint32_t t, const double *v) {
    return v[rp_formulation_extra(f, t)] * (double)f->slack_ns;
}

/* What x adds to the left side at the point. */
static double left_ns(const struct rp_sep_copy *s, const struct moment *m, uint32_t x,
                      const uint64_t *copy_ns, const double *v) {
    if (s->beside[x])
        return 0;
    return rp_formulation_value(v, rp_formulation_held(s->formulation, m->b + 1, x)) *
           (double)copy_ns[x];
}

/* ---- windows ---- */

/* Keeps the windows of least slack. */
static void offer(struct rp_sep_copy *s, struct rp_copy_window w, double left) {
    uint32_t i = s->n_windows;
    w.slack_ns = (double)w.right_ns + w.extra_ns - left;
    if (i < RP_COPY_WINDOWS)
        s->n_windows++;
    else if (s->window[--i].slack_ns <= w.slack_ns)
        return;
    for (; i > 0 && s->window[i - 1].slack_ns > w.slack_ns; i--)
        s->window[i] = s->window[i - 1];
    s->window[i] = w;
}

static void find_windows_in(struct rp_sep_copy *s, const struct moment *m,
                            const double *v) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    memset(s->from, 0, ((size_t)p->n_ops + 1) * sizeof *s->from);
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        s->from[s->due[x]] += left_ns(s, m, x, s->in_ns, v);
    double left = s->from[m->k], extra = 0;
    uint64_t room_ns = rp_copy_rate_ns(s->in, m->room_bytes, true);
    for (uint32_t d = m->k + 1; d < p->n_ops; d++) {
        if (f->stage_of[d] > f->stage_of[d - 1])
            extra += extra_ns(f, f->stage_of[d], v);
        left += s->from[d];
        if (s->from[d] > 0)
            offer(s,
                  (struct rp_copy_window){.op = d,
                                          .first = m->b + 1,
                                          .last = f->stage_of[d],
                                          .right_ns = (int64_t)(room_ns + s->before_ns[d] -
                                                                s->before_ns[m->k + 1]),
                                          .extra_ns = extra},
                  left);
    }
}

static void find_windows_out(struct rp_sep_copy *s, const struct moment *m,
                             const double *v) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    double left = 0, extra = 0;
    uint64_t room_ns = rp_copy_rate_ns(s->out, m->room_bytes, true);
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        left += p->pinned[x] ? left_ns(s, m, x, s->out_ns, v) : 0;
    for (uint32_t a = m->k; a-- > 0;) {
        double made = 0;
        if (a + 1 == m->k || f->stage_of[a + 2] > f->stage_of[a + 1])
            extra += extra_ns(f, f->stage_of[a + 1], v);
        for (uint32_t x = p->output_start[a]; x < p->output_start[a + 1]; x++)
            made += p->pinned[x] ? 0 : left_ns(s, m, x, s->out_ns, v);
        left += made;
        if (made > 0)
            offer(s,
                  (struct rp_copy_window){
                      .op = a,
                      .first = f->stage_of[a + 1],
                      .last = m->b,
                      .right_ns =
                          (int64_t)(room_ns + s->before_ns[m->k] - s->before_ns[a + 1]),
                      .extra_ns = extra},
                  left);
    }
}

static void list_terms(struct rp_sep_copy *s, const struct moment *m,
                       const struct rp_copy_window *w, bool in, const double *v) {
    const struct rp_instance *p = s->formulation->instance;
    s->terms.n = 0;
    for (uint32_t x = 0; x < p->output_start[m->k]; x++) {
        bool counts = in ? s->due[x] <= w->op : p->producer[x] >= w->op || p->pinned[x];
        uint32_t col = rp_formulation_held(s->formulation, m->b + 1, x);
        uint64_t ns = (in ? s->in_ns : s->out_ns)[x];
        if (counts && !s->beside[x] && ns > 0 && col != RP_COL_ZERO)
            rp_push(&s->terms, ((struct rp_copy_term){x, col, (int64_t)ns,
                                                      rp_formulation_value(v, col)}));
    }
}

/* ---- rounding ---- */

/* (11) for a length: what it needs of the right side. Length 0: the row as it is. */
struct rounding {
    int64_t length_ns, rest_ns, whole; /* l, r, and floor(c / l) */
};

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* The coefficient, or right side, that (11) makes of this one. */
static int64_t rounded(const struct rounding *r, int64_t ns) {
    if (r->length_ns == 0)
        return ns;
    int64_t whole = floor_div(ns, r->length_ns), rest = ns - whole * r->length_ns;
    return (r->length_ns - r->rest_ns) * whole +
           (rest > r->rest_ns ? rest - r->rest_ns : 0);
}

static bool is_complemented(const struct rounding *r, const struct rp_copy_term *t) {
    return r->length_ns > 0 && (t->col == RP_COL_ONE || t->value > 0.5);
}

static struct rounding no_rounding(const struct rp_copy_window *w) {
    return (struct rounding){0, 0, w->right_ns};
}

static struct rounding make_rounding(const struct rp_sep_copy *s,
                                     const struct rp_copy_window *w, int64_t length_ns) {
    struct rounding r = {.length_ns = length_ns};
    int64_t right = w->right_ns;
    for (size_t i = 0; i < s->terms.n; i++)
        right -= is_complemented(&r, &s->terms.at[i]) ? s->terms.at[i].ns : 0;
    r.whole = floor_div(right, length_ns);
    r.rest_ns = right - r.whole * length_ns;
    return r;
}

static int64_t right_ns(const struct rounding *r) {
    return r->length_ns == 0 ? r->whole : (r->length_ns - r->rest_ns) * r->whole;
}

/* By how much the point violates the row. */
static double violation_ns(const struct rp_sep_copy *s, const struct rp_copy_window *w,
                           const struct rounding *r) {
    double sum = -w->extra_ns - (double)right_ns(r);
    for (size_t i = 0; i < s->terms.n; i++) {
        const struct rp_copy_term *t = &s->terms.at[i];
        sum += is_complemented(r, t) ? (double)rounded(r, -t->ns) * (1 - t->value)
                                     : (double)rounded(r, t->ns) * t->value;
    }
    return sum;
}

static bool is_fractional(const struct rp_copy_term *t) {
    return t->value > FRACTIONAL && t->value < 1 - FRACTIONAL;
}

/* Has no term before term i its length? */
static bool is_first_of_length(const struct rp_sep_copy *s, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (s->terms.at[k].ns == s->terms.at[i].ns && is_fractional(&s->terms.at[k]))
            return false;
    return true;
}

/* The row of a window that is violated most: as it is, or rounded by the length of a copy
 * that is fractional at the point. *most is by how much. */
static struct rounding choose_rounding(const struct rp_sep_copy *s,
                                       const struct rp_copy_window *w, double *most) {
    struct rounding best = no_rounding(w);
    uint32_t n_tried = 0;
    *most = -w->slack_ns;
    for (size_t i = 0; i < s->terms.n && n_tried < MAX_LENGTHS; i++) {
        if (!is_fractional(&s->terms.at[i]) || !is_first_of_length(s, i))
            continue;
        struct rounding r = make_rounding(s, w, s->terms.at[i].ns);
        double by = violation_ns(s, w, &r);
        n_tried++;
        if (by > *most) {
            *most = by;
            best = r;
        }
    }
    return best;
}

/* ---- rows ---- */

static void write_row(const struct rp_sep_copy *s, const struct moment *m,
                      const struct rp_copy_window *w, const struct rounding *r, bool in,
                      struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_COPY, m->b, w->op, RP_NONE, in},
                     (double)right_ns(r) * f->time_scale);
    rp_row_set_detail(rows, (uint32_t)r->length_ns);
    rp_row_set_detail(rows, (uint32_t)(r->length_ns >> 32));
    for (uint32_t t = w->first; t <= w->last; t++)
        rp_row_set_term(rows, rp_formulation_extra(f, t), -rp_formulation_slack(f));
    for (size_t i = 0; i < s->terms.n; i++) {
        const struct rp_copy_term *t = &s->terms.at[i];
        bool is_turned = is_complemented(r, t);
        double coef = (double)rounded(r, is_turned ? -t->ns : t->ns) * f->time_scale;
        if (is_turned) {
            rp_row_set_detail(rows, t->x);
            rp_row_set_term(rows, RP_COL_ONE, coef);
        }
        if (coef != 0)
            rp_row_set_term(rows, t->col, is_turned ? -coef : coef);
    }
}

/* Appends the most violated row of the windows. */
static uint32_t add_row(struct rp_sep_copy *s, const struct moment *m, bool in,
                        const double *v, struct rp_row_set *rows) {
    struct rounding best = {0};
    const struct rp_copy_window *at = NULL;
    double most = 0;
    for (uint32_t i = 0; i < s->n_windows; i++) {
        const struct rp_copy_window *w = &s->window[i];
        double by;
        list_terms(s, m, w, in, v);
        struct rounding r = choose_rounding(s, w, &by);
        if (by > most && by > LEAST_SHARE * ((double)w->right_ns + w->extra_ns)) {
            most = by;
            best = r;
            at = w;
        }
    }
    s->n_windows = 0;
    if (at == NULL)
        return 0;
    list_terms(s, m, at, in, v);
    write_row(s, m, at, &best, in, rows);
    return 1;
}

uint32_t rp_sep_copy_find(struct rp_sep_copy *s, const double *v, struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    uint32_t n = 0;
    memset(s->next, 0, f->instance->n_tensors * sizeof *s->next);
    for (uint32_t b = 0; b < f->n_stages; b++) {
        struct moment m = begin_moment(s, b);
        bool is_tight = m.room_bytes < s->all_bytes; /* so as time it is below 2^51 ns */
        if (is_tight && s->in_ns != NULL) {
            find_windows_in(s, &m, v);
            n += add_row(s, &m, true, v, rows);
        }
        if (is_tight && s->out_ns != NULL) {
            find_windows_out(s, &m, v);
            n += add_row(s, &m, false, v, rows);
        }
        mark_working_set(s, m.k, false);
    }
    return n;
}
