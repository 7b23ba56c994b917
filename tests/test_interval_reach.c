/* Tests of what a window of the interval model leaves out: which ops before it may run
 * again, against distances found by going along all ways. */
#include "solve/milp/interval_reach.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "gen.h"
#include "run.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_interval_window w;
    uint32_t *r_last, *s_last; /* of the whole step */
    struct rp_interval_reach c;
};

static void task_init(struct task *t, uint64_t seed) {
    struct rp_gen_shape shape = rp_gen_small(12 + (uint32_t)(seed % 8));
    struct rp_rng r = {seed};
    shape.bandwidths = shape.training = true;
    rp_gen_graph(seed, &shape, &t->g);
    rp_instance_init(&t->p, &t->g, RP_MAX_QUANTITY, false, NULL);
    t->w.first =
        1 + (uint32_t)rp_rng_below(&r, t->p.n_ops); /* so it is not the whole step */
    t->w.last = t->w.first + (uint32_t)rp_rng_below(&r, t->p.n_ops + 1 - t->w.first);
    t->w.most_ns = seed % 2 ? t->g.total_time_ns : rp_rng_below(&r, 100);
    t->w.max_runs = (uint32_t)rp_rng_below(&r, 6);
    t->r_last = rp_calloc(t->p.n_ops, sizeof *t->r_last);
    t->s_last = rp_calloc(t->p.n_tensors, sizeof *t->s_last);
    rp_instance_last_uses(&t->p, t->r_last, t->s_last);
    rp_interval_reach_init(&t->c, &t->p, &t->w, t->g.total_time_ns);
}

static void task_fini(struct task *t) {
    rp_interval_reach_fini(&t->c);
    free(t->r_last);
    free(t->s_last);
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}

/* Another way than that of rp_interval_reach_init: per op, the least time between a run of
 * it in the window and a first run there, or the end of the step; HUGE_VAL if it cannot run
 * again there. With `near`, on ways through ops of the window and those only. */
static double distance_ns(const struct task *t, uint32_t j, const bool *near) {
    const struct rp_instance *p = &t->p;
    double least = HUGE_VAL;
    uint32_t last = rp_min_u32(t->r_last[j], t->w.last);
    if (last <= j || last < t->w.first)
        return HUGE_VAL;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        if (p->kept[x] && t->w.last == p->n_ops)
            least = 0;
        for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
            uint32_t r = p->readers[k];
            if (r >= t->w.first && r <= t->w.last)
                least = 0;
            else if (r < t->w.first && (near == NULL || near[r]))
                least = fmin(least, distance_ns(t, r, near) + (double)p->time_ns[r]);
        }
    }
    return least + (double)p->time_ns[j] <= (double)t->w.most_ns ? least : HUGE_VAL;
}

/* Fewer than max_runs others are nearer. */
static bool is_near(const struct task *t, const double *distance, uint32_t j) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->w.first; i++)
        n += distance[i] < distance[j];
    return distance[j] < HUGE_VAL && n < t->w.max_runs;
}

/* The last stage of the window that may want x; 0: none. */
static uint32_t last_wanted(const struct task *t, uint32_t x) {
    const struct rp_instance *p = &t->p;
    bool to_the_end = p->pinned[x] || (p->kept[x] && t->w.last == p->n_ops);
    uint32_t last = to_the_end ? t->w.last : 0;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
        uint32_t r = p->readers[k];
        if (r >= t->w.first && r <= t->w.last)
            last = rp_max_u32(last, r);
        last = rp_max_u32(last, t->c.r_last[r]);
    }
    return rp_min_u32(last, t->s_last[x]);
}

/* Near ops run again. Of the others, those that near ones or first runs may want are
 * assumed. */
static bool is_right(const struct task *t, const bool *near, uint32_t j) {
    bool is_wanted = distance_ns(t, j, near) < HUGE_VAL;
    bool right = (t->c.r_last[j] >= t->w.first) == near[j];
    for (uint32_t x = t->p.output_start[j]; x < t->p.output_start[j + 1]; x++)
        right = right && t->c.is_assumed[x] == (is_wanted && !near[j]) &&
                t->c.s_last[x] == (t->c.is_assumed[x] ? t->w.last : last_wanted(t, x));
    return right;
}

/* Returns how many ops before the window run again; *n_assumed: how many tensors are
 * assumed. */
static uint32_t check_ops_before(const struct task *t, uint64_t seed, uint32_t *n_assumed) {
    double *distance = rp_calloc(t->p.n_ops, sizeof *distance);
    bool *near = rp_calloc(t->p.n_ops, sizeof *near), right = true;
    uint32_t n = 0;
    for (uint32_t j = 0; j < t->w.first; j++)
        distance[j] = distance_ns(t, j, NULL);
    for (uint32_t j = 0; j < t->w.first; j++)
        n += near[j] = is_near(t, distance, j);
    for (uint32_t j = 0; j < t->w.first; j++)
        right = right && is_right(t, near, j);
    for (uint32_t x = 0; x < t->p.n_tensors; x++)
        *n_assumed += t->c.is_assumed[x];
    if (!right) {
        rp_gen_failed(seed);
        CU_FAIL("another op is near");
    }
    free(distance);
    free(near);
    return n;
}

static void ops_far_from_a_window_do_not_run_again(void) {
    uint32_t n = 500, n_near = 0, n_assumed = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task t;
        task_init(&t, seed);
        n_near += check_ops_before(&t, seed, &n_assumed);
        task_fini(&t);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_near > 300 && n_assumed > 300));
}

void suite_interval_reach(void) {
    RP_SUITE("interval_reach");
    RP_TEST(ops_far_from_a_window_do_not_run_again);
}
