#include "solve/moment/moment_bound.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/heap.h"
#include "solve/core/params.h"
#include "solve/engine/lp_engine.h"
#include "solve/lp/bound_ns.h"
#include "solve/moment/moment_relaxation.h"
#include "solve/moment/moment_sources.h"

enum {
    MAX_EXAMINED = 256,       /* moments whose wanted bytes are counted */
    MAX_MOMENTS = 8,          /* of these, linear programs that are solved */
    CLIMB_FROM = 4,           /* of these, where more are solved near the best one */
    CLIMB_STEP = 8,           /* updates: the first step there */
    MAX_UNFOLDED = 64,        /* sources, for branch and bound */
    HORIZONS = 8,             /* steps of bisection with swaps */
    WORK_PER_QUESTION = 20000 /* to `stop` */
};
/* A pivot takes about this many microseconds per row and column. */
static const double WORK_PER_PIVOT = 0.02;
static const double FRACTIONAL = 1e-6;

struct node {
    uint32_t parent; /* RP_NONE: the root */
    uint32_t col;    /* fixed at `value` here */
    bool value;
    bool solved;
    double bound;    /* scaled */
    uint32_t branch; /* once solved: the column to branch on; RP_NONE: S is integral */
};

struct search {
    const struct rp_instance *p;
    const struct rp_moment_bound_options *o;
    struct rp_moment m;
    struct rp_lp *lp;
    double *point;
    struct {
        RP_VEC(struct node);
    } nodes;
    struct {
        RP_VEC(uint32_t);
    } open;
    double work; /* done */
    uint64_t divisor_ns;
    struct rp_moment_bound result;
    struct rp_moment_statistics *statistics;
};

/* ---- bounds ---- */

static uint64_t common_divisor_ns(const struct rp_instance *p) {
    uint64_t divisor = 0;
    for (uint32_t j = 0; j < p->n_ops && p->out_ns == NULL; j++)
        divisor = rp_gcd_u64(divisor, p->time_ns[j]);
    return divisor > 0 ? divisor : 1;
}

/* The ops' own times, and what more the objective says. */
static uint64_t to_ns(const struct search *s, double scaled) {
    double ns = scaled / s->m.time_scale;
    uint64_t all_ns = s->p->graph->total_time_ns;
    return ns > 9e18 - (double)all_ns ? all_ns : all_ns + rp_bound_ns(ns, s->divisor_ns);
}

static bool is_stopped(const struct search *s) {
    return s->o->stop != NULL && s->o->stop->hit;
}

static bool out_of_work(const struct search *s) {
    return s->work >= (double)s->o->work || is_stopped(s);
}

/* The bound of the linear program as it stands; HUGE_VAL if no point is left. */
static double solve_lp(struct search *s) {
    enum rp_lp_status status = RP_LP_LIMIT;
    double size = (double)rp_lp_n_rows(s->lp) + (double)rp_lp_n_cols(s->lp);
    double pivot = WORK_PER_PIVOT * size;
    while (status == RP_LP_LIMIT && !out_of_work(s)) {
        uint64_t before = rp_lp_pivots(s->lp);
        status = rp_lp_solve(s->lp, (uint64_t)(WORK_PER_QUESTION / pivot) + 1, HUGE_VAL);
        uint64_t pivots = rp_lp_pivots(s->lp) - before;
        s->statistics->pivots += pivots;
        s->work += pivot * (double)(pivots + SOLVE_OVERHEAD_PIVOTS);
        rp_stop_now(s->o->stop);
    }
    return status == RP_LP_INFEASIBLE ? HUGE_VAL : rp_lp_bound(s->lp, NULL);
}

/* ---- branch and bound ---- */

static bool before(const void *context, const void *a, const void *b) {
    const struct search *s = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    double x = s->nodes.at[i].bound, y = s->nodes.at[k].bound;
    return x != y ? x < y : i < k;
}

static void open_node(struct search *s, uint32_t i) {
    rp_push(&s->open, i);
    rp_heap_push(s->open.at, s->open.n, sizeof *s->open.at, before, s);
}

static void add_node(struct search *s, uint32_t parent, uint32_t col, bool value) {
    double bound = parent != RP_NONE ? s->nodes.at[parent].bound : 0;
    struct node node = {parent, col, value, false, bound, RP_NONE};
    rp_push(&s->nodes, node);
    open_node(s, (uint32_t)s->nodes.n - 1);
}

/* Fixes what the node and those above it fix, and frees all else. */
static void enter_node(struct search *s, uint32_t i) {
    for (uint32_t c = s->m.n_run_cols; c < s->m.n_cols; c++)
        if (s->m.col_id[c] != RP_NONE)
            rp_lp_set_bounds(s->lp, c, 0, 1);
    for (; s->nodes.at[i].parent != RP_NONE; i = s->nodes.at[i].parent) {
        const struct node *node = &s->nodes.at[i];
        rp_lp_set_bounds(s->lp, node->col, node->value, node->value);
    }
}

/* The S that is fractional in most bytes. RP_NONE if there is none: then the least R is
 * integral too. */
static uint32_t choose_branch(struct search *s) {
    uint32_t best = RP_NONE;
    double most = 0;
    rp_lp_point(s->lp, s->point);
    for (uint32_t c = s->m.n_run_cols; c < s->m.n_cols; c++) {
        double v = s->point[c], away = fmin(v, 1 - v);
        if (s->m.col_id[c] == RP_NONE || away < FRACTIONAL)
            continue;
        double bytes = away * (double)s->p->bytes[s->m.col_id[c]];
        if (best == RP_NONE || bytes > most) {
            best = c;
            most = bytes;
        }
    }
    return best;
}

static void solve_node(struct search *s, uint32_t i) {
    enter_node(s, i);
    double bound = solve_lp(s);
    struct node *node = &s->nodes.at[i];
    node->solved = !out_of_work(s);
    node->branch = choose_branch(s);
    node->bound = fmax(node->bound, bound);
    if (node->bound < HUGE_VAL)
        open_node(s, i);
    s->statistics->nodes++;
}

static uint32_t pop_node(struct search *s) {
    rp_heap_pop(s->open.at, s->open.n, sizeof *s->open.at, before, s);
    return s->open.at[--s->open.n];
}

/* Solves the 0/1 program as far as the work allows. Returns its scaled bound; HUGE_VAL if
 * it has no solution. */
static double branch_and_bound(struct search *s) {
    s->nodes.n = s->open.n = 0;
    add_node(s, RP_NONE, RP_NONE, false);
    while (s->open.n > 0) {
        uint32_t i = s->open.at[0];
        struct node node = s->nodes.at[i];
        s->result.optimal = node.solved && node.branch == RP_NONE;
        if (s->result.optimal || out_of_work(s) || to_ns(s, node.bound) >= s->o->goal_ns)
            return node.bound;
        pop_node(s);
        if (!node.solved) {
            solve_node(s, i);
            continue;
        }
        add_node(s, i, node.branch, false);
        add_node(s, i, node.branch, true);
    }
    return HUGE_VAL;
}

/* ---- one moment ---- */

static void set_horizon(struct search *s, uint64_t horizon_ns) {
    const struct rp_moment *m = &s->m;
    if (m->room != RP_COL_ZERO)
        rp_lp_set_bounds(s->lp, m->room, 0, rp_moment_room(m, s->p, horizon_ns));
    if (m->extra == RP_COL_ZERO)
        return;
    double high = (double)horizon_ns * m->time_scale;
    rp_lp_set_bounds(s->lp, m->extra, 0, high);
    rp_lp_set_bounds(s->lp, m->until, 0, high);
    rp_lp_set_bounds(s->lp, m->from, 0, high);
    rp_lp_set_bounds(s->lp, m->resident, 0, (double)s->p->limit_bytes * m->byte_scale);
}

/* With swaps, looks for the horizon that proves most: returns a bound and sets *horizon_ns
 * to the last one for which it is not met. */
static uint64_t bisect_horizon(struct search *s, uint64_t bound_ns, uint64_t *horizon_ns) {
    uint64_t low = bound_ns, high = *horizon_ns;
    for (uint32_t k = 0; k < HORIZONS && high > low + 1 && !out_of_work(s); k++) {
        uint64_t middle = low + (high - low) / 2;
        set_horizon(s, middle);
        uint64_t ns = to_ns(s, solve_lp(s));
        if (ns >= middle) {
            low = middle;
            continue;
        }
        high = middle;
        low = rp_max_u64(low, ns);
    }
    set_horizon(s, high);
    *horizon_ns = high;
    return low;
}

static void begin_moment(struct search *s) {
    struct rp_sparse_rows rows = rp_row_set_view(&s->m.rows, 0);
    s->lp = rp_lp_new(RP_ENGINE_GLPK, s->m.n_cols, s->m.cost, 0);
    rp_lp_add_rows(s->lp, &rows);
    s->point = rp_calloc(s->m.n_cols, sizeof *s->point);
}

static void end_moment(struct search *s) {
    rp_lp_free(s->lp);
    free(s->point);
    rp_moment_fini(&s->m);
}

/* The bound of the moment of op c. `exactly`: of its 0/1 program. */
static uint64_t solve_moment(struct search *s, uint32_t c, const enum rp_side *side,
                             bool exactly) {
    uint64_t horizon_ns = s->p->out_ns != NULL ? s->o->horizon_ns : UINT64_MAX;
    uint64_t bound_ns = s->p->graph->total_time_ns;
    rp_moment_init(&s->m, s->p, c, side);
    if (s->p->n_homes > 0)
        rp_moment_add_sources(&s->m, s->p, c, side,
                              !exactly || s->p->n_homes > MAX_UNFOLDED);
    if (s->m.fits && s->m.n_cols > 0) {
        begin_moment(s);
        set_horizon(s, horizon_ns);
        bound_ns = rp_min_u64(to_ns(s, solve_lp(s)), horizon_ns);
        if (s->m.room != RP_COL_ZERO && s->m.extra == RP_COL_ZERO)
            bound_ns = bisect_horizon(s, bound_ns, &horizon_ns);
        if (exactly)
            bound_ns =
                rp_max_u64(bound_ns, rp_min_u64(to_ns(s, branch_and_bound(s)), horizon_ns));
        end_moment(s);
    } else {
        rp_moment_fini(&s->m);
    }
    s->statistics->moments++;
    return bound_ns;
}

/* ---- which moments ---- */

struct candidate {
    uint32_t op;
    uint64_t score; /* bytes live, then bytes wanted above the limit; or a time of copies */
};

static int by_score(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->op > y->op) - (x->op < y->op);
}

/* All ops, the one with most bytes live in the instance's order first. */
static struct candidate *list_by_live_bytes(const struct rp_instance *p) {
    struct candidate *list = rp_calloc(p->n_ops, sizeof *list);
    uint64_t *freed = rp_calloc((size_t)p->n_ops + 1, sizeof *freed), live = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            live += p->bytes[x];
            freed[rp_instance_last_need(p, x)] += p->bytes[x];
        }
        list[j] = (struct candidate){j, live};
        live -= freed[j];
    }
    free(freed);
    qsort(list, p->n_ops, sizeof *list, by_score);
    return list;
}

/* With sources that may live on the host, copies count more than memory, and moments that
 * lie side by side tell the same: ops at equal distances. */
static struct candidate *list_at_equal_distances(const struct rp_instance *p, uint32_t *n) {
    struct candidate *list = rp_calloc(p->n_ops, sizeof *list);
    uint32_t step = p->n_ops / MAX_EXAMINED + 1;
    *n = 0;
    for (uint32_t j = 1; j < p->n_ops; j += step)
        list[(*n)++].op = j;
    return list;
}

/* The ops whose first runs are the moments to try, the best first; the score is 0 where
 * there is nothing to prove. The caller frees the list. */
static struct candidate *rank_moments(const struct rp_instance *p,
                                      const struct rp_first_runs *first_runs,
                                      struct rp_stop *stop, enum rp_side *side,
                                      uint32_t *n) {
    struct candidate *list;
    *n = rp_min_u32(p->n_ops, MAX_EXAMINED);
    list = p->n_homes > 0 ? list_at_equal_distances(p, n) : list_by_live_bytes(p);
    for (uint32_t k = 0; k < *n && !rp_stop_now(stop); k++) {
        rp_find_sides(p, first_runs, list[k].op, side);
        list[k].score = p->n_homes > 0 ? rp_moment_copies_ns(p, list[k].op, side)
                                       : rp_moment_excess(p, list[k].op, side);
    }
    qsort(list, *n, sizeof *list, by_score);
    return list;
}

struct moments {
    struct search *s;
    const struct rp_first_runs *first_runs; /* NULL: in the instance's order alone */
    enum rp_side *side;
};

/* Solves the moment of op c. Is it the best one so far? */
static bool try_moment(struct moments *k, uint32_t c, bool exactly) {
    struct search *s = k->s;
    rp_find_sides(s->p, k->first_runs, c, k->side);
    uint64_t ns = solve_moment(s, c, k->side, exactly);
    if (ns <= s->result.bound_ns)
        return false;
    s->result.bound_ns = ns;
    s->result.op = c;
    return true;
}

/* The ops that update most, and the one before each. The caller frees the list. */
static uint32_t *list_large_updates(const struct rp_instance *p, uint32_t *n) {
    uint64_t *out_ns = rp_calloc(p->n_ops, sizeof *out_ns), all_ns = 0;
    uint32_t *list = rp_calloc(p->n_ops, sizeof *list), updates = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (!rp_must_copy_out(p, x))
            continue;
        updates += out_ns[p->producer[x]] == 0;
        out_ns[p->producer[x]] += p->out_ns[x];
        all_ns += p->out_ns[x];
    }
    *n = 0;
    for (uint32_t j = 1; j < p->n_ops; j++) {
        if (out_ns[j] == 0 || out_ns[j] < all_ns / updates)
            continue;
        if (j > 1 && (*n == 0 || list[*n - 1] != j - 1))
            list[(*n)++] = j - 1;
        list[(*n)++] = j;
    }
    free(out_ns);
    return list;
}

/* With sources that may live on the host, the bound rises from moment to moment until an
 * update is done, since what is updated before may be copied out before. So the best
 * moments are those of updates: tries them near the best one, by steps that halve. */
static void climb(struct moments *k) {
    const struct search *s = k->s;
    uint32_t n, i = 0;
    uint32_t *list = list_large_updates(s->p, &n);
    while (i < n && list[i] < s->result.op)
        i++;
    if (i < n && list[i] != s->result.op)
        try_moment(k, list[i], false);
    for (uint32_t step = CLIMB_STEP; step > 0 && !out_of_work(s); step /= 2)
        if (i + step < n && try_moment(k, list[i + step], false))
            i += step;
        else if (i >= step && try_moment(k, list[i - step], false))
            i -= step;
    free(list);
}

static void try_moments(struct search *s, const struct rp_first_runs *first_runs) {
    const struct rp_instance *p = s->p;
    struct moments k = {s, first_runs, rp_calloc(p->n_ops, sizeof *k.side)};
    uint32_t n, most = p->n_homes > 0 ? CLIMB_FROM : MAX_MOMENTS;
    struct candidate *list = rank_moments(p, first_runs, s->o->stop, k.side, &n);
    for (uint32_t i = 0; i < n && i < most && list[i].score > 0 && !is_stopped(s); i++)
        try_moment(&k, list[i].op, false);
    if (s->result.op != RP_NONE && p->n_homes > 0 && !is_stopped(s))
        climb(&k);
    if (s->result.op != RP_NONE && s->result.bound_ns < s->o->goal_ns && !is_stopped(s))
        try_moment(&k, s->result.op, true);
    free(list);
    free(k.side);
}

struct rp_moment_bound rp_moment_bound(const struct rp_instance *p,
                                       const struct rp_moment_bound_options *o,
                                       struct rp_moment_statistics *statistics) {
    struct search s = {.p = p,
                       .o = o,
                       .divisor_ns = common_divisor_ns(p),
                       .result = {p->graph->total_time_ns, RP_NONE, false},
                       .statistics = statistics};
    struct rp_first_runs first_runs = {0};
    if (o->any_order)
        rp_first_runs_init(&first_runs, p);
    try_moments(&s, o->any_order ? &first_runs : NULL);
    statistics->work += (uint64_t)s.work;
    rp_first_runs_fini(&first_runs);
    free(s.nodes.at);
    free(s.open.at);
    return s.result;
}
