/* Tests of solve/local/drop_swaps.h, which removes needless copies, and of offload_all.h,
 * whose schedule copies as much as possible. */
#include "solve/local/drop_swaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"
#include "model/timeline.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "solve/local/offload_all.h"
#include "verify/verifier.h"

/* A random graph with fast copies, and a schedule that swaps every tensor it can. */
struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_cost keep_all, before;
};

/* Swaps x out after it is made and in before its first read, if there are stages between.
 */
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

/* Could x have stayed on the device until stage k instead of being swapped in there? */
static bool could_be_kept(struct task *t, uint32_t k, uint32_t x, uint64_t horizon_ns) {
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
            n += rp_swapped_in(&t->s, k, x) && could_be_kept(t, k, x, horizon_ns);
    return n;
}

/* Takes what is left as the schedule of `t`. */
static bool drop_swaps(struct task *t, uint64_t max_bytes) {
    struct rp_schedule fewer;
    rp_schedule_empty(&t->p, &fewer);
    bool dropped = rp_drop_swaps(&t->p, max_bytes, NULL, &t->s, &fewer);
    if (dropped)
        rp_schedule_copy(&t->s, &fewer);
    rp_schedule_fini(&fewer);
    return dropped;
}

static void every_swap_that_is_left_is_needed(void) {
    uint32_t before = 0, after = 0, needless = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task t;
        task_init(&t, seed);
        before += count_swap_ins(&t, 0);
        drop_swaps(&t, UINT64_MAX);
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

static void no_swap_is_left_if_everything_fits(void) {
    struct task t;
    task_init(&t, 3);
    t.p.limit_bytes = t.keep_all.peak_bytes;
    CU_ASSERT(count_swap_ins(&t, 0) > 0);
    CU_ASSERT(drop_swaps(&t, UINT64_MAX));
    CU_ASSERT_EQUAL(count_swap_ins(&t, 0), 0);
    CU_ASSERT_EQUAL(rp_schedule_cost(&t.p, &t.s).time_ns, t.keep_all.time_ns);
    CU_ASSERT_FALSE(drop_swaps(&t, UINT64_MAX));
    task_fini(&t);
}

static void swaps_of_larger_tensors_are_left_alone(void) {
    struct task t;
    task_init(&t, 3);
    uint64_t max_bytes = 0;
    for (uint32_t x = 0; x < t.p.n_tensors; x++)
        max_bytes = t.p.bytes[x] > max_bytes ? t.p.bytes[x] : max_bytes;
    uint32_t large = count_swap_ins(&t, max_bytes / 2), all = count_swap_ins(&t, 0);
    t.p.limit_bytes = t.keep_all.peak_bytes;
    CU_ASSERT(large > 0 && large < all);
    drop_swaps(&t, max_bytes / 2);
    CU_ASSERT_EQUAL(count_swap_ins(&t, 0), large);
    task_fini(&t);
}

static void a_schedule_that_does_not_fit_is_left_alone(void) {
    struct task t;
    task_init(&t, 3);
    t.p.limit_bytes--;
    CU_ASSERT_FALSE(drop_swaps(&t, UINT64_MAX));
    task_fini(&t);
}

/* After the time limit it does not even look at the schedule, which here has no rows. */
static void nothing_is_dropped_after_the_time_limit(void) {
    struct task t;
    struct rp_stop stop = {.hit = true};
    struct rp_schedule without_rows = {0};
    task_init(&t, 3);
    CU_ASSERT_FALSE(rp_drop_swaps(&t.p, UINT64_MAX, &stop, &without_rows, NULL));
    task_fini(&t);
}

/* ---- plans ---- */

/* The task's schedule as a plan. */
static struct rp_plan plan_of(struct task *t) {
    struct rp_plan plan = {.graph_name = rp_strdup(t->g.name),
                           .graph_sha256 = rp_strdup(t->g.sha256),
                           .budget_bytes = t->p.limit_bytes + t->g.fixed_bytes};
    rp_schedule_steps(&t->p, &t->s, NULL, &plan);
    return plan;
}

static bool is_valid(const struct task *t, struct rp_plan *plan) {
    struct rp_verdict v;
    struct rp_err err = {{0}};
    if (rp_plan_fill_claims(&t->g, plan, &err) != RP_OK)
        return false;
    rp_plan_set_bound(&t->g, &plan->claims, t->g.total_time_ns, rp_bound_for_all_plans);
    return rp_verify(&t->g, plan, &v, &err) == RP_OK;
}

static uint32_t count_steps(const struct rp_plan *plan, enum rp_step_kind kind) {
    uint32_t n = 0;
    for (size_t i = 0; i < plan->steps.n; i++)
        n += plan->steps.at[i].kind == kind;
    return n;
}

static struct rp_step remove_step(struct rp_plan *plan, size_t i) {
    struct rp_step step = plan->steps.at[i];
    memmove(&plan->steps.at[i], &plan->steps.at[i + 1],
            (--plan->steps.n - i) * sizeof step);
    return step;
}

static void insert_step(struct rp_plan *plan, size_t i, struct rp_step step) {
    memmove(&plan->steps.at[i + 1], &plan->steps.at[i],
            (plan->steps.n++ - i) * sizeof step);
    plan->steps.at[i] = step;
}

/* Is the plan still valid, and as fast, without the swap-in of step i and the free before
 * it? The plan is as before afterwards. */
static bool is_needless(const struct task *t, struct rp_plan *plan, size_t i) {
    uint64_t time_ns = rp_steps_time_ns(&t->g, plan->steps.at, plan->steps.n);
    struct rp_step in = remove_step(plan, i), out;
    size_t from = i - 1;
    while (plan->steps.at[from].kind != RP_FREE || plan->steps.at[from].id != in.id)
        from--;
    out = remove_step(plan, from);
    bool needless = is_valid(t, plan) && plan->claims.time_ns <= time_ns;
    insert_step(plan, from, out);
    insert_step(plan, i, in);
    return needless;
}

static void every_swap_of_a_plan_that_is_left_is_needed(void) {
    uint32_t before = 0, after = 0, needless = 0, only_out = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct task t;
        task_init(&t, seed);
        struct rp_plan plan = plan_of(&t);
        CU_ASSERT(is_valid(&t, &plan));
        uint64_t time_ns = plan.claims.time_ns;
        before += count_steps(&plan, RP_SWAP_IN);
        rp_drop_plan_swaps(&t.g, t.p.limit_bytes, &plan);
        CU_ASSERT(is_valid(&t, &plan));
        CU_ASSERT(plan.claims.time_ns <= time_ns);
        after += count_steps(&plan, RP_SWAP_IN);
        only_out += count_steps(&plan, RP_SWAP_OUT) > count_steps(&plan, RP_SWAP_IN);
        for (size_t i = 0; i < plan.steps.n; i++)
            needless += plan.steps.at[i].kind == RP_SWAP_IN && is_needless(&t, &plan, i);
        rp_plan_fini(&plan);
        task_fini(&t);
    }
    CU_ASSERT_EQUAL(needless, 0);
    CU_ASSERT_EQUAL(only_out, 0);
    CU_ASSERT(after > 0);
    CU_ASSERT(2 * after < before);
}

static void a_plan_with_room_for_everything_copies_nothing(void) {
    struct task t;
    task_init(&t, 3);
    struct rp_plan plan = plan_of(&t);
    CU_ASSERT(count_steps(&plan, RP_SWAP_IN) > 0);
    rp_drop_plan_swaps(&t.g, t.keep_all.peak_bytes, &plan);
    CU_ASSERT_EQUAL(count_steps(&plan, RP_SWAP_OUT) + count_steps(&plan, RP_SWAP_IN), 0);
    rp_plan_fini(&plan);
    task_fini(&t);
}

static void offload_all_needs_no_more_than_the_largest_working_set(void) {
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
    CU_ASSERT(
        n_fit >=
        36); /* in the others the kept tensors and the last op's are more than the floor */
    CU_ASSERT(n_early > 0);
}

void suite_drop_swaps(void) {
    RP_SUITE("drop_swaps");
    RP_TEST(every_swap_that_is_left_is_needed);
    RP_TEST(no_swap_is_left_if_everything_fits);
    RP_TEST(swaps_of_larger_tensors_are_left_alone);
    RP_TEST(a_schedule_that_does_not_fit_is_left_alone);
    RP_TEST(nothing_is_dropped_after_the_time_limit);
    RP_TEST(every_swap_of_a_plan_that_is_left_is_needed);
    RP_TEST(a_plan_with_room_for_everything_copies_nothing);
    RP_TEST(offload_all_needs_no_more_than_the_largest_working_set);
}
