/* Plans of the policies against plans worked out by hand, from the rules of each source as
 * the policy's file states them, on graphs small enough to draw.
 *
 * A step is written as in a diary: "f2" runs op f2, "-a" frees tensor a, ">a" copies it to
 * the host and "<a" back. A byte is copied in a nanosecond, each way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "policies.h"
#include "policy/policy_plan.h"
#include "run.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* ---- drawing a graph ---- */

/* An op: "f1" of the forward phase or "b1" of the backward phase, "conv" or another kind,
 * what it reads and what it makes. Its tensors have one-letter names. "s" is the sample. */
struct op {
    const char *name, *kind, *reads, *makes;
    uint64_t bytes, time_ns; /* of each tensor made */
    bool once;               /* may not run again */
};

enum { SAMPLE_BYTES = 1 };

static void put_ids(FILE *f, const char *names, const char *all) {
    for (const char *c = names; *c != '\0'; c++)
        fprintf(f, "%s%d", c == names ? "" : ",", (int)(strchr(all, *c) - all));
}

static void put_op(FILE *f, const struct op *op, const char *all) {
    fprintf(
        f,
        "{\"name\":\"%s\",\"kind\":\"%s\",\"phase\":\"%s\",\"time_ns\":%d,\"recompute\":%s",
        op->name, op->kind, op->name[0] == 'f' ? "forward" : "backward", (int)op->time_ns,
        op->once ? "false" : "true");
    fputs(",\"inputs\":[", f);
    put_ids(f, op->reads, all);
    fputs("],\"outputs\":[", f);
    put_ids(f, op->makes, all);
    fputs("]}", f);
}

/* The last tensor made is kept. A capital letter is a parameter. */
static void draw(const struct op *ops, size_t n, struct rp_graph *g) {
    char *text, all[64] = "s";
    size_t len, n_all = 1;
    struct rp_err err = {{0}};
    FILE *f = rp_text_open(&text, &len);
    fprintf(f,
            "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"drawn\","
            "\"time_source\":\"by hand\",\"device\":{\"alignment_bytes\":1,"
            "\"h2d_bytes_per_s\":1000000000,\"d2h_bytes_per_s\":1000000000},"
            "\"tensors\":[{\"name\":\"s\",\"bytes\":%d,\"kind\":\"input\"}",
            SAMPLE_BYTES);
    for (size_t i = 0; i < n; i++) {
        for (const char *c = ops[i].reads; *c != '\0'; c++)
            if (*c >= 'A' && *c <= 'Z' && strchr(all, *c) == NULL) {
                all[n_all++] = *c;
                fprintf(f, ",{\"name\":\"%c\",\"bytes\":1,\"kind\":\"parameter\"}", *c);
            }
        for (const char *c = ops[i].makes; *c != '\0'; c++) {
            all[n_all++] = *c;
            fprintf(f, ",{\"name\":\"%c\",\"bytes\":%d,\"kind\":\"activation\"}", *c,
                    (int)ops[i].bytes);
        }
    }
    fputs("],\"ops\":[", f);
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "" : ",", f);
        put_op(f, &ops[i], all);
    }
    fprintf(f, "],\"keep\":[%zu]}", n_all - 1);
    rp_text_close(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "drawn", g, &err), RP_OK);
    free(text);
}

/* ---- reading a plan ---- */

static struct rp_policy_options budget(uint64_t bytes) {
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.addressed = false;
    o.budget_bytes = bytes;
    return o;
}

/* Compares a policy's steps with those expected, and checks that verify accepts them. */
static void check(const struct rp_graph *g, const char *policy, struct rp_policy_options o,
                  const char *expected) {
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(g, rp_policy_find(policy), &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(g, &plan, &v, &err), RP_OK);
    char *steps = rp_steps_text(g, &plan);
    CU_ASSERT_STRING_EQUAL(steps, expected);
    if (strcmp(steps, expected) != 0)
        printf("\n%s, %d: peak %d of %d, time %d\n  %s\n  %s\n", policy, (int)report.fits,
               (int)v.peak_bytes, (int)o.budget_bytes, (int)v.time_ns, steps, expected);
    free(steps);
    rp_plan_fini(&plan);
}
/* Draws the graph, checks the plans and frees it. */
struct expected {
    const char *policy;
    uint64_t budget;
    const char *steps;
};

static void check_all(const struct op *ops, size_t n_ops, const struct expected *e,
                      size_t n) {
    struct rp_graph g;
    draw(ops, n_ops, &g);
    for (size_t i = 0; i < n; i++)
        check(&g, e[i].policy, budget(e[i].budget), e[i].steps);
    rp_graph_fini(&g);
}
#define CHECK_ALL(ops, expected)                                                           \
    check_all(ops, sizeof(ops) / sizeof(ops)[0], expected,                                 \
              sizeof(expected) / sizeof(expected)[0])

/* ---- a chain ---- */

/*  s -f1-> a -f2-> b -f3-> c -f4-> d
 *  w <-b1- z <-b2- y <-b3- x <-b4-'     b4 reads c and d, each other b what its f read */
static const struct op chain[] = {
    {"f1", "relu", "s", "a", 40, 10}, {"f2", "relu", "a", "b", 40, 10},
    {"f3", "relu", "b", "c", 40, 10}, {"f4", "relu", "c", "d", 40, 10},
    {"b4", "relu", "cd", "x", 8, 20}, {"b3", "relu", "bx", "y", 8, 20},
    {"b2", "relu", "ay", "z", 8, 20}, {"b1", "relu", "sz", "w", 8, 20},
};

/* Keep-all holds a, b, c, d, x and the sample during b4: 169 bytes. The others have 130. */
static void plans_of_a_chain(void) {
    static const struct expected plans[] = {
        {"keep-all", 169, "f1 f2 f3 f4 b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* Two segments of two ops, since 2 = sqrt(4). Only b, on the border, is kept. */
        {"chen-sqrt", 130,
         "f1 f2 -a f3 f4 -c -d f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* One checkpoint. Of the positions with the fewest steps, F(4, 1) = 4, it is the
         * first: a, after one step. What is behind it is reversed first, from a. */
        {"revolve", 130,
         "f1 f2 f3 -b f4 -c -d f2 f3 -b f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
        /* f4 needs room. h(a) = 10 / (40 * 11), since a was last used 10 ns ago. b and c
         * were used just now. */
        {"dtr", 130, "f1 f2 f3 -a f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* The inputs of f2, f3 and f4 are copied out as these run. Each layer's input comes
         * back during the layer before it, that of the first one at once. */
        {"vdnn-all", 130,
         "f1 >a f2 -a >b f3 -b >c f4 -c <c <b b4 -c -d <a b3 -b -x b2 -a -y "
         "b1 -z"},
        {"vdnn-conv", 169, "f1 f2 f3 f4 b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* All layers are cheap. The four tensors of the segment take 160 bytes, more than
         * the largest layer, b4. So each use recomputes anew. */
        {"superneurons", 130,
         "f1 f2 -a f3 -b f4 -c -d f1 f2 -a f3 -b f4 b4 -c -d f1 f2 -a b3 "
         "-b -x f1 b2 -a -y b1 -z"},
        /* a would be exposed for 20 ns (60 ns between its uses, 80 ns of copies), so f1's
         * 10 ns are cheaper. b costs as much and comes after it. */
        {"capuchin", 130, "f1 f2 -a f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        {"libra", 130, "f1 f2 -a f3 f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        /* The uses of a, f2 and b2, are the farthest apart. Its forward references are done
         * after f2. Its copy back would begin with b4, 40 ns before b2, but there is no
         * room until b3. */
        {"alibaba", 130, "f1 f2 >a f3 -a f4 b4 -c -d <a b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(chain, plans);
}

/* ---- a chain of six ops, with copies as fast as forward ops ---- */

static const struct op long_chain[] = {
    {"f1", "relu", "s", "a", 10, 10}, {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "b", "c", 10, 10}, {"f4", "relu", "c", "d", 10, 10},
    {"f5", "relu", "d", "e", 10, 10}, {"f6", "relu", "e", "f", 10, 10},
    {"b6", "relu", "ef", "u", 1, 20}, {"b5", "relu", "du", "v", 1, 20},
    {"b4", "relu", "cv", "x", 1, 20}, {"b3", "relu", "bx", "y", 1, 20},
    {"b2", "relu", "ay", "z", 1, 20}, {"b1", "relu", "sz", "w", 1, 20},
};

static void plans_of_a_long_chain(void) {
    static const struct expected plans[] = {
        /* f5 evicts a, the stalest. Then f6 must choose: b is stale for 20 ns, but a is its
         * evicted neighbour, h(b) = (10 + 10) / (10 * 21); h(c) = 10 / (10 * 11). */
        {"dtr", 45,
         "f1 f2 f3 f4 -a f5 -c f6 b6 -e -f b5 -d -u f3 b4 -c -v b3 -b -x f1 b2 -a "
         "-y b1 -z"},
        /* Two checkpoints. F(6, 2) = 7 with the first after one step (a); of the five steps
         * behind it F(5, 1) = 6 with the second after two more (c). */
        {"revolve", 45,
         "f1 f2 f3 -b f4 f5 -d f6 -e -f f4 f5 -d f6 b6 -e -f f4 b5 -d -u b4 -c "
         "-v f2 b3 -b -x b2 -a -y b1 -z"},
        /* 100 ns lie between f2 and b2. a has the largest free time and costs nothing. */
        {"capuchin", 55,
         "f1 >a f2 -a f3 f4 f5 f6 b6 -e -f b5 -d -u b4 -c -v <a b3 -b -x b2 "
         "-a -y b1 -z"},
    };
    CHECK_ALL(long_chain, plans);
}

/* ---- TFLMS ---- */

static void check_tflms(const struct rp_graph *g, enum rp_ctrld ctrld, uint64_t lb,
                        uint64_t ub, uint64_t n_tensors, const char *expected) {
    struct rp_policy_options o = budget(1000);
    o.tflms.ctrld = ctrld;
    o.tflms.lb = lb;
    o.tflms.ub = ub;
    o.tflms.n_tensors = n_tensors;
    check(g, "tflms", o, expected);
}

/* b, for b3: one level on, f3 makes c, which b4 reads, so the copy may start after b4. Two
 * levels on it is f4, d and b5; three levels on f5, e and b6; four levels on there is only
 * f6, whose f is read by b6, too; five levels on there is none. Likewise for a and c. */
static void tflms_finds_triggers_along_the_forward_phase(void) {
#define TFLMS_FORWARD "f1 >a f2 >b -a f3 >c -b f4 >d -c f5 >e -d f6 >f -e <e b6 -e -f "
    struct rp_graph g;
    draw(long_chain, 12, &g);
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
    draw(long_chain, 12, &g);
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

/*  s -f1-> a -f2-> b -f3-> c -f4-> d -f5-> e     f5, b5 and b2 also read a, which f1 made
 *          '-----------------------'             four levels before f5 */
static const struct op skip[] = {
    {"f1", "relu", "s", "a", 10, 10},  {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "b", "c", 10, 10},  {"f4", "relu", "c", "d", 10, 10},
    {"f5", "relu", "ad", "e", 10, 10}, {"b5", "relu", "ade", "u", 1, 20},
    {"b4", "relu", "cu", "v", 1, 20},  {"b3", "relu", "bv", "x", 1, 20},
    {"b2", "relu", "ax", "y", 1, 20},  {"b1", "relu", "sy", "w", 1, 20},
};

static void tflms_fuses_swap_ins_and_swaps_branches(void) {
    struct rp_graph g;
    struct rp_policy_options o = budget(1000);
    const char *fused =
        "f1 >a f2 >b f3 >c -b f4 >d -c f5 >e -d -a <a <d b5 -d -e <c b4 -c -u "
        "<b b3 -b -v b2 -a -x b1 -y";
    draw(skip, 10, &g);
    check(
        &g, "tflms", o,
        "f1 >a f2 >b f3 >c -b f4 >d -c f5 >e -d -a <a <d b5 -d -e -a <c b4 -c -u <b b3 -b "
        "-v <a b2 -a -x b1 -y");
    o.tflms.fuse_swapins = true;
    check(&g, "tflms", o, fused);
    o.tflms.swap_branches = true;
    o.tflms.branch_threshold = 4;
    check(&g, "tflms", o, fused);
    o.tflms.branch_threshold = 3;
    check(
        &g, "tflms", o,
        "f1 >a f2 >b -a f3 >c -b f4 >d -c <a f5 >e -d -a <a <d b5 -d -e <c b4 -c -u <b b3 "
        "-b -v b2 -a -x b1 -y");
    rp_graph_fini(&g);
}

/* Of what is not used for long, b is used again the latest: f3 and b3 have five ops between
 * them, f4 and b4 three. It is out when f4 ends and comes back 10 ns before b3. */
static void alibaba_swaps_the_most_distant_uses_first(void) {
    static const struct expected plans[] = {
        {"alibaba", 45,
         "f1 f2 f3 >b f4 -b f5 b5 -d -e <b b4 -c -u b3 -b -v b2 -a -x b1 -y"},
    };
    CHECK_ALL(skip, plans);
}

/* ---- Libra ---- */

/* Four tensors made of the sample. 352 bytes are live in b4, 100 more than the budget. By
 * time per byte a (4 / 40), b (10 / 50) and c (18 / 60) are given up, 150 bytes. Refinement
 * begins with the most expensive: without c, 90 bytes are too few; without b, 100 are
 * enough; then a is needed. */
static void libra_keeps_the_most_expensive_again_that_fits(void) {
    static const struct op star[] = {
        {"f1", "relu", "s", "a", 40, 4},  {"f2", "relu", "s", "b", 50, 10},
        {"f3", "relu", "s", "c", 60, 18}, {"f4", "relu", "s", "d", 200, 10},
        {"b4", "relu", "d", "x", 1, 20},  {"b3", "relu", "cx", "y", 1, 20},
        {"b2", "relu", "by", "z", 1, 20}, {"b1", "relu", "az", "w", 1, 20},
    };
    struct rp_graph g;
    struct rp_policy_options o = budget(252);
    draw(star, 8, &g);
    check(&g, "libra", o, "f1 -a f2 f3 -c f4 b4 -d f3 b3 -c -x b2 -b -y f1 b1 -a -z");
    o.libra_no_refinement = true;
    check(&g, "libra", o, "f1 -a f2 -b f3 -c f4 b4 -d f3 b3 -c -x f2 b2 -b -y f1 b1 -a -z");
    rp_graph_fini(&g);
}

/* ---- attention ---- */

/*  s -f1-> a -f2-> b -f3-> c -f4-> d -softmax-> e -f6-> f -matmul-> g
 *
 * The softmax, what reads it, and three ops before it are attention: b to f are recomputed.
 * a is what they are made of, so it stays. 111 bytes are live in b7 otherwise. */
static void alibaba_recomputes_three_ops_before_the_softmax(void) {
    static const struct op ops[] = {
        {"f1", "relu", "s", "a", 10, 10},    {"f2", "relu", "a", "b", 10, 10},
        {"f3", "relu", "b", "c", 10, 10},    {"f4", "relu", "c", "d", 10, 10},
        {"f5", "softmax", "d", "e", 10, 10}, {"f6", "relu", "e", "f", 10, 10},
        {"f7", "matmul", "fA", "g", 60, 10}, {"b7", "matmul", "gA", "t", 1, 20},
        {"b6", "relu", "eft", "u", 1, 20},   {"b5", "relu", "eu", "v", 1, 20},
        {"b4", "relu", "cv", "x", 1, 20},    {"b3", "relu", "bx", "y", 1, 20},
        {"b2", "relu", "ay", "z", 1, 20},    {"b1", "relu", "sz", "w", 1, 20},
    };
    static const struct expected plans[] = {
        {"alibaba", 85,
         "f1 f2 f3 -b f4 -c f5 -d f6 -e f7 -f b7 -g f2 f3 f4 f5 -d f6 b6 -f -t b5 -e -u b4 "
         "-c -v b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(ops, plans);
}

/* ---- convolutions ---- */

/*  s -conv f1-> a -f2-> b -conv f3-> c -f4-> d     A and B are the convolutions' weights */
static const struct op mixed[] = {
    {"f1", "conv", "sA", "a", 40, 40}, {"f2", "relu", "a", "b", 40, 10},
    {"f3", "conv", "bB", "c", 40, 40}, {"f4", "relu", "c", "d", 40, 10},
    {"b4", "relu", "cd", "x", 8, 20},  {"b3", "conv", "bBx", "y", 8, 80},
    {"b2", "relu", "ay", "z", 8, 20},  {"b1", "conv", "sAz", "w", 8, 80},
};

static void plans_of_convolutions(void) {
    static const struct expected plans[] = {
        /* b alone is the input of a convolution. It comes back during the layer before. */
        {"vdnn-conv", 171, "f1 f2 >b f3 -b f4 <b b4 -c -d b3 -b -x b2 -a -y b1 -z"},
        /* a and c are made by convolutions and stay while they fit. b and d are cheap. */
        {"superneurons", 165, "f1 f2 f3 -b f4 -d f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
        /* a goes to the host. It would come back with b4, which needs c, but there is room
         * for it only with b3. */
        {"superneurons", 125,
         "f1 >a f2 f3 -b -a f4 -d f4 b4 -c -d <a f2 b3 -b -x b2 -a -y b1 -z"},
        /* a is free from 50 to 200 ns. Its copies take 80, and leave b4 alone. */
        {"capuchin", 165, "f1 >a f2 f3 -a f4 b4 -c -d <a b3 -b -x b2 -a -y b1 -z"},
        /* Per byte f2 is the cheapest to recompute. */
        {"libra", 165, "f1 f2 f3 -b f4 b4 -c -d f2 b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(mixed, plans);
}

/* ---- Chen's greedy segments ---- */

/* As the chain, with sizes a 10, b 70, c 40 and d 10. A segment ends where the sum has
 * passed b: for 10 <= b < 40 after f2 and f3, which takes 129 bytes; for 80 <= b < 120
 * after f3 only, which takes 111. Each cut alone would be faster, but takes 139. */
static void chen_greedy_ends_segments_by_size(void) {
    static const struct op uneven[] = {
        {"f1", "relu", "s", "a", 10, 10}, {"f2", "relu", "a", "b", 70, 10},
        {"f3", "relu", "b", "c", 40, 10}, {"f4", "relu", "c", "d", 10, 10},
        {"b4", "relu", "cd", "x", 8, 20}, {"b3", "relu", "bx", "y", 8, 20},
        {"b2", "relu", "ay", "z", 8, 20}, {"b1", "relu", "sz", "w", 8, 20},
    };
    static const struct expected plans[] = {
        {"chen-greedy", 129, "f1 f2 -a f3 f4 -d f4 b4 -c -d b3 -b -x f1 b2 -a -y b1 -z"},
        {"chen-greedy", 128,
         "f1 f2 -a f3 -b f4 -d f4 b4 -c -d f1 f2 b3 -b -x b2 -a -y b1 -z"},
        {"chen-greedy", 111,
         "f1 f2 -a f3 -b f4 -d f4 b4 -c -d f1 f2 b3 -b -x b2 -a -y b1 -z"},
    };
    CHECK_ALL(uneven, plans);
}

void suite_policy_plans(void) {
    RP_SUITE("policy_plans");
    RP_TEST(plans_of_a_chain);
    RP_TEST(plans_of_a_long_chain);
    RP_TEST(tflms_finds_triggers_along_the_forward_phase);
    RP_TEST(tflms_finds_triggers_before_the_reader);
    RP_TEST(tflms_fuses_swap_ins_and_swaps_branches);
    RP_TEST(alibaba_swaps_the_most_distant_uses_first);
    RP_TEST(libra_keeps_the_most_expensive_again_that_fits);
    RP_TEST(alibaba_recomputes_three_ops_before_the_softmax);
    RP_TEST(plans_of_convolutions);
    RP_TEST(chen_greedy_ends_segments_by_size);
}
