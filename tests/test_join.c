#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "profile/annotate.h"
#include "profile/join/quartiles.h"
#include "run.h"
#include "scene.h"

static void the_median_over_steps_is_the_cost(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_step(&s, 9000, 9000); /* the first step warms up and is not used */
    rp_scene_step(&s, 100, 210);
    rp_scene_step(&s, 120, 200);
    rp_scene_step(&s, 170, 230);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    const struct rp_op_cost *a = &o.c.ops[0], *b = &o.c.ops[1];
    CU_ASSERT(a->n_samples == 3 && a->median_ns == 120);
    CU_ASSERT(a->min_ns == 100 && a->q1_ns == 120 && a->q3_ns == 120 && a->max_ns == 170);
    CU_ASSERT(b->n_samples == 3 && b->median_ns == 210);
    CU_ASSERT(o.c.sum_ns == 330 && o.c.n_steps == 3 && o.c.n_processes == 1);
    CU_ASSERT_EQUAL(o.c.step_ns, 100 + 5 + 210 + 10); /* 315, 325, 405 */
    CU_ASSERT(o.c.outside_ns == 0 && o.c.side_by_side_ns == 0 &&
              o.c.unknown_ranges == NULL);
    CU_ASSERT(o.c.runs.no_stamp + o.c.runs.held_up + o.c.runs.lost == 0);
    CU_ASSERT_STRING_EQUAL(o.c.device, "Toy GPU");
    rp_joined_fini(&o);
}

static void a_single_step_is_used(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_step(&s, 100, 210);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.ops[0].median_ns == 100 && o.c.n_steps == 1);
    rp_joined_fini(&o);
}

static void without_steps_every_range_counts(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    for (unsigned i = 0; i < 4; i++)
        rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10 * i);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 7);
    rp_scene_kernel(&s, 0, 5, 70);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].n_samples == 4 && o.c.ops[0].median_ns == 15);
    CU_ASSERT(o.c.n_steps == 0 && o.c.step_ns == 0 && o.c.outside_ns == 0);
    rp_joined_fini(&o);
}

static void overlapping_work_counts_once_and_pauses_do_not_count(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    unsigned a = rp_scene_range(&s, "a", 0);
    rp_scene_line(&s, "ext 50 %u", a);
    rp_scene_line(&s, "work kernel 50 0 1000 1100 0 7 0");
    rp_scene_line(&s, "work set 50 0 1050 1120 0 8 64"); /* 20 more, on another stream */
    rp_scene_line(
        &s, "work copy 50 0 1010 1020 0 9 64"); /* adds nothing: within another piece */
    rp_scene_line(&s, "work kernel 50 0 1200 1230 0 7 0");
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 500, 1);
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.ops[0].median_ns == 150);
    CU_ASSERT_EQUAL(o.c.side_by_side_ns, 0); /* overlapping pieces of one op */
    rp_joined_fini(&o);
}

static void time_with_two_ops_at_once_is_reported(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    unsigned a = rp_scene_range(&s, "a", 0), b = rp_scene_range(&s, "b", 0);
    rp_scene_line(&s, "ext 50 %u\next 51 %u", a, b);
    s.lines++;
    rp_scene_line(&s, "work kernel 51 0 1070 1150 0 8 0"); /* comes first in the file */
    rp_scene_line(&s, "work kernel 50 0 1000 1100 0 7 0");
    s.clock = 1200;
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.ops[0].median_ns == 100 && o.c.ops[1].median_ns == 80);
    CU_ASSERT(o.c.side_by_side_ns == 30 && o.c.step_ns == 150);
    rp_joined_fini(&o);
}

static void the_innermost_op_owns_the_work(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    unsigned block = rp_scene_range(&s, "block", 0), b = rp_scene_range(&s, "b", block);
    unsigned part = rp_scene_range(&s, "part", b), a = rp_scene_range(&s, "a", part);
    rp_scene_kernel(&s, b, 5, 10);
    rp_scene_kernel(&s, part, 5, 20); /* names no op of the graph, so the work is b's */
    rp_scene_kernel(&s, a, 5, 400);
    rp_scene_kernel(&s, block, 5, 3); /* belongs to no op */
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].median_ns == 400 && o.c.ops[1].median_ns == 30);
    CU_ASSERT(o.c.outside_ns == 3 && o.c.inside_ns == 430);
    CU_ASSERT_STRING_EQUAL(o.c.unknown_ranges, "block");
    CU_ASSERT_EQUAL(o.c.n_unknown_ranges, 1);
    rp_joined_fini(&o);
}

static void work_outside_all_ops_is_reported_within_steps(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_step(&s, 1, 1);
    rp_scene_kernel(&s, 0, 5, 1000); /* between steps */
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_kernel(&s, 0, 5, 30);     /* assigned by the time of its call */
    rp_scene_kernel(&s, 9992, 5, 600); /* in the step's own range */
    rp_scene_end_step(&s);
    rp_scene_kernel(&s, 0, 5, 1000);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.outside_ns == 630 && o.c.inside_ns == 20);
    CU_ASSERT_EQUAL(o.c.step_ns, 10 + 5 + 10 + 5 + 30 + 5 + 600);
    rp_joined_fini(&o);
}

static void an_op_without_work_costs_nothing(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    for (int i = 0; i < 3; i++) {
        rp_scene_begin_step(&s);
        rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
        rp_scene_range(&s, "b", 0);
        rp_scene_end_step(&s);
    }
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.ops[1].n_samples == 2 && o.c.ops[1].median_ns == 0);
    rp_joined_fini(&o);
}

static void runs_without_time_stamps_are_not_used(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_step(&s, 1, 1);
    rp_scene_step(&s, 100, 200);
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 140);
    rp_scene_line(&s, "ext 60 %u", s.id);
    rp_scene_line(&s, "work kernel 60 0 0 0 0 7 0");
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 220);
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.runs.no_stamp == 1 && o.c.ops[0].n_samples == 1);
    CU_ASSERT(o.c.ops[0].median_ns == 100 && o.c.ops[1].n_samples == 2);
    rp_joined_fini(&o);
}

static void an_end_before_the_start_counts_as_no_time_stamp(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 1);
    rp_scene_line(&s, "ext 60 %u", rp_scene_range(&s, "a", 0));
    rp_scene_line(&s, "work kernel 60 0 20 10 0 7 0");
    rp_scene_refused(
        &s, RP_ENV,
        "op 'a': none of its 1 runs can be used: 1 without time stamps, 0 with work "
        "missing; run more steps");
}

/* Adds overhead of `kind` on `thread` around the call of a in the last of three steps. */
static uint32_t with_overhead(unsigned kind, unsigned thread, int before, int after) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_step(&s, 1, 1);
    rp_scene_step(&s, 100, 200);
    rp_scene_begin_step(&s);
    rp_scene_line(&s, "over %u %u %llu %llu", kind, thread,
                  (unsigned long long)(s.clock + 4 - (uint64_t)before),
                  (unsigned long long)(s.clock + 4 + (unsigned)after));
    rp_scene_line(&s, "over 65536 1 1 2"); /* long ago */
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 140);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 50, 220);
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT_EQUAL(o.c.ops[0].median_ns, o.c.runs.held_up ? 100 : 120);
    uint32_t n = o.c.runs.held_up;
    rp_joined_fini(&o);
    return n;
}

static void runs_delayed_by_tracing_are_not_used(void) {
    CU_ASSERT_EQUAL(with_overhead(2 << 16, 1, 5, 1), 1);
    CU_ASSERT_EQUAL(with_overhead(2 << 16, 0, 0, 300), 2); /* b's call as well */
    CU_ASSERT_EQUAL(with_overhead(1, 1, 1000, 5), 1);
    CU_ASSERT_EQUAL(with_overhead(2 << 16, 2, 5, 5), 0);    /* of another thread */
    CU_ASSERT_EQUAL(with_overhead(2 << 16, 1, 5, 0), 0);    /* ends as the call begins */
    CU_ASSERT_EQUAL(with_overhead(2 << 16, 1, -10, 15), 0); /* begins as it ends */
    CU_ASSERT_EQUAL(with_overhead(6 << 16, 1, 5, 5), 0);    /* the queue was full */
}

/* A buffer is requested in the first call after each flush, so in the same op each time. */
static void runs_of_an_op_that_is_always_delayed_are_used(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    for (unsigned i = 0; i < 4; i++) {
        rp_scene_begin_step(&s);
        rp_scene_line(&s, "over %u 1 %llu %llu", 7u << 16, (unsigned long long)s.clock,
                      (unsigned long long)s.clock + 6);
        rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 100 + 10 * i);
        rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 50, 200);
        rp_scene_end_step(&s);
    }
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].n_samples == 3 && o.c.ops[0].median_ns == 120);
    CU_ASSERT(o.c.ops[1].n_samples == 3 && o.c.ops[1].median_ns == 200);
    CU_ASSERT(o.c.runs.held_but_used == 3 && o.c.runs.held_up == 0);
    rp_joined_fini(&o);
}

static void the_time_in_which_nothing_runs_is_counted(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    unsigned a = rp_scene_range(&s, "a", 0), b = rp_scene_range(&s, "b", 0);
    rp_scene_line(&s, "ext 50 %u\next 51 %u", a, b);
    s.lines++;
    rp_scene_line(&s, "work kernel 50 0 1000 1100 0 7 0");
    rp_scene_line(&s, "work copy 50 0 1010 1020 0 8 64");  /* beside it */
    rp_scene_line(&s, "work kernel 50 0 1130 1150 0 7 0"); /* 30 later */
    rp_scene_line(&s, "work kernel 51 0 1152 1160 0 7 0"); /* 2 later */
    s.clock = 1200;
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.step_ns == 160 && o.c.idle_ns == 32);
    CU_ASSERT(o.c.ops[0].n_pieces == 3 && o.c.ops[1].n_pieces == 1);
    rp_joined_fini(&o);
}

static void a_measurement_without_work_is_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_begin_step(&s);
    rp_scene_range(&s, "a", 0);
    rp_scene_range(&s, "b", 0);
    rp_scene_end_step(&s);
    rp_scene_refused(&s, RP_ENV, "CUPTI recorded no work of the device in the ops' ranges");
}

static void runs_with_less_work_than_usual_are_not_used(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    for (unsigned i = 0; i < 5; i++) {
        rp_scene_begin_step(&s);
        unsigned a = rp_scene_range(&s, "a", 0);
        rp_scene_kernel(&s, a, 5, 100);
        if (i != 3)
            rp_scene_kernel(&s, a, 5, 50);
        rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
        rp_scene_end_step(&s);
    }
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.runs.lost == 1);
    CU_ASSERT(o.c.ops[0].n_samples == 3 && o.c.ops[0].min_ns == 150);
    rp_joined_fini(&o);
}

static void graph_launches_are_split_by_node(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5,
                    9); /* captured in these ranges; this launch was before any step */
    unsigned a = s.id, b = rp_scene_range(&s, "b", 0);
    rp_scene_line(&s, "node 100 %u", a);
    rp_scene_line(&s, "node 200 %u", b);
    rp_scene_line(&s, "clone 101 100");
    rp_scene_line(&s, "clone 201 200");
    for (unsigned i = 1; i <= 3; i++) {
        rp_scene_begin_step(&s);
        unsigned long long at = s.clock;
        rp_scene_line(&s, "ext %u 999%u", 70 + i, i);
        rp_scene_line(&s, "work kernel %u 201 %llu %llu 0 7 0", 70 + i, at + 50,
                      at + 50 + 10 * i);
        rp_scene_line(&s, "work kernel %u 101 %llu %llu 0 7 0", 70 + i, at + 10,
                      at + 10 + i);
        rp_scene_line(&s, "work kernel %u 300 %llu %llu 0 7 0", 70 + i, at + 90, at + 95);
        s.clock += 100;
        rp_scene_end_step(&s);
    }
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].n_samples == 2 && o.c.ops[1].n_samples == 2);
    CU_ASSERT(o.c.ops[0].max_ns == 3 && o.c.ops[1].max_ns == 30 && o.c.runs.lost == 0);
    CU_ASSERT_EQUAL(o.c.outside_ns, 10); /* node 300, twice */
    rp_joined_fini(&o);
}

static void graph_launches_without_steps_count_one_by_one(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    unsigned a = rp_scene_range(&s, "a", 0), b = rp_scene_range(&s, "b", 0),
             all = rp_scene_range(&s, "all", 0);
    rp_scene_line(&s, "node 100 %u", a);
    rp_scene_line(&s, "node 200 %u", b);
    for (unsigned i = 0; i < 3; i++) {
        rp_scene_line(&s, "ext %u %u", 70 + i, all);
        rp_scene_line(&s, "work kernel %u 100 %u %u 0 7 0", 70 + i, 100 * i + 10,
                      100 * i + 20);
        rp_scene_line(&s, "work kernel %u 200 %u %u 0 7 0", 70 + i, 100 * i + 30,
                      100 * i + 31);
    }
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].n_samples == 3 && o.c.ops[0].median_ns == 10);
    CU_ASSERT(o.c.ops[1].n_samples == 3 && o.c.ops[1].median_ns == 1);
    CU_ASSERT_EQUAL(o.c.runs.lost, 0); /* capturing is no run */
    rp_joined_fini(&o);
}

static void an_op_that_a_step_launches_twice_is_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 9);
    unsigned a = rp_scene_range(&s, "a", 0);
    rp_scene_line(&s, "node 100 %u", a);
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 9);
    rp_scene_line(&s, "ext 70 9991\next 71 9991");
    s.lines++;
    rp_scene_line(&s, "work kernel 70 100 1010 1011 0 7 0");
    rp_scene_line(&s, "work kernel 71 100 1020 1021 0 7 0");
    rp_scene_end_step(&s);
    rp_scene_refused(
        &s, RP_INPUT,
        "process 7: op 'a' has two CUDA graph launches in step 1, so its runs cannot "
        "be told "
        "apart");
}

static void an_op_with_two_ranges_in_a_step_is_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_end_step(&s);
    rp_scene_refused(
        &s, RP_INPUT,
        "process 7: op 'a' has two ranges in step 2, so its runs cannot be told apart");
}

static void ops_without_a_range_are_named(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "bb", 0), 5, 10);
    rp_scene_end_step(&s);
    rp_scene_refused(&s, RP_INPUT, "g: 1 of 2 ops have no range: b");
}

static void steps_that_overlap_are_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_line(&s, "step 1 90 1 100 200");
    rp_scene_line(&s, "step 2 91 5 150 300");
    rp_scene_refused(
        &s, RP_INPUT,
        "process 7: step 2 (thread 5) begins before step 1 (thread 1) ends, but steps "
        "must not overlap");
}

static void ops_on_two_devices_are_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_line(&s, "ext 70 %u", rp_scene_range(&s, "b", 0));
    rp_scene_line(&s, "work kernel 70 0 9010 9020 1 7 0");
    rp_scene_refused(
        &s, RP_ENV,
        "process 7 ran ops on devices 0 and 1; let it use one (CUDA_VISIBLE_DEVICES)");
}

static void two_kinds_of_device_are_refused(void) {
    struct rp_scene s[2] = {rp_scene_begin(), rp_scene_begin()};
    struct rp_joined o;
    rp_scene_step(&s[0], 1, 1);
    s[1].len = 0;
    s[1].lines = 0;
    rp_scene_line(&s[1], "remat-trace 1 8");
    rp_scene_line(&s[1], "cupti 1");
    rp_scene_line(&s[1], "device 0 5 Other GPU");
    rp_scene_step(&s[1], 1, 1);
    rp_scene_join(&o, s, 2, true);
    CU_ASSERT_EQUAL(o.rc, RP_ENV);
    CU_ASSERT_STRING_EQUAL(o.err.msg,
                           "ops ran on two kinds of device: Toy GPU and Other GPU");
    rp_joined_fini(&o);
}

static void processes_are_pooled(void) {
    struct rp_scene s[2] = {rp_scene_begin(), rp_scene_begin()};
    struct rp_joined o;
    rp_scene_step(&s[0], 100, 1);
    rp_scene_step(&s[1], 200, 1); /* the same step, range and correlation numbers */
    rp_scene_join(&o, s, 2, true);
    CU_ASSERT(o.rc == RP_OK && o.c.n_processes == 2 && o.c.n_steps == 2);
    CU_ASSERT(o.c.ops[0].n_samples == 2 && o.c.ops[0].median_ns == 150);
    rp_joined_fini(&o);
}

static void a_process_without_ranges_is_ignored(void) {
    struct rp_scene s[2] = {rp_scene_begin(), rp_scene_begin()};
    struct rp_joined o;
    rp_scene_line(&s[0], "error something else");
    rp_scene_step(&s[1], 200, 1);
    rp_scene_join(&o, s, 2, true);
    CU_ASSERT(o.rc == RP_OK && o.c.n_processes == 1);
    rp_joined_fini(&o);
}

static void incomplete_measurements_are_refused(void) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_line(&s, "dropped 5");
    rp_scene_refused(
        &s, RP_ENV,
        "process 7: CUPTI dropped 5 records, so measurements may be incomplete; run "
        "fewer steps");
    s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_line(&s, "torn 1");
    rp_scene_refused(&s, RP_ENV,
                     "process 7: a CUPTI buffer ended in the middle of a record");
    s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_line(&s, "error no CUPTI here");
    rp_scene_refused(&s, RP_ENV, "process 7: no CUPTI here");

    struct rp_joined o;
    s = rp_scene_begin();
    rp_scene_step(&s, 1, 1);
    rp_scene_join(&o, &s, 1, false);
    CU_ASSERT_EQUAL(o.rc, RP_ENV);
    CU_ASSERT_STRING_EQUAL(
        o.err.msg, "process 7: its trace is incomplete: it was killed or called _exit");
    rp_joined_fini(&o);
}

static void ranges_without_cuda_are_refused(void) {
    struct rp_scene s = {0};
    rp_scene_line(&s, "remat-trace 1 7");
    rp_scene_range(&s, "a", 0);
    rp_scene_range(&s, "b", 0);
    rp_scene_refused(&s, RP_ENV,
                     "process 7: it marked ranges but did not start the CUDA driver");
}

static void an_empty_measurement_is_refused(void) {
    struct rp_joined o;
    struct rp_scene s = rp_scene_begin();
    rp_scene_refused(&s, RP_ENV,
                     "no process marked a range; put ops into NVTX ranges named 'rp:OP'");
    s = rp_scene_begin();
    rp_scene_line(&s, "error no CUPTI here");
    rp_scene_refused(&s, RP_ENV, "process 7: no CUPTI here");
    rp_scene_join(&o, &s, 0, true);
    CU_ASSERT_EQUAL(o.rc, RP_ENV);
    rp_joined_fini(&o);
}

static void ops_with_equal_names_are_refused(void) {
    struct rp_graph g;
    struct rp_joined_costs c;
    struct rp_err err = {{0}};
    char text[2048];
    int len = snprintf(text, sizeof text, rp_scene_net, "a");
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, (size_t)len, "g", &g, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_join_traces(&g, "g", NULL, 0, &c, &err), RP_INPUT);
    CU_ASSERT_STRING_EQUAL(err.msg, "g: ops[0] and ops[1] are both named 'a', but "
                                    "measurements are joined by name");
    rp_graph_fini(&g);
}

static void costs_are_written_into_the_graph(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 100);
    rp_scene_line(&s, "range %u 0 1 1 1 77 b", ++s.id);
    rp_scene_kernel(&s, s.id, 5, 200);
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_annotate_costs(&o.g, &o.c, "g", &o.err), RP_OK);
    const struct rp_op *a = &o.g.ops[0], *b = &o.g.ops[1];
    CU_ASSERT(a->time_ns == 100 && b->time_ns == 200 && o.g.total_time_ns == 300);
    CU_ASSERT(a->workspace_bytes == 3 && b->workspace_bytes == 77);
    CU_ASSERT_STRING_EQUAL(o.g.time_source, "cupti:Toy GPU");
    CU_ASSERT_STRING_EQUAL(o.g.device.name, "Toy GPU");
    CU_ASSERT(o.g.has_device && o.g.device.memory_bytes == 1024);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(a->attrs, "flops")), 5);
    const json_t *profile = json_object_get(b->attrs, "profile");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "max_ns")), 200);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "samples")), 1);
    profile = json_object_get(o.g.attrs, "profile");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "step_ns")), 305);
    rp_joined_fini(&o);
}

/* a has 100 ns in two kernels, b 200 ns in one. */
static void gaps_are_added_for_each_piece_of_work(void) {
    static const struct {
        uint64_t graph_ns, eager_ns;
        enum rp_gaps which;
        uint64_t a_ns, b_ns, gap_ns;
    } cases[] = {
        {330, 900, RP_GAPS_GRAPH, 120, 210, 10},  {332, 900, RP_GAPS_GRAPH, 120, 210, 10},
        {330, 900, RP_GAPS_EAGER, 500, 400, 200}, {330, 900, RP_GAPS_NONE, 100, 200, 0},
        {299, 900, RP_GAPS_GRAPH, 100, 200, 0}, /* tracing makes kernels longer */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rp_scene s = rp_scene_begin();
        struct rp_joined o;
        rp_scene_begin_step(&s);
        unsigned a = rp_scene_range(&s, "a", 0);
        rp_scene_kernel(&s, a, 5, 60);
        rp_scene_kernel(&s, a, 5, 40);
        rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 200);
        rp_scene_end_step(&s);
        rp_scene_join(&o, &s, 1, true);
        CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
        CU_ASSERT_EQUAL_FATAL(rp_annotate_costs(&o.g, &o.c, "g", &o.err), RP_OK);
        const struct rp_untraced_step step = {cases[i].eager_ns, cases[i].graph_ns};
        CU_ASSERT_EQUAL_FATAL(
            rp_annotate_gaps(&o.g, &o.c, &step, cases[i].which, "g", &o.err), RP_OK);
        CU_ASSERT(o.g.ops[0].time_ns == cases[i].a_ns &&
                  o.g.ops[1].time_ns == cases[i].b_ns);
        CU_ASSERT_EQUAL(o.g.total_time_ns, cases[i].a_ns + cases[i].b_ns);
        const json_t *profile = json_object_get(o.g.attrs, "profile");
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "gap_ns")),
                        (json_int_t)cases[i].gap_ns);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "launches")), 3);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "eager_ns")), 900);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(profile, "graph_ns")),
                        (json_int_t)cases[i].graph_ns);
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(profile, "gaps")),
                               rp_gaps_word[cases[i].which]);
        rp_joined_fini(&o);
    }
}

static void quartiles_are_those_of_the_values(void) {
    uint64_t one[] = {7}, four[] = {4, 1, 3, 2}, nine[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    struct rp_quartiles s = rp_quartiles_of(one, 1);
    CU_ASSERT(s.min == 7 && s.q1 == 7 && s.median == 7 && s.q3 == 7 && s.max == 7);
    s = rp_quartiles_of(four, 4);
    CU_ASSERT(s.min == 1 && s.q1 == 2 && s.median == 2 && s.q3 == 3 && s.max == 4);
    s = rp_quartiles_of(nine, 9);
    CU_ASSERT(s.min == 1 && s.q1 == 3 && s.median == 5 && s.q3 == 7 && s.max == 9);
}

void suite_join(void) {
    RP_SUITE("join");
    RP_TEST(the_median_over_steps_is_the_cost);
    RP_TEST(a_single_step_is_used);
    RP_TEST(without_steps_every_range_counts);
    RP_TEST(overlapping_work_counts_once_and_pauses_do_not_count);
    RP_TEST(time_with_two_ops_at_once_is_reported);
    RP_TEST(the_innermost_op_owns_the_work);
    RP_TEST(work_outside_all_ops_is_reported_within_steps);
    RP_TEST(an_op_without_work_costs_nothing);
    RP_TEST(runs_without_time_stamps_are_not_used);
    RP_TEST(an_end_before_the_start_counts_as_no_time_stamp);
    RP_TEST(runs_delayed_by_tracing_are_not_used);
    RP_TEST(runs_of_an_op_that_is_always_delayed_are_used);
    RP_TEST(the_time_in_which_nothing_runs_is_counted);
    RP_TEST(a_measurement_without_work_is_refused);
    RP_TEST(runs_with_less_work_than_usual_are_not_used);
    RP_TEST(graph_launches_are_split_by_node);
    RP_TEST(graph_launches_without_steps_count_one_by_one);
    RP_TEST(an_op_that_a_step_launches_twice_is_refused);
    RP_TEST(an_op_with_two_ranges_in_a_step_is_refused);
    RP_TEST(ops_without_a_range_are_named);
    RP_TEST(steps_that_overlap_are_refused);
    RP_TEST(ops_on_two_devices_are_refused);
    RP_TEST(two_kinds_of_device_are_refused);
    RP_TEST(processes_are_pooled);
    RP_TEST(a_process_without_ranges_is_ignored);
    RP_TEST(incomplete_measurements_are_refused);
    RP_TEST(ranges_without_cuda_are_refused);
    RP_TEST(an_empty_measurement_is_refused);
    RP_TEST(ops_with_equal_names_are_refused);
    RP_TEST(costs_are_written_into_the_graph);
    RP_TEST(gaps_are_added_for_each_piece_of_work);
    RP_TEST(quartiles_are_those_of_the_values);
}
