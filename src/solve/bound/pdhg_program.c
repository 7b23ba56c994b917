#include "solve/bound/pdhg_program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/safe_dual.h"
#include "solve/core/params.h"

#define EVALUATION_INTERVAL 50  /* steps from one evaluation of (7) to the next */
#define SEPARATION_INTERVAL 250 /* steps from one separation to the next */
/* What laying out the linear program takes, and loading its rows again, in passes over its
 * terms. */
#define SET_UP_PASSES 100
#define LOAD_PASSES 40
/* The least gain that counts, as a share of the bound. */
#define MIN_GAIN 1e-6
/* A program is slow if it gained less than SLOW_GAIN of what was missing in each of
 * SLOW_CHECKS times CHECK_INTERVAL separations. */
#define CHECK_INTERVAL 4
#define SLOW_GAIN 0.02
#define SLOW_CHECKS 2

/* ---- making ---- */

/* Do doubles hold every sum of bytes exactly? The covers depend on that. */
static bool bytes_are_exact(const struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    double sum = 0;
    for (uint32_t i = 0; i < 2 * p->n_ops; i++)
        sum = fmax(sum, (double)f->limit_bytes[i]);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += (double)p->bytes[x];
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += (double)p->workspace_bytes[j];
    return sum < 0x1p52;
}

/* An upper bound of the number of terms of rows (2) and (3). */
static uint64_t count_terms(const struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    uint64_t n = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        n += 3 * (uint64_t)(f->r_last[j] - f->stage_of[j] + 1) *
             (p->input_start[j + 1] - p->input_start[j]);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += 3 * (uint64_t)(f->s_last[x] - rp_formulation_maker_stage(f, x));
    return n;
}

/* Keep-all meets all rows but memory rows, so from there the multipliers of memory rows
 * grow at once. */
static void start_at_keep_all(struct rp_pdhg_program *q) {
    const struct rp_formulation *f = &q->formulation;
    const struct rp_instance *p = f->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t need = rp_instance_last_need(p, x);
        need = need < p->n_ops ? f->stage_of[need] : f->n_stages;
        for (uint32_t t = rp_formulation_maker_stage(f, x) + 1; t <= need; t++)
            if (rp_formulation_held(f, t, x) < f->n_cols)
                q->method.xt[rp_formulation_held(f, t, x)] = 1;
    }
}

/* The rows that every program begins with, without a point. */
static void lay_out(struct rp_pdhg_program *q) {
    rp_formulation_rows(&q->formulation, &q->fixed);
    rp_pdhg_cuts_init(&q->cuts, &q->formulation);
    rp_pdhg_init(&q->method, q->formulation.n_cols, q->formulation.cost);
    q->cuts_are_new = true;
}

bool rp_pdhg_program_init(struct rp_pdhg_program *q, const struct rp_instance *p,
                          const struct rp_formulation_options *o) {
    *q = (struct rp_pdhg_program){.recent = -HUGE_VAL, .before = -HUGE_VAL};
    rp_formulation_init(&q->formulation, p, o);
    if (q->formulation.n_cols > MAX_PDHG_COLUMNS ||
        count_terms(&q->formulation) > MAX_PDHG_TERMS ||
        !bytes_are_exact(&q->formulation)) {
        rp_formulation_fini(&q->formulation);
        return false;
    }
    lay_out(q);
    start_at_keep_all(q);
    rp_pdhg_load(&q->method, &q->fixed, &q->cuts.rows, NULL);
    q->work = SET_UP_PASSES * (uint64_t)q->method.n_terms;
    return true;
}

void rp_pdhg_program_fini(struct rp_pdhg_program *q) {
    rp_pdhg_cuts_fini(&q->cuts);
    rp_formulation_fini(&q->formulation);
    rp_pdhg_fini(&q->method);
    rp_row_set_fini(&q->fixed);
    rp_row_set_fini(&q->best_cuts);
    free(q->best_y);
    *q = (struct rp_pdhg_program){0};
}

/* ---- a part of another program ---- */

/* The multipliers of the rows that both have, which come in the same sequence. */
static void carry_fixed(const struct rp_pdhg_program *from,
                        const struct rp_pdhg_program *to, float *y) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < to->fixed.n; i++) {
        uint32_t k = next;
        while (k < from->fixed.n && memcmp(&from->fixed.name[k], &to->fixed.name[i],
                                           sizeof *to->fixed.name) != 0)
            k++;
        if (k < from->fixed.n) {
            y[i] = from->best_y[k];
            next = k + 1;
        }
    }
}

/* The cuts with their multipliers, and then the rows `also`. */
static void carry_cuts(const struct rp_pdhg_program *from, struct rp_pdhg_program *to,
                       const struct rp_row_set *also, float *y) {
    double *sum = rp_calloc(to->formulation.n_cols, sizeof *sum);
    uint32_t own = to->cuts.rows.n;
    for (uint32_t i = 0; i < from->best_cuts.n; i++) {
        rp_formulation_carry_row(&from->formulation, &to->formulation, &from->best_cuts, i,
                                 sum, &to->cuts.rows);
        y[own + i] = from->best_y[from->fixed.n + i];
    }
    for (uint32_t i = 0; i < also->n; i++)
        rp_formulation_carry_row(&from->formulation, &to->formulation, also, i, sum,
                                 &to->cuts.rows);
    rp_pdhg_cuts_adopt(&to->cuts, from->best_cuts.n + also->n);
    free(sum);
}

/* Can no point meet row i? */
static bool cannot_hold(const struct rp_row_set *rows, uint32_t i) {
    double least = 0;
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
        least += fmin(0, rows->coef[k]);
    return least > rows->rhs[i];
}

static bool any_cannot_hold(const struct rp_row_set *rows) {
    bool any = false;
    for (uint32_t i = 0; i < rows->n && !any; i++)
        any = cannot_hold(rows, i);
    return any;
}

/* The columns of `to` at the point of `from`. */
static void carry_point(const struct rp_pdhg_program *from, struct rp_pdhg_program *to) {
    for (uint32_t j = 0; j < to->formulation.n_cols; j++) {
        uint32_t col = rp_formulation_same_col(&to->formulation, j, &from->formulation);
        if (col != RP_COL_ZERO)
            to->method.xt[j] = col == RP_COL_ONE ? 1 : from->method.xt[col];
    }
}

/* Keeps the current multipliers if they are the best so far. */
static void evaluate(struct rp_pdhg_program *q) {
    double value = rp_pdhg_dual(&q->method);
    q->recent = fmax(q->recent, value);
    q->dual_evaluations++;
    if (!(value > q->best))
        return;
    q->best = value;
    q->best_is_new = true;
    if (q->cuts_are_new) {
        rp_row_set_fini(&q->best_cuts);
        rp_row_set_copy_all(&q->best_cuts, &q->cuts.rows);
        q->best_y = rp_realloc(q->best_y, q->method.n_rows, sizeof *q->best_y);
        q->cuts_are_new = false;
    }
    memcpy(q->best_y, q->method.yt, q->method.n_rows * sizeof *q->best_y);
}

bool rp_pdhg_program_restrict(struct rp_pdhg_program *q, const struct rp_pdhg_program *from,
                              const struct rp_formulation_options *o, const uint8_t *known,
                              const struct rp_row_set *also) {
    struct rp_formulation_options part = *o;
    part.base = &from->formulation;
    part.known = known;
    *q = (struct rp_pdhg_program){.recent = -HUGE_VAL, .before = -HUGE_VAL};
    rp_formulation_init(&q->formulation, from->formulation.instance, &part);
    if (q->formulation.empty) {
        rp_formulation_fini(&q->formulation);
        return false;
    }
    lay_out(q);
    size_t n = (size_t)q->fixed.n + q->cuts.rows.n + from->best_cuts.n + also->n;
    float *y = rp_calloc(n, sizeof *y);
    carry_fixed(from, q, y);
    carry_cuts(from, q, also, y + q->fixed.n);
    carry_point(from, q);
    q->method.weight = from->method.weight;
    rp_pdhg_load(&q->method, &q->fixed, &q->cuts.rows, y);
    q->work = SET_UP_PASSES * (uint64_t)q->method.n_terms;
    free(y);
    if (any_cannot_hold(&q->cuts.rows)) {
        rp_pdhg_program_fini(q);
        return false;
    }
    q->best = -HUGE_VAL; /* so that there are best multipliers */
    evaluate(q);
    q->recent = -HUGE_VAL;
    q->gained = q->best;
    return true;
}

/* ---- steps ---- */

/* Drops rows that have long been without a multiplier, and adds violated ones. */
static void separate(struct rp_pdhg_program *q, struct rp_stop *stop) {
    size_t n_old = (size_t)q->fixed.n + q->cuts.rows.n;
    uint32_t n_ops = q->formulation.instance->n_ops;
    float *y = rp_calloc(n_old + 5 * (size_t)n_ops, sizeof *y);
    memcpy(y, q->method.yt, n_old * sizeof *y);
    uint32_t dropped = rp_pdhg_cuts_drop_idle(&q->cuts, y + q->fixed.n);
    uint32_t added = rp_pdhg_cuts_add(&q->cuts, q->method.xt, q->step_work, stop);
    q->n_separations++;
    if (added > 0 || dropped > 0) {
        q->work += LOAD_PASSES * (uint64_t)q->method.n_terms;
        q->cuts_are_new = true;
        rp_pdhg_load(&q->method, &q->fixed, &q->cuts.rows, y);
    }
    rp_log(2,
           "bound: step %" PRIu64 ", %" PRIu32 " cuts (%" PRIu32 " new, %" PRIu32
           " dropped), %.0f ns",
           q->method.steps, q->cuts.rows.n, added, dropped, rp_pdhg_program_ns(q, q->best));
    free(y);
}

static void record_gain(struct rp_pdhg_program *q) {
    double fixed = q->formulation.fixed_cost;
    q->n_without_gain++;
    if (q->best + fixed > (q->gained + fixed) * (1 + MIN_GAIN)) {
        q->gained = q->best;
        q->n_without_gain = 0;
    }
}

uint64_t rp_pdhg_program_work_of(const struct rp_pdhg_program *q, uint64_t steps) {
    return 2 * steps * rp_max_u32(q->method.n_terms, 1);
}

bool rp_pdhg_program_step(struct rp_pdhg_program *q, struct rp_stop *stop) {
    uint64_t work = rp_pdhg_program_work_of(q, 1);
    double before = q->cuts.path_work + q->cuts.copy_work;
    rp_pdhg_step(&q->method);
    q->step_work += work;
    if (q->method.steps % EVALUATION_INTERVAL == 0) {
        evaluate(q);
        work += q->method.n_terms;
    }
    bool separates = ++q->n_fresh_steps == SEPARATION_INTERVAL;
    if (separates) {
        separate(q, stop);
        record_gain(q);
        q->n_fresh_steps = 0;
    }
    q->work += work + (uint64_t)(q->cuts.path_work + q->cuts.copy_work - before);
    return separates;
}

bool rp_pdhg_program_is_slow(struct rp_pdhg_program *q, double target) {
    if (q->n_separations % CHECK_INTERVAL != 0)
        return false;
    double gain = SLOW_GAIN * fabs(target - fmax(q->recent, q->before));
    q->n_slow = q->recent < q->before + gain ? q->n_slow + 1 : 0;
    q->before = fmax(q->recent, q->before);
    q->recent = -HUGE_VAL;
    return q->n_slow >= SLOW_CHECKS;
}

void rp_pdhg_program_change(struct rp_pdhg_program *q, const float *y) {
    rp_pdhg_load(&q->method, &q->fixed, &q->cuts.rows, y);
    q->best = q->gained = 0; /* it has been proved */
    q->cuts_are_new = true;
    q->best_is_new = false;
    q->n_without_gain = 0;
}

double rp_pdhg_program_ns(const struct rp_pdhg_program *q, double value) {
    return (value + q->formulation.fixed_cost) / q->formulation.time_scale;
}

int64_t *rp_pdhg_program_proof(const struct rp_pdhg_program *q, struct rp_row_set *rows,
                               unsigned *scale_log2) {
    uint32_t n = 0;
    double *y = rp_calloc((size_t)q->fixed.n + q->best_cuts.n, sizeof *y);
    for (uint32_t i = 0; q->best_y != NULL && i < q->fixed.n + q->best_cuts.n; i++) {
        if (q->best_y[i] <= 0)
            continue;
        if (i < q->fixed.n)
            rp_row_set_copy(rows, &q->fixed, i);
        else
            rp_row_set_copy(rows, &q->best_cuts, i - q->fixed.n);
        y[n++] = (double)q->best_y[i];
    }
    int64_t *m = rp_calloc(n, sizeof *m);
    rp_safe_dual_round(&q->formulation, rows, y, m, scale_log2);
    free(y);
    return m;
}

void rp_pdhg_program_count(const struct rp_pdhg_program *q, struct rp_pdhg_statistics *s) {
    s->iterations += q->method.steps;
    s->restarts += q->method.restarts;
    s->separations += q->n_separations;
    s->memory_rows += q->cuts.memory_rows;
    s->cover_rows += q->cuts.cover_rows;
    s->path_rows += q->cuts.path_rows;
    s->copy_rows += q->cuts.copy_rows;
    s->dropped_rows += q->cuts.dropped_rows;
    s->dual_evaluations += q->dual_evaluations;
    s->work += q->work;
}
