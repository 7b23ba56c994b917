/* Tests of the replay with the reference kernels: every family of networks gives the same
 * bits, and a replay that is not equal says where. */
#include "emit/ref_replay.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "model/cost.h"
#include "model/zoo/registry.h"
#include "networks.h"
#include "policy/policy_plan.h"
#include "run.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* ---- a graph, its plan, and both as tables ---- */

static void set_digest(struct rp_graph *g) {
    char *text;
    size_t len;
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, g->sha256);
    free(text);
}

static remat *load_libremat(const struct rp_graph *g, const struct rp_plan *p) {
    struct remat_error error;
    char *graph, *plan;
    size_t graph_len, plan_len;
    rp_graph_dump(g, &graph, &graph_len);
    rp_plan_dump(p, &plan, &plan_len);
    remat *r = remat_parse(graph, graph_len, plan, plan_len, &error);
    if (r == NULL)
        printf("%s\n", error.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    free(graph);
    free(plan);
    return r;
}

static rp_rc replay(const struct rp_graph *g, const struct rp_plan *p, bool extremes,
                    struct rp_ref_replay *done, struct rp_err *err) {
    struct rp_replay_tables tables;
    remat *r = load_libremat(g, p);
    rp_rc rc = rp_replay_tables_build(g, r, "g", 0, 0, &tables, err);
    remat_close(r);
    if (rc == RP_OK)
        rc = rp_ref_replay(&tables, extremes, done, err);
    rp_replay_tables_fini(&tables);
    return rc;
}

static struct rp_plan plan_with(const struct rp_graph *g, const char *policy,
                                uint64_t percent) {
    struct rp_policy_options o;
    struct rp_policy_report report;
    struct rp_plan plan;
    struct rp_err err = {{0}};
    rp_policy_options_init(&o);
    o.addressed = true;
    const uint64_t all = rp_keep_all_bytes(g, true);
    o.budget_bytes = g->fixed_bytes + (all - g->fixed_bytes) / 100 * percent;
    const rp_rc rc = rp_policy_plan(g, rp_policy_find(policy), &o, &plan, &report, &err);
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    return plan;
}

static struct rp_graph tiny(const char *name, enum rp_dtype dtype) {
    struct rp_zoo_options o = rp_net_tiny();
    struct rp_err err = {{0}};
    o.dtype = dtype;
    struct rp_graph g = rp_net_build(name, o);
    const rp_rc rc = rp_cost_apply(&g, rp_device_find("v100-16g"), "g", &err);
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    set_digest(&g);
    return g;
}

/* ---- every family ---- */

/* Plans for three budgets, with recomputation and swaps. */
static void is_equal_at_three_budgets(const char *name, enum rp_dtype dtype) {
    static const struct {
        const char *policy;
        uint64_t percent;
    } cases[] = {{"capuchin", 90}, {"superneurons", 70}, {"libra", 50}};
    struct rp_graph g = tiny(name, dtype);
    size_t reruns = 0, copies = 0;
    for (size_t k = 0; k < 3; k++) {
        struct rp_plan p = plan_with(&g, cases[k].policy, cases[k].percent);
        struct rp_ref_replay done;
        struct rp_verdict v;
        struct rp_err err = {{0}};
        CU_ASSERT_EQUAL(rp_verify(&g, &p, &v, &err), RP_OK);
        reruns += v.n_reruns;
        copies += v.n_swap_ins;
        CU_ASSERT_EQUAL(replay(&g, &p, k == 0, &done, &err), RP_OK);
        CU_ASSERT_STRING_EQUAL(err.msg, "");
        CU_ASSERT_EQUAL(done.n_kept, g.n_keep);
        CU_ASSERT_EQUAL(done.n_orders, k == 0 && v.n_swap_outs > 0 ? 3 : 1);
        CU_ASSERT_TRUE(done.n_checked > done.n_orders * g.n_keep);
        if (err.msg[0] != '\0')
            printf("%s, %s: %s\n", name, cases[k].policy, err.msg);
        rp_plan_fini(&p);
    }
    if (reruns == 0 || copies == 0)
        printf("%s: %zu runs again, %zu copies in\n", name, reruns, copies);
    CU_ASSERT_TRUE(reruns > 0 && copies > 0);
    rp_graph_fini(&g);
}

/* Is this the first network of those with the same builder? It stands for its family. */
static bool is_first_of_family(size_t row) {
    for (size_t i = 0; i < row; i++)
        if (rp_zoo_registry[i]->build == rp_zoo_registry[row]->build)
            return false;
    return true;
}

static void every_family_replays_bit_for_bit(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++)
        if (is_first_of_family(i))
            is_equal_at_three_budgets(rp_zoo_registry[i]->name, RP_F32);
}

static void half_precision_replays_bit_for_bit(void) {
    is_equal_at_three_budgets("resnet50", RP_F16);
}

/* ---- dropout and statistics ---- */

static size_t n_reruns(const struct rp_graph *g, const struct rp_plan *p,
                       const char *kind) {
    size_t n = 0;
    for (size_t k = 0; k < p->steps.n; k++)
        n += p->steps.at[k].kind == RP_RUN && rp_net_is(&g->ops[p->steps.at[k].id], kind);
    for (uint32_t i = 0; i < g->n_ops; i++)
        n -= rp_net_is(&g->ops[i], kind);
    return n;
}

static void recomputed(const char *name, const char *kind) {
    struct rp_graph g = tiny(name, RP_F32);
    struct rp_plan p = plan_with(&g, "chen-sqrt", 50);
    struct rp_ref_replay done;
    struct rp_err err = {{0}};
    CU_ASSERT_TRUE(n_reruns(&g, &p, kind) > 0);
    CU_ASSERT_EQUAL(n_reruns(&g, &p, "bn_update_stats"), 0);
    CU_ASSERT_EQUAL(replay(&g, &p, false, &done, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(err.msg, "");
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

static void recomputed_dropout_drops_the_same_elements(void) {
    recomputed("bert-base", "dropout");
}

static void recomputed_batch_norm_updates_no_statistics(void) {
    recomputed("resnet50", "batch_norm");
}

/* ---- differences ---- */

static void a_difference_names_the_tensor(void) {
    struct rp_graph g = tiny("lstm-lm", RP_F32);
    struct rp_plan p = plan_with(&g, "keep-all", 100);
    struct rp_replay_tables t;
    struct rp_ref_replay done;
    struct rp_err err = {{0}};
    remat *r = load_libremat(&g, &p);
    CU_ASSERT_EQUAL_FATAL(rp_replay_tables_build(&g, r, "g", 0, 0, &t, &err), RP_OK);
    remat_close(r);
    /* From the first run on that has an address, one operand is read 4 bytes further on. */
    size_t k = 0;
    while (t.plan.addresses.at[t.plan.steps.at[k].where] == REPLAY_NOWHERE ||
           t.plan.steps.at[k].what != REPLAY_RUN)
        k++;
    t.plan.addresses.at[t.plan.steps.at[k].where] += 4;
    CU_ASSERT_EQUAL(rp_ref_replay(&t, false, &done, &err), RP_NO);
    char *start = rp_format("replay, copies on threads of their own: steps[%zu]: op ", k);
    CU_ASSERT_EQUAL(strncmp(err.msg, start, strlen(start)), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(err.msg, "its bits differ from the un-rematerialized run's"));
    free(start);
    rp_replay_tables_fini(&t);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

void suite_ref_replay(void) {
    RP_SUITE("ref_replay");
    RP_TEST(every_family_replays_bit_for_bit);
    RP_TEST(half_precision_replays_bit_for_bit);
    RP_TEST(recomputed_dropout_drops_the_same_elements);
    RP_TEST(recomputed_batch_norm_updates_no_statistics);
    RP_TEST(a_difference_names_the_tensor);
}
