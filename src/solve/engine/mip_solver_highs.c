#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/engine/highs_api.h"
#include "solve/engine/mip_solver.h"

/* Solves of the relaxation in which lazy rows are separated, before the first search. */
#define MAX_ROOT_ROUNDS 30

/* What a node and a run take beside their pivots: presolve, cuts and heuristics. Measured
 * on whole models of 17 to 97 ops: the work is within twice the time. */
#define PIVOTS_PER_NODE 50
#define PIVOTS_PER_RUN 2000

/* HiGHS takes no rows while it searches. So lazy rows are added between whole searches,
 * each of which starts from the best point that met all rows. */
struct highs {
    const struct rp_highs_api *api;
    const struct rp_milp *m;
    const struct rp_mip_options *o;
    struct rp_mip_result *r;
    void *p;
    uint64_t size;          /* rows and columns */
    uint64_t pivots_before; /* of the run under way */
    uint64_t nodes_before;
    uint64_t runs, separation_work;
    struct rp_milp rows;
};

/* ---- the program in HiGHS ---- */

static void add_rows(struct highs *s, const struct rp_sparse_rows *rows) {
    uint32_t n_terms = rows->n > 0 ? rows->start[rows->n] : 0;
    int *start = rp_calloc((size_t)rows->n + 1, sizeof *start);
    int *index = rp_calloc((size_t)n_terms + 1, sizeof *index);
    for (uint32_t i = 0; i < rows->n; i++)
        start[i] = (int)rows->start[i];
    for (uint32_t k = 0; k < n_terms; k++)
        index[k] = (int)rows->col[k];
    s->api->addRows(s->p, (int)rows->n, rows->low, rows->high, (int)n_terms, start, index,
                    rows->coef);
    s->size += rows->n;
    free(start);
    free(index);
}

/* Integer columns are integers, or fractions may be taken. */
static void set_integrality(struct highs *s, bool integers) {
    int *mask = rp_calloc((size_t)s->m->n_cols + 1, sizeof *mask);
    int *kind = rp_calloc((size_t)s->m->n_cols + 1, sizeof *kind);
    for (uint32_t j = 0; j < s->m->n_cols; j++) {
        mask[j] = 1;
        kind[j] = integers && s->m->integer[j];
    }
    s->api->changeColsIntegralityByMask(s->p, mask, kind);
    free(mask);
    free(kind);
}

static void build(struct highs *s) {
    const struct rp_milp *m = s->m;
    struct rp_sparse_rows rows = rp_milp_rows(m);
    double limit = rp_mip_limit(m, s->o);
    s->p = rp_highs_create();
    s->api->setDoubleOptionValue(s->p, "mip_rel_gap", s->o->relative_gap);
    s->api->setDoubleOptionValue(s->p, "mip_abs_gap", s->o->absolute_gap);
    if (limit < HUGE_VAL && s->o->start == NULL)
        s->api->setDoubleOptionValue(s->p, "objective_bound", limit);
    s->api->changeObjectiveOffset(s->p, m->fixed);
    s->api->addCols(s->p, (int)m->n_cols, m->cost, m->low, m->high, 0, NULL, NULL, NULL);
    s->size = m->n_cols;
    add_rows(s, &rows);
}

/* ---- work ---- */

static bool out_of_work(const struct highs *s) {
    return s->o->work > 0 && s->r->work >= s->o->work;
}

static void count(struct highs *s, int64_t pivots, int64_t nodes) {
    s->r->pivots = s->pivots_before + (uint64_t)(pivots > 0 ? pivots : 0);
    s->r->nodes = s->nodes_before + (uint64_t)(nodes > 0 ? nodes : 0);
    s->r->work =
        rp_mip_work(s->r->pivots + PIVOTS_PER_NODE * s->r->nodes + PIVOTS_PER_RUN * s->runs,
                    s->size) +
        s->separation_work;
}

static void raise_bound(struct highs *s, double bound) {
    if (bound < HUGE_VAL)
        s->r->bound = fmax(s->r->bound, bound);
}

static void ask(int type, const char *message, const void *out,
                struct rp_highs_callback_in *in, void *user_data) {
    struct highs *s = user_data;
    bool mip = type == RP_HIGHS_CALLBACK_MIP_INTERRUPT;
    const int64_t *nodes = s->api->getCallbackDataOutItem(out, "mip_node_count");
    const double *bound = s->api->getCallbackDataOutItem(out, "mip_dual_bound");
    const void *pivots = s->api->getCallbackDataOutItem(
        out, mip ? "mip_total_lp_iterations" : "simplex_iteration_count");
    (void)message;
    if (mip && bound != NULL)
        raise_bound(s, *bound);
    if (pivots == NULL)
        return;
    count(s, mip ? *(const int64_t *)pivots : *(const int *)pivots,
          mip && nodes != NULL ? *nodes : 0);
    in->user_interrupt = out_of_work(s);
}

/* Runs it and returns the model's status. */
static int run(struct highs *s) {
    int pivots = 0;
    int64_t nodes = 0;
    s->pivots_before = s->r->pivots;
    s->nodes_before = s->r->nodes;
    s->runs++;
    int rc = s->api->run(s->p);
    s->api->getIntInfoValue(s->p, "simplex_iteration_count", &pivots);
    s->api->getInt64InfoValue(s->p, "mip_node_count", &nodes);
    count(s, pivots, nodes);
    return rc == -1 ? 0 : s->api->getModelStatus(s->p);
}

/* ---- solving ---- */

/* Adds the lazy rows that x violates. */
static bool separate(struct highs *s, const double *x, bool whole) {
    s->separation_work += rp_mip_find_rows(s->o, x, whole, &s->rows);
    struct rp_sparse_rows view = rp_milp_rows(&s->rows);
    if (view.n > 0)
        add_rows(s, &view);
    s->r->lazy_rows += view.n;
    return view.n > 0;
}

/* Solves the relaxation until it violates no row that is found. */
static void separate_at_root(struct highs *s, double *x) {
    for (int k = 0; k < MAX_ROOT_ROUNDS && !out_of_work(s); k++) {
        if (run(s) != RP_HIGHS_OPTIMAL)
            return;
        s->api->getSolution(s->p, x, NULL, NULL, NULL);
        s->api->getDoubleInfoValue(s->p, "objective_function_value", &s->r->bound);
        if (!separate(s, x, rp_milp_round(s->m, x, RP_MIP_TOLERANCE)))
            return;
    }
}

static void take_bound(struct highs *s) {
    double bound;
    if (s->api->getDoubleInfoValue(s->p, "mip_dual_bound", &bound) != -1)
        raise_bound(s, bound);
}

/* True if the search is over; false if its point violated lazy rows. */
static bool search(struct highs *s, double *x) {
    int status = run(s), has = 0;
    bool complete = status == RP_HIGHS_OPTIMAL || status == RP_HIGHS_INFEASIBLE ||
                    status == RP_HIGHS_UNBOUNDED_OR_INFEASIBLE ||
                    status == RP_HIGHS_OBJECTIVE_BOUND;
    take_bound(s);
    s->api->getIntInfoValue(s->p, "primal_solution_status", &has);
    s->r->status = complete         ? RP_MIP_OPTIMAL
                   : out_of_work(s) ? RP_MIP_LIMIT
                                    : RP_MIP_FAILED;
    s->r->found = has == RP_HIGHS_FEASIBLE;
    if (complete && !s->r->found)
        s->r->bound = HUGE_VAL;
    if (!s->r->found)
        return true;
    s->api->getSolution(s->p, x, NULL, NULL, NULL);
    rp_milp_round(s->m, x, RP_MIP_TOLERANCE);
    if (s->o->separate == NULL || !separate(s, x, true))
        return true;
    s->r->found = false;
    return !complete;
}

void rp_mip_solver_highs(const struct rp_milp *m, const struct rp_mip_options *o, double *x,
                         struct rp_mip_result *r) {
    struct rp_err err = {{0}};
    struct highs s = {.api = rp_highs_api(&err), .m = m, .o = o, .r = r};
    build(&s);
    s.api->setCallback(s.p, ask, &s);
    s.api->startCallback(s.p, RP_HIGHS_CALLBACK_SIMPLEX_INTERRUPT);
    s.api->startCallback(s.p, RP_HIGHS_CALLBACK_MIP_INTERRUPT);
    if (o->separate != NULL)
        separate_at_root(&s, x);
    set_integrality(&s, true);
    r->status = RP_MIP_LIMIT;
    do {
        if (o->start != NULL)
            s.api->setSolution(s.p, o->start, NULL, NULL, NULL);
    } while (!out_of_work(&s) && !search(&s, x));
    s.api->destroy(s.p);
    rp_milp_fini(&s.rows);
}
