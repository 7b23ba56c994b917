#include "solve/bound/pdhg_bound.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/bound/pdhg.h"
#include "solve/bound/safe_dual.h"
#include "solve/lp/sep_cover.h"
#include "solve/lp/sep_path.h"

#define MAX_COLUMNS 4000000u
#define MAX_TERMS 40000000u
#define MAX_SIZE 200000u   /* stages times tensors: with a stage for each op, */
#define COARSE_SIZE 80000u /* and where there would be more than that */
#define MIN_STAGES 32u
#define EVALUATE 50    /* steps between looks at the bound, */
#define SEPARATE 250   /* and at the rows that the point violates */
#define VIOLATION 0.1  /* scaled bytes; the limit is 512 or more */
#define NEAR 1.0       /* scaled bytes under the limit, where covers are looked for */
#define COVER_MIN 0.05 /* violation over length */
#define WINDOW_MIN 0.05
#define EARLY 4         /* separations of memory rows alone: the first points are far off */
#define WINDOW_ROUNDS 2 /* separations from one search for windows to the next */
#define WINDOW_MAX 2e9  /* work; longer searches could not be stopped in time */
#define WINDOW_SHARE 0.5 /* of the work of the steps, at most */
#define MAX_ROUNDS 8     /* separations from one choice of now_ns to the next */
#define KEEP_SLACK 8     /* separations that an unused row survives */
/* Nothing more to gain: so many separations in a row gained less than this share. */
#define PATIENCE 40
#define GAIN 1e-6

struct rp_pdhg_bound {
    const struct rp_instance *problem;
    bool too_large;
    /* With swaps: what is proved is so for plans of at most now_ns, which is best a little
     * more than what is proved. Else 0. */
    uint64_t now_ns;
    uint64_t upper_ns; /* now_ns need never be more: some plan takes that long, or this much
                          cannot be proved with what was found for plans of it */
    uint64_t reached_ns; /* the bound when now_ns was last looked at */
    struct rp_formulation form;
    struct rp_sep_memory memory;
    struct rp_row_set fixed, cuts; /* (2) and (3); (4) to (6) */
    struct {
        uint32_t *at; /* per cut: separations since it had a multiplier */
        size_t n, cap;
    } idle;
    struct rp_pdhg method;
    double *point;        /* the method's, in doubles, at the last separation */
    uint32_t fresh_steps; /* since the last separation */
    uint64_t step_work;   /* of all steps, */
    double window_work;   /* and of all searches for windows, in the same units */
    uint32_t rounds;      /* separations */
    uint32_t patience;    /* separations since a gain, */
    double gained;        /* the bound then */
    /* The best multipliers so far, with the cuts they belong to. */
    double best;
    float *best_y; /* of `fixed`, then of best_cuts */
    struct rp_row_set best_cuts;
    bool best_changed, cuts_changed;
    /* What proves bound_ns. */
    uint64_t bound_ns, proof_max_ns;
    double estimate_ns;
    struct rp_row_set proof;
    int64_t *multipliers;
    unsigned scale_log2;
};

static uint64_t sum_of_times(const struct rp_instance *p) {
    uint64_t sum = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += p->time_ns[j];
    return sum;
}

/* Doubles hold every sum of bytes exactly; the covers rest on that. */
static bool bytes_are_exact(const struct rp_formulation *f) {
    const struct rp_instance *p = f->problem;
    double sum = 0;
    for (uint32_t i = 0; i < 2 * p->n_ops; i++)
        sum = fmax(sum, (double)f->limit_bytes[i]);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += (double)p->bytes[x];
    for (uint32_t j = 0; j < p->n_ops; j++)
        sum += (double)p->workspace_bytes[j];
    return sum < 0x1p52;
}

/* Terms of rows (2) and (3), at most. */
static uint64_t count_terms(const struct rp_formulation *f) {
    const struct rp_instance *p = f->problem;
    uint64_t n = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        n += 3 * (uint64_t)(f->r_last[j] - f->stage_of[j] + 1) *
             (p->input_start[j + 1] - p->input_start[j]);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += 3 * (uint64_t)(f->s_last[x] - rp_formulation_first(f, x));
    return n;
}

static void add_cut(struct rp_pdhg_bound *b, uint32_t t, uint32_t k, const double *v) {
    rp_sep_memory_row(&b->memory, t, k, v, &b->cuts);
    rp_push(&b->idle, 0);
}

/* Keep-all, which meets all rows but those of memory, is where the multipliers of those
 * start to grow at once. */
static void start_with_all(struct rp_pdhg_bound *b) {
    const struct rp_instance *p = b->problem;
    const struct rp_formulation *f = &b->form;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t need = rp_instance_last_need(p, x);
        need = need < p->n_ops ? f->stage_of[need] : f->n_stages;
        for (uint32_t t = rp_formulation_first(f, x) + 1; t <= need; t++)
            if (rp_formulation_held(f, t, x) < f->n_cols)
                b->method.xt[rp_formulation_held(f, t, x)] = 1;
    }
}

/* All of them (0) if the program is then small enough to get somewhere. */
static uint32_t stages_for(const struct rp_instance *p) {
    if ((uint64_t)p->n_ops * p->n_tensors <= MAX_SIZE)
        return 0;
    uint32_t most = COARSE_SIZE / (p->n_tensors + 1);
    return most < MIN_STAGES ? MIN_STAGES : most;
}

struct rp_pdhg_bound *rp_pdhg_bound_new(const struct rp_instance *p, uint64_t horizon_ns) {
    return rp_pdhg_bound_new_with(p, horizon_ns, stages_for(p));
}

struct rp_pdhg_bound *rp_pdhg_bound_new_with(const struct rp_instance *p,
                                             uint64_t horizon_ns, uint32_t max_stages) {
    struct rp_pdhg_bound *b = rp_calloc(1, sizeof *b);
    b->problem = p;
    b->now_ns = b->upper_ns = horizon_ns;
    b->bound_ns = b->reached_ns = sum_of_times(p);
    b->estimate_ns = (double)b->bound_ns;
    struct rp_formulation_options o = {.horizon_ns = horizon_ns, .max_stages = max_stages};
    rp_formulation_init(&b->form, p, &o);
    b->too_large = b->form.n_cols > MAX_COLUMNS || count_terms(&b->form) > MAX_TERMS ||
                   !bytes_are_exact(&b->form);
    if (b->too_large) {
        rp_formulation_fini(&b->form);
        return b;
    }
    rp_formulation_rows(&b->form, &b->fixed);
    rp_sep_memory_init(&b->memory, &b->form);
    for (uint32_t t = 0; t < b->form.n_stages; t++)
        add_cut(b, t, b->form.last_of[t], NULL);
    b->point = rp_calloc(b->form.n_cols, sizeof *b->point);
    rp_pdhg_init(&b->method, b->form.n_cols, b->form.cost);
    start_with_all(b);
    rp_pdhg_load(&b->method, &b->fixed, &b->cuts, NULL);
    b->cuts_changed = true;
    return b;
}

void rp_pdhg_bound_free(struct rp_pdhg_bound *b) {
    if (b == NULL)
        return;
    if (!b->too_large) {
        rp_sep_memory_fini(&b->memory);
        rp_formulation_fini(&b->form);
        rp_pdhg_fini(&b->method);
    }
    rp_row_set_fini(&b->fixed);
    rp_row_set_fini(&b->cuts);
    rp_row_set_fini(&b->best_cuts);
    rp_row_set_fini(&b->proof);
    free(b->idle.at);
    free(b->point);
    free(b->best_y);
    free(b->multipliers);
    free(b);
}

/* (7) of the method, in ns. */
static double in_ns(const struct rp_pdhg_bound *b, double value) {
    return (value + b->form.fixed_cost) / b->form.time_scale;
}

static void copy_rows(struct rp_row_set *to, const struct rp_row_set *from) {
    for (uint32_t i = 0; i < from->n; i++)
        rp_row_set_copy(to, from, i);
}

static void evaluate(struct rp_pdhg_bound *b) {
    double value = rp_pdhg_dual(&b->method);
    if (!(value > b->best))
        return;
    b->best = value;
    b->best_changed = true;
    if (b->cuts_changed) {
        rp_row_set_fini(&b->best_cuts);
        copy_rows(&b->best_cuts, &b->cuts);
        b->best_y = rp_realloc(b->best_y, b->method.n_rows, sizeof *b->best_y);
        b->cuts_changed = false;
    }
    memcpy(b->best_y, b->method.yt, b->method.n_rows * sizeof *b->best_y);
}

/* A cover of the memory row of (t, k), if the point violates one. */
static uint32_t find_cover(struct rp_pdhg_bound *b, uint32_t t, uint32_t k) {
    struct rp_row_set memory = {0};
    rp_sep_memory_row(&b->memory, t, k, b->point, &memory);
    uint32_t found = rp_sep_cover_find(&memory, 0, b->point, COVER_MIN, &b->cuts);
    if (found)
        rp_push(&b->idle, 0);
    rp_row_set_fini(&memory);
    return found;
}

/* Each window looks at the inputs of the ops before it. */
static double window_work(const struct rp_formulation *f) {
    double n = f->n_stages;
    return n * n / 6 * (f->problem->n_ops + f->problem->input_start[f->problem->n_ops]);
}

static uint32_t find_windows(struct rp_pdhg_bound *b) {
    struct rp_sep_path windows;
    double work = window_work(&b->form);
    if (work > WINDOW_MAX || b->window_work + work > WINDOW_SHARE * (double)b->step_work)
        return 0;
    b->window_work += work;
    rp_sep_path_init(&windows, &b->form);
    uint32_t n =
        rp_sep_path_find(&windows, b->point, WINDOW_MIN, b->problem->n_ops, &b->cuts);
    for (uint32_t i = 0; i < n; i++)
        rp_push(&b->idle, 0);
    rp_sep_path_fini(&windows);
    return n;
}

/* At the method's point: the most violated memory row of each stage, a cover of it, and
 * windows. At most two rows a stage and n_ops windows. */
static uint32_t find_cuts(struct rp_pdhg_bound *b) {
    uint32_t n = 0;
    for (uint32_t j = 0; j < b->form.n_cols; j++)
        b->point[j] = b->method.xt[j];
    double *over = rp_calloc(b->problem->n_ops, sizeof *over);
    for (uint32_t t = 0; t < b->form.n_stages; t++) {
        uint32_t worst = b->form.last_of[t], least = rp_formulation_first_row(&b->form, t);
        rp_sep_memory_sweep(&b->memory, t, b->point, over);
        for (uint32_t k = worst; k-- > least;)
            if (over[k] > over[worst])
                worst = k;
        if (over[worst] > VIOLATION) {
            add_cut(b, t, worst, b->point);
            n++;
        }
        if (over[worst] > -NEAR && b->rounds >= EARLY)
            n += find_cover(b, t, worst);
    }
    if (b->rounds >= EARLY && b->rounds % WINDOW_ROUNDS == 0)
        n += find_windows(b);
    free(over);
    return n;
}

static void separate(struct rp_pdhg_bound *b) {
    struct rp_row_set kept = {0};
    uint32_t n_fixed = b->fixed.n, old = b->cuts.n, n_kept = 0;
    float *y = rp_calloc((size_t)n_fixed + old + 3 * (size_t)b->problem->n_ops, sizeof *y);
    memcpy(y, b->method.yt, n_fixed * sizeof *y);
    for (uint32_t i = 0; i < old; i++) {
        float multiplier = b->method.yt[n_fixed + i];
        uint32_t idle = multiplier > 0 ? 0 : b->idle.at[i] + 1;
        if (idle > KEEP_SLACK)
            continue;
        rp_row_set_copy(&kept, &b->cuts, i);
        b->idle.at[n_kept] = idle;
        y[n_fixed + n_kept++] = multiplier;
    }
    rp_row_set_fini(&b->cuts);
    b->cuts = kept;
    b->idle.n = n_kept;
    uint32_t added = find_cuts(b);
    b->rounds++;
    if (added > 0 || n_kept < old) {
        b->cuts_changed = true;
        rp_pdhg_load(&b->method, &b->fixed, &b->cuts, y);
    }
    rp_log(2,
           "bound: step %" PRIu64 ", %" PRIu32 " cuts (%" PRIu32 " new, %" PRIu32
           " dropped), %.0f ns",
           b->method.steps, b->cuts.n, added, old - n_kept, in_ns(b, b->best));
    free(y);
}

/* ---- with swaps: plans of at most so many ns ---- */

static uint64_t *limits_for(const struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    uint64_t *limits = rp_calloc(2 * (size_t)b->problem->n_ops, sizeof *limits);
    rp_formulation_swap_limits(&b->form, horizon_ns, limits);
    return limits;
}

static uint32_t limit_of(const struct rp_pdhg_bound *b, const struct rp_row_name *name) {
    uint32_t last = b->form.last_of[name->t];
    return name->op == last ? last : b->problem->n_ops + last;
}

/* Rows (4) of `rows`, made with the form's limits, get these. */
static void change_limits(const struct rp_pdhg_bound *b, struct rp_row_set *rows,
                          const uint64_t *limits) {
    for (uint32_t i = 0; i < rows->n; i++) {
        uint32_t at = limit_of(b, &rows->name[i]);
        if (rows->name[i].kind == RP_ROW_MEM)
            rows->rhs[i] +=
                ((double)limits[at] - (double)b->form.limit_bytes[at]) * b->form.byte_scale;
    }
}

/* What the best multipliers prove, about, with these limits. */
static double worth(const struct rp_pdhg_bound *b, const double *weight,
                    uint64_t horizon_ns) {
    uint64_t *limits = limits_for(b, horizon_ns);
    double value = b->best;
    for (uint32_t i = 0; i < 2 * b->problem->n_ops; i++)
        value += weight[i] * ((double)b->form.limit_bytes[i] - (double)limits[i]) *
                 b->form.byte_scale;
    free(limits);
    return in_ns(b, value);
}

/* The fewer ns plans may take, the more is proved of them: where both are the same. */
static uint64_t best_max_ns(const struct rp_pdhg_bound *b) {
    double *weight = rp_calloc(2 * (size_t)b->problem->n_ops, sizeof *weight);
    for (uint32_t i = 0; i < b->best_cuts.n; i++)
        if (b->best_cuts.name[i].kind == RP_ROW_MEM)
            weight[limit_of(b, &b->best_cuts.name[i])] += (double)b->best_y[b->fixed.n + i];
    uint64_t low = b->bound_ns, high = b->now_ns;
    if (worth(b, weight, high) >= (double)high)
        low = high;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (worth(b, weight, middle) >= (double)middle)
            low = middle;
        else
            high = middle;
    }
    free(weight);
    return low;
}

/* Goes on for plans of at most `now_ns`. Covers hold for fewer ns, not for more. */
static void move(struct rp_pdhg_bound *b, uint64_t now_ns) {
    struct rp_row_set rows = {0};
    uint32_t n_fixed = b->fixed.n, n = 0;
    bool more = now_ns > b->now_ns;
    uint64_t *limits = limits_for(b, now_ns);
    float *y = rp_calloc((size_t)n_fixed + b->cuts.n, sizeof *y);
    memcpy(y, b->method.yt, n_fixed * sizeof *y);
    for (uint32_t i = 0; i < b->cuts.n; i++) {
        if (more && b->cuts.name[i].kind == RP_ROW_COVER)
            continue;
        rp_row_set_copy(&rows, &b->cuts, i);
        b->idle.at[n] = b->idle.at[i];
        y[n_fixed + n++] = b->method.yt[n_fixed + i];
    }
    rp_row_set_fini(&b->cuts);
    b->cuts = rows;
    b->idle.n = n;
    change_limits(b, &b->cuts, limits);
    free(b->form.limit_bytes);
    b->form.limit_bytes = limits;
    b->now_ns = now_ns;
    rp_pdhg_load(&b->method, &b->fixed, &b->cuts, y);
    b->best = b->gained = 0; /* what there was is proved */
    b->cuts_changed = true;
    b->best_changed = false;
    b->patience = 0;
    free(y);
}

/* ---- the proof ---- */

/* Rounds the best multipliers and proves what they are worth. */
static void prove(struct rp_pdhg_bound *b) {
    struct rp_row_set rows = {0};
    uint32_t n = 0;
    uint64_t bound_ns, horizon_ns = b->now_ns > 0 ? best_max_ns(b) : INT64_MAX;
    unsigned scale_log2;
    double *y = rp_calloc((size_t)b->fixed.n + b->best_cuts.n, sizeof *y);
    for (uint32_t i = 0; i < b->fixed.n + b->best_cuts.n; i++) {
        if (b->best_y[i] <= 0)
            continue;
        if (i < b->fixed.n)
            rp_row_set_copy(&rows, &b->fixed, i);
        else
            rp_row_set_copy(&rows, &b->best_cuts, i - b->fixed.n);
        y[n++] = (double)b->best_y[i];
    }
    if (b->now_ns > 0) {
        uint64_t *limits = limits_for(b, horizon_ns);
        change_limits(b, &rows, limits);
        free(limits);
    }
    int64_t *m = rp_calloc(n, sizeof *m);
    rp_safe_dual_round(&b->form, &rows, y, m, &scale_log2);
    bool proved = rp_safe_dual_bound(&b->form, &rows, m, scale_log2, &bound_ns);
    bound_ns = proved && bound_ns > horizon_ns ? horizon_ns : bound_ns;
    if (proved && bound_ns > b->bound_ns) {
        rp_row_set_fini(&b->proof);
        free(b->multipliers);
        b->proof = rows;
        b->multipliers = m;
        b->scale_log2 = scale_log2;
        b->bound_ns = bound_ns;
        b->proof_max_ns = b->now_ns > 0 ? horizon_ns : 0;
        b->estimate_ns = in_ns(b, b->best);
    } else {
        rp_row_set_fini(&rows);
        free(m);
    }
    b->best_changed = false;
    free(y);
}

/* now_ns comes half way to what is proved when that no longer grows much; if all of now_ns
 * is proved, it was too little. */
static void choose_max(struct rp_pdhg_bound *b) {
    uint64_t step = b->upper_ns / 100000 + 1;
    if (b->best_changed)
        prove(b);
    if (b->bound_ns >= b->now_ns) {
        if (b->now_ns + step < b->upper_ns)
            move(b, b->now_ns + (b->upper_ns - b->now_ns) / 2);
    } else if (b->bound_ns - b->reached_ns < (b->now_ns - b->bound_ns) / 10 &&
               b->now_ns - b->bound_ns > step) {
        b->upper_ns = b->now_ns;
        move(b, b->bound_ns + (b->now_ns - b->bound_ns) / 2);
    }
    b->reached_ns = b->bound_ns;
}

static void watch_gain(struct rp_pdhg_bound *b) {
    b->patience++;
    if (b->best + b->form.fixed_cost > (b->gained + b->form.fixed_cost) * (1 + GAIN)) {
        b->gained = b->best;
        b->patience = 0;
    }
}

bool rp_pdhg_bound_run(struct rp_pdhg_bound *b, uint64_t work, double deadline,
                       const volatile sig_atomic_t *stop) {
    if (b->too_large || b->form.n_cols == 0)
        return false;
    for (uint64_t done = 0; done < work && b->patience < PATIENCE;) {
        if ((stop != NULL && *stop) || rp_seconds() > deadline)
            break;
        rp_pdhg_step(&b->method);
        done += 2 * (uint64_t)b->method.n_terms;
        b->step_work += 2 * (uint64_t)b->method.n_terms;
        if (b->method.steps % EVALUATE == 0) {
            evaluate(b);
            done += b->method.n_terms;
        }
        if (++b->fresh_steps == SEPARATE) {
            double before = b->window_work;
            separate(b);
            done += (uint64_t)(b->window_work - before);
            watch_gain(b);
            b->fresh_steps = 0;
            if (b->now_ns > 0 && b->rounds % MAX_ROUNDS == 0)
                choose_max(b);
        }
    }
    if (b->best_changed)
        prove(b);
    return b->patience < PATIENCE;
}

void rp_pdhg_bound_tighten(struct rp_pdhg_bound *b, uint64_t horizon_ns) {
    if (b->too_large || horizon_ns >= b->upper_ns)
        return;
    b->upper_ns = horizon_ns;
    if (b->now_ns > horizon_ns)
        move(b, horizon_ns);
}

uint64_t rp_pdhg_bound_ns(const struct rp_pdhg_bound *b) {
    return b->bound_ns;
}

const struct rp_formulation *rp_pdhg_bound_form(const struct rp_pdhg_bound *b) {
    return b->too_large ? NULL : &b->form;
}

const double *rp_pdhg_bound_point(const struct rp_pdhg_bound *b) {
    return b->too_large ? NULL : b->point;
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
    return b->proof_max_ns;
}

double rp_pdhg_bound_estimate(const struct rp_pdhg_bound *b) {
    return b->estimate_ns;
}
