/* Tests of the published policies. Each gives a plan that verify accepts, for any graph,
 * and has the properties that its paper states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "networks.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "policy/quick_plans.h"
#include "policy/segments.h"
#include "run.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

/* Checks all policies except those that search. */
static bool check_all_policies(const struct rp_graph *g, struct rp_policy_options o,
                               uint64_t percent) {
    for (size_t i = 0; i < rp_n_policies; i++) {
        if (rp_policies[i]->record == NULL)
            continue;
        struct rp_planned r = rp_plan_with(g, rp_policies[i]->name, o, percent);
        bool none =
            r.rc == RP_NO && r.report.reason[0] != '\0' && rp_policies[i]->needs_swap;
        if (!r.valid && !none)
            return false;
    }
    return true;
}

static void every_policy_gives_valid_plans_on_random_graphs(void) {
    uint32_t n = 150;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 40));
        struct rp_policy_options o = rp_quick_options(seed % 2);
        struct rp_graph g;
        shape.training = seed % 3;
        shape.bandwidths = seed % 5;
        shape.rules_percent = seed % 4 * 8;
        rp_gen_graph(seed, &shape, &g);
        o.tflms.lb = seed % 4;
        o.tflms.ctrld = seed % 7 < 3 ? RP_DIRECT_ORDER : RP_CHAIN_RULE;
        o.tflms.fuse_swapins = seed % 11 < 5;
        o.tflms.swap_branches = seed % 13 < 6;
        if (!check_all_policies(&g, o, 30 + seed % 80)) {
            rp_gen_failed(seed);
            CU_FAIL("a policy's plan was rejected");
        }
        rp_graph_fini(&g);
    }
}

/* Without a backward pass each tensor is made in the forward one. */
static void every_policy_gives_valid_plans_without_a_backward_pass(void) {
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 * seed);
        struct rp_graph g;
        shape.bandwidths = true;
        rp_gen_graph(seed, &shape, &g);
        for (uint32_t j = 0; j < g.n_ops; j++)
            g.ops[j].phase = RP_FORWARD;
        CU_ASSERT(check_all_policies(&g, rp_quick_options(seed % 2), 10 * seed));
        rp_graph_fini(&g);
    }
}

static void every_policy_gives_valid_plans_on_tiny_networks(void) {
    static const char *const names[] = {"vgg16",   "resnet50", "unet",     "bert-base",
                                        "lstm-lm", "nmt",      "googlenet"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct rp_graph g = rp_priced_network(names[i], rp_net_tiny());
        CU_ASSERT(check_all_policies(&g, rp_quick_options(i % 2), 60));
        rp_graph_fini(&g);
    }
}

static void chen_needs_less_memory_than_keep_all_at_about_one_more_forward_pass(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_tiny());
    struct rp_planned all = rp_plan_with(&g, "keep-all", rp_quick_options(false), 100);
    struct rp_planned some = rp_plan_with(&g, "chen-sqrt", rp_quick_options(false), 100);
    CU_ASSERT(some.verdict.peak_bytes < all.verdict.peak_bytes);
    CU_ASSERT(some.verdict.recompute_ns > 0);
    CU_ASSERT(some.verdict.recompute_ns < g.total_time_ns / 2);
    rp_graph_fini(&g);
}

static void policies_that_plan_for_a_budget_fit_it(void) {
    static const char *const names[] = {"chen-greedy", "revolve", "dtr"};
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct rp_planned r = rp_plan_with(&g, names[i], rp_quick_options(false), 70);
        CU_ASSERT(r.valid && r.report.fits);
        CU_ASSERT(r.verdict.recompute_ns > 0);
        r = rp_plan_with(&g, names[i], rp_quick_options(false), 101);
        CU_ASSERT(r.valid && r.verdict.time_ns == g.total_time_ns);
    }
    rp_graph_fini(&g);
}

static void vdnn_conv_moves_less_than_vdnn_all(void) {
    struct rp_graph g = rp_priced_network("vgg16", rp_net_defaults());
    struct rp_planned all = rp_plan_with(&g, "vdnn-all", rp_quick_options(false), 100);
    struct rp_planned conv = rp_plan_with(&g, "vdnn-conv", rp_quick_options(false), 100);
    CU_ASSERT(conv.report.out_bytes > 0);
    CU_ASSERT(conv.report.out_bytes < all.report.out_bytes);
    CU_ASSERT(conv.verdict.time_ns < all.verdict.time_ns);
    CU_ASSERT(all.verdict.recompute_ns == 0 && conv.verdict.recompute_ns == 0);
    rp_graph_fini(&g);
}

static void tflms_is_faster_and_larger_with_fused_swap_ins(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_planned apart = rp_plan_with(&g, "tflms", o, 60);
    o.tflms.fuse_swapins = true;
    struct rp_planned fused = rp_plan_with(&g, "tflms", o, 60);
    CU_ASSERT(fused.report.in_bytes < apart.report.in_bytes);
    CU_ASSERT(fused.verdict.time_ns < apart.verdict.time_ns);
    rp_graph_fini(&g);
}

static void tflms_swaps_no_more_tensors_than_asked(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    for (o.tflms.n_tensors = 0; o.tflms.n_tensors <= 20; o.tflms.n_tensors += 10)
        CU_ASSERT_EQUAL(rp_plan_with(&g, "tflms", o, 60).verdict.n_swap_outs,
                        o.tflms.n_tensors);
    rp_graph_fini(&g);
}

static void tflms_with_branches_needs_less_for_a_u_net(void) {
    struct rp_graph g = rp_priced_network("unet", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    o.tflms.branch_threshold = 20;
    struct rp_planned without = rp_plan_with(&g, "tflms", o, 30);
    o.tflms.swap_branches = true;
    struct rp_planned with = rp_plan_with(&g, "tflms", o, 30);
    CU_ASSERT(with.verdict.peak_bytes < without.verdict.peak_bytes);
    o.tflms.branch_threshold = 10000;
    CU_ASSERT_EQUAL(rp_plan_with(&g, "tflms", o, 30).report.in_bytes,
                    without.report.in_bytes);
    rp_graph_fini(&g);
}

static void tflms_prefetches_earlier_with_a_larger_lower_bound(void) {
    struct rp_graph g = rp_priced_network("vgg16", rp_net_defaults());
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_planned late, early;
    o.tflms.fuse_swapins = true;
    for (int rule = RP_CHAIN_RULE; rule <= RP_DIRECT_ORDER; rule++) {
        o.tflms.ctrld = (enum rp_ctrld)rule;
        o.tflms.lb = 1;
        late = rp_plan_with(&g, "tflms", o, 50);
        o.tflms.lb = 8;
        early = rp_plan_with(&g, "tflms", o, 50);
        CU_ASSERT(early.verdict.stall_ns < late.verdict.stall_ns);
    }
    rp_graph_fini(&g);
}

static void superneurons_swaps_expensive_and_recomputes_cheap_tensors(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_planned r = rp_plan_with(&g, "superneurons", rp_quick_options(false), 55);
    CU_ASSERT(r.report.fits && r.report.out_bytes > 0 && r.verdict.recompute_ns > 0);
    /* No convolution runs twice, so recomputation is only a small share of the time. */
    CU_ASSERT(r.verdict.recompute_ns < g.total_time_ns / 4);
    /* Tensor cache: with more memory, less is offloaded. */
    CU_ASSERT(
        rp_plan_with(&g, "superneurons", rp_quick_options(false), 75).report.out_bytes <
        r.report.out_bytes);
    rp_graph_fini(&g);
}

static void capuchin_adds_no_time_while_swaps_are_hidden(void) {
    struct rp_graph g = rp_priced_network("unet", rp_net_defaults());
    struct rp_planned r = rp_plan_with(&g, "capuchin", rp_quick_options(false), 95);
    CU_ASSERT(r.report.fits && r.report.out_bytes > 0);
    CU_ASSERT_EQUAL(r.verdict.time_ns, g.total_time_ns);
    CU_ASSERT(rp_plan_with(&g, "capuchin", rp_quick_options(false), 50).report.fits);
    rp_graph_fini(&g);
}

static void alibaba_recomputes_attention_and_swaps_the_rest(void) {
    struct rp_graph g = rp_priced_network("bert-base", rp_net_defaults());
    struct rp_planned some = rp_plan_with(&g, "alibaba", rp_quick_options(false), 90);
    struct rp_planned more = rp_plan_with(&g, "alibaba", rp_quick_options(false), 60);
    CU_ASSERT(some.report.fits && more.report.fits);
    CU_ASSERT(some.verdict.recompute_ns > 0 && more.report.out_bytes > 0);
    CU_ASSERT_EQUAL(some.verdict.recompute_ns, more.verdict.recompute_ns);
    CU_ASSERT(some.verdict.recompute_ns < g.total_time_ns / 20);
    rp_graph_fini(&g);
}

static void libra_recomputes_first_and_swaps_when_chains_reach_the_peak(void) {
    struct rp_graph g = rp_priced_network("resnet50", rp_net_defaults());
    struct rp_planned some = rp_plan_with(&g, "libra", rp_quick_options(false), 80);
    struct rp_planned more = rp_plan_with(&g, "libra", rp_quick_options(false), 38);
    CU_ASSERT(some.report.fits && some.report.out_bytes == 0);
    CU_ASSERT(some.verdict.recompute_ns > 0);
    CU_ASSERT(more.report.fits && more.report.out_bytes > 0);
    rp_graph_fini(&g);
}

/* On large graphs, what libra gives up makes other closures too long to recompute. Without
 * bandwidths these tensors stay. */
static void libra_swaps_nothing_on_a_device_without_bandwidths(void) {
    struct rp_gen_shape shape = {.n_ops = 1000,
                                 .n_sources = 10,
                                 .max_inputs = 4,
                                 .max_outputs = 1,
                                 .reach = 80,
                                 .max_bytes = 8000,
                                 .max_time_ns = 1000,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    rp_gen_graph(1, &shape, &g);
    struct rp_planned r = rp_plan_with(&g, "libra", rp_quick_options(false), 65);
    CU_ASSERT(r.valid);
    CU_ASSERT_EQUAL(r.verdict.n_swap_outs, 0);
    rp_graph_fini(&g);
}

/* A policy that is stopped says so, at the question at which it was told. One that is not
 * stopped has its plan. */
static bool stops_when_told(const struct rp_graph *g, const struct rp_policy *policy,
                            uint64_t max_questions) {
    struct rp_stop stop = {.deadline = INFINITY, .max_questions = max_questions};
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    o.budget_bytes = rp_keep_all_bytes(g, false) / 100 * 60;
    o.stop = &stop;
    rp_rc rc = rp_policy_record_plan(g, policy, &o, &plan, &report, &err);
    bool told = rc == RP_LIMIT && strstr(report.reason, "came first") != NULL;
    rp_plan_fini(&plan);
    return stop.hit ? told && stop.questions == max_questions
                    : rc == RP_OK && stop.questions < max_questions;
}

/* A training step with so many ops that policies take their time. */
static struct rp_graph long_graph(uint32_t n_ops) {
    struct rp_gen_shape shape = {.n_ops = n_ops,
                                 .n_sources = 3,
                                 .max_inputs = 3,
                                 .max_outputs = 1,
                                 .reach = 20,
                                 .max_bytes = 8000,
                                 .max_time_ns = 1000,
                                 .alignment_bytes = 1,
                                 .bandwidths = true,
                                 .training = true};
    struct rp_graph g;
    rp_gen_graph(1, &shape, &g);
    return g;
}

/* Lets the sources live on the host. */
static void let_sources_move(struct rp_graph *g) {
    struct rp_err err = {{0}};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer == RP_NONE)
            g->tensors[x].home = RP_HOME_ANY;
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "g", &err), RP_OK);
}

static void every_policy_ends_when_it_is_told_to(void) {
    struct rp_graph g = long_graph(600);
    let_sources_move(&g);
    for (size_t i = 0; i < rp_n_policies; i++)
        for (uint64_t k = 1; k <= 64 && rp_policies[i]->record != NULL; k *= 4)
            CU_ASSERT(stops_when_told(&g, rp_policies[i], k));
    rp_graph_fini(&g);
}

/* With just the memory that its addresses need, a plan that a stop cuts short is no plan
 * that does not fit. */
static void a_stop_while_addresses_are_sought_is_no_lack_of_memory(void) {
    struct rp_graph g = long_graph(3000);
    struct rp_policy_options o = rp_quick_options(true);
    const struct rp_policy *keep_all = rp_policy_find("keep-all");
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    uint64_t cut = 0;
    bool fits = false;
    o.budget_bytes = RP_MAX_QUANTITY;
    CU_ASSERT_EQUAL_FATAL(rp_policy_record_plan(&g, keep_all, &o, &plan, &report, &err),
                          RP_OK);
    o.budget_bytes = report.needed_bytes;
    rp_plan_fini(&plan);
    for (uint64_t k = 2; !fits && k < 1000; k++) {
        struct rp_stop stop = {.deadline = INFINITY, .max_questions = k};
        o.stop = &stop;
        rp_rc rc = rp_policy_record_plan(&g, keep_all, &o, &plan, &report, &err);
        fits = rc == RP_OK && report.fits;
        CU_ASSERT(fits || (rc == RP_LIMIT && stop.hit));
        cut += rc == RP_LIMIT;
        rp_plan_fini(&plan);
    }
    CU_ASSERT(fits && cut > 0);
    rp_graph_fini(&g);
}

/* Where any addresses do, a stop while they are sought leaves a plan. */
static void a_stop_does_not_take_a_plan_that_fits(void) {
    struct rp_graph g = long_graph(3000);
    struct rp_policy_options o = rp_quick_options(true);
    uint64_t n_stopped = 0;
    bool stopped = true;
    o.budget_bytes = RP_MAX_QUANTITY;
    for (uint64_t k = 1; stopped && k < 1000; k++) {
        struct rp_stop stop = {.deadline = INFINITY, .max_questions = k};
        struct rp_plan plan;
        struct rp_policy_report report;
        struct rp_err err = {{0}};
        o.stop = &stop;
        rp_rc rc =
            rp_policy_record_plan(&g, rp_policy_find("keep-all"), &o, &plan, &report, &err);
        stopped = stop.hit;
        n_stopped += stopped && rc == RP_OK && report.fits;
        rp_plan_fini(&plan);
    }
    CU_ASSERT(n_stopped > 0);
    rp_graph_fini(&g);
}

/* One evaluation of a long policy takes many periods of work, and it asks in each. */
static void long_policies_ask_often(void) {
    static const char *const names[] = {"chen-greedy", "revolve", "dtr", "superneurons",
                                        "libra"};
    struct rp_graph g = long_graph(800);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rp_stop stop = {.deadline = INFINITY};
        struct rp_policy_options o = rp_quick_options(false);
        struct rp_plan plan;
        struct rp_policy_report report;
        struct rp_err err = {{0}};
        o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 60;
        o.stop = &stop;
        rp_rc rc =
            rp_policy_record_plan(&g, rp_policy_find(names[i]), &o, &plan, &report, &err);
        CU_ASSERT(rc == RP_OK && stop.questions >= 2);
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
}

/* Nothing crosses the last cut, but every tensor has to be looked at to see that. */
static void looking_for_what_crosses_a_cut_is_work(void) {
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    struct rp_instance p;
    struct rp_cuts cuts;
    struct rp_schedule to;
    struct rp_segments s;
    struct rp_stop stop = {.deadline = INFINITY};
    rp_gen_graph(1, &shape, &g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    rp_cuts_init(&p, p.n_ops, &cuts);
    rp_schedule_empty(&p, &to);
    rp_segments_init(&p, p.n_ops, &cuts, &stop, &s);
    rp_segments_hold_cut(&s, &to, cuts.n - 1, 0, p.n_ops - 1);
    CU_ASSERT(stop.work >= p.n_tensors);
    rp_segments_fini(&s);
    rp_schedule_fini(&to);
    rp_cuts_fini(&cuts);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_policy(void) {
    RP_SUITE("policy");
    RP_TEST(every_policy_gives_valid_plans_on_random_graphs);
    RP_TEST(every_policy_gives_valid_plans_without_a_backward_pass);
    RP_TEST(every_policy_gives_valid_plans_on_tiny_networks);
    RP_TEST(chen_needs_less_memory_than_keep_all_at_about_one_more_forward_pass);
    RP_TEST(policies_that_plan_for_a_budget_fit_it);
    RP_TEST(vdnn_conv_moves_less_than_vdnn_all);
    RP_TEST(tflms_is_faster_and_larger_with_fused_swap_ins);
    RP_TEST(tflms_swaps_no_more_tensors_than_asked);
    RP_TEST(tflms_with_branches_needs_less_for_a_u_net);
    RP_TEST(tflms_prefetches_earlier_with_a_larger_lower_bound);
    RP_TEST(superneurons_swaps_expensive_and_recomputes_cheap_tensors);
    RP_TEST(capuchin_adds_no_time_while_swaps_are_hidden);
    RP_TEST(alibaba_recomputes_attention_and_swaps_the_rest);
    RP_TEST(libra_recomputes_first_and_swaps_when_chains_reach_the_peak);
    RP_TEST(libra_swaps_nothing_on_a_device_without_bandwidths);
    RP_TEST(every_policy_ends_when_it_is_told_to);
    RP_TEST(a_stop_does_not_take_a_plan_that_fits);
    RP_TEST(a_stop_while_addresses_are_sought_is_no_lack_of_memory);
    RP_TEST(long_policies_ask_often);
    RP_TEST(looking_for_what_crosses_a_cut_is_work);
}
