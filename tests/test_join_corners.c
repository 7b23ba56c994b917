#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/annotate.h"
#include "profile/diff.h"
#include "profile/record.h"
#include "run.h"
#include "scene.h"

/* Joining where times are equal, where lines are missing, and where lists are long. */

static void two_ops_that_end_together_are_side_by_side_once(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    unsigned a = rp_scene_range(&s, "a", 0), b = rp_scene_range(&s, "b", 0);
    rp_scene_line(&s, "ext 50 %u", a);
    rp_scene_line(&s, "ext 51 %u", b);
    rp_scene_line(&s, "work kernel 50 0 1000 1100 0 7 0");
    rp_scene_line(&s, "work kernel 51 0 1050 1100 0 8 0");
    rp_scene_line(&s, "work kernel 50 0 1080 1120 0 9 0"); /* beside its own op's first */
    s.clock = 1200;
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.side_by_side_ns == 50);
    rp_joined_fini(&o);
}

/* A delay that ends as the call begins is none, also where one of another thread is longer.
 */
static void an_overhead_that_ends_as_the_call_begins_does_not_delay_it(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_line(&s, "over 65536 99 1 5000");
    rp_scene_line(&s, "over 65536 1 2 1004");
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10); /* its call begins at 1004 */
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL(o.rc, RP_OK);
    CU_ASSERT(o.c.runs.held_up == 0 && o.c.runs.held_but_used == 0);
    rp_joined_fini(&o);
}

/* Work outside all ranges belongs to the step that its call begins in, from the step's
 * first nanosecond on. Work of an id that no line names belongs to no step. */
static void work_of_no_range_belongs_to_the_step_of_its_call(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_begin_step(&s);
    rp_scene_line(&s, "call 50 1 1000 1010");
    rp_scene_line(&s, "work kernel 50 0 1002 1003 0 7 0");
    rp_scene_line(&s, "ext 51 77777");
    rp_scene_line(&s, "work kernel 51 0 1004 1006 0 7 0");
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 50, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.outside_ns == 1);
    rp_joined_fini(&o);
}

static void an_op_may_have_several_nodes_of_one_launch(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    unsigned a = rp_scene_range(&s, "a", 0), b = rp_scene_range(&s, "b", 0);
    rp_scene_line(&s, "node 100 %u", a);
    rp_scene_line(&s, "node 101 %u", a);
    rp_scene_line(&s, "node 200 %u", b);
    rp_scene_begin_step(&s);
    rp_scene_line(&s, "ext 70 9991");
    rp_scene_line(&s, "work kernel 70 100 1010 1020 0 7 0");
    rp_scene_line(&s, "work kernel 70 101 1030 1040 0 7 0");
    rp_scene_line(&s, "work kernel 70 200 1050 1060 0 7 0");
    s.clock += 100;
    rp_scene_end_step(&s);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT(o.c.ops[0].n_pieces == 2 && o.c.ops[0].median_ns == 20);
    rp_joined_fini(&o);
}

/* A process that uses only device `number`, of the same kind as others. */
static struct rp_scene on_device(unsigned number) {
    struct rp_scene s = rp_scene_begin();
    rp_scene_line(&s, "device %u 1024 Toy GPU", number);
    for (unsigned i = 0; i < 2; i++) {
        rp_scene_line(&s, "ext %u %u", 50 + i, rp_scene_range(&s, i == 0 ? "a" : "b", 0));
        rp_scene_line(&s, "work kernel %u 0 %u %u %u 7 0", 50 + i, 1000 + 100 * i,
                      1010 + 100 * i, number);
    }
    return s;
}

static void each_process_may_use_another_device_of_one_kind(void) {
    struct rp_scene s[2] = {on_device(1), on_device(2)};
    struct rp_joined o;
    rp_scene_join(&o, s, 2, true);
    CU_ASSERT(o.rc == RP_OK && o.c.n_processes == 2 && o.c.ops[0].n_samples == 2);
    CU_ASSERT_STRING_EQUAL(o.c.device, "Toy GPU");
    rp_joined_fini(&o);
}

static void unknown_names(unsigned n, const char *text) {
    static const char *const names[] = {"q", "p", "t", "p", "r", "q", "s"};
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    for (unsigned i = 0; i < n; i++)
        rp_scene_range(&s, names[i], 0);
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT_EQUAL_FATAL(o.rc, RP_OK);
    CU_ASSERT_STRING_EQUAL(o.c.unknown_ranges, text);
    rp_joined_fini(&o);
}

static void four_unknown_names_are_listed_in_order_and_others_counted(void) {
    unknown_names(1, "q");
    unknown_names(6, "p, q, r, t");
    unknown_names(7, "p, q, r, s and 1 more");
}

/* A release whose allocation has no record changes nothing. */
static void memory_from_before_the_trace_is_not_counted(void) {
    struct rp_scene s = rp_scene_begin();
    struct rp_joined o;
    rp_scene_line(&s, "memory alloc device 1 4096 1000 10");
    rp_scene_line(&s, "memory free device 1 8192 0 20");
    rp_scene_line(&s, "memory alloc device 1 12288 500 30");
    rp_scene_kernel(&s, rp_scene_range(&s, "a", 0), 5, 10);
    rp_scene_kernel(&s, rp_scene_range(&s, "b", 0), 5, 10);
    rp_scene_join(&o, &s, 1, true);
    CU_ASSERT(o.rc == RP_OK && o.c.memory.known && o.c.memory.peak_bytes == 1500);
    rp_joined_fini(&o);
}

static void without_launches_there_are_no_gaps(void) {
    const struct rp_joined_costs c = {.sum_ns = 10};
    CU_ASSERT_EQUAL(rp_gap_ns(&c, 20), 0);
}

/* CUDA 11.0 is the first with nodes. A record may be no longer than its kind. */
static void records_at_their_limits_are_read(void) {
    struct {
        uint64_t words[32];
    } kernel = {{RP_CUPTI_CONCURRENT_KERNEL}};
    struct rp_record r;
    kernel.words[144 / 8] = 9;
    CU_ASSERT(rp_record_read(&kernel, sizeof kernel, 13, &r) && r.node == 9);
    CU_ASSERT(rp_record_read(&kernel, sizeof kernel, 12, &r) && r.node == 0);
    const uint32_t other = 63;
    CU_ASSERT(rp_record_read(&other, sizeof other, 13, &r) && r.type == RP_RECORD_OTHER);
    CU_ASSERT_FALSE(rp_record_read(&other, sizeof other - 1, 13, &r));
}

/* ---- comparing profiles ---- */

/* rp_scene_net with these times. */
static struct rp_graph timed(const char *second, uint64_t a_ns, uint64_t b_ns) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char *text = rp_format(rp_scene_net, second);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "g", &g, &err), RP_OK);
    free(text);
    g.ops[0].time_ns = a_ns;
    g.ops[1].time_ns = b_ns;
    return g;
}

static void the_first_of_equal_differences_is_the_worst(void) {
    struct rp_graph a = timed("b", 10, 10), b = timed("b", 15, 5);
    struct rp_profile_diff d;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_profile_diff_build(&a, "a", &b, "b", &d, &err), RP_OK);
    CU_ASSERT(d.n_kinds == 1 && d.kinds[0].worst == 0 && d.all.worst == 0);
    CU_ASSERT(d.all.off_ns == 10 && d.all.worst_ns == 5 && d.all.a_ns == d.all.b_ns);
    rp_profile_diff_fini(&d);
    rp_graph_fini(&b);

    b = timed("other", 1, 1);
    CU_ASSERT_EQUAL(rp_profile_diff_build(&a, "a", &b, "b", &d, &err), RP_INPUT);
    CU_ASSERT_STRING_EQUAL(err.msg, "b: has no op 'b', which a has");
    CU_ASSERT_PTR_NULL(d.op_of_b); /* it is empty */
    rp_graph_fini(&a);
    rp_graph_fini(&b);
}

void suite_join_corners(void) {
    RP_SUITE("join_corners");
    RP_TEST(two_ops_that_end_together_are_side_by_side_once);
    RP_TEST(an_overhead_that_ends_as_the_call_begins_does_not_delay_it);
    RP_TEST(work_of_no_range_belongs_to_the_step_of_its_call);
    RP_TEST(an_op_may_have_several_nodes_of_one_launch);
    RP_TEST(each_process_may_use_another_device_of_one_kind);
    RP_TEST(four_unknown_names_are_listed_in_order_and_others_counted);
    RP_TEST(memory_from_before_the_trace_is_not_counted);
    RP_TEST(without_launches_there_are_no_gaps);
    RP_TEST(records_at_their_limits_are_read);
    RP_TEST(the_first_of_equal_differences_is_the_worst);
}
