#include "solve/milp/interval_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/engine/lp_engine.h"
#include "solve/engine/mip_engine.h"
#include "solve/lp/bound_ns.h"
#include "solve/milp_cuts/interval_cuts.h"
#include "solve/milp_cuts/sep_mir.h"

/* Of the work: when the root's rounds end, those without V and all. */
#define FIRST_SHARE 0.25
#define ROOT_SHARE 0.4
#define MAX_ROUNDS 300 /* of cuts at the root */
#define MIN_GAIN 1e-2  /* of the gap: what PATIENCE rounds must raise the bound by */
#define PATIENCE 20
#define PATIENCE_ABOUT_V 30 /* these rounds begin with all own rows met */
/* Of the gap: what (M14) to (M17) must close of it. They make linear programs slower. */
#define MIN_CLOSED 0.2
#define TIDY_ROUNDS 5     /* slack cuts are dropped once in so many rounds */
#define LEAST_SHARE 1e-4  /* of the span: what a row must be violated by */
#define LEAST 1e-6        /* the same at 0/1 points, scaled */
#define MIN_EFFICACY 1e-3 /* of mixed-integer rounding cuts */
#define FIRST_ROW_ABOUT_V 14
#define OVERHEAD_PIVOTS 20
#define STEPS_PER_UNIT 200  /* of interval_cuts.h, in a microsecond */
#define MAX_LAZY_SPAN 500.0 /* in times of the longest op, about */
/* Smaller coefficients are left out. Beside those of long ops they make GLPK's bases
 * singular, and then it calls programs infeasible that are not. */
#define LEAST_COEF 1e-6

struct search {
    const struct rp_interval_model *m;
    const struct rp_interval_options *o;
    struct rp_interval_result *r;
    struct rp_interval_cuts cuts;
    struct rp_row_set own; /* the model's, without small coefficients */
    /* Per own row: it is in the program that is being solved. At the root, a point has
     * violated it. */
    bool *is_there, *was_violated;
    bool uses_v;             /* the own rows about V count */
    bool uses_paths;         /* so do path cuts */
    double root_work;        /* when the root's rounds end */
    struct rp_row_set added; /* to the linear program */
    struct rp_mir *mir;      /* with the bounds `low` and `high` */
    double *low, *high;      /* of the integer columns */
    double *most;            /* per column */
    double *x;
};

/* ---- bounds ---- */

/* The least time of a program that costs `bound` (scaled) or more. */
static uint64_t to_ns(const struct search *s, double bound) {
    return rp_bound_ns(bound / s->m->time_scale, s->m->divisor_ns);
}

static uint64_t beyond_ns(const struct search *s) {
    return s->m->horizon_ns + s->m->divisor_ns;
}

static void tell_proved(struct search *s, uint64_t ns) {
    if (s->o->proved_ns != NULL)
        *s->o->proved_ns = rp_max_u64(*s->o->proved_ns, rp_min_u64(ns, beyond_ns(s)));
}

static void raise_bound(struct search *s, uint64_t ns) {
    s->r->bound_ns = rp_max_u64(s->r->bound_ns, rp_min_u64(ns, beyond_ns(s)));
    tell_proved(s, s->r->bound_ns);
}

/* What an engine's bound proves. */
static uint64_t trusted_ns(const struct search *s, double bound) {
    return to_ns(s, bound - RP_INTERVAL_TRUST * fabs(bound));
}

/* ---- rows ---- */

static bool is_about_v(const struct search *s, uint32_t i) {
    return s->m->row_number[i] >= FIRST_ROW_ABOUT_V;
}

static bool counts(const struct search *s, uint32_t i) {
    return s->uses_v || !is_about_v(s, i);
}

/* Lists the model's rows. Their names say which they are. */
static void list_own(struct search *s) {
    for (uint32_t i = 0; i < s->m->rows.n; i++) {
        rp_row_set_copy(&s->own, &s->m->rows, i);
        s->own.name[i].from = i + 1;
    }
    rp_row_set_drop_small(&s->own, 0, LEAST_COEF, s->most);
}

static bool is_own(const struct rp_row_set *rows, uint32_t i) {
    return rows->name[i].from > 0;
}

/* Those among the added ones are there, and no others. */
static void mark_own(struct search *s) {
    memset(s->is_there, 0, s->own.n * sizeof *s->is_there);
    for (uint32_t i = 0; i < s->added.n; i++)
        if (is_own(&s->added, i))
            s->is_there[s->added.name[i].from - 1] = true;
}

/* Appends the own rows that count, that x violates, and that are not there. */
static void find_own(struct search *s, const double *x, struct rp_row_set *rows) {
    for (uint32_t i = 0; i < s->own.n; i++)
        if (!s->is_there[i] && counts(s, i) &&
            rp_row_set_left(&s->own, i, x) > s->own.rhs[i] + LEAST) {
            rp_row_set_copy(rows, &s->own, i);
            s->was_violated[i] = true;
        }
}

/* Appends those that all programs meet and x violates. Returns the work. */
static uint64_t find_cuts(struct search *s, const double *x, double least, uint32_t skip,
                          struct rp_row_set *rows) {
    uint32_t before = rows->n;
    uint64_t steps = s->cuts.steps;
    if (!s->uses_v)
        skip |= 1u << RP_CUT_ROOM;
    if (!s->uses_paths)
        skip |= 1u << RP_CUT_PATH;
    rp_interval_cuts_find(&s->cuts, x, least, skip, rows);
    rp_row_set_drop_small(rows, before, LEAST_COEF, s->most);
    return (s->cuts.steps - steps) / STEPS_PER_UNIT;
}

/* ---- the linear relaxation ---- */

static struct rp_lp *make_lp(const struct search *s) {
    const struct rp_interval_model *m = s->m;
    double *cost = rp_calloc(m->n_cols, sizeof *cost);
    for (uint32_t j = m->n_integer; j < m->n_cols; j++)
        cost[j] = 1;
    struct rp_lp *lp = rp_lp_new(s->o->engine, m->n_cols, cost, m->fixed_cost);
    for (uint32_t j = m->n_integer; j < m->n_cols; j++)
        rp_lp_set_bounds(lp, j, 0, m->span);
    free(cost);
    return lp;
}

/* Drops the added rows that are slack. */
static void tidy(struct search *s, struct rp_lp *lp) {
    bool *drop = rp_calloc((size_t)s->added.n + 1, sizeof *drop);
    for (uint32_t i = 0; i < s->added.n; i++)
        drop[i] = rp_lp_row_is_slack(lp, i);
    rp_lp_drop_rows(lp, drop);
    rp_row_set_drop(&s->added, drop);
    free(drop);
}

/* What a cut must be violated by at fractional points. */
static double least_at_fractions(const struct search *s) {
    return LEAST_SHARE * s->m->span + LEAST;
}

/* Cuts (M13g): of all added rows, those just found among them. */
static void round_rows(struct search *s) {
    uint32_t before = s->added.n;
    uint64_t terms = rp_mir_find(s->mir, &s->added, s->x, MIN_EFFICACY, &s->added);
    rp_row_set_drop_small(&s->added, before, LEAST_COEF, s->most);
    s->r->work += terms / STEPS_PER_UNIT;
}

/* Adds what the point violates. */
static bool separate(struct search *s, struct rp_lp *lp, bool with_cuts) {
    uint32_t before = s->added.n;
    rp_lp_point(lp, s->x);
    mark_own(s);
    find_own(s, s->x, &s->added);
    if (with_cuts)
        s->r->work += find_cuts(s, s->x, least_at_fractions(s), s->o->skip_cuts, &s->added);
    if (with_cuts && !(s->o->skip_cuts >> RP_CUT_ROUNDING & 1))
        round_rows(s);
    struct rp_sparse_rows view = rp_row_set_view(&s->added, before);
    rp_lp_add_rows(lp, &view);
    s->r->n_cuts += s->added.n - before;
    return s->added.n > before;
}

/* Fixes columns that, moved away from their bound, lift the bound beyond the horizon. */
static void fix_columns(struct search *s, double bound, const double *reduced) {
    for (uint32_t j = 0; j < s->m->n_integer; j++) {
        if (s->low[j] == s->high[j] || to_ns(s, bound + fabs(reduced[j])) < beyond_ns(s))
            continue;
        s->low[j] = s->high[j] = reduced[j] < 0;
        s->r->n_fixed++;
    }
}

/* May more be proved? */
static bool is_open(const struct search *s) {
    return s->r->bound_ns < beyond_ns(s) && !rp_stop_now(s->o->stop);
}

/* One solve. False if no more is to be gained. */
static bool solve_root(struct search *s, struct rp_lp *lp, double *reduced) {
    uint64_t before = rp_lp_pivots(lp);
    uint64_t size = (uint64_t)rp_lp_n_rows(lp) + rp_lp_n_cols(lp);
    double left = s->root_work - (double)s->r->work;
    uint64_t pivots = (uint64_t)fmax(left * 64 / (double)size, 100);
    enum rp_lp_status status = rp_lp_solve(lp, pivots, HUGE_VAL);
    double bound = rp_lp_bound(lp, reduced);
    s->r->work += (rp_lp_pivots(lp) - before + OVERHEAD_PIVOTS) * size / 64 + 1;
    raise_bound(s, status == RP_LP_INFEASIBLE ? UINT64_MAX : to_ns(s, bound));
    fix_columns(s, bound, reduced);
    return status == RP_LP_OPTIMAL && is_open(s) && (double)s->r->work < s->root_work;
}

/* Solves and separates until that gains little, or nothing is violated. It is not given up
 * while the bound is still that of a step with all memory. False: no more is to be gained.
 */
static bool run_rounds(struct search *s, struct rp_lp *lp, double *reduced, bool with_cuts,
                       uint32_t patience) {
    uint64_t first_ns = to_ns(s, s->m->fixed_cost), last_ns = 0;
    uint32_t stalled = 0;
    for (uint32_t k = 0; k < MAX_ROUNDS; k++) {
        if (!solve_root(s, lp, reduced))
            return false;
        double gap = (double)(beyond_ns(s) - s->r->bound_ns);
        bool gained = (double)s->r->bound_ns > (double)last_ns + MIN_GAIN * gap;
        stalled = gained || s->r->bound_ns == first_ns ? 0 : stalled + 1;
        last_ns = gained ? s->r->bound_ns : last_ns;
        if (stalled == patience || !separate(s, lp, with_cuts))
            break;
        if (k % TIDY_ROUNDS == TIDY_ROUNDS - 1)
            tidy(s, lp);
    }
    return true;
}

static void drop_paths(struct rp_row_set *rows) {
    bool *drop = rp_calloc((size_t)rows->n + 1, sizeof *drop);
    for (uint32_t i = 0; i < rows->n; i++)
        drop[i] = rows->name[i].kind == RP_ROW_PATH;
    rp_row_set_drop(rows, drop);
    free(drop);
}

/* More rounds, with (M14) to (M17): first without cuts, until the model's rows are met. If
 * this closes little of the gap, it goes on without those rows, and without path cuts,
 * which then make linear programs slower than trees small. */
static void run_rounds_about_v(struct search *s, struct rp_lp *lp, double *reduced) {
    struct rp_row_set without = {0};
    uint64_t before_ns = s->r->bound_ns;
    rp_row_set_copy_all(&without, &s->added);
    s->uses_v = true;
    if (run_rounds(s, lp, reduced, false, UINT32_MAX))
        run_rounds(s, lp, reduced, true, PATIENCE_ABOUT_V);
    tidy(s, lp);
    double closed = (double)(s->r->bound_ns - before_ns);
    s->uses_v = closed >= MIN_CLOSED * (double)(beyond_ns(s) - before_ns);
    s->uses_paths = s->uses_v;
    if (!s->uses_v) {
        rp_row_set_fini(&s->added);
        s->added = without;
        drop_paths(&s->added);
    } else {
        rp_row_set_fini(&without);
    }
}

static void run_root(struct search *s) {
    struct rp_lp *lp = make_lp(s);
    double *reduced = rp_calloc(s->m->n_cols, sizeof *reduced);
    s->root_work = FIRST_SHARE * (double)s->o->work;
    run_rounds(s, lp, reduced, true, PATIENCE);
    tidy(s, lp);
    s->root_work = ROOT_SHARE * (double)s->o->work;
    if (is_open(s) && s->m->room_bytes != NULL)
        run_rounds_about_v(s, lp, reduced);
    s->r->root_bound_ns = s->r->bound_ns;
    free(reduced);
    rp_lp_free(lp);
}

/* ---- the integer program ---- */

/* Do rows enter while GLPK searches? It is fast while it has few, faster than HiGHS, which
 * takes all of them before. Where copies take far longer than ops, GLPK needs its
 * presolver, which knows no lazy rows. */
static bool is_lazy(const struct search *s) {
    return s->m->span < MAX_LAZY_SPAN;
}

static void make_milp(struct search *s, struct rp_milp *p) {
    const struct rp_interval_model *m = s->m;
    struct rp_row_set rows = {0};
    mark_own(s);
    rp_row_set_copy_all(&rows, &s->added);
    for (uint32_t i = 0; i < s->own.n; i++)
        if (counts(s, i) && !s->is_there[i] && (!is_lazy(s) || s->was_violated[i])) {
            rp_row_set_copy(&rows, &s->own, i);
            s->is_there[i] = true;
        }
    struct rp_sparse_rows view = rp_row_set_view(&rows, 0);
    *p = (struct rp_milp){.fixed = m->fixed_cost};
    for (uint32_t j = 0; j < m->n_integer; j++)
        rp_milp_add_col(p, 0, s->low[j], s->high[j], true);
    for (uint32_t j = m->n_integer; j < m->n_cols; j++)
        rp_milp_add_col(p, 1, 0, m->span, false);
    rp_milp_add_rows(p, &view);
    rp_row_set_fini(&rows);
}

/* What rp_mip_separate asks for. */
static uint64_t find_rows(void *arg, const double *x, bool whole, struct rp_milp *rows) {
    struct search *s = arg;
    struct rp_row_set found = {0};
    find_own(s, x, &found);
    uint64_t work = find_cuts(s, x, whole ? LEAST : least_at_fractions(s),
                              whole ? 0 : s->o->skip_cuts, &found);
    struct rp_sparse_rows view = rp_row_set_view(&found, 0);
    rp_milp_add_rows(rows, &view);
    rp_row_set_fini(&found);
    return work;
}

/* Rows that the engine's 0/1 point violates. */
static bool is_cut_off(struct search *s) {
    uint32_t before = s->added.n;
    s->r->work += find_cuts(s, s->x, LEAST, 0, &s->added);
    s->r->n_cuts += s->added.n - before;
    for (uint32_t i = before; i < s->added.n; i++)
        if (rp_row_set_left(&s->added, i, s->x) > s->added.rhs[i] + LEAST)
            return true;
    return false;
}

/* What rp_mip_options asks for. It goes to the caller only, and not to the result, which
 * does not depend on the clock. */
static void hear_bound(void *arg, double bound) {
    struct search *s = arg;
    tell_proved(s, trusted_ns(s, bound));
}

/* One solve of the program with the rows found so far. True if it is to be solved again. */
static bool solve_milp(struct search *s) {
    struct rp_milp p;
    struct rp_mip_result r;
    struct rp_mip_options o = {.engine = is_lazy(s) ? RP_ENGINE_GLPK : s->o->engine,
                               .work = s->o->work - rp_min_u64(s->r->work, s->o->work - 1),
                               .stop = s->o->stop,
                               .separate = is_lazy(s) ? find_rows : NULL,
                               .separate_arg = s,
                               .on_bound = hear_bound,
                               .on_bound_arg = s,
                               .cutoff = (s->m->fixed_cost + s->m->span) *
                                         (1 + RP_INTERVAL_TRUST)};
    make_milp(s, &p);
    enum rp_mip_status status = rp_mip_solve(&p, &o, s->x, &r);
    s->r->work += r.work;
    s->r->nodes += r.nodes;
    s->r->n_cuts += (uint32_t)r.lazy_rows;
    rp_milp_fini(&p);
    raise_bound(s, trusted_ns(s, r.bound));
    /* Nothing costs less than the limit, which is above all that the horizon allows. */
    if (status == RP_MIP_OPTIMAL && !r.found && r.bound > s->m->fixed_cost + s->m->span)
        raise_bound(s, beyond_ns(s));
    if (r.found && is_cut_off(s))
        return s->r->work < s->o->work;
    s->r->found = r.found;
    s->r->finished = status == RP_MIP_OPTIMAL;
    return false;
}

void rp_interval_solve(const struct rp_interval_model *m,
                       const struct rp_interval_options *o, double *x,
                       struct rp_interval_result *r) {
    struct search s = {.m = m, .o = o, .r = r, .uses_paths = true, .x = x};
    *r = (struct rp_interval_result){0};
    raise_bound(&s, to_ns(&s, m->fixed_cost));
    if (m->empty)
        raise_bound(&s, UINT64_MAX);
    s.low = rp_calloc(m->n_cols, sizeof *s.low);
    s.high = rp_calloc(m->n_cols, sizeof *s.high);
    s.most = rp_calloc(m->n_cols, sizeof *s.most);
    s.is_there = rp_calloc((size_t)m->rows.n + 1, sizeof *s.is_there);
    s.was_violated = rp_calloc((size_t)m->rows.n + 1, sizeof *s.was_violated);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        s.high[j] = 1;
        s.most[j] = j < m->n_integer ? 1 : m->span;
    }
    list_own(&s);
    rp_interval_cuts_init(&s.cuts, m);
    s.mir = rp_mir_new((struct rp_mir_columns){m->n_cols, m->n_integer, s.low, s.high});
    if (!m->empty)
        run_root(&s);
    while (!o->root_only && is_open(&s) && solve_milp(&s))
        ;
    r->finished = r->finished || r->bound_ns == beyond_ns(&s);
    rp_interval_cuts_fini(&s.cuts);
    rp_mir_free(s.mir);
    rp_row_set_fini(&s.own);
    rp_row_set_fini(&s.added);
    free(s.most);
    free(s.low);
    free(s.high);
    free(s.is_there);
    free(s.was_violated);
}
