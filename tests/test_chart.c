/* Tests of the charts: their axes, the text chart and the SVG files. */
#include "emit/chart.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "shown.h"

static void axes_have_round_steps(void) {
    struct rp_axis a = rp_axis_bytes((uint64_t)3 << 29, 8); /* 1.5 GiB */
    CU_ASSERT_EQUAL(a.step, (uint64_t)1 << 28);
    CU_ASSERT_STRING_EQUAL(a.unit_name, "GiB");
    CU_ASSERT_STRING_EQUAL(rp_axis_label(&a, (uint64_t)5 << 28).s, "1.25");
    a = rp_axis_bytes((uint64_t)3 << 30, 8);
    CU_ASSERT_STRING_EQUAL(rp_axis_label(&a, (uint64_t)3 << 29).s, "1.5");
    a = rp_axis_bytes((uint64_t)700 << 20, 8);
    CU_ASSERT_EQUAL(a.step, (uint64_t)100 << 20);
    CU_ASSERT_STRING_EQUAL(rp_axis_label(&a, (uint64_t)300 << 20).s, "300");
    a = rp_axis_bytes(2048, 8); /* 8 steps, and no more */
    CU_ASSERT_EQUAL(a.step, 256);
    a = rp_axis_bytes(RP_MAX_QUANTITY, 8);
    CU_ASSERT_EQUAL(a.step, (uint64_t)1000000 << 40);
    CU_ASSERT_STRING_EQUAL(a.unit_name, "TiB");
    a = rp_axis_ns(1234567, 5);
    CU_ASSERT_EQUAL(a.step, 250000);
    CU_ASSERT_STRING_EQUAL(a.unit_name, "ms");
    CU_ASSERT_STRING_EQUAL(rp_axis_label(&a, 1000000).s, "1.00");
    a = rp_axis_ns(7, 4);
    CU_ASSERT_EQUAL(a.step, 2);
    a = rp_axis_ns(0, 4);
    CU_ASSERT_EQUAL(a.step, 1);
    a = rp_axis_ns(RP_MAX_QUANTITY, 10);
    CU_ASSERT_EQUAL(a.step, 1000000000000000000);
    CU_ASSERT_STRING_EQUAL(a.unit_name, "s");
}

/* ---- text ---- */

static void chart_40(const struct rp_report *r, FILE *f) {
    rp_chart_text(r, 40, false, f);
}

static void chart_utf8(const struct rp_report *r, FILE *f) {
    rp_chart_text(r, 40, true, f);
}

static void the_text_chart_is_exact(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    rp_shown_expect(chart_40, &s,
                    "memory over the step (# this plan, ' keep-all)\n"
                    "     128 B +           ''''''    \n"
                    "           |           ''''''    \n"
                    "      96 B +--------------------- budget\n"
                    "           | ................    \n"
                    "           | ################    \n"
                    "           | ################++++\n"
                    "           | ####################\n"
                    "           |:####################\n"
                    "           |#####################\n"
                    "           |#####################\n"
                    "           |#####################\n"
                    "           |#####################\n"
                    "         0 +---------------------\n"
                    "            0               100 ns\n"
                    " recompute |                ##   \n");
    rp_shown_expect(chart_utf8, &s,
                    "memory over the step (█ this plan, ░ keep-all)\n"
                    "     128 B ┤           ░░░░░░    \n"
                    "           │           ░░░░░░    \n"
                    "      96 B ┤╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ budget\n"
                    "           │ ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂    \n"
                    "           │ ████████████████    \n"
                    "           │ ████████████████▆▆▆▆\n"
                    "           │ ████████████████████\n"
                    "           │▄████████████████████\n"
                    "           │█████████████████████\n"
                    "           │█████████████████████\n"
                    "           │█████████████████████\n"
                    "           │█████████████████████\n"
                    "         0 └─────────────────────\n"
                    "            0               100 ns\n"
                    " recompute │                ▇▇   \n");
    rp_shown_close(&s);
}

static void report_10(const struct rp_report *r, FILE *f) {
    rp_report_text(r, 10, f);
}

/* The line below the axis, which begins at the 12th column. */
static void expect_time_axis(struct rp_shown *s, uint64_t time_ns, const char *want) {
    s->r.plan.time_ns = time_ns;
    char *text = rp_shown_text(chart_40, s);
    char *line = rp_format("\n%12s%s\n", "", want);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
    free(line);
    free(text);
}

static void a_label_of_the_time_axis_is_whole_or_left_out(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    expect_time_axis(&s, 116, "0                 100 ns"); /* up to the last column */
    expect_time_axis(&s, 110, "0 ns");
    expect_time_axis(&s, 100, "0 ns");
    expect_time_axis(&s, RP_MAX_QUANTITY, "0 1000000000 s");
    rp_shown_close(&s);
}

/* The step before the first copy. */
static void a_queue_without_work_has_no_lane(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_swapped, RP_N_SWAPPED);
    s.r.plan.n_steps = 1;
    char *text = rp_shown_text(chart_40, &s);
    CU_ASSERT_PTR_NULL(strstr(text, "to host"));
    CU_ASSERT_PTR_NULL(strstr(text, "to device"));
    free(text);
    rp_shown_close(&s);
}

static void a_step_without_memory_has_an_empty_chart(void) {
    static const char none[] =
        "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"none\",\"time_source\":"
        "\"none\",\"tensors\":[],\"ops\":[],\"keep\":[]}";
    struct rp_shown s = {0};
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(none, strlen(none), "none", &s.g, &err), RP_OK);
    rp_report_build(&s.g, &s.p, &s.r);
    char *text = rp_shown_text(chart_40, &s);
    CU_ASSERT_PTR_NULL(strstr(strchr(text, '\n'), "#"));
    CU_ASSERT_PTR_NULL(strstr(strchr(text, '\n'), "'"));
    free(text);
    text = rp_shown_text(report_10, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nat peak   nothing\n"));
    free(text);
    rp_shown_close(&s);
}

/* ---- SVG ---- */

/* The end of the tag at `s`; NULL if there is no complete tag. *len becomes the length of
 * its name. */
static const char *tag_end(const char *s, size_t *len) {
    *len = strcspn(s, " />\n");
    return *len > 0 && *len < 16 ? strchr(s, '>') : NULL;
}

/* Is this well-formed? All tags are closed in the right order, nothing is outside the root,
 * and text has no control bytes and no unescaped '<' or '&'. That is enough for what
 * chart_svg.c writes. */
static bool well_formed(const char *s) {
    const char *open[16];
    int depth = 0, roots = 0;
    for (; *s != '\0'; s++) {
        size_t len;
        if ((unsigned char)*s < 0x20 && *s != '\n')
            return false;
        if (*s == '&' && strncmp(s, "&lt;", 4) != 0 && strncmp(s, "&gt;", 4) != 0 &&
            strncmp(s, "&amp;", 5) != 0)
            return false;
        if (*s != '<')
            continue;
        bool closing = s[1] == '/';
        const char *name = s + (closing ? 2 : 1), *end = tag_end(name, &len);
        if (end == NULL || (closing && (depth == 0 || name + len != end ||
                                        strncmp(open[depth - 1], name, len) != 0)))
            return false;
        if (depth == 0 && ++roots > 1)
            return false;
        if (closing)
            depth--;
        else if (end[-1] != '/') {
            if (depth == 16)
                return false;
            open[depth++] = name;
        }
        s = end;
    }
    return depth == 0 && roots == 1;
}

static void the_svg_check_detects_faults(void) {
    CU_ASSERT_TRUE(well_formed("<svg a=\"1\"><g><x/></g>a &amp; b</svg>\n"));
    CU_ASSERT_FALSE(well_formed(""));
    CU_ASSERT_FALSE(well_formed("<svg>"));
    CU_ASSERT_FALSE(well_formed("<svg><g></svg></g>"));
    CU_ASSERT_FALSE(well_formed("<svg/><svg/>"));
    CU_ASSERT_FALSE(well_formed("<svg>a & b</svg>"));
    CU_ASSERT_FALSE(well_formed("<svg>a < b</svg>"));
    CU_ASSERT_FALSE(well_formed("<svg>\001</svg>"));
}

static void every_chart_is_well_formed_svg(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(3000, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(1 + (uint32_t)(seed % 15));
        struct rp_shown s = {0};
        rp_gen_graph(seed, &shape, &s.g);
        rp_gen_plan(seed, &s.g, false, &s.p);
        rp_report_build(&s.g, &s.p, &s.r);
        char *text = rp_shown_text(rp_chart_svg, &s),
             *same = rp_shown_text(rp_chart_svg, &s);
        char *picture = rp_shown_text(chart_40, &s);
        if (!well_formed(text) || strcmp(text, same) != 0) {
            rp_gen_failed(seed);
            CU_FAIL("not well-formed, or not the same twice");
        }
        free(picture);
        free(same);
        free(text);
        rp_shown_close(&s);
    }
}

static void names_are_escaped_in_the_svg(void) {
    struct rp_shown s;
    rp_shown_open(&s, "</title><a&b>\\u0001\\uffff", rp_again, RP_N_AGAIN);
    char *text = rp_shown_text(rp_chart_svg, &s);
    CU_ASSERT_TRUE(well_formed(text));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "<title>&lt;/title&gt;&lt;a&amp;b&gt;\\x01\\uffff: 10 ns</title>"));
    free(text);
    rp_shown_close(&s);
}

static void the_svg_shows_copy_queues_only_for_plans_that_copy(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    char *text = rp_shown_text(rp_chart_svg, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">compute<"));
    CU_ASSERT_PTR_NULL(strstr(text, ">to host<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">recomputing (10 ns)<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">budget 96 B<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "class=\"budget\""));
    free(text);
    rp_shown_close(&s);
    rp_shown_open(&s, "a", rp_swapped, RP_N_SWAPPED);
    s.p.budget_bytes = 1000;
    text = rp_shown_text(rp_chart_svg, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">to host<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">to device<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<title>x: 90 ns</title>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">budget 1000 B (above the picture)<"));
    CU_ASSERT_PTR_NULL(strstr(text, "class=\"budget\""));
    CU_ASSERT_PTR_NULL(strstr(text, ">recomputing"));
    free(text);
    rp_shown_close(&s);
}

static void a_tick_may_be_at_the_end_of_an_axis(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    s.r.plan.time_ns = 100;
    s.r.keep_all.peak.bytes = 96; /* and 4 bytes of space above it */
    s.p.claims.lower_bound_ns = 0;
    char *text = rp_shown_text(rp_chart_svg, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<text class=\"tick e\" x=\"76\" y=\"134\">100<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<line class=\"grid\" x1=\"940\" y1=\"130\""));
    CU_ASSERT_PTR_NULL(strstr(text, "bound")); /* there is none */
    free(text);
    rp_shown_close(&s);
}

static void ops_that_take_no_time_are_in_no_lane(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    for (size_t k = 0; k < s.r.plan.n_steps; k++)
        s.r.plan.steps[k].end_ns = s.r.plan.steps[k].start_ns;
    char *text = rp_shown_text(rp_chart_svg, &s);
    const char *lane = strstr(text, ">compute<");
    CU_ASSERT_PTR_NOT_NULL_FATAL(lane);
    CU_ASSERT_PTR_NOT_NULL(strstr(lane, "class=\"idle\""));
    CU_ASSERT_PTR_NULL(strstr(lane, "class=\"fwd\""));
    free(text);
    rp_shown_close(&s);
}

/* ---- the curve of a sweep ---- */

static char *curve_text(const struct rp_curve *c) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_chart_curve(c, f);
    rp_text_close(f);
    return text;
}

static void a_curve_ends_with_its_axes(void) {
    static const struct rp_curve_point at[] = {{512, 3000, 2000}, {1024, 2000, 2000}};
    char *text = curve_text(&(struct rp_curve){"a < b", 2000, at, 2});
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">a &lt; b</text>"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "<text x=\"770\" y=\"418\" text-anchor=\"middle\">1."));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "<text x=\"72\" y=\"64\" text-anchor=\"end\">50.00%"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "class=\"plan\" points=\"425,60 770,60 770,400\""));
    free(text);
    text = curve_text(&(struct rp_curve){"no plan", 2000, NULL, 0});
    CU_ASSERT_PTR_NULL(strstr(text, "<polyline"));
    free(text);
}

void suite_chart(void) {
    RP_SUITE("chart");
    RP_TEST(axes_have_round_steps);
    RP_TEST(the_text_chart_is_exact);
    RP_TEST(a_label_of_the_time_axis_is_whole_or_left_out);
    RP_TEST(a_queue_without_work_has_no_lane);
    RP_TEST(a_step_without_memory_has_an_empty_chart);
    RP_TEST(the_svg_check_detects_faults);
    RP_TEST(every_chart_is_well_formed_svg);
    RP_TEST(names_are_escaped_in_the_svg);
    RP_TEST(the_svg_shows_copy_queues_only_for_plans_that_copy);
    RP_TEST(a_tick_may_be_at_the_end_of_an_axis);
    RP_TEST(ops_that_take_no_time_are_in_no_lane);
    RP_TEST(a_curve_ends_with_its_axes);
}
