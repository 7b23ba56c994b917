/* Each rule of src/verify/check_steps.c has a plan here that breaks only this rule.
 * tools/mutate.sh disables the rules one by one and expects this suite to fail. */
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

/* ---- what is accepted ---- */

static void a_valid_plan_gives_its_facts(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 100);
    CU_ASSERT_EQUAL(w.v.baseline_time_ns, 100);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 36);
    CU_ASSERT_EQUAL(w.v.arena_used_bytes, 28);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 0);
    CU_ASSERT_EQUAL(w.v.n_runs, 4);
    CU_ASSERT_EQUAL(w.v.n_reruns, 0);
    rp_world_close(&w);
}

static void unused_memory_is_allowed(void) {
    rp_expect_plan("'budget_bytes':100,'addressed':true,'arena_bytes':30,'host_bytes':7",
                   ALL, NULL);
}

static void without_addresses_sizes_are_not_rounded(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SUM, "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}");
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 8 + 26);
    CU_ASSERT_EQUAL(w.v.arena_used_bytes, 26);
    rp_world_close(&w);
}

static void a_rerun_is_counted_and_outputs_still_there_keep_their_address(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net,
                  "'budget_bytes':44,'addressed':true,'arena_bytes':36,'host_bytes':0",
                  A "," B "," C
                    ",{'free':3},{'run':1,'at':[null,16],'workspace_at':28}," FREE_Y "," D);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 120);
    CU_ASSERT_EQUAL(w.v.recompute_ns, 20);
    CU_ASSERT_EQUAL(w.v.n_reruns, 1);
    CU_ASSERT_EQUAL(w.v.n_runs, 5);
    rp_world_close(&w);
}

/* x is copied out from 10 to 36 (26 = 10 + 8 bytes at half a byte a ns). c ends at 60. The
 * free of x at 30 waits until 36, a stall of 6 ns. x is copied in from 66, when c ends, to
 * 84 (18 = 10 + 8), so d waits 18 ns. */
static void copies_overlap_runs_and_waits_count_as_stall(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES,
                  A ",{'swap_out':1,'host_at':4}," B ",{'free':1}," C ",{'free':2},"
                    "{'swap_in':1,'at':0}," D);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 124);
    CU_ASSERT_EQUAL(w.v.stall_ns, 24);
    CU_ASSERT_EQUAL(w.v.recompute_ns, 0);
    CU_ASSERT_EQUAL(w.v.d2h_busy_ns, 26);
    CU_ASSERT_EQUAL(w.v.h2d_busy_ns, 18);
    CU_ASSERT_EQUAL(w.v.swapped_out_bytes, 8);
    CU_ASSERT_EQUAL(w.v.swapped_in_bytes, 8);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 12);
    CU_ASSERT_EQUAL(w.v.n_swap_outs, 1);
    CU_ASSERT_EQUAL(w.v.n_swap_ins, 1);
    rp_world_close(&w);
}

/* The copy of y (6 bytes, 22 ns) waits for that of x: x goes out from 30 to 56, y from 56
 * to 78. The free of y waits for that. */
static void copies_in_one_direction_queue_up(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES,
                  A "," B ",{'swap_out':1,'host_at':0},{'swap_out':2,'host_at':8}," C
                    "," FREE_Y "," D);
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 118);
    CU_ASSERT_EQUAL(w.v.stall_ns, 18);
    CU_ASSERT_EQUAL(w.v.d2h_busy_ns, 48);
    rp_world_close(&w);
}

static void a_copy_that_ends_after_the_last_run_determines_the_time(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL ",{'swap_out':5,'host_at':0}");
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 118);
    rp_world_close(&w);
    rp_world_open(&w, rp_net, SIZES,
                  ALL ",{'swap_out':5,'host_at':0},{'free':5},{'swap_in':5,'at':8}");
    rp_expect_verdict(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 132);
    CU_ASSERT_EQUAL(w.v.stall_ns, 18);
    rp_world_close(&w);
}

static void a_swap_in_overlaps_a_run_that_does_not_read_it(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net,
                  "'budget_bytes':44,'addressed':true,'arena_bytes':36,'host_bytes':8",
                  A ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':0}," B
                    ",{'free':1},{'swap_in':1,'at':28}," C "," FREE_Y "," D);
    rp_expect_verdict(&w, NULL);
    /* a runs 0..10, x goes out 10..36, its free waits 26, x comes in 36..54, so b waits 18
     * and runs 54..74. The second swap-in, 74..92, overlaps c, 74..104. d runs 104..144. */
    CU_ASSERT_EQUAL(w.v.time_ns, 144);
    CU_ASSERT_EQUAL(w.v.stall_ns, 44);
    CU_ASSERT_EQUAL(w.v.swapped_out_bytes, 8);
    CU_ASSERT_EQUAL(w.v.swapped_in_bytes, 16);
    CU_ASSERT_EQUAL(w.v.h2d_busy_ns, 36);
    rp_world_close(&w);
}

static void tensors_without_bytes_take_no_memory(void) {
    static const char empty[] =
        "{'format':'remat-graph','version':1,'name':'e','time_source':'none',"
        "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1,'d2h_bytes_per_s':1},"
        "'tensors':[{'name':'p','bytes':8,'kind':'activation'},"
        "{'name':'q','bytes':0,'kind':'activation'}],'ops':["
        "{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':0},"
        "{'name':'g','kind':'k','inputs':[0],'outputs':[1],'time_ns':0}],'keep':[]}";
#define EMPTY "'budget_bytes':8,'addressed':true,'arena_bytes':8,'host_bytes':8"
    rp_expect_plan_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[4]},{'free':1}",
                      NULL);
    rp_expect_plan_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[8]},{'free':1}",
                      NULL);
    rp_expect_plan_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[12]}",
                      "steps[1]: tensor 1 \"q\": 0 bytes at 12 end beyond arena_bytes 8");
    rp_expect_plan_of(empty, EMPTY,
                      "{'run':0,'at':[0]},{'run':1,'at':[4]},{'swap_out':0,'host_at':0},"
                      "{'swap_out':1,'host_at':4}",
                      NULL);
    rp_expect_plan_of(empty, EMPTY,
                      "{'run':0,'at':[0]},{'run':1,'at':[4]},{'swap_out':1,'host_at':0},"
                      "{'swap_out':0,'host_at':0}",
                      NULL);
}

/* ---- what the plan is for ---- */

static void a_plan_for_another_graph_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    w.p.graph_sha256[0] ^= 1;
    char *why = rp_format("graph: the plan is for \"net\" (sha256 %.12s...), this graph is "
                          "\"net\" (sha256 %.12s...)",
                          w.p.graph_sha256, w.g.sha256);
    rp_expect_verdict(&w, why);
    free(why);
    w.p.graph_sha256[0] ^= 1;
    w.p.graph_name[0] = 'm';
    rp_expect_verdict(&w, "graph: the plan is for \"met\", the graph is \"net\"");
    rp_world_close(&w);
}

static void a_budget_below_the_sources_is_rejected(void) {
    static const char idle[] =
        "{'format':'remat-graph','version':1,'name':'i','time_source':'none',"
        "'tensors':[{'name':'w','bytes':8,'kind':'parameter'}],'ops':[],'keep':[]}";
    rp_expect_plan_of(idle,
                      "'budget_bytes':8,'addressed':false,'arena_bytes':0,'host_bytes':0",
                      "", NULL);
    rp_expect_plan_of(idle,
                      "'budget_bytes':7,'addressed':false,'arena_bytes':0,'host_bytes':0",
                      "", "budget_bytes: 7 is less than the 8 bytes of the sources");
}

static void an_arena_over_the_budget_is_rejected(void) {
    rp_expect_plan("'budget_bytes':36,'addressed':true,'arena_bytes':32,'host_bytes':0",
                   ALL,
                   "arena_bytes: 32 and the 8 bytes of the sources exceed budget_bytes 36");
}

/* ---- each step ---- */

static void steps_with_unknown_ids_are_rejected(void) {
    rp_expect_plan(SIZES, A ",{'run':4,'at':[8]}", "steps[1]: no op 4");
    rp_expect_plan(SIZES, A ",{'free':6}", "steps[1]: no tensor 6");
    rp_expect_plan(SIZES, A ",{'swap_out':4000000000,'host_at':0}",
                   "steps[1]: no tensor 4000000000");
    rp_expect_plan(SIZES, "{'swap_in':6,'at':0}", "steps[0]: no tensor 6");
}

static void rerunning_a_run_once_op_is_rejected(void) {
    rp_expect_plan(SIZES, A "," B "," C ",{'run':2,'at':[null]}," FREE_Y "," D,
                   "steps[3]: op 2 \"c\" runs again, though its recompute is false");
}

static void reading_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    rp_expect_plan(SIZES, A "," B ",{'free':1}," C "," FREE_Y "," D,
                   "steps[5]: op 3 \"d\" reads tensor 1 \"x\", which is not on the device");
    rp_expect_plan(SIZES, B,
                   "steps[0]: op 1 \"b\" reads tensor 1 \"x\", which is not on the device");
}

static void a_wrong_number_of_addresses_is_rejected(void) {
    rp_expect_plan(SIZES, A ",{'run':1,'at':[8],'workspace_at':20}",
                   "steps[1]: op 1 \"b\" has 2 outputs, 'at' has 1 addresses");
    rp_expect_plan(SIZES, "{'run':0}",
                   "steps[0]: op 0 \"a\" has 1 outputs, 'at' has 0 addresses");
    rp_expect_plan(SIZES, A ",{'run':0}," B "," C "," FREE_Y "," D,
                   "steps[1]: op 0 \"a\" has 1 outputs, 'at' has 0 addresses");
}

static void a_second_address_for_a_tensor_on_the_device_is_rejected(void) {
    rp_expect_plan(
        SIZES, A ",{'run':0,'at':[0]}," B "," C "," FREE_Y "," D,
        "steps[1]: tensor 1 \"x\" is on the device already: its address must be null");
    rp_expect_plan(SIZES, A ",{'run':0,'at':[null]}," B "," C "," FREE_Y "," D, NULL);
}

static void storage_without_an_address_is_rejected(void) {
    rp_expect_plan(SIZES, "{'run':0,'at':[null]}," B "," C "," FREE_Y "," D,
                   "steps[0]: tensor 1 \"x\" has no address");
    rp_expect_plan(SIZES, A ",{'run':1,'at':[8,16]}," C "," FREE_Y "," D,
                   "steps[1]: the workspace of op 1 \"b\" has no address");
    rp_expect_plan(SIZES, ALL ",{'swap_out':5}",
                   "steps[5]: the host copy of tensor 5 \"v\" has no address");
    rp_expect_plan(SIZES, ALL ",{'swap_out':5,'host_at':0},{'free':5},{'swap_in':5}",
                   "steps[7]: tensor 5 \"v\" has no address");
}

static void a_workspace_address_for_an_op_without_workspace_is_rejected(void) {
    rp_expect_plan(SIZES, "{'run':0,'at':[0],'workspace_at':8}," B "," C "," FREE_Y "," D,
                   "steps[0]: op 0 \"a\" has no workspace to put at workspace_at");
}

static void an_address_off_the_alignment_is_rejected(void) {
    rp_expect_plan(SIZES, "{'run':0,'at':[2]}",
                   "steps[0]: tensor 1 \"x\": address 2 is no multiple of 4");
    rp_expect_plan(
        SIZES, ALL ",{'swap_out':5,'host_at':3}",
        "steps[5]: the host copy of tensor 5 \"v\": address 3 is no multiple of 4");
}

static void storage_beyond_the_arena_or_slab_is_rejected(void) {
    rp_expect_plan(SIZES, "{'run':0,'at':[24]}",
                   "steps[0]: tensor 1 \"x\": 8 bytes at 24 end beyond arena_bytes 28");
    rp_expect_plan(
        SIZES, A ",{'run':1,'at':[8,16],'workspace_at':24}",
        "steps[1]: the workspace of op 1 \"b\": 8 bytes at 24 end beyond arena_bytes 28");
    rp_expect_plan(SIZES, ALL ",{'swap_out':5,'host_at':16}",
                   "steps[5]: the host copy of tensor 5 \"v\": 4 bytes at 16 end beyond "
                   "host_bytes 16");
    rp_expect_plan(SIZES, ALL ",{'swap_out':5,'host_at':12}", NULL);
    rp_expect_plan(SIZES, "{'run':0,'at':[9223372036854775804]}",
                   "steps[0]: tensor 1 \"x\": 8 bytes at 9223372036854775804 end beyond "
                   "arena_bytes 28");
}

static void an_address_that_would_overflow_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    w.p.at.at[0] = UINT64_MAX - 3;
    rp_expect_verdict(
        &w, "steps[0]: tensor 1 \"x\": 8 bytes at 18446744073709551612 end beyond "
            "arena_bytes 28");
    rp_world_close(&w);
}

static void live_ranges_that_overlap_are_rejected(void) {
    rp_expect_plan(SIZES, A ",{'run':1,'at':[4,16],'workspace_at':20}",
                   "steps[1]: tensor 2 \"y\": bytes 4..12 overlap tensor 1 \"x\" at 0..8");
    rp_expect_plan(
        SIZES, A ",{'run':1,'at':[8,12],'workspace_at':20}",
        "steps[1]: tensor 3 \"z\": bytes 12..16 overlap tensor 2 \"y\" at 8..16");
    rp_expect_plan(SIZES, A ",{'run':1,'at':[8,16],'workspace_at':16}",
                   "steps[1]: the workspace of op 1 \"b\": bytes 16..24 overlap "
                   "tensor 3 \"z\" at 16..20");
    rp_expect_plan(SIZES, A "," B "," C "," D,
                   "steps[3]: tensor 5 \"v\": bytes 8..12 overlap tensor 2 \"y\" at 8..16");
    rp_expect_plan(
        SIZES, A "," B ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':12}",
        "steps[4]: tensor 1 \"x\": bytes 12..20 overlap tensor 2 \"y\" at 8..16");
}

static void host_copies_that_overlap_are_rejected(void) {
    rp_expect_plan(SIZES, A "," B ",{'swap_out':1,'host_at':4},{'swap_out':3,'host_at':8}",
                   "steps[3]: the host copy of tensor 3 \"z\": bytes 8..12 overlap "
                   "tensor 1 \"x\" at 4..12");
    rp_expect_plan(SIZES,
                   A "," B ",{'swap_out':1,'host_at':4},{'swap_out':3,'host_at':12}," C
                     "," FREE_Y "," D,
                   NULL);
}

static void more_live_than_the_budget_is_rejected(void) {
    rp_expect_plan("'budget_bytes':33,'addressed':false,'arena_bytes':26,'host_bytes':0",
                   "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}",
                   "steps[2]: 34 bytes live, over budget_bytes 33");
    rp_expect_plan("'budget_bytes':30,'addressed':false,'arena_bytes':23,'host_bytes':0",
                   "{'run':0},{'run':1}", "steps[1]: 31 bytes live, over budget_bytes 30");
    rp_expect_plan("'budget_bytes':34,'addressed':false,'arena_bytes':26,'host_bytes':0",
                   "{'run':0},{'run':1},{'swap_out':1},{'free':1},{'run':2},{'swap_in':1},"
                   "{'free':2},{'run':3}",
                   NULL);
    rp_expect_plan("'budget_bytes':33,'addressed':false,'arena_bytes':26,'host_bytes':0",
                   "{'run':0},{'run':1},{'swap_out':1},{'free':1},{'run':2},{'swap_in':1},"
                   "{'free':2},{'run':3}",
                   "steps[5]: 34 bytes live, over budget_bytes 33");
}

static void an_address_in_a_plan_without_addresses_is_rejected(void) {
    const char why[] = "steps[0]: an address, in a plan without addresses";
    rp_expect_plan(SUM, A, why);
    rp_expect_plan(SUM, "{'run':0,'at':[]}", why);
    rp_expect_plan(SUM, "{'run':0,'at':[null]}", why);
    rp_expect_plan(SUM, "{'run':1,'workspace_at':0}", why);
    rp_expect_plan(SUM, "{'swap_out':1,'host_at':0}", why);
    rp_expect_plan(SUM, "{'swap_in':1,'at':0}", why);
}

static void freeing_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    rp_expect_plan(SIZES, A ",{'free':1},{'free':1}",
                   "steps[2]: tensor 1 \"x\" is freed, but not on the device");
    rp_expect_plan(SIZES, "{'free':5}",
                   "steps[0]: tensor 5 \"v\" is freed, but not on the device");
}

static void freeing_or_swapping_a_source_is_rejected(void) {
    rp_expect_plan(SIZES, "{'free':0}",
                   "steps[0]: tensor 0 \"w\" is a source: it cannot be freed");
    rp_expect_plan(SIZES, "{'swap_out':0,'host_at':0}",
                   "steps[0]: tensor 0 \"w\" is a source: it cannot be swapped");
    rp_expect_plan(SIZES, "{'swap_in':0,'at':0}",
                   "steps[0]: tensor 0 \"w\" is a source: it cannot be swapped");
}

static void freeing_a_tensor_during_its_swap_in_is_rejected(void) {
    rp_expect_plan(
        SIZES, A ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':0},{'free':1}",
        "steps[4]: tensor 1 \"x\" is freed at 36 ns, while its swap-in is under way "
        "until 54 ns");
}

static void recomputing_a_tensor_during_its_swap_in_is_rejected(void) {
    rp_expect_plan(
        SIZES,
        A ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':0},"
          "{'run':0,'at':[null]}",
        "steps[4]: op 0 \"a\" makes tensor 1 \"x\" again at 36 ns, while its swap-in is "
        "under way until 54 ns");
}

static void a_swap_without_both_bandwidths_is_rejected(void) {
    static const char *const speed[] = {"'h2d_bytes_per_s':1000000000,",
                                        "'d2h_bytes_per_s':500000000,"};
    for (int k = 0; k < 2; k++) {
        const char *at = strstr(rp_net, speed[k]);
        char *graph =
            rp_format("%.*s%s", (int)(at - rp_net), rp_net, at + strlen(speed[k]));
        rp_expect_plan_of(graph, SIZES, ALL, NULL);
        rp_expect_plan_of(graph, SIZES, ALL ",{'swap_out':5,'host_at':0}",
                          "steps[5]: a swap, but the graph's device does not state both "
                          "bandwidths");
        free(graph);
    }
}

static void swapping_out_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    rp_expect_plan(SIZES, "{'swap_out':1,'host_at':0}",
                   "steps[0]: tensor 1 \"x\" is swapped out, but not on the device");
}

static void swapping_out_twice_is_rejected(void) {
    rp_expect_plan(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_out':1,'host_at':8}",
                   "steps[2]: tensor 1 \"x\" is swapped out a second time");
}

static void swapping_in_a_tensor_without_a_host_copy_is_rejected(void) {
    rp_expect_plan(SIZES, A ",{'free':1},{'swap_in':1,'at':0}",
                   "steps[2]: tensor 1 \"x\" is swapped in, but has no host copy");
}

static void swapping_in_a_tensor_that_is_on_the_device_is_rejected(void) {
    rp_expect_plan(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_in':1,'at':8}",
                   "steps[2]: tensor 1 \"x\" is swapped in, but on the device already");
}

/* ---- the end of the step, and the claims ---- */

static void an_op_that_never_runs_is_rejected(void) {
    rp_expect_plan(SIZES, A "," B "," C, "steps: op 3 \"d\" never runs");
    rp_expect_plan(SIZES, "", "steps: op 0 \"a\" never runs");
}

static void a_kept_tensor_that_is_gone_is_rejected(void) {
    rp_expect_plan(SIZES, ALL ",{'free':5}",
                   "steps: tensor 5 \"v\" is to be kept, but not there at the end");
}

static void an_arena_that_is_not_the_peak_of_the_sum_is_rejected(void) {
    static const char steps[] = "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}";
    struct rp_world w;
    rp_world_open(&w, rp_net, SUM, steps);
    w.p.budget_bytes = 100;
    rp_expect_verdict(&w, NULL);
    w.p.arena_bytes = 27;
    rp_expect_verdict(&w, "arena_bytes: 27 is not 26, the most that is live at once");
    w.p.arena_bytes = 25;
    rp_expect_verdict(&w, "arena_bytes: 25 is not 26, the most that is live at once");
    rp_world_close(&w);
}

static void a_wrong_claim_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES,
                  A ",{'swap_out':1,'host_at':0}," B ",{'free':1}," C ",{'free':2},"
                    "{'run':0,'at':[0]}," D);
    struct rp_claims *c = &w.p.claims;
    rp_expect_verdict(&w, NULL);
    c->time_ns--;
    rp_expect_verdict(&w, "claims: time_ns is 115, but the steps give 116");
    c->time_ns++, c->baseline_time_ns++;
    rp_expect_verdict(&w, "claims: baseline_time_ns is 101, but the steps give 100");
    c->baseline_time_ns--, c->recompute_ns = 0;
    rp_expect_verdict(&w, "claims: recompute_ns is 0, but the steps give 10");
    c->recompute_ns = 10, c->stall_ns = 5;
    rp_expect_verdict(&w, "claims: stall_ns is 5, but the steps give 6");
    c->stall_ns = 6, c->peak_bytes++;
    rp_expect_verdict(&w, "claims: peak_bytes is 37, but the steps give 36");
    c->peak_bytes--, c->lower_bound_ns = 117;
    rp_expect_verdict(&w, "claims: lower_bound_ns 117 is above the time 116");
    c->lower_bound_ns = 116;
    rp_expect_verdict(&w, NULL);
    rp_world_close(&w);
}

/* Version 1 allows more memory than is used, and any proof. */
static void sizes_that_are_not_what_is_used_are_rejected(void) {
    static const char swap[] = A ",{'swap_out':1,'host_at':4}," B "," C "," FREE_Y "," D;
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, swap);
    rp_expect_verdict(&w, NULL);
    w.p.version_1 = false;
    rp_expect_verdict(&w, "host_bytes: 16 is not 12, where the last host copy ends");
    w.p.host_bytes = 12;
    rp_expect_verdict(&w, NULL);
    w.p.budget_bytes = 40;
    w.p.arena_bytes = 32;
    rp_expect_verdict(&w,
                      "arena_bytes: 32 is not 28, where the last tensor or workspace ends");
    w.p.version_1 = true;
    rp_expect_verdict(&w, NULL);
    rp_world_close(&w);
    rp_world_open(&w, rp_net, SUM,
                  "{'run':0},{'swap_out':1},{'run':1},{'run':2},{'free':2},{'run':3}");
    rp_expect_verdict(&w, NULL);
    w.p.version_1 = false;
    rp_expect_verdict(&w, "host_bytes: 0 is not 8, the sum of all host copies");
    w.p.host_bytes = 8;
    rp_expect_verdict(&w, NULL);
    rp_world_close(&w);
}

static void a_proof_that_does_not_follow_from_the_bound_is_rejected(void) {
    static const struct {
        uint64_t bound_ns;
        enum rp_proof proof, right;
    } cases[] = {
        {116, RP_PROOF_BOUNDED, RP_PROOF_OPTIMAL},
        {115, RP_PROOF_OPTIMAL, RP_PROOF_BOUNDED},
        {101, RP_PROOF_NONE, RP_PROOF_BOUNDED},
        {100, RP_PROOF_BOUNDED, RP_PROOF_NONE},
        {0, RP_PROOF_OPTIMAL, RP_PROOF_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_world w;
        rp_world_open(&w, rp_net,
                      "'budget_bytes':36,'addressed':true,'arena_bytes':28,'host_bytes':8",
                      A ",{'swap_out':1,'host_at':0}," B ",{'free':1}," C ",{'free':2},"
                        "{'run':0,'at':[0]}," D);
        w.p.claims.lower_bound_ns = cases[i].bound_ns;
        w.p.claims.proof = cases[i].proof;
        rp_expect_verdict(&w, NULL);
        w.p.version_1 = false;
        char *why = rp_format("claims: proof is %s, but lower_bound_ns makes it %s",
                              rp_proof_word[cases[i].proof], rp_proof_word[cases[i].right]);
        rp_expect_verdict(&w, why);
        free(why);
        w.p.claims.proof = cases[i].right;
        rp_expect_verdict(&w, NULL);
        rp_world_close(&w);
    }
}

void suite_verifier(void) {
    RP_SUITE("verifier");
    RP_TEST(a_valid_plan_gives_its_facts);
    RP_TEST(unused_memory_is_allowed);
    RP_TEST(without_addresses_sizes_are_not_rounded);
    RP_TEST(a_rerun_is_counted_and_outputs_still_there_keep_their_address);
    RP_TEST(copies_overlap_runs_and_waits_count_as_stall);
    RP_TEST(copies_in_one_direction_queue_up);
    RP_TEST(a_copy_that_ends_after_the_last_run_determines_the_time);
    RP_TEST(a_swap_in_overlaps_a_run_that_does_not_read_it);
    RP_TEST(tensors_without_bytes_take_no_memory);
    RP_TEST(a_plan_for_another_graph_is_rejected);
    RP_TEST(a_budget_below_the_sources_is_rejected);
    RP_TEST(an_arena_over_the_budget_is_rejected);
    RP_TEST(steps_with_unknown_ids_are_rejected);
    RP_TEST(rerunning_a_run_once_op_is_rejected);
    RP_TEST(reading_a_tensor_that_is_not_on_the_device_is_rejected);
    RP_TEST(a_wrong_number_of_addresses_is_rejected);
    RP_TEST(a_second_address_for_a_tensor_on_the_device_is_rejected);
    RP_TEST(storage_without_an_address_is_rejected);
    RP_TEST(a_workspace_address_for_an_op_without_workspace_is_rejected);
    RP_TEST(an_address_off_the_alignment_is_rejected);
    RP_TEST(storage_beyond_the_arena_or_slab_is_rejected);
    RP_TEST(an_address_that_would_overflow_is_rejected);
    RP_TEST(live_ranges_that_overlap_are_rejected);
    RP_TEST(host_copies_that_overlap_are_rejected);
    RP_TEST(more_live_than_the_budget_is_rejected);
    RP_TEST(an_address_in_a_plan_without_addresses_is_rejected);
    RP_TEST(freeing_a_tensor_that_is_not_on_the_device_is_rejected);
    RP_TEST(freeing_or_swapping_a_source_is_rejected);
    RP_TEST(freeing_a_tensor_during_its_swap_in_is_rejected);
    RP_TEST(recomputing_a_tensor_during_its_swap_in_is_rejected);
    RP_TEST(a_swap_without_both_bandwidths_is_rejected);
    RP_TEST(swapping_out_a_tensor_that_is_not_on_the_device_is_rejected);
    RP_TEST(swapping_out_twice_is_rejected);
    RP_TEST(swapping_in_a_tensor_without_a_host_copy_is_rejected);
    RP_TEST(swapping_in_a_tensor_that_is_on_the_device_is_rejected);
    RP_TEST(an_op_that_never_runs_is_rejected);
    RP_TEST(a_kept_tensor_that_is_gone_is_rejected);
    RP_TEST(an_arena_that_is_not_the_peak_of_the_sum_is_rejected);
    RP_TEST(a_wrong_claim_is_rejected);
    RP_TEST(sizes_that_are_not_what_is_used_are_rejected);
    RP_TEST(a_proof_that_does_not_follow_from_the_bound_is_rejected);
}
