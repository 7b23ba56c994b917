/* Tests of what version 2 graphs demand of plans, on graphs small enough to plan by hand.
 * Each graph has a faster plan, or one in less memory, if its rule is left out. */
#include "solve/core/instance.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "brute.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"
#include "solve/core/schedule.h"
#include "solve/solver.h"

#define HEAD                                                                               \
    "{'format':'remat-graph','version':2,'name':'net','time_source':'imported:test',"      \
    "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"                          \
    "'d2h_bytes_per_s':1000000000},'tensors':["
#define TENSOR(name, bytes, more)                                                          \
    "{'name':'" name "','bytes':" bytes ",'kind':'activation'" more "},"
#define LAST "{'name':'v','bytes':0,'kind':'activation'}],'keep':[],'ops':["
#define OP(name, in, out, ns, more)                                                        \
    "{'name':'" name "','kind':'k','inputs':[" in "],'outputs':[" out                      \
    "],'time_ns':" ns more "}"

#define UPDATE ",'updates':[0]"
#define NO_UPDATE ",'recompute':false"

struct answer {
    rp_rc rc;
    uint64_t more_ns; /* than all ops once */
    char runs[64];    /* the first letters of the ops, in the order of the plan */
};

static struct answer solve(const char *graph, uint64_t limit_bytes, bool reorder,
                           bool swap) {
    struct answer a = {0};
    struct rp_plan plan;
    struct rp_world w;
    struct rp_solve_report report;
    rp_world_open(&w, graph, SUM, "");
    struct rp_solve_options o = {.budget_bytes = w.g.fixed_bytes + limit_bytes,
                                 .recompute = true,
                                 .reorder = reorder,
                                 .swap = swap,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .time_limit = 0.1,
                                 .ignore_clock = true,
                                 .seed = 1};
    a.rc = rp_solve(&w.g, &o, &plan, &report, &w.err);
    for (size_t i = 0, n = 0; i < plan.steps.n && n < sizeof a.runs - 1; i++)
        if (plan.steps.at[i].kind == RP_RUN)
            a.runs[n++] = w.g.ops[plan.steps.at[i].id].name[0];
    a.more_ns = plan.claims.time_ns - w.g.total_time_ns;
    rp_plan_fini(&plan);
    rp_world_close(&w);
    return a;
}

/* ---- sources that may live on the host, in random graphs ---- */

static bool touches(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    for (uint32_t k = 0; k < op->n_updates; k++)
        if (op->updates[k] == x)
            return true;
    return false;
}

/* n_ops if no op uses it. */
static uint32_t first_use(const struct rp_graph *g, uint32_t x) {
    uint32_t i = 0;
    while (i < g->n_ops && !touches(&g->ops[i], x))
        i++;
    return i;
}

static bool lists_each_source_by_first_use(const struct rp_instance *p) {
    const struct rp_graph *g = p->graph;
    uint32_t n = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        n += g->tensors[x].producer == RP_NONE &&
             (g->tensors[x].home == RP_HOME_HOST ||
              (g->tensors[x].home == RP_HOME_ANY && g->tensors[x].bytes > 0));
    bool right = p->n_homes == n && p->n_ops == g->n_ops + (n > 0);
    right = right && (n > 0 ? p->op_of[0] == RP_NONE : p->op_of[0] == 0);
    for (uint32_t x = 1; x < n && right; x++)
        right = first_use(g, p->tensor_of[x - 1]) >= first_use(g, p->tensor_of[x]);
    return right;
}

/* With this host memory no source fits that may stay on the device; with a byte more, one.
 */
static bool leaves_no_source_room(const struct rp_graph *g) {
    uint64_t bytes = rp_host_bytes_without_sources(g);
    bool fits_with_more = bytes == RP_NO_LIMIT;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == RP_HOME_ANY && g->tensors[x].bytes > 0) {
            if (g->tensors[x].bytes <= bytes)
                return false;
            fits_with_more = fits_with_more || g->tensors[x].bytes == bytes + 1;
        }
    return fits_with_more;
}

static void each_source_that_may_move_is_listed_by_its_first_use(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(6);
        struct rp_graph g;
        struct rp_instance p;
        shape.version_2 = true;
        shape.n_sources = (uint32_t)(seed % 7);
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init_homes(&p, &g, RP_MAX_QUANTITY, false, NULL);
        if (!lists_each_source_by_first_use(&p) || !leaves_no_source_room(&g)) {
            rp_gen_failed(seed);
            CU_FAIL("a source is missing, or in the wrong place");
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

static void the_floor_is_between_the_kept_tensors_and_the_least_peak(void) {
    uint32_t n = 200, n_kept = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4);
        struct rp_graph g;
        struct rp_instance p;
        uint64_t kept_bytes = 0;
        uint32_t op;
        shape.keep_percent = 60;
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init(&p, &g, RP_MAX_QUANTITY, false, NULL);
        for (uint32_t x = 0; x < g.n_tensors; x++)
            if (g.kept[x] && g.tensors[x].producer != RP_NONE)
                kept_bytes += g.tensors[x].bytes;
        uint64_t floor_bytes = rp_instance_floor(&p, &op);
        uint64_t *working_sets = rp_instance_working_sets(&p), largest = 0;
        for (uint32_t j = 0; j < p.n_ops; j++)
            largest = rp_max_u64(largest, working_sets[j]);
        free(working_sets);
        n_kept += op == RP_NONE;
        if (floor_bytes != rp_max_u64(largest, kept_bytes) || floor_bytes < kept_bytes ||
            floor_bytes > rp_brute_floor(&g) ||
            (op == RP_NONE && floor_bytes != kept_bytes)) {
            rp_gen_failed(seed);
            CU_FAIL("no such floor");
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
    CU_ASSERT(n_kept > 5 || rp_gen_one_seed());
}

/* The op that needs most is named, the first of these, and none where nothing needs
 * anything. In the last graph x cannot be made again, and lies there while g reads it. */
static void the_floor_names_the_first_op_that_needs_as_much(void) {
    static const struct {
        const char *graph;
        uint64_t floor_bytes;
        uint32_t op;
    } cases[] = {
        {HEAD TENSOR("x", "10", ",'held':true") LAST OP("f", "1", "0", "10", "") "]}", 10,
         0},
        {HEAD TENSOR("x", "0", ",'held':true") LAST OP("f", "1", "0", "10", "") "]}", 0,
         RP_NONE},
        {HEAD TENSOR("x", "10", "") TENSOR("y", "10", "")
             LAST OP("f", "2", "0", "10", NO_UPDATE) "," OP("g", "0", "1", "10", "") "]}",
         20, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_world w;
        struct rp_instance p;
        uint32_t op = 77;
        rp_world_open(&w, cases[i].graph, SUM, "");
        rp_instance_init(&p, &w.g, 0, false, NULL);
        CU_ASSERT_EQUAL(rp_instance_floor(&p, &op), cases[i].floor_bytes);
        CU_ASSERT_EQUAL(op, cases[i].op);
        rp_instance_fini(&p);
        rp_world_close(&w);
    }
}

/* It is never on the device, and takes its room on the host. */
static void a_source_that_nothing_uses_is_not_swapped_in(void) {
    struct rp_world w;
    struct rp_instance p;
    struct rp_schedule s;
    rp_world_open(&w,
                  HEAD TENSOR("w", "8", ",'home':'host'") TENSOR("x", "10", "")
                      LAST OP("f", "", "1", "10", "") "," OP("g", "1", "2", "10", "") "]}",
                  SUM, "");
    rp_instance_init_homes(&p, &w.g, 100, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, 100));
    rp_schedule_keep_all(&p, &s);
    struct rp_cost c = rp_schedule_cost(&p, &s);
    CU_ASSERT(c.sound && c.peak_bytes == 10 && c.host_bytes == 8);
    CU_ASSERT_FALSE(rp_schedule_swaps(&s));
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_world_close(&w);
}

/* u and v update it, one after the other, so only its first content comes from there. */
static void a_source_on_the_host_is_swapped_in_once(void) {
    struct rp_world w;
    struct rp_instance p;
    struct rp_schedule s;
    rp_world_open(&w,
                  HEAD TENSOR("w", "8", ",'home':'host'") LAST OP(
                      "u", "", "", "10", UPDATE) "," OP("v", "", "", "10", UPDATE) "]}",
                  SUM, "");
    rp_instance_init_homes(&p, &w.g, 100, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, 100) && p.n_homes == 1 && p.n_tensors == 3);
    rp_schedule_keep_all(&p, &s);
    CU_ASSERT(rp_schedule_cost(&p, &s).sound);
    uint64_t *swapped = rp_schedule_swapped(&s);
    CU_ASSERT_EQUAL(*swapped, 1);
    free(swapped);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_world_close(&w);
}

/* ---- updates ---- */

/* x does not fit beside the workspace of h. e reads it at the end, after u. */
#define UPDATING(more)                                                                     \
    HEAD TENSOR("w", "8", "") TENSOR("x", "10", "") TENSOR("y", "10", "") TENSOR("z",      \
                                                                                 "10", "") \
        LAST OP("f", "0", "1", "10", "") "," OP("g", "1", "2", "10", "") "," OP(           \
            "h", "2", "3", "10",                                                           \
            ",'workspace_bytes':10") "," OP("u", "3", "", "1",                             \
                                            more) "," OP("e", "1,3", "4", "10", "") "]}"

static void an_op_does_not_run_again_once_what_it_reads_was_updated(void) {
    struct answer a = solve(UPDATING(UPDATE), 30, false, false);
    CU_ASSERT_EQUAL(a.rc, RP_OK);
    CU_ASSERT_EQUAL(a.more_ns, 10);
    CU_ASSERT_STRING_EQUAL(a.runs, "fghfue");
    /* Beside the workspace of u there is no room for x. */
    a = solve(UPDATING(NO_UPDATE ",'workspace_bytes':20"), 30, false, false);
    CU_ASSERT_EQUAL(a.rc, RP_OK);
    CU_ASSERT_STRING_EQUAL(a.runs, "fghufe");
    a = solve(UPDATING(UPDATE ",'workspace_bytes':20"), 30, false, false);
    CU_ASSERT_EQUAL(a.rc, RP_NO);
    a = solve(UPDATING(UPDATE ",'workspace_bytes':20"), 40, false, false);
    CU_ASSERT_EQUAL(a.rc, RP_OK);
    CU_ASSERT_EQUAL(a.more_ns, 0);
}

static void the_last_stage_of_an_op_is_that_of_the_next_update(void) {
    struct rp_world w;
    struct rp_instance p;
    rp_world_open(&w, UPDATING(UPDATE), SUM, "");
    rp_instance_init(&p, &w.g, w.g.fixed_bytes, false, NULL);
    static const uint32_t last_stage[] = {3, 5, 5, 3, 5};
    CU_ASSERT_EQUAL(memcmp(p.last_stage, last_stage, sizeof last_stage), 0);
    CU_ASSERT(p.irreplaceable[0] && !p.irreplaceable[1] && !p.irreplaceable[2]);
    rp_instance_run_once(&p);
    CU_ASSERT(p.last_stage[0] == 0 && p.irreplaceable[0] && p.irreplaceable[2]);
    rp_instance_any_order(&p);
    CU_ASSERT(p.last_stage[3] == 5 && !p.irreplaceable[0]);
    rp_update_order_fini(&p.updates); /* it is zero, so that it may be given back again */
    rp_instance_fini(&p);
    rp_world_close(&w);
}

/* ---- held tensors ---- */

#define HOLDING(held)                                                                      \
    HEAD TENSOR("x", "10", held) TENSOR("y", "10", "") TENSOR("z", "10", "")               \
        LAST OP("f", "", "0", "10", "") "," OP("g", "0", "1", "10", "") "," OP(            \
            "h", "1", "2", "10", ",'workspace_bytes':10") "," OP("e", "2", "3", "10",      \
                                                                 "") "]}"

static void in_any_order_nothing_is_held(void) {
    struct rp_world w;
    struct rp_instance p;
    rp_world_open(&w, HOLDING(",'held':true"), SUM, "");
    rp_instance_init(&p, &w.g, 0, false, NULL);
    CU_ASSERT(p.pinned[0] && p.irreplaceable[0]);
    rp_instance_any_order(&p);
    CU_ASSERT(!p.pinned[0] && !p.irreplaceable[0]);
    rp_instance_for_certificate(&p);
    CU_ASSERT(p.last_stage[0] == 4 && !p.kept[0]);
    rp_instance_fini(&p);
    rp_instance_fini(&p); /* it is zero */
    rp_world_close(&w);
}

/* f reads w, which u updates, and makes x, which is held. g runs once. */
static void certificates_know_no_updates_no_held_tensors_and_no_homes(void) {
    struct rp_world w;
    struct rp_instance p;
    rp_world_open(
        &w,
        HEAD TENSOR("w", "8", ",'home':'any'") TENSOR("x", "10",
                                                      ",'held':true") TENSOR("y", "10", "")
            LAST OP("f", "0", "1", "10", "") "," OP("g", "1", "2", "10", NO_UPDATE) "," OP(
                "u", "1", "", "1", UPDATE) "," OP("e", "1,2", "3", "10", "") "]}",
        SUM, "");
    rp_instance_init(&p, &w.g, w.g.fixed_bytes + 100, false, NULL);
    CU_ASSERT(p.limit_bytes == 100 && p.kept[0] && p.last_stage[0] == 2);
    rp_instance_for_certificate(&p);
    static const uint32_t last_stage[] = {4, 1, 4, 4};
    CU_ASSERT_EQUAL(memcmp(p.last_stage, last_stage, sizeof last_stage), 0);
    CU_ASSERT(p.limit_bytes == 108 && !p.pinned[0] && !p.kept[0]);
    CU_ASSERT(!p.irreplaceable[0] && p.irreplaceable[1]);
    rp_instance_fini(&p);
    rp_world_close(&w);
}

static void a_held_tensor_stays_though_nothing_reads_it(void) {
    CU_ASSERT_EQUAL(solve(HOLDING(""), 30, false, true).rc, RP_OK);
    CU_ASSERT_EQUAL(solve(HOLDING(",'held':true"), 39, false, true).rc, RP_NO);
    CU_ASSERT_NOT_EQUAL(solve(HOLDING(",'held':true"), 39, true, true).rc, RP_OK);
    struct answer a = solve(HOLDING(",'held':true"), 40, false, true);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 0);
}

/* ---- ops that cannot rewrite ---- */

/* z does not fit beside the workspace of a, so k runs again. */
#define REWRITING(held, rewrites)                                                          \
    HEAD TENSOR("y", "10", held) TENSOR("z", "10", "") TENSOR("p", "1", "")                \
        LAST OP("k", "", "0,1", "100", ",'workspace_bytes':5" rewrites) "," OP(            \
            "a", "0", "2", "10", ",'workspace_bytes':20") "," OP("e", "0,1,2", "3", "10",  \
                                                                 "") "]}"

static void a_run_that_cannot_rewrite_needs_its_outputs_twice(void) {
    struct answer a = solve(REWRITING(",'held':true", ""), 31, false, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 100);
    for (uint64_t limit = 31; limit < 36; limit++) {
        a = solve(REWRITING(",'held':true", ",'rewrites':false"), limit, false, false);
        CU_ASSERT_EQUAL(a.rc, RP_NO);
    }
    a = solve(REWRITING(",'held':true", ",'rewrites':false"), 36, false, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 100);
    /* If y may be freed before, it is made again instead. */
    a = solve(REWRITING("", ",'rewrites':false"), 31, false, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 100);
}

/* ---- orders ---- */

/* x does not fit beside the workspace of b, unless b runs before a or after c. */
#define ORDERED(a, b, c)                                                                   \
    HEAD TENSOR("w", "8", "") TENSOR("x", "20", "") TENSOR("y", "1", "")                   \
        TENSOR("z", "1", "") LAST OP("a", "0", "1", "100", a) "," OP(                      \
            "b", "", "2", "10",                                                            \
            ",'workspace_bytes':20" b) "," OP("c", "0,1", "3", "10",                       \
                                              c) "," OP("d", "2,3", "4", "10", "") "]}"
#define IN_ORDER ",'ordered':true"

static void first_runs_of_ordered_ops_keep_their_order(void) {
    struct answer a = solve(ORDERED("", "", ""), 30, true, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 0);
    a = solve(ORDERED(IN_ORDER, IN_ORDER, ""), 30, true, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 0);
    CU_ASSERT_STRING_EQUAL(a.runs, "acbd");
    a = solve(ORDERED("", IN_ORDER, IN_ORDER), 30, true, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 0);
    CU_ASSERT_STRING_EQUAL(a.runs, "bacd");
    a = solve(ORDERED(IN_ORDER, IN_ORDER, IN_ORDER), 30, true, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 100);
    CU_ASSERT_STRING_EQUAL(a.runs, "abacd");
}

static void updates_keep_their_place_in_another_order(void) {
    struct answer a = solve(ORDERED("", ",'updates':[0]", ""), 40, true, false);
    CU_ASSERT_NOT_EQUAL(a.rc, RP_OK);
    a = solve(ORDERED("", ",'updates':[0]", ""), 41, true, false);
    CU_ASSERT(a.rc == RP_OK && a.more_ns == 0);
    CU_ASSERT_STRING_EQUAL(a.runs, "abcd");
}

void suite_instance(void) {
    RP_SUITE("instance");
    RP_TEST(each_source_that_may_move_is_listed_by_its_first_use);
    RP_TEST(the_floor_is_between_the_kept_tensors_and_the_least_peak);
    RP_TEST(the_floor_names_the_first_op_that_needs_as_much);
    RP_TEST(a_source_that_nothing_uses_is_not_swapped_in);
    RP_TEST(a_source_on_the_host_is_swapped_in_once);
    RP_TEST(an_op_does_not_run_again_once_what_it_reads_was_updated);
    RP_TEST(the_last_stage_of_an_op_is_that_of_the_next_update);
    RP_TEST(in_any_order_nothing_is_held);
    RP_TEST(certificates_know_no_updates_no_held_tensors_and_no_homes);
    RP_TEST(a_held_tensor_stays_though_nothing_reads_it);
    RP_TEST(a_run_that_cannot_rewrite_needs_its_outputs_twice);
    RP_TEST(first_runs_of_ordered_ops_keep_their_order);
    RP_TEST(updates_keep_their_place_in_another_order);
}
