/* Tests of what searches begin with, and of what policies may use. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "drawn.h"
#include "gen.h"
#include "networks.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "policy/quick_plans.h"
#include "run.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

/* Both searches begin with the fastest plan among the policies whose means they may use
 * themselves. */
static void the_quick_plan_is_the_fastest_that_fits(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_planned best = rp_plan_with(&g, "libra", o, 60);
    struct rp_plan plan;
    o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 60;
    CU_ASSERT_FATAL(rp_best_policy_plan(&g, rp_policy_find("remat"), &o, &plan));
    CU_ASSERT(plan.claims.time_ns <= best.verdict.time_ns);
    CU_ASSERT(plan.claims.peak_bytes <= o.budget_bytes);
    rp_plan_fini(&plan);
    CU_ASSERT_FATAL(rp_best_policy_plan(&g, rp_policy_find("checkmate"), &o, &plan));
    CU_ASSERT_EQUAL(plan.host_bytes, 0);
    rp_plan_fini(&plan);
    o.budget_bytes = 1;
    CU_ASSERT(!rp_best_policy_plan(&g, rp_policy_find("remat"), &o, &plan));
    rp_graph_fini(&g);
}

static void policies_that_swap_refuse_graphs_without_bandwidths(void) {
    struct rp_graph g = rp_priced_network("vgg16", rp_net_tiny());
    g.device.h2d_bytes_per_s = 0;
    struct rp_planned r = rp_plan_with(&g, "vdnn-all", rp_quick_options(false), 60);
    CU_ASSERT_EQUAL(r.rc, RP_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.report.reason, "bandwidths"));
    rp_graph_fini(&g);
}

static void a_quick_plan_is_valid_and_swaps_only_if_allowed(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    for (int swap = 0; swap < 2; swap++) {
        struct rp_solve_options o = rp_share_options(&g, 60, swap);
        struct rp_err err = {{0}};
        struct rp_plan first, plan;
        CU_ASSERT_FATAL(rp_quick_policy_plan(&g, &o, &first));
        CU_ASSERT_EQUAL(first.host_bytes > 0, swap);
        o.time_limit = 1e-3;
        o.ignore_clock = true;
        o.start = &first;
        struct rp_solve_report report;
        CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
        CU_ASSERT(plan.claims.time_ns <= first.claims.time_ns);
        rp_plan_fini(&plan);
        rp_plan_fini(&first);
    }
    rp_graph_fini(&g);
}

static void there_is_no_quick_plan_if_none_fits_or_nothing_may_run_again(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_solve_options small = rp_share_options(&g, 1, true),
                            once = rp_share_options(&g, 60, true);
    struct rp_solve_options host = rp_share_options(&g, 60, true);
    struct rp_plan plan;
    once.recompute = false;
    host.host_bytes = 0;
    CU_ASSERT_FALSE(rp_quick_policy_plan(&g, &small, &plan));
    rp_plan_fini(&plan);
    CU_ASSERT_FALSE(rp_quick_policy_plan(&g, &once, &plan));
    rp_plan_fini(&plan);
    CU_ASSERT(!rp_quick_policy_plan(&g, &host, &plan) || plan.host_bytes == 0);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static void a_quick_plan_may_fill_the_budget_and_names_its_graph(void) {
    struct rp_graph g;
    struct rp_plan plan;
    rp_draw(rp_long_chain, 12, &g);
    struct rp_solve_options o = rp_share_options(&g, 100, true);
    o.budget_bytes = rp_keep_all_bytes(&g, false);
    CU_ASSERT_FATAL(rp_quick_policy_plan(&g, &o, &plan));
    CU_ASSERT_EQUAL(plan.claims.time_ns, g.total_time_ns);
    CU_ASSERT_STRING_EQUAL(plan.graph_name, g.name);
    CU_ASSERT_STRING_EQUAL(plan.graph_sha256, g.sha256);
    rp_plan_fini(&plan);
    o.budget_bytes = g.fixed_bytes + 1;
    CU_ASSERT_FALSE(rp_quick_policy_plan(&g, &o, &plan));
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* Tensors of no bytes need none on top of the sources. */
static void a_budget_for_the_sources_alone_may_be_enough(void) {
    static const struct rp_drawn_op ops[] = {{"f1", "relu", "s", "a", 0, 10},
                                             {"b1", "relu", "sa", "b", 0, 10}};
    struct rp_graph g;
    struct rp_plan plan;
    rp_draw(ops, 2, &g);
    struct rp_solve_options o = rp_share_options(&g, 100, true);
    o.budget_bytes = g.fixed_bytes;
    CU_ASSERT(rp_quick_policy_plan(&g, &o, &plan));
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* A plan for `percent` of keep-all's memory. The caller frees it. */
static struct rp_plan plan_of(const struct rp_graph *g, const char *name,
                              struct rp_policy_options o, uint64_t percent) {
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    o.budget_bytes = rp_keep_all_bytes(g, o.addressed) / 100 * percent;
    CU_ASSERT_EQUAL(rp_policy_plan(g, rp_policy_find(name), &o, &plan, &report, &err),
                    RP_OK);
    return plan;
}

static void of_equally_fast_plans_the_one_with_fewer_copies_then_fewer_runs_wins(void) {
    struct rp_graph g = rp_priced_network("unet", rp_net_defaults());
    struct rp_plan all = plan_of(&g, "keep-all", rp_quick_options(false), 101);
    struct rp_plan copies = plan_of(&g, "capuchin", rp_quick_options(false), 95);
    struct rp_plan again = plan_of(&g, "chen-sqrt", rp_quick_options(false), 101);
    CU_ASSERT_EQUAL(copies.claims.time_ns, all.claims.time_ns);
    CU_ASSERT(rp_plan_order(&g, &all, &copies) < 0);
    CU_ASSERT(rp_plan_order(&g, &copies, &all) > 0);
    CU_ASSERT(rp_plan_order(&g, &copies, &again) < 0); /* time decides before copies */
    again.claims.time_ns = all.claims.time_ns;
    CU_ASSERT(rp_plan_order(&g, &again, &copies) < 0);
    CU_ASSERT(rp_plan_order(&g, &all, &again) < 0);
    CU_ASSERT_EQUAL(rp_plan_order(&g, &again, &again), 0);
    rp_plan_fini(&all);
    rp_plan_fini(&copies);
    rp_plan_fini(&again);
    rp_graph_fini(&g);
}

static void a_start_with_copies_is_not_used_if_keep_all_fits(void) {
    struct rp_graph g = rp_priced_network("unet", rp_net_defaults());
    struct rp_plan copies = plan_of(&g, "capuchin", rp_quick_options(false), 95);
    struct rp_policy_options o = rp_quick_options(false);
    o.start = &copies;
    struct rp_plan plan = plan_of(&g, "remat", o, 101);
    CU_ASSERT(copies.host_bytes > 0);
    CU_ASSERT_EQUAL(plan.host_bytes, 0);
    rp_plan_fini(&copies);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static const char *policy_of(const struct rp_plan *plan) {
    return json_string_value(json_object_get(plan->notes, "policy"));
}

static void the_plan_of_a_search_says_whose_it_is(void) {
    struct rp_graph g;
    rp_draw(rp_long_chain, 12, &g);
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_plan all = plan_of(&g, "capuchin", o, 100), again;
    CU_ASSERT_STRING_EQUAL(policy_of(&all), "capuchin");
    rp_plan_fini(&all);
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    o.budget_bytes = rp_keep_all_bytes(&g, false);
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(&g, rp_policy_find("remat"), &o, &again, &report, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(policy_of(&again), "keep-all");
    rp_plan_fini(&again);
    rp_graph_fini(&g);
}

/* However little it may do. */
static void a_search_is_no_worse_than_its_first_plan(void) {
    struct rp_gen_shape shape = rp_gen_small(300);
    struct rp_graph g;
    struct rp_plan first;
    struct rp_policy_options o = rp_quick_options(false);
    shape.training = true;
    shape.reach = 20;
    shape.once_percent = 0;
    rp_gen_graph(1, &shape, &g);
    o.time_limit = 1e-6;
    o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 60;
    CU_ASSERT_FATAL(rp_best_policy_plan(&g, rp_policy_find("remat"), &o, &first));
    struct rp_plan plan = plan_of(&g, "remat", o, 60);
    CU_ASSERT(plan.claims.time_ns <= first.claims.time_ns);
    rp_plan_fini(&first);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static void copied_bytes_end_at_the_largest_quantity(void) {
    struct rp_tensor huge[2] = {{.bytes = UINT64_C(1) << 62}, {.bytes = 5}};
    struct rp_graph g = {.tensors = huge, .n_tensors = 2};
    struct rp_step steps[] = {{.kind = RP_SWAP_OUT, .id = 0},
                              {.kind = RP_SWAP_IN, .id = 1},
                              {.kind = RP_RUN, .id = 0},
                              {.kind = RP_SWAP_IN, .id = 0}};
    struct rp_plan plan = {.steps = {.at = steps, .n = 3}};
    uint64_t n_runs;
    CU_ASSERT_EQUAL(rp_plan_copied_bytes(&g, &plan, &n_runs), (UINT64_C(1) << 62) + 5);
    CU_ASSERT_EQUAL(n_runs, 1);
    plan.steps.n = 4;
    CU_ASSERT_EQUAL(rp_plan_copied_bytes(&g, &plan, &n_runs), RP_MAX_QUANTITY);
}

/* The steps of this plan fit, but their addresses leave gaps. DTR plans again for less. */
static void a_policy_plans_again_if_addresses_do_not_fit(void) {
    struct rp_gen_shape shape = rp_gen_small(20);
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    struct rp_policy_options o = rp_quick_options(true);
    shape.training = true;
    shape.once_percent = 0;
    shape.alignment_bytes = 1;
    rp_gen_graph(65, &shape, &g);
    o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 75;
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(&g, rp_policy_find("dtr"), &o, &plan, &report, &err), RP_OK);
    CU_ASSERT(report.fits);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* What a report says of an earlier plan is gone, whoever refuses. */
static void a_report_is_of_one_plan(void) {
    static const char *const names[] = {"vdnn-all", "remat"};
    struct rp_graph g = rp_priced_network("vgg16", rp_net_tiny());
    g.device.h2d_bytes_per_s = 0;
    for (int k = 0; k < 2; k++) {
        struct rp_policy_options o = rp_quick_options(false);
        struct rp_policy_report report = {
            .fits = true, .needed_bytes = 1, .out_bytes = 1, .in_bytes = 1};
        struct rp_plan plan = {.budget_bytes = 1};
        struct rp_err err = {{0}};
        o.budget_bytes = 1;
        CU_ASSERT_EQUAL(
            rp_policy_plan(&g, rp_policy_find(names[k]), &o, &plan, &report, &err), RP_NO);
        CU_ASSERT(!report.fits && report.needed_bytes == 0 && report.out_bytes == 0);
        CU_ASSERT_EQUAL(plan.budget_bytes, 0);
    }
    rp_graph_fini(&g);
}

static void a_policy_has_the_time_limit_and_no_more(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    struct rp_stop stop = {.deadline = INFINITY};
    struct rp_policy_options o = rp_drawn_options(45);
    rp_draw(rp_long_chain, 12, &g);
    o.time_limit = -1; /* it is over */
    o.stop = &stop;
    CU_ASSERT_EQUAL(rp_policy_plan(&g, rp_policy_find("dtr"), &o, &plan, &report, &err),
                    RP_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "time limit"));
    rp_plan_fini(&plan);
    o.ignore_clock = true;
    CU_ASSERT_EQUAL(rp_policy_plan(&g, rp_policy_find("dtr"), &o, &plan, &report, &err),
                    RP_OK);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static struct rp_policy_options without(bool recompute, bool swap) {
    struct rp_policy_options o = rp_quick_options(false);
    o.no_recompute = recompute;
    o.no_swap = swap;
    return o;
}

static void a_policy_uses_only_what_is_allowed_or_refuses(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    for (size_t i = 0; i < rp_n_policies; i++) {
        const struct rp_policy *policy = rp_policies[i];
        if (policy->record == NULL)
            continue;
        struct rp_planned r = rp_plan_with(&g, policy->name, without(false, true), 60);
        CU_ASSERT_EQUAL(r.rc, rp_policy_can_avoid_swap(policy) ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(r.report.out_bytes, 0);
        r = rp_plan_with(&g, policy->name, without(true, false), 60);
        bool possible =
            rp_policy_can_avoid_recompute(policy) && rp_policy_has_sources(policy, &g);
        CU_ASSERT_EQUAL(r.rc, possible ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(r.verdict.recompute_ns, 0);
    }
    rp_graph_fini(&g);
}

/* With this gap the first plan that fits ends the search, even if it comes from another
 * policy. */
static void a_search_uses_only_what_is_allowed_from_its_first_plan_on(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_verdict v;
    struct rp_err err = {{0}};
    for (int k = 0; k < 3; k++) {
        struct rp_policy_options o = without(k == 0, k == 1);
        o.gap = 100;
        o.host_bytes = k == 2 ? 1 << 20 : RP_MAX_QUANTITY;
        struct rp_plan plan = plan_of(&g, "remat", o, 60);
        CU_ASSERT_EQUAL(rp_verify(&g, &plan, &v, &err), RP_OK);
        CU_ASSERT(k != 0 || v.recompute_ns == 0);
        CU_ASSERT(k == 0 || v.host_used_bytes <= (k == 2 ? 1 << 20 : 0));
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
}

static void host_copies_fit_the_host_budget_or_the_plan_is_reported_as_not_fitting(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    o.host_bytes = 1 << 20;
    struct rp_planned avoids = rp_plan_with(&g, "libra", o, 60);
    struct rp_planned must = rp_plan_with(&g, "vdnn-all", o, 100);
    CU_ASSERT(avoids.valid && avoids.report.out_bytes <= 1 << 20);
    CU_ASSERT(must.valid && must.report.out_bytes > 1 << 20);
    CU_ASSERT(must.report.needed_bytes <= rp_keep_all_bytes(&g, false));
    CU_ASSERT(!must.report.fits);
    rp_graph_fini(&g);
}

/* Little memory is enough for segments, where policies that could swap do not fit. */
static void a_quick_plan_without_swaps_may_be_one_of_segments(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_solve_options o = rp_share_options(&g, 36, false);
    struct rp_plan segments = plan_of(&g, "chen-sqrt", rp_quick_options(false), 36), plan;
    CU_ASSERT_FATAL(rp_quick_policy_plan(&g, &o, &plan));
    CU_ASSERT_EQUAL(plan.claims.time_ns, segments.claims.time_ns);
    CU_ASSERT_EQUAL(plan.host_bytes, 0);
    rp_plan_fini(&plan);
    rp_plan_fini(&segments);
    rp_graph_fini(&g);
}

/* The commands solve, sweep and compare choose policies by their flags. */
static void flags_mark_the_quick_policies(void) {
    static const char *const expected[] = {
        "keep-all",     "chen-sqrt",    "vdnn-all",     "vdnn-conv", "tflms",
        "superneurons", "capuchin",     "alibaba",      "libra",     "pytorch",
        "zero-offload", "layer-stream", "offload-state"};
    enum { N = sizeof expected / sizeof *expected };
    size_t n = 0;
    for (size_t i = 0; i < rp_n_policies; i++) {
        CU_ASSERT_EQUAL(rp_policy_index(rp_policies[i]), i);
        CU_ASSERT_PTR_EQUAL(rp_policy_find(rp_policies[i]->name), rp_policies[i]);
        if (!rp_policy_is_quick(rp_policies[i]))
            continue;
        CU_ASSERT_FATAL(n < N);
        CU_ASSERT_STRING_EQUAL(rp_policies[i]->name, expected[n++]);
    }
    CU_ASSERT_EQUAL(n, N);
    CU_ASSERT_PTR_NULL(rp_policy_find("none"));
}

void suite_quick_plans(void) {
    RP_SUITE("quick_plans");
    RP_TEST(the_quick_plan_is_the_fastest_that_fits);
    RP_TEST(policies_that_swap_refuse_graphs_without_bandwidths);
    RP_TEST(a_quick_plan_is_valid_and_swaps_only_if_allowed);
    RP_TEST(a_quick_plan_may_fill_the_budget_and_names_its_graph);
    RP_TEST(a_budget_for_the_sources_alone_may_be_enough);
    RP_TEST(the_plan_of_a_search_says_whose_it_is);
    RP_TEST(a_search_is_no_worse_than_its_first_plan);
    RP_TEST(copied_bytes_end_at_the_largest_quantity);
    RP_TEST(a_policy_plans_again_if_addresses_do_not_fit);
    RP_TEST(a_report_is_of_one_plan);
    RP_TEST(a_policy_has_the_time_limit_and_no_more);
    RP_TEST(there_is_no_quick_plan_if_none_fits_or_nothing_may_run_again);
    RP_TEST(of_equally_fast_plans_the_one_with_fewer_copies_then_fewer_runs_wins);
    RP_TEST(a_start_with_copies_is_not_used_if_keep_all_fits);
    RP_TEST(a_policy_uses_only_what_is_allowed_or_refuses);
    RP_TEST(a_search_uses_only_what_is_allowed_from_its_first_plan_on);
    RP_TEST(host_copies_fit_the_host_budget_or_the_plan_is_reported_as_not_fitting);
    RP_TEST(a_quick_plan_without_swaps_may_be_one_of_segments);
    RP_TEST(flags_mark_the_quick_policies);
}
