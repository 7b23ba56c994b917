/* What a recorder sums up and keeps, step by step. */
#include "policy/recorder.h"

#include <math.h>
#include <stdlib.h>

#include "drawn.h"
#include "gen.h"
#include "policies.h"
#include "run.h"

struct scene {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_recorder r;
};

static void begin(struct scene *s) {
    rp_instance_init(&s->p, &s->g, UINT64_MAX / 2, false, NULL);
    rp_recorder_init(&s->r, &s->p);
}

static void end(struct scene *s) {
    rp_recorder_fini(&s->r);
    rp_instance_fini(&s->p);
    rp_graph_fini(&s->g);
}

/* The chain's ops and tensors are numbered alike: op i makes tensor i. */
static void open_chain(struct scene *s) {
    rp_draw(rp_long_chain, 12, &s->g);
    begin(s);
}

/* a and b, then b and c; with a they are three, of 10 bytes each. */
static void a_swap_in_counts_in_the_peak(void) {
    struct scene s;
    open_chain(&s);
    rp_recorder_run(&s.r, 0);
    rp_recorder_run(&s.r, 1);
    rp_recorder_swap_out(&s.r, 0);
    rp_recorder_free(&s.r, 0);
    rp_recorder_run(&s.r, 2);
    CU_ASSERT_EQUAL(s.r.peak_bytes, 20);
    rp_recorder_swap_in(&s.r, 0);
    CU_ASSERT_EQUAL(s.r.peak_bytes, 30);
    end(&s);
}

static void a_source_that_comes_in_counts_in_the_peak(void) {
    struct scene s;
    rp_gen_host_graph(1, 6, &s.g);
    begin(&s);
    CU_ASSERT_FATAL(s.g.tensors[0].home == RP_HOME_HOST && s.g.tensors[0].bytes > 0);
    rp_recorder_source_home(&s.r, 0);
    rp_recorder_source_in(&s.r, 0);
    CU_ASSERT_EQUAL(s.r.peak_bytes, s.g.tensors[0].bytes);
    end(&s);
}

static void a_cleared_recorder_has_its_stop_and_alignment_but_no_steps(void) {
    struct rp_stop stop = {.deadline = INFINITY};
    struct scene s;
    open_chain(&s);
    s.r.stop = &stop;
    s.r.alignment = 512;
    rp_recorder_run(&s.r, 0);
    rp_recorder_clear(&s.r);
    CU_ASSERT_PTR_EQUAL(s.r.stop, &stop);
    CU_ASSERT_EQUAL(s.r.alignment, 512);
    CU_ASSERT_EQUAL(s.r.plan.steps.n, 0);
    end(&s);
}

static void whole_steps_take_the_place_of_what_was_recorded(void) {
    struct scene s;
    open_chain(&s);
    rp_recorder_keep_all(&s.r);
    size_t n = s.r.plan.steps.n;
    CU_ASSERT(n > 12);
    rp_recorder_keep_all(&s.r);
    CU_ASSERT_EQUAL(s.r.plan.steps.n, n);
    end(&s);
}

/* This one does not even hold what is kept. */
static void a_schedule_that_is_not_sound_becomes_keep_all(void) {
    struct scene s;
    struct rp_schedule empty;
    open_chain(&s);
    rp_schedule_empty(&s.p, &empty);
    rp_recorder_schedule(&s.r, &empty);
    char *steps = rp_steps_text(&s.g, &s.r.plan);
    CU_ASSERT_STRING_EQUAL(steps, "f1 f2 f3 f4 f5 f6 b6 -e -f b5 -d -u b4 -c -v b3 -b -x "
                                  "b2 -a -y b1 -z");
    free(steps);
    rp_schedule_fini(&empty);
    end(&s);
}

static void a_time_beyond_63_bits_is_an_overflow(void) {
    struct scene s;
    rp_draw(rp_long_chain, 12, &s.g);
    s.g.ops[0].time_ns = UINT64_C(1) << 62;
    begin(&s);
    rp_recorder_run(&s.r, 0);
    CU_ASSERT_FALSE(s.r.overflow);
    rp_recorder_run(&s.r, 0);
    CU_ASSERT(s.r.overflow);
    end(&s);
}

/* Each copy takes a second, but their bytes are too many. */
static void bytes_copied_beyond_63_bits_are_an_overflow(void) {
    struct scene s;
    rp_draw(rp_long_chain, 12, &s.g);
    s.g.tensors[1].bytes = UINT64_C(1) << 62;
    s.g.device.h2d_bytes_per_s = s.g.device.d2h_bytes_per_s = UINT64_C(1) << 62;
    begin(&s);
    rp_recorder_run(&s.r, 0);
    rp_recorder_swap_out(&s.r, 0);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_FALSE(s.r.overflow);
        rp_recorder_run(&s.r, 1); /* reads it */
        rp_recorder_free(&s.r, 0);
        rp_recorder_swap_in(&s.r, 0);
    }
    CU_ASSERT(s.r.overflow);
    end(&s);
}

void suite_recorder(void) {
    RP_SUITE("recorder");
    RP_TEST(a_swap_in_counts_in_the_peak);
    RP_TEST(a_source_that_comes_in_counts_in_the_peak);
    RP_TEST(a_cleared_recorder_has_its_stop_and_alignment_but_no_steps);
    RP_TEST(whole_steps_take_the_place_of_what_was_recorded);
    RP_TEST(a_schedule_that_is_not_sound_becomes_keep_all);
    RP_TEST(a_time_beyond_63_bits_is_an_overflow);
    RP_TEST(bytes_copied_beyond_63_bits_are_an_overflow);
}
