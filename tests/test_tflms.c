/* Plans of tflms against plans worked out by hand (drawn.h). */
#include "drawn.h"
#include "policy/policy_table.h"
#include "run.h"

static void check_tflms(const struct rp_graph *g, enum rp_ctrld ctrld, uint64_t lb,
                        uint64_t ub, uint64_t n_tensors, const char *expected) {
    struct rp_policy_options o = rp_drawn_options(1000);
    o.tflms.ctrld = ctrld;
    o.tflms.lb = lb;
    o.tflms.ub = ub;
    o.tflms.n_tensors = n_tensors;
    rp_drawn_check(g, "tflms", o, expected);
}

/* b, for b3: one level on, f3 makes c, which b4 reads, so the copy may start after b4. Two
 * levels on it is f4, d and b5; three levels on f5, e and b6; four levels on there is only
 * f6, whose f is read by b6, too; five levels on there is none. Likewise for a and c. */
static void tflms_finds_triggers_along_the_forward_phase(void) {
#define TFLMS_FORWARD "f1 >a f2 >b -a f3 >c -b f4 >d -c f5 >e -d f6 >f -e <e b6 -e -f "
    struct rp_graph g;
    rp_draw(rp_long_chain, 12, &g);
    check_tflms(&g, RP_CHAIN_RULE, 1, 10, 9,
                TFLMS_FORWARD "<d b5 -d -u <c b4 -c -v <b b3 -b -x <a b2 -a -y b1 -z");
    check_tflms(&g, RP_CHAIN_RULE, 2, 10, 9,
                TFLMS_FORWARD "<d <c b5 -d -u <b b4 -c -v <a b3 -b -x b2 -a -y b1 -z");
    check_tflms(&g, RP_CHAIN_RULE, 3, 10, 9,
                TFLMS_FORWARD "<d <c <b b5 -d -u <a b4 -c -v b3 -b -x b2 -a -y b1 -z");
    /* c and d have nothing four levels on. */
    check_tflms(&g, RP_CHAIN_RULE, 4, 4, 9,
                TFLMS_FORWARD "<d <b <a b5 -d -u <c b4 -c -v b3 -b -x b2 -a -y b1 -z");
    check_tflms(&g, RP_CHAIN_RULE, 5, 5, 9,
                TFLMS_FORWARD "<d <a b5 -d -u <c b4 -c -v <b b3 -b -x b2 -a -y b1 -z");
    rp_graph_fini(&g);
}

/* Two levels before b5 is f6, so d may come back with b6. e has no op between its uses. */
static void tflms_finds_triggers_before_the_reader(void) {
    struct rp_graph g;
    rp_draw(rp_long_chain, 12, &g);
    check_tflms(
        &g, RP_DIRECT_ORDER, 2, 2, 9,
        "f1 >a f2 >b -a f3 >c -b f4 >d -c f5 >e -d f6 >f -e <e <d b6 -e -f <c b5 -d "
        "-u <b b4 -c -v <a b3 -b -x b2 -a -y b1 -z");
    /* The two tensors nearest to the input. b's trigger, four levels before b3, is f6. */
    check_tflms(
        &g, RP_DIRECT_ORDER, 4, 4, 2,
        "f1 >a f2 >b -a f3 -b f4 f5 f6 <b b6 -e -f <a b5 -d -u b4 -c -v b3 -b -x b2 "
        "-a -y b1 -z");
    rp_graph_fini(&g);
}

static void tflms_fuses_swap_ins_and_swaps_branches(void) {
    struct rp_graph g;
    struct rp_policy_options o = rp_drawn_options(1000);
    const char *fused =
        "f1 >a f2 >b f3 >c -b f4 >d -c f5 >e -d -a <a <d b5 -d -e <c b4 -c -u "
        "<b b3 -b -v b2 -a -x b1 -y";
    rp_draw(rp_skip, 10, &g);
    rp_drawn_check(
        &g, "tflms", o,
        "f1 >a f2 >b f3 >c -b f4 >d -c f5 >e -d -a <a <d b5 -d -e -a <c b4 -c -u <b b3 -b "
        "-v <a b2 -a -x b1 -y");
    o.tflms.fuse_swapins = true;
    rp_drawn_check(&g, "tflms", o, fused);
    o.tflms.swap_branches = true;
    o.tflms.branch_threshold = 4;
    rp_drawn_check(&g, "tflms", o, fused);
    o.tflms.branch_threshold = 3;
    rp_drawn_check(
        &g, "tflms", o,
        "f1 >a f2 >b -a f3 >c -b f4 >d -c <a f5 >e -d -a <a <d b5 -d -e <c b4 -c -u <b b3 "
        "-b -v b2 -a -x b1 -y");
    rp_graph_fini(&g);
}

/*  s -f1-> a -f2-> b -.
 *          +--f3-> c --f5-> e     b5 reads e; b2, b4 and b3 read b, d and c; b1 reads a
 *          '--f4-> d -'           and what these three made
 */
static const struct rp_drawn_op fan[] = {
    {"f1", "relu", "s", "a", 10, 10},   {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "a", "c", 10, 10},   {"f4", "relu", "a", "d", 10, 10},
    {"f5", "relu", "bcd", "e", 10, 10}, {"b5", "relu", "e", "u", 1, 20},
    {"b2", "relu", "bu", "v", 1, 20},   {"b4", "relu", "du", "x", 1, 20},
    {"b3", "relu", "cu", "y", 1, 20},   {"b1", "relu", "avxy", "w", 1, 20},
};

/* One level after f1 are f2, f3 and f4, to which b2, b3 and b4 belong. Of these b3 runs
 * last, so a comes back after it. */
static void tflms_takes_the_last_of_equal_triggers(void) {
    struct rp_graph g;
    rp_draw(fan, 10, &g);
    check_tflms(&g, RP_CHAIN_RULE, 1, 1, 1,
                "f1 >a f2 f3 f4 -a f5 b5 -e b2 -b b4 -d b3 -c -u <a b1 -a -v -x -y");
    rp_graph_fini(&g);
}

/*  s -f1-> a -.            .-b3-> x -b2-> z -.     b2 also reads b, b1 reads a,
 *             f3-> c ------+                 b0    b0 reads c
 *  s -f2-> b -'            '-b4-> y -b1-> t -'
 */
static const struct rp_drawn_op arms[] = {
    {"f1", "relu", "s", "a", 10, 10},  {"f2", "relu", "s", "b", 10, 10},
    {"f3", "relu", "ab", "c", 10, 10}, {"b3", "relu", "c", "x", 1, 20},
    {"b4", "relu", "c", "y", 1, 20},   {"b2", "relu", "xb", "z", 1, 20},
    {"b1", "relu", "ya", "t", 1, 20},  {"b0", "relu", "czt", "w", 1, 20},
};

/* One level before b1 is b4, before b2 b3, and before b0 b2 and b1, of which b1 runs last.
 * b4 is as near to b2 as b3 is, but b2 does not depend on it. */
static void tflms_triggers_are_ancestors(void) {
    struct rp_graph g;
    rp_draw(arms, 8, &g);
    check_tflms(
        &g, RP_DIRECT_ORDER, 1, 1, 9,
        "f1 >a f2 >b f3 >c -b -a b3 -c <c <b b4 -c <a b2 -b -x b1 -a -y <c b0 -c -z -t");
    rp_graph_fini(&g);
}

/*  s -f1-> a -f2-> b -f3-> c -f5-> e     b5 reads b, d and e; b4 reads d, b2 b and b1 a
 *          '--f4-> d                     c is needed in the forward phase only */
static const struct rp_drawn_op gap[] = {
    {"f1", "relu", "s", "a", 10, 10}, {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "b", "c", 10, 10}, {"f4", "relu", "a", "d", 10, 10},
    {"f5", "relu", "c", "e", 10, 10}, {"b5", "relu", "bde", "u", 1, 20},
    {"b4", "relu", "du", "v", 1, 20}, {"b2", "relu", "bv", "x", 1, 20},
    {"b1", "relu", "ax", "w", 1, 20},
};

static void tflms_needs_a_backward_op_for_a_trigger(void) {
    struct rp_graph g;
    struct rp_policy_options o = rp_drawn_options(1000);
    rp_draw(gap, 9, &g);
    /* Two levels after f1 is f3, to which no backward op belongs. */
    check_tflms(&g, RP_CHAIN_RULE, 2, 2, 1,
                "f1 >a f2 f3 f4 -a f5 -c b5 -e b4 -d -u b2 -b -v <a b1 -a -x");
    /* b comes back with the first backward op, whatever ran before it. */
    check_tflms(
        &g, RP_CHAIN_RULE, 3, 3, 2,
        "f1 >a f2 >b f3 -b f4 -a f5 -c <b b5 -e -b <a b4 -d -u <b b2 -b -v b1 -a -x");
    /* c is swapped between f3 and f5, so it is the third. */
    o.tflms.swap_branches = true;
    o.tflms.n_tensors = 3;
    rp_drawn_check(&g, "tflms", o,
                   "f1 >a f2 >b -a f3 >c -b <a f4 -a -c <c f5 -c <b b5 -e -b <a b4 -d -u "
                   "<b b2 -b -v b1 -a -x");
    rp_graph_fini(&g);
}

/* Four levels after f1 is f5, to which b5 belongs. But b5 reads a itself, and the copy out
 * begins after it. So a comes back with b2. */
static void tflms_brings_back_what_is_out(void) {
    struct rp_graph g;
    rp_draw(rp_skip, 10, &g);
    check_tflms(&g, RP_CHAIN_RULE, 4, 4, 1,
                "f1 >a f2 f3 f4 f5 -a <a b5 -d -e -a b4 -c -u b3 -b -v <a b2 -a -x b1 -y");
    rp_graph_fini(&g);
}

static void tflms_takes_one_level_as_a_range(void) {
    struct rp_policy_options o = rp_drawn_options(1000);
    o.tflms.lb = o.tflms.ub = 3;
    CU_ASSERT_PTR_NULL(rp_policy_find("tflms")->check(&o));
    o.tflms.ub = 2;
    CU_ASSERT_PTR_NOT_NULL(rp_policy_find("tflms")->check(&o));
}

void suite_tflms(void) {
    RP_SUITE("tflms");
    RP_TEST(tflms_finds_triggers_along_the_forward_phase);
    RP_TEST(tflms_finds_triggers_before_the_reader);
    RP_TEST(tflms_fuses_swap_ins_and_swaps_branches);
    RP_TEST(tflms_takes_the_last_of_equal_triggers);
    RP_TEST(tflms_triggers_are_ancestors);
    RP_TEST(tflms_needs_a_backward_op_for_a_trigger);
    RP_TEST(tflms_brings_back_what_is_out);
    RP_TEST(tflms_takes_one_level_as_a_range);
}
