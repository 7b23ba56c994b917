#include "solve/lp/sep_memory.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/lp/separation.h"

/* In scaled bytes, where the limit is 512 or more: well above what the simplex method takes
 * for zero, and far too little to make a difference to the bound. */
#define TOLERANCE 1e-3
#define TIE 1e-6 /* scaled bytes; smaller differences do not change the choice of k */

void rp_sep_memory_init(struct rp_sep_memory *m, const struct rp_formulation *f,
                        bool shadows) {
    const struct rp_instance *p = f->instance;
    *m = (struct rp_sep_memory){.formulation = f, .shadows = shadows};
    m->need = rp_calloc(p->n_tensors, sizeof *m->need);
    m->unseen = rp_calloc(p->n_tensors, sizeof *m->unseen);
    m->live = rp_calloc(p->n_tensors, sizeof *m->live);
    m->sum = rp_calloc(f->n_cols, sizeof *m->sum);
    m->used = rp_calloc(f->n_cols, sizeof *m->used);
}

void rp_sep_memory_fini(struct rp_sep_memory *m) {
    free(m->need);
    free(m->unseen);
    free(m->live);
    free(m->sum);
    free(m->used);
    *m = (struct rp_sep_memory){0};
}

/* Sets L of x from `need` (if it is made by now) and, where (4c) allows it, from S[t][x].
 * Keeps *total, the sum of scaled bytes, up to date. */
static void set_live(struct rp_sep_memory *m, uint32_t t, uint32_t x, const double *v,
                     bool made, double *total) {
    const struct rp_formulation *f = m->formulation;
    double live = made ? m->need[x] : 0;
    if (m->unseen[x] == 0)
        live = fmax(live, rp_formulation_value(v, rp_formulation_held(f, t, x)));
    *total += (live - m->live[x]) * (double)f->instance->bytes[x] * f->byte_scale;
    m->live[x] = live;
}

static void start_sweep(struct rp_sep_memory *m, uint32_t t, const double *v,
                        double *total) {
    const struct rp_formulation *f = m->formulation;
    const struct rp_instance *p = f->instance;
    uint32_t last = f->last_op[t];
    for (uint32_t x = 0; x < p->output_start[last + 1]; x++) {
        m->need[x] = rp_formulation_value(v, rp_formulation_held(f, t + 1, x));
        m->unseen[x] = 0;
        m->live[x] = 0;
        for (uint32_t k = p->reader_start[x];
             k < p->reader_start[x + 1] && p->readers[k] <= last; k++)
            m->unseen[x] += rp_formulation_may_run(f, t, p->readers[k]);
        set_live(m, t, x, v, true, total);
    }
}

/* The value of S[t][x] + R[t][k] - 1 where x adds term (4d) to the row of its maker k; 0 if
 * it does not. */
static double shadow(const struct rp_sep_memory *m, uint32_t t, uint32_t x,
                     const double *v) {
    const struct rp_formulation *f = m->formulation;
    uint32_t k = f->instance->producer[x];
    if (!m->shadows || v == NULL || f->instance->shadow_bytes[x] == 0)
        return 0;
    return fmax(0, rp_formulation_value(v, rp_formulation_held(f, t, x)) +
                       rp_formulation_value(v, rp_formulation_run(f, t, k)) - 1);
}

void rp_sep_memory_sweep(struct rp_sep_memory *m, uint32_t t, const double *v,
                         double *over) {
    const struct rp_formulation *f = m->formulation;
    const struct rp_instance *p = f->instance;
    double total = 0;
    start_sweep(m, t, v, &total);
    uint32_t last = f->last_op[t], first = rp_formulation_first_row(f, t);
    for (uint32_t k = last + 1; k-- > first;) {
        double run = rp_formulation_value(v, rp_formulation_run(f, t, k)), shadows = 0;
        if (rp_formulation_may_run(f, t, k))
            for (uint32_t i = p->input_start[k]; i < p->input_start[k + 1]; i++) {
                uint32_t x = p->inputs[i];
                m->need[x] = fmax(m->need[x], run);
                m->unseen[x]--;
                set_live(m, t, x, v, true, &total);
            }
        for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++) {
            m->need[x] = fmax(m->need[x], run);
            set_live(m, t, x, v, true, &total);
            shadows += shadow(m, t, x, v) * (double)p->bytes[x] * f->byte_scale;
        }
        over[k] = total + shadows + (double)p->workspace_bytes[k] * f->byte_scale * run -
                  rp_formulation_limit(f, t, k);
        for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
            set_live(m, t, x, v, false, &total); /* earlier ops run without it */
    }
}

/* A candidate term of one tensor and its value at the point. Without a point, the value is
 * a preference: constants, then S[t+1], then S[t], then runs. */
struct term {
    uint32_t what; /* as in a row's details */
    uint32_t col;
    double value;
};

static void consider(struct term *best, uint32_t what, uint32_t col, const double *v,
                     double preference) {
    double value = v != NULL            ? rp_formulation_value(v, col)
                   : col == RP_COL_ONE  ? 4
                   : col == RP_COL_ZERO ? 0
                                        : preference;
    /* A column of value 0 is still better than no term. */
    if (value > best->value || (best->col == RP_COL_ZERO && col != RP_COL_ZERO))
        *best = (struct term){what, col, value};
}

static struct term choose_term(const struct rp_formulation *f, uint32_t t, uint32_t k,
                               uint32_t x, const double *v) {
    const struct rp_instance *p = f->instance;
    struct term best = {.col = RP_COL_ZERO};
    uint32_t earlier = 0, maker = p->producer[x];
    if (maker <= k)
        consider(&best, RP_TERM_NEXT, rp_formulation_held(f, t + 1, x), v, 3);
    if (maker == k)
        consider(&best, k, rp_formulation_run(f, t, k), v, 1);
    for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
        uint32_t r = p->readers[i];
        if (r > f->last_op[t])
            break;
        if (r < k)
            earlier += rp_formulation_may_run(f, t, r);
        else if (maker <= k)
            consider(&best, r, rp_formulation_run(f, t, r), v, 1);
    }
    if (earlier == 0)
        consider(&best, RP_TERM_NOW, rp_formulation_held(f, t, x), v, 2);
    return best;
}

/* Adds bytes * col to the row being made. Coefficients of columns are collected in m->sum;
 * *n of them are in use. */
static void add_term(struct rp_sep_memory *m, uint32_t col, double bytes,
                     struct rp_row_set *rows, uint32_t *n) {
    if (col == RP_COL_ONE) {
        rp_row_set_term(rows, col, bytes);
    } else if (col != RP_COL_ZERO) {
        if (m->sum[col] == 0)
            m->used[(*n)++] = col;
        m->sum[col] += bytes;
    }
}

void rp_sep_memory_row(struct rp_sep_memory *m, uint32_t t, uint32_t k, const double *v,
                       struct rp_row_set *rows) {
    const struct rp_formulation *f = m->formulation;
    const struct rp_instance *p = f->instance;
    uint32_t n = 0;
    rp_row_set_begin(rows, (struct rp_row_name){RP_ROW_MEM, t, k, RP_NONE, 0},
                     rp_formulation_limit(f, t, k));
    uint32_t end = p->output_start[f->last_op[t] + 1];
    for (uint32_t x = 0; x <= end; x++) {
        bool last = x == end; /* after all tensors comes the workspace */
        uint64_t bytes = last ? p->workspace_bytes[k] : p->bytes[x];
        uint32_t col = RP_COL_ZERO;
        if (bytes > 0 && last) {
            col = rp_formulation_run(f, t, k);
        } else if (bytes > 0) {
            struct term c = choose_term(f, t, k, x, v);
            if (c.col != RP_COL_ZERO) {
                rp_row_set_detail(rows, x);
                rp_row_set_detail(rows, c.what);
            }
            col = c.col;
        }
        add_term(m, col, (double)bytes * f->byte_scale, rows, &n);
    }
    for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
        if (shadow(m, t, x, v) > 0) {
            double bytes = (double)p->bytes[x] * f->byte_scale;
            add_term(m, rp_formulation_held(f, t, x), bytes, rows, &n);
            add_term(m, rp_formulation_run(f, t, k), bytes, rows, &n);
            rp_row_set_term(rows, RP_COL_ONE, -bytes);
        }
    for (uint32_t i = 0; i < n; i++) {
        rp_row_set_term(rows, m->used[i], m->sum[m->used[i]]);
        m->sum[m->used[i]] = 0;
    }
}

uint32_t rp_sep_memory_worst(const struct rp_formulation *f, uint32_t t,
                             const double *over) {
    uint32_t worst = f->last_op[t];
    for (uint32_t k = rp_formulation_first_row(f, t); k < f->last_op[t]; k++)
        if (over[k] > over[worst] + TIE)
            worst = k;
    return worst;
}

/* ---- the family of cuts ---- */

struct state {
    struct rp_sep_memory memory;
    double *over;
};

static void *create(const struct rp_formulation *f) {
    struct state *s = rp_calloc(1, sizeof *s);
    rp_sep_memory_init(&s->memory, f, true);
    s->over = rp_calloc(f->instance->n_ops, sizeof *s->over);
    return s;
}

static void destroy(void *state) {
    struct state *s = state;
    rp_sep_memory_fini(&s->memory);
    free(s->over);
    free(s);
}

static uint32_t find(void *state, uint32_t t, const double *v, struct rp_row_set *rows,
                     uint64_t *terms) {
    struct state *s = state;
    const struct rp_formulation *f = s->memory.formulation;
    rp_sep_memory_sweep(&s->memory, t, v, s->over);
    *terms += f->instance->n_ops;
    uint32_t k = rp_sep_memory_worst(f, t, s->over);
    if (s->over[k] <= TOLERANCE)
        return 0;
    rp_sep_memory_row(&s->memory, t, k, v, rows);
    return 1;
}

const struct rp_cut_family rp_sep_memory_family = {.name = "memory",
                                                   .per_stage = true,
                                                   .create = create,
                                                   .destroy = destroy,
                                                   .find = find};
