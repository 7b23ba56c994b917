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
#include "verify/queue_clocks.h"
#include "verify/verifier.h"

/* Expects the verdict "no" with this reason (NULL: "yes"), and the same verdict of the
 * naive checker. */
static void judge(struct rp_world *w, const char *why) {
    w->err.msg[0] = '\0';
    rp_rc rc = rp_verify(&w->g, &w->p, &w->v, &w->err);
    CU_ASSERT_EQUAL(rc, why == NULL ? RP_OK : RP_NO);
    CU_ASSERT_STRING_EQUAL(w->err.msg, why == NULL ? "" : why);
    if (strcmp(w->err.msg, why == NULL ? "" : why) != 0)
        printf("said: %s\n", w->err.msg);
    CU_ASSERT_EQUAL(rp_naive_valid(&w->g, &w->p), why == NULL);
}

static void expect_of(const char *graph, const char *sizes, const char *steps,
                      const char *why) {
    struct rp_world w;
    rp_world_open(&w, graph, sizes, steps);
    judge(&w, why);
    rp_world_close(&w);
}

static void expect(const char *sizes, const char *steps, const char *why) {
    expect_of(rp_net, sizes, steps, why);
}

/* ---- what is accepted ---- */

static void a_valid_plan_gives_its_facts(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    judge(&w, NULL);
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
    expect("'budget_bytes':100,'addressed':true,'arena_bytes':30,'host_bytes':7", ALL,
           NULL);
}

static void without_addresses_sizes_are_not_rounded(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SUM, "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}");
    judge(&w, NULL);
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
    judge(&w, NULL);
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
    judge(&w, NULL);
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
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 118);
    CU_ASSERT_EQUAL(w.v.stall_ns, 18);
    CU_ASSERT_EQUAL(w.v.d2h_busy_ns, 48);
    rp_world_close(&w);
}

static void a_copy_that_ends_after_the_last_run_determines_the_time(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL ",{'swap_out':5,'host_at':0}");
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 118);
    rp_world_close(&w);
    rp_world_open(&w, rp_net, SIZES,
                  ALL ",{'swap_out':5,'host_at':0},{'free':5},{'swap_in':5,'at':8}");
    judge(&w, NULL);
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
    judge(&w, NULL);
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
    expect_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[4]},{'free':1}", NULL);
    expect_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[8]},{'free':1}", NULL);
    expect_of(empty, EMPTY, "{'run':0,'at':[0]},{'run':1,'at':[12]}",
              "steps[1]: tensor 1 \"q\": 0 bytes at 12 end beyond arena_bytes 8");
    expect_of(empty, EMPTY,
              "{'run':0,'at':[0]},{'run':1,'at':[4]},{'swap_out':0,'host_at':0},"
              "{'swap_out':1,'host_at':4}",
              "steps[3]: the host copy of tensor 1 \"q\": bytes 4..4 overlap "
              "tensor 0 \"p\" at 0..8");
    expect_of(empty, EMPTY,
              "{'run':0,'at':[0]},{'run':1,'at':[4]},{'swap_out':1,'host_at':0},"
              "{'swap_out':0,'host_at':0}",
              NULL);
}

/* ---- what the plan is for ---- */

static void a_plan_for_another_graph_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    w.p.graph_sha256[0] ^= 1;
    char *why = rp_format("graph: the plan is for sha256 %s, the graph has %s",
                          w.p.graph_sha256, w.g.sha256);
    judge(&w, why);
    free(why);
    w.p.graph_sha256[0] ^= 1;
    w.p.graph_name[0] = 'm';
    judge(&w, "graph: the plan is for \"met\", the graph is \"net\"");
    rp_world_close(&w);
}

static void a_budget_below_the_sources_is_rejected(void) {
    static const char idle[] =
        "{'format':'remat-graph','version':1,'name':'i','time_source':'none',"
        "'tensors':[{'name':'w','bytes':8,'kind':'parameter'}],'ops':[],'keep':[]}";
    expect_of(idle, "'budget_bytes':8,'addressed':false,'arena_bytes':0,'host_bytes':0", "",
              NULL);
    expect_of(idle, "'budget_bytes':7,'addressed':false,'arena_bytes':0,'host_bytes':0", "",
              "budget_bytes: 7 is less than the 8 bytes of the sources");
}

static void an_arena_over_the_budget_is_rejected(void) {
    expect("'budget_bytes':36,'addressed':true,'arena_bytes':32,'host_bytes':0", ALL,
           "arena_bytes: 32 and the 8 bytes of the sources exceed budget_bytes 36");
}

/* ---- each step ---- */

static void steps_with_unknown_ids_are_rejected(void) {
    expect(SIZES, A ",{'run':4,'at':[8]}", "steps[1]: no op 4");
    expect(SIZES, A ",{'free':6}", "steps[1]: no tensor 6");
    expect(SIZES, A ",{'swap_out':4000000000,'host_at':0}",
           "steps[1]: no tensor 4000000000");
    expect(SIZES, "{'swap_in':6,'at':0}", "steps[0]: no tensor 6");
}

static void rerunning_a_run_once_op_is_rejected(void) {
    expect(SIZES, A "," B "," C ",{'run':2,'at':[null]}," FREE_Y "," D,
           "steps[3]: op 2 \"c\" runs again, though its recompute is false");
}

static void reading_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    expect(SIZES, A "," B ",{'free':1}," C "," FREE_Y "," D,
           "steps[5]: op 3 \"d\" reads tensor 1 \"x\", which is not on the device");
    expect(SIZES, B,
           "steps[0]: op 1 \"b\" reads tensor 1 \"x\", which is not on the device");
}

static void a_wrong_number_of_addresses_is_rejected(void) {
    expect(SIZES, A ",{'run':1,'at':[8],'workspace_at':20}",
           "steps[1]: op 1 \"b\" has 2 outputs, 'at' has 1 addresses");
    expect(SIZES, "{'run':0}", "steps[0]: op 0 \"a\" has 1 outputs, 'at' has 0 addresses");
    expect(SIZES, A ",{'run':0}," B "," C "," FREE_Y "," D,
           "steps[1]: op 0 \"a\" has 1 outputs, 'at' has 0 addresses");
}

static void a_second_address_for_a_tensor_on_the_device_is_rejected(void) {
    expect(SIZES, A ",{'run':0,'at':[0]}," B "," C "," FREE_Y "," D,
           "steps[1]: tensor 1 \"x\" is on the device already: its address must be null");
    expect(SIZES, A ",{'run':0,'at':[null]}," B "," C "," FREE_Y "," D, NULL);
}

static void storage_without_an_address_is_rejected(void) {
    expect(SIZES, "{'run':0,'at':[null]}," B "," C "," FREE_Y "," D,
           "steps[0]: tensor 1 \"x\" has no address");
    expect(SIZES, A ",{'run':1,'at':[8,16]}," C "," FREE_Y "," D,
           "steps[1]: the workspace of op 1 \"b\" has no address");
    expect(SIZES, ALL ",{'swap_out':5}",
           "steps[5]: the host copy of tensor 5 \"v\" has no address");
    expect(SIZES, ALL ",{'swap_out':5,'host_at':0},{'free':5},{'swap_in':5}",
           "steps[7]: tensor 5 \"v\" has no address");
}

static void a_workspace_address_for_an_op_without_workspace_is_rejected(void) {
    expect(SIZES, "{'run':0,'at':[0],'workspace_at':8}," B "," C "," FREE_Y "," D,
           "steps[0]: op 0 \"a\" has no workspace to put at workspace_at");
}

static void an_address_off_the_alignment_is_rejected(void) {
    expect(SIZES, "{'run':0,'at':[2]}",
           "steps[0]: tensor 1 \"x\": address 2 is no multiple of 4");
    expect(SIZES, ALL ",{'swap_out':5,'host_at':3}",
           "steps[5]: the host copy of tensor 5 \"v\": address 3 is no multiple of 4");
}

static void storage_beyond_the_arena_or_slab_is_rejected(void) {
    expect(SIZES, "{'run':0,'at':[24]}",
           "steps[0]: tensor 1 \"x\": 8 bytes at 24 end beyond arena_bytes 28");
    expect(
        SIZES, A ",{'run':1,'at':[8,16],'workspace_at':24}",
        "steps[1]: the workspace of op 1 \"b\": 8 bytes at 24 end beyond arena_bytes 28");
    expect(SIZES, ALL ",{'swap_out':5,'host_at':16}",
           "steps[5]: the host copy of tensor 5 \"v\": 4 bytes at 16 end beyond "
           "host_bytes 16");
    expect(SIZES, ALL ",{'swap_out':5,'host_at':12}", NULL);
    expect(SIZES, "{'run':0,'at':[9223372036854775804]}",
           "steps[0]: tensor 1 \"x\": 8 bytes at 9223372036854775804 end beyond "
           "arena_bytes 28");
}

static void an_address_that_would_overflow_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, ALL);
    w.p.at.at[0] = UINT64_MAX - 3;
    judge(&w, "steps[0]: tensor 1 \"x\": 8 bytes at 18446744073709551612 end beyond "
              "arena_bytes 28");
    rp_world_close(&w);
}

static void live_ranges_that_overlap_are_rejected(void) {
    expect(SIZES, A ",{'run':1,'at':[4,16],'workspace_at':20}",
           "steps[1]: tensor 2 \"y\": bytes 4..12 overlap tensor 1 \"x\" at 0..8");
    expect(SIZES, A ",{'run':1,'at':[8,12],'workspace_at':20}",
           "steps[1]: tensor 3 \"z\": bytes 12..16 overlap tensor 2 \"y\" at 8..16");
    expect(SIZES, A ",{'run':1,'at':[8,16],'workspace_at':16}",
           "steps[1]: the workspace of op 1 \"b\": bytes 16..24 overlap "
           "tensor 3 \"z\" at 16..20");
    expect(SIZES, A "," B "," C "," D,
           "steps[3]: tensor 5 \"v\": bytes 8..12 overlap tensor 2 \"y\" at 8..16");
    expect(SIZES, A "," B ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':12}",
           "steps[4]: tensor 1 \"x\": bytes 12..20 overlap tensor 2 \"y\" at 8..16");
}

static void host_copies_that_overlap_are_rejected(void) {
    expect(SIZES, A "," B ",{'swap_out':1,'host_at':4},{'swap_out':3,'host_at':8}",
           "steps[3]: the host copy of tensor 3 \"z\": bytes 8..12 overlap "
           "tensor 1 \"x\" at 4..12");
    expect(SIZES,
           A "," B ",{'swap_out':1,'host_at':4},{'swap_out':3,'host_at':12}," C "," FREE_Y
             "," D,
           NULL);
}

static void more_live_than_the_budget_is_rejected(void) {
    expect("'budget_bytes':33,'addressed':false,'arena_bytes':26,'host_bytes':0",
           "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}",
           "steps[2]: 34 bytes live, over budget_bytes 33");
    expect("'budget_bytes':30,'addressed':false,'arena_bytes':23,'host_bytes':0",
           "{'run':0},{'run':1}", "steps[1]: 31 bytes live, over budget_bytes 30");
    expect("'budget_bytes':34,'addressed':false,'arena_bytes':26,'host_bytes':0",
           "{'run':0},{'run':1},{'swap_out':1},{'free':1},{'run':2},{'swap_in':1},"
           "{'free':2},{'run':3}",
           NULL);
    expect("'budget_bytes':33,'addressed':false,'arena_bytes':26,'host_bytes':0",
           "{'run':0},{'run':1},{'swap_out':1},{'free':1},{'run':2},{'swap_in':1},"
           "{'free':2},{'run':3}",
           "steps[5]: 34 bytes live, over budget_bytes 33");
}

static void an_address_in_a_plan_without_addresses_is_rejected(void) {
    const char why[] = "steps[0]: an address, in a plan without addresses";
    expect(SUM, A, why);
    expect(SUM, "{'run':0,'at':[]}", why);
    expect(SUM, "{'run':0,'at':[null]}", why);
    expect(SUM, "{'run':1,'workspace_at':0}", why);
    expect(SUM, "{'swap_out':1,'host_at':0}", why);
    expect(SUM, "{'swap_in':1,'at':0}", why);
}

static void freeing_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    expect(SIZES, A ",{'free':1},{'free':1}",
           "steps[2]: tensor 1 \"x\" is freed, but not on the device");
    expect(SIZES, "{'free':5}", "steps[0]: tensor 5 \"v\" is freed, but not on the device");
}

static void freeing_or_swapping_a_source_is_rejected(void) {
    expect(SIZES, "{'free':0}", "steps[0]: tensor 0 \"w\" is a source: it cannot be freed");
    expect(SIZES, "{'swap_out':0,'host_at':0}",
           "steps[0]: tensor 0 \"w\" is a source: it cannot be swapped");
    expect(SIZES, "{'swap_in':0,'at':0}",
           "steps[0]: tensor 0 \"w\" is a source: it cannot be swapped");
}

static void freeing_a_tensor_during_its_swap_in_is_rejected(void) {
    expect(SIZES,
           A ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1,'at':0},{'free':1}",
           "steps[4]: tensor 1 \"x\" is freed at 36 ns, while its swap-in is under way "
           "until 54 ns");
}

static void recomputing_a_tensor_during_its_swap_in_is_rejected(void) {
    expect(SIZES,
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
        expect_of(graph, SIZES, ALL, NULL);
        expect_of(graph, SIZES, ALL ",{'swap_out':5,'host_at':0}",
                  "steps[5]: a swap, but the graph's device does not state both "
                  "bandwidths");
        free(graph);
    }
}

static void swapping_out_a_tensor_that_is_not_on_the_device_is_rejected(void) {
    expect(SIZES, "{'swap_out':1,'host_at':0}",
           "steps[0]: tensor 1 \"x\" is swapped out, but not on the device");
}

static void swapping_out_twice_is_rejected(void) {
    expect(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_out':1,'host_at':8}",
           "steps[2]: tensor 1 \"x\" is swapped out a second time");
}

static void swapping_in_a_tensor_without_a_host_copy_is_rejected(void) {
    expect(SIZES, A ",{'free':1},{'swap_in':1,'at':0}",
           "steps[2]: tensor 1 \"x\" is swapped in, but has no host copy");
}

static void swapping_in_a_tensor_that_is_on_the_device_is_rejected(void) {
    expect(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_in':1,'at':8}",
           "steps[2]: tensor 1 \"x\" is swapped in, but on the device already");
}

/* ---- the end of the step, and the claims ---- */

static void an_op_that_never_runs_is_rejected(void) {
    expect(SIZES, A "," B "," C, "steps: op 3 \"d\" never runs");
    expect(SIZES, "", "steps: op 0 \"a\" never runs");
}

static void a_kept_tensor_that_is_gone_is_rejected(void) {
    expect(SIZES, ALL ",{'free':5}",
           "steps: tensor 5 \"v\" is to be kept, but not there at the end");
}

static void an_arena_that_is_not_the_peak_of_the_sum_is_rejected(void) {
    static const char steps[] = "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}";
    struct rp_world w;
    rp_world_open(&w, rp_net, SUM, steps);
    w.p.budget_bytes = 100;
    judge(&w, NULL);
    w.p.arena_bytes = 27;
    judge(&w, "arena_bytes: 27 is not 26, the most that is live at once");
    w.p.arena_bytes = 25;
    judge(&w, "arena_bytes: 25 is not 26, the most that is live at once");
    rp_world_close(&w);
}

static void a_wrong_claim_is_rejected(void) {
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES,
                  A ",{'swap_out':1,'host_at':0}," B ",{'free':1}," C ",{'free':2},"
                    "{'run':0,'at':[0]}," D);
    struct rp_claims *c = &w.p.claims;
    judge(&w, NULL);
    c->time_ns--;
    judge(&w, "claims: time_ns is 115, but the steps give 116");
    c->time_ns++, c->baseline_time_ns++;
    judge(&w, "claims: baseline_time_ns is 101, but the steps give 100");
    c->baseline_time_ns--, c->recompute_ns = 0;
    judge(&w, "claims: recompute_ns is 0, but the steps give 10");
    c->recompute_ns = 10, c->stall_ns = 5;
    judge(&w, "claims: stall_ns is 5, but the steps give 6");
    c->stall_ns = 6, c->peak_bytes++;
    judge(&w, "claims: peak_bytes is 37, but the steps give 36");
    c->peak_bytes--, c->lower_bound_ns = 117;
    judge(&w, "claims: lower_bound_ns 117 is above the time 116");
    c->lower_bound_ns = 116;
    judge(&w, NULL);
    rp_world_close(&w);
}

/* Version 1 allows more memory than is used, and any proof. */
static void sizes_that_are_not_what_is_used_are_rejected(void) {
    static const char swap[] = A ",{'swap_out':1,'host_at':4}," B "," C "," FREE_Y "," D;
    struct rp_world w;
    rp_world_open(&w, rp_net, SIZES, swap);
    judge(&w, NULL);
    w.p.version_1 = false;
    judge(&w, "host_bytes: 16 is not 12, where the last host copy ends");
    w.p.host_bytes = 12;
    judge(&w, NULL);
    w.p.budget_bytes = 40;
    w.p.arena_bytes = 32;
    judge(&w, "arena_bytes: 32 is not 28, where the last tensor or workspace ends");
    w.p.version_1 = true;
    judge(&w, NULL);
    rp_world_close(&w);
    rp_world_open(&w, rp_net, SUM,
                  "{'run':0},{'swap_out':1},{'run':1},{'run':2},{'free':2},{'run':3}");
    judge(&w, NULL);
    w.p.version_1 = false;
    judge(&w, "host_bytes: 0 is not 8, the sum of all host copies");
    w.p.host_bytes = 8;
    judge(&w, NULL);
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
        judge(&w, NULL);
        w.p.version_1 = false;
        char *why = rp_format("claims: proof is %s, but lower_bound_ns makes it %s",
                              rp_proof_word[cases[i].proof], rp_proof_word[cases[i].right]);
        judge(&w, why);
        free(why);
        w.p.claims.proof = cases[i].right;
        judge(&w, NULL);
        rp_world_close(&w);
    }
}

/* ---- version 2: updates, sources on the host, held, ordered and rewrites ---- */

/* t comes in from 0 to 18, f runs to 10, g to 30, u to 60, h to 100, e to 105; t goes out
 * to 131 and its free waits for that. */
static void a_source_on_the_host_comes_in_and_goes_out_after_its_update(void) {
    struct rp_world w;
    rp_world_open(&w, rp_state, ROOM(T_HOME),
                  "{'swap_in':1,'at':28}," RUN_F "," RUN_G "," RUN_U "," RUN_H
                  ",{'run':4,'at':[]},{'swap_out':1,'host_at':0}," FREE_T);
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 131);
    CU_ASSERT_EQUAL(w.v.stall_ns, 26);
    CU_ASSERT_EQUAL(w.v.fixed_bytes, 16);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 8);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 8 + 4);
    rp_world_close(&w);
    /* s lives on the host too, and no op needs it. */
    rp_world_open(&w, rp_state, ROOM("[{'tensor':1,'host_at':0},{'tensor':2,'host_at':8}]"),
                  RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT);
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.fixed_bytes, 8);
    CU_ASSERT_EQUAL(w.v.host_used_bytes, 16);
    rp_world_close(&w);
}

static void homes_that_are_wrong_are_rejected(void) {
    const char *graph = rp_state;
#define REST RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT
    expect_of(graph, ROOM(T_HOME), REST, NULL);
    expect_of(graph, ROOM("[]"), REST, "homes: tensor 1 \"t\" has its home on the host");
    expect_of(graph, ROOM("[{'tensor':9,'host_at':0}]"), REST, "homes[0]: no tensor 9");
    expect_of(graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':0,'host_at':8}]"), REST,
              "homes[1]: tensor 0 \"w\" has its home on the device");
    expect_of(graph, ROOM("[{'tensor':3,'host_at':8}]"), REST,
              "homes[0]: tensor 3 \"x\" has its home on the device");
    expect_of(graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':1,'host_at':0}]"), REST,
              "homes[1]: tensor 1 \"t\" stands there twice");
    expect_of(graph, ROOM("[{'tensor':1}]"), REST,
              "homes[0]: the host copy of tensor 1 \"t\" has no address");
    expect_of(graph, ROOM("[{'tensor':1,'host_at':0},{'tensor':2,'host_at':4}]"), REST,
              "homes[1]: the host copy of tensor 2 \"s\": bytes 4..12 overlap tensor 1 "
              "\"t\" at 0..8");
    expect_of(graph, SUM_ROOM(T_HOME), "",
              "homes[0]: an address, in a plan without addresses");
    expect_of(graph, ROOM(T_HOME), REST ",{'free':2}",
              "steps[7]: tensor 2 \"s\" is a source: it cannot be freed");
    expect_of(graph, ROOM(T_HOME), "{'run':4,'at':[]}",
              "steps[0]: op 4 \"e\" updates tensor 1 \"t\", which is not on the device");
}

static void an_op_that_finds_a_source_in_the_wrong_version_is_rejected(void) {
    const char *graph = rp_state;
    expect_of(graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_H,
              "steps[2]: op 3 \"h\" needs tensor 0 \"w\" as op 2 \"u\" leaves it");
    expect_of(graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U ",{'run':0,'at':[null]}",
              "steps[3]: op 0 \"f\" needs tensor 0 \"w\" as it was before op 2 \"u\"");
    expect_of(graph, ROOM(T_HOME),
              RUN_F "," RUN_G ",{'run':0,'at':[null]}," RUN_U "," RUN_H "," T_IN_AND_OUT,
              NULL);
    expect_of(graph, ROOM(T_HOME), RUN_F "," RUN_G "," RUN_U "," RUN_U,
              "steps[3]: op 2 \"u\" runs again, though it updates tensors");
}

static void ordered_ops_in_another_order_are_rejected(void) {
    expect_of(rp_state, ROOM(T_HOME), "{'swap_in':1,'at':28},{'run':4,'at':[]}," RUN_F,
              "steps[2]: op 0 \"f\" first runs after op 4 \"e\", but both are ordered");
}

static void freeing_a_held_tensor_is_rejected(void) {
    expect_of(rp_state, ROOM(T_HOME),
              RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT ",{'free':5}",
              "steps[7]: tensor 5 \"z\" is held: it cannot be freed");
}

static void a_host_copy_that_is_out_of_date_is_rejected(void) {
    const char *graph = rp_state;
#define UP_TO_E                                                                            \
    RUN_F "," RUN_G "," RUN_U "," RUN_H ",{'swap_in':1,'at':28},{'run':4,'at':[]}"
    expect_of(graph, ROOM(T_HOME), UP_TO_E,
              "steps: the host copy of tensor 1 \"t\" is out of date at the end");
    expect_of(graph, ROOM(T_HOME), UP_TO_E "," FREE_T,
              "steps[6]: tensor 1 \"t\" is freed, though its host copy is out of date");
    expect_of(graph, ROOM(T_HOME), UP_TO_E ",{'swap_out':1,'host_at':8}",
              "steps[6]: tensor 1 \"t\" has its host copy at 0");
    expect_of(graph, ROOM(T_HOME),
              RUN_F "," RUN_G "," RUN_U "," RUN_H
                    ",{'swap_in':1,'at':28},{'swap_out':1,'host_at':0}",
              "steps[5]: tensor 1 \"t\" is swapped out, but its host copy is up to date");
    expect_of(graph, ROOM(T_HOME), UP_TO_E ",{'swap_in':1,'at':28}",
              "steps[6]: tensor 1 \"t\" is swapped in, but its host copy is out of date");
    expect_of(graph, ROOM(T_HOME),
              UP_TO_E ",{'swap_out':1,'host_at':0}," FREE_T ",{'swap_in':1,'at':28}", NULL);
}

/* When g runs again, y and z are there. z stays, and both are further workspace. */
static void outputs_that_cannot_be_rewritten_are_workspace(void) {
    const char *graph = rp_state;
    struct rp_world w;
    rp_world_open(&w, graph, ROOM(T_HOME),
                  RUN_F "," RUN_G ",{'run':1,'at':[null,null],'workspace_at':24}," RUN_U
                        "," RUN_H "," T_IN_AND_OUT);
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 16);
    rp_world_close(&w);
    rp_world_open(&w, graph, ROOM(T_HOME),
                  RUN_F "," RUN_G
                        ",{'free':4},{'run':1,'at':[8,null],'workspace_at':24}," RUN_U
                        "," RUN_H "," T_IN_AND_OUT);
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.peak_bytes, 16 + 8 + 8 + 8 + 12);
    rp_world_close(&w);
    expect_of(graph, ROOM(T_HOME), RUN_F "," RUN_G ",{'run':1,'at':[null,null]}",
              "steps[2]: the workspace of op 1 \"g\" has no address");
    expect_of(
        graph, ROOM(T_HOME),
        RUN_F "," RUN_G ",{'run':1,'at':[null,null],'workspace_at':20}",
        "steps[2]: the workspace of op 1 \"g\": bytes 20..36 overlap tensor 5 \"z\" at "
        "16..24");
}

/* y comes back from 56 ns, when the free has waited for its copy out, to 74 ns. */
static void an_output_left_alone_may_not_be_under_way(void) {
    expect_of(
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
    judge(&w, NULL);
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
    judge(&w, NULL);
    CU_ASSERT_EQUAL(w.v.time_ns, 80);
    CU_ASSERT_EQUAL(w.v.stall_ns, 18 + 26);
    CU_ASSERT_EQUAL(w.v.swapped_out_bytes, 16);
    rp_world_close(&w);
    expect_of(graph,
              "'budget_bytes':8,'addressed':false,'arena_bytes':8,'host_bytes':8,"
              "'homes':[{'tensor':0}]",
              "{'swap_in':0},{'run':1}",
              "steps[1]: op 1 \"e2\" needs tensor 0 \"t\" as op 0 \"e\" leaves it");
}

/* ---- sums beyond 63 bits ---- */

#define BIG "4611686018427387904" /* 2^62 */
#define HUGE_ROOM "'budget_bytes':9223372036854775807,'addressed':false,"
static const char slow[] =
    "{'format':'remat-graph','version':1,'name':'s','time_source':'none',"
    "'device':{'h2d_bytes_per_s':LINK,'d2h_bytes_per_s':LINK,'copy_latency_ns':LATE},"
    "'tensors':[{'name':'p','bytes':BIG,'kind':'activation'},"
    "{'name':'q','bytes':0,'kind':'activation'}],"
    "'ops':[{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':BIG},"
    "{'name':'g','kind':'k','inputs':[0],'outputs':[1],'time_ns':0}],'keep':[]}";

/* The graph `slow` with its placeholders replaced by numbers. */
static char *slow_graph(const char *link, const char *late) {
    const char *word[] = {"LINK", "LATE", "BIG"}, *figure[] = {link, late, BIG};
    char *text = rp_strdup(slow);
    for (int k = 0; k < 3; k++)
        for (char *at; (at = strstr(text, word[k])) != NULL;) {
            char *fresh = rp_format("%.*s%s%s", (int)(at - text), text, figure[k],
                                    at + strlen(word[k]));
            free(text);
            text = fresh;
        }
    return text;
}

static void times_beyond_63_bits_are_rejected(void) {
#define S HUGE_ROOM "'arena_bytes':" BIG ",'host_bytes':0"
    char *g = slow_graph("9223372036854775807", "0");
    expect_of(g, S, "{'run':0},{'run':1}", NULL);
    expect_of(g, S, "{'run':0},{'run':0}", "steps[1]: op 0 \"f\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("1", "0"); /* a copy that alone takes too long */
    expect_of(g, S, "{'run':0},{'swap_out':0}",
              "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("1000000000", "0"); /* a copy that ends too late */
    expect_of(g, S, "{'run':0},{'swap_out':0}",
              "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("9223372036854775807", "9223372036854775807");
    expect_of(g, S, "{'run':0},{'swap_out':0}",
              "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("9223372036854775807", "4600000000000000000");
    expect_of(g, S, "{'run':0},{'swap_out':0},{'run':1}", NULL);
    expect_of(g, S, "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0}",
              "steps[3]: the swap-in of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
}

static void a_copy_may_take_2_63_less_1_ns_and_no_more(void) {
    uint64_t ns;
    CU_ASSERT(rp_queue_clocks_copy_ns(0, RP_MAX_QUANTITY, 1000000000, &ns));
    CU_ASSERT_EQUAL(ns, RP_MAX_QUANTITY);
    CU_ASSERT(!rp_queue_clocks_copy_ns(1, RP_MAX_QUANTITY, 1000000000, &ns));
    CU_ASSERT(!rp_queue_clocks_copy_ns(0, RP_MAX_QUANTITY, 999999999, &ns));
}

static void bytes_swapped_in_beyond_63_bits_are_rejected(void) {
    char *g = slow_graph("9223372036854775807", "0");
    expect_of(g, S, "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0},{'run':1}", NULL);
    expect_of(g, S,
              "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0},{'run':1},{'free':0},"
              "{'swap_in':0}",
              "steps[6]: the sum of bytes swapped in passes 2^63-1");
    free(g);
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
    RP_TEST(times_beyond_63_bits_are_rejected);
    RP_TEST(a_copy_may_take_2_63_less_1_ns_and_no_more);
    RP_TEST(bytes_swapped_in_beyond_63_bits_are_rejected);
}
