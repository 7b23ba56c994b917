#include "solve/bound/pdhg_bound.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/pdhg.h"
#include "solve/bound/pdhg_cuts.h"
#include "solve/bound/safe_dual.h"
#include "solve/core/params.h"

#define EVALUATION_INTERVAL 50  /* steps from one evaluation of (7) to the next */
#define SEPARATION_INTERVAL 250 /* steps from one separation to the next */
/* What laying out the linear program takes, and loading its rows again, in passes over its
 * terms. */
#define SET_UP_PASSES 100
#define LOAD_PASSES 40
#define HORIZON_INTERVAL 8 /* separations from one update of the horizon to the next */

/* PDHG ends after PATIENCE separations in a row that gained less than MIN_GAIN of the
 * bound. */
#define PATIENCE 40
#define MIN_GAIN 1e-6
/* Horizons are updated until bound and horizon differ by less than 1 /
 * HORIZON_PRECISION. */
#define HORIZON_PRECISION 100000

struct rp_pdhg_bound {
    const struct rp_instance *instance;
    bool too_large;
    /* With swaps: the bound is for plans of at most horizon_ns. Else 0. */
    uint64_t horizon_ns;
    /* No larger horizon is needed: some plan takes no longer, or the rows for this horizon
     * could not prove a bound as large as it. */
    uint64_t horizon_max_ns;
    uint64_t last_bound_ns; /* at the last update of the horizon */
    struct rp_formulation formulation;
    struct rp_row_set fixed;  /* rows (2) and (3) */
    struct rp_pdhg_cuts cuts; /* rows (4) to (6), and (8) to (11) */
    struct rp_pdhg method;
    uint64_t allotted_work; /* by all calls of rp_pdhg_bound_run */
    uint32_t n_fresh_steps; /* since the last separation */
    uint64_t step_work;     /* of all steps, in terms touched */
    uint32_t n_separations;
    uint32_t n_without_gain; /* separations since the last gain */
    double gained;           /* the bound at that gain, scaled */
    /* The best multipliers so far, with the cuts that they belong to. */
    double best;   /* (7) from them, scaled, without the fixed cost */
    float *best_y; /* of `fixed`, then of best_cuts */
    struct rp_row_set best_cuts;
    bool best_is_new;  /* since the last proof */
    bool cuts_are_new; /* since best_cuts was copied from cuts */
    /* What proves bound_ns. */
    uint64_t bound_ns, proof_horizon_ns;
    double estimate_ns;
    struct rp_row_set proof;
    int64_t *multipliers;
    unsigned scale_log2;
    struct rp_pdhg_statistics statistics; /* those that no other member counts */
};

static uint64_t sum_of_times(const struct rp_instance *p) {
    uint64_t sum = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += p->time_ns[j];
    return sum;
}

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
static void start_at_keep_all(struct rp_pdhg_bound *b) {
    const struct rp_instance *p = b->instance;
    const struct rp_formulation *f = &b->formulation;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t need = rp_instance_last_need(p, x);
        need = need < p->n_ops ? f->stage_of[need] : f->n_stages;
        for (uint32_t t = rp_formulation_maker_stage(f, x) + 1; t <= need; t++)
            if (rp_formulation_held(f, t, x) < f->n_cols)
                b->method.xt[rp_formulation_held(f, t, x)] = 1;
    }
}

/* One stage for each op (0), unless PDHG would then make too little progress. */
static uint32_t choose_max_stages(const struct rp_instance *p) {
    if ((uint64_t)p->n_ops * p->n_tensors <= MAX_PDHG_SIZE)
        return 0;
    return rp_max_u32(COARSE_PDHG_SIZE / (p->n_tensors + 1), MIN_PDHG_STAGES);
}

/* Do doubles hold every sum of times of (8) to (10) exactly? */
static bool times_are_exact(const struct rp_instance *p, uint64_t horizon_ns) {
    double sum = (double)horizon_ns;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += (double)p->out_ns[x] + (double)p->in_ns[x];
    return sum < 0x1p51;
}

struct rp_pdhg_bound *rp_pdhg_bound_new(const struct rp_instance *p, uint64_t horizon_ns) {
    struct rp_formulation_options o = {.horizon_ns = horizon_ns,
                                       .max_stages = choose_max_stages(p)};
    o.copy_times = horizon_ns > 0 && times_are_exact(p, horizon_ns);
    return rp_pdhg_bound_new_with(p, &o);
}

struct rp_pdhg_bound *rp_pdhg_bound_new_with(const struct rp_instance *p,
                                             const struct rp_formulation_options *o) {
    struct rp_pdhg_bound *b = rp_calloc(1, sizeof *b);
    b->instance = p;
    b->horizon_ns = b->horizon_max_ns = o->horizon_ns;
    b->bound_ns = b->last_bound_ns = sum_of_times(p);
    b->estimate_ns = (double)b->bound_ns;
    rp_formulation_init(&b->formulation, p, o);
    b->too_large = b->formulation.n_cols > MAX_PDHG_COLUMNS ||
                   count_terms(&b->formulation) > MAX_PDHG_TERMS ||
                   !bytes_are_exact(&b->formulation);
    if (b->too_large) {
        rp_formulation_fini(&b->formulation);
        return b;
    }
    rp_formulation_rows(&b->formulation, &b->fixed);
    rp_pdhg_cuts_init(&b->cuts, &b->formulation);
    rp_pdhg_init(&b->method, b->formulation.n_cols, b->formulation.cost);
    start_at_keep_all(b);
    rp_pdhg_load(&b->method, &b->fixed, &b->cuts.rows, NULL);
    b->statistics.work = SET_UP_PASSES * (uint64_t)b->method.n_terms;
    b->cuts_are_new = true;
    return b;
}

void rp_pdhg_bound_free(struct rp_pdhg_bound *b) {
    if (b == NULL)
        return;
    if (!b->too_large) {
        rp_pdhg_cuts_fini(&b->cuts);
        rp_formulation_fini(&b->formulation);
        rp_pdhg_fini(&b->method);
    }
    rp_row_set_fini(&b->fixed);
    rp_row_set_fini(&b->best_cuts);
    rp_row_set_fini(&b->proof);
    free(b->best_y);
    free(b->multipliers);
    free(b);
}

/* (7) in ns from its scaled value without the fixed cost. */
static double to_ns(const struct rp_pdhg_bound *b, double value) {
    return (value + b->formulation.fixed_cost) / b->formulation.time_scale;
}

/* Keeps the current multipliers if they are the best so far. */
static void evaluate(struct rp_pdhg_bound *b) {
    double value = rp_pdhg_dual(&b->method);
    b->statistics.dual_evaluations++;
    if (!(value > b->best))
        return;
    b->best = value;
    b->best_is_new = true;
    if (b->cuts_are_new) {
        rp_row_set_fini(&b->best_cuts);
        rp_row_set_copy_all(&b->best_cuts, &b->cuts.rows);
        b->best_y = rp_realloc(b->best_y, b->method.n_rows, sizeof *b->best_y);
        b->cuts_are_new = false;
    }
    memcpy(b->best_y, b->method.yt, b->method.n_rows * sizeof *b->best_y);
}

/* Drops rows that have long been without a multiplier, and adds violated ones. */
static void separate(struct rp_pdhg_bound *b, struct rp_stop *stop) {
    size_t n_old = (size_t)b->fixed.n + b->cuts.rows.n;
    float *y = rp_calloc(n_old + 5 * (size_t)b->instance->n_ops, sizeof *y);
    memcpy(y, b->method.yt, n_old * sizeof *y);
    uint32_t dropped = rp_pdhg_cuts_drop_idle(&b->cuts, y + b->fixed.n);
    uint32_t added = rp_pdhg_cuts_add(&b->cuts, b->method.xt, b->step_work, stop);
    b->n_separations++;
    if (added > 0 || dropped > 0) {
        b->statistics.work += LOAD_PASSES * (uint64_t)b->method.n_terms;
        b->cuts_are_new = true;
        rp_pdhg_load(&b->method, &b->fixed, &b->cuts.rows, y);
    }
    rp_log(2,
           "bound: step %" PRIu64 ", %" PRIu32 " cuts (%" PRIu32 " new, %" PRIu32
           " dropped), %.0f ns",
           b->method.steps, b->cuts.rows.n, added, dropped, to_ns(b, b->best));
    free(y);
}

/* ---- the horizon of plans with swaps ---- */

static uint64_t *limits_for(const struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    uint64_t *limits = rp_calloc(2 * (size_t)b->instance->n_ops, sizeof *limits);
    rp_formulation_swap_limits(&b->formulation, horizon_ns, limits);
    return limits;
}

static uint32_t limit_of(const struct rp_pdhg_bound *b, const struct rp_row_name *name) {
    uint32_t last = b->formulation.last_op[name->t];
    return name->op == last ? last : b->instance->n_ops + last;
}

/* Replaces the formulation's limits by these in the right sides of the rows (4) of
 * `rows`. */
static void change_limits(const struct rp_pdhg_bound *b, struct rp_row_set *rows,
                          const uint64_t *limits) {
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t at = limit_of(b, &rows->name[i]);
        if (rows->name[i].kind == RP_ROW_MEM)
            rows->rhs[i] += ((double)limits[at] - (double)b->formulation.limit_bytes[at]) *
                            b->formulation.byte_scale;
    }
}

/* About what the best multipliers prove for another horizon, in ns. weight[i] is the sum of
 * the multipliers of the rows (4) with limit i. */
static double dual_value_at(const struct rp_pdhg_bound *b, const double *weight,
                            uint64_t horizon_ns) {
    uint64_t *limits = limits_for(b, horizon_ns);
    double value = b->best;
    for (uint32_t i = 0; i < 2 * b->instance->n_ops; i++)
        value += weight[i] * ((double)b->formulation.limit_bytes[i] - (double)limits[i]) *
                 b->formulation.byte_scale;
    free(limits);
    return to_ns(b, value);
}

/* The bound rises as the horizon falls. Returns the horizon at which they meet. */
static uint64_t best_horizon_ns(const struct rp_pdhg_bound *b) {
    double *weight = rp_calloc(2 * (size_t)b->instance->n_ops, sizeof *weight);
    for (uint32_t i = 0; i < b->best_cuts.n; i++)
        if (b->best_cuts.name[i].kind == RP_ROW_MEM)
            weight[limit_of(b, &b->best_cuts.name[i])] += (double)b->best_y[b->fixed.n + i];
    uint64_t low = b->bound_ns, high = b->horizon_ns;
    if (dual_value_at(b, weight, high) >= (double)high)
        low = high;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (dual_value_at(b, weight, middle) >= (double)middle)
            low = middle;
        else
            high = middle;
    }
    free(weight);
    return low;
}

/* Changes the unit of E and W, and with it their values at the point. */
static void change_slack(struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    struct rp_formulation *f = &b->formulation;
    if (!rp_formulation_has_copy_times(f))
        return;
    double before_ns = (double)f->slack_ns;
    rp_formulation_set_slack(f, horizon_ns);
    rp_pdhg_cuts_set_slack(&b->cuts);
    for (uint32_t j = f->copy_time_col; j < f->n_cols; j++) {
        double value = (double)b->method.xt[j] * before_ns / (double)f->slack_ns;
        b->method.xt[j] = (float)fmin(value, 1);
        b->method.cost[j] = (float)f->cost[j];
    }
}

/* Continues with another horizon. Covers stay valid for a smaller one, but not for a larger
 * one. */
static void set_horizon(struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    size_t n_old = (size_t)b->fixed.n + b->cuts.rows.n;
    uint64_t *limits = limits_for(b, horizon_ns);
    float *y = rp_calloc(n_old, sizeof *y);
    memcpy(y, b->method.yt, n_old * sizeof *y);
    if (horizon_ns > b->horizon_ns)
        rp_pdhg_cuts_drop_covers(&b->cuts, y + b->fixed.n);
    change_limits(b, &b->cuts.rows, limits);
    free(b->formulation.limit_bytes);
    b->formulation.limit_bytes = limits;
    b->horizon_ns = horizon_ns;
    change_slack(b, horizon_ns);
    rp_pdhg_load(&b->method, &b->fixed, &b->cuts.rows, y);
    b->best = b->gained = 0; /* it has been proved */
    b->cuts_are_new = true;
    b->best_is_new = false;
    b->n_without_gain = 0;
    b->statistics.horizon_updates++;
    free(y);
}

/* ---- the proof ---- */

/* Copies the rows with a positive multiplier, with the limits for horizon_ns, and those
 * multipliers. Returns how many. */
static uint32_t collect_proof(const struct rp_pdhg_bound *b, uint64_t horizon_ns,
                              struct rp_row_set *rows, double *y) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->fixed.n + b->best_cuts.n; i++) {
        if (b->best_y[i] <= 0)
            continue;
        if (i < b->fixed.n)
            rp_row_set_copy(rows, &b->fixed, i);
        else
            rp_row_set_copy(rows, &b->best_cuts, i - b->fixed.n);
        y[n++] = (double)b->best_y[i];
    }
    if (b->horizon_ns > 0) {
        uint64_t *limits = limits_for(b, horizon_ns);
        change_limits(b, rows, limits);
        free(limits);
    }
    return n;
}

/* Rounds the best multipliers to integers and evaluates (7) exactly. Keeps that proof if
 * the bound is better than before. */
static void prove(struct rp_pdhg_bound *b) {
    struct rp_row_set rows = {0};
    uint64_t bound_ns, horizon_ns = b->horizon_ns > 0 ? best_horizon_ns(b) : INT64_MAX;
    unsigned scale_log2;
    double *y = rp_calloc((size_t)b->fixed.n + b->best_cuts.n, sizeof *y);
    uint32_t n = collect_proof(b, horizon_ns, &rows, y);
    int64_t *m = rp_calloc(n, sizeof *m);
    rp_safe_dual_round(&b->formulation, &rows, y, m, &scale_log2);
    bool proved = rp_safe_dual_bound(&b->formulation, &rows, m, scale_log2, &bound_ns);
    bound_ns = proved && bound_ns > horizon_ns ? horizon_ns : bound_ns;
    if (proved && bound_ns > b->bound_ns) {
        rp_row_set_fini(&b->proof);
        free(b->multipliers);
        b->proof = rows;
        b->multipliers = m;
        b->scale_log2 = scale_log2;
        b->bound_ns = bound_ns;
        b->proof_horizon_ns = b->horizon_ns > 0 ? horizon_ns : 0;
        b->estimate_ns = to_ns(b, b->best);
    } else {
        rp_row_set_fini(&rows);
        free(m);
    }
    b->best_is_new = false;
    b->statistics.proofs++;
    free(y);
}

/* When the bound no longer rises much, the horizon moves half way towards it. When the
 * bound has reached the horizon, the horizon was too small, and moves half way up again. */
static void update_horizon(struct rp_pdhg_bound *b) {
    uint64_t step = b->horizon_max_ns / HORIZON_PRECISION + 1;
    if (b->best_is_new)
        prove(b);
    if (b->bound_ns >= b->horizon_ns) {
        if (b->horizon_ns + step < b->horizon_max_ns)
            set_horizon(b, b->horizon_ns + (b->horizon_max_ns - b->horizon_ns) / 2);
    } else if (b->bound_ns - b->last_bound_ns < (b->horizon_ns - b->bound_ns) / 10 &&
               b->horizon_ns - b->bound_ns > step) {
        b->horizon_max_ns = b->horizon_ns;
        set_horizon(b, b->bound_ns + (b->horizon_ns - b->bound_ns) / 2);
    }
    b->last_bound_ns = b->bound_ns;
}

static void record_gain(struct rp_pdhg_bound *b) {
    b->n_without_gain++;
    if (b->best + b->formulation.fixed_cost >
        (b->gained + b->formulation.fixed_cost) * (1 + MIN_GAIN)) {
        b->gained = b->best;
        b->n_without_gain = 0;
    }
}

/* Separates, and updates the horizon if that is due. Returns the work. */
static uint64_t run_separation(struct rp_pdhg_bound *b, struct rp_stop *stop) {
    double before = b->cuts.path_work + b->cuts.copy_work;
    separate(b, stop);
    record_gain(b);
    b->n_fresh_steps = 0;
    if (b->horizon_ns > 0 && b->n_separations % HORIZON_INTERVAL == 0)
        update_horizon(b);
    return (uint64_t)(b->cuts.path_work + b->cuts.copy_work - before);
}

/* One step of PDHG, then evaluation and separation if they are due. Returns the work. */
static uint64_t run_step(struct rp_pdhg_bound *b, struct rp_stop *stop) {
    uint64_t work = 2 * (uint64_t)b->method.n_terms;
    rp_pdhg_step(&b->method);
    b->step_work += work;
    if (b->method.steps % EVALUATION_INTERVAL == 0) {
        evaluate(b);
        work += b->method.n_terms;
    }
    if (++b->n_fresh_steps == SEPARATION_INTERVAL)
        work += run_separation(b, stop);
    return work;
}

bool rp_pdhg_bound_run(struct rp_pdhg_bound *b, uint64_t work, struct rp_stop *stop) {
    if (b->too_large || b->formulation.n_cols == 0)
        return false;
    b->allotted_work += work;
    while (b->statistics.work < b->allotted_work && b->n_without_gain < PATIENCE) {
        if (rp_stop_now(stop))
            break;
        b->statistics.work += run_step(b, stop);
    }
    if (b->best_is_new)
        prove(b);
    return b->n_without_gain < PATIENCE;
}

void rp_pdhg_bound_tighten(struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    if (b->too_large || horizon_ns >= b->horizon_max_ns)
        return;
    b->horizon_max_ns = horizon_ns;
    if (b->horizon_ns > horizon_ns)
        set_horizon(b, horizon_ns);
}

uint64_t rp_pdhg_bound_ns(const struct rp_pdhg_bound *b) {
    return b->bound_ns;
}

const struct rp_formulation *rp_pdhg_bound_formulation(const struct rp_pdhg_bound *b) {
    return b->too_large ? NULL : &b->formulation;
}

const double *rp_pdhg_bound_point(const struct rp_pdhg_bound *b) {
    return b->too_large ? NULL : b->cuts.point;
}

const struct rp_row_set *rp_pdhg_bound_rows(const struct rp_pdhg_bound *b) {
    return &b->proof;
}

const int64_t *rp_pdhg_bound_multipliers(const struct rp_pdhg_bound *b,
                                         unsigned *scale_log2) {
    *scale_log2 = b->scale_log2;
    return b->multipliers;
}

uint64_t rp_pdhg_bound_horizon_ns(const struct rp_pdhg_bound *b) {
    return b->proof_horizon_ns;
}

double rp_pdhg_bound_estimate(const struct rp_pdhg_bound *b) {
    return b->estimate_ns;
}

void rp_pdhg_statistics_add(struct rp_pdhg_statistics *into,
                            const struct rp_pdhg_statistics *from) {
    into->iterations += from->iterations;
    into->restarts += from->restarts;
    into->separations += from->separations;
    into->memory_rows += from->memory_rows;
    into->cover_rows += from->cover_rows;
    into->path_rows += from->path_rows;
    into->copy_rows += from->copy_rows;
    into->dropped_rows += from->dropped_rows;
    into->dual_evaluations += from->dual_evaluations;
    into->proofs += from->proofs;
    into->horizon_updates += from->horizon_updates;
    into->work += from->work;
}

struct rp_pdhg_statistics rp_pdhg_bound_statistics(const struct rp_pdhg_bound *b) {
    struct rp_pdhg_statistics s = b->statistics;
    s.iterations = b->method.steps;
    s.restarts = b->method.restarts;
    s.separations = b->n_separations;
    s.memory_rows = b->cuts.memory_rows;
    s.cover_rows = b->cuts.cover_rows;
    s.path_rows = b->cuts.path_rows;
    s.copy_rows = b->cuts.copy_rows;
    s.dropped_rows = b->cuts.dropped_rows;
    return s;
}
