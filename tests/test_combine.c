/* Tests of joining what several searches found. */
#include <stdlib.h>

#include "gen.h"
#include "run.h"
#include "solve/combine.h"
#include "solve/search.h"
#include "solve/solve.h"
#include "solve/tidy.h"

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
    struct rp_problem p;
    struct rp_finds finds;
};

/* A few short searches of a random training graph at 60% of its activations. */
static void find_some(uint64_t seed, struct case_of *c) {
    struct rp_gen_shape shape = rp_gen_small(40);
    *c = (struct case_of){0};
    shape.training = true;
    shape.bandwidths = false;
    rp_gen_graph(seed, &shape, &c->g);
    uint64_t all = rp_keep_all_bytes(&c->g, false), fixed = c->g.fixed_bytes;
    rp_problem_init(&c->p, &c->g, fixed + (all - fixed) / 10 * 6, false, NULL);
    for (uint64_t k = 0; k < 5; k++) {
        struct rp_schedule s;
        struct rp_search_result r;
        struct rp_search_options o = {
            .seed = seed + k, .work = 8000, .start_heat = 1, .stop = never};
        rp_schedule_keep_all(&c->p, &s);
        rp_search(&c->p, &o, &s, &r);
        if (r.found && rp_schedule_tidy(&c->p, &s))
            rp_finds_add(&c->finds, &s, rp_schedule_cost(&c->p, &s).time_ns);
        rp_schedule_fini(&s);
    }
}

static void end_case(struct case_of *c) {
    rp_finds_fini(&c->finds);
    rp_problem_fini(&c->p);
    rp_graph_fini(&c->g);
}

static bool in_order(const struct rp_finds *f) {
    for (size_t k = 1; k < f->n; k++)
        if (f->at[k].time_ns < f->at[k - 1].time_ns)
            return false;
    return true;
}

static void joined_schedules_fit_and_are_better_than_their_parts(void) {
    struct rp_combine_options o = {.work = 200000, .stop = never};
    uint32_t n = 40, better = 0, joined = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct case_of c;
        find_some(seed, &c);
        uint64_t before = c.finds.n > 0 ? c.finds.at[0].time_ns : 0;
        uint64_t work = rp_combine(&c.p, &o, &c.finds);
        joined += work > 0;
        if (c.finds.n > 0) {
            struct rp_cost cost = rp_schedule_cost(&c.p, &c.finds.at[0].s);
            if (!cost.sound || cost.peak_bytes > c.p.limit_bytes ||
                cost.time_ns != c.finds.at[0].time_ns || cost.time_ns > before ||
                !in_order(&c.finds)) {
                rp_gen_failed(seed);
                CU_FAIL("the first is not what it is said to be, or slower than before");
            }
            better += cost.time_ns < before;
        }
        end_case(&c);
    }
    CU_ASSERT((joined > 10 && better > 3) || getenv("RP_SEED") != NULL);
}

static void a_stopped_join_leaves_the_finds_as_they_are(void) {
    struct rp_combine_options o = {.work = 200000, .stop = always};
    struct case_of c;
    uint64_t seed = 1;
    for (find_some(seed, &c); c.finds.n < 2; find_some(++seed, &c))
        end_case(&c);
    uint64_t before = c.finds.at[0].time_ns;
    size_t n = c.finds.n;
    CU_ASSERT_EQUAL(rp_combine(&c.p, &o, &c.finds), 0);
    CU_ASSERT_EQUAL(c.finds.n, n);
    CU_ASSERT_EQUAL(c.finds.at[0].time_ns, before);
    end_case(&c);
}

static void finds_are_sorted_few_and_different(void) {
    struct case_of c;
    struct rp_finds f = {0};
    struct rp_schedule s;
    find_some(1, &c);
    rp_schedule_keep_all(&c.p, &s);
    rp_finds_add(&f, &s, 7);
    rp_finds_add(&f, &s, 7);
    CU_ASSERT_EQUAL(f.n, 1); /* it was there */
    for (uint64_t k = 0; k < 30; k++)
        rp_finds_add(&f, &s, 100 - 3 * k);
    CU_ASSERT(in_order(&f));
    CU_ASSERT(f.n > 4 && f.n < 20);
    CU_ASSERT_EQUAL(f.at[0].time_ns, 7);
    CU_ASSERT_EQUAL(f.at[1].time_ns, 13);
    rp_finds_fini(&f);
    rp_schedule_fini(&s);
    end_case(&c);
}

void suite_combine(void) {
    RP_SUITE("combine");
    RP_TEST(joined_schedules_fit_and_are_better_than_their_parts);
    RP_TEST(a_stopped_join_leaves_the_finds_as_they_are);
    RP_TEST(finds_are_sorted_few_and_different);
}
