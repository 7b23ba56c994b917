/* Tests of the replay with the reference kernels: every family of networks gives the same
 * bits, and a replay that is not equal says where. */
#include "emit/ref_replay.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "emit/project.h"
#include "emit/runtime/expected.h"
#include "gen.h"
#include "model/cost.h"
#include "model/zoo/registry.h"
#include "networks.h"
#include "policies.h"
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
        rc = rp_ref_replay(&tables, 0, extremes, done, err);
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
    o.budget_bytes = rp_budget_between(g, true, percent);
    const rp_rc rc = rp_policy_plan(g, rp_policy_find(policy), &o, &plan, &report, &err);
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    return plan;
}

static struct rp_graph tiny_with(const char *name, struct rp_zoo_options o) {
    struct rp_err err = {{0}};
    struct rp_graph g = rp_net_build(name, o);
    const rp_rc rc = rp_cost_apply(&g, rp_device_find("v100-16g"), "g", &err);
    CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    set_digest(&g);
    return g;
}

static struct rp_graph tiny(const char *name, enum rp_dtype dtype) {
    struct rp_zoo_options o = rp_net_tiny();
    o.dtype = dtype;
    return tiny_with(name, o);
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

static void types_of_16_bits_replay_bit_for_bit(void) {
    is_equal_at_three_budgets("resnet50", RP_F16);
    is_equal_at_three_budgets("bert-base", RP_BF16);
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

/* ---- updates, and sources on the host ---- */

/* y = x w, z = tanh y, and w is updated by AdamW with the gradient of z. Then r reads it
 * again. w, m and v live on the host, and x may. */
static const char training[] = "tests/data/verify/training.json";
static const char on_host[] = "tests/data/verify/training_on_host.json";
enum { M_IN = 5, U = 8, W_OUT = 9, R = 12 }; /* steps of that plan */

/* A graph, a plan for it, and both as tables. */
struct trained {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_err err;
    struct rp_replay_tables t;
};

static void open_trained(struct trained *w) {
    struct rp_verdict v;
    *w = (struct trained){0};
    CU_ASSERT_EQUAL_FATAL(rp_graph_load(training, &w->g, &w->err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_plan_load(on_host, &w->p, &w->err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(&w->g, &w->p, &v, &w->err), RP_OK);
    remat *r = remat_load(training, on_host, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL_FATAL(rp_replay_tables_build(&w->g, r, "g", 0, 0, &w->t, &w->err),
                          RP_OK);
    remat_close(r);
}

static void close_trained(struct trained *w) {
    rp_replay_tables_fini(&w->t);
    rp_plan_fini(&w->p);
    rp_graph_fini(&w->g);
}

static void training_steps_go_on_with_what_was_updated(void) {
    static const uint32_t asked[] = {0, 1, 3}, run[] = {2, 1, 3};
    struct trained w;
    open_trained(&w);
    for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
        struct rp_ref_replay done;
        CU_ASSERT_EQUAL(rp_ref_replay(&w.t, asked[k], true, &done, &w.err), RP_OK);
        CU_ASSERT_STRING_EQUAL(w.err.msg, "");
        CU_ASSERT_EQUAL(done.n_steps, run[k]);
        /* 5 outputs and 4 updates as they are written; 2 kept and 4 updated at the end */
        CU_ASSERT_EQUAL(done.n_checked, 3 * run[k] * (5 + 4 + 2 + 4));
    }
    close_trained(&w);
}

/* The weights are other ones in each step, so the second step is no repetition. */
static void each_training_step_changes_the_weights(void) {
    struct trained w;
    struct replay_expected e;
    open_trained(&w);
    CU_ASSERT_TRUE_FATAL(replay_expected_build(&w.t.program, 2, &e));
    for (uint32_t x = 0; x < w.g.n_tensors; x++)
        CU_ASSERT_EQUAL(e.left[x] == e.left[w.g.n_tensors + x], x == 0);
    replay_expected_fini(&e);
    close_trained(&w);
}

/* Plans at random, with x on the host too or not. */
static void random_plans_with_updates_replay_bit_for_bit(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_graph g;
        struct rp_plan p;
        struct rp_ref_replay done;
        struct rp_err err = {{0}};
        CU_ASSERT_EQUAL_FATAL(rp_graph_load(training, &g, &err), RP_OK);
        set_digest(&g);
        rp_gen_plan(seed, &g, true, &p);
        if (replay(&g, &p, true, &done, &err) != RP_OK) {
            rp_gen_failed(seed);
            printf("%s\n", err.msg);
            CU_FAIL("a plan that is not equal");
        }
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

/* Networks of the zoo with every kind of update. What may live on the host is there in
 * about half of all cases. */
static void networks_train_with_their_state_on_the_host(void) {
    static const struct {
        const char *network;
        enum rp_optimizer optimizer;
        enum rp_dtype dtype;
        uint64_t micro_batches;
    } cases[] = {{"gpt2", RP_ADAMW, RP_F32, 1},
                 {"gpt2", RP_ADAM, RP_BF16, 2},
                 {"lstm-lm", RP_SGD, RP_F16, 1},
                 {"resnet50", RP_MOMENTUM, RP_F32, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct rp_zoo_options o = rp_net_tiny();
        struct rp_ref_replay done;
        struct rp_err err = {{0}};
        struct rp_plan p;
        o.optimizer = cases[k].optimizer;
        o.dtype = cases[k].dtype;
        o.micro_batches = cases[k].micro_batches;
        o.state_home = o.param_home = RP_HOME_ANY;
        struct rp_graph g = tiny_with(cases[k].network, o);
        rp_gen_plan(k, &g, true, &p);
        CU_ASSERT_TRUE(p.homes.n > 10);
        CU_ASSERT_EQUAL(replay(&g, &p, false, &done, &err), RP_OK);
        CU_ASSERT_STRING_EQUAL(err.msg, "");
        if (err.msg[0] != '\0')
            printf("%s: %s\n", cases[k].network, err.msg);
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

/* Runs the tables, which somebody has spoiled, and expects this difference. */
static void differs(struct rp_replay_tables *t, const char *message) {
    struct rp_ref_replay done;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(rp_ref_replay(t, 0, true, &done, &err), RP_NO);
    CU_ASSERT_STRING_EQUAL(err.msg, message);
    if (strcmp(err.msg, message) != 0)
        printf("%s\n", err.msg);
}

/* The new w goes to the home of m, so its own keeps the old one. */
static void a_stale_host_copy_is_seen(void) {
    struct trained w;
    open_trained(&w);
    w.t.plan.steps.at[W_OUT].host_at = 256;
    differs(&w.t,
            "replay, copies as early as they may be: training step 1: at the end: the "
            "step leaves tensor 1 \"w\": its bits differ from the un-rematerialized "
            "run's");
    close_trained(&w);
}

static void exchange(struct rp_replay_tables *t, size_t i, size_t k) {
    struct replay_step held = t->plan.steps.at[i];
    t->plan.steps.at[i] = t->plan.steps.at[k];
    t->plan.steps.at[k] = held;
}

static void an_op_against_the_wrong_version_is_seen(void) {
    struct trained w;
    open_trained(&w);
    exchange(&w.t, U, R);
    differs(&w.t,
            "replay, copies as early as they may be: training step 1: steps[8]: op 6 "
            "\"r\" makes tensor 9 \"end\": its bits differ from the un-rematerialized "
            "run's");
    close_trained(&w);
}

/* Instead of m, w comes in. All is right until the update, which finds the wrong moment. */
static void an_update_of_the_wrong_content_is_seen(void) {
    struct trained w;
    open_trained(&w);
    w.t.plan.steps.at[M_IN].host_at = 0;
    differs(&w.t,
            "replay, copies as early as they may be: training step 1: steps[8]: op 5 "
            "\"u\" updates tensor 1 \"w\": its bits differ from the un-rematerialized "
            "run's");
    close_trained(&w);
}

/* What a step leaves wrong on the host only the next one finds: x is not updated, so it is
 * not compared at the end. */
static void the_second_step_sees_what_the_first_has_spoiled(void) {
    static const struct rp_step x_in = {.kind = RP_SWAP_IN, .id = 0, .address = 2048};
    static const struct rp_step y_out = {.kind = RP_SWAP_OUT, .id = 5, .address = 1024};
    struct trained w;
    struct rp_ref_replay done;
    open_trained(&w);
    rp_replay_tables_fini(&w.t);
    rp_push(&w.p.homes, ((struct rp_plan_home){.tensor = 0, .host_at = 768}));
    rp_push(&w.p.steps, x_in);
    memmove(w.p.steps.at + 1, w.p.steps.at, (w.p.steps.n - 1) * sizeof *w.p.steps.at);
    w.p.steps.at[0] = x_in;
    rp_push(&w.p.steps, y_out);
    w.p.arena_bytes = 2304;
    w.p.host_bytes = 1280;
    set_digest(&w.g);
    strcpy(w.p.graph_sha256, w.g.sha256);
    remat *r = load_libremat(&w.g, &w.p);
    CU_ASSERT_EQUAL_FATAL(rp_replay_tables_build(&w.g, r, "g", 0, 0, &w.t, &w.err), RP_OK);
    remat_close(r);
    CU_ASSERT_EQUAL(rp_ref_replay(&w.t, 0, true, &done, &w.err), RP_OK);
    w.t.plan.steps.at[w.p.steps.n - 1].host_at = 768; /* y, over the home of x */
    CU_ASSERT_EQUAL(rp_ref_replay(&w.t, 1, true, &done, &w.err), RP_OK);
    differs(&w.t, "replay, copies as early as they may be: training step 2: steps[3]: op 1 "
                  "\"f\" makes tensor 5 \"y\": its bits differ from the un-rematerialized "
                  "run's");
    close_trained(&w);
}

/* A copy behind the last step is none of its steps. */
static void a_plan_without_copies_runs_once(void) {
    struct trained w;
    struct rp_ref_replay done;
    open_trained(&w);
    rp_push(&w.t.keep_all.steps, ((struct replay_step){.what = REPLAY_SWAP_OUT}));
    w.t.program.plan = w.t.program.keep_all;
    w.t.program.plan.steps = w.t.keep_all.steps.at;
    CU_ASSERT_EQUAL(rp_ref_replay(&w.t, 1, true, &done, &w.err), RP_OK);
    CU_ASSERT_STRING_EQUAL(w.err.msg, "");
    CU_ASSERT_EQUAL(done.n_orders, 1);
    close_trained(&w);
}

/* ---- files ---- */

static void writing_a_program_again_gives_its_size_again(void) {
    char folder[] = "/tmp/rp-test-XXXXXX";
    struct trained w;
    uint64_t bytes = 0, again;
    open_trained(&w);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_EQUAL(rp_project_write(&w.t, RP_TARGET_C, folder, &bytes, &w.err), RP_OK);
    again = bytes;
    CU_ASSERT_EQUAL(rp_project_write(&w.t, RP_TARGET_C, folder, &again, &w.err), RP_OK);
    CU_ASSERT_TRUE(bytes > 0 && again == bytes);
    char *clear = rp_format("rm -r '%s'", folder);
    CU_ASSERT_EQUAL(system(clear), 0);
    free(clear);
    close_trained(&w);
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
    CU_ASSERT_EQUAL(rp_ref_replay(&t, 0, false, &done, &err), RP_NO);
    char *start = rp_format("replay, copies on threads of their own: steps[%zu]: op ", k);
    CU_ASSERT_EQUAL(strncmp(err.msg, start, strlen(start)), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(err.msg, "its bits differ from the un-rematerialized run's"));
    free(start);
    rp_replay_tables_fini(&t);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

/* The op with the highest number is refused, after others that own memory. */
static void a_graph_that_is_refused_leaves_no_memory(void) {
    struct rp_graph g = tiny("densenet121", RP_F32);
    struct rp_replay_tables t;
    size_t before = 0;
    CU_ASSERT_FATAL(rp_net_has_kind(&g, "concat"));
    free(g.ops[g.n_ops - 1].kind);
    g.ops[g.n_ops - 1].kind = rp_strdup("unknown");
    for (int k = 0; k < 20; k++) { /* the first times fill the C library's caches */
        struct rp_err err = {{0}};
        CU_ASSERT_EQUAL(rp_replay_tables_step(&g, "g", &t, &err), RP_INPUT);
        rp_replay_tables_fini(&t);
        before = k == 9 ? mallinfo2().uordblks : before;
    }
    CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
    rp_graph_fini(&g);
}

void suite_ref_replay(void) {
    RP_SUITE("ref_replay");
    RP_TEST(every_family_replays_bit_for_bit);
    RP_TEST(types_of_16_bits_replay_bit_for_bit);
    RP_TEST(recomputed_dropout_drops_the_same_elements);
    RP_TEST(recomputed_batch_norm_updates_no_statistics);
    RP_TEST(training_steps_go_on_with_what_was_updated);
    RP_TEST(each_training_step_changes_the_weights);
    RP_TEST(random_plans_with_updates_replay_bit_for_bit);
    RP_TEST(networks_train_with_their_state_on_the_host);
    RP_TEST(a_stale_host_copy_is_seen);
    RP_TEST(an_op_against_the_wrong_version_is_seen);
    RP_TEST(an_update_of_the_wrong_content_is_seen);
    RP_TEST(the_second_step_sees_what_the_first_has_spoiled);
    RP_TEST(a_plan_without_copies_runs_once);
    RP_TEST(writing_a_program_again_gives_its_size_again);
    RP_TEST(a_difference_names_the_tensor);
    RP_TEST(a_graph_that_is_refused_leaves_no_memory);
}
