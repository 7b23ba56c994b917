/* Tests of plans that no schedule can represent (solve/core/schedule.h): only A*, on small
 * graphs, finds them, and what is proved for schedules does not hold for them. */
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "solve/exhaustive/astar.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* In these graphs the best plan makes x for y, frees it, and makes it again for z, all
 * before f runs for the first time. No schedule within the budget is as fast. n unrelated
 * ops named "op" come before that. */
static bool parse_twice(uint32_t n, bool early, struct rp_graph *g) {
    char text[16384];
    struct rp_err err = {{0}};
    size_t len = 0;
    len += (size_t)snprintf(
        text + len, sizeof text - len,
        "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"twice\",\"time_source\":"
        "\"imported:hand\",\"tensors\":["
        "{\"name\":\"x\",\"bytes\":5120,\"kind\":\"activation\"},"
        "{\"name\":\"u\",\"bytes\":5120,\"kind\":\"activation\"},"
        "{\"name\":\"y\",\"bytes\":512,\"kind\":\"activation\"},"
        "{\"name\":\"z\",\"bytes\":512,\"kind\":\"activation\"},"
        "{\"name\":\"o\",\"bytes\":0,\"kind\":\"activation\"},"
        "{\"name\":\"e\",\"bytes\":%d,\"kind\":\"activation\"}],\"keep\":[4],\"ops\":[",
        early ? 512 : 0);
    for (uint32_t k = 0; k < n; k++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "{\"name\":\"op%u\",\"kind\":\"k\",\"inputs\":[],"
                                "\"outputs\":[%s],\"time_ns\":%u,\"recompute\":%s},",
                                k, k == 0 ? "5" : "", k == 0 ? 100000u : 1u,
                                k == 0 ? "true" : "false");
    len += (size_t)snprintf(
        text + len, sizeof text - len,
        "{\"name\":\"p\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[0],\"time_ns\":100},"
        "{\"name\":\"q\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":100},"
        "{\"name\":\"s\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":100,"
        "\"workspace_bytes\":5120},"
        "{\"name\":\"r\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[3],\"time_ns\":100},"
        "{\"name\":\"w\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[],\"time_ns\":100,"
        "\"workspace_bytes\":12800,\"recompute\":false},"
        "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[2,3%s],\"outputs\":[4],\"time_ns\":100}"
        "]}",
        early ? ",5" : "");
    return rp_graph_parse(text, len, "twice", g, &err) == RP_OK;
}

static rp_rc solve_twice(uint32_t n, bool early, uint64_t budget, uint64_t *time_ns,
                         struct rp_plan *plan, struct rp_solve_report *report) {
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .addressed = true,
                                 .recompute = true,
                                 .time_limit = 1,
                                 .ignore_clock = true,
                                 .seed = 1};
    struct rp_graph g;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    if (!parse_twice(n, early, &g))
        return RP_INPUT;
    rp_rc rc = rp_solve(&g, &o, plan, report, &err);
    if (rc == RP_OK && rp_verify(&g, plan, &v, &err) != RP_OK)
        rc = RP_INPUT;
    *time_ns = plan->claims.time_ns - g.total_time_ns;
    rp_graph_fini(&g);
    return rc;
}

static void a_plan_may_be_faster_than_any_schedule(void) {
    struct rp_plan plan;
    struct rp_solve_report report;
    uint64_t time_ns;
    CU_ASSERT_EQUAL(solve_twice(1, true, 13312, &time_ns, &plan, &report), RP_OK);
    CU_ASSERT_EQUAL(time_ns, 500); /* p q s p r run again; a schedule would rerun op0 */
    CU_ASSERT_EQUAL(plan.claims.proof, RP_PROOF_OPTIMAL);
    CU_ASSERT(plan.claims.bound_for.all_programs);
    rp_plan_fini(&plan);
}

static void a_plan_may_fit_where_no_schedule_does(void) {
    struct rp_plan plan;
    struct rp_solve_report report;
    uint64_t time_ns;
    CU_ASSERT_EQUAL(solve_twice(1, false, 12800, &time_ns, &plan, &report), RP_OK);
    CU_ASSERT_EQUAL(time_ns, 500);
    rp_plan_fini(&plan);
    CU_ASSERT_EQUAL(solve_twice(1, false, 12799, &time_ns, &plan, &report), RP_NO);
    rp_plan_fini(&plan);
}

/* The graph has too many ops for A*, so the proof is about schedules only. */
static void a_proof_for_schedules_is_not_claimed_for_all_plans(void) {
    struct rp_plan plan;
    struct rp_solve_report report;
    uint64_t time_ns;
    CU_ASSERT_EQUAL(solve_twice(RP_ASTAR_MAX_OPS, true, 13312, &time_ns, &plan, &report),
                    RP_OK);
    CU_ASSERT(time_ns >= 100000);
    CU_ASSERT_EQUAL(plan.claims.proof, RP_PROOF_OPTIMAL);
    CU_ASSERT_FALSE(plan.claims.bound_for.all_programs);
    rp_plan_fini(&plan);
    CU_ASSERT_EQUAL(solve_twice(RP_ASTAR_MAX_OPS, false, 12800, &time_ns, &plan, &report),
                    RP_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "twice between two first runs"));
    rp_plan_fini(&plan);
}

void suite_step_sequences(void) {
    RP_SUITE("step_sequences");
    RP_TEST(a_plan_may_be_faster_than_any_schedule);
    RP_TEST(a_plan_may_fit_where_no_schedule_does);
    RP_TEST(a_proof_for_schedules_is_not_claimed_for_all_plans);
}
