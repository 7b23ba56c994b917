/* Tests of the search for the largest batch: what it says of each batch, and what it takes
 * from them. */
#include "cmd/maxbatch_search.h"

#include <math.h>

#include "run.h"
#include "solve/solver.h"

/* lstm-lm with one layer and two steps, planned by recomputation alone: 62 ops whose bound
 * is proved at once. Keep-all fits up to batch 2021. */
static struct rp_maxbatch_options options(const char *policy, double max_overhead) {
    struct rp_maxbatch_options o = {.network = "lstm-lm",
                                    .device = rp_device_find("p100-16g"),
                                    .policy = rp_policy_find(policy),
                                    .max_overhead = max_overhead,
                                    .precision = 0.2,
                                    .fit_only = true,
                                    .h2d_bytes_per_s = UINT64_MAX,
                                    .d2h_bytes_per_s = UINT64_MAX};
    rp_zoo_options_init(&o.zoo);
    o.zoo.layers = 1;
    o.zoo.steps = 2;
    rp_policy_options_init(&o.policy_options);
    o.policy_options.budget_bytes = (uint64_t)700 << 20;
    o.policy_options.time_limit = 0.3;
    o.policy_options.ignore_clock = true;
    return o;
}

static const struct rp_size *point(const struct rp_maxbatch *m, uint64_t batch) {
    for (size_t i = 0; i < m->points.n; i++)
        if (m->points.at[i].size == batch)
            return &m->points.at[i];
    CU_FAIL_FATAL("the batch was not planned");
    return NULL;
}

/* Searches, and checks the verdict on a batch. Returns the largest batch; 0: none fits. */
static uint64_t search(const char *policy, double max_overhead, uint64_t host_bytes,
                       uint64_t batch, enum rp_size_verdict verdict) {
    struct rp_maxbatch_options o = options(policy, max_overhead);
    struct rp_maxbatch m = {0};
    struct rp_err err = {{0}};
    o.policy_options.host_bytes = host_bytes;
    CU_ASSERT_EQUAL_FATAL(rp_maxbatch_search(&o, &m, &err), RP_OK);
    CU_ASSERT_EQUAL(m.keep_all_size, 2021);
    CU_ASSERT_EQUAL(point(&m, batch)->verdict, verdict);
    const struct rp_size *best = rp_maxbatch_largest(&m);
    uint64_t largest = best != NULL ? best->size : 0;
    CU_ASSERT(best == NULL || (largest == m.largest && best->plan.steps.n > 0));
    rp_maxbatch_fini(&m);
    return largest;
}

/* The best plan of batch 2303 takes 0.44% longer than keep-all. */
static void a_batch_is_proved_too_large_by_the_bound(void) {
    CU_ASSERT_EQUAL(search("checkmate", 0.0001, RP_MAX_QUANTITY, 2303, RP_SIZE_PROVED_NO),
                    2021);
    CU_ASSERT_EQUAL(search("checkmate", 0.01, RP_MAX_QUANTITY, 2303, RP_SIZE_FITS), 2303);
}

/* chen-sqrt knows no bound: its plan is too slow, others may not be. keep-all's only plan
 * is over the budget. */
static void a_published_policy_proves_nothing(void) {
    CU_ASSERT_EQUAL(search("chen-sqrt", 0.0001, RP_MAX_QUANTITY, 2303, RP_SIZE_TOO_SLOW),
                    0);
    CU_ASSERT_EQUAL(search("keep-all", -1, RP_MAX_QUANTITY, 2586, RP_SIZE_NO), 2021);
}

/* alibaba swaps as much as it needs, and has no other plan. */
static void host_memory_limits_the_batch(void) {
    CU_ASSERT(search("alibaba", -1, RP_MAX_QUANTITY, 2586, RP_SIZE_FITS) >= 2586);
    CU_ASSERT_EQUAL(search("alibaba", -1, 0, 2586, RP_SIZE_NOT_FOUND), 2021);
}

/* Every size that is tried, and the answers, are multiples of the unit. */
static void sizes_are_multiples(enum rp_extent extent, uint64_t micro_batches,
                                uint64_t unit) {
    struct rp_maxbatch_options o = options("keep-all", -1);
    struct rp_maxbatch m = {0};
    struct rp_err err = {{0}};
    o.network = "gpt2";
    o.extent = extent;
    rp_zoo_options_init(&o.zoo);
    o.zoo.layers = 2;
    o.zoo.seq = 64;
    o.zoo.micro_batches = micro_batches;
    o.fit_only = false;
    o.policy_options.budget_bytes = (uint64_t)2 << 30;
    CU_ASSERT_EQUAL(rp_maxbatch_unit(&o), unit);
    CU_ASSERT_EQUAL_FATAL(rp_maxbatch_search(&o, &m, &err), RP_OK);
    CU_ASSERT(m.points.n > 1 && m.keep_all_size > 0);
    CU_ASSERT_EQUAL(m.keep_all_size % unit, 0);
    for (size_t i = 0; i < m.points.n; i++) {
        CU_ASSERT_EQUAL(m.points.at[i].size % unit, 0);
        CU_ASSERT_EQUAL(m.points.at[i].samples,
                        extent == RP_EXTENT_BATCH ? m.points.at[i].size : 8);
    }
    rp_maxbatch_fini(&m);
}

static void batches_are_multiples_of_micro_batches_and_widths_of_heads(void) {
    sizes_are_multiples(RP_EXTENT_BATCH, 1, 1);
    sizes_are_multiples(RP_EXTENT_BATCH, 6, 6);
    sizes_are_multiples(RP_EXTENT_WIDTH, 1, 64);
}

/* Nothing may be copied. Recomputation alone is 0.44% over keep-all at batch 2303, and 24%
 * at batch 2586, which is then searched once more without swaps. */
static void without_host_memory_a_batch_fits_by_recomputation(void) {
    CU_ASSERT_EQUAL(search("remat", 0.01, 0, 2303, RP_SIZE_FITS), 2303);
}

/* No batch above keep-all's largest fits, and none is planned for speed: that one is
 * planned at the end. */
static void a_bisection_ends_within_its_precision(void) {
    struct rp_maxbatch_options o = options("keep-all", -1);
    struct rp_maxbatch m = {0};
    struct rp_err err = {{0}};
    o.precision = 0.0025;
    CU_ASSERT_EQUAL_FATAL(rp_maxbatch_search(&o, &m, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(m.points.n, 9);
    for (size_t i = 0; i < 8; i++)
        CU_ASSERT(m.points.at[i].size > 2021 && m.points.at[i].verdict == RP_SIZE_NO);
    CU_ASSERT(m.points.at[7].size <= 2026 && m.points.at[6].size > 2026);
    CU_ASSERT(m.points.at[8].size == 2021 && m.points.at[8].verdict == RP_SIZE_FITS);
    CU_ASSERT_PTR_EQUAL(rp_maxbatch_largest(&m), &m.points.at[8]);
    rp_maxbatch_fini(&m);
}

/* ---- interrupts ---- */

static volatile sig_atomic_t interrupted;
static size_t n_planned, last_planned;

/* Plans as chen-sqrt does. The interrupt comes during the last plan. */
static void record_until(const struct rp_instance *p, const struct rp_policy_options *o,
                         struct rp_recorder *r) {
    rp_policy_find("chen-sqrt")->record(p, o, r);
    interrupted = ++n_planned == last_planned;
}

/* A search with `o` that an interrupt ends during plan `last`; before the first one for 0.
 */
static struct rp_maxbatch search_until(struct rp_maxbatch_options o, size_t last) {
    struct rp_policy policy = *rp_policy_find("chen-sqrt");
    struct rp_stop stop = {&interrupted, INFINITY};
    struct rp_maxbatch m = {0};
    struct rp_err err = {{0}};
    policy.record = record_until;
    o.policy = &policy;
    o.policy_options.stop = &stop;
    interrupted = last == 0;
    n_planned = 0;
    last_planned = last;
    CU_ASSERT_EQUAL_FATAL(rp_maxbatch_search(&o, &m, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(m.points.n, last);
    CU_ASSERT_TRUE(rp_maxbatch_interrupted(&m));
    CU_ASSERT(last == 0 || m.points.at[last - 1].verdict == RP_SIZE_INTERRUPTED);
    return m;
}

/* The same for this budget, with plans for speed. *bound gets the largest batch that may
 * fit. */
static struct rp_maxbatch interrupted_search(uint64_t budget_bytes, size_t last,
                                             uint64_t *bound) {
    struct rp_maxbatch_options o = options("chen-sqrt", -1);
    o.fit_only = false;
    o.policy_options.budget_bytes = budget_bytes;
    *bound = rp_maxbatch_possible(&o, 1);
    return search_until(o, last);
}

/* Checks which batches an interrupt during plan `last` leaves open. */
static void leaves_open(uint64_t budget_bytes, size_t last, uint64_t from, uint64_t to,
                        unsigned n_for_speed) {
    uint64_t bound;
    struct rp_maxbatch m = interrupted_search(budget_bytes, last, &bound);
    CU_ASSERT_EQUAL(m.open_from, from);
    CU_ASSERT_EQUAL(m.open_to, to == 0 ? bound : to);
    CU_ASSERT_EQUAL(m.n_open_for_speed, n_for_speed);
    rp_maxbatch_fini(&m);
}

static void an_interrupt_says_which_batches_it_leaves_open(void) {
    struct rp_maxbatch_options o = options("keep-all", -1);
    struct rp_graph one;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_maxbatch_graph(&o, 1, &one, &err), RP_OK);
    uint64_t budget = o.policy_options.budget_bytes,
             keep_all = rp_keep_all_bytes(&one, true);
    rp_graph_fini(&one);
    leaves_open(budget, 0, 1, UINT64_MAX, 0);
    leaves_open(keep_all - 1, 1, 1, 0, 0); /* not even keep-all of one sample fits */
    leaves_open(budget, 1, 2022, 0, 1);
    leaves_open(budget, 2, 2587, 0, 5); /* 2586 fits */
}

/* No batch is tried but keep-all's largest, which is planned at the end. */
static void an_interrupt_of_the_last_plan_is_no_proof_that_nothing_fits(void) {
    struct rp_maxbatch_options o = options("chen-sqrt", -1);
    o.precision = 10;
    struct rp_maxbatch m = search_until(o, 1);
    CU_ASSERT_EQUAL(m.points.at[0].size, 2021);
    CU_ASSERT_EQUAL(m.open_from, 2021);
    CU_ASSERT_EQUAL(m.open_to, 2021);
    rp_maxbatch_fini(&m);
}

/* Batch 2586 fits and 2868 does not. Five batches follow, from the largest. */
static void an_interrupt_says_how_many_batches_are_not_planned_for_speed(void) {
    static const uint64_t size[] = {2586, 2444, 2303, 2162, 2021};
    for (size_t k = 0; k < 5; k++) {
        uint64_t bound;
        struct rp_maxbatch m = interrupted_search((uint64_t)700 << 20, 3 + k, &bound);
        CU_ASSERT_EQUAL(m.points.at[0].verdict, RP_SIZE_FITS);
        CU_ASSERT_EQUAL(m.points.at[1].verdict, RP_SIZE_NO);
        CU_ASSERT_EQUAL(m.points.at[2 + k].size, size[k]);
        CU_ASSERT_EQUAL(m.open_to, 0);
        CU_ASSERT_EQUAL(m.n_open_for_speed, 5 - k);
        rp_maxbatch_fini(&m);
    }
}

/* ---- what is said of the batches ---- */

static void only_a_search_without_a_plan_leaves_it_undecided(void) {
    struct rp_size at[] = {{.size = 1, .samples = 1, .verdict = RP_SIZE_FITS},
                           {.size = 2, .samples = 2, .verdict = RP_SIZE_PROVED_NO}};
    struct rp_maxbatch m = {.points = {.at = at, .n = 2}};
    struct rp_maxbatch_options o = options("remat", -1);
    CU_ASSERT_FALSE(rp_maxbatch_undecided(&o, &m));
    at[1].verdict = RP_SIZE_NOT_FOUND;
    CU_ASSERT_TRUE(rp_maxbatch_undecided(&o, &m));
    o.policy = rp_policy_find("libra");
    CU_ASSERT_FALSE(rp_maxbatch_undecided(&o, &m));
}

static void the_fastest_and_the_largest_batch_are_those_that_fit(void) {
    struct rp_size at[] = {
        {.size = 10,
         .samples = 10,
         .verdict = RP_SIZE_FITS,
         .plan = {.claims = {.time_ns = 100}}},
        {.size = 20,
         .samples = 20,
         .verdict = RP_SIZE_FITS,
         .plan = {.claims = {.time_ns = 190}}},
        {.size = 30,
         .samples = 30,
         .verdict = RP_SIZE_FITS,
         .plan = {.claims = {.time_ns = 400}}},
        {.size = 30,
         .samples = 30,
         .verdict = RP_SIZE_FITS,
         .plan = {.claims = {.time_ns = 390}}},
        {.size = 40,
         .samples = 40,
         .verdict = RP_SIZE_TOO_SLOW,
         .plan = {.claims = {.time_ns = 40}}},
    };
    struct rp_maxbatch m = {.points = {.at = at, .n = 5}, .largest = 30};
    CU_ASSERT_PTR_NULL(rp_maxbatch_fastest(&m)); /* none was planned for speed */
    at[3].for_speed = true;
    CU_ASSERT_PTR_EQUAL(rp_maxbatch_fastest(&m), &at[1]);
    CU_ASSERT_PTR_EQUAL(rp_maxbatch_largest(&m), &at[3]);
    CU_ASSERT_FALSE(rp_maxbatch_interrupted(&m));
    m.n_open_for_speed = 1;
    CU_ASSERT_TRUE(rp_maxbatch_interrupted(&m));
    m.n_open_for_speed = 0;
    m.open_to = 7;
    CU_ASSERT_TRUE(rp_maxbatch_interrupted(&m));
    m.largest = 50;
    CU_ASSERT_PTR_NULL(rp_maxbatch_largest(&m));
}

void suite_maxbatch_search(void) {
    RP_SUITE("maxbatch_search");
    RP_TEST(a_batch_is_proved_too_large_by_the_bound);
    RP_TEST(a_published_policy_proves_nothing);
    RP_TEST(host_memory_limits_the_batch);
    RP_TEST(batches_are_multiples_of_micro_batches_and_widths_of_heads);
    RP_TEST(without_host_memory_a_batch_fits_by_recomputation);
    RP_TEST(a_bisection_ends_within_its_precision);
    RP_TEST(an_interrupt_says_which_batches_it_leaves_open);
    RP_TEST(an_interrupt_of_the_last_plan_is_no_proof_that_nothing_fits);
    RP_TEST(an_interrupt_says_how_many_batches_are_not_planned_for_speed);
    RP_TEST(only_a_search_without_a_plan_leaves_it_undecided);
    RP_TEST(the_fastest_and_the_largest_batch_are_those_that_fit);
}
