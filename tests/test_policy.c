/* Tests of the published policies. Each gives a plan that verify accepts, for any graph,
 * and has the properties that its paper states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "model/cost.h"
#include "networks.h"
#include "policy/policy_plan.h"
#include "policy/quick_plans.h"
#include "policy/segments.h"
#include "run.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

/* The plan of a policy. The budget is a share of the range between sources and keep-all. */
struct outcome {
    rp_rc rc;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict verdict;
    bool valid;
};

static struct outcome plan_with(const struct rp_graph *g, const char *name,
                                struct rp_policy_options o, uint64_t percent) {
    struct outcome r = {0};
    struct rp_err err = {{0}};
    struct rp_replay replay;
    uint64_t all = rp_keep_all_bytes(g, o.addressed);
    o.budget_bytes = g->fixed_bytes + (all - g->fixed_bytes) / 100 * percent;
    r.rc = rp_policy_plan(g, rp_policy_find(name), &o, &r.plan, &r.report, &err);
    r.valid = r.rc == RP_OK && rp_verify(g, &r.plan, &r.verdict, &err) == RP_OK &&
              rp_verify_replay(g, &r.plan, &replay, &err) == RP_OK &&
              r.verdict.swapped_out_bytes == r.report.out_bytes &&
              r.verdict.swapped_in_bytes == r.report.in_bytes;
    if (r.rc == RP_OK && !r.valid)
        printf("%s: %s\n", name, err.msg);
    rp_plan_fini(&r.plan);
    return r;
}

static struct rp_policy_options quick(bool addressed) {
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.addressed = addressed;
    o.time_limit = 0.02;
    o.ignore_clock = true;
    return o;
}

/* Checks all policies except those that search. */
static bool check_all_policies(const struct rp_graph *g, struct rp_policy_options o,
                               uint64_t percent) {
    for (size_t i = 0; i < rp_n_policies; i++) {
        if (rp_policies[i]->record == NULL)
            continue;
        struct outcome r = plan_with(g, rp_policies[i]->name, o, percent);
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
        struct rp_policy_options o = quick(seed % 2);
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

static struct rp_graph network(const char *name, struct rp_zoo_options o) {
    struct rp_err err = {{0}};
    struct rp_graph g = rp_net_build(name, o);
    CU_ASSERT_EQUAL_FATAL(rp_cost_apply(&g, rp_device_find("p100-16g"), name, &err), RP_OK);
    return g;
}

static void every_policy_gives_valid_plans_on_tiny_networks(void) {
    static const char *const names[] = {"vgg16",   "resnet50", "unet",     "bert-base",
                                        "lstm-lm", "nmt",      "googlenet"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct rp_graph g = network(names[i], rp_net_tiny());
        CU_ASSERT(check_all_policies(&g, quick(i % 2), 60));
        rp_graph_fini(&g);
    }
}

static void chen_needs_less_memory_than_keep_all_at_about_one_more_forward_pass(void) {
    struct rp_graph g = network("resnet50", rp_net_tiny());
    struct outcome all = plan_with(&g, "keep-all", quick(false), 100);
    struct outcome some = plan_with(&g, "chen-sqrt", quick(false), 100);
    CU_ASSERT(some.verdict.peak_bytes < all.verdict.peak_bytes);
    CU_ASSERT(some.verdict.recompute_ns > 0);
    CU_ASSERT(some.verdict.recompute_ns < g.total_time_ns / 2);
    rp_graph_fini(&g);
}

static void policies_that_plan_for_a_budget_fit_it(void) {
    static const char *const names[] = {"chen-greedy", "revolve", "dtr"};
    struct rp_graph g = network("resnet50", rp_net_defaults());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct outcome r = plan_with(&g, names[i], quick(false), 70);
        CU_ASSERT(r.valid && r.report.fits);
        CU_ASSERT(r.verdict.recompute_ns > 0);
        r = plan_with(&g, names[i], quick(false), 101);
        CU_ASSERT(r.valid && r.verdict.time_ns == g.total_time_ns);
    }
    rp_graph_fini(&g);
}

static void vdnn_conv_moves_less_than_vdnn_all(void) {
    struct rp_graph g = network("vgg16", rp_net_defaults());
    struct outcome all = plan_with(&g, "vdnn-all", quick(false), 100);
    struct outcome conv = plan_with(&g, "vdnn-conv", quick(false), 100);
    CU_ASSERT(conv.report.out_bytes > 0);
    CU_ASSERT(conv.report.out_bytes < all.report.out_bytes);
    CU_ASSERT(conv.verdict.time_ns < all.verdict.time_ns);
    CU_ASSERT(all.verdict.recompute_ns == 0 && conv.verdict.recompute_ns == 0);
    rp_graph_fini(&g);
}

static void tflms_is_faster_and_larger_with_fused_swap_ins(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    struct outcome apart = plan_with(&g, "tflms", o, 60);
    o.tflms.fuse_swapins = true;
    struct outcome fused = plan_with(&g, "tflms", o, 60);
    CU_ASSERT(fused.report.in_bytes < apart.report.in_bytes);
    CU_ASSERT(fused.verdict.time_ns < apart.verdict.time_ns);
    rp_graph_fini(&g);
}

static void tflms_swaps_no_more_tensors_than_asked(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    for (o.tflms.n_tensors = 0; o.tflms.n_tensors <= 20; o.tflms.n_tensors += 10)
        CU_ASSERT_EQUAL(plan_with(&g, "tflms", o, 60).verdict.n_swap_outs,
                        o.tflms.n_tensors);
    rp_graph_fini(&g);
}

static void tflms_with_branches_needs_less_for_a_u_net(void) {
    struct rp_graph g = network("unet", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    o.tflms.branch_threshold = 20;
    struct outcome without = plan_with(&g, "tflms", o, 30);
    o.tflms.swap_branches = true;
    struct outcome with = plan_with(&g, "tflms", o, 30);
    CU_ASSERT(with.verdict.peak_bytes < without.verdict.peak_bytes);
    o.tflms.branch_threshold = 10000;
    CU_ASSERT_EQUAL(plan_with(&g, "tflms", o, 30).report.in_bytes, without.report.in_bytes);
    rp_graph_fini(&g);
}

static void tflms_prefetches_earlier_with_a_larger_lower_bound(void) {
    struct rp_graph g = network("vgg16", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    struct outcome late, early;
    o.tflms.fuse_swapins = true;
    for (int rule = RP_CHAIN_RULE; rule <= RP_DIRECT_ORDER; rule++) {
        o.tflms.ctrld = (enum rp_ctrld)rule;
        o.tflms.lb = 1;
        late = plan_with(&g, "tflms", o, 50);
        o.tflms.lb = 8;
        early = plan_with(&g, "tflms", o, 50);
        CU_ASSERT(early.verdict.stall_ns < late.verdict.stall_ns);
    }
    rp_graph_fini(&g);
}

static void superneurons_swaps_expensive_and_recomputes_cheap_tensors(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct outcome r = plan_with(&g, "superneurons", quick(false), 55);
    CU_ASSERT(r.report.fits && r.report.out_bytes > 0 && r.verdict.recompute_ns > 0);
    /* No convolution runs twice, so recomputation is only a small share of the time. */
    CU_ASSERT(r.verdict.recompute_ns < g.total_time_ns / 4);
    /* Tensor cache: with more memory, less is offloaded. */
    CU_ASSERT(plan_with(&g, "superneurons", quick(false), 75).report.out_bytes <
              r.report.out_bytes);
    rp_graph_fini(&g);
}

static void capuchin_adds_no_time_while_swaps_are_hidden(void) {
    struct rp_graph g = network("unet", rp_net_defaults());
    struct outcome r = plan_with(&g, "capuchin", quick(false), 95);
    CU_ASSERT(r.report.fits && r.report.out_bytes > 0);
    CU_ASSERT_EQUAL(r.verdict.time_ns, g.total_time_ns);
    CU_ASSERT(plan_with(&g, "capuchin", quick(false), 50).report.fits);
    rp_graph_fini(&g);
}

static void alibaba_recomputes_attention_and_swaps_the_rest(void) {
    struct rp_graph g = network("bert-base", rp_net_defaults());
    struct outcome some = plan_with(&g, "alibaba", quick(false), 90);
    struct outcome more = plan_with(&g, "alibaba", quick(false), 60);
    CU_ASSERT(some.report.fits && more.report.fits);
    CU_ASSERT(some.verdict.recompute_ns > 0 && more.report.out_bytes > 0);
    CU_ASSERT_EQUAL(some.verdict.recompute_ns, more.verdict.recompute_ns);
    CU_ASSERT(some.verdict.recompute_ns < g.total_time_ns / 20);
    rp_graph_fini(&g);
}

static void libra_recomputes_first_and_swaps_when_chains_reach_the_peak(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct outcome some = plan_with(&g, "libra", quick(false), 80);
    struct outcome more = plan_with(&g, "libra", quick(false), 38);
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
    struct outcome r = plan_with(&g, "libra", quick(false), 65);
    CU_ASSERT(r.valid);
    CU_ASSERT_EQUAL(r.verdict.n_swap_outs, 0);
    rp_graph_fini(&g);
}

/* A policy that is stopped says so, at the question at which it was told. One that is not
 * stopped has its plan. */
static bool stops_when_told(const struct rp_graph *g, const struct rp_policy *policy,
                            uint64_t max_questions) {
    struct rp_stop stop = {.deadline = INFINITY, .max_questions = max_questions};
    struct rp_policy_options o = quick(false);
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

static void every_policy_ends_when_it_is_told_to(void) {
    struct rp_gen_shape shape = {.n_ops = 600,
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
    for (size_t i = 0; i < rp_n_policies; i++)
        for (uint64_t k = 1; k <= 64 && rp_policies[i]->record != NULL; k *= 4)
            CU_ASSERT(stops_when_told(&g, rp_policies[i], k));
    rp_graph_fini(&g);
}

/* One evaluation of a long policy takes many periods of work, and it asks in each. */
static void long_policies_ask_often(void) {
    static const char *const names[] = {"chen-greedy", "revolve", "dtr", "superneurons",
                                        "libra"};
    struct rp_gen_shape shape = {.n_ops = 800,
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rp_stop stop = {.deadline = INFINITY};
        struct rp_policy_options o = quick(false);
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

/* Two layers: f0 and f2 are matrix products and f1 is elementwise. All tensors take 1000
 * bytes but the loss. Each %s is what kinds begin with, or one more tensor, forward op or
 * input of b1. */
static const char two_layers[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"imported:"
    "\","
    "\"tensors\":["
    "{\"name\":\"in\",\"bytes\":1000,\"kind\":\"input\"},"
    "{\"name\":\"w\",\"bytes\":1000,\"kind\":\"parameter\"},"
    "{\"name\":\"w2\",\"bytes\":1000,\"kind\":\"parameter\"},"
    "{\"name\":\"h\",\"bytes\":1000,\"kind\":\"activation\"},"
    "{\"name\":\"a\",\"bytes\":1000,\"kind\":\"activation\"},"
    "{\"name\":\"y\",\"bytes\":1000,\"kind\":\"activation\"},"
    "{\"name\":\"loss\",\"bytes\":4,\"kind\":\"activation\"},"
    "{\"name\":\"gy\",\"bytes\":1000,\"kind\":\"gradient\"},"
    "{\"name\":\"gw2\",\"bytes\":1000,\"kind\":\"gradient\"},"
    "{\"name\":\"ga\",\"bytes\":1000,\"kind\":\"gradient\"},"
    "{\"name\":\"gh\",\"bytes\":1000,\"kind\":\"gradient\"},"
    "{\"name\":\"gw\",\"bytes\":1000,\"kind\":\"gradient\"}%s],"
    "\"ops\":["
    "{\"name\":\"f0\",\"kind\":\"%smm.default\",\"inputs\":[0,1],\"outputs\":[3],"
    "\"time_ns\":100,\"phase\":\"forward\"},"
    "{\"name\":\"f1\",\"kind\":\"%sgelu.default\",\"inputs\":[3],\"outputs\":[4],"
    "\"time_ns\":10,\"phase\":\"forward\"},%s"
    "{\"name\":\"f2\",\"kind\":\"%smm.default\",\"inputs\":[4,2],\"outputs\":[5],"
    "\"time_ns\":200,\"phase\":\"forward\"},"
    "{\"name\":\"f3\",\"kind\":\"%snll_loss_forward.default\",\"inputs\":[5],"
    "\"outputs\":[6],\"time_ns\":1,\"phase\":\"forward\"},"
    "{\"name\":\"b3\",\"kind\":\"%snll_loss_backward.default\",\"inputs\":[5],"
    "\"outputs\":[7],\"time_ns\":1,\"phase\":\"backward\"},"
    "{\"name\":\"b2w\",\"kind\":\"%smm.default\",\"inputs\":[4,7],\"outputs\":[8],"
    "\"time_ns\":200,\"phase\":\"backward\"},"
    "{\"name\":\"b2\",\"kind\":\"%smm.default\",\"inputs\":[7,2],\"outputs\":[9],"
    "\"time_ns\":200,\"phase\":\"backward\"},"
    "{\"name\":\"b1\",\"kind\":\"%sgelu_backward.default\",\"inputs\":[3,9%s],"
    "\"outputs\":[10],\"time_ns\":10,\"phase\":\"backward\"},"
    "{\"name\":\"b0\",\"kind\":\"%smm.default\",\"inputs\":[0,10],\"outputs\":[11],"
    "\"time_ns\":100,\"phase\":\"backward\"}],\"keep\":[6,8,11]}";

/* With `clone`, b1 also reads c, a copy of h that the forward phase makes and does not
 * read, and a takes 3000 bytes. */
static struct rp_graph layers(const char *aten, bool clone) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char text[4096];
    int n = snprintf(
        text, sizeof text, two_layers,
        clone ? ",{\"name\":\"c\",\"bytes\":1000,\"kind\":\"activation\"}" : "", aten, aten,
        clone ? "{\"name\":\"fc\",\"kind\":\"clone\",\"inputs\":[3],"
                "\"outputs\":[12],\"time_ns\":5,\"phase\":\"forward\"},"
              : "",
        aten, aten, aten, aten, aten, aten, clone ? ",12" : "", aten);
    CU_ASSERT_FATAL(n > 0 && (size_t)n < sizeof text);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, (size_t)n, "g", &g, &err), RP_OK);
    g.tensors[4].bytes = clone ? 3000 : 1000;
    return g;
}

/* The plan's runs and frees in words: "f0 f1 -a". */
static void check_steps(const struct rp_graph *g, struct rp_policy_options o,
                        const char *expected) {
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    char text[1024] = "";
    size_t n = 0;
    o.budget_bytes = rp_keep_all_bytes(g, false);
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(g, rp_policy_find("pytorch"), &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(g, &plan, &v, &err), RP_OK);
    for (size_t i = 0; i < plan.steps.n && n < sizeof text; i++) {
        const struct rp_step *step = &plan.steps.at[i];
        bool run = step->kind == RP_RUN;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s", i > 0 ? " " : "",
                              run ? "" : "-",
                              run ? g->ops[step->id].name : g->tensors[step->id].name);
    }
    if (strcmp(text, expected) != 0)
        printf("%s\n", text);
    CU_ASSERT_STRING_EQUAL(text, expected);
    rp_plan_fini(&plan);
}

static struct rp_policy_options share(double budget) {
    struct rp_policy_options o = quick(false);
    o.pytorch_millionths = (uint64_t)(budget * 1000000);
    return o;
}

/* With all rules f1 does not run again, since b2w, which is no elementwise op, reads a. The
 * cut saves h, a and y: 3000 bytes less 1000 for w, which only the forward phase reads.
 * With fewer rules it saves h and y, half as much. */
static void pytorch_saves_or_recomputes_as_its_budget_says(void) {
    struct rp_graph g = layers("aten.", false);
    check_steps(&g, share(1), "f0 f1 f2 f3 b3 -y b2w -a b2 -gy b1 -ga -h b0 -gh");
    check_steps(&g, share(0.51), "f0 f1 f2 -a f3 b3 -y f1 b2w -a b2 -gy b1 -ga -h b0 -gh");
    check_steps(&g, share(0),
                "f0 f1 -h f2 -a f3 -y f0 f1 f2 b3 -y b2w -a b2 -gy b1 -ga -h b0 -gh");
    rp_graph_fini(&g);
}

/* Each of the two matrix products has half of what may be saved. The longer one stays, and
 * f0 runs again. */
static void pytorch_recomputes_what_its_knapsack_leaves_out(void) {
    struct rp_graph g = layers("", false);
    check_steps(&g, share(0.5),
                "f0 f1 -h f2 -a f3 b3 -y f0 f1 b2w -a b2 -gy b1 -ga -h b0 -gh");
    rp_graph_fini(&g);
}

static void pytorch_delays_what_only_the_backward_pass_needs(void) {
    struct rp_graph g = layers("aten.", true);
    struct rp_policy_options o = share(1);
    check_steps(&g, o, "f0 f1 f2 f3 b3 -y b2w -a b2 -gy fc b1 -ga -c -h b0 -gh");
    o.given_order = true;
    check_steps(&g, o, "f0 f1 fc -c f2 f3 b3 -y b2w -a b2 -gy fc b1 -ga -c -h b0 -gh");
    rp_graph_fini(&g);
}

static void pytorch_takes_the_fastest_of_its_budgets_that_fits(void) {
    struct rp_graph g = network("bert-base", rp_net_defaults());
    struct outcome best = plan_with(&g, "pytorch", quick(false), 80);
    CU_ASSERT(best.valid && best.report.fits && best.verdict.recompute_ns > 0);
    for (int k = 0; k <= 10; k++) {
        struct outcome r = plan_with(&g, "pytorch", share(k / 10.0), 80);
        CU_ASSERT(r.valid);
        CU_ASSERT(!r.report.fits || r.verdict.time_ns >= best.verdict.time_ns);
    }
    CU_ASSERT_FALSE(plan_with(&g, "pytorch", quick(false), 5).report.fits);
    rp_graph_fini(&g);
}

/* Both searches begin with the fastest plan among the policies whose means they may use
 * themselves. */
static void the_quick_plan_is_the_fastest_that_fits(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    struct outcome best = plan_with(&g, "libra", o, 60);
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
    struct rp_graph g = network("vgg16", rp_net_tiny());
    g.device.h2d_bytes_per_s = 0;
    struct outcome r = plan_with(&g, "vdnn-all", quick(false), 60);
    CU_ASSERT_EQUAL(r.rc, RP_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.report.reason, "bandwidths"));
    rp_graph_fini(&g);
}

/* Options for a share of keep-all's memory. */
static struct rp_solve_options within(const struct rp_graph *g, uint64_t percent,
                                      bool swap) {
    return (struct rp_solve_options){
        .budget_bytes = rp_keep_all_bytes(g, false) / 100 * percent,
        .recompute = true,
        .swap = swap,
        .host_bytes = RP_MAX_QUANTITY,
        .ignore_clock = true,
    };
}

static void a_quick_plan_is_valid_and_swaps_only_if_allowed(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    for (int swap = 0; swap < 2; swap++) {
        struct rp_solve_options o = within(&g, 60, swap);
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

/* The budget has no room for a and c together. Only pytorch makes c late for the first
 * time; the others make it twice. */
static void searches_begin_with_pytorch_on_captured_graphs_only(void) {
    static const char *const prefix[] = {"", "aten."};
    for (int k = 0; k < 4; k++) {
        bool captured = k & 1;
        struct rp_graph g = layers(prefix[captured], true);
        struct rp_solve_options o = within(&g, 91, false);
        struct rp_plan plan;
        o.reorder = k & 2;
        CU_ASSERT_FATAL(rp_quick_policy_plan(&g, &o, &plan));
        CU_ASSERT_EQUAL(plan.claims.time_ns,
                        g.total_time_ns + (captured && o.reorder ? 0 : 5));
        rp_plan_fini(&plan);
        rp_graph_fini(&g);
    }
}

/* One that has another order of first runs saves the search for one. */
static void a_search_goes_on_in_the_order_of_its_first_plan(void) {
    static const char *const prefix[] = {"", "aten."};
    for (int captured = 0; captured < 2; captured++) {
        struct rp_graph g = layers(prefix[captured], true);
        struct rp_solve_options o = within(&g, 91, false);
        struct rp_plan first, plan;
        struct rp_solve_report report;
        struct rp_statistics statistics;
        struct rp_err err = {{0}};
        o.reorder = o.ignore_clock = true;
        o.time_limit = 1e-3;
        o.statistics = &statistics;
        CU_ASSERT_FATAL(rp_quick_policy_plan(&g, &o, &first));
        o.start = &first;
        CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
        CU_ASSERT_EQUAL(statistics.method[RP_ANNEAL_ORDER].calls, !captured);
        CU_ASSERT(plan.claims.time_ns <= first.claims.time_ns);
        rp_plan_fini(&first);
        rp_plan_fini(&plan);
        rp_graph_fini(&g);
    }
}

static void there_is_no_quick_plan_if_none_fits_or_nothing_may_run_again(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_solve_options small = within(&g, 1, true), once = within(&g, 60, true);
    struct rp_solve_options host = within(&g, 60, true);
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
    struct rp_graph g = network("unet", rp_net_defaults());
    struct rp_plan all = plan_of(&g, "keep-all", quick(false), 101);
    struct rp_plan copies = plan_of(&g, "capuchin", quick(false), 95);
    struct rp_plan again = plan_of(&g, "chen-sqrt", quick(false), 101);
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
    struct rp_graph g = network("unet", rp_net_defaults());
    struct rp_plan copies = plan_of(&g, "capuchin", quick(false), 95);
    struct rp_policy_options o = quick(false);
    o.start = &copies;
    struct rp_plan plan = plan_of(&g, "remat", o, 101);
    CU_ASSERT(copies.host_bytes > 0);
    CU_ASSERT_EQUAL(plan.host_bytes, 0);
    rp_plan_fini(&copies);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static struct rp_policy_options without(bool recompute, bool swap) {
    struct rp_policy_options o = quick(false);
    o.no_recompute = recompute;
    o.no_swap = swap;
    return o;
}

static void a_policy_uses_only_what_is_allowed_or_refuses(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    for (size_t i = 0; i < rp_n_policies; i++) {
        const struct rp_policy *policy = rp_policies[i];
        if (policy->record == NULL)
            continue;
        struct outcome r = plan_with(&g, policy->name, without(false, true), 60);
        CU_ASSERT_EQUAL(r.rc, rp_policy_can_avoid_swap(policy) ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(r.report.out_bytes, 0);
        r = plan_with(&g, policy->name, without(true, false), 60);
        CU_ASSERT_EQUAL(r.rc, rp_policy_can_avoid_recompute(policy) ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(r.verdict.recompute_ns, 0);
    }
    rp_graph_fini(&g);
}

/* With this gap the first plan that fits ends the search, even if it comes from another
 * policy. */
static void a_search_uses_only_what_is_allowed_from_its_first_plan_on(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
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
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_policy_options o = quick(false);
    o.host_bytes = 1 << 20;
    struct outcome avoids = plan_with(&g, "libra", o, 60);
    struct outcome must = plan_with(&g, "vdnn-all", o, 100);
    CU_ASSERT(avoids.valid && avoids.report.out_bytes <= 1 << 20);
    CU_ASSERT(must.valid && must.report.out_bytes > 1 << 20);
    CU_ASSERT(must.report.needed_bytes <= rp_keep_all_bytes(&g, false));
    CU_ASSERT(!must.report.fits);
    rp_graph_fini(&g);
}

/* The commands solve, sweep and compare choose policies by their flags. */
static void flags_mark_the_quick_policies(void) {
    static const char *const expected[] = {"superneurons", "capuchin", "alibaba", "libra",
                                           "pytorch"};
    size_t n = 0;
    for (size_t i = 0; i < rp_n_policies; i++) {
        CU_ASSERT_EQUAL(rp_policy_index(rp_policies[i]), i);
        CU_ASSERT_PTR_EQUAL(rp_policy_find(rp_policies[i]->name), rp_policies[i]);
        if (!rp_policy_is_quick(rp_policies[i]))
            continue;
        CU_ASSERT_FATAL(n < 5);
        CU_ASSERT_STRING_EQUAL(rp_policies[i]->name, expected[n++]);
    }
    CU_ASSERT_EQUAL(n, 5);
    CU_ASSERT_PTR_NULL(rp_policy_find("none"));
}

static void quick_policy_fits_says_whether_some_quick_policy_fits(void) {
    struct rp_graph g = network("resnet50", rp_net_defaults());
    struct rp_policy_options o = quick(true);
    o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 60;
    CU_ASSERT_TRUE(rp_quick_policy_fits(&g, &o));
    o.budget_bytes = g.fixed_bytes + 1;
    CU_ASSERT_FALSE(rp_quick_policy_fits(&g, &o));
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
    RP_TEST(long_policies_ask_often);
    RP_TEST(pytorch_saves_or_recomputes_as_its_budget_says);
    RP_TEST(pytorch_recomputes_what_its_knapsack_leaves_out);
    RP_TEST(pytorch_delays_what_only_the_backward_pass_needs);
    RP_TEST(pytorch_takes_the_fastest_of_its_budgets_that_fits);
    RP_TEST(searches_begin_with_pytorch_on_captured_graphs_only);
    RP_TEST(a_search_goes_on_in_the_order_of_its_first_plan);
    RP_TEST(the_quick_plan_is_the_fastest_that_fits);
    RP_TEST(policies_that_swap_refuse_graphs_without_bandwidths);
    RP_TEST(a_quick_plan_is_valid_and_swaps_only_if_allowed);
    RP_TEST(there_is_no_quick_plan_if_none_fits_or_nothing_may_run_again);
    RP_TEST(of_equally_fast_plans_the_one_with_fewer_copies_then_fewer_runs_wins);
    RP_TEST(a_start_with_copies_is_not_used_if_keep_all_fits);
    RP_TEST(a_policy_uses_only_what_is_allowed_or_refuses);
    RP_TEST(a_search_uses_only_what_is_allowed_from_its_first_plan_on);
    RP_TEST(host_copies_fit_the_host_budget_or_the_plan_is_reported_as_not_fitting);
    RP_TEST(flags_mark_the_quick_policies);
    RP_TEST(quick_policy_fits_says_whether_some_quick_policy_fits);
    RP_TEST(looking_for_what_crosses_a_cut_is_work);
}
