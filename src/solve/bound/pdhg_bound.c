#include "solve/bound/pdhg_bound.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/pdhg_cutoff.h"
#include "solve/bound/pdhg_program.h"
#include "solve/bound/safe_dual.h"
#include "solve/core/params.h"

#define HORIZON_INTERVAL 8 /* separations from one update of the horizon to the next */

/* PDHG ends after PATIENCE separations in a row without a gain. */
#define PATIENCE 40
/* Horizons are updated until bound and horizon differ by less than 1 /
 * HORIZON_PRECISION. */
#define HORIZON_PRECISION 100000

struct rp_pdhg_bound {
    const struct rp_instance *instance;
    bool too_large;
    bool certifiable; /* its rows and multipliers prove it: no cutoffs */
    /* With swaps: the bound is for plans of at most horizon_ns. Else 0. */
    uint64_t horizon_ns;
    /* No larger horizon is needed: some plan takes no longer, or the rows for this horizon
     * could not prove a bound as large as it. */
    uint64_t horizon_max_ns;
    uint64_t last_bound_ns; /* at the last update of the horizon */
    struct rp_pdhg_program program;
    /* Later programs have more stages than this one, at most max_stages. */
    uint32_t max_stages;            /* 0: there are none */
    uint32_t n_refinements;         /* so far */
    double level_share;             /* tree_share of the cutoffs when this program began */
    struct rp_pdhg_statistics gone; /* of the programs before it */
    uint64_t plan_ns;               /* the time of a plan; UINT64_MAX: none is known */
    uint64_t known_ns;              /* another method's bound */
    struct rp_pdhg_cutoff cutoff;
    uint64_t allotted_work; /* by all calls of rp_pdhg_bound_run */
    /* What proves bound_ns, unless a cutoff does. */
    uint64_t bound_ns, proof_horizon_ns;
    double estimate_ns;
    struct rp_row_set proof;
    int64_t *multipliers;
    unsigned scale_log2;
    uint64_t proofs, horizon_updates;
};

static uint64_t sum_of_times(const struct rp_instance *p) {
    uint64_t sum = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += p->time_ns[j];
    return sum;
}

/* As many stages as a size allows, but no more than ops. */
static uint32_t stages_within(const struct rp_instance *p, uint32_t size) {
    uint32_t n = rp_max_u32(size / (p->n_tensors + 1), MIN_PDHG_STAGES);
    return rp_min_u32(n, p->n_ops);
}

/* Do doubles hold every sum of times of (8) to (10) exactly? */
static bool times_are_exact(const struct rp_instance *p, uint64_t horizon_ns) {
    double sum = (double)horizon_ns;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += (double)p->out_ns[x] + (double)p->in_ns[x];
    return sum < 0x1p51;
}

static struct rp_formulation_options options_for(const struct rp_instance *p,
                                                 uint64_t horizon_ns, uint32_t stages) {
    struct rp_formulation_options o = {.horizon_ns = horizon_ns, .max_stages = stages};
    o.copy_times = horizon_ns > 0 && times_are_exact(p, horizon_ns);
    return o;
}

struct rp_pdhg_bound *rp_pdhg_bound_new(const struct rp_instance *p, uint64_t horizon_ns) {
    uint32_t first = rp_min_u32(FIRST_PDHG_STAGES, stages_within(p, COARSE_PDHG_SIZE));
    struct rp_formulation_options o = options_for(p, horizon_ns, first);
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(p, &o);
    b->max_stages = stages_within(p, MAX_PDHG_SIZE);
    return b;
}

struct rp_pdhg_bound *rp_pdhg_bound_new_for_certificate(const struct rp_instance *p,
                                                        uint64_t horizon_ns) {
    return rp_pdhg_bound_new_for_points(p, horizon_ns, stages_within(p, COARSE_PDHG_SIZE));
}

struct rp_pdhg_bound *rp_pdhg_bound_new_for_points(const struct rp_instance *p,
                                                   uint64_t horizon_ns, uint32_t stages) {
    struct rp_formulation_options o = options_for(p, horizon_ns, stages);
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(p, &o);
    b->certifiable = true;
    return b;
}

struct rp_pdhg_bound *rp_pdhg_bound_new_with(const struct rp_instance *p,
                                             const struct rp_formulation_options *o) {
    struct rp_pdhg_bound *b = rp_calloc(1, sizeof *b);
    b->instance = p;
    b->horizon_ns = b->horizon_max_ns = o->horizon_ns;
    b->bound_ns = b->last_bound_ns = sum_of_times(p);
    b->estimate_ns = (double)b->bound_ns;
    b->plan_ns = o->horizon_ns > 0 ? o->horizon_ns : UINT64_MAX;
    b->too_large = !rp_pdhg_program_init(&b->program, p, o);
    rp_pdhg_cutoff_init(&b->cutoff, o);
    b->level_share = b->cutoff.tree_share;
    return b;
}

void rp_pdhg_bound_free(struct rp_pdhg_bound *b) {
    if (b == NULL)
        return;
    rp_pdhg_cutoff_fini(&b->cutoff);
    if (!b->too_large)
        rp_pdhg_program_fini(&b->program);
    rp_row_set_fini(&b->proof);
    free(b->multipliers);
    free(b);
}

/* ---- the horizon of plans with swaps ---- */

static uint64_t *limits_for(const struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    uint64_t *limits = rp_calloc(2 * (size_t)b->instance->n_ops, sizeof *limits);
    rp_formulation_swap_limits(&b->program.formulation, horizon_ns, limits);
    return limits;
}

static uint32_t limit_of(const struct rp_pdhg_bound *b, const struct rp_row_name *name) {
    uint32_t last = b->program.formulation.last_op[name->t];
    return name->op == last ? last : b->instance->n_ops + last;
}

/* Replaces the formulation's limits by these in the right sides of the rows (4) of
 * `rows`. */
static void change_limits(const struct rp_pdhg_bound *b, struct rp_row_set *rows,
                          const uint64_t *limits) {
    const struct rp_formulation *f = &b->program.formulation;
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t at = limit_of(b, &rows->name[i]);
        if (rows->name[i].kind == RP_ROW_MEM)
            rows->rhs[i] +=
                ((double)limits[at] - (double)f->limit_bytes[at]) * f->byte_scale;
    }
}

/* About what the best multipliers prove for another horizon, in ns. weight[i] is the sum of
 * the multipliers of the rows (4) with limit i. */
static double dual_value_at(const struct rp_pdhg_bound *b, const double *weight,
                            uint64_t horizon_ns) {
    const struct rp_formulation *f = &b->program.formulation;
    uint64_t *limits = limits_for(b, horizon_ns);
    double value = b->program.best;
    for (uint32_t i = 0; i < 2 * b->instance->n_ops; i++)
        value +=
            weight[i] * ((double)f->limit_bytes[i] - (double)limits[i]) * f->byte_scale;
    free(limits);
    return rp_pdhg_program_ns(&b->program, value);
}

/* The bound rises as the horizon falls. Returns the horizon at which they meet. */
static uint64_t best_horizon_ns(const struct rp_pdhg_bound *b) {
    const struct rp_pdhg_program *q = &b->program;
    double *weight = rp_calloc(2 * (size_t)b->instance->n_ops, sizeof *weight);
    for (uint32_t i = 0; i < q->best_cuts.n; i++)
        if (q->best_cuts.name[i].kind == RP_ROW_MEM)
            weight[limit_of(b, &q->best_cuts.name[i])] += (double)q->best_y[q->fixed.n + i];
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
static void change_slack(struct rp_pdhg_program *q, uint64_t horizon_ns) {
    struct rp_formulation *f = &q->formulation;
    if (!rp_formulation_has_copy_times(f))
        return;
    double before_ns = (double)f->slack_ns;
    rp_formulation_set_slack(f, horizon_ns);
    rp_pdhg_cuts_set_slack(&q->cuts);
    for (uint32_t j = f->copy_time_col; j < f->n_cols; j++) {
        double value = (double)q->method.xt[j] * before_ns / (double)f->slack_ns;
        q->method.xt[j] = (float)fmin(value, 1);
        q->method.cost[j] = (float)f->cost[j];
    }
}

/* Continues with another horizon. Covers stay valid for a smaller one, but not for a larger
 * one. */
static void set_horizon(struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    struct rp_pdhg_program *q = &b->program;
    size_t n_old = (size_t)q->fixed.n + q->cuts.rows.n;
    uint64_t *limits = limits_for(b, horizon_ns);
    float *y = rp_calloc(n_old, sizeof *y);
    memcpy(y, q->method.yt, n_old * sizeof *y);
    if (horizon_ns > b->horizon_ns)
        rp_pdhg_cuts_drop_covers(&q->cuts, y + q->fixed.n);
    change_limits(b, &q->cuts.rows, limits);
    free(q->formulation.limit_bytes);
    q->formulation.limit_bytes = limits;
    b->horizon_ns = horizon_ns;
    change_slack(q, horizon_ns);
    rp_pdhg_program_change(q, y);
    b->horizon_updates++;
    free(y);
}

/* ---- the proof ---- */

/* Rounds the best multipliers to integers and evaluates (7) exactly, for the horizon at
 * which they prove most. Keeps that proof if the bound is better than before. */
static void prove(struct rp_pdhg_bound *b) {
    struct rp_pdhg_program *q = &b->program;
    struct rp_row_set rows = {0};
    uint64_t bound_ns, horizon_ns = b->horizon_ns > 0 ? best_horizon_ns(b) : INT64_MAX;
    unsigned scale_log2;
    int64_t *m = rp_pdhg_program_proof(q, &rows, &scale_log2);
    if (b->horizon_ns > 0) {
        uint64_t *limits = limits_for(b, horizon_ns);
        change_limits(b, &rows, limits);
        free(limits);
    }
    bool proved = rp_safe_dual_bound(&q->formulation, &rows, m, scale_log2, &bound_ns);
    bound_ns = proved && bound_ns > horizon_ns ? horizon_ns : bound_ns;
    if (proved && bound_ns > b->bound_ns) {
        rp_row_set_fini(&b->proof);
        free(b->multipliers);
        b->proof = rows;
        b->multipliers = m;
        b->scale_log2 = scale_log2;
        b->bound_ns = bound_ns;
        b->proof_horizon_ns = b->horizon_ns > 0 ? horizon_ns : 0;
        b->estimate_ns = rp_pdhg_program_ns(q, q->best);
    } else {
        rp_row_set_fini(&rows);
        free(m);
    }
    q->best_is_new = false;
    b->proofs++;
}

/* When the bound no longer rises much, the horizon moves half way towards it. When the
 * bound has reached the horizon, the horizon was too small, and moves half way up again. */
static void update_horizon(struct rp_pdhg_bound *b) {
    uint64_t step = b->horizon_max_ns / HORIZON_PRECISION + 1;
    if (b->program.best_is_new)
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

/* ---- running ---- */

static bool is_done(const struct rp_pdhg_bound *b) {
    return b->program.n_without_gain >= PATIENCE;
}

/* Goes on with twice as many stages. False if there are no more. */
static bool refine(struct rp_pdhg_bound *b) {
    struct rp_pdhg_program *q = &b->program;
    uint32_t stages = q->formulation.n_stages;
    if (stages >= b->max_stages)
        return false;
    if (q->best_is_new)
        prove(b);
    struct rp_formulation_options o =
        options_for(b->instance, b->horizon_ns, rp_min_u32(2 * stages, b->max_stages));
    rp_pdhg_program_count(q, &b->gone);
    rp_pdhg_program_fini(q);
    b->too_large = !rp_pdhg_program_init(q, b->instance, &o);
    b->cutoff.options = o;
    b->level_share = b->cutoff.tree_share;
    b->n_refinements++;
    rp_log(1, "PDHG bound: %" PRIu32 " stages", q->formulation.n_stages);
    return !b->too_large;
}

/* Begins a cutoff, without swaps. False if no plan is known, if it is as fast as the bound,
 * or if the program is too large. */
static bool begin_cutoff(struct rp_pdhg_bound *b) {
    struct rp_pdhg_program *q = &b->program;
    uint64_t low_ns = rp_max_u64(b->bound_ns, b->known_ns);
    if (b->certifiable || b->horizon_ns > 0 || b->plan_ns == UINT64_MAX ||
        b->plan_ns <= low_ns || q->best_y == NULL || q->method.n_terms > MAX_CUTOFF_TERMS)
        return false;
    rp_pdhg_cutoff_begin(&b->cutoff, q, low_ns, b->plan_ns, &b->bound_ns);
    return true;
}

/* What to do when the program gains little more: cutoffs, and more stages when these no
 * longer get on. False: there is nothing. */
static bool go_on(struct rp_pdhg_bound *b) {
    bool gets_on = b->cutoff.tree_share <= b->level_share;
    if (b->program.best_is_new)
        prove(b);
    if (!gets_on && refine(b))
        return true;
    return begin_cutoff(b) || refine(b);
}

/* One step of the whole program, and what is due after a separation. False if there is
 * nothing more to gain. */
static bool step_program(struct rp_pdhg_bound *b, struct rp_stop *stop) {
    struct rp_pdhg_program *q = &b->program;
    if (is_done(b))
        return go_on(b);
    if (!rp_pdhg_program_step(q, stop))
        return true;
    if (b->horizon_ns > 0 && q->n_separations % HORIZON_INTERVAL == 0)
        update_horizon(b);
    if (b->plan_ns == UINT64_MAX)
        return true;
    double target = (double)b->plan_ns * q->formulation.time_scale;
    if (rp_pdhg_program_is_slow(q, target - q->formulation.fixed_cost))
        go_on(b);
    return true;
}

static uint64_t work_done(const struct rp_pdhg_bound *b) {
    const struct rp_pdhg_program *part = b->cutoff.program;
    return b->gone.work + b->program.work + b->cutoff.statistics.work +
           (part != NULL ? part->work : 0);
}

bool rp_pdhg_bound_run(struct rp_pdhg_bound *b, uint64_t work, struct rp_stop *stop) {
    bool more = !b->too_large && b->program.formulation.n_cols > 0;
    b->allotted_work += work;
    while (more && !b->too_large && work_done(b) < b->allotted_work && !rp_stop_now(stop)) {
        if (b->cutoff.program != NULL)
            rp_pdhg_cutoff_step(&b->cutoff, stop, &b->bound_ns);
        else
            more = step_program(b, stop);
    }
    if (!b->too_large && b->program.best_is_new)
        prove(b);
    return more;
}

uint64_t rp_pdhg_bound_work_until(const struct rp_pdhg_bound *b, uint64_t steps) {
    const struct rp_pdhg *s = &b->program.method;
    if (s->steps >= steps)
        return 0;
    uint64_t work = rp_pdhg_program_work_of(&b->program, steps - s->steps) + work_done(b);
    return work > b->allotted_work ? work - b->allotted_work : 1;
}

void rp_pdhg_bound_tighten(struct rp_pdhg_bound *b, uint64_t plan_ns) {
    if (b->too_large)
        return;
    b->plan_ns = rp_min_u64(b->plan_ns, plan_ns);
    if (plan_ns >= b->horizon_max_ns)
        return;
    b->horizon_max_ns = plan_ns;
    if (b->horizon_ns > plan_ns)
        set_horizon(b, plan_ns);
}

void rp_pdhg_bound_is_known(struct rp_pdhg_bound *b, uint64_t bound_ns) {
    b->known_ns = rp_max_u64(b->known_ns, bound_ns);
}

/* ---- results ---- */

uint64_t rp_pdhg_bound_ns(const struct rp_pdhg_bound *b) {
    return b->bound_ns;
}

const struct rp_formulation *rp_pdhg_bound_formulation(const struct rp_pdhg_bound *b) {
    return b->too_large ? NULL : &b->program.formulation;
}

double *rp_pdhg_bound_point(const struct rp_pdhg_bound *b) {
    uint32_t n = b->program.formulation.n_cols;
    double *v = rp_calloc(n, sizeof *v);
    for (uint32_t j = 0; j < n; j++)
        v[j] = (double)b->program.method.xt[j];
    return v;
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

struct rp_pdhg_statistics rp_pdhg_bound_statistics(const struct rp_pdhg_bound *b) {
    struct rp_pdhg_statistics s = b->cutoff.statistics;
    rp_pdhg_statistics_add(&s, &b->gone);
    s.proofs += b->proofs;
    s.refinements += b->n_refinements;
    s.horizon_updates += b->horizon_updates;
    rp_pdhg_program_count(&b->program, &s);
    if (b->cutoff.program != NULL)
        rp_pdhg_program_count(b->cutoff.program, &s);
    return s;
}
