/* Tests of the bound from what must be on the device at one moment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brute_copies.h"
#include "fixture.h"
#include "gen.h"
#include "model/cost.h"
#include "model/device.h"
#include "networks.h"
#include "run.h"
#include "solve/moment/moment_bound.h"
#include "solve/moment/moment_relaxation.h"
#include "solve/solver.h"

static struct rp_moment_bound prove(const struct rp_instance *p, bool any_order,
                                    uint64_t horizon_ns) {
    struct rp_moment_statistics statistics = {0};
    struct rp_moment_bound_options o = {.any_order = any_order,
                                        .horizon_ns = horizon_ns,
                                        .goal_ns = UINT64_MAX,
                                        .work = 1000000};
    return rp_moment_bound(p, &o, &statistics);
}

/* ---- against brute force ---- */

struct tally {
    uint32_t n, late; /* graphs; of these, with an optimum above the sum of op times */
    uint32_t better,
        met; /* of these, with a bound above that sum; with the optimum itself */
};

static void count(struct tally *t, const struct rp_graph *g, uint64_t best_ns,
                  uint64_t bound_ns) {
    bool late = best_ns > g->total_time_ns;
    t->n++;
    t->late += late;
    t->better += bound_ns > g->total_time_ns;
    t->met += late && bound_ns == best_ns;
}

static void training_graph(uint64_t seed, bool swap, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(swap ? 6 : 7);
    shape.max_outputs = 1;
    shape.training = seed % 3 != 0;
    shape.rules_percent = seed % 2 * 15;
    shape.once_percent = seed % 4 < 2 ? 0 : shape.once_percent;
    shape.bandwidths = swap;
    rp_gen_graph(seed, &shape, g);
    if (!swap)
        return;
    g->device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 20);
    g->device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 20);
}

/* False if the bound is above the time of the best of all programs. */
static bool is_below_brute_force(uint64_t seed, bool any_order, bool swap,
                                 struct tally *tally) {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t best, bound_ns = 0;
    uint32_t op;
    training_graph(seed, swap, &g);
    rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(&p, UINT64_MAX);
    p.limit_bytes = rp_instance_floor(&p, &op) + seed % 3 * 100;
    struct rp_brute_copies o = {.limit_bytes = p.limit_bytes,
                                .host_limit_bytes = RP_MAX_QUANTITY,
                                .recompute = true,
                                .swap = swap,
                                .any_order = any_order,
                                .max_states = swap ? 100000 : 30000};
    bool found = p.n_tensors <= RP_BRUTE_COPIED &&
                 rp_brute_copies_best(&g, &o, &best) == RP_BRUTE_FOUND;
    if (found) {
        bound_ns = prove(&p, any_order, best + seed % 2 * best / 4).bound_ns;
        count(tally, &g, best, bound_ns);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return !found || bound_ns <= best;
}

static struct tally compare(uint32_t n, bool any_order, bool swap) {
    struct tally tally = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!is_below_brute_force(seed, any_order, swap, &tally)) {
            rp_gen_failed(seed);
            CU_FAIL("the bound is above the best program");
        }
    return tally;
}

static void no_program_in_any_order_is_faster(void) {
    struct tally t = compare(700, true, false);
    CU_ASSERT(t.n < 2 || (t.n > 600 && t.late > 100 && t.better > 35 && t.met > 25));
}

static void no_program_in_the_given_order_is_faster(void) {
    struct tally t = compare(300, false, false);
    CU_ASSERT(t.n < 2 || (t.late > 100 && t.better + 5 > t.late && t.met > 100));
}

static void no_program_with_swaps_is_faster(void) {
    struct tally t = compare(120, true, true);
    CU_ASSERT(t.n < 2 || (t.late > 15 && t.better > 3));
}

/* ---- sources that may live on the host, against brute force ---- */

static bool is_below_brute_force_with_homes(uint64_t seed, bool any_order,
                                            struct tally *tally) {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t best, bound_ns = 0;
    uint32_t op;
    rp_gen_host_graph(seed, 5, &g);
    rp_instance_init_homes(&p, &g, g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    p.limit_bytes = rp_instance_floor(&p, &op) + seed % 4 * 1500;
    struct rp_brute_copies o = {.limit_bytes =
                                    p.fixed_bytes + p.limit_bytes - g.fixed_bytes,
                                .host_limit_bytes = RP_MAX_QUANTITY,
                                .recompute = true,
                                .swap = true,
                                .any_order = any_order,
                                .max_states = 30000};
    bool found = p.n_homes > 0 && rp_gen_movable(&g) <= RP_BRUTE_COPIED &&
                 rp_brute_copies_best(&g, &o, &best) == RP_BRUTE_FOUND;
    if (found) {
        bound_ns = prove(&p, any_order, best + seed % 2 * best / 4).bound_ns;
        count(tally, &g, best, bound_ns);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return !found || bound_ns <= best;
}

static void no_program_is_faster_wherever_its_sources_live(void) {
    struct tally t = {0};
    uint32_t n = 240;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!is_below_brute_force_with_homes(seed, seed % 2 == 0, &t)) {
            rp_gen_failed(seed);
            CU_FAIL("the bound is above the best program");
        }
    CU_ASSERT(t.n < 2 || (t.n > 70 && t.better > t.late * 3 / 4 && t.met > t.late / 4));
}

/* ---- by hand ---- */

/* s -a-> x; x -b-> y; y -c-> z. While c runs, x is wanted by a later op: by d itself (x,z
 * -d-> w), or by e (x -e-> m; m,z -d-> w), which may also run before c. */
#define HEAD                                                                               \
    "{'format':'remat-graph','version':1,'name':'n','time_source':'none',"                 \
    "'keep':[4],'tensors':[{'name':'s','bytes':0,'kind':'input'},"                         \
    "{'name':'x','bytes':10,'kind':'activation'},"                                         \
    "{'name':'y','bytes':5,'kind':'activation'},"                                          \
    "{'name':'z','bytes':1,'kind':'activation'},"                                          \
    "{'name':'w','bytes':1,'kind':'activation'}"
#define OPS                                                                                \
    "'ops':[{'name':'a','kind':'k','inputs':[0],'outputs':[1],'time_ns':7},"               \
    "{'name':'b','kind':'k','inputs':[1],'outputs':[2],'time_ns':1},"                      \
    "{'name':'c','kind':'k','inputs':[2],'outputs':[3],'time_ns':1},"
#define READS_X                                                                            \
    HEAD "]," OPS "{'name':'d','kind':'k','inputs':[1,3],'outputs':[4],'time_ns':1}]}"
#define READS_MASK(bytes)                                                                  \
    HEAD ",{'name':'m','bytes':" bytes ",'kind':'activation'}]," OPS                       \
         "{'name':'e','kind':'k','inputs':[1],'outputs':[5],'time_ns':3},"                 \
         "{'name':'d','kind':'k','inputs':[5,3],'outputs':[4],'time_ns':1}]}"

static void open_graph(const char *text, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *json = rp_quoted(text);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "g", g, &err), RP_OK);
    free(json);
}

static struct rp_moment_bound bound_of(const char *text, uint64_t budget) {
    struct rp_graph g;
    struct rp_instance p;
    open_graph(text, &g);
    rp_instance_init(&p, &g, budget, false, NULL);
    struct rp_moment_bound b = prove(&p, true, 0);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return b;
}

static void what_does_not_fit_beside_an_op_runs_again(void) {
    struct rp_moment_bound b = bound_of(READS_X, 15);
    CU_ASSERT_EQUAL(b.bound_ns, 10 + 7);
    CU_ASSERT_EQUAL(b.op, 2);
    CU_ASSERT(b.optimal);
    b = bound_of(READS_X, 16);
    CU_ASSERT_EQUAL(b.bound_ns, 10);
    CU_ASSERT_EQUAL(b.op, RP_NONE);
}

static void an_op_of_unknown_side_costs_nothing_but_what_it_reads(void) {
    CU_ASSERT_EQUAL(bound_of(READS_MASK("1"), 15).bound_ns, 13);
    CU_ASSERT_EQUAL(bound_of(READS_MASK("9"), 15).bound_ns, 13);
    CU_ASSERT_EQUAL(bound_of(READS_MASK("10"), 15).bound_ns, 13 + 7);
}

/* The only plan with reruns is one for every order and all programs. */
static void solve_says_that_the_bound_is_for_every_order(void) {
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    open_graph(READS_X, &g);
    struct rp_solve_options o = {.budget_bytes = 15,
                                 .recompute = true,
                                 .reorder = true,
                                 .time_limit = 0.01,
                                 .ignore_clock = true};
    CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(plan.claims.time_ns, 17);
    CU_ASSERT_EQUAL(plan.claims.lower_bound_ns, 17);
    CU_ASSERT_EQUAL(plan.claims.proof, RP_PROOF_OPTIMAL);
    CU_ASSERT(plan.claims.bound_for.any_order && plan.claims.bound_for.all_programs);
    CU_ASSERT(plan.claims.bound_for.recompute);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

/* Copies take a nanosecond a byte. f reads v and makes x; g reads w and x and makes y; b
 * reads w and y and makes z; u reads z and updates v. All ops take 1 ns. */
#define STEP(home)                                                                         \
    "{'format':'remat-graph','version':2,'name':'n','time_source':'none','keep':[],"       \
    "'device':{'h2d_bytes_per_s':1000000000,'d2h_bytes_per_s':1000000000},'tensors':["     \
    "{'name':'v','bytes':100,'kind':'parameter','home':'" home "'},"                       \
    "{'name':'w','bytes':40,'kind':'parameter','home':'" home "'},"                        \
    "{'name':'x','bytes':1,'kind':'activation'},"                                          \
    "{'name':'y','bytes':1,'kind':'activation'},"                                          \
    "{'name':'z','bytes':1,'kind':'gradient'}],"                                           \
    "'ops':[{'name':'f','kind':'k','inputs':[0],'outputs':[2],'time_ns':1},"               \
    "{'name':'g','kind':'k','inputs':[1,2],'outputs':[3],'time_ns':1},"                    \
    "{'name':'b','kind':'k','inputs':[1,3],'outputs':[4],'time_ns':1},"                    \
    "{'name':'u','kind':'k','inputs':[4],'outputs':[],'updates':[0],'time_ns':1}]}"

static struct rp_moment_bound bound_with_homes(const char *text, uint64_t limit_bytes) {
    struct rp_graph g;
    struct rp_instance p;
    open_graph(text, &g);
    rp_instance_init_homes(&p, &g, limit_bytes, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, RP_MAX_QUANTITY));
    struct rp_moment_bound b = prove(&p, true, 1000);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return b;
}

/* v and w come in before g runs, and v goes out after that, whatever lies between. With
 * less memory v comes in a second time, which happens while nothing else is copied. */
static void sources_on_the_host_come_in_and_what_is_updated_goes_out(void) {
    CU_ASSERT_EQUAL(bound_with_homes(STEP("host"), 150).bound_ns, 140 + 1 + 100);
    CU_ASSERT_EQUAL(bound_with_homes(STEP("host"), 110).bound_ns, 140 + 1 + 100);
}

/* With memory for both, they stay. With memory for one of them at a time, both move. */
static void sources_of_any_home_stay_where_that_is_faster(void) {
    CU_ASSERT_EQUAL(bound_with_homes(STEP("any"), 150).bound_ns, 4);
    CU_ASSERT_EQUAL(bound_with_homes(STEP("any"), 110).bound_ns, 140 + 1 + 100);
}

/* f reads v and makes x; g reads w and makes y; h reads both of these. All ops take 1 ns.
 */
#define TWINS                                                                              \
    "{'format':'remat-graph','version':2,'name':'n','time_source':'none','keep':[],"       \
    "'device':{'h2d_bytes_per_s':1000000000,'d2h_bytes_per_s':1000000000},'tensors':["     \
    "{'name':'v','bytes':100,'kind':'parameter','home':'any'},"                            \
    "{'name':'w','bytes':100,'kind':'parameter','home':'any'},"                            \
    "{'name':'x','bytes':1,'kind':'activation'},"                                          \
    "{'name':'y','bytes':1,'kind':'activation'},"                                          \
    "{'name':'z','bytes':1,'kind':'activation'}],"                                         \
    "'ops':[{'name':'f','kind':'k','inputs':[0],'outputs':[2],'time_ns':1},"               \
    "{'name':'g','kind':'k','inputs':[1],'outputs':[3],'time_ns':1},"                      \
    "{'name':'h','kind':'k','inputs':[2,3],'outputs':[4],'time_ns':1}]}"

/* Half of each would fit beside the other: no plan keeps either. */
static void alike_sources_are_told_apart_by_branch_and_bound(void) {
    CU_ASSERT_EQUAL(bound_with_homes(TWINS, 150).bound_ns, 200 + 1);
}

/* Twelve equal layers, and half of the memory for what may lie in either place. With a
 * column for each source, five linear programs take more than all of this work. */
static void layers_that_are_alike_cost_little_work_and_updates_prove_most(void) {
    struct rp_zoo_options z = rp_net_defaults();
    struct rp_err err = {{0}};
    struct rp_instance p;
    z.batch = 1;
    z.seq = 64;
    z.optimizer = RP_ADAMW;
    z.param_home = z.state_home = RP_HOME_ANY;
    struct rp_graph g = rp_net_build("gpt2", z);
    CU_ASSERT_EQUAL_FATAL(rp_cost_apply(&g, rp_device_find("V100-16G"), "t", &err), RP_OK);
    rp_instance_init_homes(&p, &g, g.fixed_bytes / 2, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, RP_MAX_QUANTITY));
    struct rp_moment_statistics statistics = {0};
    struct rp_stop stop = {.deadline = INFINITY};
    struct rp_moment_bound_options o = {
        .horizon_ns = 1000000000, .goal_ns = UINT64_MAX, .work = 100000, .stop = &stop};
    struct rp_moment_bound b = rp_moment_bound(&p, &o, &statistics);
    CU_ASSERT_EQUAL(stop.questions, 216);
    CU_ASSERT_EQUAL(p.n_homes, 588);
    CU_ASSERT_EQUAL(statistics.pivots, 2295);
    CU_ASSERT_EQUAL(statistics.moments, 11);
    CU_ASSERT_EQUAL(b.bound_ns, 116623726);
    CU_ASSERT(statistics.moments > 8 && statistics.work < 80000);
    CU_ASSERT_STRING_EQUAL(g.ops[p.op_of[b.op]].name, "h11.mlp.c_proj.weight.update");
    CU_ASSERT(b.bound_ns > 116600000);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* From c on, x of 10 bytes and y of 5 are wanted; c makes z of 1 and reads y. */
static void what_must_be_there_may_not_fit(void) {
    enum rp_side side[4];
    struct rp_moment m;
    struct rp_graph g;
    struct rp_instance p;
    open_graph(READS_X, &g);
    rp_instance_init(&p, &g, 20, false, NULL);
    rp_find_sides(&p, NULL, 2, side);
    for (p.limit_bytes = 0; p.limit_bytes < 20; p.limit_bytes++) {
        uint64_t room = p.limit_bytes - 1;
        CU_ASSERT_EQUAL(rp_moment_excess(&p, 2, side),
                        p.limit_bytes >= 1 && room < 15 ? 15 - room : 0);
        rp_moment_init(&m, &p, 2, side);
        CU_ASSERT_EQUAL(m.fits, p.limit_bytes >= 5 + 1);
        rp_moment_fini(&m);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* ---- the same steps every time ---- */

struct steps {
    uint64_t bounds_ns, ops, optimal, moments, pivots, nodes, work;
};

enum kind { PLAIN, SWAPS, HOMES, DEEP, LARGE };

static void sides_follow_from_the_order_of_first_runs(void) {
    enum rp_side side[5];
    struct rp_first_runs f;
    struct rp_graph g;
    struct rp_instance p;
    open_graph(READS_MASK("1"), &g);
    rp_instance_init(&p, &g, 20, false, NULL);
    rp_first_runs_init(&f, &p);
    rp_find_sides(&p, &f, 2, side);
    static const enum rp_side any[] = {RP_SIDE_BEFORE, RP_SIDE_BEFORE, RP_SIDE_AFTER,
                                       RP_SIDE_EITHER, RP_SIDE_AFTER};
    CU_ASSERT(memcmp(side, any, sizeof any) == 0);
    rp_find_sides(&p, NULL, 2, side);
    CU_ASSERT_EQUAL(side[3], RP_SIDE_AFTER);
    rp_first_runs_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_moment_bound(void) {
    RP_SUITE("moment_bound");
    RP_TEST(what_does_not_fit_beside_an_op_runs_again);
    RP_TEST(an_op_of_unknown_side_costs_nothing_but_what_it_reads);
    RP_TEST(solve_says_that_the_bound_is_for_every_order);
    RP_TEST(sources_on_the_host_come_in_and_what_is_updated_goes_out);
    RP_TEST(sources_of_any_home_stay_where_that_is_faster);
    RP_TEST(alike_sources_are_told_apart_by_branch_and_bound);
    RP_TEST(layers_that_are_alike_cost_little_work_and_updates_prove_most);
    RP_TEST(what_must_be_there_may_not_fit);
    RP_TEST(sides_follow_from_the_order_of_first_runs);
    RP_TEST(no_program_in_any_order_is_faster);
    RP_TEST(no_program_in_the_given_order_is_faster);
    RP_TEST(no_program_with_swaps_is_faster);
    RP_TEST(no_program_is_faster_wherever_its_sources_live);
}
