#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "run.h"
#include "verify/certificate/certificate_claim.h"

/* ---- a certificate made by hand ---- */

/* s -p-> a -q-> b -r-> c, and a,c -z-> d. Tensors a, b and c have 10 bytes each. With 24
 * bytes, a cannot stay on the device while r runs, so p runs again and the optimum is 230
 * ns. The memory row gives S[3][a] <= 0.4, which proves 190. */
static const char loop[] =
    "{'format':'remat-graph','version':1,'name':'loop','time_source':'imported:test',"
    "'device':{'alignment_bytes':8},'tensors':["
    "{'name':'a','bytes':10,'kind':'activation'},{'name':'s','bytes':8,'kind':'parameter'},"
    "{'name':'b','bytes':10,'kind':'activation'},{'name':'c','bytes':10,'kind':'activation'"
    "},"
    "{'name':'d','bytes':4,'kind':'gradient'}],"
    "'ops':[{'name':'p','kind':'k','inputs':[1],'outputs':[0],'time_ns':100},"
    "{'name':'q','kind':'k','inputs':[0],'outputs':[2],'time_ns':10},"
    "{'name':'r','kind':'k','inputs':[2],'outputs':[3],'time_ns':10},"
    "{'name':'z','kind':'k','inputs':[0,3],'outputs':[4],'time_ns':10}],'keep':[4]}";
#define LOOP_SIZES "'budget_bytes':32,'addressed':false,'arena_bytes':24,'host_bytes':0"
#define LOOP_STEPS_REST                                                                    \
    "{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':3},{'free':0},{'free':3}"
#define LOOP_STEPS "{'run':0}," LOOP_STEPS_REST

/* %s is the graph's digest. The window row has multiplier 0. It says that z can only run if
 * a was there before stage 2 or p runs in stage 2 or 3. */
static const char proof[] =
    "{'format':'remat-certificate','version':1,'graph':{'name':'loop','sha256':'%s'},"
    "'budget_bytes':32,'addressed':false,'scale_log2':1,'lower_bound_ns':190,"
    "'dep':[[3,0,3,200]],'hold':[[0,1,0,0]],'mem':[{'stage':2,'op':2,'multiplier':20,"
    "'next':[0],'now':[],'runs':[[2,2],[3,2]]}],"
    "'window':[{'first':2,'last':3,'reader':3,'path':[0],'multiplier':0}],"
    "'cover':[{'stage':2,'op':2,'multiplier':0,'next':[0],'runs':[[2,2],[3,2]],"
    "'at_most':0,'held':[[0,3,1]],'ran':[]}]}";

/* Returns `text` with the first `was` replaced, and with " for every '. The caller frees
 * it. */
static char *replace_and_quote(const char *text, const char *was, const char *now) {
    const char *at = strstr(text, was);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *s = rp_format("%.*s%s%s", (int)(at - text), text, now, at + strlen(was));
    for (char *c = s; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return s;
}

/* Checks the certificate with `was` replaced, against the plan. */
static rp_rc check_edited(struct rp_world *w, const char *was, const char *now,
                          struct rp_certified_bound *s) {
    struct rp_certificate c;
    char *whole = rp_format(proof, w->g.sha256), *text = replace_and_quote(whole, was, now);
    w->err.msg[0] = '\0';
    rp_rc rc = rp_certificate_parse(text, strlen(text), "f", &c, &w->err);
    if (rc == RP_OK)
        rc = rp_certificate_check_plan(&c, &w->g, &w->p, s, &w->err);
    rp_certificate_fini(&c);
    free(whole);
    free(text);
    return rc;
}

static void a_correct_certificate_supports_its_own_bound_and_the_plans(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &w.err), RP_OK);
    CU_ASSERT_EQUAL(w.p.claims.time_ns, 230);
    w.p.claims.lower_bound_ns = 190;
    CU_ASSERT_EQUAL(check_edited(&w, "200", "200", &s), RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    CU_ASSERT_EQUAL(s.claim_bound_ns, 190);
    CU_ASSERT(!s.in_order);
    /* Another multiplier gives another bound, rounded up: 130 + (199 - 20 * 4) / 2 - 1 / 2.
     */
    CU_ASSERT_EQUAL(check_edited(&w, "'lower_bound_ns':190,'dep':[[3,0,3,200]]",
                                 "'lower_bound_ns':0,'dep':[[3,0,3,197]]", &s),
                    RP_NO);
    CU_ASSERT_EQUAL(s.bound_ns, 189);
    CU_ASSERT_STRING_EQUAL(w.err.msg, "it supports a bound of 189 ns; the plan claims 190");
    w.p.claims.lower_bound_ns = 130;
    /* Without rows the bound is one run of each op. The same row twice counts as one row
     * with the sum of the multipliers. */
    CU_ASSERT_EQUAL(check_edited(&w, "'lower_bound_ns':190,'dep':[[3,0,3,200]]",
                                 "'lower_bound_ns':130,'dep':[]", &s),
                    RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 130);
    CU_ASSERT_EQUAL(check_edited(&w, "[3,0,3,200]", "[3,0,3,150],[3,0,3,50]", &s), RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    CU_ASSERT_EQUAL(check_edited(&w, "'dep'", "'order':[0,1,2,3],'dep'", &s), RP_OK);
    rp_world_close(&w);
}

static void a_certificate_with_a_wrong_value_is_refused(void) {
#define NO(was, now, message)                                                              \
    { was, now, RP_NO, message }
#define BAD(was, now, message)                                                             \
    { was, now, RP_INPUT, "f: " message }
    static const struct {
        const char *was, *now;
        rp_rc rc;
        const char *message;
    } cases[] = {
        /* Errors in the file. */
        BAD("{'format'", "{'x':1,'format'", "certificate: unknown key 'x'"),
        BAD("'budget_bytes':32,", "", "certificate: 'budget_bytes' is missing"),
        BAD("remat-certificate", "remat-plan",
            "not a remat-certificate file (its 'format' is 'remat-plan')"),
        BAD("'version':1", "'version':2",
            "remat-certificate version 2 is not known (this program reads version 1)"),
        BAD("'scale_log2':1", "'scale_log2':63", "scale_log2: 63 is above 62"),
        BAD("{'name'", "{'x':1,'name'", "graph: unknown key 'x'"),
        BAD("'hold'", "'order':[-1],'hold'",
            "order: indices and stages must be integers from 0 to 2^32-3"),
        BAD("3,200", "3,-200", "dep[0]: multipliers must be integers from 0 to 2^63-1"),
        BAD("3,200", "3,2.5", "dep[0]: multipliers must be integers from 0 to 2^63-1"),
        BAD("3,200", "3,200,1e3", "dep[0]: multipliers must be integers from 0 to 2^63-1"),
        BAD("[3,0,3,200]", "[3,0,3]",
            "dep[0]: must be [op, tensor, first stage, "
            "multiplier, ...]"),
        BAD("[3,0,3,200]", "7",
            "dep[0]: must be [op, tensor, first stage, multiplier, "
            "...]"),
        BAD("[0,1,0,0]", "[0,1]",
            "hold[0]: must be [tensor, first stage, multiplier, ...]"),
        BAD("[0,1,0,0]", "[0,4294967293,0,0]",
            "hold[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("[3,0,3", "[4294967294,0,3",
            "dep[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'multiplier':20", "'multiplier':-20",
            "mem[0]: 'multiplier' must be an integer from 0 to 2^63-1"),
        BAD("'stage':2", "'stage':'2'",
            "mem[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'op':2", "'op':-2",
            "mem[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'now'", "'then'", "mem[0]: unknown key 'then'"),
        BAD("'next':[0]", "'next':[-1]",
            "mem[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'now':[]", "'now':[true]",
            "mem[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("[2,2]", "[2]", "mem[0]: 'runs' must hold pairs [tensor, op]"),
        BAD("[2,2]", "2", "mem[0]: 'runs' must hold pairs [tensor, op]"),
        BAD("[2,2]", "[2,null]",
            "mem[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'path':[0]", "'path':[]", "window[0]: 'path' is empty"),
        BAD("'path':[0]", "'path':['a']",
            "window[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'first':2", "'first':[]",
            "window[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'last':3", "'last':-3",
            "window[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'reader':3", "'reader':null",
            "window[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'first':2", "'from':2", "window[0]: unknown key 'from'"),
        /* Certificates for another graph or plan. */
        NO("'loop'", "'pool'", "it is for \"pool\", not \"loop\""),
        NO("'budget_bytes':32", "'budget_bytes':7",
           "budget_bytes 7 is less than the 8 bytes of the sources"),
        NO("'budget_bytes':32", "'budget_bytes':31",
           "it is for budget_bytes 31, the plan has 32"),
        NO("'budget_bytes':32", "'budget_bytes':33",
           "lower_bound_ns is 190, but its rows support 180 only"),
        NO("'addressed':false", "'addressed':true", "it is for plans with addresses"),
        NO("'lower_bound_ns':190", "'lower_bound_ns':191",
           "lower_bound_ns is 191, but its rows support 190 only"),
        NO("'scale_log2':1", "'scale_log2':2",
           "lower_bound_ns is 190, but its rows support 160 only"),
        NO("'hold'", "'order':[0,1,2],'hold'", "order: 3 entries for 4 ops"),
        NO("'hold'", "'order':[0,1,2,4],'hold'", "order[3]: op 4 does not exist"),
        NO("'hold'", "'order':[0,1,2,2],'hold'", "order[3]: op 2 stands there twice"),
        NO("'hold'", "'order':[0,2,1,3],'hold'",
           "order[1]: op 2 comes before op 1, which makes what it reads"),
        BAD("'hold'", "'stages':[],'hold'", "stages: empty"),
        BAD("'hold'", "'stages':[2,-3],'hold'",
            "stages: indices and stages must be integers from 0 to 2^32-3"),
        NO("'hold'", "'stages':[0,1,1,3],'hold'", "stages[2]: 1 is not after 1"),
        NO("'hold'", "'stages':[0,1,2],'hold'",
           "stages: the last one ends with 2, not with 3"),
        NO("'hold'", "'stages':[0,1,2,4],'hold'",
           "stages: the last one ends with 4, not with 3"),
        NO("'hold'", "'stages':[1,2,3],'hold'", "dep[0]: no stage 3"),
        /* Invalid rows. */
        NO("[3,0,3,200]", "[3,0,4,200]", "dep[0]: no stage 4"),
        NO("[3,0,3,200]", "[3,0,3,200,1]", "dep[0]: no stage 4"),
        NO("[3,0,3,200]", "[3,0,2,200]", "dep[0]: op 3 first runs after stage 2"),
        NO("[3,0,3,200]", "[4,0,3,200]", "dep[0]: no op 4"),
        NO("[3,0,3,200]", "[3,5,3,200]", "dep[0]: no tensor 5"),
        NO("[3,0,3,200]", "[0,1,3,200]", "dep[0]: tensor 1 is a source"),
        NO("[3,0,3,200]", "[3,2,3,200]", "dep[0]: op 3 does not read tensor 2"),
        NO("[0,1,0,0]", "[0,3,0,0]", "hold[0]: no stage 4"),
        NO("[0,1,0,0]", "[5,1,0,0]", "hold[0]: no tensor 5"),
        NO("[0,1,0,0]", "[1,1,0,0]", "hold[0]: tensor 1 is a source"),
        NO("[0,1,0,0]", "[2,0,0,0]", "hold[0]: op 1 first runs after stage 0"),
        NO("'stage':2", "'stage':4", "mem[0]: no stage 4"),
        NO("'stage':2", "'stage':1", "mem[0]: op 2 first runs after stage 1"),
        NO("'op':2", "'op':4", "mem[0]: no op 4"),
        NO("'next':[0]", "'next':[0,0]", "mem[0]: two terms for tensor 0"),
        NO("'next':[0]", "'next':[0,3]", "mem[0]: two terms for tensor 3"),
        NO("'now':[]", "'now':[0]", "mem[0]: two terms for tensor 0"),
        NO("'next':[0]", "'next':[9]", "mem[0]: no tensor 9"),
        NO("'next':[0]", "'next':[1]", "mem[0]: tensor 1 is a source"),
        NO("'next':[0]", "'next':[0,4]", "mem[0]: tensor 4 is not made when op 2 runs"),
        NO("[3,2]", "[3,4]", "mem[0]: no op 4"),
        NO("[3,2]", "[3,3]", "mem[0]: op 3 first runs after stage 2"),
        NO("'next':[0],'now':[],'runs':[", "'runs':[[0,1],",
           "mem[0]: op 1 reads tensor 0 before op 2 runs"),
        NO("[2,2]", "[2,1]", "mem[0]: op 1 does not read tensor 2"),
        NO("[2,2]", "[2,0]", "mem[0]: op 0 does not read tensor 2"),
        NO("'next':[0],'now':[]", "'next':[],'now':[0]",
           "mem[0]: tensor 0 may be gone: op 1 may read it before"),
        NO("'first':2,'last':3", "'first':2,'last':4", "window[0]: no stage 4"),
        NO("'first':2,'last':3", "'first':3,'last':2",
           "window[0]: stage 3 is after stage 2"),
        NO("'reader':3", "'reader':4", "window[0]: no op 4"),
        NO("'first':2,'last':3", "'first':2,'last':2",
           "window[0]: op 3 first runs after stage 2"),
        NO("'reader':3", "'reader':2", "window[0]: op 2 does not read tensor 0"),
        NO("'path':[0]", "'path':[7]", "window[0]: no tensor 7"),
        NO("'path':[0]", "'path':[0,1]", "window[0]: tensor 1 is a source"),
        NO("'path':[0]", "'path':[3,0]", "window[0]: op 2 does not read tensor 0"),
        BAD("'at_most':0", "'at_most':4097", "cover[0]: 'at_most' is above 4096"),
        BAD("'at_most':0,", "", "cover[0]: 'at_most' is missing"),
        BAD("[0,3,1]", "[0,3]",
            "cover[0]: 'held' and 'ran' must hold triples [index, stage, count]"),
        BAD("'ran':[]", "'ran':[2]",
            "cover[0]: 'held' and 'ran' must hold triples [index, stage, count]"),
        BAD("[0,3,1]", "[0,3,-1]",
            "cover[0]: indices and stages must be integers from 0 to 2^32-3"),
        BAD("'ran':[]", "'ran':[[0,0,true]]",
            "cover[0]: indices and stages must be integers from 0 to 2^32-3"),
        NO("2],[3,2]],'at", "2]],'at", "cover[0]: what fits may count more than 0"),
        NO("[0,3,1]", "[0,3,1],[9,3,1]", "cover[0]: no tensor 9"),
        NO("[0,3,1]", "[0,3,1],[1,3,1]", "cover[0]: tensor 1 is a source"),
        NO("[0,3,1]", "[0,1,1]", "cover[0]: what fits may count more than 0"),
        NO("[0,3,1]", "[0,0,1]", "cover[0]: tensor 0 in stage 0 is no quantity"),
        NO("[0,3,1]", "[0,4,1]", "cover[0]: tensor 0 in stage 4 is no quantity"),
        NO("'ran':[]", "'ran':[[0,3,1]]", "cover[0]: counts a run of stage 3"),
        NO("'ran':[]", "'ran':[[7,2,1]]", "cover[0]: no op 7"),
        NO("'ran':[]", "'ran':[[3,2,1]]", "cover[0]: op 3 first runs after stage 2"),
        NO("'ran':[]", "'ran':[[2,2,1]]", "cover[0]: op 2 in stage 2 is no quantity"),
        NO("'ran':[]", "'ran':[[1,2,1]]", "cover[0]: what fits may count more than 0"),
        NO("2,'multiplier':0,'next'", "1,'multiplier':0,'next'",
           "cover[0]: tensor 3 is not made when op 1 runs"),
        BAD("'dep'", "'swaps':{},'dep'", "swaps: 'most_ns' is missing"),
        BAD("'dep'", "'swaps':{'most_ns':9,'x':1},'dep'", "swaps: unknown key 'x'"),
        NO("'dep'", "'swaps':{'most_ns':9},'dep'",
           "swaps: the graph's device does not allow them"),
        /* A large multiplier that does not raise the bound. */
        NO("3,200", "3,9223372036854775807",
           "lower_bound_ns is 190, but its rows support 130 only"),
    };
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    w.p.claims.lower_bound_ns = 130;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(check_edited(&w, cases[i].was, cases[i].now, &s), cases[i].rc);
        if (strcmp(w.err.msg, cases[i].message) != 0)
            printf("case %zu: %s\n", i, w.err.msg);
        CU_ASSERT_STRING_EQUAL(w.err.msg, cases[i].message);
    }
    rp_world_close(&w);
}

/* Two stages: one of p and q, one of r and z. The rows are as before with other numbers. A
 * row for r is not a row for the end of its stage. */
static void stages_may_contain_several_ops(void) {
    static const char *const rows[] = {
        "'stages':[1,2,3],'dep':[[3,0,2,200]],'hold':[],'mem':[{'stage':1,'op':2,"
        "'multiplier':20,'next':[0],'runs':[[2,2],[3,2]]}]}",
        "'stages':[1,3],'dep':[],'hold':[],'mem':[{'stage':1,'op':2,'multiplier':20}]}",
    };
    for (int i = 0; i < 2; i++) {
        struct rp_world w;
        struct rp_certified_bound s;
        struct rp_certificate c;
        rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
        char *text = rp_format(proof, w.g.sha256);
        *strstr(text, "'dep'") = '\0';
        char *whole = rp_format("%s%s", text, rows[i]),
             *json = replace_and_quote(whole, "", "");
        CU_ASSERT_EQUAL(rp_certificate_parse(json, strlen(json), "f", &c, &w.err), RP_OK);
        CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &w.g, &w.p, &s, &w.err),
                        i == 0 ? RP_OK : RP_NO);
        CU_ASSERT_STRING_EQUAL(w.err.msg,
                               i == 0 ? "" : "mem[0]: op 2 does not end stage 1");
        CU_ASSERT(i == 1 || s.claim_bound_ns == 190);
        rp_certificate_fini(&c);
        free(text);
        free(whole);
        free(json);
        rp_world_close(&w);
    }
}

static void a_digest_of_another_graph_is_refused(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    char *message = rp_format(
        "it is for \"%s\" (sha256 0%.11s...), this graph is \"%s\" (sha256 %.12s...)",
        w.g.name, w.g.sha256, w.g.name, w.g.sha256);
    s.bound_ns = 1;
    CU_ASSERT_EQUAL(check_edited(&w, "'sha256':'", "'sha256':'0", &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, message);
    CU_ASSERT_EQUAL(s.bound_ns, 0);
    free(message);
    rp_world_close(&w);
}

/* `loop` with a link that copies a byte a nanosecond. The caller frees it. */
static char *linked_loop(const char *was, const char *now) {
    char *graph = replace_and_quote(loop, "'device':{",
                                    "'device':{'h2d_bytes_per_s':1000000000,"
                                    "'d2h_bytes_per_s':1000000000,");
    char *other = replace_and_quote(graph, was, now);
    free(graph);
    return other;
}

/* ---- rows about copies ---- */

/* While r runs, 4 bytes are free, so a is on the host. It is copied in for z after that: 10
 * S[3][a] <= 4 + E[3]. With 14/16 of that and of the row for E[3], and 140/16 of z's need
 * of a, 130 + 8.75 - 3.5 are proved. The optimum is 140: p need not run again. */
static const char copies[] =
    "{'format':'remat-certificate','version':1,'graph':{'name':'loop','sha256':'%s'},"
    "'budget_bytes':32,'addressed':false,'scale_log2':4,'lower_bound_ns':130,"
    "'swaps':{'most_ns':140},'dep':[[3,0,3,140]],'hold':[],'mem':[],'extra':[[3,14]],"
    "'copy':[{'stage':2,'until':3,'multiplier':14}]}";

/* Checks the certificate, with `was` replaced, for the graph with graph_was replaced. */
static rp_rc check_copies(const char *graph_was, const char *graph_now, const char *was,
                          const char *now, uint64_t *bound_ns, struct rp_err *err) {
    struct rp_world w;
    struct rp_certificate c;
    struct rp_certified_bound s = {0};
    char *graph = linked_loop(graph_was, graph_now);
    rp_world_open(&w, graph, LOOP_SIZES, LOOP_STEPS);
    char *whole = rp_format(copies, w.g.sha256), *text = replace_and_quote(whole, was, now);
    rp_rc rc = rp_certificate_parse(text, strlen(text), "f", &c, err);
    if (rc == RP_OK)
        rc = rp_certificate_check(&c, &w.g, &s, err);
    *bound_ns = s.bound_ns;
    rp_certificate_fini(&c);
    free(graph);
    free(whole);
    free(text);
    rp_world_close(&w);
    return rc;
}

static void rows_about_copies_are_derived(void) {
#define UNTIL "'until':3"
    static const struct {
        const char *was, *now;
        rp_rc rc;
        const char *message; /* or NULL: bound_ns is right */
        uint64_t bound_ns;
    } cases[] = {
        {UNTIL, UNTIL, RP_OK, NULL, 136},
        /* Rounded, with more multiplier: 130 + 90/16. Turned, it is the same row. */
        {"140]],'hold':[],'mem':[],'extra':[[3,14]],'copy':[{'stage':2,'until':3,"
         "'multiplier':14}",
         "90]],'hold':[],'mem':[],'extra':[[3,15]],'copy':[{'stage':2,'until':3,'length':"
         "10,"
         "'multiplier':15}",
         RP_OK, NULL, 136},
        {"140]],'hold':[],'mem':[],'extra':[[3,14]],'copy':[{'stage':2,'until':3,"
         "'multiplier':14}",
         "90]],'hold':[],'mem':[],'extra':[[3,15]],'copy':[{'stage':2,'until':3,'length':"
         "10,"
         "'turned':[0],'multiplier':15}",
         RP_OK, NULL, 136},
        /* By 7: 3 S[3][a] <= E[3]. So 90/16 of need cost 45/16 of S[3][a]. */
        {"140]],'hold':[],'mem':[],'extra':[[3,14]],'copy':[{'stage':2,'until':3,"
         "'multiplier':14}",
         "90]],'hold':[],'mem':[],'extra':[[3,15]],'copy':[{'stage':2,'until':3,'length':7,"
         "'multiplier':15}",
         RP_OK, NULL, 133},
        /* Nothing says what E[3] costs, or not enough. Then it is 10 ns, as 140 - 130. */
        {"[[3,14]]", "[]", RP_OK, NULL, 130},
        {"'most_ns':140},'dep':[[3,0,3,140]],'hold':[],'mem':[],'extra':[[3,14]]",
         "'most_ns':300},'dep':[[3,0,3,140]],'hold':[],'mem':[],'extra':[[3,13]]", RP_OK,
         NULL, 130},
        NO("'swaps':{'most_ns':140},", "", "extra[0]: the certificate has no swaps"),
        NO("'swaps':{'most_ns':140},'dep':[[3,0,3,140]],'hold':[],'mem':[],"
           "'extra':[[3,14]],",
           "'dep':[],'hold':[],'mem':[],", "copy[0]: the certificate has no swaps"),
        NO("[[3,14]]", "[[4,14]]", "extra[0]: no stage 4"),
        BAD("[[3,14]]", "[[3]]", "extra[0]: must be [first stage, multiplier, ...]"),
        BAD(UNTIL, "'op':3", "copy[0]: unknown key 'op'"),
        BAD("," UNTIL, "", "copy[0]: must have either 'until' or 'since'"),
        BAD(UNTIL, UNTIL ",'since':0", "copy[0]: must have either 'until' or 'since'"),
        BAD(UNTIL, UNTIL ",'turned':[0]", "copy[0]: 'turned' needs a 'length'"),
        BAD(UNTIL, UNTIL ",'length':4611686018427387905",
            "copy[0]: 'length' is above 2^62"),
        BAD(UNTIL, UNTIL ",'length':9,'turned':[-1]",
            "copy[0]: indices and stages must be integers from 0 to 2^32-3"),
        NO("'stage':2," UNTIL, "'stage':4," UNTIL, "copy[0]: no stage 4"),
        NO(UNTIL, "'until':4", "copy[0]: no op 4"),
        NO(UNTIL, "'until':2", "copy[0]: op 2 first runs no later than stage 2 ends"),
        NO(UNTIL, "'since':2", "copy[0]: op 2 first runs no earlier than stage 2 ends"),
        NO(UNTIL, UNTIL ",'length':9,'turned':[5]", "copy[0]: no tensor 5"),
        NO(UNTIL, UNTIL ",'length':9,'turned':[1]", "copy[0]: tensor 1 is a source"),
        NO(UNTIL, UNTIL ",'length':9,'turned':[0,0]", "copy[0]: tensor 0 is turned twice"),
        NO("'budget_bytes':32", "'budget_bytes':9223372036854775807",
           "copy[0]: its right side passes 2^62 ns"),
        {UNTIL, "'since':0", RP_OK, NULL, 130},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_err err = {{0}};
        uint64_t bound_ns;
        const char *message = cases[i].message != NULL ? cases[i].message : "";
        rp_rc rc = check_copies("", "", cases[i].was, cases[i].now, &bound_ns, &err);
        if (rc != cases[i].rc || strcmp(err.msg, message) != 0)
            printf("case %zu: %s\n", i, err.msg);
        CU_ASSERT_EQUAL(rc, cases[i].rc);
        CU_ASSERT_STRING_EQUAL(err.msg, message);
        CU_ASSERT(cases[i].message != NULL || bound_ns == cases[i].bound_ns);
    }
}

/* What a copy row says on other graphs. */
static void rows_about_copies_know_working_sets_and_rates(void) {
    struct rp_err err = {{0}};
    uint64_t bound_ns;
    /* With a workspace of 3 bytes 1 is free: 130 + 8.75 - 0.875. */
    CU_ASSERT_EQUAL(check_copies("outputs\":[3],", "outputs\":[3],'workspace_bytes':3,",
                                 UNTIL, UNTIL, &bound_ns, &err),
                    RP_OK);
    CU_ASSERT_EQUAL(bound_ns, 138);
    /* 10 bytes take 4 ns now, and the room 2, rounded up: 130 + 3.5 - 1.75. */
    CU_ASSERT_EQUAL(check_copies("h2d_bytes_per_s\":1000000000",
                                 "h2d_bytes_per_s\":3000000000", "[3,0,3,140]",
                                 "[3,0,3,56]", &bound_ns, &err),
                    RP_OK);
    CU_ASSERT_EQUAL(bound_ns, 132);
    /* q reads a and makes b, so they are on the device then. */
    CU_ASSERT_EQUAL(check_copies("", "",
                                 "[[3,0,3,140]],'hold':[],'mem':[],'extra':[[3,14]],"
                                 "'copy':[{'stage':2,'until':3,'multiplier':14}]",
                                 "[[2,2,2,80]],'hold':[],'mem':[],'extra':[[2,8]],"
                                 "'copy':[{'stage':1,'until':2,'multiplier':8}]",
                                 &bound_ns, &err),
                    RP_OK);
    CU_ASSERT_EQUAL(bound_ns, 130);
}

#define IN_ORDER "'mem':[", "'mem':[{'stage':3,'op':2,'multiplier':0},"
#define NO_HOST "'dep'", "'swaps':{'most_ns':230,'host_budget_bytes':0},'dep'"
#define AS_IT_IS "'dep'", "'dep'"

/* The claim may be about fewer plans than the certificate, but not about others. */
static void a_claim_about_other_plans_is_not_supported(void) {
    static const struct {
        const char *was, *now;
        struct rp_bound_scope claim;
        const char *why;
    } cases[] = {
        {AS_IT_IS, {.recompute = true, .all_programs = true}, NULL},
        {AS_IT_IS, {.recompute = false}, NULL},
        {AS_IT_IS, {.swap = true}, "not for plans that swap"},
        {AS_IT_IS, {.any_order = true}, "only for one order of first runs"},
        {IN_ORDER, {.all_programs = false}, NULL},
        {IN_ORDER,
         {.all_programs = true},
         "only for plans whose runs between two first runs are in order"},
        {NO_HOST, {.swap = true, .host_budget_bytes = 0}, NULL},
        {NO_HOST,
         {.swap = true, .host_budget_bytes = 1},
         "not for plans with so much host memory"},
        {NO_HOST, {.host_budget_bytes = RP_NO_LIMIT}, NULL},
    };
    char *graph = linked_loop("keep", "keep");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_world w;
        struct rp_certified_bound s;
        rp_world_open(&w, graph, LOOP_SIZES, LOOP_STEPS);
        w.p.claims.lower_bound_ns = 131;
        w.p.claims.bound_for = cases[i].claim;
        CU_ASSERT_EQUAL(check_edited(&w, cases[i].was, cases[i].now, &s),
                        cases[i].why == NULL ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(s.bound_ns, 190);
        CU_ASSERT_EQUAL(s.claim_bound_ns, cases[i].why == NULL ? 190 : 130);
        char *message =
            rp_format("it proves 190 ns, but %s; the plan claims 131 ns for more than that",
                      cases[i].why == NULL ? "" : cases[i].why);
        CU_ASSERT_STRING_EQUAL(w.err.msg, cases[i].why == NULL ? "" : message);
        free(message);
        rp_world_close(&w);
    }
    free(graph);
}

/* c is kept too, so a plan might free it and make it again after z. */
static void a_claim_about_all_programs_needs_an_end_where_nothing_can_run(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    char *graph = linked_loop("\"keep\":[4]", "'keep':[4,3]");
    rp_world_open(&w, graph, LOOP_SIZES,
                  "{'run':0},{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':3},"
                  "{'free':0}");
    w.p.claims.lower_bound_ns = 131;
    w.p.claims.bound_for.swap = false;
    CU_ASSERT_EQUAL(check_edited(&w, AS_IT_IS, &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           "it proves 190 ns, but not for plans that run ops again after "
                           "the last first run; the plan claims 131 ns for more than that");
    w.p.claims.bound_for.all_programs = false;
    CU_ASSERT_EQUAL(check_edited(&w, AS_IT_IS, &s), RP_OK);
    rp_world_close(&w);
    free(graph);
}

/* An unconnected op y, last in the graph and second in the certificate's order. */
static void a_bound_holds_for_one_order_of_first_runs_only(void) {
    static const char moved[] =
        "'order':[0,4,1,2,3],'dep':[[3,0,4,200]],'hold':[],'mem':[{'stage':3,'op':2,"
        "'multiplier':20,'next':[0],'runs':[[2,2],[3,2]]}]}";
    struct rp_world w;
    struct rp_certified_bound s;
    char *tensor = replace_and_quote(loop, "}],'ops'",
                                     "},{'name':'e','bytes':0,'kind':'state'}],'ops'");
    char *graph = replace_and_quote(
        tensor, "}],\"keep\"",
        "},{'name':'y','kind':'k','inputs':[],'outputs':[5],'time_ns':0}],"
        "'keep'");
    rp_world_open(&w, graph, LOOP_SIZES, LOOP_STEPS ",{'run':4}");
    w.p.claims.lower_bound_ns = 131;
    CU_ASSERT_EQUAL(check_edited(&w, strstr(proof, "'dep'"), moved, &s), RP_NO);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           "it proves 190 ns, but only for another order of first runs; "
                           "the plan claims 131 ns for more than that");
    free(tensor);
    free(graph);
    rp_world_close(&w);
}

/* Exit code 6 is for our own mistakes, and files must not lead to it. */
static void a_bound_above_the_time_of_the_plan_is_refused(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    w.p.claims.time_ns = 190;
    CU_ASSERT_EQUAL(check_edited(&w, "dep", "dep", &s), RP_OK);
    w.p.claims.time_ns = 189;
    CU_ASSERT_EQUAL(check_edited(&w, "dep", "dep", &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           "its rows give a bound of 190 ns, but this plan takes 189 ns");
    rp_world_close(&w);
}

/* Plans that the bound is not for may be faster, and then it says nothing about them. In
 * version 1 host_bytes of a plan without addresses may be too small. */
static void a_faster_plan_of_another_kind_contradicts_no_bound(void) {
    static const struct {
        const char *steps, *was, *now;
    } cases[] = {
        {"{'run':0},{'run':1},{'swap_out':0},{'free':0},{'run':2},{'free':2},{'swap_in':0},"
         "{'run':3},{'free':0},{'free':3}",
         NO_HOST},
        {"{'run':0},{'run':1},{'swap_out':0},{'free':0},{'run':2},{'free':2},{'swap_in':0},"
         "{'run':3},{'free':0},{'free':3}",
         AS_IT_IS},
        {LOOP_STEPS ",{'run':0},{'free':0}", AS_IT_IS},
        {"{'run':0},{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':0},{'run':3}"
         ",{'free':0},{'free':3}",
         IN_ORDER},
    };
    char *graph = linked_loop("keep", "keep");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_world w;
        struct rp_certified_bound s;
        rp_world_open(&w, graph, LOOP_SIZES, cases[i].steps);
        CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &w.err), RP_OK);
        w.p.claims.lower_bound_ns = 130;
        w.p.claims.time_ns = 150;
        CU_ASSERT_EQUAL(check_edited(&w, cases[i].was, cases[i].now, &s), RP_OK);
        CU_ASSERT_EQUAL(s.bound_ns, 190);
        rp_world_close(&w);
    }
    free(graph);
}

#define HUGE "9223372036854775807"

/* The last values that are allowed: a budget for the sources alone, a scale, a count. With
 * a budget of 18 the memory row asks for 20 bytes where 10 are left. */
static void values_at_their_limits_are_allowed(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    CU_ASSERT_EQUAL(check_edited(&w, "'budget_bytes':32", "'budget_bytes':8", &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, "it is for budget_bytes 8, the plan has 32");
    CU_ASSERT_EQUAL(check_edited(&w, "'scale_log2':1", "'scale_log2':62", &s), RP_NO);
    CU_ASSERT_EQUAL(s.bound_ns, 131);
    CU_ASSERT_EQUAL(check_edited(&w, "'at_most':0", "'at_most':4096", &s), RP_OK);
    check_edited(&w,
                 "32,'addressed':false,'scale_log2':1,'lower_bound_ns':190,'dep':[[3,0,3,"
                 "200]],'hold':[[0,1,0,0]],'mem':[{'stage':2,'op':2,'multiplier':20",
                 "18,'addressed':false,'scale_log2':1,'lower_bound_ns':0,'dep':[],'hold':"
                 "[],'mem':[{'stage':2,'op':2,'multiplier':" HUGE,
                 &s);
    CU_ASSERT_EQUAL(s.bound_ns, INT64_MAX);
    rp_world_close(&w);
}

/* Slower plans than most_ns may break the rows. On the host a is out of their way. */
static void a_bound_with_swaps_is_at_most_their_time(void) {
    static const int most_ns[] = {230, 150, 100};
    static const uint64_t bound_ns[] = {190, 150, 130};
    char *graph = linked_loop("keep", "keep");
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, graph, LOOP_SIZES, LOOP_STEPS);
    w.p.claims.lower_bound_ns = 130;
    for (int i = 0; i < 3; i++) {
        char *now =
            rp_format("130,'swaps':{'most_ns':%d,'host_budget_bytes':0},'dep'", most_ns[i]);
        CU_ASSERT_EQUAL(check_edited(&w, "190,'dep'", now, &s), RP_OK);
        CU_ASSERT_EQUAL(s.bound_ns, bound_ns[i]);
        free(now);
    }
    CU_ASSERT_EQUAL(check_edited(&w, "'dep'", "'swaps':{'most_ns':230},'dep'", &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, "cover[0]: what fits may count more than 0");
    free(graph);
    rp_world_close(&w);
}

static void sums_beyond_127_bits_are_refused(void) {
    static const struct {
        const char *row;
        int max_n; /* this many copies of the row still fit */
    } cases[] = {
        /* The products 2^62 bytes * 2^63 are the reduced cost of S[3][a], that of R[3][p],
           and the constant. */
        {"{'stage':2,'op':2,'multiplier':" HUGE ",'next':[0]}", 4},
        {"{'stage':3,'op':0,'multiplier':" HUGE ",'runs':[[0,0]]}", 4},
        {"{'stage':0,'op':0,'multiplier':" HUGE ",'runs':[[0,0]]}", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = cases[i].max_n; n <= cases[i].max_n + 1; n++) {
            struct rp_world w;
            struct rp_certified_bound s;
            struct rp_certificate c;
            char *graph =
                replace_and_quote(loop, "'bytes':10", "'bytes':4611686018427387904");
            char *rows = rp_strdup("'dep':[],'hold':[],'mem':["), *text;
            for (int k = 0; k < n; k++) {
                char *more = rp_format("%s%s%s", rows, k ? "," : "", cases[i].row);
                free(rows);
                rows = more;
            }
            rp_world_open(&w, graph, LOOP_SIZES, LOOP_STEPS);
            text = rp_format(proof, w.g.sha256);
            *strstr(text, "'lower_bound_ns'") = '\0';
            char *whole = rp_format("%s'lower_bound_ns':0,%s]}", text, rows);
            free(text);
            text = replace_and_quote(whole, "", "");
            CU_ASSERT_EQUAL(rp_certificate_parse(text, strlen(text), "f", &c, &w.err),
                            RP_OK);
            CU_ASSERT_EQUAL(rp_certificate_check(&c, &w.g, &s, &w.err),
                            n > cases[i].max_n ? RP_NO : RP_OK);
            CU_ASSERT_STRING_EQUAL(w.err.msg,
                                   n > cases[i].max_n ? "a sum passes 127 bits" : "");
            rp_certificate_fini(&c);
            free(graph);
            free(rows);
            free(whole);
            free(text);
            rp_world_close(&w);
        }
}

/* The cover of the memory row says that a, as a whole, cannot stay. That proves 230. */
static void a_cover_uses_that_variables_are_whole_numbers(void) {
    struct rp_world w;
    struct rp_certified_bound s;
    rp_world_open(&w, loop, LOOP_SIZES, LOOP_STEPS);
    w.p.claims.lower_bound_ns = 230;
    CU_ASSERT_EQUAL(
        check_edited(&w, "2,'multiplier':0,'next'", "2,'multiplier':200,'next'", &s),
        RP_NO);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    char *more = replace_and_quote(proof, "2,'multiplier':20,", "2,'multiplier':0,"), *last;
    for (char *c = more; *c != '\0'; c++)
        *c = *c == '"' ? '\'' : *c;
    last = replace_and_quote(more, "2,'multiplier':0,'next':[0],'runs'",
                             "2,'multiplier':200,'next':[0],'runs'");
    char *text = rp_format(last, w.g.sha256);
    struct rp_certificate c;
    CU_ASSERT_EQUAL(rp_certificate_parse(text, strlen(text), "f", &c, &w.err), RP_OK);
    CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &w.g, &w.p, &s, &w.err), RP_OK);
    CU_ASSERT_EQUAL(s.claim_bound_ns, 230);
    rp_certificate_fini(&c);
    free(more);
    free(last);
    free(text);
    rp_world_close(&w);
}

void suite_check_certificate(void) {
    RP_SUITE("check_certificate");
    RP_TEST(a_correct_certificate_supports_its_own_bound_and_the_plans);
    RP_TEST(a_certificate_with_a_wrong_value_is_refused);
    RP_TEST(a_cover_uses_that_variables_are_whole_numbers);
    RP_TEST(stages_may_contain_several_ops);
    RP_TEST(a_digest_of_another_graph_is_refused);
    RP_TEST(a_claim_about_other_plans_is_not_supported);
    RP_TEST(a_claim_about_all_programs_needs_an_end_where_nothing_can_run);
    RP_TEST(a_bound_holds_for_one_order_of_first_runs_only);
    RP_TEST(a_bound_above_the_time_of_the_plan_is_refused);
    RP_TEST(a_faster_plan_of_another_kind_contradicts_no_bound);
    RP_TEST(values_at_their_limits_are_allowed);
    RP_TEST(rows_about_copies_are_derived);
    RP_TEST(rows_about_copies_know_working_sets_and_rates);
    RP_TEST(a_bound_with_swaps_is_at_most_their_time);
    RP_TEST(sums_beyond_127_bits_are_refused);
}
