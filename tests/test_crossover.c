/* Tests of crossover and of its pool of solutions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool never_anneal(void *arg, double best_ns) {
    (void)best_ns;
    return never(arg);
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

/* Fills the pool by a few short searches on a random training graph, at 60% of its
 * activations. */
static void fill_pool(uint64_t seed, struct case_of *c) {
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
            .seed = seed + k, .work = 8000, .initial_temperature = 1, .stop = never_anneal};
        rp_schedule_keep_all(&c->p, &s);
        rp_anneal(&c->p, &o, &s, &r);
        if (r.found && rp_schedule_prune(&c->p, &s))
            rp_solution_pool_add(&c->pool, &s, rp_schedule_cost(&c->p, &s).time_ns);
        rp_schedule_fini(&s);
    }
}

static void close_case(struct case_of *c) {
    rp_solution_pool_fini(&c->pool);
    rp_instance_fini(&c->p);
    rp_graph_fini(&c->g);
}

static bool is_sorted(const struct rp_solution_pool *f) {
    for (size_t k = 1; k < f->n; k++)
        if (f->at[k].time_ns < f->at[k - 1].time_ns)
            return false;
    return true;
}

static void crossover_gives_schedules_that_fit_and_are_better(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = never};
    uint32_t n = 40, better = 0, crossed = 0;
    uint64_t saved_ns = 0, all_work = 0;
    struct rp_crossover_statistics sum = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct case_of c;
        fill_pool(seed, &c);
        uint64_t before = c.pool.n > 0 ? c.pool.at[0].time_ns : 0;
        size_t n_before = c.pool.n;
        struct rp_crossover_statistics stats = {0};
        struct rp_crossover_state state = {0};
        uint64_t work = rp_crossover(&c.p, &o, &state, &c.pool, &stats);
        CU_ASSERT(stats.work == work && stats.pairs <= stats.crossings);
        CU_ASSERT(stats.solved <= stats.crossings && stats.improvements <= stats.crossings);
        rp_crossover_statistics_add(&sum, &stats);
        crossed += work > 0;
        all_work += work;
        if (c.pool.n > 0) {
            struct rp_cost cost = rp_schedule_cost(&c.p, &c.pool.at[0].s);
            if (!cost.sound || cost.peak_bytes > c.p.limit_bytes ||
                cost.time_ns != c.pool.at[0].time_ns || cost.time_ns > before ||
                !is_sorted(&c.pool) || (cost.time_ns == before && c.pool.n > n_before)) {
                rp_gen_failed(seed);
                CU_FAIL("the first schedule is not what the pool claims, or slower than "
                        "before");
            }
            better += cost.time_ns < before;
            saved_ns += before - cost.time_ns;
        }
        close_case(&c);
    }
    /* The values were 35, 35 and 5774 when this was written. */
    CU_ASSERT((crossed > 33 && better > 30 && saved_ns > 5500) || rp_gen_one_seed());
    CU_ASSERT(all_work < 6500000); /* was 5656250 */
    CU_ASSERT(sum.improvements >= better && sum.pairs > 0 && sum.crossings > sum.pairs);
    CU_ASSERT(sum.work == all_work && sum.solved > 0 && sum.seconds > 0);
}

/* Of the first `n` schedules of a pool. Returns the programs that the last call ran. */
static uint64_t cross_twice(uint64_t seed, size_t n,
                            struct rp_crossover_statistics *first) {
    struct rp_crossover_options o = {.work = 5000000, .stop = never};
    struct rp_crossover_statistics last = {0};
    struct rp_crossover_state state = {0};
    struct case_of c;
    fill_pool(seed, &c);
    while (c.pool.n > n)
        rp_schedule_fini(&c.pool.at[--c.pool.n].s);
    *first = (struct rp_crossover_statistics){0};
    rp_crossover(&c.p, &o, &state, &c.pool, first);
    rp_crossover(&c.p, &o, &state, &c.pool, &last);
    close_case(&c);
    return last.crossings;
}

static void no_program_is_run_twice(void) {
    struct rp_crossover_statistics first;
    uint32_t n = 12, pairs = 0, better = 0, pools = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        /* The best of two and an ancestor have nothing new to give. */
        CU_ASSERT_EQUAL(cross_twice(seed, 2, &first), 0);
        CU_ASSERT(first.crossings <= 1 + first.improvements);
        CU_ASSERT_EQUAL(first.solved, first.crossings);
        pairs += first.crossings;
        better += first.improvements;
        uint64_t again = cross_twice(seed, RP_MAX_POOL, &first);
        CU_ASSERT(first.improvements > 0 || again == 0);
        pools += first.crossings > 1 && again == 0;
    }
    CU_ASSERT((pairs > 6 && better > 2 && pools > 1) || rp_gen_one_seed());
}

/* The programs that one call runs with this much work. */
static struct rp_crossover_statistics cross_with(struct case_of *c, uint64_t work,
                                                 struct rp_crossover_state *state) {
    struct rp_crossover_options o = {.work = work, .stop = never};
    struct rp_crossover_statistics stats = {0};
    rp_crossover(&c->p, &o, state, &c->pool, &stats);
    return stats;
}

/* What is too much for a limit is not tried with it again, but with a larger one. */
static void programs_that_were_too_much_get_more_work(void) {
    uint32_t n = 12, again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_crossover_statistics little, more;
        struct rp_crossover_state state = {0};
        struct case_of c;
        fill_pool(seed, &c);
        uint64_t least = 40, calls = 0;
        do {
            little = cross_with(&c, least, &state);
        } while (little.crossings > 0 && ++calls < 100);
        CU_ASSERT_EQUAL(little.crossings, 0);
        more = cross_with(&c, 100000 * least, &state);
        again += more.crossings > 0 && more.solved > 0;
        close_case(&c);
    }
    CU_ASSERT(again > 1 || rp_gen_one_seed());
}

/* The first schedules of a pool whose programs are too much for a little work. */
enum { LITTLE_WORK = 40 };

static void fill_hard_pool(size_t n, struct case_of *c) {
    fill_pool(8, c);
    CU_ASSERT_FATAL(c->pool.n >= n);
    while (c->pool.n > n)
        rp_schedule_fini(&c->pool.at[--c->pool.n].s);
}

static void one_unit_of_work_begins_a_program(void) {
    struct rp_crossover_state state = {0};
    struct case_of c;
    fill_hard_pool(2, &c);
    CU_ASSERT_EQUAL(cross_with(&c, 1, &state).crossings, 1);
    close_case(&c);
}

/* A call without a program that is new to its first limit goes on with the second. */
static void what_was_given_up_before_raises_the_limit(void) {
    struct rp_crossover_state state = {0};
    struct case_of c;
    fill_hard_pool(2, &c);
    for (uint64_t k = 1; k <= 3; k++) {
        struct rp_crossover_statistics stats = cross_with(&c, LITTLE_WORK, &state);
        CU_ASSERT(stats.crossings == (k <= 2) && stats.solved == 0);
        CU_ASSERT_EQUAL(state.given_up.n, k <= 2 ? k : 2);
    }
    close_case(&c);
}

/* The third schedule is the second again. All of them are still crossed together, once each
 * of the others has been with the best. */
static void a_schedule_that_adds_nothing_does_not_end_a_crossing_of_several(void) {
    struct rp_crossover_state state = {0};
    struct rp_crossover_statistics stats = {0};
    struct case_of c;
    fill_hard_pool(3, &c);
    rp_solution_pool_add(&c.pool, &c.pool.at[1].s, c.pool.at[1].time_ns + 1);
    CU_ASSERT_FATAL(c.pool.n == 4 && c.pool.at[3].time_ns > c.pool.at[2].time_ns);
    for (uint32_t k = 0; k < 2; k++)
        CU_ASSERT_EQUAL(cross_with(&c, LITTLE_WORK, &state).pairs, 1);
    stats = cross_with(&c, LITTLE_WORK, &state);
    CU_ASSERT(stats.crossings == 1 && stats.pairs == 0 && stats.improvements == 0);
    close_case(&c);
}

/* Pairs without the best schedule come after those with it. */
static void all_pairs_of_a_pool_are_crossed(void) {
    uint32_t n = 12, without_best = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_crossover_state state = {0}, fresh = {0};
        struct case_of c;
        fill_pool(seed, &c);
        cross_with(&c, 50000000, &state);
        struct rp_crossover_statistics stats = cross_with(&c, 50000000, &fresh);
        if (stats.improvements == 0) {
            CU_ASSERT(2 * stats.pairs <= c.pool.n * (c.pool.n - 1));
            without_best += stats.pairs >= c.pool.n;
        }
        close_case(&c);
    }
    CU_ASSERT(without_best > 1 || rp_gen_one_seed());
}

/* One line about the programs that a pool gives for little work, then for more. */
static void describe_crossover(uint64_t seed, size_t n, char *line) {
    struct rp_crossover_state state = {0};
    struct case_of c;
    fill_pool(seed, &c);
    struct rp_crossover_statistics a = cross_with(&c, 10000, &state);
    size_t given_up = state.given_up.n;
    struct rp_crossover_statistics b = cross_with(&c, 60000, &state);
    snprintf(line, n, "%d: %d %d %d %d %d, %d %d %d %d %d, %d %d, %d of %d %d", (int)seed,
             (int)a.pairs, (int)a.crossings, (int)a.solved, (int)a.improvements,
             (int)a.work, (int)b.pairs, (int)b.crossings, (int)b.solved,
             (int)b.improvements, (int)b.work, (int)given_up, (int)state.solved.n,
             (int)c.pool.n, c.pool.n > 0 ? (int)c.pool.at[0].time_ns : 0,
             c.pool.n > 0 ? (int)c.pool.at[c.pool.n - 1].time_ns : 0);
    close_case(&c);
}

/* If you change the search on purpose, take the lines that are printed, and read what has
 * changed. */
static void the_same_pool_gives_the_same_programs(void) {
    static const char *const lines[] = {
        "1: 0 0 0 0 0, 0 0 0 0 0, 0 0, 0 of 0 0",
        "2: 0 0 0 0 0, 0 0 0 0 0, 0 0, 0 of 0 0",
        "3: 2 2 2 1 8753, 7 10 10 2 48740, 0 12, 5 of 2313 3790",
        "4: 2 2 2 2 9241, 7 11 11 1 48564, 0 15, 5 of 2160 2888",
        "5: 2 2 2 2 10241, 4 8 8 1 48768, 0 12, 4 of 2349 2947",
        "6: 1 1 1 0 4219, 0 0 0 0 0, 0 1, 2 of 2707 3460",
        "7: 2 2 2 1 8963, 7 11 11 2 48927, 0 13, 4 of 2585 3654",
        "8: 2 2 2 0 8639, 5 9 9 2 47981, 0 12, 4 of 2218 2938",
        "9: 2 2 2 2 10528, 6 9 9 2 44642, 0 12, 3 of 2875 4086",
        "10: 2 2 2 1 9035, 5 10 10 2 46001, 0 12, 3 of 2245 2546",
        "11: 2 2 2 1 9107, 4 7 7 1 45753, 0 11, 5 of 2243 2843",
        "12: 2 2 2 1 8953, 4 10 10 1 47106, 0 13, 5 of 2316 3800",
        "13: 2 2 2 1 8531, 2 4 4 1 16598, 0 8, 3 of 2410 2659",
        "14: 2 2 2 0 8861, 7 10 10 2 46151, 0 12, 5 of 1907 2306",
        "15: 2 2 2 2 8958, 7 11 11 2 46946, 0 14, 4 of 2037 2958",
        "16: 2 2 2 1 9371, 3 6 6 1 45020, 0 9, 5 of 2577 3110",
        "17: 2 2 2 2 9303, 5 11 11 1 49192, 0 16, 5 of 2219 2960",
        "18: 0 0 0 0 0, 0 0 0 0 0, 0 0, 0 of 0 0",
        "19: 2 2 1 1 10812, 10 11 11 3 48470, 1 14, 5 of 2207 2921",
        "20: 2 2 2 1 9348, 8 10 10 5 48142, 0 13, 3 of 2443 3129",
    };
    char line[200];
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        describe_crossover(k + 1, sizeof line, line);
        if (strcmp(line, lines[k]) != 0)
            printf("\n\"%s\",", line);
        CU_ASSERT_STRING_EQUAL(line, lines[k]);
    }
}

static void a_stopped_crossover_leaves_the_pool_as_it_is(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = always};
    struct rp_crossover_state state = {0};
    struct case_of c;
    uint64_t seed = 1;
    for (fill_pool(seed, &c); c.pool.n < 2; fill_pool(++seed, &c))
        close_case(&c);
    uint64_t before = c.pool.at[0].time_ns;
    size_t n = c.pool.n;
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &state, &c.pool, NULL), 0);
    CU_ASSERT_EQUAL(c.pool.n, n);
    CU_ASSERT_EQUAL(c.pool.at[0].time_ns, before);
    close_case(&c);
}

static void pools_are_sorted_and_limited_and_have_no_duplicates(void) {
    struct case_of c;
    struct rp_solution_pool f = {0};
    struct rp_schedule s;
    fill_pool(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    rp_solution_pool_add(&f, &s, 7);
    rp_solution_pool_add(&f, &s, 7);
    CU_ASSERT_EQUAL(f.n, 1); /* a duplicate */
    for (uint64_t k = 0; k < 30; k++)
        rp_solution_pool_add(&f, &s, 100 - 3 * k);
    CU_ASSERT(is_sorted(&f));
    CU_ASSERT(f.n > 4 && f.n < 20);
    CU_ASSERT_EQUAL(f.at[0].time_ns, 7);
    CU_ASSERT_EQUAL(f.at[1].time_ns, 13);
    rp_solution_pool_fini(&f);
    rp_schedule_fini(&s);
    close_case(&c);
}

static void a_schedule_takes_the_place_of_what_it_came_from(void) {
    struct case_of c;
    struct rp_solution_pool f = {0};
    struct rp_schedule s;
    fill_pool(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    for (uint64_t k = 1; k <= 3; k++)
        rp_solution_pool_add(&f, &s, 10 * k);
    rp_solution_pool_replace(&f, 20, &s, 5);
    CU_ASSERT_EQUAL(f.n, 3);
    CU_ASSERT(f.at[0].time_ns == 5 && f.at[1].time_ns == 10 && f.at[2].time_ns == 30);
    rp_solution_pool_replace(&f, 1, &s, 5); /* nothing is as fast, and 5 is there */
    CU_ASSERT_EQUAL(f.n, 3);
    rp_solution_pool_replace(&f, 20, &s, 4); /* it is not there any more */
    CU_ASSERT(f.n == 4 && f.at[0].time_ns == 4);
    rp_solution_pool_fini(&f);
    rp_schedule_fini(&s);
    close_case(&c);
}

/* A simpler version of rp_solution_pool_add: a sorted list that keeps the first of equal
 * entries and drops the last ones. */
struct kept {
    uint64_t time_ns, mark;
};

static size_t simple_add(struct kept *list, size_t n, struct kept added) {
    size_t k = n;
    for (size_t i = 0; i < n; i++)
        if (list[i].time_ns == added.time_ns && list[i].mark == added.mark)
            return n;
    for (; k > 0 && list[k - 1].time_ns > added.time_ns; k--)
        list[k] = list[k - 1];
    list[k] = added;
    return n < RP_MAX_POOL ? n + 1 : n;
}

static void a_pool_agrees_with_a_simpler_implementation(void) {
    struct case_of c;
    struct rp_solution_pool f = {0};
    struct rp_schedule s;
    struct kept list[RP_MAX_POOL + 1];
    struct rp_rng r = {7};
    size_t n = 0;
    fill_pool(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    rp_schedule_set_in(&s, 0, 0, true); /* the pool must ignore the swaps */
    for (int k = 0; k < 300; k++) {
        /* Later schedules are faster on average. The last word of the rows identifies each.
         */
        struct kept added = {200 - (uint64_t)k / 2 + rp_rng_below(&r, 60) / 4,
                             rp_rng_below(&r, 4)};
        s.rows[(size_t)(s.n_stages + 1) * s.words - 1] = added.mark;
        rp_solution_pool_add(&f, &s, added.time_ns);
        n = simple_add(list, n, added);
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
    close_case(&c);
}

static bool count_call(void *n_calls) {
    return ++*(uint32_t *)n_calls > 1000;
}

/* the stop function is not called either */
static void there_is_no_crossover_with_one_schedule_or_without_work(void) {
    uint32_t n_calls = 0;
    struct rp_crossover_options o = {
        .work = 200000, .stop = count_call, .stop_arg = &n_calls};
    struct rp_crossover_state state = {0};
    struct case_of c;
    uint64_t seed = 1;
    for (fill_pool(seed, &c); c.pool.n < 2; fill_pool(++seed, &c))
        close_case(&c);
    o.work = 0;
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &state, &c.pool, NULL), 0);
    o.work = 200000;
    while (c.pool.n > 1)
        rp_schedule_fini(&c.pool.at[--c.pool.n].s);
    CU_ASSERT_EQUAL(rp_crossover(&c.p, &o, &state, &c.pool, NULL), 0);
    CU_ASSERT_EQUAL(c.pool.n, 1);
    CU_ASSERT_EQUAL(n_calls, 0);
    close_case(&c);
}

/* The formulation cannot represent a schedule that holds a tensor nobody reads. The pool
 * drops such a schedule, however fast it claims to be, and the other two are enough for a
 * crossover. */
static void schedules_that_the_formulation_cannot_represent_are_dropped(void) {
    struct rp_crossover_options o = {.work = 200000, .stop = never};
    struct rp_schedule none;
    struct rp_crossover_state state = {0};
    struct case_of c;
    uint64_t seed = 1;
    for (fill_pool(seed, &c); c.pool.n < 2; fill_pool(++seed, &c))
        close_case(&c);
    while (c.pool.n > 2)
        rp_schedule_fini(&c.pool.at[--c.pool.n].s);
    uint64_t before = c.pool.at[0].time_ns;
    struct rp_crossover_statistics stats = {0};
    rp_schedule_keep_all(&c.p, &none);
    rp_schedule_set(&none, c.p.n_tensors - 1, 1, c.p.n_ops, true);
    rp_solution_pool_add(&c.pool, &none, 0);
    rp_solution_pool_add(&c.pool, &none, 1);
    CU_ASSERT(rp_crossover(&c.p, &o, &state, &c.pool, &stats) > 0);
    CU_ASSERT_EQUAL(stats.dropped, 2);
    CU_ASSERT(c.pool.n >= 2 && c.pool.at[0].time_ns > 1);
    CU_ASSERT(c.pool.at[0].time_ns <= before);
    rp_solution_pool_fini(&c.pool);
    rp_solution_pool_add(&c.pool, &none, 0);
    rp_solution_pool_add(&c.pool, &none, 1);
    rp_crossover(&c.p, &o, &state, &c.pool, NULL);
    CU_ASSERT_EQUAL(c.pool.n, 0);
    rp_schedule_fini(&none);
    close_case(&c);
}

static void adding_crossover_statistics_adds_every_member(void) {
    RP_ADDS_EVERY_MEMBER(rp_crossover_statistics);
}

void suite_crossover(void) {
    RP_SUITE("crossover");
    RP_TEST(schedules_that_the_formulation_cannot_represent_are_dropped);
    RP_TEST(adding_crossover_statistics_adds_every_member);
    RP_TEST(a_pool_agrees_with_a_simpler_implementation);
    RP_TEST(there_is_no_crossover_with_one_schedule_or_without_work);
    RP_TEST(crossover_gives_schedules_that_fit_and_are_better);
    RP_TEST(no_program_is_run_twice);
    RP_TEST(programs_that_were_too_much_get_more_work);
    RP_TEST(one_unit_of_work_begins_a_program);
    RP_TEST(what_was_given_up_before_raises_the_limit);
    RP_TEST(a_schedule_that_adds_nothing_does_not_end_a_crossing_of_several);
    RP_TEST(all_pairs_of_a_pool_are_crossed);
    RP_TEST(the_same_pool_gives_the_same_programs);
    RP_TEST(a_stopped_crossover_leaves_the_pool_as_it_is);
    RP_TEST(pools_are_sorted_and_limited_and_have_no_duplicates);
    RP_TEST(a_schedule_takes_the_place_of_what_it_came_from);
}
