/* Tests of which plan of another size a search begins with. */
#include "cmd/maxbatch_size.h"

#include "cmd/policy_outcome.h"
#include "networks.h"
#include "policies.h"
#include "run.h"
#include "solve/solver.h"

static struct rp_graph network(uint64_t batch) {
    struct rp_zoo_options z = rp_net_defaults();
    z.batch = batch;
    return rp_priced_network("resnet18", z);
}

/* A size with the policy's plan for `percent` of keep-all. */
static struct rp_size planned(uint64_t batch, const char *policy, uint64_t percent) {
    struct rp_graph g = network(batch);
    struct rp_policy_options o = rp_quick_options(true);
    struct rp_outcome out;
    struct rp_err err;
    o.budget_bytes = rp_keep_all_bytes(&g, true) / 100 * percent;
    CU_ASSERT_EQUAL_FATAL(rp_outcome_make(&g, rp_policy_find(policy), &o, &out, &err),
                          RP_OK);
    CU_ASSERT_EQUAL_FATAL(out.rc, RP_OK);
    rp_graph_fini(&g);
    return (struct rp_size){.size = batch, .samples = batch, .plan = out.plan};
}

/* The time over keep-all of what a search of batch 6 begins with, in keep-all's memory of
 * batch 8; -1 if there is no plan. */
static int64_t start_over_ns(const struct rp_size *points, size_t n) {
    struct rp_graph six = network(6), eight = network(8);
    struct rp_policy_options o = rp_quick_options(true);
    struct rp_plan start = {.steps = {.n = 5}};
    o.budget_bytes = rp_keep_all_bytes(&eight, true);
    int64_t over_ns = -1;
    if (rp_size_find_start(points, n, &six, 6, &o, &start)) {
        CU_ASSERT(start.steps.n > 0);
        over_ns = (int64_t)(start.claims.time_ns - six.total_time_ns);
    } else {
        CU_ASSERT_EQUAL(start.steps.n, 0);
    }
    rp_plan_fini(&start);
    rp_graph_fini(&eight);
    rp_graph_fini(&six);
    return over_ns;
}

/* Batches 4, 6 and 8, of which two have a plan that recomputes. */
static void the_best_plan_of_the_nearest_sizes_is_taken(void) {
    struct rp_size at[] = {planned(4, "keep-all", 100), planned(6, "chen-sqrt", 100),
                           planned(8, "chen-sqrt", 100), planned(2, "chen-sqrt", 100)};
    CU_ASSERT_EQUAL(start_over_ns(NULL, 0), -1);
    CU_ASSERT_EQUAL(start_over_ns(at, 1), 0); /* of a smaller size alone */
    int64_t recomputed_ns = start_over_ns(&at[1], 1);
    CU_ASSERT(recomputed_ns > 0);
    CU_ASSERT_EQUAL(start_over_ns(at, 2), 0); /* a plan of this size is no smaller one */
    CU_ASSERT_EQUAL(start_over_ns(&at[2], 1), recomputed_ns); /* of a larger size alone */
    CU_ASSERT_EQUAL(start_over_ns(at, 4), 0);                 /* 4 is nearer than 2 */
    for (size_t i = 0; i < 4; i++)
        rp_plan_fini(&at[i].plan);
}

void suite_maxbatch_size(void) {
    RP_SUITE("maxbatch_size");
    RP_TEST(the_best_plan_of_the_nearest_sizes_is_taken);
}
