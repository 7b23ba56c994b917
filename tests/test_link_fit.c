#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/annotate.h"
#include "run.h"

static void the_fit_recovers_latency_and_rate(void) {
    struct rp_copy_sample s[40];
    struct rp_copy_fit fit;
    size_t n = 0;
    for (uint64_t bytes = 64 << 10; bytes <= 256 << 20; bytes *= 2)
        for (int k = 0; k < 3; k++) /* 7 us and 25 GB/s; an outlier does not matter */
            s[n++] =
                (struct rp_copy_sample){bytes, 7000 + bytes / 25 + (k == 2 ? 90000 : 0)};
    CU_ASSERT_FATAL(n <= 40 && rp_copy_fit_build(s, n, &fit));
    CU_ASSERT_EQUAL(fit.n, n);
    CU_ASSERT(fit.latency_ns >= 6999 && fit.latency_ns <= 7001);
    CU_ASSERT(fit.bytes_per_s > 24999000000 && fit.bytes_per_s < 25001000000);
}

static void small_copies_count_as_much_as_large_ones(void) {
    /* The samples follow 1000 ns + 1 ns per byte, but the largest is 10% late. The latency
     * must stay nearly right. */
    struct rp_copy_sample s[] = {
        {100, 1100}, {1000, 2000}, {10000, 11000}, {1000000, 1101100}};
    struct rp_copy_fit fit;
    CU_ASSERT_FATAL(rp_copy_fit_build(s, 4, &fit));
    CU_ASSERT(fit.latency_ns > 900 && fit.latency_ns < 1050);
    CU_ASSERT(fit.bytes_per_s > 900000000 && fit.bytes_per_s < 1000000000);
}

static void a_latency_is_never_negative(void) {
    struct rp_copy_sample s[] = {{1000, 900}, {2000, 2000}};
    struct rp_copy_fit fit;
    CU_ASSERT_FATAL(rp_copy_fit_build(s, 2, &fit));
    CU_ASSERT_EQUAL(fit.latency_ns, 0);
    CU_ASSERT(fit.bytes_per_s > 1000000000 && fit.bytes_per_s < 1111111112);
}

/* The medians are 10 + bytes / 10, whatever the order. */
static void each_size_counts_by_its_median(void) {
    struct rp_copy_sample s[] = {{1000, 900}, {100, 20}, {1000, 110},
                                 {100, 11},   {100, 95}, {1000, 105}};
    struct rp_copy_fit fit;
    CU_ASSERT_FATAL(rp_copy_fit_build(s, 6, &fit));
    CU_ASSERT(fit.n == 6 && fit.latency_ns == 10 && fit.bytes_per_s == 10000000000);
}

static void samples_that_give_no_rate_are_refused(void) {
    struct rp_copy_sample one[] = {{1000, 900}, {1000, 950}};
    struct rp_copy_sample falling[] = {{1000, 900}, {2000, 800}};
    struct rp_copy_sample nothing[] = {{1000, 0}, {2000, 800}};
    struct rp_copy_sample slow[] = {{1, 4000000000}, {2, 8000000000}}; /* 0.25 bytes/s */
    struct rp_copy_fit fit = {.n = 9};
    CU_ASSERT_FALSE(rp_copy_fit_build(one, 2, &fit));
    CU_ASSERT_EQUAL(fit.n, 0);
    CU_ASSERT_FALSE(rp_copy_fit_build(slow, 2, &fit));
    CU_ASSERT_FALSE(rp_copy_fit_build(falling, 2, &fit));
    CU_ASSERT_FALSE(rp_copy_fit_build(nothing, 2, &fit));
    CU_ASSERT_FALSE(rp_copy_fit_build(nothing, 0, &fit));
    CU_ASSERT_EQUAL(fit.n, 0);
}

static const char all_sections[] =
    "range 1 0 1 0 0 0 @h2d\nrange 2 0 1 0 0 0 @d2h\nrange 3 0 1 0 0 0 @both\n"
    "range 4 0 1 0 0 0 @compute\nrange 5 0 1 0 0 0 @compute+h2d\n"
    "range 6 0 1 0 0 0 @compute+d2h\nrange 7 0 1 0 0 0 op\n";

static rp_rc measure(const char *ranges, const char *lines, struct rp_link_fit *c,
                     struct rp_err *err) {
    struct rp_trace t;
    char text[2048];
    *err = (struct rp_err){{0}};
    int len = snprintf(text, sizeof text,
                       "remat-trace 1 7\n%sext 1 1\next 2 2\next 3 3\next 4 4\next 5 5\n"
                       "ext 6 6\next 7 7\n%s",
                       ranges, lines);
    CU_ASSERT_EQUAL_FATAL(rp_trace_parse(text, (size_t)len, "t", &t, err), RP_OK);
    rp_rc rc = rp_link_fit_build(&t, 1, c, err);
    rp_trace_fini(&t);
    return rc;
}

static void each_section_sets_its_own_figures(void) {
    static const char lines[] =
        "work h2d 1 0 1000 1110 0 7 100\n"
        "work h2d 1 0 2000 2210 0 7 200\n"
        "work d2h 1 0 2000 2210 0 7 200\n" /* in the other direction */
        "work kernel 1 0 2000 2210 0 7 0\n"
        "work d2h 2 0 1000 1220 0 7 100\n"
        "work d2h 2 0 2000 2420 0 7 200\n"
        "work d2h 2 0 0 0 0 7 200\n" /* no time stamps */
        "work h2d 3 0 1000 1130 0 7 100\n"
        "work h2d 3 0 2000 2250 0 7 200\n"
        "work d2h 3 0 1000 1330 0 7 100\n"
        "work d2h 3 0 2000 2650 0 7 200\n"
        "work kernel 4 0 1000 1100 0 7 0\n"
        "work kernel 5 0 1000 1125 0 7 0\n"
        "work h2d 5 0 1000 1150 0 7 100\n"
        "work h2d 5 0 2000 2300 0 7 200\n"
        "work kernel 6 0 1000 1150 0 7 0\n"
        "work h2d 7 0 1000 9000 0 7 100\n"; /* range of an op */
    struct rp_link_fit c;
    struct rp_err err;
    CU_ASSERT_EQUAL_FATAL(measure(all_sections, lines, &c, &err), RP_OK);
    const struct rp_copy_fit *in = &c.copies[RP_LINK_ALONE][RP_LINK_H2D];
    const struct rp_copy_fit *back = &c.copies[RP_LINK_ALONE][RP_LINK_D2H];
    CU_ASSERT(in->n == 2 && in->latency_ns == 10 && in->bytes_per_s == 1000000000);
    CU_ASSERT(back->n == 2 && back->latency_ns == 20 && back->bytes_per_s == 500000000);
    CU_ASSERT_EQUAL(c.copies[RP_LINK_BOTH_WAYS][RP_LINK_H2D].latency_ns, 10);
    CU_ASSERT_EQUAL(c.copies[RP_LINK_BOTH_WAYS][RP_LINK_H2D].bytes_per_s, 833333333);
    CU_ASSERT_EQUAL(c.copies[RP_LINK_BOTH_WAYS][RP_LINK_D2H].bytes_per_s, 312500000);
    CU_ASSERT_EQUAL(c.copies[RP_LINK_BESIDE_KERNELS][RP_LINK_H2D].bytes_per_s, 666666667);
    CU_ASSERT_EQUAL(c.copies[RP_LINK_BESIDE_KERNELS][RP_LINK_D2H].n, 0);
    CU_ASSERT(c.kernel_permille[RP_LINK_H2D] == 1250 &&
              c.kernel_permille[RP_LINK_D2H] == 1500);

    struct rp_graph g = {.attrs = json_object()};
    json_object_set_new(g.attrs, "profile", json_object());
    rp_annotate_link(&g, &c);
    CU_ASSERT(g.device.h2d_bytes_per_s == 1000000000 &&
              g.device.d2h_bytes_per_s == 500000000);
    CU_ASSERT_EQUAL(g.device.copy_latency_ns, 20);
    char *text = json_dumps(g.attrs, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(
        text, "{\"profile\":{\"copies\":{\"alone\":{"
              "\"h2d\":{\"samples\":2,\"latency_ns\":10,\"bytes_per_s\":1000000000},"
              "\"d2h\":{\"samples\":2,\"latency_ns\":20,\"bytes_per_s\":500000000}},"
              "\"both_ways\":{\"h2d\":{\"samples\":2,\"latency_ns\":10,\"bytes_per_s\":"
              "833333333},"
              "\"d2h\":{\"samples\":2,\"latency_ns\":10,\"bytes_per_s\":312500000}},"
              "\"beside_kernels\":{"
              "\"h2d\":{\"samples\":2,\"latency_ns\":0,\"bytes_per_s\":666666667}},"
              "\"kernel_permille_h2d\":1250,\"kernel_permille_d2h\":1500}}}");
    free(text);
    json_decref(g.attrs);
}

static void without_sections_the_device_is_unchanged(void) {
    struct rp_link_fit c;
    struct rp_err err;
    struct rp_graph g = {.attrs = json_object()};
    g.device.h2d_bytes_per_s = 5;
    g.device.copy_latency_ns = 6;
    c.kernel_permille[0] = 7; /* whatever it held */
    CU_ASSERT_EQUAL_FATAL(measure("", "", &c, &err), RP_OK);
    json_object_set_new(g.attrs, "profile", json_object());
    rp_annotate_link(&g, &c);
    CU_ASSERT(g.device.h2d_bytes_per_s == 5 && g.device.copy_latency_ns == 6);
    CU_ASSERT_EQUAL(json_object_size(json_object_get(g.attrs, "profile")), 0);
    json_decref(g.attrs);
}

static void one_way_leaves_the_other_unchanged(void) {
    struct rp_link_fit c;
    struct rp_err err;
    struct rp_graph g = {.device = {.d2h_bytes_per_s = 5}};
    CU_ASSERT_EQUAL_FATAL(measure("range 1 0 1 0 0 0 @h2d\n",
                                  "work h2d 1 0 1000 1110 0 7 100\n"
                                  "work h2d 1 0 2000 2210 0 7 200\n",
                                  &c, &err),
                          RP_OK);
    rp_annotate_link(&g, &c);
    CU_ASSERT(g.device.h2d_bytes_per_s == 1000000000 && g.device.d2h_bytes_per_s == 5);
    CU_ASSERT_EQUAL(g.device.copy_latency_ns, 10);
}

/* It has time stamps, so it is a sample. */
static void a_copy_that_takes_no_time_is_refused(void) {
    struct rp_link_fit c;
    struct rp_err err;
    CU_ASSERT_EQUAL(measure("range 1 0 1 0 0 0 @h2d\n",
                            "work h2d 1 0 1000 1110 0 7 100\n"
                            "work h2d 1 0 2000 2210 0 7 200\n"
                            "work h2d 1 0 3000 3000 0 7 50\n",
                            &c, &err),
                    RP_ENV);
}

static void a_section_of_one_size_is_refused(void) {
    struct rp_link_fit c;
    struct rp_err err;
    CU_ASSERT_EQUAL(
        measure("range 2 0 1 0 0 0 @d2h\n", "work d2h 2 0 1000 1220 0 7 100\n", &c, &err),
        RP_ENV);
    CU_ASSERT_STRING_EQUAL(
        err.msg, "cannot fit latency and rate to 1 d2h copies (alone): this takes two "
                 "sizes, and larger copies must take longer");
}

static void a_section_without_its_work_is_refused(void) {
    static const char *const lines[] = {
        "", "work d2h 1 0 1000 1220 0 7 100\n", /* in the other direction */
        "work kernel 1 0 1000 1220 0 7 0\n", "work h2d 1 0 0 0 0 7 100\n"};
    struct rp_link_fit c;
    struct rp_err err;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CU_ASSERT_EQUAL(measure("range 1 0 1 0 0 0 @h2d\n", lines[i], &c, &err), RP_ENV);
        CU_ASSERT_STRING_EQUAL(
            err.msg,
            "process 7: CUPTI recorded none of the work that section 'rp:@h2d' is for");
    }
}

void suite_link_fit(void) {
    RP_SUITE("link_fit");
    RP_TEST(the_fit_recovers_latency_and_rate);
    RP_TEST(small_copies_count_as_much_as_large_ones);
    RP_TEST(a_latency_is_never_negative);
    RP_TEST(each_size_counts_by_its_median);
    RP_TEST(samples_that_give_no_rate_are_refused);
    RP_TEST(each_section_sets_its_own_figures);
    RP_TEST(without_sections_the_device_is_unchanged);
    RP_TEST(one_way_leaves_the_other_unchanged);
    RP_TEST(a_copy_that_takes_no_time_is_refused);
    RP_TEST(a_section_of_one_size_is_refused);
    RP_TEST(a_section_without_its_work_is_refused);
}
