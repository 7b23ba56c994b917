/* Tests of points of the interval model that are worked out by hand. */
#include "solve/milp/interval_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "run.h"

/* s -o-> w; s -p-> x; s -q-> y; x,y -r-> z. x and z are kept, w has no bytes. A byte is
 * copied in a nanosecond. */
static const char net[] =
    "{'format':'remat-graph','version':1,'name':'net','time_source':'imported:test',"
    "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':1000000000,'copy_latency_ns':0},'tensors':["
    "{'name':'s','bytes':8,'kind':'parameter'},"
    "{'name':'w','bytes':0,'kind':'activation'},"
    "{'name':'x.0','bytes':8,'kind':'activation'},"
    "{'name':'y','bytes':4,'kind':'activation'},"
    "{'name':'z','bytes':4,'kind':'activation'}],'ops':["
    "{'name':'o','kind':'k','inputs':[0],'outputs':[1],'time_ns':8},"
    "{'name':'p','kind':'k','inputs':[0],'outputs':[2],'time_ns':16},"
    "{'name':'q','kind':'k','inputs':[0],'outputs':[3],'time_ns':32},"
    "{'name':'r','kind':'k','inputs':[2,3],'outputs':[4],'time_ns':16}],'keep':[2,4]}";
enum { P = 1, X = 1 }; /* the op and the tensor of the instance */

#define RUN_O "{'run':0}"
#define RUN_P "{'run':1}"
#define RUN_Q "{'run':2}"
#define RUN_R "{'run':3}"
#define X_OUT "{'swap_out':2}"
#define X_IN "{'swap_in':2}"
#define FREE_X "{'free':2}"
#define ALL_ONCE RUN_O "," RUN_P "," RUN_Q "," RUN_R

struct scene {
    struct rp_world w;
    struct rp_instance p;
    struct rp_interval_model m;
    double *v;
    bool is_point;
};

/* The point of these steps, in a model of plans that take `horizon_ns` and may swap. */
static void open_scene(struct scene *s, uint64_t horizon_ns, bool swap, const char *steps) {
    rp_world_open(&s->w, net,
                  "'budget_bytes':40,'addressed':false,'arena_bytes':32,'host_bytes':8",
                  steps);
    rp_instance_init(&s->p, &s->w.g, 40, false, NULL);
    if (swap)
        rp_instance_allow_swap(&s->p, RP_MAX_QUANTITY);
    rp_interval_model_init(&s->m, &s->p, horizon_ns);
    s->v = rp_calloc(s->m.n_cols, sizeof *s->v);
    for (uint32_t j = 0; j < s->m.n_cols; j++)
        s->v[j] = 7; /* is written over */
    s->is_point = rp_interval_point(&s->m, &s->w.p, s->v);
}

static void close_scene(struct scene *s) {
    free(s->v);
    rp_interval_model_fini(&s->m);
    rp_instance_fini(&s->p);
    rp_world_close(&s->w);
}

static bool meets_all_rows(const struct scene *s) {
    bool all = true;
    for (uint32_t i = 0; i < s->m.rows.n; i++)
        all = all && rp_row_set_left(&s->m.rows, i, s->v) <= s->m.rows.rhs[i];
    return all;
}

static double at(const struct scene *s, enum rp_interval_kind kind, uint32_t t,
                 uint32_t id) {
    return rp_interval_value(&s->m, kind, t, id, s->v);
}

static bool is_point(uint64_t horizon_ns, bool swap, const char *steps) {
    struct scene s;
    open_scene(&s, horizon_ns, swap, steps);
    bool is = s.is_point;
    close_scene(&s);
    return is;
}

static void some_plans_are_no_points(void) {
    CU_ASSERT(is_point(72, true, ALL_ONCE));
    CU_ASSERT(!is_point(1000, true, RUN_O "," RUN_P "," RUN_Q)); /* r does not run */
    /* q runs first before p. */
    CU_ASSERT(!is_point(1000, true, RUN_O "," RUN_Q "," RUN_P "," RUN_R));
    CU_ASSERT(!is_point(1000, true, RUN_O "," RUN_Q "," RUN_P "," RUN_Q "," RUN_R));
    /* A source is freed, or copied. */
    CU_ASSERT(!is_point(1000, true, "{'free':0}," ALL_ONCE));
    CU_ASSERT(!is_point(1000, true, RUN_O ",{'free':0}," RUN_P "," RUN_Q "," RUN_R));
    CU_ASSERT(!is_point(1000, true, RUN_O ",{'swap_out':0}," RUN_P "," RUN_Q "," RUN_R));
}

/* x is away from before q runs until r reads it, and its copies take 8 ns each. */
static void a_swap_is_a_point_where_swaps_are_allowed(void) {
    static const char steps[] =
        RUN_O "," RUN_P "," X_OUT "," FREE_X "," RUN_Q "," X_IN "," RUN_R;
    struct scene s;
    CU_ASSERT(!is_point(1000, false, steps));
    CU_ASSERT(!is_point(87, true, steps));
    open_scene(&s, 88, true, steps);
    CU_ASSERT_FATAL(s.is_point);
    CU_ASSERT(meets_all_rows(&s));
    for (uint32_t t = 2; t <= 5; t++) {
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_S, t, X), t != 3);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_F, t, X), 0);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_U, t, X), t == 3);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_O, t, X), 1);
    }
    for (uint32_t t = 0; t <= 4; t++)
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_D, t, 0),
                        t == 2 || t == 3 ? 8 * s.m.time_scale : 0);
    close_scene(&s);
}

/* x is freed, copied in for nothing while o runs again, freed, and made again, all before q
 * runs. So the free that counts is the one after q. */
static void a_copy_that_nothing_reads_does_not_count(void) {
    struct scene s;
    open_scene(&s, 1000, true,
               RUN_O "," RUN_P "," X_OUT "," FREE_X "," X_IN "," RUN_O "," FREE_X "," RUN_P
                     "," RUN_Q "," FREE_X "," X_IN "," RUN_R);
    CU_ASSERT_FATAL(s.is_point);
    CU_ASSERT(meets_all_rows(&s));
    for (uint32_t t = 2; t <= 5; t++) {
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_R, t, P), t == 2);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_S, t, X), 1);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_U, t, X), t == 3);
        CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_O, t, X), t >= 3);
    }
    CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_D, 2, 0), 32 * s.m.time_scale);
    CU_ASSERT_EQUAL(at(&s, RP_INTERVAL_D, 3, 0), 8 * s.m.time_scale);
    close_scene(&s);
}

/* A schedule says in which stage a copy begins, and stage 4 is none of its stages. */
static void a_copy_after_the_last_op_is_not_in_the_schedule(void) {
    struct scene s;
    struct rp_schedule schedule;
    open_scene(&s, 1000, true, ALL_ONCE);
    memset(s.v, 0, s.m.n_cols * sizeof *s.v);
    uint32_t late = rp_interval_at(&s.m, RP_INTERVAL_U, 4, X);
    uint32_t begun = rp_interval_at(&s.m, RP_INTERVAL_F, 4, X);
    CU_ASSERT_FATAL(late < s.m.n_cols && begun < s.m.n_cols);
    s.v[late] = 1;
    rp_schedule_empty(&s.p, &schedule);
    rp_interval_schedule(&s.m, s.v, &schedule);
    CU_ASSERT(!rp_swapped_in(&schedule, 3, X) && !rp_swapped_in(&schedule, 4, X));
    s.v[begun] = 1;
    rp_interval_schedule(&s.m, s.v, &schedule);
    CU_ASSERT(rp_swapped_in(&schedule, 3, X) && !rp_swapped_in(&schedule, 4, X));
    rp_schedule_fini(&schedule);
    close_scene(&s);
}

static void names_are_plain(void) {
    struct scene s;
    open_scene(&s, 1000, true, ALL_ONCE);
    char *col = rp_interval_col_name(&s.m, rp_interval_at(&s.m, RP_INTERVAL_S, 2, X));
    char *wait = rp_interval_col_name(&s.m, rp_interval_at(&s.m, RP_INTERVAL_D, 2, 0));
    CU_ASSERT_STRING_EQUAL(col, "S_2_1_x_0");
    CU_ASSERT_STRING_EQUAL(wait, "d_2");
    free(col);
    free(wait);
    close_scene(&s);
}

void suite_interval_point(void) {
    RP_SUITE("interval_point");
    RP_TEST(some_plans_are_no_points);
    RP_TEST(a_swap_is_a_point_where_swaps_are_allowed);
    RP_TEST(a_copy_that_nothing_reads_does_not_count);
    RP_TEST(a_copy_after_the_last_op_is_not_in_the_schedule);
    RP_TEST(names_are_plain);
}
