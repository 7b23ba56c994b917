#include "solve/exchange/solution_plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/io.h"
#include "model/bound_scope.h"
#include "pack/addresses.h"
#include "solve/core/plan_claims.h"
#include "solve/core/schedule.h"
#include "solve/core/warm_start.h"
#include "solve/exchange/order_copies.h"
#include "solve/exchange/solution_file.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/shrink_lifetimes.h"
#include "solve/milp/interval_point.h"

/* Reports of six digits miss rows by this. */
#define TOLERANCE 1e-4

static rp_rc check_columns(const struct rp_named_milp *n, const char *file, double *x,
                           struct rp_err *err) {
    for (uint32_t j = 0; j < n->p.n_cols; j++) {
        if (n->p.integer[j] && fabs(x[j] - round(x[j])) > TOLERANCE)
            return rp_fail(err, RP_INPUT, "%s: column %s is %.6g, not an integer", file,
                           n->cols.at[j], x[j]);
        if (n->p.integer[j])
            x[j] = round(x[j]);
        if (x[j] < n->p.low[j] - TOLERANCE ||
            x[j] > n->p.high[j] + TOLERANCE * fmax(1, n->p.high[j]))
            return rp_fail(err, RP_INPUT, "%s: column %s is %.6g, not in [%.6g, %.6g]",
                           file, n->cols.at[j], x[j], n->p.low[j], n->p.high[j]);
    }
    return RP_OK;
}

static rp_rc check_rows(const struct rp_named_milp *n, const char *file, const double *x,
                        struct rp_err *err) {
    for (uint32_t i = 0; i < n->p.n_rows; i++)
        if (rp_milp_violation(&n->p, i, x) > TOLERANCE)
            return rp_fail(err, RP_INPUT,
                           "%s: row %s is broken: %.6g is not in [%.6g, %.6g]", file,
                           n->rows.at[i], rp_milp_left(&n->p, i, x), n->p.row_low[i],
                           n->p.row_high[i]);
    return RP_OK;
}

static rp_rc check_schedule(const struct rp_instance *p, const char *file,
                            const struct rp_schedule *s, struct rp_err *err) {
    struct rp_cost c = rp_schedule_cost(p, s);
    if (!c.sound)
        return rp_fail(
            err, RP_INPUT,
            "%s: its copies cannot be made: a tensor would be freed or made again "
            "while it is copied in",
            file);
    if (c.peak_bytes > p->limit_bytes && !rp_is_graph_op(p, c.peak_op))
        return rp_fail(err, RP_INPUT,
                       "%s: what it holds as the step ends takes %" PRIu64
                       " bytes beside the sources, more than %" PRIu64,
                       file, c.peak_bytes, p->limit_bytes);
    if (c.peak_bytes > p->limit_bytes)
        return rp_fail(err, RP_INPUT,
                       "%s: op %" PRIu32 " in stage %" PRIu32 " needs %" PRIu64
                       " bytes beside the sources, more than %" PRIu64,
                       file, p->op_of[c.peak_op], c.peak_stage, c.peak_bytes,
                       p->limit_bytes);
    return RP_OK;
}

/* The steps of a schedule, with its copies in the best order that is known. */
static uint64_t make_steps(const struct rp_instance *p, const struct rp_schedule *s,
                           struct rp_stop *stop, struct rp_plan *plan) {
    plan->graph_name = rp_strdup(p->graph->name);
    plan->graph_sha256 = rp_strdup(p->graph->sha256);
    rp_schedule_steps(p, s, stop, plan);
    return rp_order_copies(p->graph, plan);
}

/* The faster one of the schedule and what is left of it without needless copies, which a
 * solver has no reason to leave out. */
static void make_plan(const struct rp_instance *p, const struct rp_schedule *s,
                      struct rp_stop *stop, struct rp_plan *plan) {
    struct rp_plan fewer = {0};
    struct rp_schedule left;
    uint64_t time_ns = make_steps(p, s, stop, plan);
    rp_schedule_empty(p, &left);
    if (rp_drop_swaps(p, p->limit_bytes, stop, s, &left) &&
        make_steps(p, &left, stop, &fewer) <= time_ns) {
        rp_plan_fini(plan);
        *plan = fewer;
    } else {
        rp_plan_fini(&fewer);
    }
    rp_schedule_fini(&left);
    rp_shrink_lifetimes(p->graph, plan);
}

static rp_rc place(const struct rp_instance *p, const struct rp_solution_options *o,
                   struct rp_schedule *s, struct rp_plan *plan, struct rp_err *err) {
    struct rp_pack_options pack = {.capacity = p->limit_bytes,
                                   .work_limit = o->pack_work,
                                   .squeeze = true,
                                   .stop = o->stop};
    make_plan(p, s, o->stop, plan);
    plan->budget_bytes = o->budget_bytes;
    if (o->addressed)
        rp_assign_addresses(p->graph, plan, &pack, NULL);
    if (o->addressed && plan->arena_bytes > p->limit_bytes)
        return rp_fail(
            err, RP_INPUT,
            "%s: its tensors fit, but the addresses that were found for them take "
            "%" PRIu64 " bytes, more than %" PRIu64
            " (try a smaller budget, or --no-addresses)",
            rp_path_name(o->path), plan->arena_bytes, p->limit_bytes);
    rp_rc rc = rp_plan_fill_claims(p->graph, plan, err);
    if (rc == RP_OK)
        rp_plan_set_bound(p->graph, &plan->claims, p->graph->total_time_ns,
                          rp_bound_for_all_plans);
    return rc;
}

static uint64_t cost_of(const struct rp_whole_model *m, const double *x) {
    return (uint64_t)llround(rp_milp_value(&m->named.p, x) / m->interval.time_scale);
}

/* ---- from a point to a plan ---- */

rp_rc rp_point_plan(const struct rp_whole_model *m, const struct rp_solution_options *o,
                    double *x, struct rp_plan *plan, uint64_t *cost_ns,
                    struct rp_err *err) {
    const struct rp_instance *p = m->interval.instance;
    const char *file = rp_path_name(o->path);
    struct rp_schedule s;
    *plan = (struct rp_plan){0};
    rp_schedule_empty(p, &s);
    rp_rc rc = check_columns(&m->named, file, x, err);
    if (rc == RP_OK)
        rc = check_rows(&m->named, file, x, err);
    if (rc == RP_OK) {
        rp_interval_schedule(&m->interval, x, &s);
        *cost_ns = cost_of(m, x);
        rc = check_schedule(p, file, &s, err);
    }
    if (rc == RP_OK)
        rc = place(p, o, &s, plan, err);
    if (rc != RP_OK)
        rp_plan_fini(plan);
    rp_schedule_fini(&s);
    return rc;
}

rp_rc rp_solution_plan(const struct rp_whole_model *m, const struct rp_solution_options *o,
                       struct rp_plan *plan, uint64_t *cost_ns, struct rp_err *err) {
    const struct rp_named_milp *n = &m->named;
    double *x = rp_calloc((size_t)n->p.n_cols + 1, sizeof *x);
    const char *writer;
    *plan = (struct rp_plan){0};
    rp_rc rc = rp_solution_load(o->path, n->p.n_cols, n->cols.at, x, &writer, err);
    if (rc == RP_OK)
        rc = rp_point_plan(m, o, x, plan, cost_ns, err);
    if (rc == RP_OK)
        plan->notes =
            json_pack("{s:s, s:s}", "program", "remat-plan", "solution of", writer);
    free(x);
    return rc;
}

/* ---- from a plan to a point ---- */

static bool is_in_order(const struct rp_graph *g, const struct rp_plan *plan) {
    uint32_t *order = rp_calloc(g->n_ops, sizeof *order), n = 0;
    rp_plan_first_runs(g, plan, order);
    while (n < g->n_ops && order[n] == n)
        n++;
    free(order);
    return n == g->n_ops;
}

/* The schedule of a plan, and the steps of it that take the least time. */
static rp_rc find_steps(const struct rp_instance *p, const struct rp_plan *plan,
                        const char *what, struct rp_plan *steps, struct rp_err *err) {
    struct rp_schedule s;
    rp_rc rc;
    rp_schedule_empty(p, &s);
    if (rp_schedule_from_plan(p, plan, NULL, &s))
        rc = check_schedule(p, what, &s, err);
    else
        rc = rp_fail(err, RP_INPUT, "%s: %s", what,
                     is_in_order(p->graph, plan)
                         ? "it needs copies that cannot begin there"
                         : "its first runs do not come in the graph's order");
    if (rc == RP_OK)
        make_steps(p, &s, NULL, steps);
    rp_schedule_fini(&s);
    return rc;
}

/* Sets all columns, whether rows hold or not. */
static rp_rc set_columns(const struct rp_whole_model *m, const struct rp_plan *steps,
                         const char *what, double *x, struct rp_err *err) {
    if (!rp_interval_point(&m->interval, steps, x))
        return rp_fail(err, RP_INPUT,
                       "%s: it takes more than %" PRIu64 " ns, which the model leaves out",
                       what, m->interval.horizon_ns);
    rp_whole_complete(m, x);
    return RP_OK;
}

rp_rc rp_plan_point(const struct rp_whole_model *m, const struct rp_plan *plan,
                    const char *path, double *x, uint64_t *cost_ns, struct rp_err *err) {
    struct rp_plan steps = {0};
    char *what = rp_format("%s: the model has no such plan (copies begin where stages "
                           "begin in it, and no op runs twice in a stage)",
                           rp_path_name(path));
    rp_rc rc = find_steps(m->interval.instance, plan, what, &steps, err);
    if (rc == RP_OK)
        rc = set_columns(m, &steps, what, x, err);
    if (rc == RP_OK)
        rc = check_columns(&m->named, what, x, err);
    if (rc == RP_OK)
        rc = check_rows(&m->named, what, x, err);
    if (rc == RP_OK)
        *cost_ns = cost_of(m, x);
    rp_plan_fini(&steps);
    free(what);
    return rc;
}
