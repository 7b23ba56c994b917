/* Tests of solve/construct/swap_descent.h: which copies leave schedules drawn by hand, and
 * that random ones get faster and still fit. */
#include "solve/construct/swap_descent.h"

#include <math.h>

#include "drawn.h"
#include "gen.h"
#include "run.h"
#include "solve/local/offload_all.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_cost cost; /* of s */
};

/* The schedule that swaps everything. False if it does not fit. */
static bool open_task(struct task *k, uint64_t limit) {
    rp_instance_init(&k->p, &k->g, k->g.fixed_bytes + limit, false, NULL);
    CU_ASSERT_FATAL(rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY));
    k->s = (struct rp_schedule){0};
    rp_schedule_offload_all(&k->p, true, &k->s);
    k->cost = rp_schedule_cost(&k->p, &k->s);
    return rp_cost_fits(&k->p, &k->cost);
}

static void close_task(struct task *k) {
    rp_schedule_fini(&k->s);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

/* It still fits, and takes no longer. */
static bool descend(struct task *k, struct rp_stop *stop) {
    uint64_t before_ns = k->cost.time_ns;
    rp_swap_descent(&k->p, stop, &k->s);
    k->cost = rp_schedule_cost(&k->p, &k->s);
    return rp_cost_fits(&k->p, &k->cost) && k->cost.time_ns <= before_ns;
}

/* b2 reads what f2 made, and b1 what f1 made. Only f2 can run again. f4 and f5 each need 80
 * bytes. */
static const struct rp_drawn_op once[] = {
    {"f1", "conv", "s", "a", 10, 10, true},  {"f2", "conv", "a", "b", 40, 10, false},
    {"f3", "conv", "b", "c", 20, 10, true},  {"f4", "conv", "c", "d", 60, 10, true},
    {"f5", "conv", "d", "e", 20, 10, true},  {"b2", "conv", "be", "f", 10, 10, true},
    {"b1", "conv", "af", "g", 10, 10, true},
};

static void check_once(uint64_t limit, const char *a, const char *b, uint64_t time_ns) {
    struct task k;
    rp_draw(once, sizeof once / sizeof *once, &k.g);
    CU_ASSERT(open_task(&k, limit));
    CU_ASSERT(descend(&k, NULL));
    rp_drawn_check_rows(&k.s, 0, a);
    rp_drawn_check_rows(&k.s, 1, b);
    CU_ASSERT_EQUAL(k.cost.time_ns, time_ns);
    close_task(&k);
}

/* With 80 bytes a comes back for b2, in place of b, which is made of it, and stays for b1.
 * With 90 a is there all the time. With 120 b is, and a comes back while b2 runs. With 130
 * both are. */
static void what_fits_stays_and_what_is_cheap_is_made_again(void) {
    check_once(80, ".#...<#.", "..#.....", 90);
    check_once(90, ".######.", "..#.....", 80);
    check_once(120, ".#...<#.", "..####..", 70);
    check_once(130, ".######.", "..####..", 70);
}

/* ---- random schedules ---- */

static bool open_random(struct task *k, uint32_t n_ops, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = true;
    shape.once_percent = 5;
    rp_gen_graph(seed, &shape, &k->g);
    k->g.device.d2h_bytes_per_s = k->g.device.h2d_bytes_per_s = 4000000000u;
    bool fits = open_task(k, RP_MAX_QUANTITY / 4);
    uint64_t peak_bytes = k->cost.peak_bytes;
    rp_schedule_fini(&k->s);
    rp_instance_fini(&k->p);
    return open_task(k, peak_bytes) && fits;
}

static uint32_t swap_ins(const struct rp_schedule *s) {
    uint32_t n = 0;
    for (size_t i = 0; i < (s->n_stages + 1) * s->words && s->ins != NULL; i++)
        n += (uint32_t)__builtin_popcountll(s->ins[i]);
    return n;
}

static void random_schedules_still_fit(void) {
    uint32_t n = 300, before = 0, after = 0;
    double times = 1;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task k;
        bool fits = open_random(&k, 30, seed);
        before += swap_ins(&k.s);
        double before_ns = (double)k.cost.time_ns;
        if (fits && !descend(&k, NULL)) {
            rp_gen_failed(seed);
            CU_FAIL("a descent is wrong");
        }
        after += swap_ins(&k.s);
        times *= pow((double)k.cost.time_ns / before_ns, 1.0 / 300);
        close_task(&k);
    }
    if (rp_gen_one_seed())
        return;
    CU_ASSERT_EQUAL(before, 7814);
    CU_ASSERT_EQUAL(after, 1545);
    CU_ASSERT_DOUBLE_EQUAL(times, 0.212, 0.001);
}

/* The sooner it is told to stop, the more copies are left. */
static void a_descent_that_is_stopped_fits(void) {
    enum { QUESTIONS = 4 };
    uint32_t left[QUESTIONS];
    for (uint64_t n = 0; n < QUESTIONS; n++) {
        struct task k;
        struct rp_stop stop = {.deadline = INFINITY, .max_questions = n, .hit = n == 0};
        CU_ASSERT_FATAL(open_random(&k, 400, 1));
        uint32_t before = swap_ins(&k.s);
        CU_ASSERT(descend(&k, &stop));
        left[n] = swap_ins(&k.s);
        CU_ASSERT(n == 0 ? left[n] == before : left[n] < left[n - 1]);
        close_task(&k);
    }
}

void suite_swap_descent(void) {
    RP_SUITE("swap_descent");
    RP_TEST(what_fits_stays_and_what_is_cheap_is_made_again);
    RP_TEST(random_schedules_still_fit);
    RP_TEST(a_descent_that_is_stopped_fits);
}
