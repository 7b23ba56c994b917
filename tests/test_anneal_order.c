/* Tests of the search over orders of first runs other than the graph's own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/core/schedule.h"
#include "solve/core/warm_start.h"
#include "solve/order/anneal_order.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* The best schedule over all orders, found by brute force. The ops are exchanged in the
 * graph itself. */
struct all_orders {
    struct rp_graph *g;
    struct rp_op given[16];
    bool used[16];
    uint32_t order[16];
    uint64_t limit_bytes;
    bool keep_all_fits; /* in at least one order */
    bool any; /* a schedule fits in some order; time_ns is the least time of one */
    uint64_t time_ns;
};

static uint32_t updates_before(const struct rp_op *ops, uint32_t n, uint32_t x) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < ops[i].n_updates; k++)
            sum += ops[i].updates[k] == x;
    return sum;
}

/* Does op i of the order find what it reads and updates after as many updates as in the
 * given one? */
static bool finds_versions(const struct all_orders *a, uint32_t i) {
    const struct rp_op *op = &a->g->ops[i];
    bool same = true;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        same = same && updates_before(a->g->ops, i, op->inputs[k]) ==
                           updates_before(a->given, a->order[i], op->inputs[k]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        same = same && updates_before(a->g->ops, i, op->updates[k]) ==
                           updates_before(a->given, a->order[i], op->updates[k]);
    return same;
}

static void evaluate_order(struct all_orders *a) {
    struct rp_err err = {{0}};
    struct rp_instance p;
    struct rp_schedule s;
    uint64_t time_ns;
    for (uint32_t i = 0; i < a->g->n_ops; i++)
        a->g->ops[i] = a->given[a->order[i]];
    if (rp_graph_check(a->g, "g", &err) != RP_OK)
        return; /* not topological */
    for (uint32_t i = 0; i < a->g->n_ops; i++)
        if (!finds_versions(a, i))
            return;
    rp_instance_init(&p, a->g, a->g->fixed_bytes + a->limit_bytes, false, NULL);
    rp_schedule_keep_all(&p, &s);
    a->keep_all_fits |= rp_schedule_cost(&p, &s).peak_bytes <= a->limit_bytes;
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    if (rp_brute_best(a->g, a->limit_bytes, &time_ns) &&
        (!a->any || time_ns < a->time_ns)) {
        a->any = true;
        a->time_ns = time_ns;
    }
}

static void try_orders(struct all_orders *a, uint32_t n) {
    uint32_t once = 0;
    if (n == a->g->n_ops)
        evaluate_order(a);
    for (uint32_t i = 0; i < a->g->n_ops; i++) {
        if (a->used[i])
            continue;
        if ((!a->given[i].recompute || a->given[i].ordered) && once++ > 0)
            continue; /* run-once and ordered ops keep their order */
        a->used[i] = true;
        a->order[n] = i;
        try_orders(a, n + 1);
        a->used[i] = false;
    }
}

static void all_orders(struct rp_graph *g, uint64_t limit_bytes, struct all_orders *a) {
    struct rp_err err = {{0}};
    *a = (struct all_orders){.g = g, .limit_bytes = limit_bytes};
    memcpy(a->given, g->ops, g->n_ops * sizeof *g->ops);
    try_orders(a, 0);
    memcpy(g->ops, a->given, g->n_ops * sizeof *g->ops);
    CU_ASSERT_EQUAL(rp_graph_check(g, "g", &err), RP_OK);
}

static void small_graph(uint64_t seed, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(5);
    shape.max_outputs = 1;
    shape.bandwidths = false;
    shape.rules_percent = seed % 2 * 20;
    rp_gen_graph(seed, &shape, g);
}

/* A limit between the smallest possible peak of a schedule in the graph's order and the
 * peak of keep-all. */
static uint64_t tight_limit(const struct rp_graph *g, uint64_t seed) {
    struct rp_instance p;
    uint32_t op;
    rp_instance_init(&p, g, g->fixed_bytes, false, NULL);
    uint64_t floor_bytes = rp_instance_floor(&p, &op);
    uint64_t all = rp_keep_all_bytes(g, false) - g->fixed_bytes;
    rp_instance_fini(&p);
    return floor_bytes + (all - floor_bytes) / 4 * (seed % 4);
}

static bool agrees_with_all_orders(uint64_t seed, uint32_t *optimal) {
    struct rp_graph g;
    struct all_orders a;
    struct rp_plan plan;
    struct rp_verdict v;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    small_graph(seed, &g);
    struct rp_solve_options o = {.budget_bytes = g.fixed_bytes + tight_limit(&g, seed),
                                 .recompute = true,
                                 .reorder = true,
                                 .time_limit = 0.01,
                                 .ignore_clock = true,
                                 .seed = 1};
    all_orders(&g, o.budget_bytes - g.fixed_bytes, &a);
    rp_rc rc = rp_solve(&g, &o, &plan, &report, &err);
    bool ok = rc != RP_NO || !a.any;
    if (rc == RP_OK)
        ok = a.any && rp_verify(&g, &plan, &v, &err) == RP_OK &&
             plan.claims.time_ns >= a.time_ns && plan.claims.lower_bound_ns <= a.time_ns &&
             (!a.keep_all_fits || plan.claims.time_ns == g.total_time_ns);
    *optimal += rc == RP_OK ? plan.claims.time_ns == a.time_ns : !a.any;
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
    return ok;
}

/* No claim is false in another order. If keep-all fits in some order, such an order is
 * found. At least 90% of the plans are the best over all orders. */
static void plans_with_reorder_agree_with_brute_force_over_all_orders(void) {
    uint32_t n = 60, optimal = 0, all = n;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!agrees_with_all_orders(seed, &optimal)) {
            rp_gen_failed(seed);
            CU_FAIL("a false claim, or a free order that was not found");
        }
    CU_ASSERT(optimal >= all * 9 / 10 || rp_gen_one_seed());
}

static bool never(void *arg) {
    (void)arg;
    return false;
}

/* Are the steps a plan that verify accepts, and do run-once ops keep their order? No op
 * runs again unless the options allow it. */
static bool order_is_sound(uint64_t seed, uint32_t *n_again) {
    struct rp_gen_shape shape = rp_gen_small(10 + (uint32_t)(seed % 60));
    struct rp_graph g;
    struct rp_instance p;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    struct rp_plan plan = {0};
    struct rp_anneal_order_options o = {
        .seed = seed, .may_recompute = seed % 4 > 0, .work = 200000, .stop = never};
    bool ok = true;
    uint32_t last = 0;
    shape.once_percent = 20;
    shape.rules_percent = seed % 2 * 15;
    rp_gen_graph(seed, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false);
    rp_instance_init(&p, &g, g.fixed_bytes + (all - g.fixed_bytes) / 10 * 7, false, NULL);
    if (rp_anneal_order(&p, &o, &plan)) {
        uint32_t *order = rp_calloc(g.n_ops, sizeof *order);
        plan.graph_name = rp_strdup(g.name);
        plan.graph_sha256 = rp_strdup(g.sha256);
        plan.budget_bytes = RP_MAX_QUANTITY;
        ok = rp_plan_fill_claims(&g, &plan, &err) == RP_OK &&
             rp_verify(&g, &plan, &v, &err) == RP_OK &&
             (o.may_recompute || plan.claims.recompute_ns == 0);
        rp_plan_first_runs(&g, &plan, order);
        for (uint32_t i = 0; i < g.n_ops; i++) {
            bool may_move = g.ops[order[i]].recompute && !g.ops[order[i]].ordered;
            ok = ok && (may_move || order[i] >= last);
            last = may_move ? last : order[i];
        }
        *n_again += plan.claims.recompute_ns > 0;
        free(order);
    }
    rp_plan_fini(&plan);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void every_sequence_is_a_valid_plan_and_keeps_the_order_of_ordered_ops(void) {
    uint32_t n = 60, again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!order_is_sound(seed, &again)) {
            rp_gen_failed(seed);
            CU_FAIL("no plan, or another one than asked for, or ops exchanged");
        }
    CU_ASSERT(again > 5 || rp_gen_one_seed());
}

/* ---- quality of the results ---- */

/* What a search leaves above the limit, and the time of its reruns. */
struct found {
    bool better;
    uint64_t over_bytes, again_ns;
};

static struct found search_small_graph(const struct rp_graph *g, uint64_t limit_bytes,
                                       const struct rp_anneal_order_options *o) {
    struct found f = {0};
    struct rp_instance p;
    struct rp_plan plan = {0};
    struct rp_err err = {{0}};
    rp_instance_init(&p, g, g->fixed_bytes + limit_bytes, false, NULL);
    f.better = rp_anneal_order(&p, o, &plan);
    if (!f.better)
        rp_gen_keep_all(g, false, &plan);
    plan.budget_bytes = RP_MAX_QUANTITY;
    CU_ASSERT_EQUAL(rp_plan_fill_claims(g, &plan, &err), RP_OK);
    uint64_t peak = plan.claims.peak_bytes - g->fixed_bytes;
    f.over_bytes = peak > limit_bytes ? peak - limit_bytes : 0;
    f.again_ns = plan.claims.recompute_ns;
    rp_plan_fini(&plan);
    rp_instance_fini(&p);
    return f;
}

/* Compares with brute force over all orders and schedules of small graphs. */
static void the_search_finds_the_best_order_of_small_graphs(void) {
    uint32_t n_free = 0, n_any = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rp_graph g;
        struct all_orders a;
        small_graph(seed, &g);
        uint64_t limit = tight_limit(&g, seed);
        struct rp_anneal_order_options o = {.seed = 1, .work = 500000, .stop = never};
        all_orders(&g, limit, &a);
        struct found f = search_small_graph(&g, limit, &o);
        n_free += a.keep_all_fits;
        CU_ASSERT_EQUAL(f.over_bytes == 0, a.keep_all_fits);
        CU_ASSERT_EQUAL(f.again_ns, 0);
        o.may_recompute = true;
        f = search_small_graph(&g, limit, &o);
        n_any += a.any;
        CU_ASSERT(!a.any || f.over_bytes == 0);
        CU_ASSERT(!a.any || g.total_time_ns + f.again_ns <= a.time_ns);
        rp_graph_fini(&g);
    }
    CU_ASSERT(n_free > 40 && n_any > n_free);
}

/* Do the runs of `plan` come out sound and not worse when the search begins with them? */
static bool is_improved(const struct rp_graph *g, const struct rp_instance *p,
                        const struct rp_plan *start, uint64_t *saved_ns) {
    struct rp_plan plan = {0};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    struct rp_anneal_order_options o = {
        .seed = 3, .may_recompute = true, .start = start, .work = 300000, .stop = never};
    bool ok = true;
    if (rp_anneal_order(p, &o, &plan)) {
        plan.graph_name = rp_strdup(g->name);
        plan.graph_sha256 = rp_strdup(g->sha256);
        plan.budget_bytes = RP_MAX_QUANTITY;
        ok = rp_plan_fill_claims(g, &plan, &err) == RP_OK &&
             rp_verify(g, &plan, &v, &err) == RP_OK &&
             plan.claims.peak_bytes <= g->fixed_bytes + p->limit_bytes &&
             plan.claims.time_ns < start->claims.time_ns;
        *saved_ns += start->claims.time_ns - plan.claims.time_ns;
    }
    rp_plan_fini(&plan);
    return ok;
}

/* Plans in the given order fit already, so what the search returns must fit and take less
 * time. */
static void the_search_goes_on_from_the_runs_of_a_plan(void) {
    uint64_t saved_ns = 0;
    uint32_t n = 20;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(25);
        struct rp_graph g;
        struct rp_instance p;
        struct rp_plan start;
        struct rp_solve_report report;
        struct rp_err err = {{0}};
        shape.training = true;
        shape.once_percent = 0;
        rp_gen_graph(seed, &shape, &g);
        uint64_t all = rp_keep_all_bytes(&g, false) - g.fixed_bytes;
        struct rp_solve_options o = {.budget_bytes = g.fixed_bytes + all / 10 * 6,
                                     .recompute = true,
                                     .time_limit = 0.05,
                                     .ignore_clock = true};
        if (rp_solve(&g, &o, &start, &report, &err) == RP_OK) {
            rp_instance_init(&p, &g, o.budget_bytes, false, NULL);
            if (!is_improved(&g, &p, &start, &saved_ns)) {
                rp_gen_failed(seed);
                CU_FAIL("no plan, too large, or slower");
            }
            rp_instance_fini(&p);
        }
        rp_plan_fini(&start);
        rp_graph_fini(&g);
    }
    CU_ASSERT(saved_ns > 0 || rp_gen_one_seed());
}

/* It has room for about three runs of each op. A start plan with more loses those that
 * repeat. */
static void a_start_with_too_many_runs_goes_on_without_those_that_repeat(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan start = {0}, plan = {0};
    small_graph(2, &g);
    rp_instance_init(&p, &g, g.fixed_bytes + tight_limit(&g, 2), false, NULL);
    for (uint32_t j = 0; j < p.n_ops; j++)
        for (int k = 0; k < 1000; k++)
            rp_append_step(&p, &start, RP_RUN, j);
    struct rp_anneal_order_options o = {
        .seed = 1, .may_recompute = true, .start = &start, .work = 1000, .stop = never};
    rp_anneal_order(&p, &o, &plan);
    size_t runs = 0;
    for (size_t i = 0; i < plan.steps.n; i++)
        runs += plan.steps.at[i].kind == RP_RUN;
    CU_ASSERT(runs < 4 * g.n_ops);
    rp_plan_fini(&plan);
    rp_plan_fini(&start);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* A search in all orders takes the steps of a shorter one, and then others. */
static void more_time_in_all_orders_is_never_worse(void) {
    uint32_t n = 6;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(40);
        struct rp_graph g;
        struct rp_err err = {{0}};
        uint64_t last_ns = UINT64_MAX;
        shape.training = true;
        shape.once_percent = 0;
        rp_gen_graph(seed, &shape, &g);
        uint64_t all = rp_keep_all_bytes(&g, false) - g.fixed_bytes;
        for (double limit = 0.003; limit < 0.2; limit *= 1.7) {
            struct rp_plan plan;
            struct rp_solve_report report;
            struct rp_solve_options o = {.budget_bytes = g.fixed_bytes + all / 10 * 5,
                                         .recompute = true,
                                         .reorder = true,
                                         .time_limit = limit,
                                         .ignore_clock = true};
            if (rp_solve(&g, &o, &plan, &report, &err) == RP_OK) {
                CU_ASSERT(plan.claims.time_ns <= last_ns);
                last_ns = plan.claims.time_ns;
            } else {
                CU_ASSERT_EQUAL(last_ns, UINT64_MAX);
            }
            rp_plan_fini(&plan);
        }
        rp_graph_fini(&g);
    }
}

/* Sums over the searches below: a lower limit on how many end within the memory limit, and
 * upper limits on the overflow of the others and on the time of reruns. A change that
 * weakens the search shows only here. When this was written the sums were 102, 50745 and
 * 27033; a math library that rounds logarithms differently may change them a little. */
enum { N_FIT = 99, OVER_BYTES = 54000, AGAIN_NS = 28500 };

static struct found search_larger_graph(uint64_t k, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(30 + (uint32_t)(k % 30));
    struct rp_anneal_order_options o = {
        .seed = seed, .work = 500000, .stop = never, .may_recompute = true};
    struct rp_graph g;
    shape.training = k % 2;
    shape.once_percent = k % 3 ? 0 : 10;
    rp_gen_graph(k, &shape, &g);
    uint64_t all = rp_keep_all_bytes(&g, false) - g.fixed_bytes;
    struct found f = search_small_graph(&g, all / 100 * (k % 2 ? 45 : 60), &o);
    rp_graph_fini(&g);
    return f;
}

static void results_on_larger_graphs_have_not_become_worse(void) {
    uint64_t over = 0, again = 0;
    uint32_t n_fit = 0;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint64_t k = 1; k <= 40; k++) {
            struct found f = search_larger_graph(k, seed);
            n_fit += f.over_bytes == 0;
            over += f.over_bytes;
            again += f.again_ns;
        }
    CU_ASSERT(n_fit >= N_FIT);
    CU_ASSERT(over <= OVER_BYTES);
    CU_ASSERT(again <= AGAIN_NS);
}

/* ---- statistics ---- */

static void statistics_count_the_moves(void) {
    struct rp_anneal_statistics s = {0};
    struct rp_anneal_order_options o = {
        .seed = 1, .work = 8000000, .stop = never, .may_recompute = true, .statistics = &s};
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    uint64_t accepted = 0, improving = 0;
    shape.training = true;
    rp_gen_graph(3, &shape, &g);
    search_small_graph(&g, (rp_keep_all_bytes(&g, false) - g.fixed_bytes) / 100 * 40, &o);
    for (uint32_t i = 0; i < RP_MAX_MOVES; i++) {
        const struct rp_move_statistics *m = &s.moves[i];
        CU_ASSERT_EQUAL(m->accepted > 0, rp_order_move_name(i) != NULL);
        CU_ASSERT(m->infeasible + m->accepted <= m->proposed);
        CU_ASSERT(m->improving <= m->accepted);
        accepted += m->accepted;
        improving += m->improving;
    }
    CU_ASSERT(s.uphill > 0 && improving > 0 && improving + s.uphill <= accepted);
    CU_ASSERT(s.runs > 1 && s.incumbents > 0 && s.work >= o.work / 2);
    struct rp_anneal_statistics before = s;
    search_small_graph(&g, (rp_keep_all_bytes(&g, false) - g.fixed_bytes) / 100 * 40, &o);
    CU_ASSERT(s.runs == 2 * before.runs && s.work == 2 * before.work);
    CU_ASSERT(s.moves[0].proposed == 2 * before.moves[0].proposed);
    rp_graph_fini(&g);
}

/* ---- when the search ends ---- */

static bool stop_at_second_call(void *n_calls) {
    return ++*(uint32_t *)n_calls > 2;
}

static void the_search_ends_when_stop_says_so(void) {
    struct rp_gen_shape shape = rp_gen_small(60);
    struct rp_graph g;
    uint32_t n_calls = 0;
    struct rp_anneal_order_options o = {.seed = 1,
                                        .work = UINT64_MAX / 4,
                                        .stop = stop_at_second_call,
                                        .stop_arg = &n_calls,
                                        .may_recompute = true};
    rp_gen_graph(1, &shape, &g);
    search_small_graph(&g, 1, &o);
    CU_ASSERT(n_calls >= 3 && n_calls <= 4);
    rp_graph_fini(&g);
}

static bool count_call(void *n_calls) {
    return ++*(uint32_t *)n_calls > 1000;
}

/* Two ops. The second one takes 100 bytes while it runs and should come first. */
static const char two[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"two\",\"time_source\":"
    "\"imported:x\",\"tensors\":["
    "{\"name\":\"a\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":1,\"kind\":\"activation\"}],\"ops\":["
    "{\"name\":\"a\",\"kind\":\"f\",\"inputs\":[],\"outputs\":[0],\"time_ns\":1},"
    "{\"name\":\"b\",\"kind\":\"f\",\"inputs\":[],\"outputs\":[1],\"time_ns\":1,"
    "\"workspace_bytes\":100}],\"keep\":[0,1]}";

static void the_search_ends_when_nothing_can_be_better(void) {
    struct rp_graph g;
    uint32_t n_calls = 0;
    struct rp_err err = {{0}};
    struct rp_anneal_order_options o = {.seed = 1,
                                        .work = UINT64_MAX / 4,
                                        .stop = count_call,
                                        .stop_arg = &n_calls,
                                        .may_recompute = true};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(two, sizeof two - 1, "two", &g, &err), RP_OK);
    struct found f = search_small_graph(&g, 101, &o);
    CU_ASSERT(f.better && f.over_bytes == 0 && f.again_ns == 0);
    CU_ASSERT(n_calls < 10);
    rp_graph_fini(&g);
}

static void the_search_ends_at_its_goal(void) {
    struct rp_anneal_statistics all = {0}, less = {0};
    struct rp_anneal_order_options o = {
        .seed = 1, .work = 8000000, .stop = never, .may_recompute = true};
    struct rp_gen_shape shape = rp_gen_small(40);
    struct rp_graph g;
    shape.training = true;
    rp_gen_graph(3, &shape, &g);
    uint64_t limit = (rp_keep_all_bytes(&g, false) - g.fixed_bytes) / 100 * 60;
    o.statistics = &all;
    struct found best = search_small_graph(&g, limit, &o);
    CU_ASSERT(best.over_bytes == 0 && best.again_ns > 0);
    o.goal_ns = 1.5 * (double)best.again_ns;
    o.statistics = &less;
    struct found near = search_small_graph(&g, limit, &o);
    CU_ASSERT(near.over_bytes == 0 && (double)near.again_ns <= o.goal_ns);
    CU_ASSERT(less.work > 0 && less.work < all.work / 2);
    rp_graph_fini(&g);
}

/* A graph of one op, and a graph in which keep-all fits: nothing can be improved. */
static void nothing_is_returned_when_keep_all_cannot_be_improved(void) {
    struct rp_anneal_order_options o = {
        .seed = 1, .work = 100000, .stop = never, .may_recompute = true};
    struct rp_graph g;
    small_graph(1, &g);
    CU_ASSERT_FALSE(search_small_graph(&g, RP_MAX_QUANTITY / 4, &o).better);
    rp_graph_fini(&g);
    struct rp_gen_shape shape = rp_gen_small(1);
    rp_gen_graph(1, &shape, &g);
    CU_ASSERT_FALSE(search_small_graph(&g, 0, &o).better);
    rp_graph_fini(&g);
}

void suite_anneal_order(void) {
    RP_SUITE("anneal_order");
    RP_TEST(the_search_finds_the_best_order_of_small_graphs);
    RP_TEST(the_search_goes_on_from_the_runs_of_a_plan);
    RP_TEST(a_start_with_too_many_runs_goes_on_without_those_that_repeat);
    RP_TEST(more_time_in_all_orders_is_never_worse);
    RP_TEST(results_on_larger_graphs_have_not_become_worse);
    RP_TEST(statistics_count_the_moves);
    RP_TEST(the_search_ends_when_stop_says_so);
    RP_TEST(the_search_ends_when_nothing_can_be_better);
    RP_TEST(the_search_ends_at_its_goal);
    RP_TEST(nothing_is_returned_when_keep_all_cannot_be_improved);
    RP_TEST(plans_with_reorder_agree_with_brute_force_over_all_orders);
    RP_TEST(every_sequence_is_a_valid_plan_and_keeps_the_order_of_ordered_ops);
}
