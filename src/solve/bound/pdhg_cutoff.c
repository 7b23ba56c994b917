#include "solve/bound/pdhg_cutoff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/numbers.h"
#include "solve/bound/safe_dual.h"
#include "solve/core/params.h"

/* The first cutoff is this part of the way from the bound to the fastest schedule. */
#define FIRST_STEP 0.125
/* When the step would be less than this part, cutoffs get twice the work, at that step. */
#define LAST_STEP 0.02
/* The program is made anew without the columns that have been fixed once they are this
 * share of all. */
#define RESTRICT_SHARE 0.1
/* Ops are split on whose runs are that far from a whole number. */
#define MIN_FRACTION 0.05
/* Of all work so far: what a cutoff may take after its first split. */
#define FIRST_TREE_SHARE 0.25
#define MAX_TREE_SHARE 1e3

void rp_pdhg_cutoff_init(struct rp_pdhg_cutoff *c, const struct rp_formulation_options *o) {
    *c = (struct rp_pdhg_cutoff){
        .options = *o, .failed_ns = UINT64_MAX, .tree_share = FIRST_TREE_SHARE};
}

static void discard(struct rp_pdhg_cutoff *c, struct rp_pdhg_program *q) {
    if (q == NULL)
        return;
    rp_pdhg_program_count(q, &c->statistics);
    rp_pdhg_program_fini(q);
    free(q);
}

/* Nothing is tried any more. */
static void end(struct rp_pdhg_cutoff *c) {
    discard(c, c->program);
    c->program = NULL;
    for (size_t i = 0; i < c->open.n; i++)
        discard(c, c->open.at[i]);
    c->open.n = 0;
}

void rp_pdhg_cutoff_fini(struct rp_pdhg_cutoff *c) {
    end(c);
    free(c->open.at);
}

/* What the best multipliers of `q` prove, in integers. `known` gets, for each column, what
 * follows from them for schedules below the cutoff, and *n_fixed how many are fixed. */
static uint64_t prove(struct rp_pdhg_cutoff *c, const struct rp_pdhg_program *q,
                      uint8_t *known, uint32_t *n_fixed) {
    struct rp_row_set rows = {0};
    unsigned scale_log2;
    uint64_t bound_ns = 0;
    int64_t *m = rp_pdhg_program_proof(q, &rows, &scale_log2);
    *n_fixed = 0;
    if (!rp_safe_dual_fix(&q->formulation, &rows, m, scale_log2, c->cutoff_ns, &bound_ns,
                          known))
        memset(known, RP_UNDECIDED, q->formulation.n_cols);
    for (uint32_t j = 0; j < q->formulation.n_cols; j++)
        *n_fixed += known[j] != RP_UNDECIDED;
    c->statistics.proofs++;
    rp_row_set_fini(&rows);
    free(m);
    return bound_ns;
}

/* ---- the end of a cutoff ---- */

static void give_up(struct rp_pdhg_cutoff *c, uint64_t bound_ns) {
    c->failed_ns = c->cutoff_ns;
    end(c);
    rp_log(2, "bound: gave up at %" PRIu64 " ns for schedules below %" PRIu64 " ns",
           bound_ns, c->cutoff_ns);
}

/* The program has no schedule below the cutoff but those of open ones: goes on with one. */
static void close_program(struct rp_pdhg_cutoff *c, uint64_t *bound_ns) {
    discard(c, c->program);
    c->program = c->open.n > 0 ? c->open.at[--c->open.n] : NULL;
    if (c->program != NULL)
        return;
    *bound_ns = rp_max_u64(*bound_ns, c->cutoff_ns);
    c->statistics.cutoffs_proved++;
    c->step_ns = rp_min_u64(c->step_ns, UINT64_MAX / 2) * 2;
    rp_log(2, "bound: no schedule below %" PRIu64 " ns", c->cutoff_ns);
}

/* ---- restrictions ---- */

/* The part of `from` with the known values and these rows. NULL: it has no schedule. */
static struct rp_pdhg_program *restricted(struct rp_pdhg_cutoff *c,
                                          const struct rp_pdhg_program *from,
                                          const uint8_t *known,
                                          const struct rp_row_set *also) {
    struct rp_pdhg_program *q = rp_calloc(1, sizeof *q);
    c->statistics.restrictions++;
    if (rp_pdhg_program_restrict(q, from, &c->options, known, also))
        return q;
    free(q);
    return NULL;
}

/* Goes on without the columns that are known. */
static void shrink(struct rp_pdhg_cutoff *c, const uint8_t *known, uint64_t *bound_ns) {
    struct rp_pdhg_program *q = restricted(c, c->program, known, &(struct rp_row_set){0});
    discard(c, c->program);
    c->program = q;
    if (q == NULL)
        close_program(c, bound_ns);
}

/* ---- splits ---- */

/* The sum of the runs of op j after its first, at the point. */
static double runs_of(const struct rp_pdhg_program *q, uint32_t j) {
    const struct rp_formulation *f = &q->formulation;
    double sum = 0;
    for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j]; t++) {
        uint32_t col = rp_formulation_run(f, t, j);
        sum += col == RP_COL_ONE ? 1 : col == RP_COL_ZERO ? 0 : (double)q->method.xt[col];
    }
    return sum;
}

/* The op whose runs are farthest from a whole number, in time. RP_NONE: there is none. */
static uint32_t choose_op(const struct rp_pdhg_program *q) {
    const struct rp_instance *p = q->formulation.instance;
    uint32_t best = RP_NONE;
    double most = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        double runs = runs_of(q, j), fraction = fabs(runs - round(runs));
        double time = fraction * (double)p->time_ns[j];
        if (fraction >= MIN_FRACTION && time > most) {
            most = time;
            best = j;
        }
    }
    return best;
}

/* At most `runs` runs of op j after its first (sign 1), or at least that many (-1). */
static void add_runs_row(const struct rp_pdhg_program *q, uint32_t j, double runs, int sign,
                         struct rp_row_set *rows) {
    const struct rp_formulation *f = &q->formulation;
    rp_row_set_begin(rows,
                     (struct rp_row_name){RP_ROW_OTHER, f->stage_of[j], j, RP_NONE, 0},
                     sign * runs);
    for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j]; t++)
        rp_row_set_term(rows, rp_formulation_run(f, t, j), sign);
}

static bool is_full(const struct rp_pdhg_cutoff *c) {
    uint64_t terms = 2 * (uint64_t)c->program->method.n_terms;
    for (size_t i = 0; i < c->open.n; i++)
        terms += c->open.at[i]->method.n_terms;
    return terms > MAX_CUTOFF_TERMS;
}

/* Splits the program by how often an op runs again. False: there is no such op, or no room
 * for the parts. */
static bool split(struct rp_pdhg_cutoff *c, uint8_t *known, uint64_t *bound_ns) {
    const struct rp_pdhg_program *q = c->program;
    const struct rp_formulation *f = &q->formulation;
    uint32_t j = choose_op(q);
    if (j == RP_NONE || is_full(c))
        return false;
    double runs = runs_of(q, j);
    struct rp_row_set less = {0}, more = {0};
    add_runs_row(q, j, floor(runs), 1, &less);
    add_runs_row(q, j, ceil(runs), -1, &more);
    struct rp_pdhg_program *up = restricted(c, q, known, &more);
    for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j] && runs < 1; t++)
        if (rp_formulation_run(f, t, j) < f->n_cols)
            known[rp_formulation_run(f, t, j)] = 0;
    struct rp_pdhg_program *down = restricted(c, q, known, &less);
    rp_row_set_fini(&less);
    rp_row_set_fini(&more);
    c->statistics.splits++;
    if (up != NULL)
        rp_push(&c->open, up);
    if (down != NULL)
        rp_push(&c->open, down);
    close_program(c, bound_ns);
    return true;
}

/* ---- cutoffs ---- */

static void choose_cutoff(struct rp_pdhg_cutoff *c, uint64_t goal_ns, uint64_t bound_ns) {
    uint64_t left = goal_ns - bound_ns;
    if (c->step_ns == 0)
        c->step_ns = (uint64_t)(FIRST_STEP * (double)left) + 1;
    if (c->failed_ns <= bound_ns)
        c->failed_ns = UINT64_MAX;
    uint64_t step = rp_min_u64(c->step_ns, left);
    if (c->failed_ns != UINT64_MAX)
        step = rp_min_u64(step, (c->failed_ns - bound_ns) / 2);
    if ((double)step < LAST_STEP * (double)left || step == 0) {
        step = (uint64_t)(LAST_STEP * (double)left) + 1;
        c->tree_share = fmin(2 * c->tree_share, MAX_TREE_SHARE);
        c->failed_ns = UINT64_MAX;
    }
    c->step_ns = step;
    c->cutoff_ns = bound_ns + step;
}

void rp_pdhg_cutoff_begin(struct rp_pdhg_cutoff *c, const struct rp_pdhg_program *full,
                          uint64_t low_ns, uint64_t goal_ns, uint64_t *bound_ns) {
    uint32_t n_fixed;
    choose_cutoff(c, goal_ns, low_ns);
    uint8_t *known = rp_calloc(full->formulation.n_cols, sizeof *known);
    uint64_t work = full->work + c->statistics.work;
    c->max_work = (uint64_t)(c->tree_share * (double)work);
    c->spent_work = 0;
    c->has_split = false;
    c->statistics.cutoffs_tried++;
    if (prove(c, full, known, &n_fixed) < c->cutoff_ns)
        c->program = restricted(c, full, known, &(struct rp_row_set){0});
    if (c->program == NULL)
        close_program(c, bound_ns);
    else
        rp_log(2, "bound: %" PRIu32 " columns for schedules below %" PRIu64 " ns",
               c->program->formulation.n_cols, c->cutoff_ns);
    free(known);
}

void rp_pdhg_cutoff_step(struct rp_pdhg_cutoff *c, struct rp_stop *stop,
                         uint64_t *bound_ns) {
    struct rp_pdhg_program *q = c->program;
    uint64_t before = q->work, proved_ns = 0;
    uint32_t n_fixed = 0;
    bool separated = rp_pdhg_program_step(q, stop);
    c->spent_work += c->has_split ? q->work - before : 0;
    if (!separated)
        return;
    uint8_t *known = rp_calloc(q->formulation.n_cols, sizeof *known);
    if (q->best_is_new)
        proved_ns = prove(c, q, known, &n_fixed);
    q->best_is_new = false;
    if (!c->has_split)
        *bound_ns = rp_max_u64(*bound_ns, rp_min_u64(proved_ns, c->cutoff_ns));
    double target = (double)c->cutoff_ns * q->formulation.time_scale;
    bool is_slow = rp_pdhg_program_is_slow(q, target - q->formulation.fixed_cost);
    if (proved_ns >= c->cutoff_ns) {
        close_program(c, bound_ns);
    } else if (n_fixed > RESTRICT_SHARE * q->formulation.n_cols) {
        shrink(c, known, bound_ns);
    } else if (is_slow) {
        prove(c, q, known, &n_fixed);
        if (c->spent_work > c->max_work || !split(c, known, bound_ns))
            give_up(c, *bound_ns);
        c->has_split = true;
    }
    free(known);
}
