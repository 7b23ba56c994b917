#include "solve/exchange/whole_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "solve/exchange/whole_copies.h"
#include "solve/exchange/whole_memory.h"

/* Matrices of stages and tensors beyond this are not even begun. */
#define MAX_CELLS 20000000

/* No schedule runs an op or begins a copy after the last first run. It may wait there for
 * a kept tensor that is in flight. */
static bool is_after_the_end(const struct rp_interval_model *m,
                             const struct rp_interval_col *c) {
    uint32_t n = m->instance->n_ops;
    if (c->kind == RP_INTERVAL_U && c->t == n)
        return !m->instance->kept[c->id] ||
               rp_interval_at(m, RP_INTERVAL_F, n, c->id) == RP_COL_ZERO;
    return c->kind == RP_INTERVAL_R ? c->t >= n : c->t > n;
}

static void add_interval_cols(struct rp_whole_model *m) {
    const struct rp_interval_model *i = &m->interval;
    for (uint32_t j = 0; j < i->n_cols; j++) {
        bool d = i->col[j].kind == RP_INTERVAL_D;
        double high = d ? i->span : !is_after_the_end(i, &i->col[j]);
        rp_named_col(&m->named, d, 0, high, !d, rp_interval_col_name(i, j));
    }
}

static void add_interval_rows(struct rp_whole_model *m) {
    const struct rp_row_set *rows = &m->interval.rows;
    for (uint32_t i = 0; i < rows->n; i++) {
        rp_named_row(&m->named, -HUGE_VAL, rows->rhs[i],
                     rp_interval_row_name(&m->interval, i));
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            rp_named_term(&m->named, rows->coef[k], rows->col[k]);
    }
}

static void add_waits(struct rp_whole_model *m) {
    uint32_t n = m->interval.instance->n_ops;
    m->waited = rp_calloc((size_t)n + 1, sizeof *m->waited);
    for (uint32_t t = 0; t <= n; t++) {
        m->waited[t] = rp_named_col(&m->named, 0, 0, HUGE_VAL, false, rp_format("w_%u", t));
        rp_named_row(&m->named, 0, 0, rp_format("w_%u", t));
        rp_named_term(&m->named, 1, m->waited[t]);
        rp_whole_term(m, -1, RP_INTERVAL_D, t, 0);
        if (t > 0)
            rp_named_term(&m->named, -1, m->waited[t - 1]);
    }
}

static char *make_title(const struct rp_interval_model *m) {
    const struct rp_instance *p = m->instance;
    return rp_format(
        "remat-plan: which tensors of a training step to keep, recompute or swap\n"
        "graph sha256 %s, %u ops; %" PRIu64 " bytes for all but its sources\n"
        "A unit of time is %.17g ns, a unit of memory %.17g bytes.\n"
        "R_t_j: op j runs again before the first run of op t (stage t).\n"
        "S_t_x: tensor x has storage when stage t begins. F: for a copy under way.\n"
        "U_t_x: stage t reads such a copy first. O_t_x: x was copied out and freed.\n"
        "d_t: time before the first run of op t. ONE: the first runs, always 1.\n",
        p->graph->sha256, p->n_ops, p->limit_bytes, 1 / m->time_scale, 1 / m->byte_scale);
}

static rp_rc too_large(const struct rp_instance *p, struct rp_err *err) {
    return rp_fail(err, RP_LIMIT,
                   "the whole model of %" PRIu32 " ops and %" PRIu32
                   " tensors has more than %d coefficients, too many to write",
                   p->n_ops, p->n_tensors, RP_MAX_WHOLE_TERMS);
}

static void build(struct rp_whole_model *m) {
    const struct rp_instance *p = m->interval.instance;
    m->named.p.fixed = m->interval.fixed_cost;
    m->named.title = make_title(&m->interval);
    add_interval_cols(m);
    add_interval_rows(m);
    add_waits(m);
    for (uint32_t t = 1; t < p->n_ops && !rp_whole_is_too_large(m); t++)
        rp_whole_memory_rows(m, t);
    if (p->out_ns != NULL && !rp_whole_is_too_large(m))
        rp_whole_copy_rows(m);
}

/* All columns but V, which serve bounds below a near horizon. */
static const struct rp_interval_scope without_v = {{NULL}};

rp_rc rp_whole_model_init(struct rp_whole_model *m, const struct rp_instance *p,
                          struct rp_err *err) {
    uint64_t total_ns = p->graph->total_time_ns;
    rp_rc rc = RP_OK;
    *m = (struct rp_whole_model){0};
    if ((uint64_t)p->n_ops * ((uint64_t)p->n_ops + p->n_tensors) > MAX_CELLS)
        return too_large(p, err);
    rp_interval_model_init_within(&m->interval, p, 2 * total_ns, &without_v);
    if (m->interval.empty)
        rc = rp_fail(err, RP_LIMIT,
                     "the model has no point: it ends at %" PRIu64
                     " ns, twice what all ops take, and no plan is as fast",
                     2 * total_ns);
    else
        build(m);
    if (rc == RP_OK && rp_whole_is_too_large(m))
        rc = too_large(p, err);
    if (rc != RP_OK)
        rp_whole_model_fini(m);
    return rc;
}

/* ---- points ---- */

/* Does the copy in of x that stage t reads first begin in stage s? */
static bool begins_in(const struct rp_interval_model *m, const double *x,
                      const struct rp_whole_copy *c) {
    uint32_t s = c->t;
    if (rp_interval_value(m, RP_INTERVAL_U, c->t, c->x, x) < 0.5)
        return false;
    while (rp_interval_value(m, RP_INTERVAL_F, s, c->x, x) > 0.5)
        s--;
    return s == c->s;
}

/* The term of the last column in row i. UINT32_MAX: it is one of the interval model. */
static uint32_t last_term(const struct rp_whole_model *m, uint32_t i) {
    const struct rp_milp *p = &m->named.p;
    uint32_t last = UINT32_MAX, col = m->interval.n_cols - 1;
    for (uint32_t k = p->start[i]; k < p->start[i + 1]; k++)
        if (p->col[k] > col) {
            last = k;
            col = p->col[k];
        }
    return last;
}

/* All other columns are defined by rows in which they are the last, and are no larger than
 * these ask for. */
static void raise_last(const struct rp_whole_model *m, uint32_t i, double *x) {
    const struct rp_milp *p = &m->named.p;
    uint32_t last = last_term(m, i);
    if (last == UINT32_MAX)
        return;
    double left = rp_milp_left(p, i, x), coef = p->coef[last];
    if (coef < 0 && left > p->row_high[i])
        x[p->col[last]] += (left - p->row_high[i]) / -coef;
    else if (coef > 0 && left < p->row_low[i])
        x[p->col[last]] += (p->row_low[i] - left) / coef;
}

void rp_whole_complete(const struct rp_whole_model *m, double *x) {
    for (size_t k = 0; k < m->copies.n; k++)
        x[m->copies.at[k].col] = begins_in(&m->interval, x, &m->copies.at[k]);
    for (uint32_t i = m->interval.rows.n; i < m->named.p.n_rows; i++)
        raise_last(m, i, x);
}

void rp_whole_model_fini(struct rp_whole_model *m) {
    if (m->interval.instance != NULL)
        rp_interval_model_fini(&m->interval);
    rp_named_milp_fini(&m->named);
    free(m->waited);
    free(m->copies.at);
    *m = (struct rp_whole_model){0};
}
