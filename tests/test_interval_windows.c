/* Tests of bounds from windows of the interval model, compared with brute force over all
 * programs and with the whole model. */
#include "solve/milp/interval_windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "gen.h"
#include "interval_runs.h"
#include "run.h"
#include "solve/milp/interval_point.h"
#include "solve/milp/interval_worker.h"
#include "tiny_task.h"

/* What a window proves, in ns beside all first runs. */
static uint64_t window_ns(const struct rp_instance *p, uint64_t horizon_ns,
                          struct rp_interval_window w) {
    struct rp_interval_model m;
    rp_interval_model_init_window(&m, p, horizon_ns, &w);
    return rp_solve_and_free(&m, 500000).bound_ns - p->graph->total_time_ns;
}

/* The most that windows of at most `stages` stages prove together, if max_runs ops before
 * each may run again. */
static uint64_t all_windows_ns(const struct rp_instance *p, uint64_t horizon_ns,
                               uint64_t most_ns, uint32_t stages, uint32_t max_runs) {
    uint64_t *best = rp_calloc((size_t)p->n_ops + 2, sizeof *best), all;
    for (uint32_t last = 0; last <= p->n_ops; last++) {
        best[last + 1] = best[last];
        for (uint32_t first = last + 1; first-- > 0 && last - first < stages;)
            best[last + 1] = rp_max_u64(
                best[last + 1],
                best[first] +
                    window_ns(p, horizon_ns,
                              (struct rp_interval_window){first, last, most_ns, max_runs}));
    }
    all = best[p->n_ops + 1];
    free(best);
    return all;
}

/* All windows of 300 graphs, those of three stages, and those of four in which only two ops
 * before them, and any as near, run again. On 54 graphs no plan is as fast as keep-all: all
 * windows prove the optimum on 50 of them, and the others something on 51
 * and 51. */
static void no_program_takes_less_than_its_windows(void) {
    uint32_t n = 300, n_slower = 0, n_equal = 0, n_parts = 0, n_near = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_tiny_task t;
        uint64_t best = 0;
        rp_tiny_task_init(&t, seed, seed % 4 != 0);
        if (t.p.n_tensors <= RP_BRUTE_COPIED &&
            rp_brute_copies_best(&t.g, &t.o, &best) == RP_BRUTE_FOUND) {
            uint64_t beside = best - t.g.total_time_ns;
            uint32_t stages = t.p.n_ops + 1;
            uint64_t all = all_windows_ns(&t.p, 2 * best, UINT64_MAX, stages, UINT32_MAX);
            uint64_t close = all_windows_ns(&t.p, best, beside, stages, UINT32_MAX);
            uint64_t parts = all_windows_ns(&t.p, best, beside, 3, UINT32_MAX);
            uint64_t near = all_windows_ns(&t.p, best, beside, 4, 2);
            if (all > beside || close > beside || parts > beside || near > beside) {
                rp_gen_failed(seed);
                CU_FAIL("windows that take longer than a program");
            }
            n_slower += beside > 0;
            n_equal += beside > 0 && close == beside;
            n_parts += parts > 0;
            n_near += near > 0;
        }
        rp_tiny_task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || n_slower >= 50);
    CU_ASSERT(rp_gen_one_seed() || 100 * n_equal >= 90 * n_slower);
    CU_ASSERT(rp_gen_one_seed() || 100 * n_parts >= 30 * n_slower);
    CU_ASSERT(rp_gen_one_seed() || 100 * n_near >= 30 * n_slower);
}

/* A graph of 12 to 19 ops, a random plan for it, and what it takes in each stage. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_plan plan;
    struct rp_interval_program q;
};

static void task_init_of(struct task *t, uint64_t seed, const struct rp_gen_shape *shape) {
    rp_gen_graph(seed, shape, &t->g);
    rp_gen_plan(seed, &t->g, false, &t->plan);
    rp_instance_init(&t->p, &t->g, t->plan.budget_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, t->plan.host_bytes);
    CU_ASSERT_FATAL(rp_interval_program_read(&t->p, NULL, &t->plan, &t->q));
}

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(12 + (uint32_t)(seed % 8));
    shape.bandwidths = shape.training = true;
    task_init_of(t, seed, &shape);
}

static void task_fini(struct task *t) {
    rp_interval_program_fini(&t->q);
    rp_instance_fini(&t->p);
    rp_plan_fini(&t->plan);
    rp_graph_fini(&t->g);
}

static void no_plan_takes_less_in_a_window(void) {
    uint32_t n = 300;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        struct rp_rng r = {seed};
        uint64_t beside = 0;
        task_init(&t, seed);
        uint32_t first = rp_rng_below(&r, t.p.n_ops + 1);
        uint32_t last = first + rp_rng_below(&r, rp_min_u32(t.p.n_ops + 1 - first, 8));
        for (uint32_t u = first; u <= last; u++)
            beside += t.q.d_ns[u];
        struct rp_interval_window open = {first, last, UINT64_MAX, UINT32_MAX};
        struct rp_interval_window close = {first, last, beside, (uint32_t)(seed % 6)};
        if (window_ns(&t.p, t.q.time_ns, open) > beside ||
            window_ns(&t.p, t.q.time_ns, close) > beside) {
            rp_gen_failed(seed);
            CU_FAIL("a window that takes longer than a plan");
        }
        task_fini(&t);
    }
}

static struct rp_interval_result whole(const struct task *t, uint64_t work) {
    struct rp_interval_model m;
    rp_interval_model_init(&m, &t->p, t->q.time_ns);
    return rp_solve_and_free(&m, work);
}

static bool same(const struct rp_interval_result *a, const struct rp_interval_result *b) {
    return a->finished == b->finished && a->bound_ns == b->bound_ns &&
           a->n_cuts == b->n_cuts && a->work == b->work && a->nodes == b->nodes;
}

/* The same bound here and in a process of its own, at the floor. It is no more than the
 * optimum of the whole model. */
static void the_bound_is_that_of_some_windows(void) {
    uint32_t n = 60, n_proved = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        struct rp_interval_result r, again;
        uint64_t proved = 0;
        struct rp_interval_options o = {
            .engine = RP_ENGINE_GLPK, .work = 200000, .proved_ns = &proved};
        task_init(&t, seed);
        uint32_t op;
        t.p.limit_bytes = rp_instance_floor(&t.p, &op);
        rp_interval_windows_solve(&t.p, t.q.time_ns, t.q.d_ns, &o, &r);
        CU_ASSERT(!r.found && r.bound_ns <= t.q.time_ns && r.bound_ns == proved);
        CU_ASSERT_EQUAL(r.finished, r.bound_ns == t.q.time_ns);
        struct rp_interval_result w = whole(&t, 2000000);
        if (w.finished && r.bound_ns > w.bound_ns) {
            rp_gen_failed(seed);
            CU_FAIL("windows that take longer than the whole");
        }
        n_proved += r.bound_ns > t.g.total_time_ns;
        struct rp_interval_worker *worker =
            rp_interval_worker_start_proof(&t.p, t.q.time_ns, t.q.d_ns, false, &o);
        CU_ASSERT_PTR_NOT_NULL_FATAL(worker);
        while (!rp_interval_worker_wait(worker, 1, &again))
            ;
        CU_ASSERT(same(&r, &again));
        CU_ASSERT_EQUAL(*rp_interval_worker_proved_ns(worker), r.bound_ns);
        rp_interval_worker_end(worker);
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || n_proved >= 20);
}

/* Windows are chosen as before, and get as much work. */
static void searches_of_windows_are_the_same(void) {
    static const struct {
        uint64_t seed, work;
        const char *expected;
    } searches[] = {
        {1, 300000, "bound 2980 of 6187 cuts 2455 nodes 55 work 262890"},
        {2, 300000, "bound 2739 of 6492 cuts 3012 nodes 29 work 288303"},
        {3, 300000, "bound 3190 of 8998 cuts 3514 nodes 31 work 290558"},
        {4, 1000000, "bound 3214 of 7427 cuts 7512 nodes 190 work 934260"},
        {8, 3000000, "bound 3171 of 7931 cuts 27494 nodes 426 work 2792090"},
    };
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        struct rp_gen_shape shape = rp_gen_small(60);
        struct task t;
        struct rp_interval_result r;
        struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = searches[i].work};
        uint32_t op;
        shape.bandwidths = shape.training = true;
        task_init_of(&t, searches[i].seed, &shape);
        t.p.limit_bytes = rp_instance_floor(&t.p, &op);
        rp_interval_windows_solve(&t.p, t.q.time_ns, t.q.d_ns, &o, &r);
        char *text = rp_format("bound %" PRIu64 " of %" PRIu64 " cuts %u nodes %" PRIu64
                               " work %" PRIu64,
                               r.bound_ns, t.q.time_ns, r.n_cuts, r.nodes, r.work);
        if (strcmp(text, searches[i].expected) != 0)
            printf("        {%" PRIu64 ", %" PRIu64 ",\n         \"%s\"},\n",
                   searches[i].seed, searches[i].work, text);
        CU_ASSERT_STRING_EQUAL(text, searches[i].expected);
        free(text);
        task_fini(&t);
    }
}

/* A program that takes nothing beside its first runs leaves nothing to prove. */
static void nothing_is_open_where_nothing_waits(void) {
    struct task t;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = 1000000};
    task_init(&t, 1);
    uint64_t *none = rp_calloc((size_t)t.p.n_ops + 1, sizeof *none);
    rp_interval_windows_solve(&t.p, t.g.total_time_ns, none, &o, &r);
    CU_ASSERT(r.finished && r.bound_ns == t.g.total_time_ns && r.work == 0);
    free(none);
    task_fini(&t);
}

void suite_interval_windows(void) {
    RP_SUITE("interval_windows");
    RP_TEST(no_program_takes_less_than_its_windows);
    RP_TEST(no_plan_takes_less_in_a_window);
    RP_TEST(the_bound_is_that_of_some_windows);
    RP_TEST(searches_of_windows_are_the_same);
    RP_TEST(nothing_is_open_where_nothing_waits);
}
