#include "profile/join/memory.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

static struct rp_trace parsed(const char *lines) {
    struct rp_trace t;
    struct rp_err err = {{0}};
    char text[2048];
    int len = snprintf(text, sizeof text, "remat-trace 1 7\n%s", lines);
    CU_ASSERT_EQUAL_FATAL(rp_trace_parse(text, (size_t)len, "t", &t, &err), RP_OK);
    return t;
}

static struct rp_held_memory held_in(const char *lines, bool first, bool second) {
    struct rp_trace t = parsed(lines);
    struct rp_held_memory held = {0};
    const bool used[] = {first, second};
    rp_held_memory_add(&t, used, &held);
    rp_trace_fini(&t);
    return held;
}

/* In the first step 1000 bytes are there already and 300 come and go; 20 stay. */
static const char two_steps[] = "memory alloc device 1 64 1000 10\n"
                                "step 1 1 1 100 200\n"
                                "memory alloc device 1 8000 300 120\n"
                                "memory free device 1 8000 0 130\n"
                                "memory alloc device 1 8000 20 140\n"
                                "memory alloc pinned 1 8000 77 150\n"
                                "memory free pinned 1 8000 0 250\n"
                                "memory alloc device 1 9000 5000 260\n"
                                "memory free device 1 9000 0 270\n"
                                "step 2 2 1 300 400\n"
                                "memory alloc pinned 1 8000 7 310\n"
                                "memory free device 1 64 0 350\n";

static void a_step_holds_what_is_allocated_before_or_in_it(void) {
    struct rp_held_memory one = held_in(two_steps, true, false);
    CU_ASSERT(one.known && one.begin_bytes == 1000 && one.peak_bytes == 1300);
    CU_ASSERT_EQUAL(one.pinned_bytes, 77);
    struct rp_held_memory two = held_in(two_steps, false, true);
    CU_ASSERT(two.begin_bytes == 1020 && two.peak_bytes == 1020 && two.pinned_bytes == 7);
    struct rp_held_memory both = held_in(two_steps, true, true);
    CU_ASSERT(both.begin_bytes == 1020 && both.peak_bytes == 1300);
}

static void without_steps_the_whole_life_counts(void) {
    struct rp_held_memory held = held_in("memory alloc device 1 64 1000 10\n"
                                         "memory alloc device 1 128 500 20\n"
                                         "memory free device 1 64 0 30\n"
                                         "memory alloc device 1 64 200 30\n",
                                         false, false);
    CU_ASSERT(held.known && held.begin_bytes == 0 && held.peak_bytes == 1500);
}

static void strange_records_do_no_harm(void) {
    /* A release of what was never allocated, two allocations at one address, and sums that
     * pass 2^63. */
    struct rp_held_memory held = held_in("memory free device 1 5 0 10\n"
                                         "memory alloc device 1 64 9223372036854775807 20\n"
                                         "memory alloc device 1 64 9223372036854775807 30\n"
                                         "memory free device 1 64 0 40\n"
                                         "memory free device 1 64 0 50\n",
                                         false, false);
    CU_ASSERT_EQUAL(held.peak_bytes, RP_MAX_QUANTITY);
    CU_ASSERT_FALSE(held_in("cupti 5\n", false, false).known);
}

static void what_a_run_allocates_and_releases_is_temporary(void) {
    struct rp_trace t = parsed("range 1 0 1 0 0 0 a\nrange 2 1 1 0 0 0 part\n"
                               "range 3 0 1 0 0 0 b\next 1 1\next 2 2\next 3 3\n"
                               "memory alloc device 1 100 1000 10\n" /* a's output */
                               "memory alloc device 1 200 30 20\n"
                               "memory alloc device 2 300 4 30\n" /* in a part of a */
                               "memory free device 1 300 0 40\n"
                               "memory free device 2 200 0 50\n"
                               "memory alloc device 1 200 33 60\n"
                               "memory free device 1 200 0 70\n"
                               "memory alloc pinned 1 900 800 80\n"
                               "memory free pinned 1 900 0 90\n"
                               "memory alloc device 3 400 7 100\n"
                               "memory free device 3 100 0 110\n" /* frees a's output */
                               "memory free device 9 400 0 120\n");
    const size_t run[] = {0, 0, 2};
    uint64_t bytes[3];
    rp_temporary_memory(&t, run, bytes);
    CU_ASSERT(bytes[0] == 34 && bytes[1] == 0 && bytes[2] == 0);
    const size_t none[] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    rp_temporary_memory(&t, none, bytes);
    CU_ASSERT(bytes[0] == 0 && bytes[2] == 0);
    rp_trace_fini(&t);
}

void suite_memory(void) {
    RP_SUITE("memory");
    RP_TEST(a_step_holds_what_is_allocated_before_or_in_it);
    RP_TEST(without_steps_the_whole_life_counts);
    RP_TEST(strange_records_do_no_harm);
    RP_TEST(what_a_run_allocates_and_releases_is_temporary);
}
