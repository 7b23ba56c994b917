#include "cmd/solve_exchange.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/io.h"
#include "base/log.h"
#include "cmd/solve_report.h"
#include "model/timeline.h"
#include "solve/core/params.h"
#include "solve/exchange/model_file.h"
#include "solve/exchange/solution_file.h"
#include "solve/exchange/solution_plan.h"
#include "solve/order/step_end.h"

bool rp_exchange_wanted(const struct rp_exchange_options *e) {
    return e->mps != NULL || e->lp != NULL || e->point != NULL || e->solution != NULL;
}

/* ---- the model ---- */

/* Nothing is proved about plans with sources on the host, which the model does not know. */
static rp_rc report_none(const struct rp_graph *g, uint64_t floor_bytes,
                         const struct rp_solve_options *o, struct rp_err *err) {
    bool all = !o->swap || !rp_device_can_swap(&g->device) || !rp_any_home(g, RP_HOME_ANY);
    printf("%s: no plan%s fits in less than %" PRIu64 " bytes, and the budget is %" PRIu64
           "\n",
           all ? "infeasible" : "no model", all ? "" : " with all sources on the device",
           floor_bytes, o->budget_bytes);
    return all ? RP_NO : rp_fail_without_plan(o->stop, err);
}

static rp_rc write_file(const struct rp_whole_model *m, const char *path,
                        void (*write)(const struct rp_named_milp *, FILE *),
                        struct rp_err *err) {
    char *text;
    size_t len;
    if (path == NULL)
        return RP_OK;
    FILE *f = rp_text_open(&text, &len);
    write(&m->named, f);
    return rp_text_save(f, &text, &len, path, err);
}

static void report_model(const struct rp_whole_model *m) {
    const struct rp_milp *p = &m->named.p;
    uint32_t n_integer = 0;
    for (uint32_t j = 0; j < p->n_cols; j++)
        n_integer += p->integer[j];
    printf("model   %" PRIu32 " columns (%" PRIu32 " integer), %" PRIu32 " rows, %" PRIu32
           " coefficients\n",
           p->n_cols, n_integer, p->n_rows, p->n_terms);
}

static rp_rc write_model(const struct rp_whole_model *m,
                         const struct rp_exchange_options *e, bool silent,
                         struct rp_err *err) {
    rp_rc rc = write_file(m, e->mps, rp_write_mps, err);
    if (rc == RP_OK)
        rc = write_file(m, e->lp, rp_write_lp, err);
    if (rc == RP_OK && !silent && (e->mps != NULL || e->lp != NULL))
        report_model(m);
    return rc;
}

/* ---- a plan as a solution ---- */

static rp_rc write_point(const struct rp_whole_model *m, const struct rp_solve_options *o,
                         const struct rp_exchange_options *e, bool silent,
                         struct rp_err *err) {
    const struct rp_claims *claims = &o->start->claims;
    const struct rp_milp *p = &m->named.p;
    uint64_t cost_ns;
    char *text;
    size_t len;
    if (claims->peak_bytes > o->budget_bytes)
        return rp_fail(err, RP_INPUT,
                       "%s: this plan takes %" PRIu64
                       " bytes, more than the budget of %" PRIu64,
                       rp_path_name(e->start), claims->peak_bytes, o->budget_bytes);
    double *x = rp_calloc((size_t)p->n_cols + 1, sizeof *x);
    rp_rc rc = rp_plan_point(m, o->start, e->start, x, &cost_ns, err);
    if (rc == RP_OK) {
        FILE *f = rp_text_open(&text, &len);
        rp_solution_write(p->n_cols, m->named.cols.at, x, rp_milp_value(p, x), f);
        rc = rp_text_save(f, &text, &len, e->point, err);
    }
    if (rc == RP_OK && !silent)
        printf("point   %s\n", rp_show_ns(cost_ns).s);
    if (rc == RP_OK && cost_ns > claims->time_ns)
        rp_log(0,
               "%s takes %s: in the model, copies begin where stages begin, and no op runs "
               "twice in a stage",
               rp_path_name(e->start), rp_show_ns(claims->time_ns).s);
    free(x);
    return rc;
}

/* ---- a solution as a plan ---- */

static void report_plan(const struct rp_graph *g, const struct rp_plan *plan,
                        const struct rp_solve_report *r, const struct rp_verdict *v,
                        uint64_t cost_ns, const struct rp_output_options *output) {
    if (output->json) {
        rp_solve_report_json(g, plan, r, v, NULL, 0, stdout);
    } else if (!output->silent && rp_log_level() >= 0) {
        rp_solve_report_text(g, plan, r, v, stdout);
        if (plan->claims.time_ns > cost_ns)
            printf(
                "model   %s: copies that the model lets interrupt each other take longer\n",
                rp_show_ns(cost_ns).s);
        rp_solve_report_unwritten(output->plan, stdout);
    }
}

static rp_rc read_solution(const struct rp_graph *g, const struct rp_solve_options *o,
                           const struct rp_whole_model *m, const char *path,
                           const struct rp_output_options *output, struct rp_err *err) {
    struct rp_solve_report report = {.keep_all_bytes = rp_keep_all_bytes(g, o->addressed),
                                     .floor_op = RP_NONE};
    struct rp_stop stop = {o->stop, INFINITY};
    struct rp_solution_options so = {path, o->addressed, o->budget_bytes,
                                     rp_most_pack_work(o->time_limit), &stop};
    struct rp_plan plan = {0};
    struct rp_verdict v;
    uint64_t cost_ns;
    rp_rc rc = rp_solution_plan(m, &so, &plan, &cost_ns, err);
    if (rc == RP_OK)
        rc = rp_verify_own_plan("solve", g, &plan, &v, err);
    if (rc == RP_OK)
        report_plan(g, &plan, &report, &v, cost_ns, output);
    if (rc == RP_OK && output->plan != NULL)
        rc = rp_plan_save(&plan, output->plan, err);
    rp_plan_fini(&plan);
    return rc;
}

rp_rc rp_solve_by_exchange(const struct rp_graph *g, const struct rp_solve_options *o,
                           const struct rp_exchange_options *e,
                           const struct rp_output_options *output, struct rp_err *err) {
    struct rp_instance p;
    struct rp_whole_model m;
    uint32_t op;
    if (o->budget_bytes < g->fixed_bytes)
        return report_none(g, g->fixed_bytes, o, err);
    rp_instance_init(&p, g, o->budget_bytes, o->addressed, NULL);
    if (o->swap)
        rp_instance_allow_swap(&p, o->host_bytes);
    rp_instance_add_end_if_needed(&p,
                                  (struct rp_step_end_options){.may_run = o->recompute});
    if (!o->recompute)
        rp_instance_run_once(&p);
    uint64_t floor_bytes = g->fixed_bytes + rp_instance_floor(&p, &op);
    rp_rc rc = floor_bytes > o->budget_bytes ? report_none(g, floor_bytes, o, err)
                                             : rp_whole_model_init(&m, &p, err);
    if (rc == RP_OK) {
        bool silent = output->silent || rp_log_level() < 0;
        rc = write_model(&m, e, silent, err);
        if (rc == RP_OK && e->point != NULL)
            rc = write_point(&m, o, e, silent, err);
        if (rc == RP_OK && e->solution != NULL)
            rc = read_solution(g, o, &m, e->solution, output, err);
        rp_whole_model_fini(&m);
    }
    rp_instance_fini(&p);
    return rc;
}
