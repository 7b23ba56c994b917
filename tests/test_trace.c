#include <stdlib.h>
#include <string.h>

#include "profile/trace.h"
#include "run.h"

static rp_rc parse(const char *text, struct rp_trace *t, struct rp_err *err) {
    *err = (struct rp_err){{0}};
    return rp_trace_parse(text, strlen(text), "t", t, err);
}

static void a_trace_is_read_and_written_back_sorted(void) {
    static const char text[] = "remat-trace 1 42\n"
                               "cupti 130001\n"
                               "work kernel 6 9 300 400 0 7 0\n"
                               "work h2d 5 0 100 200 0 7 4096\n"
                               "range 3 1 31 1 0 0 conv 2\n"
                               "range 1 0 31 1 1 512 conv\n"
                               "step 1 2 31 50 500\n"
                               "ext 6 3\n"
                               "ext 5 1\n"
                               "call 6 31 60 70\n"
                               "over 65536 0 10 20\n"
                               "node 9 3\n"
                               "clone 10 9\n"
                               "memory free device 5 4096 0 90\n"
                               "memory alloc pinned 5 64 10 80\n"
                               "memory alloc device 5 4096 512 90\n"
                               "device 0 1024 Toy GPU\n"
                               "dropped 2\n"
                               "dropped 3\n"
                               "torn 1\n"
                               "error first\n"
                               "error second\n"
                               "end 22\n";
    static const char sorted[] = "remat-trace 1 42\n"
                                 "cupti 130001\n"
                                 "device 0 1024 Toy GPU\n"
                                 "range 1 0 31 1 1 512 conv\n"
                                 "range 3 1 31 1 0 0 conv 2\n"
                                 "step 1 2 31 50 500\n"
                                 "ext 5 1\n"
                                 "ext 6 3\n"
                                 "node 9 3\n"
                                 "clone 10 9\n"
                                 "call 6 31 60 70\n"
                                 "work h2d 5 0 100 200 0 7 4096\n"
                                 "work kernel 6 9 300 400 0 7 0\n"
                                 "over 65536 0 10 20\n"
                                 "memory alloc pinned 5 64 10 80\n"
                                 "memory free device 5 4096 0 90\n"
                                 "memory alloc device 5 4096 512 90\n"
                                 "dropped 5\n"
                                 "torn 1\n"
                                 "error first\n"
                                 "end 20\n";
    struct rp_trace t;
    struct rp_err err;
    char *dump;
    size_t len;
    CU_ASSERT_EQUAL_FATAL(parse(text, &t, &err), RP_OK);
    CU_ASSERT(t.complete && t.pid == 42);
    rp_trace_dump(&t, &dump, &len);
    CU_ASSERT_STRING_EQUAL(dump, sorted);
    free(dump);
    rp_trace_fini(&t);
}

static void wrong_lines_are_refused(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t: empty"},
        {"hello", "t: line 1: not a trace"},
        {"remat-trace", "t: line 1: not version 1"},
        {"remat-trace 2 1\n", "t: line 1: not version 1"},
        {"remat-trace 1\n", "t: line 1: no process id"},
        {"remat-trace 1 2 3\n", "t: line 1: no process id"},
        {"remat-trace 1 7\nfoo 1\n", "t: line 2: unknown kind of line"},
        {"remat-trace 1 7\n\n", "t: line 2: empty"},
        {"remat-trace 1 7\nend 1\ncupti 3\n",
         "t: line 3: this line comes after the end line"},
    };
    static const char *const odd[] = {
        "cupti",
        "cupti x",
        "cupti 1 2",
        "cupti 99999999999999999999",
        "end 2",
        "range 0 0 1 0 0 0 a",
        "range 2 2 1 0 0 0 a",
        "range 2 0 1 0 2 0 a",
        "range 2 0 1 0 1 9223372036854775808 a",
        "range 2 0 1 0 0 0 ",
        "range 2 0 1 0 0 0",
        "step 0 1 1 1 1",
        "step 1 1 1 1",
        "ext 1",
        "call 1 1 1",
        "work dance 1 0 1 2 0 0 0",
        "work kernel 1 0 1 2 0 0",
        "work kernel 1 0 9223372036854775808 2 0 0 0",
        "work kernel 1 0 2 9223372036854775808 0 0 0",
        "work",
        "work ",
        "work  1 0 1 2 0 0 0",
        "cupti  1",
        "over 1 0 1",
        "memory make device 1 2 3 4",
        "memory alloc host 1 2 3 4",
        "memory alloc device 1 2 3",
        "memory alloc device 1 2 9223372036854775808 4",
        "device 0 1 ",
        "device 0 9223372036854775808 a",
        "dropped",
    };
    struct rp_trace t;
    struct rp_err err;
    char text[128];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(parse(cases[i].text, &t, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, cases[i].message);
        CU_ASSERT_PTR_NULL(t.file); /* it is empty */
    }
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        snprintf(text, sizeof text, "remat-trace 1 7\n%s\n", odd[i]);
        CU_ASSERT_EQUAL(parse(text, &t, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, "t: line 2: malformed line");
    }
}

static void contradictions_are_refused(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"range 1 0 1 0 0 0 a\nrange 1 0 1 0 0 0 b\n", "t: duplicate range 1"},
        {"step 4 1 1 1 1\nstep 4 2 1 1 1\n", "t: duplicate step 4"},
        {"range 5 4 1 0 0 0 a\n", "t: range 5 is inside 4, which does not exist"},
        {"ext 7 1\next 7 2\n", "t: correlation id 7 belongs to both 1 and 2"},
        {"node 7 1\nnode 7 2\n", "t: graph node 7 belongs to both 1 and 2"},
        {"clone 7 1\nclone 7 2\n", "t: copied graph node 7 belongs to both 1 and 2"},
    };
    struct rp_trace t;
    struct rp_err err;
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "remat-trace 1 7\n%s", cases[i].text);
        CU_ASSERT_EQUAL(parse(text, &t, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, cases[i].message);
    }
    /* An id can be used once by the runtime and once by the driver. */
    CU_ASSERT_EQUAL(parse("remat-trace 1 7\next 7 1\next 7 1\n", &t, &err), RP_OK);
    rp_trace_fini(&t);
    CU_ASSERT_EQUAL(parse("remat-trace 1 7\ndevice 0 9223372036854775807 a\n", &t, &err),
                    RP_OK);
    CU_ASSERT(t.devices.n == 1 && t.devices.at[0].memory_bytes == INT64_MAX);
    CU_ASSERT_PTR_NULL(rp_trace_device_of(&t, 1));
    rp_trace_fini(&t);
}

static void an_unfinished_last_line_is_ignored(void) {
    struct rp_trace t;
    struct rp_err err;
    CU_ASSERT_EQUAL_FATAL(parse("remat-trace 1 7\ncupti 5\ncup", &t, &err), RP_OK);
    CU_ASSERT(t.cupti_version == 5 && !t.complete);
    rp_trace_fini(&t);
    CU_ASSERT_EQUAL_FATAL(parse("remat-trace 1 7\nend 1", &t, &err), RP_OK);
    CU_ASSERT_FALSE(t.complete);
    rp_trace_fini(&t);
}

static void names_are_made_safe_to_print(void) {
    static const char text[] = "remat-trace 1 7\nrange 1 0 1 0 0 0 a\033[2J\0b\n";
    struct rp_trace t;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_trace_parse(text, sizeof text - 1, "t", &t, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(t.ranges.at[0].name, "a\\x1b[2J?b");
    rp_trace_fini(&t);
}

static void work_is_assigned_to_its_range(void) {
    struct rp_trace t;
    struct rp_err err;
    uint64_t made;
    CU_ASSERT_EQUAL_FATAL(parse("remat-trace 1 7\nrange 1 0 1 0 0 0 a\n"
                                "range 2 0 1 0 0 0 b\next 5 2\nnode 9 1\n"
                                "clone 10 9\nclone 11 10\nclone 12 12\n",
                                &t, &err),
                          RP_OK);
    struct rp_trace_work w = {.correlation = 5};
    CU_ASSERT(rp_trace_launcher(&t, &w, &made) == 2 && made == 2);
    for (w.node = 9; w.node <= 11; w.node++)
        CU_ASSERT(rp_trace_launcher(&t, &w, &made) == 2 && made == 1);
    CU_ASSERT(rp_trace_launcher(&t, &w, &made) == 2 &&
              made == 2); /* node 12: its clones form a ring */
    w = (struct rp_trace_work){.correlation = 6};
    CU_ASSERT(rp_trace_launcher(&t, &w, &made) == 0 && made == 0);
    rp_trace_fini(&t);
}

void suite_trace(void) {
    RP_SUITE("trace");
    RP_TEST(a_trace_is_read_and_written_back_sorted);
    RP_TEST(wrong_lines_are_refused);
    RP_TEST(contradictions_are_refused);
    RP_TEST(an_unfinished_last_line_is_ignored);
    RP_TEST(names_are_made_safe_to_print);
    RP_TEST(work_is_assigned_to_its_range);
}
