/* Tests of the MILP with keep, recompute and swap: every program is a point of it. */
#include "solve/milp/interval_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "model/timeline.h"
#include "run.h"
#include "solve/milp/interval_point.h"
#include "solve/milp_cuts/interval_cuts.h"

static uint64_t time_of(const struct rp_graph *g, const struct rp_plan *plan) {
    struct rp_timeline timeline;
    rp_timeline_init(&timeline, g);
    for (size_t i = 0; i < plan->steps.n; i++)
        rp_timeline_step(&timeline, &plan->steps.at[i]);
    uint64_t end = rp_timeline_end(&timeline);
    rp_timeline_fini(&timeline);
    return end;
}

/* The number of the first row that the point violates; 0 if there is none. */
static uint32_t violated(const struct rp_row_set *rows, const double *v) {
    for (uint32_t i = 0; i < rows->n; i++)
        if (rp_row_set_left(rows, i, v) > rows->rhs[i] + 1e-6)
            return i + 1;
    return 0;
}

static double cost_of(const struct rp_interval_model *m, const double *v) {
    double sum = m->fixed_cost;
    for (uint32_t j = m->n_integer; j < m->n_cols; j++)
        sum += v[j];
    return sum / m->time_scale;
}

/* Does the point of this plan meet all rows, and cost as much as the plan takes? */
static bool holds(const struct rp_graph *g, const struct rp_plan *plan,
                  const struct rp_interval_model *m, uint64_t ns) {
    struct rp_interval_cuts cuts;
    struct rp_row_set found = {0};
    double *v = rp_calloc(m->n_cols, sizeof *v);
    rp_interval_cuts_init(&cuts, m);
    bool ok = rp_interval_point(m, plan, v);
    if (!ok)
        printf("%s: not representable\n", g->name);
    uint32_t row = ok ? violated(&m->rows, v) : 0;
    if (row > 0)
        printf("%s: violates (M%u)\n", g->name, m->row_number[row - 1]);
    if (ok && rp_interval_cuts_find(&cuts, v, 1e-6, 0, &found) > 0) {
        printf("%s: violates a cut\n", g->name);
        row = 1;
    }
    ok = ok && row == 0 && fabs(cost_of(m, v) - (double)ns) <= 1e-6 * (double)ns;
    rp_row_set_fini(&found);
    rp_interval_cuts_fini(&cuts);
    free(v);
    return ok;
}

static void every_program_is_a_point_that_meets_all_rows(void) {
    uint32_t n = 3000;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 12));
        struct rp_graph g;
        struct rp_plan plan;
        struct rp_instance p;
        struct rp_interval_model m;
        shape.max_outputs = 1 + (uint32_t)(seed % 2);
        shape.rules_percent = seed % 3 == 0 ? 15 : 0;
        shape.training = seed % 2;
        shape.bandwidths = seed % 5 != 0;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, false, &plan);
        rp_instance_init(&p, &g, plan.budget_bytes, false, NULL);
        if (shape.bandwidths)
            rp_instance_allow_swap(&p, plan.host_bytes);
        uint64_t ns = time_of(&g, &plan);
        rp_interval_model_init(&m, &p, ns);
        if (m.empty || !holds(&g, &plan, &m, ns)) {
            rp_gen_failed(seed);
            CU_FAIL("a program violates the model");
        }
        rp_interval_model_fini(&m);
        rp_instance_fini(&p);
        rp_plan_fini(&plan);
        rp_graph_fini(&g);
    }
}

static double host_bytes_of(const struct rp_interval_model *m, const double *v) {
    double sum = 0;
    for (uint32_t x = 0; x < m->instance->n_tensors; x++)
        sum += (double)m->instance->bytes[x] *
               rp_interval_value(m, RP_INTERVAL_O, m->instance->n_ops, x, v);
    return sum;
}

/* With one byte less than a program copies out, its point violates the row of the host. */
static bool host_limit_counts(struct rp_instance *p, const struct rp_plan *plan,
                              uint64_t ns, uint32_t *n_tried) {
    struct rp_interval_model m;
    rp_interval_model_init(&m, p, ns);
    double *v = rp_calloc(m.n_cols, sizeof *v);
    double bytes = rp_interval_point(&m, plan, v) ? host_bytes_of(&m, v) : 0;
    rp_interval_model_fini(&m);
    bool ok = true;
    if (bytes >= 1) {
        p->host_limit_bytes = (uint64_t)bytes - 1;
        rp_interval_model_init(&m, p, ns);
        uint32_t row = violated(&m.rows, v);
        ok = row > 0 && m.row_number[row - 1] == 12;
        rp_interval_model_fini(&m);
        ++*n_tried;
    }
    free(v);
    return ok;
}

static void the_host_limit_is_a_row(void) {
    uint32_t n = 40, n_tried = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(8);
        struct rp_graph g;
        struct rp_plan plan;
        struct rp_instance p;
        shape.training = shape.bandwidths = true;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, false, &plan);
        rp_instance_init(&p, &g, plan.budget_bytes, false, NULL);
        rp_instance_allow_swap(&p, plan.host_bytes);
        if (!host_limit_counts(&p, &plan, time_of(&g, &plan), &n_tried)) {
            rp_gen_failed(seed);
            CU_FAIL("a program beyond the host's limit meets all rows");
        }
        rp_instance_fini(&p);
        rp_plan_fini(&plan);
        rp_graph_fini(&g);
    }
    CU_ASSERT(rp_gen_one_seed() || n_tried > 5);
}

void suite_interval_model(void) {
    RP_SUITE("interval_model");
    RP_TEST(every_program_is_a_point_that_meets_all_rows);
    RP_TEST(the_host_limit_is_a_row);
}
