/* Tests of schedules from points of linear programs with few stages. */
#include "solve/search/stage_rounding.h"

#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "run.h"
#include "solve/core/prune.h"

/* A random training step and its linear program. */
struct scene {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    double *v;
    struct rp_schedule s;
};

/* all_again: all ops may run again, whenever. */
static void open_scene(uint64_t seed, uint32_t max_stages, bool all_again,
                       struct scene *s) {
    struct rp_gen_shape shape = rp_gen_small(40);
    shape.training = true;
    if (all_again)
        shape.once_percent = shape.rules_percent = 0;
    rp_gen_graph(seed, &shape, &s->g);
    rp_instance_init(&s->p, &s->g, s->g.fixed_bytes, false, NULL);
    rp_formulation_init(&s->f, &s->p,
                        &(struct rp_formulation_options){.max_stages = max_stages});
    s->v = calloc(s->f.n_cols + 1, sizeof *s->v);
    rp_schedule_empty(&s->p, &s->s);
}

static void close_scene(struct scene *s) {
    rp_schedule_fini(&s->s);
    free(s->v);
    rp_formulation_fini(&s->f);
    rp_instance_fini(&s->p);
    rp_graph_fini(&s->g);
}

/* A value for each column. */
static void draw_point(struct scene *s, uint64_t seed) {
    struct rp_rng r = {seed};
    for (uint32_t j = 0; j < s->f.n_cols; j++)
        s->v[j] = (double)rp_rng_below(&r, 1000) / 1000;
}

static void held_in_every_stage_is_keep_all(void) {
    uint32_t n = 40;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct scene s;
        open_scene(seed, (uint32_t)(1 + seed % 10), false, &s);
        for (uint32_t j = 0; j < s.f.n_cols; j++)
            s.v[j] = 1;
        rp_stage_rounding(&s.f, s.v, 0.5, &s.s);
        struct rp_cost c = rp_schedule_cost(&s.p, &s.s);
        CU_ASSERT(c.sound && c.time_ns == s.g.total_time_ns);
        close_scene(&s);
    }
}

/* In a stage of the program each op runs at most once, where all may run again. What is
 * above the threshold as a stage begins is held there, and nothing else. */
static bool follows_point(const struct scene *s, double threshold) {
    struct rp_stage_work w = {0};
    uint8_t *runs = calloc(s->p.n_ops, 1);
    bool good = true;
    rp_stage_work_init(&s->p, &w);
    for (uint32_t stage = 0, t = 0; stage < s->f.n_stages; stage++) {
        for (uint32_t x = 0; x < s->p.n_tensors; x++)
            good = good &&
                   rp_held(&s->s, t, x) ==
                       (rp_formulation_value(s->v, rp_formulation_held(&s->f, stage, x)) >
                        threshold);
        memset(runs, 0, s->p.n_ops);
        for (; t <= s->f.last_op[stage]; t++) {
            good = good && rp_stage_eval(&s->p, &s->s, t, &w);
            for (uint32_t k = 0; k < w.stage.n_runs && good; k++)
                good = runs[w.stage.runs[k]]++ == 0;
        }
    }
    rp_stage_work_fini(&w);
    free(runs);
    return good;
}

static void an_op_runs_once_in_a_stage_of_the_program(void) {
    uint32_t n = 60, again = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        for (int all_again = 0; all_again < 2; all_again++) {
            struct scene s;
            open_scene(seed, (uint32_t)(1 + seed % 12), all_again, &s);
            draw_point(&s, seed);
            rp_stage_rounding(&s.f, s.v, 0.6, &s.s);
            struct rp_cost c = rp_schedule_cost(&s.p, &s.s);
            if (!c.sound || (all_again && !follows_point(&s, 0.6))) {
                rp_gen_failed(seed);
                CU_FAIL("the schedule is not sound, or not what the point says");
            }
            again += c.time_ns > s.g.total_time_ns;
            close_scene(&s);
        }
    CU_ASSERT(again > 60 || rp_gen_one_seed());
}

/* Where a stage holds one first run, the schedule of a point is that point's. */
static void a_point_of_a_schedule_gives_that_schedule(void) {
    uint32_t n = 40, differ = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct scene s;
        struct rp_schedule first = {0};
        open_scene(seed, 0, true, &s);
        draw_point(&s, seed);
        rp_stage_rounding(&s.f, s.v, 0.5, &s.s);
        rp_schedule_prune(&s.p, &s.s);
        rp_schedule_copy(&first, &s.s);
        if (rp_formulation_point(&s.f, &first, s.v)) {
            rp_stage_rounding(&s.f, s.v, 0.5, &s.s);
            rp_schedule_prune(&s.p, &s.s);
            CU_ASSERT_EQUAL(rp_schedule_distance(&first, &s.s), 0);
            differ++;
        }
        rp_schedule_fini(&first);
        close_scene(&s);
    }
    CU_ASSERT(differ > 20 || rp_gen_one_seed());
}

void suite_stage_rounding(void) {
    RP_SUITE("stage rounding");
    RP_TEST(held_in_every_stage_is_keep_all);
    RP_TEST(an_op_runs_once_in_a_stage_of_the_program);
    RP_TEST(a_point_of_a_schedule_gives_that_schedule);
}
