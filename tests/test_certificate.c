#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "brute.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"
#include "solve/bound.h"
#include "solve/certificate.h"
#include "solve/dual.h"
#include "solve/schedule.h"
#include "solve/tidy.h"
#include "solve/window.h"
#include "verify/certificate.h"

/* ---- by hand ---- */

/* s -p-> a -q-> b -r-> c   a,c -z-> d. With 24 bytes a cannot stay while r runs (10 each of
 * a, b and c), so p runs again: 230 ns. That S[3][a] is at most 0.4 proves 190. */
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
#define LOOP_ROOM "'budget_bytes':32,'addressed':false,'arena_bytes':24,'host_bytes':0"
#define LOOP_STEPS_REST                                                                    \
    "{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':3},{'free':0},{'free':3}"
#define LOOP_STEPS "{'run':0}," LOOP_STEPS_REST

/* %s is the graph's digest. The window row, worth nothing here, says that z can only run if
 * a was there before stage 2 or p runs in 2 or 3. */
static const char proof[] =
    "{'format':'remat-certificate','version':1,'graph':{'name':'loop','sha256':'%s'},"
    "'budget_bytes':32,'addressed':false,'scale_log2':1,'lower_bound_ns':190,"
    "'dep':[[3,0,3,200]],'hold':[[0,1,0,0]],'mem':[{'stage':2,'op':2,'multiplier':20,"
    "'next':[0],'now':[],'runs':[[2,2],[3,2]]}],"
    "'window':[{'first':2,'last':3,'reader':3,'path':[0],'multiplier':0}]}";

/* `text` with ' for ", and the first `was` in it replaced. The caller frees it. */
static char *edit(const char *text, const char *was, const char *now) {
    const char *at = strstr(text, was);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *s = rp_format("%.*s%s%s", (int)(at - text), text, now, at + strlen(was));
    for (char *c = s; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return s;
}

/* What comes of the certificate with `was` replaced, for the plan. */
static rp_rc judge(struct rp_world *w, const char *was, const char *now,
                   struct rp_support *s) {
    struct rp_certificate c;
    char *whole = rp_format(proof, w->g.sha256), *text = edit(whole, was, now);
    w->err.msg[0] = '\0';
    rp_rc rc = rp_certificate_parse(text, strlen(text), "f", &c, &w->err);
    if (rc == RP_OK)
        rc = rp_certificate_check_plan(&c, &w->g, &w->p, s, &w->err);
    rp_certificate_fini(&c);
    free(whole);
    free(text);
    return rc;
}

static void a_certificate_by_hand_supports_its_bound_and_the_plans(void) {
    struct rp_world w;
    struct rp_support s;
    rp_world_open(&w, loop, LOOP_ROOM, LOOP_STEPS);
    CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &w.err), RP_OK);
    CU_ASSERT_EQUAL(w.p.claims.time_ns, 230);
    w.p.claims.lower_bound_ns = 190;
    CU_ASSERT_EQUAL(judge(&w, "200", "200", &s), RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    CU_ASSERT_EQUAL(s.plan_bound_ns, 190);
    CU_ASSERT(!s.in_order);
    /* Another multiplier is another bound, rounded up: 130 + (199 - 20 * 4) / 2 - 1 / 2. */
    CU_ASSERT_EQUAL(judge(&w, "'lower_bound_ns':190,'dep':[[3,0,3,200]]",
                          "'lower_bound_ns':0,'dep':[[3,0,3,197]]", &s),
                    RP_NO);
    CU_ASSERT_EQUAL(s.bound_ns, 189);
    CU_ASSERT_STRING_EQUAL(
        w.err.msg, "certificate: it supports a bound of 189 ns; the plan claims 190");
    w.p.claims.lower_bound_ns = 130;
    /* No rows: each op runs once. The same row twice is the row with both multipliers. */
    CU_ASSERT_EQUAL(judge(&w, "'lower_bound_ns':190,'dep':[[3,0,3,200]]",
                          "'lower_bound_ns':130,'dep':[]", &s),
                    RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 130);
    CU_ASSERT_EQUAL(judge(&w, "[3,0,3,200]", "[3,0,3,150],[3,0,3,50]", &s), RP_OK);
    CU_ASSERT_EQUAL(s.bound_ns, 190);
    CU_ASSERT_EQUAL(judge(&w, "'dep'", "'order':[0,1,2,3],'dep'", &s), RP_OK);
    rp_world_close(&w);
}

static void a_certificate_that_was_tampered_with_is_refused(void) {
#define NO(was, now, message)                                                              \
    { was, now, RP_NO, "certificate: " message }
#define BAD(was, now, message)                                                             \
    { was, now, RP_INPUT, "f: " message }
    static const struct {
        const char *was, *now;
        rp_rc rc;
        const char *message;
    } cases[] = {
        /* The file. */
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
        /* What it is for. */
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
        /* Rows that are none. */
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
        /* Large, but no better. */
        NO("3,200", "3,9223372036854775807",
           "lower_bound_ns is 190, but its rows support 130 only"),
    };
    struct rp_world w;
    struct rp_support s;
    rp_world_open(&w, loop, LOOP_ROOM, LOOP_STEPS);
    w.p.claims.lower_bound_ns = 130;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(judge(&w, cases[i].was, cases[i].now, &s), cases[i].rc);
        if (strcmp(w.err.msg, cases[i].message) != 0)
            printf("case %zu: %s\n", i, w.err.msg);
        CU_ASSERT_STRING_EQUAL(w.err.msg, cases[i].message);
    }
    rp_world_close(&w);
}

static void a_digest_of_another_graph_is_refused(void) {
    struct rp_world w;
    struct rp_support s;
    rp_world_open(&w, loop, LOOP_ROOM, LOOP_STEPS);
    char *message = rp_format("certificate: it is for sha256 0%.63s, the graph has %s",
                              w.g.sha256, w.g.sha256);
    CU_ASSERT_EQUAL(judge(&w, "'sha256':'", "'sha256':'0", &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg, message);
    free(message);
    rp_world_close(&w);
}

/* The bound for all plans of a kind says nothing of a plan of another kind. */
static void a_plan_that_the_bound_is_not_for_has_only_the_sum_of_times(void) {
    static const struct {
        const char *steps, *was, *now, *message;
    } cases[] = {
        {LOOP_STEPS, "'dep'", "'dep'", ""},
        {LOOP_STEPS ",{'run':0},{'free':0}", "'dep'", "'dep'",
         "it runs ops again after the last first run"},
        {"{'run':0},{'run':1},{'swap_out':0},{'free':0},{'run':2},{'free':2},{'swap_in':0},"
         "{'run':3},{'free':0},{'free':3}",
         "'dep'", "'dep'", "it swaps"},
        /* b is made from a that is made for it. In order or not is all the same if no row
         * needs it; r first in stage 3 is one that does. */
        {"{'run':0},{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':0},{'run':3}"
         ","
         "{'free':0},{'free':3}",
         "'dep'", "'dep'", ""},
        {"{'run':0},{'run':1},{'free':0},{'run':2},{'free':2},{'run':0},{'run':0},{'run':3}"
         ","
         "{'free':0},{'free':3}",
         "'mem':[", "'mem':[{'stage':3,'op':2,'multiplier':0},",
         "between two first runs its runs are not in order"},
        {LOOP_STEPS, "'mem':[", "'mem':[{'stage':3,'op':2,'multiplier':0},", ""},
    };
    struct rp_support s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_world w;
        char *graph = edit(loop, "'alignment_bytes':8",
                           "'h2d_bytes_per_s':1,'d2h_bytes_per_s':1,'alignment_bytes':8");
        bool inside = cases[i].message[0] == '\0';
        rp_world_open(&w, graph, LOOP_ROOM ",'notes':{}", cases[i].steps);
        CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &w.err), RP_OK);
        w.p.claims.lower_bound_ns = 131;
        rp_rc rc = judge(&w, cases[i].was, cases[i].now, &s);
        CU_ASSERT_EQUAL(rc, inside ? RP_OK : RP_NO);
        CU_ASSERT_EQUAL(s.bound_ns, 190);
        CU_ASSERT_EQUAL(s.plan_bound_ns, inside ? 190 : 130);
        char *message =
            rp_format("certificate: it supports a bound of 130 ns for this plan "
                      "(%s); the plan claims 131",
                      cases[i].message);
        CU_ASSERT_STRING_EQUAL(w.err.msg, inside ? "" : message);
        free(message);
        free(graph);
        rp_world_close(&w);
    }
}

/* An op e of its own, last in the graph and second in the certificate's order. */
static void a_bound_is_for_one_order_of_first_runs(void) {
    static const char moved[] =
        "'order':[0,4,1,2,3],'dep':[[3,0,4,200]],'hold':[],'mem':[{'stage':3,'op':2,"
        "'multiplier':20,'next':[0],'runs':[[2,2],[3,2]]}]}";
    struct rp_world w;
    struct rp_support s;
    char *tensor = edit(loop, "}],'ops'", "},{'name':'e','bytes':0,'kind':'state'}],'ops'");
    char *graph = edit(tensor, "}],\"keep\"",
                       "},{'name':'y','kind':'k','inputs':[],'outputs':[5],'time_ns':0}],"
                       "'keep'");
    rp_world_open(&w, graph, LOOP_ROOM, "{'run':0},{'run':4}," LOOP_STEPS_REST);
    w.p.claims.lower_bound_ns = 190;
    CU_ASSERT_EQUAL(judge(&w, strstr(proof, "'dep'"), moved, &s), RP_OK);
    CU_ASSERT_EQUAL(s.plan_bound_ns, 190);
    rp_world_close(&w);
    rp_world_open(&w, graph, LOOP_ROOM, LOOP_STEPS ",{'run':4}");
    w.p.claims.lower_bound_ns = 131;
    CU_ASSERT_EQUAL(judge(&w, strstr(proof, "'dep'"), moved, &s), RP_NO);
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           "certificate: it supports a bound of 130 ns for this plan (its "
                           "first runs are in another order); the plan claims 131");
    free(tensor);
    free(graph);
    rp_world_close(&w);
}

static void a_bound_above_a_valid_plan_is_our_own_mistake(void) {
    struct rp_world w;
    struct rp_support s;
    rp_world_open(&w, loop, LOOP_ROOM, LOOP_STEPS);
    w.p.claims.time_ns = 190;
    CU_ASSERT_EQUAL(judge(&w, "dep", "dep", &s), RP_OK);
    w.p.claims.time_ns = 189;
    CU_ASSERT_EQUAL(judge(&w, "dep", "dep", &s), RP_BUG);
    rp_world_close(&w);
}

#define HUGE "9223372036854775807"
static void sums_beyond_127_bits_are_refused(void) {
    static const struct {
        const char *row;
        int most; /* so many of them are still fine */
    } cases[] = {
        /* 2^62 bytes times 2^63: the price of S[3][a], of R[3][p], and what is constant. */
        {"{'stage':2,'op':2,'multiplier':" HUGE ",'next':[0]}", 4},
        {"{'stage':3,'op':0,'multiplier':" HUGE ",'runs':[[0,0]]}", 4},
        {"{'stage':0,'op':0,'multiplier':" HUGE ",'runs':[[0,0]]}", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = cases[i].most; n <= cases[i].most + 1; n++) {
            struct rp_world w;
            struct rp_support s;
            struct rp_certificate c;
            char *graph = edit(loop, "'bytes':10", "'bytes':4611686018427387904");
            char *rows = rp_strdup("'dep':[],'hold':[],'mem':["), *text;
            for (int k = 0; k < n; k++) {
                char *more = rp_format("%s%s%s", rows, k ? "," : "", cases[i].row);
                free(rows);
                rows = more;
            }
            rp_world_open(&w, graph, LOOP_ROOM, LOOP_STEPS);
            text = rp_format(proof, w.g.sha256);
            *strstr(text, "'lower_bound_ns'") = '\0';
            char *whole = rp_format("%s'lower_bound_ns':0,%s]}", text, rows);
            free(text);
            text = edit(whole, "", "");
            CU_ASSERT_EQUAL(rp_certificate_parse(text, strlen(text), "f", &c, &w.err),
                            RP_OK);
            CU_ASSERT_EQUAL(rp_certificate_check(&c, &w.g, &s, &w.err),
                            n > cases[i].most ? RP_NO : RP_OK);
            CU_ASSERT_STRING_EQUAL(
                w.err.msg, n > cases[i].most ? "certificate: a sum passes 127 bits" : "");
            rp_certificate_fini(&c);
            free(graph);
            free(rows);
            free(whole);
            free(text);
            rp_world_close(&w);
        }
}

/* ---- at random ---- */

struct instance {
    struct rp_graph g;
    struct rp_problem p;
    uint64_t budget_bytes, best_ns; /* the optimum */
    uint64_t free_ns; /* of plans whose runs between first runs are in any order */
};

static void build(uint64_t seed, struct instance *i) {
    struct rp_rng r = {seed * 77};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 4));
    shape.training = rp_rng_percent(&r, 50);
    shape.once_percent = rp_rng_percent(&r, 30) ? 15 : 0;
    shape.max_outputs = rp_rng_percent(&r, 30) ? 2 : 1;
    shape.n_ops -= shape.max_outputs - 1;
    for (;; seed += 1000000) {
        rp_gen_graph(seed, &shape, &i->g);
        rp_problem_init(&i->p, &i->g, i->g.fixed_bytes, false, NULL);
        if (i->p.n_tensors <= 7)
            break;
        rp_problem_fini(&i->p);
        rp_graph_fini(&i->g);
    }
    i->p.limit_bytes = rp_brute_floor(&i->g) + rp_rng_below(&r, 2000);
    i->budget_bytes = i->g.fixed_bytes + i->p.limit_bytes;
    CU_ASSERT_FATAL(rp_brute_best(&i->g, i->p.limit_bytes, &i->best_ns));
    CU_ASSERT_FATAL(rp_brute_free_best(&i->g, i->p.limit_bytes, &i->free_ns));
}

static void drop(struct instance *i) {
    rp_problem_fini(&i->p);
    rp_graph_fini(&i->g);
}

/* The rows and multipliers of the planner, through a file and back. */
static rp_rc round_trip(const struct instance *i, const struct rp_rows *rows,
                        const int64_t *m, unsigned log2, uint64_t bound_ns,
                        struct rp_certificate *c, struct rp_err *err) {
    char path[] = "/tmp/remat-plan-test-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    rp_rc rc = rp_certificate_save(path, &i->g, &i->p, false, i->budget_bytes, rows, m,
                                   log2, bound_ns, err);
    if (rc == RP_OK)
        rc = rp_certificate_load(path, c, err);
    unlink(path);
    return rc;
}

/* A memory row with whatever terms come. */
static void add_random_row(const struct instance *i, struct rp_rng *r, bool last_only,
                           struct rp_certificate *c) {
    const struct rp_graph *g = &i->g;
    uint32_t t = (uint32_t)rp_rng_below(r, g->n_ops);
    struct rp_claim mem = {.kind = RP_CLAIM_MEM, .t = t, .first_id = c->ids.n};
    mem.op = last_only ? t : (uint32_t)rp_rng_below(r, t + 1);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        uint32_t readers = g->reader_start[x + 1] - g->reader_start[x];
        uint64_t what = rp_rng_below(r, 5);
        if (g->tensors[x].producer == RP_NONE || what == 0)
            continue;
        uint32_t term = what == 1   ? RP_CLAIM_NEXT
                        : what == 2 ? RP_CLAIM_NOW
                        : what == 3 || readers == 0
                            ? g->tensors[x].producer
                            : g->readers[g->reader_start[x] + rp_rng_below(r, readers)];
        rp_push(&c->ids, x);
        rp_push(&c->ids, term);
    }
    mem.n_ids = c->ids.n - mem.first_id;
    rp_push(&c->rows, mem);
}

/* Takes the pairs of a memory row out that the check refuses, one by one; false if the row
 * itself is refused. */
static bool trim(const struct instance *i, struct rp_certificate *c, size_t row) {
    struct rp_support s;
    for (;;) {
        struct rp_claim *r = &c->rows.at[row];
        uint32_t *ids = c->ids.at + r->first_id;
        size_t good = 0, all = r->n_ids;
        struct rp_err err = {{0}};
        if (rp_certificate_check(c, &i->g, &s, &err) == RP_OK)
            return true;
        for (; good < all; good += 2) { /* the first pair at which it is refused */
            err.msg[0] = '\0';
            r->n_ids = good + 2;
            if (rp_certificate_check(c, &i->g, &s, &err) != RP_OK)
                break;
        }
        if (good >= all)
            return false;
        memmove(ids + good, ids + good + 2, (all - good - 2) * sizeof *ids);
        r->n_ids = all - 2;
    }
}

/* ---- row by row ---- */

/* R and S of one schedule, and its peak. */
struct point {
    const struct rp_graph *g;
    bool run[16][16], held[17][16]; /* by stage, then op or tensor of the graph */
    uint64_t peak_bytes;
};

/* A random sound schedule without idle holds. */
static bool draw_point(struct instance *i, struct rp_rng *r, struct point *v) {
    struct rp_schedule s;
    struct rp_stage_work w;
    struct rp_problem *p = &i->p;
    uint32_t percent = (uint32_t)rp_rng_below(r, 40);
    *v = (struct point){.g = &i->g};
    rp_schedule_keep_all(p, &s);
    for (uint32_t t = 1; t < p->n_ops; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (p->producer[x] < t && rp_rng_percent(r, percent))
                rp_schedule_set(&s, x, t, t, !rp_held(&s, t, x));
    bool sound = rp_schedule_cost(p, &s).sound && rp_schedule_tidy(p, &s);
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && sound; t++) {
        sound = rp_stage_eval(p, &s, t, &w);
        for (uint32_t k = 0; k < w.stage.n_runs; k++)
            v->run[t][w.stage.runs[k]] = true;
    }
    for (uint32_t t = 0; t <= p->n_ops && sound; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            v->held[t][p->tensor_of[x]] = rp_held(&s, t, x);
    v->peak_bytes = sound ? rp_schedule_cost(p, &s).peak_bytes : 0;
    rp_stage_work_fini(&w);
    rp_schedule_fini(&s);
    return sound;
}

/* Does the point meet the row? Read off the row's definition. */
static bool meets(const struct point *v, const struct rp_claim *row, const uint32_t *ids) {
    uint32_t t = row->t, x = row->kind == RP_CLAIM_WINDOW ? ids[0] : row->tensor;
    const struct rp_tensor *tensors = v->g->tensors;
    uint64_t bytes = 0, right = 0;
    if (row->kind == RP_CLAIM_DEP)
        return v->run[t][row->op] <= v->run[t][tensors[x].producer] + v->held[t][x];
    if (row->kind == RP_CLAIM_HOLD)
        return v->held[t + 1][x] <= v->run[t][tensors[x].producer] + v->held[t][x];
    if (row->kind == RP_CLAIM_MEM) {
        for (size_t k = 0; k < row->n_ids; k += 2)
            bytes += tensors[ids[k]].bytes *
                     (ids[k + 1] == RP_CLAIM_NEXT  ? v->held[t + 1][ids[k]]
                      : ids[k + 1] == RP_CLAIM_NOW ? v->held[t][ids[k]]
                                                   : v->run[t][ids[k + 1]]);
        bytes += v->run[t][row->op] ? v->g->ops[row->op].workspace_bytes : 0;
        return bytes <= v->peak_bytes;
    }
    for (size_t k = 0; k < row->n_ids; k++)
        right += v->held[row->from][ids[k]];
    for (uint32_t s = row->from; s <= t; s++)
        right += v->run[s][tensors[ids[row->n_ids - 1]].producer];
    return (row->op == RP_NONE ? v->held[t + 1][x] : v->run[t][row->op]) <= right;
}

/* One row of any kind with any indices, most of them wrong. */
static void draw_row(const struct instance *i, struct rp_rng *r, struct rp_certificate *c) {
    const struct rp_graph *g = &i->g;
    struct rp_claim row = {.kind = (enum rp_claim_kind)rp_rng_below(r, 4)};
    c->rows.n = c->ids.n = 0;
    row.t = (uint32_t)rp_rng_below(r, g->n_ops);
    row.from = (uint32_t)rp_rng_below(r, g->n_ops);
    row.op = (uint32_t)rp_rng_below(r, g->n_ops);
    row.tensor = (uint32_t)rp_rng_below(r, g->n_tensors);
    row.n_ids = 1 + rp_rng_below(r, 3);
    for (size_t k = 0; k < row.n_ids && row.kind == RP_CLAIM_WINDOW; k++)
        rp_push(&c->ids, (uint32_t)rp_rng_below(r, g->n_tensors));
    if (row.kind == RP_CLAIM_WINDOW && rp_rng_percent(r, 50))
        row.op = RP_NONE;
    if (row.kind == RP_CLAIM_MEM)
        add_random_row(i, r, false, c);
    else
        rp_push(&c->rows, row);
}

static uint32_t n_accepted[4], n_refused[4];

static bool rows_of_one_graph(uint64_t seed) {
    struct rp_rng r = {seed};
    struct instance i;
    struct point v[8];
    uint32_t n = 0;
    bool good = true;
    build(seed, &i);
    struct rp_certificate c = {
        .graph_name = i.g.name, .graph_sha256 = i.g.sha256, .budget_bytes = i.budget_bytes};
    for (int k = 0; k < 16 && n < 8; k++)
        n += draw_point(&i, &r, &v[n]);
    for (int k = 0; k < 400 && good; k++) {
        struct rp_support s;
        struct rp_err err = {{0}};
        draw_row(&i, &r, &c);
        enum rp_claim_kind kind = c.rows.at[0].kind;
        bool accepted = rp_certificate_check(&c, &i.g, &s, &err) == RP_OK;
        n_refused[kind] += !accepted;
        if (!accepted && kind == RP_CLAIM_MEM)
            accepted = trim(&i, &c, 0);
        n_accepted[kind] += accepted;
        for (uint32_t q = 0; q < n && accepted && good; q++)
            good = meets(&v[q], &c.rows.at[0], c.ids.at);
    }
    free(c.rows.at);
    free(c.ids.at);
    drop(&i);
    return good;
}

static void every_row_that_is_accepted_holds_for_every_schedule(void) {
    uint32_t n = 200;
    uint64_t seed = rp_gen_seed(1, &n);
    uint32_t all = n;
    for (int k = 0; k < 4; k++)
        n_accepted[k] = n_refused[k] = 0;
    for (; n > 0; n--, seed++)
        if (!rows_of_one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a row is not true");
            return;
        }
    for (int k = 0; k < 4; k++) {
        CU_ASSERT(all == 1 || n_accepted[k] > 300);
        CU_ASSERT(all == 1 || n_refused[k] > 300);
    }
}

/* Raises the bound by changing one multiplier at a time. */
static uint64_t climb(const struct instance *i, struct rp_rng *r,
                      struct rp_certificate *c) {
    struct rp_support s;
    struct rp_err err = {{0}};
    c->lower_bound_ns = 0;
    CU_ASSERT_EQUAL(rp_certificate_check(c, &i->g, &s, &err), RP_OK);
    uint64_t best = s.bound_ns;
    for (int k = 0; k < 400 && c->rows.n > 0; k++) {
        struct rp_claim *row = &c->rows.at[rp_rng_below(r, c->rows.n)];
        uint64_t old = row->multiplier, unit = (uint64_t)1 << c->scale_log2;
        bool bytes = row->kind == RP_CLAIM_MEM;
        uint64_t change =
            bytes ? unit / (1 + rp_rng_below(r, 500)) : unit * rp_rng_below(r, 100);
        row->multiplier = rp_rng_percent(r, 50) ? old + change
                          : old > change        ? old - change
                                                : 0;
        if (rp_certificate_check(c, &i->g, &s, &err) == RP_OK && s.bound_ns >= best)
            best = s.bound_ns;
        else
            row->multiplier = old;
    }
    return best;
}

static uint32_t n_proved; /* more than the sum of times */

static bool one_graph(uint64_t seed) {
    struct rp_rng r = {seed};
    struct instance i;
    struct rp_certificate c;
    struct rp_support s;
    struct rp_err err = {{0}};
    unsigned log2;
    build(seed, &i);
    struct rp_bound *b = rp_bound_new(&i.p);
    rp_bound_run(b, 300000, INFINITY, NULL);
    const int64_t *m = rp_bound_multipliers(b, &log2);
    uint64_t bound = rp_bound_ns(b);
    bool good = round_trip(&i, rp_bound_rows(b), m, log2, bound, &c, &err) == RP_OK &&
                rp_certificate_check(&c, &i.g, &s, &err) == RP_OK && s.bound_ns == bound &&
                c.lower_bound_ns == bound;
    bool last_only = rp_rng_percent(&r, 50);
    size_t n = 0;
    for (size_t k = 0; k < c.rows.n && good; k++) /* others ask for order in a stage */
        if (!last_only || c.rows.at[k].kind != RP_CLAIM_MEM ||
            c.rows.at[k].op == c.rows.at[k].t)
            c.rows.at[n++] = c.rows.at[k];
    c.rows.n = n;
    c.lower_bound_ns = 0;
    for (int k = 0; k < 12 && good; k++) {
        add_random_row(&i, &r, last_only, &c);
        if (!trim(&i, &c, c.rows.n - 1))
            c.rows.n--;
    }
    if (good) {
        uint64_t climbed = climb(&i, &r, &c);
        n_proved += climbed > i.g.total_time_ns;
        good = climbed <= i.best_ns && (!last_only || climbed <= i.free_ns);
    }
    rp_certificate_fini(&c);
    rp_bound_free(b);
    drop(&i);
    return good;
}

static void no_rows_that_are_accepted_prove_more_than_the_optimum(void) {
    uint32_t n = 200;
    uint64_t seed = rp_gen_seed(1, &n);
    uint32_t all = n;
    n_proved = 0;
    for (; n > 0; n--, seed++)
        if (!one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a certificate is wrong");
            return;
        }

    CU_ASSERT(all == 1 || n_proved > 50);
}

/* Any rows of the planner with any multipliers come to the same here and there. */
static bool one_sum(uint64_t seed, uint32_t *n_rows) {
    struct rp_rng r = {seed};
    struct instance i;
    struct rp_form f;
    struct rp_memory memory;
    struct rp_windows windows;
    struct rp_rows rows = {0};
    struct rp_certificate c;
    struct rp_support s = {0};
    struct rp_err err = {{0}};
    uint64_t bound = 0;
    build(seed, &i);
    i.p.limit_bytes =
        rp_rng_below(&r, i.p.limit_bytes / 2 + 1); /* too little: much to sum */
    i.budget_bytes = i.g.fixed_bytes + i.p.limit_bytes;
    rp_form_init(&f, &i.p, &(struct rp_form_options){0});
    rp_memory_init(&memory, &f);
    rp_windows_init(&windows, &f);
    double *v = calloc(f.n_cols + 1, sizeof *v);
    for (uint32_t k = 0; k < f.n_cols; k++)
        v[k] = (double)rp_rng_below(&r, 5) / 4;
    rp_form_rows(&f, &rows);
    for (uint32_t t = 0; t < i.p.n_ops; t++)
        for (uint32_t k = 0; k < 3; k++)
            rp_memory_row(&memory, t, (uint32_t)rp_rng_below(&r, t + 1), k ? v : NULL,
                          &rows);
    rp_windows_find(&windows, v, 0.01, 20, &rows);
    int64_t *m = calloc(rows.n + 1, sizeof *m);
    for (uint32_t k = 0; k < rows.n; k++)
        m[k] = rp_rng_percent(&r, 90)            ? 0
               : rows.name[k].kind == RP_ROW_MEM ? (int64_t)rp_rng_below(&r, 20)
                                                 : (int64_t)rp_rng_below(&r, 100000);
    bool good = rp_dual_bound(&f, &rows, m, 10, &bound);
    bound = bound > i.g.total_time_ns ? bound : i.g.total_time_ns;
    good = good && round_trip(&i, &rows, m, 10, bound, &c, &err) == RP_OK &&
           rp_certificate_check(&c, &i.g, &s, &err) == RP_OK && s.bound_ns == bound;
    *n_rows += bound > i.g.total_time_ns;
    if (!good)
        printf("%s: %" PRIu64 ", %" PRIu64 "\n", err.msg, bound, s.bound_ns);
    free(v);
    free(m);
    rp_certificate_fini(&c);
    rp_windows_fini(&windows);
    rp_memory_fini(&memory);
    rp_rows_fini(&rows);
    rp_form_fini(&f);
    drop(&i);
    return good;
}

static void planner_and_checker_agree_on_what_rows_come_to(void) {
    uint32_t n = 300, n_above = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    uint32_t all = n;
    for (; n > 0; n--, seed++)
        if (!one_sum(seed, &n_above)) {
            rp_gen_failed(seed);
            CU_FAIL("planner and checker disagree");
            return;
        }
    CU_ASSERT(all == 1 || n_above > 50);
}

void suite_certificate(void) {
    RP_SUITE("certificate");
    RP_TEST(a_certificate_by_hand_supports_its_bound_and_the_plans);
    RP_TEST(a_certificate_that_was_tampered_with_is_refused);
    RP_TEST(a_digest_of_another_graph_is_refused);
    RP_TEST(a_plan_that_the_bound_is_not_for_has_only_the_sum_of_times);
    RP_TEST(a_bound_is_for_one_order_of_first_runs);
    RP_TEST(a_bound_above_a_valid_plan_is_our_own_mistake);
    RP_TEST(sums_beyond_127_bits_are_refused);
    RP_TEST(every_row_that_is_accepted_holds_for_every_schedule);
    RP_TEST(no_rows_that_are_accepted_prove_more_than_the_optimum);
    RP_TEST(planner_and_checker_agree_on_what_rows_come_to);
}
