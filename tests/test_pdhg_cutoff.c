#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/bound/pdhg_bound.h"
#include "tight_instance.h"

/* ---- against all schedules ---- */

static struct rp_pdhg_statistics all;
static uint32_t n_gaps, n_closed;

/* The plan that it is told of is the fastest one, or takes longer. */
static bool check_one_graph(uint64_t seed, uint32_t max_stages) {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t best;
    rp_tight_instance(seed, &g, &p);
    bool good = rp_brute_best(&g, p.limit_bytes, &best), more = true;
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(
        &p, &(struct rp_formulation_options){.max_stages = max_stages});
    rp_pdhg_bound_tighten(b, seed % 3 == 0 ? 2 * best : best);
    for (uint32_t i = 0; i < 20 && good && more; i++) {
        more = rp_pdhg_bound_run(b, 500000, NULL);
        good = rp_pdhg_bound_ns(b) <= best;
    }
    good = good && (more || rp_pdhg_bound_ns(b) >= g.total_time_ns);
    n_gaps += best > g.total_time_ns;
    n_closed += best > g.total_time_ns && rp_pdhg_bound_ns(b) == best;
    struct rp_pdhg_statistics s = rp_pdhg_bound_statistics(b);
    rp_pdhg_statistics_add(&all, &s);
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void check_graphs(uint32_t max_stages) {
    uint32_t n = 150;
    uint64_t seed = rp_gen_seed(1, &n);
    all = (struct rp_pdhg_statistics){0};
    n_gaps = n_closed = 0;
    for (; n > 0; n--, seed++)
        if (!check_one_graph(seed, max_stages)) {
            rp_gen_failed(seed);
            CU_FAIL("a cutoff raises the bound above the optimum");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() || (all.cutoffs_proved > 0 && all.splits > 0));
}

static void no_cutoff_is_proved_above_the_optimum(void) {
    check_graphs(0);
    CU_ASSERT(rp_gen_one_seed() || n_closed * 10 > n_gaps * 9);
}

static void nor_is_one_with_several_ops_in_a_stage(void) {
    check_graphs(3);
}

/* ---- the same steps every time ---- */

struct steps {
    uint64_t bound_ns, more;
    struct rp_pdhg_statistics s;
};

/* In three runs. A plan of five quarters of the time of all ops is found after the first.
 */
static struct steps take_steps(uint64_t seed, uint32_t max_stages) {
    struct rp_gen_shape shape = rp_gen_small(24);
    struct rp_graph g;
    struct rp_instance p;
    shape.training = true;
    shape.max_outputs = 1;
    rp_gen_graph(seed, &shape, &g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    p.limit_bytes = rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(
        &p, &(struct rp_formulation_options){.max_stages = max_stages});
    rp_pdhg_bound_run(b, 4000000, NULL);
    rp_pdhg_bound_tighten(b, g.total_time_ns * 5 / 4);
    rp_pdhg_bound_run(b, 8000000, NULL);
    bool more = rp_pdhg_bound_run(b, 8000000, NULL);
    struct steps steps = {rp_pdhg_bound_ns(b), more, rp_pdhg_bound_statistics(b)};
    rp_pdhg_bound_free(b);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return steps;
}

static bool takes_steps(struct steps is, const struct steps *was) {
    const uint64_t *s = (const uint64_t *)&is;
    if (memcmp(&is, was, sizeof is) == 0)
        return true;
    for (size_t i = 0; i < sizeof is / sizeof *s; i++)
        printf("%" PRIu64 ", ", s[i]);
    printf("\n");
    return false;
}

/* A change of the method that is meant changes these figures. */
static void the_same_cutoffs_take_the_same_steps(void) {
    static const struct steps expected[] = {
        {1386, 1, {8446, 114, 33, 101, 15, 7, 0, 35, 170, 9, 0, 0, 2, 1, 2, 0, 20001595}},
        {1685,
         1,
         {17411, 225, 69, 164, 19, 16, 0, 96, 353, 22, 0, 0, 2, 1, 6, 2, 20000229}},
        {1686,
         1,
         {44069, 4171, 176, 170, 28, 11, 0, 159, 897, 45, 0, 0, 5, 3, 17, 5, 20000439}}};
    CU_ASSERT(takes_steps(take_steps(19, 0), &expected[0]));
    CU_ASSERT(takes_steps(take_steps(26, 0), &expected[1]));
    CU_ASSERT(takes_steps(take_steps(26, 9), &expected[2]));
}

/* ---- more stages ---- */

/* A step of 90 ops begins with 60 stages. Where no plan is known there are no cutoffs. */
static void stages_are_doubled_when_there_is_nothing_else_to_gain(void) {
    struct rp_gen_shape shape = rp_gen_small(90);
    struct rp_graph g;
    struct rp_instance p;
    shape.training = true;
    shape.max_outputs = 1;
    rp_gen_graph(3, &shape, &g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    p.limit_bytes = 100 * rp_instance_floor(&p, &(uint32_t){0});
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(&p, 0);
    struct rp_pdhg_bound *c = rp_pdhg_bound_new_for_certificate(&p, 0);
    CU_ASSERT_EQUAL(rp_pdhg_bound_formulation(b)->n_stages, 60);
    CU_ASSERT_EQUAL(rp_pdhg_bound_formulation(c)->n_stages, g.n_ops);
    CU_ASSERT(!rp_pdhg_bound_run(b, 2000000000, NULL));
    CU_ASSERT_EQUAL(rp_pdhg_bound_formulation(b)->n_stages, g.n_ops);
    struct rp_pdhg_statistics s = rp_pdhg_bound_statistics(b);
    CU_ASSERT_EQUAL(s.refinements, 1);
    CU_ASSERT(s.separations >= 40 && s.cutoffs_tried == 0);
    rp_pdhg_bound_free(b);
    rp_pdhg_bound_free(c);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_pdhg_cutoff(void) {
    RP_SUITE("pdhg_cutoff");
    RP_TEST(no_cutoff_is_proved_above_the_optimum);
    RP_TEST(nor_is_one_with_several_ops_in_a_stage);
    RP_TEST(stages_are_doubled_when_there_is_nothing_else_to_gain);
    RP_TEST(the_same_cutoffs_take_the_same_steps);
}
