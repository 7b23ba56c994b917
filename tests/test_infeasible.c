/* Tests of the messages for budgets within which no plan exists or none was found. */
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "solve/incumbent.h"
#include "solve/infeasible.h"

/* big (3000 bytes) is made by a run-once op and read at the end. The ops in between use
 * less memory. */
static const char net[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"net\","
    "\"time_source\":\"imported:test\",\"tensors\":["
    "{\"name\":\"x\",\"bytes\":500,\"kind\":\"input\"},"
    "{\"name\":\"big\",\"bytes\":3000,\"kind\":\"activation\"},"
    "{\"name\":\"a\",\"bytes\":600,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":700,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":100,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"once\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":10,"
    "\"recompute\":false},"
    "{\"name\":\"fa\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[2],\"time_ns\":10},"
    "{\"name\":\"fb\",\"kind\":\"k\",\"inputs\":[2],\"outputs\":[3],\"time_ns\":10},"
    "{\"name\":\"fc\",\"kind\":\"k\",\"inputs\":[1,3],\"outputs\":[4],\"time_ns\":10}],"
    "\"keep\":[%s]}";

static void load(const char *keep, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char text[2000];
    snprintf(text, sizeof text, net, keep);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "net", g, &err), RP_OK);
}

static void check_reason(const struct rp_solve_report *report, const char *reason) {
    CU_ASSERT_STRING_EQUAL(report->reason, reason);
    if (strcmp(report->reason, reason) != 0)
        printf("message: %s\n", report->reason);
}

static void refused(const char *keep, uint64_t budget, const char *reason) {
    struct rp_graph g;
    struct rp_solve_options o = {.budget_bytes = budget, .recompute = true};
    struct rp_solve_report report = {0};
    struct rp_context w = {.g = &g, .o = &o, .report = &report};
    load(keep, &g);
    CU_ASSERT_EQUAL(rp_check_floor(&w), RP_NO);
    check_reason(&report, reason);
    rp_graph_fini(&g);
}

static void the_message_breaks_the_floor_down_with_units(void) {
    refused(
        "4", 4000,
        "while op 2 \"fb\" runs, 4.69 KiB (4800 bytes) are on the device, more than the "
        "budget of 3.91 KiB (4000 bytes): 1.27 KiB of its inputs, outputs and "
        "workspace, 500 B of sources, 2.93 KiB that later ops need and that can be "
        "neither made again nor swapped");
}

static void the_message_gives_the_size_of_kept_tensors_with_units(void) {
    refused("1,2,3,4", 4800,
            "the tensors to be kept and the sources take 4.79 KiB (4900 bytes) together, "
            "more than the budget of 4.69 KiB (4800 bytes)");
}

static void the_message_gives_the_smallest_budget_found_with_units(void) {
    struct rp_graph g;
    struct rp_solve_options o = {.budget_bytes = 4750, .recompute = true};
    struct rp_solve_report report = {.floor_bytes = 4700};
    struct rp_context w = {.g = &g, .o = &o, .report = &report};
    load("4", &g);
    rp_context_instance(&w, &w.p, o.budget_bytes);
    rp_schedule_keep_all(&w.p, &w.incumbent.s);
    CU_ASSERT_FALSE(rp_incumbent_offer(&w, &w.incumbent.s, RP_KEEP_ALL));
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    CU_ASSERT_EQUAL(report.min_bytes, 4800);
    check_reason(
        &report,
        "none found within 4.64 KiB (4750 bytes) before the work limit; the least that one "
        "was found for is 4.69 KiB (4800 bytes), where op 2 \"fb\" binds; every plan needs "
        "at least 4.59 KiB (4700 bytes)");
    report.capped = true;
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "before the time limit; the least"));
    volatile sig_atomic_t stop = 1;
    w.stop.interrupted = &stop;
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "before the interrupt; the least"));
    rp_schedule_fini(&w.incumbent.s);
    rp_instance_fini(&w.p);
    rp_graph_fini(&g);
}

/* Neither answer speaks of a work limit: more work would not change it. */
static void a_proof_that_no_schedule_fits_is_no_work_limit(void) {
    struct rp_graph g;
    struct rp_solve_options o = {.budget_bytes = 4750, .recompute = true};
    struct rp_solve_report report = {.floor_bytes = 4700};
    struct rp_context w = {.g = &g, .o = &o, .report = &report, .proved = true};
    load("4", &g);
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    check_reason(&report, "none found within 4750 bytes; in this order of ops, every plan "
                          "within them runs an op twice between two first runs");
    w.all_sequences = true; /* but a bound on the time is no proof that there is no plan */
    w.bound_ns = 4000;
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    w.bound_ns = RP_MAX_PLAN_NS;
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_NO);
    check_reason(&report, "proved that no plan fits in 4750 bytes in this order of ops");
    rp_graph_fini(&g);
}

static void offer_keep_all(struct rp_context *w) {
    struct rp_schedule s;
    rp_context_instance(w, &w->p, w->o->budget_bytes);
    rp_schedule_keep_all(&w->p, &s);
    CU_ASSERT_FALSE(rp_incumbent_offer(w, &s, RP_KEEP_ALL));
    rp_schedule_fini(&s);
}

/* In the order fa, fb, once, fc the step needs less. The answer names its size and its op,
 * whatever order is current at the end. */
static void the_smallest_budget_found_is_one_of_a_single_order(void) {
    uint32_t order[] = {1, 2, 0, 3};
    struct rp_graph g;
    struct rp_solve_options o = {.budget_bytes = 4250, .recompute = true};
    struct rp_solve_report report = {.floor_bytes = 4200};
    struct rp_context w = {.g = &g, .o = &o, .report = &report};
    load("4", &g);
    w.order = order;
    offer_keep_all(&w);
    rp_instance_fini(&w.p);
    w.order = NULL;
    offer_keep_all(&w);
    CU_ASSERT_EQUAL(rp_explain_none_found(&w), RP_LIMIT);
    CU_ASSERT_EQUAL(report.min_bytes, 4300);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "4300 bytes), where op 3 \"fc\" binds"));
    rp_instance_fini(&w.p);
    rp_graph_fini(&g);
}

/* In the order fa, fb, once, fc it also needs less at least. */
static void the_floor_of_any_order_is_that_of_the_best_one(void) {
    struct rp_graph g;
    struct rp_solve_options o = {.budget_bytes = 4300, .recompute = true};
    struct rp_solve_report report = {0};
    struct rp_context w = {.g = &g, .o = &o, .report = &report};
    load("4", &g);
    CU_ASSERT_EQUAL(rp_check_floor(&w), RP_NO);
    CU_ASSERT_EQUAL(report.floor_bytes, 4800);
    o.reorder = true;
    CU_ASSERT_EQUAL(rp_check_floor(&w), RP_OK);
    CU_ASSERT_EQUAL(report.floor_bytes, 4300);
    rp_graph_fini(&g);
}

/* The search is told to end before it begins: keep-all is the only offer. */
static void an_interrupt_before_any_plan_is_explained(void) {
    volatile sig_atomic_t interrupted = 1;
    for (int reorder = 0; reorder < 2; reorder++) {
        struct rp_graph g;
        struct rp_plan plan;
        struct rp_solve_report report;
        struct rp_err err = {{0}};
        struct rp_solve_options o = {.budget_bytes = 4790,
                                     .recompute = true,
                                     .reorder = reorder == 1,
                                     .time_limit = 1,
                                     .ignore_clock = true,
                                     .seed = 1,
                                     .stop = &interrupted};
        load("1,3", &g);
        g.ops[0].recompute = true;
        rp_rc rc = rp_solve(&g, &o, &plan, &report, &err);
        CU_ASSERT_EQUAL(rc, RP_LIMIT);
        CU_ASSERT_EQUAL(report.min_bytes, report.keep_all_bytes);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "where op 2 \"fb\" binds"));
        rp_graph_fini(&g);
    }
}

/* Each op reads one of three sources of 400 bytes, which may live on the host. */
static const char streamed[] =
    "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"s\","
    "\"time_source\":\"imported:test\",\"device\":{\"alignment_bytes\":4,"
    "\"h2d_bytes_per_s\":1000000000,\"d2h_bytes_per_s\":1000000000},\"tensors\":["
    "{\"name\":\"u\",\"bytes\":400,\"kind\":\"parameter\",\"home\":\"any\"},"
    "{\"name\":\"v\",\"bytes\":400,\"kind\":\"parameter\",\"home\":\"any\"},"
    "{\"name\":\"w\",\"bytes\":400,\"kind\":\"parameter\",\"home\":\"any\"},"
    "{\"name\":\"a\",\"bytes\":100,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":100,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":100,\"kind\":\"activation\"}],\"ops\":["
    "{\"name\":\"fa\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[3],\"time_ns\":10},"
    "{\"name\":\"fb\",\"kind\":\"k\",\"inputs\":[1,3],\"outputs\":[4],\"time_ns\":10},"
    "{\"name\":\"fc\",\"kind\":\"k\",\"inputs\":[2,4],\"outputs\":[5],\"time_ns\":10}],"
    "\"keep\":[5]}";

static rp_rc solve_streamed(const struct rp_graph *g, uint64_t budget, uint64_t host_bytes,
                            struct rp_solve_report *report) {
    struct rp_err err = {{0}};
    struct rp_plan plan;
    struct rp_solve_options o = {.budget_bytes = budget,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = host_bytes,
                                 .time_limit = 0.01,
                                 .ignore_clock = true};
    rp_rc rc = rp_solve(g, &o, &plan, report, &err);
    rp_plan_fini(&plan);
    return rc;
}

static void sources_without_room_on_the_host_count(void) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    struct rp_solve_report report;
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(streamed, strlen(streamed), "s", &g, &err), RP_OK);
    CU_ASSERT_EQUAL(solve_streamed(&g, 600, 500, &report), RP_NO);
    check_reason(&report,
                 "while op 1 \"fb\" runs, 900 bytes are on the device, more than the "
                 "budget of 600 bytes: 600 B of its inputs, outputs and workspace, 0 B of "
                 "sources, 300 B of others for which the host budget of 500 B has no room");
    CU_ASSERT_EQUAL(report.floor_bytes, 900);
    CU_ASSERT_EQUAL(report.least_host_bytes, 800);
    CU_ASSERT_EQUAL(solve_streamed(&g, 600, 1200, &report), RP_OK);
    CU_ASSERT_EQUAL(solve_streamed(&g, 599, 500, &report), RP_NO);
    CU_ASSERT_EQUAL(report.least_host_bytes, 0);
    rp_graph_fini(&g);
}

/* s may live on the host, and only an op that updates it touches it; nothing touches t. */
static const char unused_sources[] =
    "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"s\","
    "\"time_source\":\"imported:test\",\"tensors\":["
    "{\"name\":\"s\",\"bytes\":400,\"kind\":\"state\",\"home\":\"any\"},"
    "{\"name\":\"t\",\"bytes\":%u,\"kind\":\"state\",\"home\":\"any\"},"
    "{\"name\":\"a\",\"bytes\":100,\"kind\":\"activation\"}],\"ops\":["
    "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[2],\"updates\":[0],"
    "\"time_ns\":10}],\"keep\":[2]}";

static rp_rc solve_within_400(unsigned bytes_of_t, uint64_t host_bytes, bool *left) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    struct rp_solve_report report;
    char text[1000];
    snprintf(text, sizeof text, unused_sources, bytes_of_t);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "s", &g, &err), RP_OK);
    rp_rc rc = solve_streamed(&g, 400 + bytes_of_t, host_bytes, &report);
    *left =
        strstr(report.reason, "; sources that may live on the host were left on") != NULL;
    rp_graph_fini(&g);
    return rc;
}

/* Without copies only t could live on the host. */
static void none_is_proved_unless_a_source_could_move_without_copies(void) {
    bool left;
    CU_ASSERT(solve_within_400(0, 1000, &left) == RP_NO && !left);
    CU_ASSERT(solve_within_400(50, 49, &left) == RP_NO && !left);
    CU_ASSERT(solve_within_400(50, 50, &left) == RP_LIMIT && left);
}

void suite_infeasible(void) {
    RP_SUITE("infeasible");
    RP_TEST(the_message_breaks_the_floor_down_with_units);
    RP_TEST(the_message_gives_the_size_of_kept_tensors_with_units);
    RP_TEST(the_message_gives_the_smallest_budget_found_with_units);
    RP_TEST(a_proof_that_no_schedule_fits_is_no_work_limit);
    RP_TEST(the_smallest_budget_found_is_one_of_a_single_order);
    RP_TEST(the_floor_of_any_order_is_that_of_the_best_one);
    RP_TEST(an_interrupt_before_any_plan_is_explained);
    RP_TEST(sources_without_room_on_the_host_count);
    RP_TEST(none_is_proved_unless_a_source_could_move_without_copies);
}
