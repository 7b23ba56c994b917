/* Plans of the policies on random graphs, against those that they made before.
 *
 * What a policy promises is tested elsewhere. This is for all the rest that it decides: if
 * you change no policy on purpose, no plan changes. If you do, see which policies' plans
 * change (RP_SEED=N prints those of graph N), and take the new digests over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "digest.h"
#include "gen.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "policy/policy_table.h"
#include "policy/quick_plans.h"
#include "run.h"

enum { N_GRAPHS = 320 };

static const char *const kinds[] = {"conv", "relu",    "softmax", "matmul",     "add",
                                    "cat",  "dropout", "sum",     "layer_norm", "gelu"};

static void draw_kinds(struct rp_rng *r, struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        free(g->ops[i].kind);
        g->ops[i].kind = rp_strdup(kinds[rp_rng_below(r, sizeof kinds / sizeof kinds[0])]);
    }
}

/* Sources are parameters and state, which may or must live on the host. */
static void draw_homes(struct rp_rng *r, struct rp_graph *g) {
    struct rp_err err = {{0}};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer == RP_NONE) {
            g->tensors[x].kind = rp_rng_percent(r, 50) ? RP_STATE : RP_PARAMETER;
            g->tensors[x].home = (enum rp_home)rp_rng_below(r, 3);
        }
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(g, "g", &err), RP_OK);
}

/* The forward phase of one graph is a long chain. */
static struct rp_gen_shape draw_shape(uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % 40);
    shape.training = seed % 4 != 0;
    shape.max_outputs = 1 + seed % 3 / 2;
    shape.bandwidths = seed % 9 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 7 == 0 ? 20 : 0;
    shape.keep_percent = seed % 6 * 3;
    shape.n_sources = seed % 2 ? 2 : 8;
    shape.max_bytes = seed % 3 ? 5000 : 3 << 20;
    if (seed == 46) {
        shape.n_ops = 420;
        shape.n_sources = 0;
        shape.max_outputs = shape.reach = 1;
    }
    return shape;
}

static void draw_graph(uint64_t seed, struct rp_rng *r, struct rp_graph *g) {
    struct rp_gen_shape shape = draw_shape(seed);
    rp_gen_graph(seed, &shape, g);
    if (shape.bandwidths) /* a copy takes from a tenth of an op to ten ops */
        g->device.h2d_bytes_per_s = g->device.d2h_bytes_per_s =
            (shape.max_bytes * UINT64_C(1000000)) << seed % 7;
    draw_kinds(r, g);
    if (shape.bandwidths && seed % 2 == 0)
        draw_homes(r, g);
}

static struct rp_policy_options draw_options(uint64_t seed, struct rp_rng *r) {
    struct rp_policy_options o = rp_quick_options(seed % 8 == 4 && seed % 3 != 0);
    struct rp_stream_options stream = {rp_rng_below(r, 5), rp_rng_below(r, 3),
                                       rp_rng_below(r, 5)};
    o.zero_offload = o.layer_stream = o.offload_state = stream;
    o.tflms.lb = rp_rng_below(r, 4);
    o.tflms.ctrld = rp_rng_below(r, 2);
    o.tflms.fuse_swapins = rp_rng_percent(r, 50);
    o.tflms.swap_branches = rp_rng_percent(r, 50);
    o.tflms.branch_threshold = rp_rng_below(r, 4);
    if (seed % 3 == 1)
        o.pytorch_millionths = rp_rng_below(r, 11) * 100000;
    o.given_order = rp_rng_percent(r, 50);
    o.no_recompute = rp_rng_percent(r, 10);
    o.no_swap = rp_rng_percent(r, 10);
    if (rp_rng_percent(r, 20))
        o.host_bytes = rp_rng_below(r, 30000);
    return o;
}

/* The policy's plan; of one that searches, what it begins with. */
static rp_rc make_plan(const struct rp_graph *g, const struct rp_policy *policy,
                       const struct rp_policy_options *o, struct rp_plan *plan,
                       struct rp_policy_report *report) {
    struct rp_err err = {{0}};
    *report = (struct rp_policy_report){0};
    if (policy->record != NULL)
        return rp_policy_plan(g, policy, o, plan, report, &err);
    *plan = (struct rp_plan){0};
    if (!rp_best_policy_plan(g, policy, o, plan))
        return RP_NO;
    report->needed_bytes = rp_plan_fixed_bytes(plan, g) + plan->arena_bytes;
    return RP_OK;
}

/* Adds the policy's plan to the digest. Then *o asks for no more than this plan needs. */
static void add_plan(const struct rp_graph *g, const struct rp_policy *policy,
                     struct rp_policy_options *o, char digest[65]) {
    struct rp_plan plan;
    struct rp_policy_report report;
    rp_rc rc = make_plan(g, policy, o, &plan, &report);
    char *steps = rp_steps_text(g, &plan);
    char *words = rc == RP_OK ? rp_format("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
                                          report.fits, report.needed_bytes, plan.host_bytes,
                                          plan.claims.time_ns, steps)
                              : rp_format("%d %s", rc, report.reason);
    if (rp_gen_one_seed())
        printf("%s within %" PRIu64 ": %s\n", policy->name, o->budget_bytes, words);
    rp_digest_add(digest, words);
    free(words);
    free(steps);
    if (rc == RP_OK) {
        o->budget_bytes = report.needed_bytes;
        o->host_bytes = plan.host_bytes;
    }
    rp_plan_fini(&plan);
}

/* Plans for all that keep-all needs, for a share of it, and for just what that one needs.
 */
static void add_graph(uint64_t seed, const struct rp_policy *policy, char digest[65]) {
    struct rp_rng r = {seed};
    struct rp_graph g;
    draw_graph(seed, &r, &g);
    struct rp_policy_options o = draw_options(seed, &r);
    uint64_t all = rp_keep_all_bytes(&g, o.addressed);
    struct rp_policy_options exact = o;
    exact.budget_bytes = all;
    add_plan(&g, policy, &exact, digest);
    o.budget_bytes = g.fixed_bytes + (all - g.fixed_bytes) * (20 + seed * 7 % 75) / 100;
    add_plan(&g, policy, &o, digest);
    add_plan(&g, policy, &o, digest);
    rp_graph_fini(&g);
}

static void no_plan_has_changed(void) {
    static const struct {
        const char *policy, *digest;
    } cases[] = {
        {"keep-all", "4026ccaa7b8b79c2"},     {"chen-sqrt", "170378e9300d7661"},
        {"chen-greedy", "beb7000cfba68502"},  {"revolve", "9a82a97584c76748"},
        {"dtr", "7018801e2eb7d1ec"},          {"vdnn-all", "fce5af88ac8c773f"},
        {"vdnn-conv", "cc2c2f1c9a0ec446"},    {"tflms", "68f74fef4f729df1"},
        {"superneurons", "9ffd8dd81394e2c5"}, {"capuchin", "abaed53cf53f3337"},
        {"alibaba", "1f6b8ad8f501c649"},      {"libra", "c47a94de87ba7ae7"},
        {"pytorch", "c123d5139bf102b2"},      {"zero-offload", "61d0b385c0f01ac3"},
        {"layer-stream", "5c0972fda53491b5"}, {"offload-state", "8d698a39411e5144"},
        {"checkmate", "73d013b6f673cca9"},    {"remat", "327669017a957ae8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct rp_policy *policy = rp_policy_find(cases[k].policy);
        char digest[65] = "";
        uint32_t n = N_GRAPHS;
        for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
            if (policy->record != NULL || seed % 8 == 4)
                add_graph(seed, policy, digest);
        bool same = strncmp(digest, cases[k].digest, 16) == 0;
        if (!rp_gen_one_seed() && !same)
            printf("{\"%s\", \"%.16s\"},\n", policy->name, digest);
        CU_ASSERT(rp_gen_one_seed() || same);
    }
}

void suite_same_plans(void) {
    RP_SUITE("same_plans");
    RP_TEST(no_plan_has_changed);
}
