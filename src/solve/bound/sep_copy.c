#include "solve/bound/sep_copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

#define LEAST_SHARE 2e-4 /* of the right side: what a row must be violated by */

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
}

void rp_sep_copy_fini(struct rp_sep_copy *s) {
    free(s->before_ns);
    free(s->beside);
    free(s->next);
    free(s->due);
    free(s->from);
    *s = (struct rp_sep_copy){0};
}

void rp_sep_copy_stages(const struct rp_formulation *f, struct rp_row_set *rows) {
    const struct rp_instance *p = f->instance;
    double unit = (double)f->slack_ns * f->time_scale;
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

/* How long a copy of this many bytes takes at that rate. Infinitely fast ones take none. */
static uint64_t copy_ns(struct rp_copy_rate rate, uint64_t bytes, bool round_up) {
    unsigned __int128 product = (unsigned __int128)bytes * rate.ns;
    return (uint64_t)((product + (round_up ? rate.bytes - 1 : 0)) / rate.bytes);
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
    uint64_t used = p->workspace_bytes[k];
    for (uint32_t i = p->input_start[k]; i < p->input_start[k + 1]; i++)
        used += p->bytes[p->inputs[i]];
    for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
        used += p->bytes[x];
    return used < p->limit_bytes ? p->limit_bytes - used : 0;
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

/* What x adds to the left side at the point. */
static double left_of(const struct rp_sep_copy *s, const struct moment *m, uint32_t x,
                      struct rp_copy_rate rate, const double *v) {
    const struct rp_formulation *f = s->formulation;
    return s->beside[x]
               ? 0
               : rp_formulation_value(v, rp_formulation_held(f, m->b + 1, x)) *
                     (double)copy_ns(rate, f->instance->bytes[x], false) * f->time_scale;
}

static double extra_of(const struct rp_formulation *f, uint32_t t, const double *v) {
    return v[rp_formulation_extra(f, t)] * (double)f->slack_ns * f->time_scale;
}

static double scaled_room(const struct rp_sep_copy *s, const struct moment *m,
                          struct rp_copy_rate rate) {
    return (double)copy_ns(rate, m->room_bytes, true) * s->formulation->time_scale;
}

/* Starts a row whose right side is the room, these ns, and E of stages first to last. */
static void begin_row(const struct rp_sep_copy *s, const struct moment *m,
                      struct rp_copy_rate rate, uint64_t ns, uint32_t first, uint32_t last,
                      struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_COPY, m->b, m->k, RP_NONE, 0},
                     (double)(copy_ns(rate, m->room_bytes, true) + ns) * f->time_scale);
    for (uint32_t t = first; t <= last; t++)
        rp_row_set_term(rows, rp_formulation_extra(f, t),
                        -(double)f->slack_ns * f->time_scale);
}

static void add_tensor(const struct rp_sep_copy *s, const struct moment *m, uint32_t x,
                       struct rp_copy_rate rate, struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    uint64_t ns = copy_ns(rate, f->instance->bytes[x], false);
    if (!s->beside[x] && ns > 0)
        rp_row_set_term(rows, rp_formulation_held(f, m->b + 1, x),
                        (double)ns * f->time_scale);
}

/* ---- (9) ---- */

static uint32_t find_in(struct rp_sep_copy *s, const struct moment *m, const double *v,
                        struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    uint32_t last = p->n_ops;
    double room = scaled_room(s, m, s->in), most = 0;
    memset(s->from, 0, ((size_t)p->n_ops + 1) * sizeof *s->from);
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        s->from[s->due[x]] += left_of(s, m, x, s->in, v);
    double left = s->from[m->k], extra = 0;
    for (uint32_t d = m->k + 1; d < p->n_ops; d++) {
        if (f->stage_of[d] > f->stage_of[d - 1])
            extra += extra_of(f, f->stage_of[d], v);
        left += s->from[d];
        double right = room + extra +
                       (double)(s->before_ns[d] - s->before_ns[m->k + 1]) * f->time_scale;
        if (left - right > most + LEAST_SHARE * right) {
            most = left - right;
            last = d;
        }
    }
    if (last == p->n_ops)
        return 0;
    begin_row(s, m, s->in, s->before_ns[last] - s->before_ns[m->k + 1], m->b + 1,
              f->stage_of[last], rows);
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        if (s->due[x] <= last)
            add_tensor(s, m, x, s->in, rows);
    return 1;
}

/* ---- (10) ---- */

static uint32_t find_out(struct rp_sep_copy *s, const struct moment *m, const double *v,
                         struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    const struct rp_instance *p = f->instance;
    uint32_t first = p->n_ops;
    double room = scaled_room(s, m, s->out), most = 0, left = 0, extra = 0;
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        left += p->pinned[x] ? left_of(s, m, x, s->out, v) : 0;
    for (uint32_t a = m->k; a-- > 0;) {
        if (a + 1 == m->k || f->stage_of[a + 2] > f->stage_of[a + 1])
            extra += extra_of(f, f->stage_of[a + 1], v);
        for (uint32_t x = p->output_start[a]; x < p->output_start[a + 1]; x++)
            left += p->pinned[x] ? 0 : left_of(s, m, x, s->out, v);
        double right = room + extra +
                       (double)(s->before_ns[m->k] - s->before_ns[a + 1]) * f->time_scale;
        if (left - right > most + LEAST_SHARE * right) {
            most = left - right;
            first = a;
        }
    }
    if (first == p->n_ops)
        return 0;
    begin_row(s, m, s->out, s->before_ns[m->k] - s->before_ns[first + 1],
              f->stage_of[first + 1], m->b, rows);
    for (uint32_t x = 0; x < p->output_start[m->k]; x++)
        if (p->producer[x] >= first || p->pinned[x])
            add_tensor(s, m, x, s->out, rows);
    return 1;
}

uint32_t rp_sep_copy_find(struct rp_sep_copy *s, const double *v, struct rp_row_set *rows) {
    const struct rp_formulation *f = s->formulation;
    uint32_t n = 0;
    memset(s->next, 0, f->instance->n_tensors * sizeof *s->next);
    for (uint32_t b = 0; b < f->n_stages; b++) {
        struct moment m = begin_moment(s, b);
        if (s->in.bytes > 0)
            n += find_in(s, &m, v, rows);
        if (s->out.bytes > 0)
            n += find_out(s, &m, v, rows);
        mark_working_set(s, m.k, false);
    }
    return n;
}
