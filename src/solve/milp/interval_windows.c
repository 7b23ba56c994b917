#include "solve/milp/interval_windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

enum {
    FIRST_STAGES = 8,
    MAX_STAGES = 64,      /* of the shortest and the longest windows */
    MAX_COLUMNS = 6000,   /* larger programs prove little, and take much memory */
    CELLS_PER_UNIT = 200, /* of a model's tables */
    ROWS_PER_UNIT = 8,    /* of a model, columns too */
};
/* Of the work that is left: that of one length. */
#define LENGTH_SHARE 0.4
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
        *s->o->proved_ns = s->r->bound_ns;
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
    rp_interval_model_init_window(&m, s->p, s->plan_ns, most - 1, first, last);
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

static bool is_worth_it(struct search *s, uint32_t first, uint32_t last) {
    uint64_t open = open_ns(s, first, last);
    return open > 0 && (double)open >= LEAST_OPEN * (double)(s->plan_ns - s->r->bound_ns) &&
           s->r->work < s->o->work && !rp_stop_now(s->o->stop);
}

/* Those of one length. The work is shared by what is open. False if all are too large, as
 * longer ones then are too. */
static bool solve_length(struct search *s, uint32_t stages, double work) {
    uint32_t end = s->p->n_ops + 1;
    bool tried = false, any = false;
    double all = 0;
    for (uint32_t first = 0; first < end; first += stages / 2) {
        uint32_t last = rp_min_u32(first + stages, end) - 1;
        if (is_worth_it(s, first, last))
            all += (double)open_ns(s, first, last);
    }
    for (uint32_t first = 0; first < end; first += stages / 2) {
        uint32_t last = rp_min_u32(first + stages, end) - 1;
        if (!is_worth_it(s, first, last))
            continue;
        double share = fmin((double)open_ns(s, first, last) / all, 1);
        any |= solve_window(s, first, last, (uint64_t)(work * share) + 1);
        tried = true;
    }
    return any || !tried;
}

void rp_interval_windows_solve(const struct rp_instance *p, uint64_t plan_ns,
                               const uint64_t *d_ns, const struct rp_interval_options *o,
                               struct rp_interval_result *r) {
    struct search s = {.p = p, .o = o, .r = r, .plan_ns = plan_ns};
    *r = (struct rp_interval_result){0};
    s.since_start = rp_calloc((size_t)p->n_ops + 2, sizeof *s.since_start);
    s.best_ns = rp_calloc((size_t)p->n_ops + 2, sizeof *s.best_ns);
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
    free(s.since_start);
    free(s.best_ns);
    free(s.window.at);
}
