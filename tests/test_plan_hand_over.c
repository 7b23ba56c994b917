/* Tests of plans that are carried over to another batch of their network. */
#include "cmd/plan_hand_over.h"

#include <jansson.h>

#include "base/mem.h"
#include "cmd/policy_outcome.h"
#include "networks.h"
#include "policies.h"
#include "run.h"
#include "solve/solver.h"
#include "verify/verifier.h"

static struct rp_graph network(uint64_t batch) {
    struct rp_zoo_options z = rp_net_defaults();
    z.batch = batch;
    return rp_priced_network("resnet18", z);
}

/* Of the plan that was carried over last. */
static uint64_t host_needed;

/* True if capuchin's plan of batch 8 at 80% of keep-all is a plan for the graph in
 * `percent` of what it needed, with `host_bytes` of host memory. */
static bool carries_over(const struct rp_graph *g, uint64_t percent, uint64_t host_bytes,
                         bool addressed) {
    struct rp_graph eight = network(8);
    struct rp_policy_options o = rp_quick_options(addressed);
    struct rp_outcome out;
    struct rp_plan plan;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    o.budget_bytes = rp_keep_all_bytes(&eight, addressed) / 100 * 80;
    CU_ASSERT_EQUAL_FATAL(
        rp_outcome_make(&eight, rp_policy_find("capuchin"), &o, &out, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(out.rc, RP_OK);
    /* So that a step too many would be behind what is allocated. */
    out.plan.steps.cap = out.plan.steps.n;
    out.plan.steps.at =
        rp_realloc(out.plan.steps.at, out.plan.steps.n, sizeof *out.plan.steps.at);
    o.budget_bytes = out.report.needed_bytes / 100 * percent;
    o.host_bytes = host_bytes;
    bool ok = rp_plan_hand_over(&out.plan, g, &o, &plan);
    if (ok) {
        CU_ASSERT_EQUAL(rp_verify(g, &plan, &v, &err), RP_OK);
        CU_ASSERT_EQUAL(plan.addressed, addressed);
        CU_ASSERT_EQUAL(plan.budget_bytes, o.budget_bytes);
        CU_ASSERT_EQUAL(plan.steps.n, out.plan.steps.n);
        CU_ASSERT_EQUAL(plan.claims.lower_bound_ns, g->total_time_ns);
        CU_ASSERT_PTR_NOT_NULL(plan.notes);
        CU_ASSERT_TRUE(json_equal(plan.notes, out.plan.notes));
        host_needed = plan.host_bytes;
        if (rp_keep_all_bytes(g, addressed) == rp_keep_all_bytes(&eight, addressed))
            CU_ASSERT_EQUAL(plan.host_bytes, out.plan.host_bytes);
    }
    rp_plan_fini(&plan);
    rp_outcome_fini(&out);
    rp_graph_fini(&eight);
    return ok;
}

static void a_plan_fits_smaller_batches_and_no_much_larger_ones(void) {
    struct rp_graph six = network(6), sixteen = network(16);
    for (int addressed = 0; addressed <= 1; addressed++) {
        CU_ASSERT_TRUE(carries_over(&six, 101, RP_MAX_QUANTITY, addressed));
        CU_ASSERT_TRUE(carries_over(&sixteen, 200, RP_MAX_QUANTITY, addressed));
        CU_ASSERT_FALSE(carries_over(&sixteen, 101, RP_MAX_QUANTITY, addressed));
        CU_ASSERT_FALSE(carries_over(&six, 1, RP_MAX_QUANTITY, addressed));
        CU_ASSERT_FALSE(carries_over(&six, 101, 0, addressed));
    }
    rp_graph_fini(&six);
    rp_graph_fini(&sixteen);
}

static void a_plan_needs_the_same_host_memory_for_its_own_batch(void) {
    struct rp_graph eight = network(8);
    for (int addressed = 0; addressed <= 1; addressed++) {
        CU_ASSERT_TRUE(carries_over(&eight, 101, RP_MAX_QUANTITY, addressed));
        CU_ASSERT_TRUE(host_needed > 0);
        CU_ASSERT_TRUE(carries_over(&eight, 101, host_needed, addressed));
        CU_ASSERT_FALSE(carries_over(&eight, 101, host_needed - 1, addressed));
    }
    rp_graph_fini(&eight);
}

static void a_plan_of_other_ops_is_not_carried_over(void) {
    struct rp_graph vgg = rp_priced_network("vgg16", rp_net_defaults());
    CU_ASSERT_FALSE(carries_over(&vgg, 1000, RP_MAX_QUANTITY, true));
    rp_graph_fini(&vgg);
}

void suite_plan_hand_over(void) {
    RP_SUITE("plan_hand_over");
    RP_TEST(a_plan_fits_smaller_batches_and_no_much_larger_ones);
    RP_TEST(a_plan_needs_the_same_host_memory_for_its_own_batch);
    RP_TEST(a_plan_of_other_ops_is_not_carried_over);
}
