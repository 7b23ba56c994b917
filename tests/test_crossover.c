/* Tests of crossover and of its pool of solutions. */
#include <stdlib.h>

#include "gen.h"
#include "run.h"
#include "solve/core/prune.h"
#include "solve/local/anneal.h"
#include "solve/mip/crossover.h"
#include "solve/solver.h"
#include "sums.h"

static bool never(void *arg) {
    (void)arg;
    return false;
}

static bool always(void *arg) {
    (void)arg;
    return true;
}

struct case_of {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_solution_pool pool;
};

/* A few short searches of a random training graph at 60% of its activations. */
static void find_some(uint64_t seed, struct case_of *c) {
    struct rp_gen_shape shape = rp_gen_small(40);
    *c = (struct case_of){0};
    shape.training = true;
    shape.bandwidths = false;
    rp_gen_graph(seed, &shape, &c->g);
    uint64_t all = rp_keep_all_bytes(&c->g, false), fixed = c->g.fixed_bytes;
    rp_instance_init(&c->p, &c->g, fixed + (all - fixed) / 10 * 6, false, NULL);
    for (uint64_t k = 0; k < 5; k++) {
        struct rp_schedule s;
        struct rp_anneal_result r;
        struct rp_anneal_options o = {
            .seed = seed + k, .work = 8000, .initial_temperature = 1, .stop = never};
        rp_schedule_keep_all(&c->p, &s);
        rp_anneal(&c->p, &o, &s, &r);
        if (r.found && rp_schedule_prune(&c->p, &s))
            rp_solution_pool_add(&c->pool, &s, rp_schedule_cost(&c->p, &s).time_ns);
        rp_schedule_fini(&s);
    }
}

static void end_case(struct case_of *c) {
    rp_solution_pool_fini(&c->pool);
    rp_instance_fini(&c->p);
    rp_graph_fini(&c->g);
}

static bool in_order(const struct rp_solution_pool *f) {
    for (size_t k = 1; k < f->n; k++)
        if (f->at[k].time_ns < f->at[k - 1].time_ns)
            return false;
    return true;
}

static void crossed_schedules_fit_and_are_better_than_before(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = never};
    uint32_t n = 40, better = 0, crossed = 0;
    uint64_t saved_ns = 0, all_work = 0;
    struct rp_crossover_statistics sum = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct case_of c;
        find_some(seed, &c);
        uint64_t before = c.pool.n > 0 ? c.pool.at[0].time_ns : 0;
        size_t n_before = c.pool.n;
        struct rp_crossover_statistics stats = {0};
        uint64_t work = rp_crossover(&c.p, &o, &c.pool, &stats);
        CU_ASSERT(stats.work == work && stats.pairs <= stats.crossings);
        CU_ASSERT(stats.solved <= stats.crossings && stats.improvements <= stats.crossings);
        rp_crossover_statistics_add(&sum, &stats);
        crossed += work > 0;
        all_work += work;
        if (c.pool.n > 0) {
            struct rp_cost cost = rp_schedule_cost(&c.p, &c.pool.at[0].s);
            if (!cost.sound || cost.peak_bytes > c.p.limit_bytes ||
                cost.time_ns != c.pool.at[0].time_ns || cost.time_ns > before ||
                !in_order(&c.pool) || (cost.time_ns == before && c.pool.n > n_before)) {
                rp_gen_failed(seed);
                CU_FAIL("the first schedule is not what the pool claims, or slower than "
                        "before");
            }
            better += cost.time_ns < before;
            saved_ns += before - cost.time_ns;
        }
        end_case(&c);
    }
    /* 35, 33 and 6508 when these were written. */
    CU_ASSERT((crossed > 33 && better > 30 && saved_ns > 6200) ||
              getenv("RP_SEED") != NULL);
    CU_ASSERT(all_work < 1800000); /* 1570073 */
    CU_ASSERT(sum.improvements >= better && sum.pairs > 0 && sum.crossings > sum.pairs);
    CU_ASSERT(sum.work == all_work && sum.solved > 0);
}

static void a_stopped_crossover_leaves_the_pool_as_it_is(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = always};
    struct case_of c;
    uint64_t seed = 1;
    for (find_some(seed, &c); c.pool.n < 2; find_some(++seed, &c))
        end_case(&c);
    uint64_t before = c.pool.at[0].time_ns;
    size_t n = c.pool.n;
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &c.pool, NULL), 0);
    CU_ASSERT_EQUAL(c.pool.n, n);
    CU_ASSERT_EQUAL(c.pool.at[0].time_ns, before);
    end_case(&c);
}

static void pools_are_sorted_limited_and_without_duplicates(void) {
    struct case_of c;
    struct rp_solution_pool f = {0};
    struct rp_schedule s;
    find_some(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    rp_solution_pool_add(&f, &s, 7);
    rp_solution_pool_add(&f, &s, 7);
    CU_ASSERT_EQUAL(f.n, 1); /* it is there already */
    for (uint64_t k = 0; k < 30; k++)
        rp_solution_pool_add(&f, &s, 100 - 3 * k);
    CU_ASSERT(in_order(&f));
    CU_ASSERT(f.n > 4 && f.n < 20);
    CU_ASSERT_EQUAL(f.at[0].time_ns, 7);
    CU_ASSERT_EQUAL(f.at[1].time_ns, 13);
    rp_solution_pool_fini(&f);
    rp_schedule_fini(&s);
    end_case(&c);
}

/* A simpler version of rp_solution_pool_add: sorted, the first of equals, the first few. */
struct kept {
    uint64_t time_ns, mark;
};

static size_t keep(struct kept *list, size_t n, struct kept added) {
    size_t k = n;
    for (size_t i = 0; i < n; i++)
        if (list[i].time_ns == added.time_ns && list[i].mark == added.mark)
            return n;
    for (; k > 0 && list[k - 1].time_ns > added.time_ns; k--)
        list[k] = list[k - 1];
    list[k] = added;
    return n < RP_MAX_POOL ? n + 1 : n;
}

static void pools_hold_what_a_simpler_list_holds(void) {
    struct case_of c;
    struct rp_solution_pool f = {0};
    struct rp_schedule s;
    struct kept list[RP_MAX_POOL + 1];
    struct rp_rng r = {7};
    size_t n = 0;
    find_some(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    rp_schedule_set_in(&s, 0, 0, true); /* a copy has no swaps */
    for (int k = 0; k < 300; k++) {
        /* Later ones are faster on average. The last word of the rows marks each. */
        struct kept added = {200 - (uint64_t)k / 2 + rp_rng_below(&r, 60) / 4,
                             rp_rng_below(&r, 4)};
        s.rows[(size_t)(s.n_stages + 1) * s.words - 1] = added.mark;
        rp_solution_pool_add(&f, &s, added.time_ns);
        n = keep(list, n, added);
        CU_ASSERT_FATAL(f.n == n);
        for (size_t i = 0; i < n; i++) {
            const struct rp_schedule *at = &f.at[i].s;
            CU_ASSERT(f.at[i].time_ns == list[i].time_ns &&
                      at->rows[(size_t)(s.n_stages + 1) * s.words - 1] == list[i].mark);
        }
    }
    rp_solution_pool_fini(&f);
    rp_solution_pool_fini(&f);
    rp_schedule_fini(&s);
    end_case(&c);
}

static bool counted(void *n_asked) {
    return ++*(uint32_t *)n_asked > 1000;
}

/* Nor does it ask whether to stop. */
static void one_schedule_or_no_work_gives_no_crossover(void) {
    uint32_t n_asked = 0;
    struct rp_crossover_options o = {.work = 200000, .stop = counted, .stop_arg = &n_asked};
    struct case_of c;
    uint64_t seed = 1;
    for (find_some(seed, &c); c.pool.n < 2; find_some(++seed, &c))
        end_case(&c);
    o.work = 0;
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &c.pool, NULL), 0);
    o.work = 200000;
    while (c.pool.n > 1)
        rp_schedule_fini(&c.pool.at[--c.pool.n].s);
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &c.pool, NULL), 0);
    CU_ASSERT_EQUAL(c.pool.n, 1);
    CU_ASSERT_EQUAL(n_asked, 0);
    end_case(&c);
}

/* A schedule that holds what nobody reads is no point of the formulation. It is dropped,
 * however fast it claims to be. Two others are enough for a crossover. */
static void schedules_without_a_point_are_dropped(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = never};
    struct rp_schedule none;
    struct case_of c;
    uint64_t seed = 1;
    for (find_some(seed, &c); c.pool.n < 2; find_some(++seed, &c))
        end_case(&c);
    while (c.pool.n > 2)
        rp_schedule_fini(&c.pool.at[--c.pool.n].s);
    uint64_t before = c.pool.at[0].time_ns;
    struct rp_crossover_statistics stats = {0};
    rp_schedule_keep_all(&c.p, &none);
    rp_schedule_set(&none, c.p.n_tensors - 1, 1, c.p.n_ops, true);
    rp_solution_pool_add(&c.pool, &none, 0);
    rp_solution_pool_add(&c.pool, &none, 1);
    CU_ASSERT(rp_crossover(&c.p, &o, &c.pool, &stats) > 0);
    CU_ASSERT_EQUAL(stats.dropped, 2);
    CU_ASSERT(c.pool.n >= 2 && c.pool.at[0].time_ns > 1);
    CU_ASSERT(c.pool.at[0].time_ns <= before);
    rp_solution_pool_fini(&c.pool);
    rp_solution_pool_add(&c.pool, &none, 0);
    rp_solution_pool_add(&c.pool, &none, 1);
    rp_crossover(&c.p, &o, &c.pool, NULL);
    CU_ASSERT_EQUAL(c.pool.n, 0);
    rp_schedule_fini(&none);
    end_case(&c);
}

static void sums_of_crossover_statistics_miss_no_member(void) {
    RP_ADDS_EVERY_MEMBER(rp_crossover_statistics);
}

void suite_crossover(void) {
    RP_SUITE("crossover");
    RP_TEST(schedules_without_a_point_are_dropped);
    RP_TEST(sums_of_crossover_statistics_miss_no_member);
    RP_TEST(pools_hold_what_a_simpler_list_holds);
    RP_TEST(one_schedule_or_no_work_gives_no_crossover);
    RP_TEST(crossed_schedules_fit_and_are_better_than_before);
    RP_TEST(a_stopped_crossover_leaves_the_pool_as_it_is);
    RP_TEST(pools_are_sorted_limited_and_without_duplicates);
}
