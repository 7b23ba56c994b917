#include "solve/milp/interval_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

enum {
    FIRST_STAGES = 8,
    MAX_STAGES = 64,      /* of the shortest and the longest windows */
    MAX_RUNS = 30,        /* of a window: the ops before it that may run again */
    MAX_COLUMNS = 6000,   /* larger programs prove little, and take much memory */
    CELLS_PER_UNIT = 200, /* of a model's tables */
    ROWS_PER_UNIT = 8,    /* of a model, columns too */
};
/* Of the work that is left: that of one length. */
#define LENGTH_SHARE 0.6
/* Per stage of a window: with less work it proves little. */
#define LEAST_WORK 15000
/* Of its part of the work: where shorter windows have proved nothing. */
#define UNPROMISING 0.1
/* Of what is open in all: a window with less open is left out. */
#define LEAST_OPEN 0.01

struct window {
    uint32_t first, last;
    uint64_t proved_ns; /* the sum of its d[t] is no less */
};

struct search {
    const struct rp_instance *p;
    const struct rp_interval_options *o;
    struct rp_interval_result *r;
    uint64_t plan_ns, ops_ns; /* ops_ns: all first runs together */
    uint64_t *working_set;    /* per op, in bytes */
    uint64_t *since_start;    /* per stage t: the sum of d_ns before it; n_ops + 2 */
    uint64_t *best_ns;        /* scratch, as long */
    RP_VEC(struct window) window;
};

/* ---- what is known ---- */

static uint64_t incumbent_ns(const struct search *s, uint32_t first, uint32_t last) {
    return s->since_start[last + 1] - s->since_start[first];
}

/* What windows within first .. last that share no stage prove together, at most. */
static uint64_t known_ns(struct search *s, uint32_t first, uint32_t last) {
    uint64_t *best = s->best_ns;
    best[first] = 0;
    for (uint32_t t = first; t <= last; t++) {
        best[t + 1] = best[t];
        for (size_t k = 0; k < s->window.n; k++) {
            const struct window *w = &s->window.at[k];
            if (w->last == t && w->first >= first)
                best[t + 1] = rp_max_u64(best[t + 1], best[w->first] + w->proved_ns);
        }
    }
    return best[last + 1];
}

static uint64_t open_ns(struct search *s, uint32_t first, uint32_t last) {
    return incumbent_ns(s, first, last) - known_ns(s, first, last);
}

static void tell_proved(struct search *s) {
    s->r->bound_ns = s->ops_ns + known_ns(s, 0, s->p->n_ops);
    if (s->o->proved_ns != NULL)
        *s->o->proved_ns = rp_max_u64(*s->o->proved_ns, s->r->bound_ns);
}

/* ---- one window ---- */

static uint64_t solve_model(struct search *s, const struct rp_interval_model *m,
                            uint64_t work) {
    struct rp_interval_options o = *s->o;
    struct rp_interval_result r;
    double *x = rp_calloc(m->n_cols, sizeof *x);
    o.work = work;
    o.proved_ns = NULL;
    rp_interval_solve(m, &o, x, &r);
    s->r->work += r.work;
    s->r->nodes += r.nodes;
    s->r->n_cuts += r.n_cuts;
    s->r->n_fixed += r.n_fixed;
    free(x);
    return rp_max_u64(r.bound_ns, s->ops_ns) - s->ops_ns;
}

/* The incumbent takes something in this window. False if its program is too large. */
static bool solve_window(struct search *s, uint32_t first, uint32_t last, uint64_t work) {
    struct rp_interval_model m;
    uint64_t most = incumbent_ns(s, first, last), proved = 0;
    struct rp_interval_window w = {first, last, most - 1, MAX_RUNS};
    rp_interval_model_init_window(&m, s->p, s->plan_ns, &w);
    s->r->work +=
        RP_INTERVAL_KINDS * rp_interval_cells(s->p, RP_INTERVAL_S) / CELLS_PER_UNIT +
        (m.n_cols + m.rows.n) / ROWS_PER_UNIT + 1;
    bool small = m.n_cols <= MAX_COLUMNS;
    if (small)
        proved = rp_min_u64(solve_model(s, &m, work), most);
    if (proved > 0)
        rp_push(&s->window, ((struct window){first, last, proved}));
    rp_interval_model_fini(&m);
    tell_proved(s);
    return small;
}

/* ---- all windows ---- */

struct candidate {
    uint32_t first, last;
    double weight; /* its part of the work, in relation to others of its length */
};

/* The stage near t, less than `radius` stages away, that begins after the op with the
 * largest working set. Little is there then, so windows that end and begin there miss
 * little of what a step takes. */
static uint32_t tight_stage(const struct search *s, uint32_t t, uint32_t radius) {
    uint32_t best = t;
    for (uint32_t k = 1; k < radius; k++) {
        uint32_t near[] = {t - k, t + k};
        for (int i = 0; i < 2; i++)
            if (near[i] > 0 && near[i] <= s->p->n_ops &&
                s->working_set[near[i] - 1] > s->working_set[best - 1])
                best = near[i];
    }
    return best;
}

/* Where the i-th window of a length begins, and that before the last one ends. */
static uint32_t start_of(const struct search *s, uint32_t stages, uint32_t i) {
    uint32_t end = s->p->n_ops + 1, t = i * (stages / 2);
    return t == 0 ? 0 : t >= end ? end : tight_stage(s, t, stages / 4);
}

static bool is_worth_it(struct search *s, uint32_t first, uint32_t last) {
    uint64_t open = open_ns(s, first, last);
    return open > 0 && (double)open >= LEAST_OPEN * (double)(s->plan_ns - s->r->bound_ns) &&
           s->r->work < s->o->work && !rp_stop_now(s->o->stop);
}

static int by_weight(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* The windows of one length that are worth it, *n of them, those with the most work first.
 * *all gets the sum of their weights. Both are 0 before. The caller frees the result. */
static struct candidate *list_windows(struct search *s, uint32_t stages, double work,
                                      size_t *n, double *all) {
    RP_VEC(struct candidate) found = {0};
    for (uint32_t i = 0; start_of(s, stages, i) <= s->p->n_ops; i++) {
        struct candidate c = {start_of(s, stages, i), start_of(s, stages, i + 2) - 1, 0};
        if (!is_worth_it(s, c.first, c.last))
            continue;
        c.weight = (double)open_ns(s, c.first, c.last);
        if (stages > FIRST_STAGES && known_ns(s, c.first, c.last) == 0)
            c.weight *= UNPROMISING;
        *all += c.weight;
        rp_push(&found, c);
    }
    if (found.n > 0)
        qsort(found.at, found.n, sizeof *found.at, by_weight);
    while (found.n > 1 &&
           work * found.at[found.n - 1].weight / *all < (double)LEAST_WORK * stages)
        *all -= found.at[--found.n].weight;
    *n = found.n;
    return found.at;
}

/* Those of one length. False if all are too large, as longer ones then are too. */
static bool solve_length(struct search *s, uint32_t stages, double work) {
    bool tried = false, any = false;
    double all = 0;
    size_t n = 0;
    struct candidate *c = list_windows(s, stages, work, &n, &all);
    for (size_t i = 0; i < n && work > 0; i++) {
        uint64_t before = s->r->work;
        double share = fmin(c[i].weight / all, 1);
        all -= c[i].weight;
        if (!is_worth_it(s, c[i].first, c[i].last))
            continue;
        any |= solve_window(s, c[i].first, c[i].last, (uint64_t)(work * share) + 1);
        tried = true;
        work -= (double)(s->r->work - before);
    }
    free(c);
    return any || !tried;
}

void rp_interval_windows_solve(const struct rp_instance *p, uint64_t plan_ns,
                               const uint64_t *d_ns, const struct rp_interval_options *o,
                               struct rp_interval_result *r) {
    struct search s = {.p = p, .o = o, .r = r, .plan_ns = plan_ns};
    *r = (struct rp_interval_result){0};
    s.since_start = rp_calloc((size_t)p->n_ops + 2, sizeof *s.since_start);
    s.best_ns = rp_calloc((size_t)p->n_ops + 2, sizeof *s.best_ns);
    s.working_set = rp_instance_working_sets(p);
    for (uint32_t t = 0; t <= p->n_ops; t++)
        s.since_start[t + 1] = s.since_start[t] + d_ns[t];
    s.ops_ns = plan_ns - s.since_start[p->n_ops + 1];
    tell_proved(&s);
    bool any = true;
    for (uint32_t stages = FIRST_STAGES;
         any && stages <= MAX_STAGES && stages / 2 <= p->n_ops && r->work < o->work;
         stages *= 2)
        any = solve_length(&s, stages, LENGTH_SHARE * (double)(o->work - r->work));
    r->root_bound_ns = r->bound_ns;
    r->finished = r->bound_ns == plan_ns;
    free(s.working_set);
    free(s.since_start);
    free(s.best_ns);
    free(s.window.at);
}
