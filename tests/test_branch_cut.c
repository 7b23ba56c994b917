#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "brute.h"
#include "engines.h"
#include "gen.h"
#include "run.h"
#include "solve/mip/worker.h"
#include "sums.h"

/* A random graph small enough for exhaustive search, with a random limit. */
struct instance {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t floor_bytes, limit_bytes;
    bool feasible;
    uint64_t time_ns; /* time_ns is the optimum */
};

static void build_instance(uint64_t seed, struct instance *i) {
    struct rp_rng r = {seed * 77};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 4));
    shape.training = rp_rng_percent(&r, 50);
    shape.once_percent = rp_rng_percent(&r, 30) ? 15 : 0;
    shape.max_outputs = rp_rng_percent(&r, 30) ? 2 : 1;
    shape.n_ops -= shape.max_outputs - 1;
    shape.rules_percent = seed % 2 * 20;
    do {
        rp_gen_graph(seed++, &shape, &i->g);
        rp_instance_init(&i->p, &i->g, i->g.fixed_bytes, false, NULL);
        if (i->p.n_tensors <= 7)
            break;
        rp_instance_fini(&i->p);
        rp_graph_fini(&i->g);
        seed += 1000000;
    } while (true);
    i->floor_bytes = rp_brute_floor(&i->g);
    /* In most cases a little above the floor, where recomputation is needed. */
    i->limit_bytes = i->floor_bytes + rp_rng_below(&r, 3000);
    if (i->floor_bytes > 0 && rp_rng_percent(&r, 10))
        i->limit_bytes = i->floor_bytes - 1;
    i->p.limit_bytes = i->limit_bytes;
    i->feasible = rp_brute_best(&i->g, i->limit_bytes, &i->time_ns);
}

static void free_instance(struct instance *i) {
    rp_instance_fini(&i->p);
    rp_graph_fini(&i->g);
}

/* Runs branch and cut in small steps. Its claims must hold after each. */
static bool check_steps(const struct instance *i, const struct rp_branch_cut_options *o) {
    struct rp_branch_cut *bc = rp_branch_cut_new(&i->p, o);
    struct rp_branch_cut_state s;
    bool good = true;
    enum rp_branch_cut_status st;
    do {
        st = rp_branch_cut_run(bc, 50, &s);
        good = good && (!i->feasible || s.bound_ns <= i->time_ns);
        if (s.found) {
            struct rp_cost c = rp_schedule_cost(&i->p, rp_branch_cut_best(bc));
            good = good && c.sound && c.peak_bytes <= i->limit_bytes &&
                   c.time_ns == s.time_ns && s.time_ns >= i->time_ns;
        }
    } while (st == RP_BRANCH_CUT_PAUSED && s.statistics.work < 10000000);
    if (i->feasible)
        good = good && st == RP_BRANCH_CUT_OPTIMAL && s.found && s.time_ns == i->time_ns &&
               s.bound_ns == i->time_ns;
    else
        good = good && st == RP_BRANCH_CUT_INFEASIBLE && !s.found;
    rp_branch_cut_free(bc);
    return good;
}

/* Positions of the row families in separation.c. */
enum { COVER = 1, PATH = 2 };

static struct rp_branch_cut_options set_variant(uint64_t n) {
    return (struct rp_branch_cut_options){.no_merge = n & 1,
                                          .skip_cuts = (n >> 1 & 1) << PATH | (n >> 2 & 1)
                                                                                  << COVER,
                                          .no_sums = n & 8,
                                          .no_fixing = n & 16};
}

static void compare_with_exhaustive_search(enum rp_engine e) {
    uint32_t n = e == RP_ENGINE_GLPK ? 250 : 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct instance i;
        build_instance(seed, &i);
        uint32_t op;
        bool good = rp_instance_floor(&i.p, &op) <= i.floor_bytes;
        good = good && check_steps(&i, &(struct rp_branch_cut_options){.engine = e});
        struct rp_branch_cut_options plain = set_variant(seed);
        plain.engine = e;
        good = good && check_steps(&i, &plain);
        struct rp_branch_cut_options few = {.engine = e, .skip_cuts = UINT32_MAX};
        good = good && check_steps(&i, &few); /* covers of integral points only */
        free_instance(&i);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("not what exhaustive search finds");
            return;
        }
    }
}
static void branch_and_cut_agrees_with_exhaustive_search(void) {
    rp_on_engines(compare_with_exhaustive_search);
}

/* Solves the instance in steps of a size that depends on the variant, within a limit of
 * work. */
static bool solve_in_steps(const struct rp_instance *p, uint64_t number,
                           struct rp_branch_cut_state *s) {
    struct rp_branch_cut_options o = set_variant(number);
    struct rp_branch_cut *bc = rp_branch_cut_new(p, &o);
    uint64_t min_bound_ns = 0;
    bool good = true;
    while (rp_branch_cut_run(bc, 500 + 3000 * number, s) == RP_BRANCH_CUT_PAUSED &&
           s->statistics.work < 50000) {
        good = good && s->bound_ns >= min_bound_ns;
        min_bound_ns = s->bound_ns;
    }
    good = good && s->bound_ns >= min_bound_ns && s->status != RP_BRANCH_CUT_FAILED &&
           (s->status != RP_BRANCH_CUT_OPTIMAL || s->bound_ns == s->time_ns);
    rp_branch_cut_free(bc);
    return good;
}

/* Too large for exhaustive search, large enough to branch. */
static void all_variants_of_branch_and_cut_agree(void) {
    uint32_t n = 30;
    uint64_t seed = rp_gen_seed(1, &n), nodes = 0;
    uint32_t all = n;
    for (; n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(11);
        struct rp_graph g;
        struct rp_instance p;
        struct rp_branch_cut_state first, s;
        uint32_t op;
        shape.training = seed & 1;
        shape.max_bytes = 1000000;
        rp_gen_graph(seed, &shape, &g);
        rp_instance_init(&p, &g, g.fixed_bytes, false, NULL);
        p.limit_bytes = rp_instance_floor(&p, &op) + seed % 7 * 100000;
        bool good = solve_in_steps(&p, 0, &first);
        for (uint64_t k = 1; k < 32 && good; k = 2 * k + (k == 4)) {
            good = solve_in_steps(&p, k, &s) && s.bound_ns <= first.time_ns &&
                   s.time_ns >= first.bound_ns &&
                   (s.status != first.status || s.status == RP_BRANCH_CUT_PAUSED ||
                    s.time_ns == first.time_ns);
            nodes += s.statistics.nodes;
        }
        rp_instance_fini(&p);
        rp_graph_fini(&g);
        if (!good) {
            rp_gen_failed(seed);
            CU_FAIL("two variants disagree");
            return;
        }
    }
    CU_ASSERT(rp_gen_one_seed() || nodes > 5 * all);
}

/* The first seed from `from` on whose optimum is above the sum of op times. */
static uint64_t next_seed_with_cost(uint64_t from, struct instance *i) {
    for (uint64_t seed = from;; seed++) {
        build_instance(seed, i);
        if (i->feasible && i->time_ns > i->g.total_time_ns)
            return seed;
        free_instance(i);
    }
}

static void the_worker_process_gives_the_same_result(void) {
    struct instance i;
    uint64_t seed = 0;
    for (uint32_t n = 0; n < 5; n++) {
        struct rp_mip_worker_result r;
        enum rp_mip_worker_status st;
        seed = next_seed_with_cost(seed + 1, &i);
        struct rp_mip_worker *m =
            rp_mip_worker_start(&i.p, &(struct rp_branch_cut_options){0});
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        do {
            rp_mip_worker_submit(m, 100, NULL);
            st = rp_mip_worker_wait(m, 60, &r);
        } while (st == RP_MIP_PAUSED);
        CU_ASSERT_EQUAL(st, RP_MIP_FINISHED);
        CU_ASSERT_EQUAL(r.state.status, RP_BRANCH_CUT_OPTIMAL);
        CU_ASSERT_EQUAL(r.state.time_ns, i.time_ns);
        CU_ASSERT_EQUAL(r.state.bound_ns, i.time_ns);
        CU_ASSERT_EQUAL(rp_schedule_cost(&i.p, r.schedule).time_ns, i.time_ns);
        rp_mip_worker_end(m);
        free_instance(&i);
    }
}

static void a_killed_worker_is_reported_and_cleaned_up(void) {
    struct instance i;
    struct rp_mip_worker_result r;
    next_seed_with_cost(1, &i);
    struct rp_mip_worker *m = rp_mip_worker_start(&i.p, &(struct rp_branch_cut_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_EQUAL(rp_mip_worker_wait(m, 0.01, &r),
                    RP_MIP_DEADLINE); /* no work was submitted */
    kill(rp_mip_worker_process(m), SIGKILL);
    CU_ASSERT_EQUAL(rp_mip_worker_wait(m, 60, &r), RP_MIP_DEAD);
    rp_mip_worker_submit(m, 100, NULL);
    CU_ASSERT_EQUAL(rp_mip_worker_wait(m, 60, &r), RP_MIP_DEAD);
    rp_mip_worker_end(m);
    rp_mip_worker_end(NULL);
    free_instance(&i);
}

static void the_end_of_a_worker_gives_back_its_process_and_its_memory(void) {
    struct instance i;
    struct rp_mip_worker_result r = {0};
    next_seed_with_cost(1, &i);
    struct rp_mip_worker *m = rp_mip_worker_start(&i.p, &(struct rp_branch_cut_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    rp_mip_worker_submit(m, 100, NULL);
    CU_ASSERT(rp_mip_worker_wait(m, 60, &r) != RP_MIP_DEAD);
    pid_t process = rp_mip_worker_process(m);
    void *shared = r.schedule->rows;
    CU_ASSERT(kill(process, 0) == 0 && msync(shared, 1, MS_ASYNC) == 0);
    rp_mip_worker_end(m);
    CU_ASSERT(kill(process, 0) != 0 && msync(shared, 1, MS_ASYNC) != 0);
    free_instance(&i);
}

/* A known optimum leaves nothing to find. A schedule that does not fit is not taken. */
static void an_incumbent_from_outside_is_taken_if_it_fits(void) {
    struct instance i;
    struct rp_branch_cut_state s;
    struct rp_schedule all;
    next_seed_with_cost(1, &i);
    struct rp_branch_cut *first =
        rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
    while (rp_branch_cut_run(first, 1000, &s) == RP_BRANCH_CUT_PAUSED)
        ;
    struct rp_branch_cut *bc = rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
    rp_schedule_keep_all(&i.p, &all);
    rp_branch_cut_offer(bc, &all);
    rp_branch_cut_run(bc, 0, &s);
    CU_ASSERT(!s.found || s.time_ns >= i.time_ns);
    rp_branch_cut_offer(bc, rp_branch_cut_best(first));
    rp_branch_cut_run(bc, 0, &s);
    CU_ASSERT(s.found && s.time_ns == i.time_ns);
    rp_schedule_fini(&all);
    rp_branch_cut_free(first);
    rp_branch_cut_free(bc);
    free_instance(&i);
}

/* With a gap of 1, any schedule within twice the bound ends the search. The bound must be
 * valid. */
static void a_gap_ends_the_search_early_with_a_valid_bound(void) {
    struct instance i;
    struct rp_branch_cut_state s;
    next_seed_with_cost(1, &i);
    struct rp_branch_cut *bc =
        rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){.gap = 1});
    while (rp_branch_cut_run(bc, 1000, &s) == RP_BRANCH_CUT_PAUSED)
        ;
    CU_ASSERT_EQUAL(s.status, RP_BRANCH_CUT_OPTIMAL);
    CU_ASSERT(s.bound_ns <= i.time_ns && s.time_ns <= 2 * s.bound_ns);
    rp_branch_cut_free(bc);
    free_instance(&i);
}

/* A random training step that takes several hundred nodes, at 2/3 of its keep-all memory.
 */
static void build_larger_instance(uint64_t seed, struct instance *i) {
    struct rp_gen_shape shape = rp_gen_small(18);
    struct rp_schedule all;
    shape.training = true;
    shape.once_percent = 0;
    rp_gen_graph(seed, &shape, &i->g);
    rp_instance_init(&i->p, &i->g, i->g.fixed_bytes, false, NULL);
    rp_schedule_keep_all(&i->p, &all);
    uint32_t op;
    uint64_t floor_bytes = rp_instance_floor(&i->p, &op);
    i->p.limit_bytes =
        floor_bytes + (rp_schedule_cost(&i->p, &all).peak_bytes - floor_bytes) / 3;
    rp_schedule_fini(&all);
}

/* The bound is never above the optimum, however early the search ends. */
static void a_gap_leaves_the_bound_valid(void) {
    for (uint64_t k = 0; k < 24; k++) {
        struct rp_branch_cut_options o = {.gap = k < 12 ? 0.01 : 0.05};
        struct rp_branch_cut_state best, s;
        struct instance i;
        build_larger_instance(k % 12 + 1, &i);
        struct rp_branch_cut *exact =
            rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
        struct rp_branch_cut *bc = rp_branch_cut_new(&i.p, &o);
        CU_ASSERT_EQUAL(rp_branch_cut_run(exact, 100000, &best), RP_BRANCH_CUT_OPTIMAL);
        CU_ASSERT_EQUAL(rp_branch_cut_run(bc, 100000, &s), RP_BRANCH_CUT_OPTIMAL);
        CU_ASSERT(s.bound_ns <= best.time_ns);
        CU_ASSERT((double)s.time_ns <= (1 + o.gap) * (double)s.bound_ns);
        rp_branch_cut_free(exact);
        rp_branch_cut_free(bc);
        free_instance(&i);
    }
}

/* Each counter is limited by others, and none is 0 over all graphs together. */
static void statistics_count_what_branch_and_cut_does(void) {
    struct rp_branch_cut_statistics sum = {0};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct instance i;
        struct rp_branch_cut_state state;
        build_larger_instance(seed, &i);
        struct rp_branch_cut *bc =
            rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
        rp_branch_cut_run(bc, 2000000, &state);
        const struct rp_branch_cut_statistics *s = &state.statistics;
        CU_ASSERT(s->nodes >= 1 && s->lp_solves >= s->trial_solves &&
                  s->work > s->pivots / 64);
        CU_ASSERT(s->rounding_successes <= s->roundings);
        CU_ASSERT(s->incumbents >= s->rounding_successes);
        CU_ASSERT(s->cutoffs_tried <= s->restarts && s->restarts < s->nodes);
        rp_branch_cut_statistics_add(&sum, s);
        rp_branch_cut_free(bc);
        free_instance(&i);
    }
    CU_ASSERT(sum.trial_solves > 0 && sum.pivots > sum.lp_solves && sum.fixed_columns > 0);
    CU_ASSERT(sum.cutoffs_tried > 0 && sum.incumbents > 12 && sum.rounding_successes > 0);
    uint64_t cuts = sum.cuts.exact_covers;
    for (uint32_t k = 0; rp_cut_family_name(k) != NULL; k++) {
        CU_ASSERT(sum.cuts.found[k] > 0);
        cuts += sum.cuts.found[k];
    }
    CU_ASSERT_EQUAL(rp_branch_cut_statistics_cuts(&sum), cuts);
}

static void skipped_row_families_find_nothing(void) {
    struct instance i;
    struct rp_branch_cut_state state;
    build_larger_instance(10, &i);
    for (uint32_t k = 0; rp_cut_family_name(k) != NULL; k++) {
        struct rp_branch_cut_options o = {.skip_cuts = 1u << k};
        struct rp_branch_cut *bc = rp_branch_cut_new(&i.p, &o);
        rp_branch_cut_run(bc, 100000, &state);
        CU_ASSERT_EQUAL(state.statistics.cuts.found[k], 0);
        CU_ASSERT(rp_branch_cut_statistics_cuts(&state.statistics) > 0);
        rp_branch_cut_free(bc);
    }
    free_instance(&i);
}

/* The schedule that is handed over is the incumbent before any work. */
static void the_worker_takes_a_schedule_before_it_works(void) {
    struct instance i;
    struct rp_branch_cut_state s;
    struct rp_mip_worker_result r = {0};
    build_larger_instance(2, &i);
    struct rp_branch_cut *bc = rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
    rp_branch_cut_run(bc, 0, &s);
    uint64_t first_ns = s.found ? s.time_ns : UINT64_MAX;
    rp_branch_cut_run(bc, 300000, &s);
    CU_ASSERT(s.time_ns < first_ns);
    struct rp_mip_worker *m = rp_mip_worker_start(&i.p, &(struct rp_branch_cut_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    rp_mip_worker_submit(m, 0, rp_branch_cut_best(bc));
    CU_ASSERT_EQUAL(rp_mip_worker_wait(m, 60, &r), RP_MIP_PAUSED);
    CU_ASSERT(r.state.found && r.state.time_ns == s.time_ns);
    rp_mip_worker_end(m);
    rp_branch_cut_free(bc);
    free_instance(&i);
}

static void statistics_are_returned_by_the_worker_process(void) {
    struct instance i;
    struct rp_branch_cut_state here;
    struct rp_mip_worker_result there = {0};
    build_larger_instance(2, &i);
    struct rp_branch_cut *bc = rp_branch_cut_new(&i.p, &(struct rp_branch_cut_options){0});
    rp_branch_cut_run(bc, 300000, &here);
    struct rp_mip_worker *m = rp_mip_worker_start(&i.p, &(struct rp_branch_cut_options){0});
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    rp_mip_worker_submit(m, 300000, NULL);
    enum rp_mip_worker_status st = rp_mip_worker_wait(m, 60, &there);
    CU_ASSERT(st == RP_MIP_PAUSED || st == RP_MIP_FINISHED);
    CU_ASSERT(here.statistics.nodes > 0 && there.seconds > 0);
    CU_ASSERT_EQUAL(
        memcmp(&here.statistics, &there.state.statistics, sizeof here.statistics), 0);
    rp_mip_worker_end(m);
    rp_branch_cut_free(bc);
    free_instance(&i);
}

static void adding_statistics_adds_every_member(void) {
    RP_ADDS_EVERY_MEMBER(rp_branch_cut_statistics);
    RP_ADDS_EVERY_MEMBER(rp_separation_statistics);
}

void suite_branch_cut(void) {
    RP_SUITE("branch_cut");
    RP_TEST(branch_and_cut_agrees_with_exhaustive_search);
    RP_TEST(all_variants_of_branch_and_cut_agree);
    RP_TEST(the_worker_process_gives_the_same_result);
    RP_TEST(the_worker_takes_a_schedule_before_it_works);
    RP_TEST(a_killed_worker_is_reported_and_cleaned_up);
    RP_TEST(the_end_of_a_worker_gives_back_its_process_and_its_memory);
    RP_TEST(an_incumbent_from_outside_is_taken_if_it_fits);
    RP_TEST(a_gap_ends_the_search_early_with_a_valid_bound);
    RP_TEST(a_gap_leaves_the_bound_valid);
    RP_TEST(statistics_count_what_branch_and_cut_does);
    RP_TEST(skipped_row_families_find_nothing);
    RP_TEST(statistics_are_returned_by_the_worker_process);
    RP_TEST(adding_statistics_adds_every_member);
}
