/* Tests of the replay without the rules of verify: what it finds in invalid plans, and in
 * task graphs with missing waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "gen.h"
#include "naive.h"
#include "run.h"
#include "verify/hash_replay.h"
#include "verify/races.h"

/* Replays rp_net with these steps and expects this message (NULL: the plan is accepted). */
static void expect_of(const char *graph, const char *sizes, const char *steps,
                      const char *why) {
    struct rp_world w;
    struct rp_replay r;
    rp_world_open(&w, graph, sizes, steps);
    rp_rc rc = rp_verify_replay(&w.g, &w.p, &r, &w.err);
    CU_ASSERT_EQUAL(rc, why == NULL ? RP_OK : RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, why == NULL ? "" : why);
    if (strcmp(w.err.msg, why == NULL ? "" : why) != 0)
        printf("said: %s\n", w.err.msg);
    if (why != NULL) { /* the rules reject every plan that the replay refuses */
        struct rp_err err = {{0}};
        CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &err), RP_NO);
    }
    rp_world_close(&w);
}

static void expect(const char *sizes, const char *steps, const char *why) {
    expect_of(rp_net, sizes, steps, why);
}

#define EARLY "replay, copies as early as they may be: "
#define LATE "replay, copies as late as they may be: "

/* ---- right values ---- */

static void valid_plans_replay_to_the_right_values(void) {
    struct rp_world w;
    struct rp_replay r;
    rp_world_open(&w, rp_net, SIZES, ALL);
    CU_ASSERT_EQUAL(rp_verify_replay(&w.g, &w.p, &r, &w.err), RP_OK);
    CU_ASSERT_EQUAL(r.n_orders, 2);
    CU_ASSERT_EQUAL(r.n_runs, 4);
    CU_ASSERT_EQUAL(r.n_copies, 0);
    /* Each execution reads 6 inputs, makes 5 outputs and checks 2 kept tensors. */
    CU_ASSERT_EQUAL(r.n_values, 2 * (6 + 5 + 2));
    /* Storage begins or ends at 0, 8, 12, 16, 20 and 28. The host has one cell for each
     * tensor. */
    CU_ASSERT_EQUAL(r.n_device_cells, 6 + 6);
    CU_ASSERT_EQUAL(r.n_host_cells, 0);
    rp_world_close(&w);
}

static void copies_and_reruns_replay_to_the_right_values(void) {
    expect(SIZES,
           A ",{'swap_out':1,'host_at':4}," B ",{'free':1}," C ",{'free':2},"
             "{'swap_in':1,'at':0}," D,
           NULL);
    expect(SIZES,
           A "," B ",{'free':1}," C "," FREE_Y
             ",{'run':0,'at':[0]},{'run':0,'at':[null]}," D,
           NULL);
    expect(SUM,
           "{'run':0},{'swap_out':1},{'run':1},{'free':1},{'run':2},{'free':2},"
           "{'swap_in':1},{'run':3}",
           NULL);
    expect(SUM, "{'run':0},{'run':1},{'free':1},{'run':2},{'free':2},{'run':0},{'run':3}",
           NULL);
}

static void random_valid_plans_replay_to_the_right_values(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(20);
        struct rp_graph g;
        rp_gen_graph(seed, &shape, &g);
        for (int k = 0; k < 4; k++) {
            struct rp_plan p;
            struct rp_replay r;
            struct rp_err err = {{0}};
            if (k < 2)
                rp_gen_plan(seed, &g, k % 2, &p);
            else
                rp_gen_keep_all(&g, k % 2, &p);
            CU_ASSERT_EQUAL(rp_verify_replay(&g, &p, &r, &err), RP_OK);
            CU_ASSERT_STRING_EQUAL(err.msg, "");
            if (err.msg[0] != '\0')
                rp_gen_failed(seed);
            rp_plan_fini(&p);
        }
        rp_graph_fini(&g);
    }
}

/* Offsets of many GiB that differ by single bytes: memory use depends on the number of
 * different addresses. */
static void memory_use_grows_with_the_number_of_addresses_not_bytes(void) {
    static const char huge[] =
        "{'format':'remat-graph','version':1,'name':'h','time_source':'none',"
        "'device':{'alignment_bytes':1},'tensors':["
        "{'name':'p','bytes':1000000000000000000,'kind':'activation'},"
        "{'name':'q','bytes':1000000000000000001,'kind':'activation'}],"
        "'ops':[{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':1},"
        "{'name':'g','kind':'k','inputs':[0],'outputs':[1],'time_ns':1},"
        "{'name':'h','kind':'k','inputs':[0,1],'outputs':[],'recompute':false,"
        "'time_ns':1}],'keep':[]}";
#define HUGE                                                                               \
    "'budget_bytes':3000000000000000000,'addressed':true,"                                 \
    "'arena_bytes':3000000000000000000,'host_bytes':0"
    struct rp_world w;
    struct rp_replay r;
    rp_world_open(&w, huge, HUGE,
                  "{'run':0,'at':[0]},{'run':1,'at':[1000000000000000000]},{'run':2}");
    CU_ASSERT_EQUAL(rp_verify_replay(&w.g, &w.p, &r, &w.err), RP_OK);
    CU_ASSERT_EQUAL(r.n_device_cells, 3 + 2);
    rp_world_close(&w);
    rp_world_open(&w, huge, HUGE,
                  "{'run':0,'at':[0]},{'run':1,'at':[999999999999999999]},{'run':2}");
    CU_ASSERT_EQUAL(rp_verify_replay(&w.g, &w.p, &r, &w.err), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, EARLY "steps[1]: op 1 \"g\" reads tensor 0 \"p\": it "
                                            "finds memory taken and not yet written");
    rp_world_close(&w);
}

/* ---- updates, and sources on the host ---- */

#define UP_TO_E                                                                            \
    RUN_F "," RUN_G "," RUN_U "," RUN_H ",{'swap_in':1,'at':28},{'run':4,'at':[]}"

static void updates_and_sources_on_the_host_replay_to_the_right_values(void) {
    expect_of(rp_state, ROOM(T_HOME), UP_TO_E ",{'swap_out':1,'host_at':0}", NULL);
    expect_of(rp_state, ROOM(T_HOME),
              RUN_F "," RUN_G ",{'run':1,'at':[null,null],'workspace_at':24}," RUN_U
                    "," RUN_H "," T_IN_AND_OUT "," FREE_T ",{'swap_in':1,'at':28}",
              NULL);
}

static void an_op_against_the_wrong_version_is_detected(void) {
    expect_of(rp_state, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_H "," RUN_U "," T_IN_AND_OUT,
              EARLY "steps[2]: op 3 \"h\" reads tensor 0 \"w\": it finds tensor 0 \"w\" as "
                    "it is before op 2");
    expect_of(rp_state, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U ",{'run':0,'at':[null]}",
              EARLY "steps[3]: op 0 \"f\" reads tensor 0 \"w\": it finds tensor 0 \"w\" as "
                    "it is after op 2");
    expect_of(rp_state, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U "," RUN_U,
              EARLY "steps[3]: op 2 \"u\" updates tensor 0 \"w\": it finds tensor 0 \"w\" "
                    "as it is after op 2");
}

static void a_host_copy_that_is_out_of_date_is_detected(void) {
    expect_of(rp_state, ROOM(T_HOME), UP_TO_E,
              EARLY
              "at the end: the step leaves on the host tensor 1 \"t\": it finds tensor "
              "1 \"t\" as it is before op 4");
}

static void storage_of_a_source_before_it_came_in_is_detected(void) {
    expect_of(rp_state, ROOM(T_HOME), "{'run':4,'at':[]}",
              "steps[0]: tensor 1 was never there to be read");
    expect_of(
        rp_state, ROOM(T_HOME),
        RUN_F "," RUN_G "," RUN_U "," RUN_H ",{'swap_in':1,'at':24},{'run':4,'at':[]},"
              "{'swap_out':1,'host_at':0}",
        EARLY "at the end: the step keeps tensor 6 \"v\": it finds tensor 1 \"t\" as it "
              "is after op 4");
    expect_of(rp_state, ROOM("[{'tensor':3,'host_at':0}]"), RUN_F, "homes[0]: no source 3");
    expect_of(rp_state, ROOM("[{'tensor':7,'host_at':0}]"), RUN_F, "homes[0]: no source 7");
    expect_of(rp_state, ROOM("[{'tensor':1}]"), RUN_F, "homes[0]: no host address");
}

/* ---- wrong values ---- */

static void reading_freed_storage_is_detected(void) {
    expect(SIZES, A "," B ",{'free':1}," C "," FREE_Y "," D,
           EARLY "steps[5]: op 3 \"d\" reads tensor 1 \"x\": it finds freed memory");
    expect(SUM, "{'run':0},{'run':1},{'free':1},{'run':2},{'free':2},{'run':3}",
           EARLY "steps[5]: op 3 \"d\" reads tensor 1 \"x\": it finds freed memory");
    expect(SIZES, A ",{'free':1}," B,
           EARLY "steps[2]: op 1 \"b\" reads tensor 1 \"x\": it finds freed memory");
}

static void an_output_over_an_input_is_detected(void) {
    expect(SIZES, A ",{'run':1,'at':[4,16],'workspace_at':20}",
           EARLY "steps[1]: op 1 \"b\" reads tensor 1 \"x\": it finds memory taken and not "
                 "yet written");
}

static void an_output_over_a_tensor_that_is_read_later_is_detected(void) {
    expect(SIZES, A "," B ",{'run':2,'at':[16]}," FREE_Y "," D,
           EARLY "steps[4]: op 3 \"d\" reads tensor 3 \"z\": it finds tensor 4 \"u\"");
}

static void overlapping_outputs_are_detected(void) {
    expect(SIZES, A ",{'run':1,'at':[8,12],'workspace_at':20}",
           EARLY "steps[1]: op 1 \"b\" has made tensor 2 \"y\": it finds tensor 3 \"z\"");
}

static void workspace_over_a_live_tensor_is_detected(void) {
    expect(SIZES, A ",{'run':1,'at':[8,16],'workspace_at':4}",
           EARLY "steps[1]: op 1 \"b\" reads tensor 1 \"x\": it finds some op's workspace");
    expect(SIZES, A ",{'run':1,'at':[8,16],'workspace_at':16}",
           EARLY
           "steps[1]: op 1 \"b\" has made tensor 3 \"z\": it finds some op's workspace");
}

static void kept_tensors_are_checked_at_the_end(void) {
    expect(SIZES, ALL ",{'run':0,'at':[8]}",
           EARLY "at the end: the step keeps tensor 5 \"v\": it finds tensor 1 \"x\"");
    expect(SIZES, ALL ",{'free':5}", "replay: tensor 5 \"v\" is to be kept and not there");
    expect(SIZES, A "," B "," C, "replay: tensor 5 \"v\" is to be kept and not there");
}

static void overlapping_host_copies_are_detected(void) {
    expect(SIZES,
           A "," B ",{'swap_out':1,'host_at':4},{'swap_out':3,'host_at':8},{'free':1}," C
             "," FREE_Y ",{'swap_in':1,'at':0}," D,
           EARLY "steps[7]: the copy takes from the host tensor 1 \"x\": it finds "
                 "tensor 3 \"z\"");
}

static void a_swap_in_over_a_live_tensor_is_detected(void) {
    expect(SIZES, A "," B ",{'swap_out':1,'host_at':4},{'free':1},{'swap_in':1,'at':12}," C,
           EARLY "steps[5]: op 2 \"c\" reads tensor 2 \"y\": it finds tensor 1 \"x\"");
}

static void plans_that_cannot_be_executed_are_refused(void) {
    expect(SIZES, "{'run':4,'at':[]}", "steps[0]: no op 4");
    expect(SUM, "{'run':4}", "steps[0]: no op 4");
    expect(SIZES, "{'free':6}", "steps[0]: no tensor 6");
    expect(SIZES, "{'swap_out':0,'host_at':0}", "steps[0]: tensor 0 is a source");
    expect(SIZES, A ",{'run':1,'at':[8],'workspace_at':0}",
           "steps[1]: not one address per output");
    expect(SIZES, "{'run':0,'at':[24]}", "steps[0]: 8 bytes at 24 end beyond 28");
    expect(SIZES, "{'run':0,'at':[9223372036854775804]}",
           "steps[0]: 8 bytes at 9223372036854775804 end beyond 28");
    expect(SIZES, A ",{'swap_out':1,'host_at':12}",
           "steps[1]: 8 bytes at 12 end beyond 16");
    expect(SIZES, "{'run':0,'at':[null]}", "steps[0]: tensor 1 has no address");
    expect(SIZES, A ",{'run':1,'at':[8,16]}",
           "steps[1]: the workspace of op 1 has no address");
    expect(SIZES, A ",{'swap_out':1}", "steps[1]: tensor 1 has no host address");
    expect(SIZES, D, "steps[0]: tensor 1 was never there to be read");
    expect(SIZES, "{'free':1}", "steps[0]: tensor 1 is not there to be freed");
    expect(SIZES, "{'swap_out':1,'host_at':0}", "steps[0]: tensor 1 cannot be swapped out");
    expect(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_out':1,'host_at':8}",
           "steps[2]: tensor 1 cannot be swapped out");
    expect(SIZES, "{'swap_in':1,'at':0}", "steps[0]: tensor 1 cannot be swapped in");
    expect(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_in':1,'at':8}",
           "steps[2]: tensor 1 cannot be swapped in");
}

static void a_refused_plan_has_run_nothing(void) {
    struct rp_world w;
    struct rp_replay r = {.n_runs = 1, .n_orders = 1};
    rp_world_open(&w, rp_net, SIZES, D);
    CU_ASSERT_EQUAL(rp_verify_replay(&w.g, &w.p, &r, &w.err), RP_NO);
    CU_ASSERT_EQUAL(r.n_runs, 0);
    CU_ASSERT_EQUAL(r.n_orders, 0);
    rp_world_close(&w);
}

/* ---- missing waits ---- */

#define X_AWAY                                                                             \
    A ",{'swap_out':1,'host_at':0}," B ",{'free':1}," C "," FREE_Y                         \
      ",{'swap_in':1,'at':8},"                                                             \
      "{'run':3,'at':[0]}"

static void tasks_wait_as_the_time_line_says(void) {
    static const size_t waits[8][3] = {{0}, {1, 0}, {0},       {1, 1},
                                       {0}, {0},    {2, 5, 1}, {1, 6}};
    struct rp_world w;
    struct rp_task_graph prog;
    rp_world_open(&w, rp_net, SIZES, X_AWAY);
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    for (size_t k = 0; k < 8; k++) {
        const struct rp_task *t = &prog.tasks.at[k];
        CU_ASSERT_EQUAL_FATAL(t->n_waits, waits[k][0]);
        for (size_t i = 0; i < t->n_waits; i++)
            CU_ASSERT_EQUAL(prog.waits.at[t->first_wait + i], waits[k][1 + i]);
    }
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
}

static void remove_wait(struct rp_task_graph *prog, size_t task, size_t other) {
    struct rp_task *t = &prog->tasks.at[task];
    size_t k = 0;
    while (k < t->n_waits && prog->waits.at[t->first_wait + k] != other)
        k++;
    CU_ASSERT_FATAL(k < t->n_waits);
    prog->waits.at[t->first_wait + k] = prog->waits.at[t->first_wait + --t->n_waits];
}

/* Replays with a task graph in which task `task` no longer waits for task `other`. */
static void without_wait(const char *sizes, const char *steps, size_t task, size_t other,
                         const char *why) {
    struct rp_world w;
    struct rp_task_graph prog;
    struct rp_replay r;
    rp_world_open(&w, rp_net, sizes, steps);
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    CU_ASSERT_EQUAL(rp_hash_replay(&w.g, &prog, &r, &w.err), RP_OK);
    remove_wait(&prog, task, other);
    CU_ASSERT_EQUAL(rp_hash_replay(&w.g, &prog, &r, &w.err), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, why);
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
}

static void a_run_must_wait_for_the_swap_in_that_it_reads(void) {
    without_wait(SIZES, X_AWAY, 7, 6,
                 LATE "steps[7]: op 3 \"d\" reads tensor 1 \"x\": it finds freed memory");
}

static void a_free_must_wait_for_the_swap_out(void) {
    without_wait(SIZES, X_AWAY, 3, 1,
                 LATE "steps[1]: the copy takes from the device tensor 1 \"x\": it finds "
                      "freed memory");
}

static void a_swap_out_must_wait_for_the_run_that_makes_the_tensor(void) {
    without_wait(SIZES, X_AWAY, 1, 0,
                 EARLY "steps[1]: the copy takes from the device tensor 1 \"x\": it finds "
                       "memory never written");
}

static void a_swap_in_must_wait_until_its_storage_is_free(void) {
    without_wait(SIZES, X_AWAY, 6, 5,
                 EARLY "steps[7]: op 3 \"d\" reads tensor 1 \"x\": it finds freed memory");
}

static void a_free_must_wait_for_the_swap_in(void) {
    without_wait("'budget_bytes':44,'addressed':true,'arena_bytes':36,'host_bytes':16",
                 A "," B ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':28}," C
                   "," FREE_Y ",{'free':1},{'run':0,'at':[0]},{'run':3,'at':[28]}",
                 7, 4,
                 LATE "at the end: the step keeps tensor 5 \"v\": it finds tensor 1 \"x\"");
}

static void a_run_must_wait_for_the_swap_out_of_the_tensor_it_rewrites(void) {
    static const size_t waits[4][3] = {{0}, {1, 0}, {1, 1}, {0}};
    struct rp_world w;
    struct rp_task_graph prog;
    rp_world_open(&w, rp_net, SIZES,
                  A ",{'swap_out':1,'host_at':0},{'run':0,'at':[null]}," B);
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    for (size_t k = 0; k < 4; k++) {
        CU_ASSERT_EQUAL_FATAL(prog.tasks.at[k].n_waits, waits[k][0]);
        for (size_t i = 0; i < waits[k][0]; i++)
            CU_ASSERT_EQUAL(prog.waits.at[prog.tasks.at[k].first_wait + i],
                            waits[k][1 + i]);
    }
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
}

/* The second order does not find what the first one left on the host. */
static void a_swap_in_must_wait_for_the_swap_out(void) {
    struct rp_world w;
    struct rp_task_graph prog;
    struct rp_replay r;
    rp_world_open(&w, rp_net, SIZES, X_AWAY);
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    remove_wait(&prog, 3, 1);
    remove_wait(&prog, 6, 1);
    CU_ASSERT_EQUAL(rp_hash_replay(&w.g, &prog, &r, &w.err), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           LATE "steps[6]: the copy takes from the host tensor 1 \"x\": it "
                                "finds memory never written");
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
}

/* ---- races ---- */

#define WIDE "'budget_bytes':44,'addressed':true,'arena_bytes':36,'host_bytes':16"

/* Nobody reads u after it came back, so no value is wrong. */
static void workspace_over_a_swap_in_that_nobody_reads_is_detected(void) {
    expect(WIDE,
           A "," B "," C ",{'run':3,'at':[28]},{'swap_out':4,'host_at':0},{'free':4},"
             "{'swap_in':4,'at':20},{'run':1,'at':[null,null],'workspace_at':20}",
           "replay: steps[7] does not wait for steps[6], which uses the same storage");
}

/* On the device z lies beside x. */
static void a_swap_out_over_a_host_copy_that_comes_back_is_a_race(void) {
    struct rp_world w;
    struct rp_task_graph prog;
    rp_world_open(&w, rp_net, SIZES,
                  A ",{'swap_out':1,'host_at':0}," B
                    ",{'free':1},{'swap_in':1,'at':0},{'swap_out':3,'host_at':4}");
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    CU_ASSERT_EQUAL(rp_check_races(&w.g, &prog, &w.err), RP_NO);
    CU_ASSERT_STRING_EQUAL(
        w.err.msg,
        "replay: steps[5] does not wait for steps[4], which uses the same storage");
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
}

/* ---- random plans ---- */

/* Every plan that the replay refuses also breaks a rule. The converse holds for most plans
 * but not for all. */
static bool failed_replay_means_invalid(uint64_t seed, unsigned *wrong, unsigned *seen) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)rp_rng_below(&r, 15));
    struct rp_graph g;
    bool ok = true;
    rp_gen_graph(seed, &shape, &g);
    for (int k = 0; k < 10 && ok; k++) {
        struct rp_plan p;
        struct rp_claims facts;
        struct rp_replay replay;
        struct rp_err err = {{0}};
        rp_gen_plan(seed, &g, rp_rng_percent(&r, 60), &p);
        for (uint64_t n = 1 + rp_rng_below(&r, 2); n > 0 && p.steps.n > 0; n--)
            rp_gen_change(&r, &g, &p);
        bool valid = rp_naive_steps(&g, &p, &facts);
        bool right = rp_verify_replay(&g, &p, &replay, &err) == RP_OK;
        ok = right || !valid;
        if (!ok)
            printf("valid, but: %s\n", err.msg);
        *wrong += !valid;
        *seen += !right;
        rp_plan_fini(&p);
    }
    rp_graph_fini(&g);
    return ok;
}

static void random_plans_that_fail_the_replay_are_invalid(void) {
    uint32_t n = 300;
    unsigned wrong = 0, seen = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!failed_replay_means_invalid(seed, &wrong, &seen)) {
            rp_gen_failed(seed);
            CU_FAIL("a valid plan failed");
        }
    CU_ASSERT(rp_gen_one_seed() || seen > wrong / 2);
}

void suite_hash_replay(void) {
    RP_SUITE("hash_replay");
    RP_TEST(valid_plans_replay_to_the_right_values);
    RP_TEST(copies_and_reruns_replay_to_the_right_values);
    RP_TEST(random_valid_plans_replay_to_the_right_values);
    RP_TEST(memory_use_grows_with_the_number_of_addresses_not_bytes);
    RP_TEST(updates_and_sources_on_the_host_replay_to_the_right_values);
    RP_TEST(an_op_against_the_wrong_version_is_detected);
    RP_TEST(a_host_copy_that_is_out_of_date_is_detected);
    RP_TEST(storage_of_a_source_before_it_came_in_is_detected);
    RP_TEST(reading_freed_storage_is_detected);
    RP_TEST(an_output_over_an_input_is_detected);
    RP_TEST(an_output_over_a_tensor_that_is_read_later_is_detected);
    RP_TEST(overlapping_outputs_are_detected);
    RP_TEST(workspace_over_a_live_tensor_is_detected);
    RP_TEST(kept_tensors_are_checked_at_the_end);
    RP_TEST(overlapping_host_copies_are_detected);
    RP_TEST(a_swap_in_over_a_live_tensor_is_detected);
    RP_TEST(plans_that_cannot_be_executed_are_refused);
    RP_TEST(a_refused_plan_has_run_nothing);
    RP_TEST(tasks_wait_as_the_time_line_says);
    RP_TEST(a_run_must_wait_for_the_swap_in_that_it_reads);
    RP_TEST(a_free_must_wait_for_the_swap_out);
    RP_TEST(a_swap_out_must_wait_for_the_run_that_makes_the_tensor);
    RP_TEST(a_swap_in_must_wait_until_its_storage_is_free);
    RP_TEST(a_free_must_wait_for_the_swap_in);
    RP_TEST(a_run_must_wait_for_the_swap_out_of_the_tensor_it_rewrites);
    RP_TEST(a_swap_in_must_wait_for_the_swap_out);
    RP_TEST(workspace_over_a_swap_in_that_nobody_reads_is_detected);
    RP_TEST(a_swap_out_over_a_host_copy_that_comes_back_is_a_race);
    RP_TEST(random_plans_that_fail_the_replay_are_invalid);
}
