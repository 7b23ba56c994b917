/* Each rule that version 2 of the format adds has a plan here that breaks only this rule:
 * updates, sources on the host, held, ordered and rewrites. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "naive.h"
#include "run.h"
#include "solve/solver.h"
#include "verdicts.h"
#include "verify/queue_clocks.h"
#include "verify/verifier.h"

/* t comes in from 0 to 18, f runs to 10, g to 30, u to 60, h to 100, e to 105; t goes out
 * to 131 and its free waits for that. */
static void a_source_on_the_host_comes_in_and_goes_out_after_its_update(void) {
    struct rp_world w;
    rp_world_open(&w, rp_state, ROOM(T_HOME),
                  "{'swap_in':1,'at':28}," RUN_F "," RUN_G "," RUN_U "," RUN_H
                  ",{'run':4,'at':[]},{'swap_out':1,'host_at':0}," FREE_T);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 131);
    CU_ASSERT_EQUAL(w.v.stall_ns, 26);
    CU_ASSERT_EQUAL(w.v.fixed_bytes, 16);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 8);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 8 + 4);
    rp_world_close(&w);
    /* s lives on the host too, and no op needs it. */
    rp_world_open(&w, rp_state, ROOM("[{'tensor':1,'host_at':0},{'tensor':2,'host_at':8}]"),
                  RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.fixed_bytes, 8);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 16);
    rp_world_close(&w);
}

static void homes_that_are_wrong_are_rejected(void) {
    const char *graph = rp_state;
#define REST RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT
    rp_expect_plan_of(graph, ROOM(T_HOME), REST, NULL);
    rp_expect_plan_of(graph, ROOM("[]"), REST,
                      "homes: tensor 1 \"t\" has its home on the host, but is not listed");
    rp_expect_plan_of(graph, ROOM("[{'tensor':9,'host_at':0}]"), REST,
                      "homes[0]: no tensor 9");
    rp_expect_plan_of(graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':0,'host_at':8}]"),
                      REST, "homes[1]: tensor 0 \"w\" has its home on the device");
    rp_expect_plan_of(graph, ROOM("[{'tensor':3,'host_at':8}]"), REST,
                      "homes[0]: tensor 3 \"x\" has its home on the device");
    rp_expect_plan_of(graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':1,'host_at':0}]"),
                      REST, "homes[1]: tensor 1 \"t\" stands there twice");
    rp_expect_plan_of(graph, ROOM("[{'tensor':1}]"), REST,
                      "homes[0]: the host copy of tensor 1 \"t\" has no address");
    rp_expect_plan_of(
        graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':2,'host_at':4}]"), REST,
        "homes[1]: the host copy of tensor 2 \"s\": bytes 4..12 overlap tensor 1 "
        "\"t\" at 0..8");
    rp_expect_plan_of(graph, SUM_ROOM(T_HOME), "",
                      "homes[0]: an address, in a plan without addresses");
    rp_expect_plan_of(graph, ROOM(T_HOME), REST ",{'free':2}",
                      "steps[7]: tensor 2 \"s\" is a source: it cannot be freed");
    rp_expect_plan_of(
        graph, ROOM(T_HOME), "{'run':4,'at':[]}",
        "steps[0]: op 4 \"e\" updates tensor 1 \"t\", which is not on the device");
}

static void an_op_that_finds_a_source_in_the_wrong_version_is_rejected(void) {
    const char *graph = rp_state;
    rp_expect_plan_of(graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_H,
                      "steps[2]: op 3 \"h\" needs tensor 0 \"w\" as op 2 \"u\" leaves it");
    rp_expect_plan_of(
        graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U ",{'run':0,'at':[null]}",
        "steps[3]: op 0 \"f\" needs tensor 0 \"w\" as it was before op 2 \"u\"");
    rp_expect_plan_of(
        graph, ROOM(T_HOME),
        RUN_F "," RUN_G ",{'run':0,'at':[null]}," RUN_U "," RUN_H "," T_IN_AND_OUT, NULL);
    rp_expect_plan_of(graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U "," RUN_U,
                      "steps[3]: op 2 \"u\" runs again, though it updates tensors");
}

static void ordered_ops_in_another_order_are_rejected(void) {
    rp_expect_plan_of(
        rp_state, ROOM(T_HOME), "{'swap_in':1,'at':28},{'run':4,'at':[]}," RUN_F,
        "steps[2]: op 0 \"f\" first runs after op 4 \"e\", but both are ordered");
}

static void freeing_a_held_tensor_is_rejected(void) {
    rp_expect_plan_of(rp_state, ROOM(T_HOME),
                      RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT ",{'free':5}",
                      "steps[7]: tensor 5 \"z\" is held: it cannot be freed");
}

static void a_host_copy_that_is_out_of_date_is_rejected(void) {
    const char *graph = rp_state;
#define UP_TO_E                                                                            \
    RUN_F "," RUN_G "," RUN_U "," RUN_H ",{'swap_in':1,'at':28},{'run':4,'at':[]}"
    rp_expect_plan_of(graph, ROOM(T_HOME), UP_TO_E,
                      "steps: the host copy of tensor 1 \"t\" is out of date at the end");
    rp_expect_plan_of(
        graph, ROOM(T_HOME), UP_TO_E "," FREE_T,
        "steps[6]: tensor 1 \"t\" is freed, though its host copy is out of date");
    rp_expect_plan_of(graph, ROOM(T_HOME), UP_TO_E ",{'swap_out':1,'host_at':8}",
                      "steps[6]: tensor 1 \"t\" has its host copy at 0");
    rp_expect_plan_of(
        graph, ROOM(T_HOME),
        RUN_F "," RUN_G "," RUN_U "," RUN_H
              ",{'swap_in':1,'at':28},{'swap_out':1,'host_at':0}",
        "steps[5]: tensor 1 \"t\" is swapped out, but its host copy is up to date");
    rp_expect_plan_of(
        graph, ROOM(T_HOME), UP_TO_E ",{'swap_in':1,'at':28}",
        "steps[6]: tensor 1 \"t\" is swapped in, but its host copy is out of date");
    rp_expect_plan_of(
        graph, ROOM(T_HOME),
        UP_TO_E ",{'swap_out':1,'host_at':0}," FREE_T ",{'swap_in':1,'at':28}", NULL);
}

/* When g runs again, y and z are there. z stays, and both are further workspace. */
static void outputs_that_cannot_be_rewritten_are_workspace(void) {
    const char *graph = rp_state;
    struct rp_world w;
    rp_world_open(&w, graph, ROOM(T_HOME),
                  RUN_F "," RUN_G ",{'run':1,'at':[null,null],'workspace_at':24}," RUN_U
                        "," RUN_H "," T_IN_AND_OUT);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 16);
    rp_world_close(&w);
    rp_world_open(&w, graph, ROOM(T_HOME),
                  RUN_F "," RUN_G
                        ",{'free':4},{'run':1,'at':[8,null],'workspace_at':24}," RUN_U
                        "," RUN_H "," T_IN_AND_OUT);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 12);
    rp_world_close(&w);
    rp_expect_plan_of(graph, ROOM(T_HOME), RUN_F "," RUN_G ",{'run':1,'at':[null,null]}",
                      "steps[2]: the workspace of op 1 \"g\" has no address");
    rp_expect_plan_of(
        graph, ROOM(T_HOME),
        RUN_F "," RUN_G ",{'run':1,'at':[null,null],'workspace_at':20}",
        "steps[2]: the workspace of op 1 \"g\": bytes 20..36 overlap tensor 5 \"z\" at "
        "16..24");
}

/* y comes back from 56 ns, when the free has waited for its copy out, to 74 ns. */
static void an_output_left_alone_may_not_be_under_way(void) {
    rp_expect_plan_of(
        rp_state, ROOM(T_HOME),
        RUN_F "," RUN_G ",{'swap_out':4,'host_at':8},{'free':4},"
              "{'swap_in':4,'at':8},{'run':1,'at':[null,null],'workspace_at':24}",
        "steps[5]: op 1 \"g\" makes tensor 4 \"y\" again at 56 ns, while its swap-in is "
        "under way until 74 ns");
}

/* The bytes of two outputs that stay are rounded up one by one: 8 + 8, not 6 + 6. */
static void each_output_left_alone_is_rounded_up(void) {
    static const char graph[] =
        "{'format':'remat-graph','version':2,'name':'two','time_source':'imported:test',"
        "'device':{'alignment_bytes':4},'tensors':["
        "{'name':'y','bytes':6,'kind':'activation'},"
        "{'name':'z','bytes':6,'kind':'activation'}],'ops':["
        "{'name':'g','kind':'k','inputs':[],'outputs':[0,1],'time_ns':5,'rewrites':false}],"
        "'keep':[0,0]}";
    struct rp_world w;
    rp_world_open(&w, graph,
                  "'budget_bytes':32,'addressed':true,'arena_bytes':32,'host_bytes':0",
                  "{'run':0,'at':[0,8]},{'run':0,'at':[null,null],'workspace_at':16}");
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 32);
    CU_ASSERT_EQUAL(rp_kept_bytes(&w.g, true), 8); /* though `keep` names it twice */
    rp_world_close(&w);
}

/* A second update of the same tensor waits for the swap-out that the first one was followed
 * by: e runs 18..23, the copy 23..49, and e2 49..54. */
static void an_update_waits_for_a_swap_out(void) {
    static const char graph[] =
        "{'format':'remat-graph','version':2,'name':'two','time_source':'imported:test',"
        "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1000000000,"
        "'d2h_bytes_per_s':500000000,'copy_latency_ns':10},'tensors':["
        "{'name':'t','bytes':8,'kind':'state','home':'host'}],'ops':["
        "{'name':'e','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':5},"
        "{'name':'e2','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':5}],"
        "'keep':[]}";
    struct rp_world w;
    rp_world_open(&w, graph,
                  "'budget_bytes':8,'addressed':false,'arena_bytes':8,'host_bytes':8,"
                  "'homes':[{'tensor':0}]",
                  "{'swap_in':0},{'run':0},{'swap_out':0},{'run':1},{'swap_out':0}");
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 80);
    CU_ASSERT_EQUAL(w.v.stall_ns, 18 + 26);
    CU_ASSERT_EQUAL(w.v.swapped_out_bytes, 16);
    rp_world_close(&w);
    rp_expect_plan_of(graph,
                      "'budget_bytes':8,'addressed':false,'arena_bytes':8,'host_bytes':8,"
                      "'homes':[{'tensor':0}]",
                      "{'swap_in':0},{'run':1}",
                      "steps[1]: op 1 \"e2\" needs tensor 0 \"t\" as op 0 \"e\" leaves it");
}

void suite_verifier_updates(void) {
    RP_SUITE("verifier_updates");
    RP_TEST(a_source_on_the_host_comes_in_and_goes_out_after_its_update);
    RP_TEST(homes_that_are_wrong_are_rejected);
    RP_TEST(an_op_that_finds_a_source_in_the_wrong_version_is_rejected);
    RP_TEST(ordered_ops_in_another_order_are_rejected);
    RP_TEST(freeing_a_held_tensor_is_rejected);
    RP_TEST(a_host_copy_that_is_out_of_date_is_rejected);
    RP_TEST(outputs_that_cannot_be_rewritten_are_workspace);
    RP_TEST(an_output_left_alone_may_not_be_under_way);
    RP_TEST(each_output_left_alone_is_rounded_up);
    RP_TEST(an_update_waits_for_a_swap_out);
}
