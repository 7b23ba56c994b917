/* Tests of schedules from points that PDHG reaches. */
#include "solve/search/lp_rounding.h"

#include <math.h>

#include "gen.h"
#include "policies.h"
#include "run.h"
#include "solve/core/params.h"

struct scene {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_lp_rounding *r;
    struct rp_schedule s;
};

static void open_scene(uint64_t seed, uint32_t n_ops, bool swaps, struct scene *s) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = shape.bandwidths = true;
    shape.once_percent = 0;
    rp_gen_graph(seed, &shape, &s->g);
    rp_instance_init(&s->p, &s->g, rp_budget_between(&s->g, false, 20), false, NULL);
    if (swaps)
        rp_instance_allow_swap(&s->p, UINT64_MAX);
    s->r = rp_lp_rounding_new(&s->p);
    rp_schedule_empty(&s->p, &s->s);
}

/* Until the point is of use, or the program has nothing more to gain. */
static void reach_point(struct scene *s) {
    while (rp_lp_rounding_work_missing(s->r) > 0 &&
           rp_lp_rounding_run(s->r, rp_lp_rounding_work_missing(s->r), NULL))
        ;
}

static void close_scene(struct scene *s) {
    rp_schedule_fini(&s->s);
    rp_lp_rounding_free(s->r);
    rp_instance_fini(&s->p);
    rp_graph_fini(&s->g);
}

/* Points are of use after some work, and give sound schedules. The next program is larger.
 * So are those of the third, and then they stay as they are. */
static void programs_get_larger_once_their_points_are_rounded(void) {
    for (int swaps = 0; swaps < 2; swaps++) {
        struct scene s;
        uint64_t before = 0;
        open_scene(1, 200, swaps, &s);
        for (int k = 0; k < 4; k++) {
            CU_ASSERT(rp_lp_rounding_begin(s.r, 3 * s.g.total_time_ns));
            uint64_t work = rp_lp_rounding_work_missing(s.r);
            CU_ASSERT(k < 3 ? work > before : work == 0);
            CU_ASSERT(rp_lp_rounding_begin(s.r, 3 * s.g.total_time_ns));
            CU_ASSERT_EQUAL(rp_lp_rounding_work_missing(s.r), work);
            before = work;
            reach_point(&s);
            CU_ASSERT(rp_lp_rounding_next(s.r, NULL, &s.s));
        }
        close_scene(&s);
    }
}

/* The point leads below the peak of keep-all, and other thresholds to other schedules. */
static void thresholds_differ(void) {
    struct scene s;
    struct rp_schedule first, all;
    open_scene(2, 150, false, &s);
    rp_schedule_empty(&s.p, &first);
    rp_schedule_keep_all(&s.p, &all);
    CU_ASSERT(rp_lp_rounding_begin(s.r, 0));
    reach_point(&s);
    CU_ASSERT(rp_lp_rounding_next(s.r, NULL, &first));
    CU_ASSERT(rp_schedule_cost(&s.p, &first).peak_bytes <
              rp_schedule_cost(&s.p, &all).peak_bytes);
    uint32_t differ = 0;
    for (int k = 0; k < 5 && rp_lp_rounding_next(s.r, NULL, &s.s); k++)
        differ += rp_schedule_distance(&first, &s.s) > 0;
    CU_ASSERT(differ > 0);
    rp_schedule_fini(&first);
    rp_schedule_fini(&all);
    close_scene(&s);
}

static void a_stop_ends_it(void) {
    struct scene s;
    struct rp_stop stop = {.deadline = -INFINITY};
    open_scene(1, 100, false, &s);
    CU_ASSERT(rp_lp_rounding_begin(s.r, 0));
    uint64_t work = rp_lp_rounding_work_missing(s.r);
    rp_lp_rounding_run(s.r, work, &stop);
    CU_ASSERT(rp_lp_rounding_work_missing(s.r) > 0);
    CU_ASSERT_FALSE(rp_lp_rounding_next(s.r, &stop, &s.s));
    close_scene(&s);
}

void suite_lp_rounding(void) {
    RP_SUITE("LP rounding");
    RP_TEST(programs_get_larger_once_their_points_are_rounded);
    RP_TEST(thresholds_differ);
    RP_TEST(a_stop_ends_it);
}
