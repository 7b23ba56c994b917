/* Policies that stream parameters and optimizer state from the host, against plans worked
 * out by hand and on random graphs. Steps are written as in test_policy_plans.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "gen.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "policy/policy_table.h"
#include "policy/quick_plans.h"
#include "run.h"
#include "verify/verifier.h"

/* Two layers: A and B are parameters of 10 bytes, M and N their states of 20. A byte is
 * copied in a nanosecond.
 *
 *   s -f1-> a -f2-> b      f1 reads A, f2 and b2 read B, b1 reads A
 *   w <-b1- z,y <-b2-'     u2 reads y and updates B and N, u1 reads w and updates A and M
 */
#define TWO_LAYERS(parameters, states)                                                     \
    "{'format':'remat-graph','version':2,'name':'two','time_source':'by hand','keep':[],"  \
    "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"                          \
    "'d2h_bytes_per_s':1000000000},'tensors':["                                            \
    "{'name':'s','bytes':1,'kind':'input'},"                                               \
    "{'name':'A','bytes':10,'kind':'parameter','home':'" parameters "'},"                  \
    "{'name':'B','bytes':10,'kind':'parameter','home':'" parameters "'},"                  \
    "{'name':'M','bytes':20,'kind':'state','home':'" states "'},"                          \
    "{'name':'N','bytes':20,'kind':'state','home':'" states "'},"                          \
    "{'name':'a','bytes':1,'kind':'activation'},"                                          \
    "{'name':'b','bytes':1,'kind':'activation'},"                                          \
    "{'name':'y','bytes':1,'kind':'gradient'},{'name':'z','bytes':1,'kind':'gradient'},"   \
    "{'name':'w','bytes':1,'kind':'gradient'}],'ops':["                                    \
    "{'name':'f1','kind':'k','inputs':[0,1],'outputs':[5],'time_ns':30,"                   \
    "'phase':'forward'},"                                                                  \
    "{'name':'f2','kind':'k','inputs':[5,2],'outputs':[6],'time_ns':30,"                   \
    "'phase':'forward'},"                                                                  \
    "{'name':'b2','kind':'k','inputs':[6,2],'outputs':[7,8],'time_ns':30,"                 \
    "'phase':'backward'},"                                                                 \
    "{'name':'u2','kind':'k','inputs':[7],'outputs':[],'updates':[2,4],'time_ns':10,"      \
    "'phase':'update'},"                                                                   \
    "{'name':'b1','kind':'k','inputs':[8,1],'outputs':[9],'time_ns':30,"                   \
    "'phase':'backward'},"                                                                 \
    "{'name':'u1','kind':'k','inputs':[9],'outputs':[],'updates':[1,3],'time_ns':10,"      \
    "'phase':'update'}]}"

static void check(const char *graph, const char *policy, struct rp_policy_options o,
                  uint64_t time_ns, const char *expected) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    char *json = rp_quoted(graph);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "two", &g, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(&g, rp_policy_find(policy), &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(&g, &plan, &v, &err), RP_OK);
    CU_ASSERT(report.fits);
    CU_ASSERT_EQUAL(plan.claims.time_ns, time_ns);
    char *steps = rp_steps_text(&g, &plan);
    CU_ASSERT_STRING_EQUAL(steps, expected);
    if (strcmp(steps, expected) != 0)
        printf("\n%s: %s\n  %s\n  %s\n", policy, err.msg, steps, expected);
    free(steps);
    free(json);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

static struct rp_policy_options budget(uint64_t bytes) {
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.addressed = false;
    o.budget_bytes = bytes;
    return o;
}

/* N comes in with the backward pass, at 60, and M with u2, at 90. N goes out 100..120, so
 * it can be freed after b1. M goes out 140..160. */
static void zero_offload_brings_the_state_of_each_update_in(void) {
    check(TWO_LAYERS("device", "host"), "zero-offload", budget(100), 160,
          "f1 f2 -a <N b2 -b <M u2 >N -y b1 -z -N u1 >M -w");
    check(TWO_LAYERS("any", "any"), "zero-offload", budget(100), 160,
          "f1 f2 -a <N b2 -b <M u2 >N -y b1 -z -N u1 >M -w");
}

/* Without a window N comes in when u2 needs it, 90..110, and M 150..170. */
static void zero_offload_without_a_window_waits(void) {
    struct rp_policy_options o = budget(100);
    o.zero_offload.window = 0;
    check(TWO_LAYERS("device", "host"), "zero-offload", o, 200,
          "f1 f2 -a b2 -b <N u2 >N -y b1 -z -N <M u1 >M -w");
}

/* In 45 bytes there is room for one state beside the sample, the parameters and a gradient:
 * M waits until N is gone, at 130. */
static void what_does_not_fit_comes_in_later(void) {
    check(TWO_LAYERS("device", "host"), "zero-offload", budget(45), 180,
          "f1 f2 -a <N b2 -b u2 >N -y b1 -z -N <M u1 >M -w");
}

/* Parameters that must live on the host come in at once, and go out after their updates. */
static void parameters_at_home_on_the_host_stay_for_the_step(void) {
    check(TWO_LAYERS("host", "host"), "zero-offload", budget(100), 180,
          "<A <B f1 f2 -a <N b2 -b <M u2 >B >N -y b1 -z -B -N u1 >A >M -w");
}

/* Three visits: layer 1, layer 2 forward and back, layer 1 again. In are A 0..10, B 10..20,
 * N 20..40, A 40..50, M 50..70; out B 110..120, N 120..140, A 150..160, M 160..180. */
static void layer_stream_brings_the_next_layer_in(void) {
    check(TWO_LAYERS("host", "host"), "layer-stream", budget(100), 180,
          "<A <B <N f1 -A <A <M f2 -a b2 -b u2 >B >N -y b1 -z -B -N u1 >A >M -w");
}

/* All state comes in with the backward pass, and goes out after the last update. */
static void offload_state_moves_all_state_at_once(void) {
    check(TWO_LAYERS("device", "host"), "offload-state", budget(100), 180,
          "f1 f2 -a <N <M b2 -b u2 -y b1 -z u1 >N >M -w");
}

static void policies_need_sources_that_may_move(void) {
    static const char *const reason[] = {
        "zero-offload needs sources that may live on the host",
        "chen-sqrt does not do sources on the host"};
    for (int k = 0; k < 2; k++) {
        struct rp_graph g;
        struct rp_plan plan;
        struct rp_policy_report report;
        struct rp_err err = {{0}};
        struct rp_policy_options o = budget(100);
        char *json = rp_quoted(k == 0 ? TWO_LAYERS("device", "device")
                                      : TWO_LAYERS("device", "host"));
        CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "two", &g, &err), RP_OK);
        const struct rp_policy *policy =
            rp_policy_find(k == 0 ? "zero-offload" : "chen-sqrt");
        CU_ASSERT_EQUAL(rp_policy_plan(&g, policy, &o, &plan, &report, &err), RP_NO);
        CU_ASSERT_STRING_EQUAL(report.reason, reason[k]);
        free(json);
        rp_graph_fini(&g);
    }
}

/* Of the three plans, those of 160, 180 and 180 ns, a search begins with the first. */
static void searches_begin_with_the_fastest_that_fits(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_err err = {{0}};
    struct rp_solve_options o = {.budget_bytes = 100,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = 40,
                                 .time_limit = 1,
                                 .ignore_clock = true};
    char *json = rp_quoted(TWO_LAYERS("any", "any"));
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "two", &g, &err), RP_OK);
    CU_ASSERT_FATAL(rp_streamed_policy_plan(&g, &o, &plan));
    CU_ASSERT_EQUAL(plan.claims.time_ns, 160);
    rp_plan_fini(&plan);
    o.host_bytes = 39; /* too little for both states */
    CU_ASSERT(!rp_streamed_policy_plan(&g, &o, &plan));
    o.host_bytes = 40;
    volatile sig_atomic_t interrupted = 1;
    o.stop = &interrupted;
    CU_ASSERT(!rp_streamed_policy_plan(&g, &o, &plan));
    o.stop = NULL;
    o.swap = false;
    CU_ASSERT(!rp_streamed_policy_plan(&g, &o, &plan));
    free(json);
    rp_graph_fini(&g);
}

/* ---- random graphs ---- */

static void random_graph(uint64_t seed, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 20));
    shape.n_sources = 5;
    shape.version_2 = true;
    shape.training = seed % 2 == 0;
    rp_gen_graph(seed, &shape, g);
    for (uint32_t x = 0; x < 5; x++)
        g->tensors[x].kind = x % 2 == 0 ? RP_PARAMETER : RP_STATE;
    g->tensors[0].home = RP_HOME_HOST;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "g", &err), RP_OK);
}

static bool is_valid(const struct rp_graph *g, const char *policy, bool addressed,
                     uint64_t budget_bytes, bool *fits) {
    struct rp_policy_options o = budget(budget_bytes);
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict v;
    struct rp_replay replay;
    struct rp_err err = {{0}};
    o.addressed = addressed;
    rp_rc rc = rp_policy_plan(g, rp_policy_find(policy), &o, &plan, &report, &err);
    bool valid = rc == RP_OK && rp_verify(g, &plan, &v, &err) == RP_OK &&
                 rp_verify_replay(g, &plan, &replay, &err) == RP_OK &&
                 v.swapped_in_bytes == report.in_bytes &&
                 v.swapped_out_bytes == report.out_bytes;
    *fits = valid && report.fits;
    if (!valid)
        printf("%s: %s %s\n", policy, report.reason, err.msg);
    rp_plan_fini(&plan);
    return valid;
}

static void streamed_plans_of_random_graphs_are_valid(void) {
    static const char *const policies[] = {"zero-offload", "layer-stream", "offload-state"};
    uint32_t n = 100, n_fit = 0, n_plans = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_graph g;
        random_graph(seed, &g);
        for (int k = 0; k < 6; k++) {
            uint64_t bytes = g.fixed_bytes / 2 + seed % 7 * 6000;
            bool fits;
            if (!is_valid(&g, policies[k / 2], k % 2 == 0, bytes, &fits)) {
                rp_gen_failed(seed);
                CU_FAIL("not a valid plan");
            }
            n_fit += fits;
            n_plans++;
        }
        rp_graph_fini(&g);
    }
    CU_ASSERT(n_plans < 12 || (n_fit > n_plans / 4 && n_fit < n_plans));
}

/* How often ops run in the plan that streams sources within this budget; 0: there is none.
 */
static uint64_t streamed_runs(const struct rp_graph *g, uint64_t bytes, bool recompute,
                              bool addressed) {
    struct rp_solve_options o = {.budget_bytes = bytes,
                                 .addressed = addressed,
                                 .recompute = recompute,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .ignore_clock = true};
    struct rp_plan plan;
    uint64_t n_runs;
    if (!rp_streamed_policy_plan(g, &o, &plan))
        return 0;
    CU_ASSERT_EQUAL(plan.addressed, addressed);
    rp_plan_copied_bytes(g, &plan, &n_runs);
    rp_plan_fini(&plan);
    return n_runs;
}

static void first_plans_run_ops_again_only_if_they_may(void) {
    uint32_t n_again = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rp_graph g;
        random_graph(seed, &g);
        for (uint64_t k = 0; k < 20; k++) {
            uint64_t bytes = g.fixed_bytes / 2 + k * 2000;
            uint64_t once = streamed_runs(&g, bytes, false, seed % 2);
            CU_ASSERT(once == 0 || once == g.n_ops);
            n_again += streamed_runs(&g, bytes, true, seed % 2) > g.n_ops;
        }
        rp_graph_fini(&g);
    }
    CU_ASSERT(n_again > 0);
}

void suite_source_policies(void) {
    RP_SUITE("source_policies");
    RP_TEST(zero_offload_brings_the_state_of_each_update_in);
    RP_TEST(zero_offload_without_a_window_waits);
    RP_TEST(what_does_not_fit_comes_in_later);
    RP_TEST(parameters_at_home_on_the_host_stay_for_the_step);
    RP_TEST(layer_stream_brings_the_next_layer_in);
    RP_TEST(offload_state_moves_all_state_at_once);
    RP_TEST(policies_need_sources_that_may_move);
    RP_TEST(searches_begin_with_the_fastest_that_fits);
    RP_TEST(streamed_plans_of_random_graphs_are_valid);
    RP_TEST(first_plans_run_ops_again_only_if_they_may);
}
