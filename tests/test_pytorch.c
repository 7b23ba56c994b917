/* Tests of policy pytorch, against plans worked out by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "networks.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "policy/quick_plans.h"
#include "run.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

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
    struct rp_policy_options o = rp_quick_options(false);
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

/* What the backward ops need again is far apart. However early a stop comes, it leaves no
 * plan and nothing half done. */
static void a_choice_for_many_ops_asks_as_it_goes(void) {
    struct rp_gen_shape shape = {.n_ops = 6000,
                                 .n_sources = 3,
                                 .max_inputs = 3,
                                 .max_outputs = 1,
                                 .max_bytes = 8000,
                                 .max_time_ns = 1000,
                                 .alignment_bytes = 1,
                                 .training = true};
    struct rp_graph g;
    rp_gen_graph(1, &shape, &g);
    struct rp_policy_options o = share(0.5);
    rp_rc rc = RP_LIMIT;
    uint64_t k = 0;
    o.budget_bytes = rp_keep_all_bytes(&g, false);
    while (rc == RP_LIMIT && k < 1000) {
        struct rp_stop stop = {.deadline = INFINITY, .max_questions = ++k};
        struct rp_plan plan;
        struct rp_policy_report report;
        struct rp_err err = {{0}};
        o.stop = &stop;
        rc = rp_policy_record_plan(&g, rp_policy_find("pytorch"), &o, &plan, &report, &err);
        CU_ASSERT_EQUAL(stop.hit, rc == RP_LIMIT);
        rp_plan_fini(&plan);
    }
    CU_ASSERT(rc == RP_OK && k > 4);
    rp_graph_fini(&g);
}

/* n forward ops that read the input alone, and n / 2 backward ops that read what two of
 * them made: the first and the last that are left, or neighbours. */
static struct rp_graph pairs(int n, bool far_apart) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    fputs("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":"
          "\"imported:\",\"tensors\":[{\"name\":\"in\",\"bytes\":8,\"kind\":\"input\"}",
          f);
    for (int i = 0; i < n; i++)
        fprintf(f, ",{\"name\":\"h%d\",\"bytes\":8,\"kind\":\"activation\"}", i);
    for (int i = 0; i < n / 2; i++)
        fprintf(f, ",{\"name\":\"g%d\",\"bytes\":8,\"kind\":\"gradient\"}", i);
    fputs("],\"ops\":[", f);
    for (int i = 0; i < n; i++)
        fprintf(
            f,
            "{\"name\":\"f%d\",\"kind\":\"gelu.default\",\"inputs\":[0],\"outputs\":[%d],"
            "\"time_ns\":1,\"phase\":\"forward\"},",
            i, 1 + i);
    for (int i = 0; i < n / 2; i++)
        fprintf(f,
                "%s{\"name\":\"b%d\",\"kind\":\"gelu_backward.default\",\"inputs\":[%d,%d],"
                "\"outputs\":[%d],\"time_ns\":1,\"phase\":\"backward\"}",
                i > 0 ? "," : "", i, far_apart ? 1 + i : 1 + 2 * i,
                far_apart ? n - i : 2 + 2 * i, 1 + n + i);
    fputs("],\"keep\":[]}", f);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "g", &g, &err), RP_OK);
    free(text);
    return g;
}

/* How often the policy asks whether it is to stop. */
static uint64_t n_questions(const struct rp_graph *g) {
    struct rp_policy_options o = share(0);
    struct rp_stop stop = {.deadline = INFINITY};
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    o.budget_bytes = rp_keep_all_bytes(g, false);
    o.stop = &stop;
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_record_plan(g, rp_policy_find("pytorch"), &o, &plan, &report, &err),
        RP_OK);
    rp_plan_fini(&plan);
    return stop.questions;
}

/* What an op needs is looked for between the first and the last of it. */
static void needs_far_apart_count_as_work(void) {
    enum { N = 6000 };
    struct rp_graph near = pairs(N, false), far = pairs(N, true);
    const uint64_t ns = 2 * (uint64_t)N * N / 4; /* 2 per op between */
    const uint64_t more = n_questions(&far) - n_questions(&near);
    CU_ASSERT(more + 1 >= ns / RP_STOP_WORK && more <= ns / RP_STOP_WORK + 1);
    rp_graph_fini(&near);
    rp_graph_fini(&far);
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
    struct rp_graph g = rp_priced_network("bert-base", rp_net_defaults());
    struct rp_planned best = rp_plan_with(&g, "pytorch", rp_quick_options(false), 80);
    CU_ASSERT(best.valid && best.report.fits && best.verdict.recompute_ns > 0);
    for (int k = 0; k <= 10; k++) {
        struct rp_planned r = rp_plan_with(&g, "pytorch", share(k / 10.0), 80);
        CU_ASSERT(r.valid);
        CU_ASSERT(!r.report.fits || r.verdict.time_ns >= best.verdict.time_ns);
    }
    CU_ASSERT_FALSE(rp_plan_with(&g, "pytorch", rp_quick_options(false), 5).report.fits);
    rp_graph_fini(&g);
}

/* A search that may not reorder takes no first plan that does. With this gap that plan is
 * its answer. */
static void a_search_in_the_given_order_begins_in_that_order(void) {
    struct rp_graph g = layers("aten.", true);
    struct rp_policy_options o = rp_quick_options(false);
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_err err = {{0}};
    o.gap = 100;
    o.budget_bytes = rp_keep_all_bytes(&g, false) / 100 * 91;
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(&g, rp_policy_find("checkmate"), &o, &plan, &report, &err), RP_OK);
    char *steps = rp_steps_text(&g, &plan);
    CU_ASSERT_PTR_NOT_NULL(strstr(steps, "f0 f1 fc -c f2"));
    free(steps);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* The budget has no room for a and c together. Only pytorch makes c late for the first
 * time; the others make it twice. */
static void searches_begin_with_pytorch_on_captured_graphs_only(void) {
    static const char *const prefix[] = {"", "aten."};
    for (int k = 0; k < 4; k++) {
        bool captured = k & 1;
        struct rp_graph g = layers(prefix[captured], true);
        struct rp_solve_options o = rp_share_options(&g, 91, false);
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
        struct rp_solve_options o = rp_share_options(&g, 91, false);
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

void suite_pytorch(void) {
    RP_SUITE("pytorch");
    RP_TEST(pytorch_saves_or_recomputes_as_its_budget_says);
    RP_TEST(a_choice_for_many_ops_asks_as_it_goes);
    RP_TEST(needs_far_apart_count_as_work);
    RP_TEST(pytorch_recomputes_what_its_knapsack_leaves_out);
    RP_TEST(pytorch_delays_what_only_the_backward_pass_needs);
    RP_TEST(pytorch_takes_the_fastest_of_its_budgets_that_fits);
    RP_TEST(searches_begin_with_pytorch_on_captured_graphs_only);
    RP_TEST(a_search_in_the_given_order_begins_in_that_order);
    RP_TEST(a_search_goes_on_in_the_order_of_its_first_plan);
}
