/* Tests of solve/local/repair.h: what it does to a schedule drawn by hand, and to random
 * ones that are over the limit. */
#include "solve/local/repair.h"

#include <math.h>

#include "base/random.h"
#include "drawn.h"
#include "gen.h"
#include "run.h"
#include "solve/incremental/incremental_check.h"
#include "solve/local/anneal.h"
#include "solve/local/moves.h"
#include "solve/local/offload_all.h"

#define ENOUGH UINT32_MAX

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule start, end;
    struct rp_incremental s;
};

static void open_instance(struct task *k, uint64_t limit, bool swap) {
    rp_instance_init(&k->p, &k->g, k->g.fixed_bytes + limit, false, NULL);
    if (swap)
        CU_ASSERT_FATAL(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    rp_schedule_keep_all(&k->p, &k->start);
    k->end = (struct rp_schedule){0};
    rp_schedule_copy(&k->end, &k->start);
}

static void close_task(struct task *k) {
    rp_schedule_fini(&k->start);
    rp_schedule_fini(&k->end);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

static bool repair(struct task *k, uint64_t work, struct rp_stop *stop) {
    rp_incremental_init(&k->s, &k->p);
    rp_incremental_load(&k->s, &k->start);
    bool fits = rp_repair(&k->s, work, stop);
    rp_incremental_store(&k->s, &k->end);
    rp_incremental_fini(&k->s);
    return fits;
}

/* Nothing uses a and b between f3 and b4. f5 reads and makes 50 bytes, so 100 are there
 * while it runs, and 80 at most while others do. */
static const struct rp_drawn_op two_held[] = {
    {"f1", "conv", "s", "a", 30, 10, false}, {"f2", "conv", "a", "b", 20, 10, false},
    {"f3", "conv", "b", "c", 5, 10, false},  {"f4", "conv", "c", "d", 25, 10, false},
    {"f5", "conv", "d", "e", 25, 10, false}, {"b5", "conv", "e", "f", 5, 10, false},
    {"b4", "conv", "bf", "g", 5, 10, false}, {"b3", "conv", "ag", "h", 5, 10, false},
};

/* At 80, either of them may go. b is smaller: it comes back for b4, and a stays. At 55,
 * both have to. */
static void what_a_stage_only_holds_goes_to_the_host(void) {
    struct task k;
    rp_draw(two_held, sizeof two_held / sizeof *two_held, &k.g);
    open_instance(&k, 80, true);
    CU_ASSERT(repair(&k, ENOUGH, NULL));
    rp_drawn_check_rows(&k.end, 0, ".#######.");
    rp_drawn_check_rows(&k.end, 1, "..#...<..");
    close_task(&k);
    rp_draw(two_held, sizeof two_held / sizeof *two_held, &k.g);
    open_instance(&k, 55, true);
    CU_ASSERT(repair(&k, ENOUGH, NULL));
    CU_ASSERT(rp_schedule_fits(&k.p, &k.end));
    close_task(&k);
}

/* ---- random schedules ---- */

/* What every schedule needs that offloads all it can. */
static uint64_t least_limit(struct rp_graph *g) {
    struct rp_instance p;
    struct rp_schedule s = {0};
    uint64_t least = UINT64_MAX;
    rp_instance_init(&p, g, g->fixed_bytes + RP_MAX_QUANTITY / 4, false, NULL);
    CU_ASSERT_FATAL(rp_instance_allow_swap(&p, RP_MAX_QUANTITY));
    for (int early = 0; early < 2; early++) {
        rp_schedule_offload_all(&p, early != 0, &s);
        struct rp_cost c = rp_schedule_cost(&p, &s);
        if (c.sound && c.peak_bytes < least)
            least = c.peak_bytes;
    }
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    return least;
}

/* From keep-all, moves that are taken whatever they cost. */
static void stray(struct task *k, uint64_t seed) {
    uint64_t random = seed;
    uint32_t row;
    rp_incremental_init(&k->s, &k->p);
    rp_incremental_load(&k->s, &k->start);
    for (int i = 0; i < 300; i++)
        if (rp_propose_move(&k->s, &random, &row) &&
            rp_incremental_evaluate(&k->s, 0, INFINITY, true))
            rp_incremental_commit(&k->s);
        else
            rp_incremental_undo(&k->s);
    rp_incremental_store(&k->s, &k->start);
    rp_incremental_fini(&k->s);
}

static void open_random(struct task *k, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(30);
    shape.training = true;
    shape.once_percent = 5;
    rp_gen_graph(seed, &shape, &k->g);
    k->g.device.d2h_bytes_per_s = k->g.device.h2d_bytes_per_s = 40000000000u;
    open_instance(k, least_limit(&k->g), true);
    stray(k, seed);
}

struct count {
    uint32_t over, fit;
};

static bool check_random(uint64_t seed, struct count *n) {
    struct task k;
    struct rp_incremental_fault fault;
    open_random(&k, seed);
    rp_incremental_init(&k.s, &k.p);
    rp_incremental_load(&k.s, &k.start);
    double before = k.s.overflow_bytes;
    bool fits = rp_repair(&k.s, ENOUGH, NULL);
    rp_incremental_store(&k.s, &k.end);
    struct rp_cost c = rp_schedule_cost(&k.p, &k.end);
    bool right = rp_incremental_check(&k.s, &fault) && c.sound &&
                 (double)c.time_ns == k.s.time_ns && k.s.overflow_bytes <= before &&
                 fits == rp_schedule_fits(&k.p, &k.end);
    n->over += before > 0;
    n->fit += before > 0 && fits;
    rp_incremental_fini(&k.s);
    close_task(&k);
    return right;
}

/* Nearly all schedules that stray from keep-all are over the least limit of all. Some do
 * not come to fit: where a stage makes a tensor of no bytes again, which cannot be swapped,
 * what that takes is there too. */
static void most_random_schedules_are_made_to_fit(void) {
    struct count count = {0};
    uint32_t n = 400;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!check_random(seed, &count)) {
            rp_gen_failed(seed);
            CU_FAIL("a repair is wrong");
        }
    if (rp_gen_one_seed())
        return;
    CU_ASSERT_EQUAL(count.over, 397);
    CU_ASSERT_EQUAL(count.fit, 391);
}

/* After its work, and once it is told to stop, a repair ends with what it has. */
static void a_repair_ends_where_it_is_told_to(void) {
    struct task k;
    struct rp_stop at_once = {.max_questions = 1};
    rp_draw(two_held, sizeof two_held / sizeof *two_held, &k.g);
    open_instance(&k, 80, true);
    CU_ASSERT(!repair(&k, 0, NULL));
    CU_ASSERT_EQUAL(rp_schedule_distance(&k.start, &k.end), 0);
    CU_ASSERT(!repair(&k, ENOUGH, &at_once));
    CU_ASSERT_EQUAL(rp_schedule_distance(&k.start, &k.end), 0);
    close_task(&k);
}

static void without_swaps_nothing_changes(void) {
    struct task k;
    rp_draw(two_held, sizeof two_held / sizeof *two_held, &k.g);
    open_instance(&k, 80, false);
    CU_ASSERT(!repair(&k, ENOUGH, NULL));
    CU_ASSERT_EQUAL(rp_schedule_distance(&k.start, &k.end), 0);
    close_task(&k);
}

/* ---- annealing ---- */

static bool never(void *arg, double best_ns) {
    (void)arg;
    (void)best_ns;
    return false;
}

/* A short run at the least limit finds nothing that fits. What is made to fit is its
 * result. */
static void results_of_annealing_are_made_to_fit(void) {
    uint32_t repaired = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task k;
        struct rp_anneal_result r;
        struct rp_anneal_options o = {
            .seed = seed, .work = 40000, .initial_temperature = 1, .stop = never};
        open_random(&k, seed);
        rp_anneal(&k.p, &o, &k.start, &r);
        struct rp_cost c = rp_schedule_cost(&k.p, &k.start);
        CU_ASSERT_EQUAL(r.found, rp_cost_fits(&k.p, &c));
        CU_ASSERT(!r.found || (double)c.time_ns == r.time_ns);
        repaired += (uint32_t)r.statistics.repaired;
        close_task(&k);
    }
    CU_ASSERT_EQUAL(repaired, 25);
}

void suite_repair(void) {
    RP_SUITE("repair");
    RP_TEST(what_a_stage_only_holds_goes_to_the_host);
    RP_TEST(most_random_schedules_are_made_to_fit);
    RP_TEST(a_repair_ends_where_it_is_told_to);
    RP_TEST(without_swaps_nothing_changes);
    RP_TEST(results_of_annealing_are_made_to_fit);
}
