/* Tests of the state of a search: its spaces and incumbents, and plans that are offered
 * when it has ended. */
#include "solve/incumbent.h"

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "gen.h"
#include "run.h"
#include "solve/core/keep_all_schedule.h"

/* A graph with updates, tensors that are held and a link, within the memory of keep-all. */
static void open_context(struct rp_graph *g, struct rp_solve_options *o,
                         struct rp_context *w) {
    struct rp_gen_shape shape = rp_gen_small(30);
    shape.training = shape.bandwidths = true;
    shape.rules_percent = 20;
    rp_gen_graph(2, &shape, g);
    *o = (struct rp_solve_options){.budget_bytes = rp_keep_all_bytes(g, false),
                                   .recompute = true,
                                   .swap = true,
                                   .host_bytes = RP_MAX_QUANTITY,
                                   .certificate = "c.json"};
    *w = (struct rp_context){.g = g, .o = o, .stop.deadline = INFINITY};
    rp_context_init(w);
}

static uint32_t n_pinned(const struct rp_instance *p) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += p->pinned[x];
    return n;
}

static void certificates_are_about_an_instance_without_later_rules(void) {
    struct rp_graph g;
    struct rp_solve_options o;
    struct rp_context w;
    open_context(&g, &o, &w);
    CU_ASSERT(n_pinned(&w.p) > 0);
    CU_ASSERT_EQUAL(n_pinned(&w.certified), 0);
    rp_context_fini(&w);
    rp_graph_fini(&g);
}

static bool all_run_once(const struct rp_instance *p) {
    bool all = true;
    for (uint32_t j = 0; j < p->n_ops; j++)
        all = all && p->last_stage[j] == j;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        all = all && p->irreplaceable[x];
    return all;
}

static void smaller_spaces_do_without_swaps_or_recomputation(void) {
    struct rp_graph g;
    struct rp_solve_options o;
    struct rp_context w;
    open_context(&g, &o, &w);
    rp_context_begin_search(&w);
    CU_ASSERT_EQUAL(w.whole, RP_BOTH);
    const struct rp_space *both = &w.spaces[RP_BOTH], *again = &w.spaces[RP_WITHOUT_SWAPS],
                          *copies = &w.spaces[RP_WITHOUT_RECOMPUTE];
    CU_ASSERT(both->p.out_ns != NULL && both->p.in_ns != NULL && !all_run_once(&both->p));
    CU_ASSERT(again->p.out_ns == NULL && again->p.in_ns == NULL &&
              !all_run_once(&again->p));
    CU_ASSERT(copies->p.out_ns != NULL && all_run_once(&copies->p));
    for (int i = 0; i < RP_N_SPACES; i++)
        CU_ASSERT(w.spaces[i].active && w.spaces[i].tried_ns == UINT64_MAX);
    rp_context_fini(&w);
    rp_graph_fini(&g);
}

/* What comes after an interrupt is only to be the answer: it is copied once. */
static void after_an_interrupt_a_space_has_no_incumbent_of_its_own(void) {
    for (sig_atomic_t interrupted = 0; interrupted < 2; interrupted++) {
        struct rp_graph g;
        struct rp_solve_options o;
        struct rp_context w;
        struct rp_schedule s;
        volatile sig_atomic_t stop = interrupted;
        open_context(&g, &o, &w);
        rp_context_begin_search(&w);
        rp_schedule_keep_all(&w.p, &s);
        w.stop.interrupted = &stop;
        CU_ASSERT(rp_incumbent_offer_in(&w, RP_WITHOUT_SWAPS, &s, RP_ANNEAL));
        CU_ASSERT(w.incumbent.found && w.incumbent.time_ns == g.total_time_ns);
        CU_ASSERT_EQUAL(w.spaces[RP_WITHOUT_SWAPS].incumbent.found, !interrupted);
        CU_ASSERT_FALSE(w.spaces[RP_WITHOUT_RECOMPUTE].incumbent.found);
        rp_schedule_fini(&s);
        rp_context_fini(&w);
        rp_graph_fini(&g);
    }
}

/* ---- plans that are offered ---- */

/* In the first, y is freed only at the end. In the second, a runs again. */
#define ROOMY "'budget_bytes':40,'addressed':true,'arena_bytes':32,'host_bytes':16"
#define FREED_LATE A "," B "," C ",{'run':3,'at':[28]}," FREE_Y
#define AGAIN A "," B ",{'free':1}," C "," A "," FREE_Y "," D

/* Offers a plan with these steps beside one with the steps `first`, as fast, or beside none
 * (NULL). Returns whether it is the answer. */
static bool takes(const struct rp_solve_options *o, const char *first, const char *steps,
                  uint64_t bound_ns, uint64_t *new_bound_ns) {
    struct rp_world own, other;
    struct rp_plan plan = {0};
    rp_world_open(&other, rp_net, ROOMY, steps);
    rp_world_open(&own, rp_net, ROOMY, first != NULL ? first : ALL);
    rp_push(&other.p.steps, ((struct rp_step){.kind = RP_RUN}));
    other.p.steps.n--; /* what lies behind the last step is none */
    struct rp_context w = {.g = &other.g, .o = o, .bound_ns = bound_ns};
    if (first != NULL) {
        plan = own.p;
        own.p = (struct rp_plan){0};
        plan.claims.time_ns = other.p.claims.time_ns;
    }
    const char *name = plan.graph_name;
    rp_rc rc =
        rp_incumbent_offer_plan(&w, &other.p, first != NULL ? RP_OK : RP_LIMIT, &plan);
    bool taken = rc == RP_OK && plan.graph_name != name;
    CU_ASSERT(first == NULL || rc == RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_verify(&other.g, &other.p, &other.v, &other.err), RP_OK);
    CU_ASSERT(!taken || (plan.steps.n == other.p.steps.n &&
                         w.incumbent.time_ns == other.p.claims.time_ns));
    *new_bound_ns = w.bound_ns;
    rp_plan_fini(&plan);
    rp_world_close(&own);
    rp_world_close(&other);
    return taken;
}

static const struct rp_solve_options any_step = {.budget_bytes = 100,
                                                 .addressed = true,
                                                 .recompute = true,
                                                 .swap = true,
                                                 .host_bytes = 100};

static void a_plan_is_taken_if_the_options_allow_its_steps(void) {
    static const struct {
        const char *steps;
        bool swap, recompute, taken;
    } cases[] = {{ALL, false, false, true},
                 {AGAIN, false, false, false},
                 {AGAIN, false, true, true},
                 {SWAPPED, false, true, false},
                 {SWAPPED, true, false, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint64_t bound_ns;
        struct rp_solve_options o = any_step;
        o.swap = cases[k].swap;
        o.recompute = cases[k].recompute;
        CU_ASSERT_EQUAL(takes(&o, NULL, cases[k].steps, 0, &bound_ns), cases[k].taken);
    }
}

static void of_two_plans_as_fast_the_one_with_fewer_copies_is_taken(void) {
    uint64_t bound_ns;
    CU_ASSERT(takes(&any_step, SWAPPED, ALL, 0, &bound_ns));
    CU_ASSERT_FALSE(takes(&any_step, ALL, SWAPPED, 0, &bound_ns));
    CU_ASSERT_FALSE(takes(&any_step, ALL, FREED_LATE, 0, &bound_ns));
    CU_ASSERT_FALSE(takes(&any_step, SWAPPED, SWAPPED, 0, &bound_ns));
}

/* What was proved of schedules need not hold for a plan that is no schedule. */
static void a_faster_plan_refutes_the_bound(void) {
    uint64_t bound_ns;
    CU_ASSERT(takes(&any_step, NULL, AGAIN, 111, &bound_ns));
    CU_ASSERT_EQUAL(bound_ns, 100);
    CU_ASSERT(takes(&any_step, NULL, AGAIN, 110, &bound_ns));
    CU_ASSERT_EQUAL(bound_ns, 110);
}

/* Its only op makes nothing. */
static void a_plan_may_leave_no_room_beside_the_sources(void) {
    for (uint64_t budget = 7; budget <= 8; budget++) {
        struct rp_world s;
        struct rp_plan plan = {0};
        rp_world_open(&s,
                      "{'format':'remat-graph','version':1,'name':'g',"
                      "'time_source':'imported:x','tensors':["
                      "{'name':'w','bytes':8,'kind':'parameter'},"
                      "{'name':'a','bytes':0,'kind':'activation'}],'ops':["
                      "{'name':'f','kind':'f','inputs':[0],'outputs':[1],'time_ns':1}],"
                      "'keep':[1]}",
                      "'budget_bytes':8,'addressed':false,'arena_bytes':0,'host_bytes':0",
                      "{'run':0}");
        struct rp_solve_options o = {.budget_bytes = budget, .recompute = true};
        struct rp_context w = {.g = &s.g, .o = &o};
        rp_rc rc = rp_incumbent_offer_plan(&w, &s.p, RP_LIMIT, &plan);
        CU_ASSERT_EQUAL(rc, budget == 8 ? RP_OK : RP_LIMIT);
        rp_plan_fini(&plan);
        rp_world_close(&s);
    }
}

void suite_incumbent(void) {
    RP_SUITE("incumbent");
    RP_TEST(certificates_are_about_an_instance_without_later_rules);
    RP_TEST(smaller_spaces_do_without_swaps_or_recomputation);
    RP_TEST(after_an_interrupt_a_space_has_no_incumbent_of_its_own);
    RP_TEST(a_plan_is_taken_if_the_options_allow_its_steps);
    RP_TEST(of_two_plans_as_fast_the_one_with_fewer_copies_is_taken);
    RP_TEST(a_faster_plan_refutes_the_bound);
    RP_TEST(a_plan_may_leave_no_room_beside_the_sources);
}
