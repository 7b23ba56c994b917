/* Tests of solve/local/drop_swaps.h, which takes copies out, and of offload_all.h, whose
 * schedule has as many as there can be. */
#include "solve/local/drop_swaps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/local/offload_all.h"

/* A random graph whose copies are quick, and a schedule that swaps all it can. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_cost keep_all, before;
};

/* x comes in where it is first read after its making, if stages lie between. */
static void swap_first_gap(struct task *t, uint32_t x) {
    const struct rp_instance *p = &t->p;
    uint32_t made = p->producer[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
        uint32_t r = p->readers[k];
        if (r < made + 3)
            return;
        rp_schedule_set(&t->s, x, made + 2, r, false);
        rp_schedule_set_in(&t->s, x, r, true);
        if (rp_schedule_cost(p, &t->s).sound)
            return;
        rp_schedule_set_in(&t->s, x, r, false);
        rp_schedule_set(&t->s, x, made + 2, r, true);
        return;
    }
}

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(24);
    shape.training = true;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = t->g.device.d2h_bytes_per_s = 400000000000u;
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    rp_instance_allow_swap(&t->p, RP_MAX_QUANTITY);
    rp_schedule_keep_all(&t->p, &t->s);
    t->keep_all = rp_schedule_cost(&t->p, &t->s);
    for (uint32_t x = 0; x < t->p.n_tensors; x++)
        swap_first_gap(t, x);
    t->before = rp_schedule_cost(&t->p, &t->s);
    t->p.limit_bytes = t->before.peak_bytes;
}

static void task_fini(struct task *t) {
    rp_schedule_fini(&t->s);
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

static uint32_t count_swap_ins(const struct task *t, uint64_t above_bytes) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->p.n_ops; k++)
        for (uint32_t x = 0; x < t->p.n_tensors; x++)
            n += rp_swapped_in(&t->s, k, x) && t->p.bytes[x] > above_bytes;
    return n;
}

/* True if x need not have left before stage k. */
static bool could_stay(struct task *t, uint32_t k, uint32_t x, uint64_t horizon_ns) {
    uint32_t first = k;
    while (!rp_held(&t->s, first - 1, x) && first - 1 > t->p.producer[x])
        first--;
    rp_schedule_set_in(&t->s, x, k, false);
    rp_schedule_set(&t->s, x, first, k, true);
    struct rp_cost c = rp_schedule_cost(&t->p, &t->s);
    rp_schedule_set(&t->s, x, first, k, false);
    rp_schedule_set_in(&t->s, x, k, true);
    return c.sound && c.peak_bytes <= t->p.limit_bytes && c.time_ns <= horizon_ns;
}

static uint32_t count_needless(struct task *t, uint64_t horizon_ns) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->p.n_ops; k++)
        for (uint32_t x = 0; x < t->p.n_tensors; x++)
            n += rp_swapped_in(&t->s, k, x) && could_stay(t, k, x, horizon_ns);
    return n;
}

static void what_is_left_is_needed(void) {
    uint32_t before = 0, after = 0, needless = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task t;
        task_init(&t, seed);
        before += count_swap_ins(&t, 0);
        rp_drop_swaps(&t.p, UINT64_MAX, &t.s);
        struct rp_cost c = rp_schedule_cost(&t.p, &t.s);
        CU_ASSERT(c.sound);
        CU_ASSERT(c.peak_bytes <= t.p.limit_bytes);
        CU_ASSERT(c.time_ns <= t.before.time_ns);
        after += count_swap_ins(&t, 0);
        needless += count_needless(&t, c.time_ns);
        task_fini(&t);
    }
    CU_ASSERT_EQUAL(needless, 0);
    CU_ASSERT(after > 0);
    CU_ASSERT(2 * after < before);
}

static void all_stays_where_all_fits(void) {
    struct task t;
    task_init(&t, 3);
    t.p.limit_bytes = t.keep_all.peak_bytes;
    CU_ASSERT(count_swap_ins(&t, 0) > 0);
    CU_ASSERT(rp_drop_swaps(&t.p, UINT64_MAX, &t.s));
    CU_ASSERT_EQUAL(count_swap_ins(&t, 0), 0);
    CU_ASSERT_EQUAL(rp_schedule_cost(&t.p, &t.s).time_ns, t.keep_all.time_ns);
    CU_ASSERT_FALSE(rp_drop_swaps(&t.p, UINT64_MAX, &t.s));
    task_fini(&t);
}

static void larger_tensors_are_left_alone(void) {
    struct task t;
    task_init(&t, 3);
    uint64_t most = 0;
    for (uint32_t x = 0; x < t.p.n_tensors; x++)
        most = t.p.bytes[x] > most ? t.p.bytes[x] : most;
    uint32_t large = count_swap_ins(&t, most / 2), all = count_swap_ins(&t, 0);
    t.p.limit_bytes = t.keep_all.peak_bytes;
    CU_ASSERT(large > 0 && large < all);
    rp_drop_swaps(&t.p, most / 2, &t.s);
    CU_ASSERT_EQUAL(count_swap_ins(&t, 0), large);
    task_fini(&t);
}

static void what_does_not_fit_is_left_alone(void) {
    struct task t;
    task_init(&t, 3);
    t.p.limit_bytes--;
    CU_ASSERT_FALSE(rp_drop_swaps(&t.p, UINT64_MAX, &t.s));
    task_fini(&t);
}

static void with_all_on_the_host_any_working_set_fits(void) {
    uint32_t n_fit = 0, n_early = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task t;
        uint32_t op;
        task_init(&t, seed);
        uint64_t floor_bytes = rp_instance_floor(&t.p, &op);
        rp_schedule_offload_all(&t.p, true, &t.s);
        struct rp_cost early = rp_schedule_cost(&t.p, &t.s);
        rp_schedule_offload_all(&t.p, false, &t.s);
        struct rp_cost late = rp_schedule_cost(&t.p, &t.s);
        CU_ASSERT(early.sound && late.sound);
        CU_ASSERT(early.time_ns >= t.keep_all.time_ns);
        n_fit += late.peak_bytes == floor_bytes;
        n_early += early.peak_bytes == floor_bytes;
        task_fini(&t);
    }
    CU_ASSERT(n_fit >= 36); /* else what is kept is too much with the last op's */
    CU_ASSERT(n_early > 0);
}

void suite_drop_swaps(void) {
    RP_SUITE("drop_swaps");
    RP_TEST(what_is_left_is_needed);
    RP_TEST(all_stays_where_all_fits);
    RP_TEST(larger_tensors_are_left_alone);
    RP_TEST(what_does_not_fit_is_left_alone);
    RP_TEST(with_all_on_the_host_any_working_set_fits);
}
