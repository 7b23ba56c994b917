#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "emit/memory/memory_trace.h"
#include "emit/report.h"
#include "gen.h"
#include "run.h"
#include "shown.h"
#include "verify/verifier.h"

#define N(list) (sizeof(list) / sizeof(list)[0])

static bool same_facts(const struct rp_graph *g, const struct rp_plan *p) {
    struct rp_memory_trace t;
    struct rp_plan q = *p;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    rp_memory_trace_plan(g, p, &t);
    q.claims.time_ns = t.time_ns;
    q.claims.baseline_time_ns = g->total_time_ns;
    q.claims.recompute_ns = t.recompute_ns;
    q.claims.stall_ns = t.stall_ns;
    q.claims.peak_bytes = t.peak.bytes;
    bool same = rp_verify(g, &q, &v, &err) == RP_OK &&
                v.swapped_out_bytes == t.copied_bytes[RP_TRACE_TO_HOST] &&
                v.swapped_in_bytes == t.copied_bytes[RP_TRACE_TO_DEVICE] &&
                v.d2h_busy_ns == t.busy_ns[RP_TRACE_TO_HOST] &&
                v.h2d_busy_ns == t.busy_ns[RP_TRACE_TO_DEVICE];
    if (!same)
        printf("trace and verdict: %s\n", err.msg);
    rp_memory_trace_fini(&t);
    return same;
}

static void the_memory_trace_agrees_with_the_verdict(void) {
    uint32_t n = 300;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)(seed % 20));
        shape.version_2 = seed % 3 == 0;
        struct rp_graph g;
        struct rp_plan p;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, seed % 2 == 0, &p);
        if (!same_facts(&g, &p)) {
            rp_gen_failed(seed);
            CU_FAIL("the trace and the verdict differ");
        }
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

static void the_keep_all_trace_equals_that_of_the_plan_without_reruns(void) {
    uint32_t n = 100;
    for (uint64_t seed = rp_gen_seed(1000, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(12);
        shape.version_2 = seed % 3 == 0;
        shape.bandwidths = !shape.version_2; /* without them no source is on the host */
        struct rp_graph g;
        struct rp_plan p;
        struct rp_memory_trace t;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_keep_all(&g, seed % 2 == 0, &p);
        rp_memory_trace_keep_all(&g, seed % 2 == 0, &t);
        if (t.peak.bytes != p.claims.peak_bytes || t.time_ns != p.claims.time_ns ||
            t.reruns.n != 0) {
            rp_gen_failed(seed);
            CU_FAIL("another keep-all");
        }
        rp_memory_trace_fini(&t);
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

static void reruns_report_their_cost_and_how_long_outputs_were_off_the_device(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    const struct rp_memory_trace *t = &s.r.plan;
    CU_ASSERT_EQUAL(t->time_ns, 130);
    CU_ASSERT_EQUAL(t->recompute_ns, 10);
    CU_ASSERT_EQUAL(t->peak.bytes, 8 + 40 + 16 + 24);
    CU_ASSERT_EQUAL(t->peak_op, 1);
    CU_ASSERT_EQUAL_FATAL(t->reruns.n, 1);
    CU_ASSERT_EQUAL(t->reruns.at[0].op, 0);
    CU_ASSERT_EQUAL(t->reruns.at[0].times, 1);
    CU_ASSERT_EQUAL(t->reruns.at[0].extra_ns, 10);
    CU_ASSERT_EQUAL(t->reruns.at[0].bytes, 40);
    CU_ASSERT_EQUAL(t->reruns.at[0].off_ns, 30); /* while c ran */
    rp_shown_close(&s);
}

static void copies_overlap_ops_and_stalls_are_counted(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_swapped, RP_N_SWAPPED);
    /* out 10..100, b 10..70, freed at 100, in 100..150, c 100..130, d 150..170 */
    const struct rp_memory_trace *t = &s.r.plan;
    CU_ASSERT_EQUAL(t->time_ns, 170);
    CU_ASSERT_EQUAL(t->stall_ns, 30 + 20);
    CU_ASSERT_EQUAL(t->busy_ns[RP_TRACE_TO_HOST], 90);
    CU_ASSERT_EQUAL(t->busy_ns[RP_TRACE_TO_DEVICE], 50);
    CU_ASSERT_EQUAL(t->copied_bytes[RP_TRACE_TO_HOST], 40);
    CU_ASSERT_EQUAL(t->steps[4].clock_ns, 100);
    CU_ASSERT_EQUAL(t->steps[6].start_ns, 150);
    CU_ASSERT_EQUAL(t->reruns.n, 0);
    rp_shown_close(&s);
}

static void columns_hold_the_max_memory_of_their_slice(void) {
    struct rp_shown s;
    struct rp_memory_split most[13];
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    rp_memory_trace_columns(&s.r.plan, 130, 13, most);
    CU_ASSERT_EQUAL(most[0].bytes, 48);
    CU_ASSERT_EQUAL(most[1].bytes, 88);
    CU_ASSERT_EQUAL(most[6].bytes, 88);
    CU_ASSERT_EQUAL(most[7].bytes, 88);
    CU_ASSERT_EQUAL(most[9].bytes, 88);
    CU_ASSERT_EQUAL(most[10].bytes, 64);
    CU_ASSERT_EQUAL(most[12].bytes, 72);
    rp_memory_trace_columns(&s.r.plan, 130, 1, most);
    CU_ASSERT_EQUAL(most[0].bytes, 88);
    rp_memory_trace_columns(&s.r.keep_all, 130, 13, most); /* keep-all ends at 120 */
    CU_ASSERT_EQUAL(most[11].bytes, 72);
    CU_ASSERT_EQUAL(most[12].bytes, 0);
    rp_shown_close(&s);
}

/* A graph with something of every kind, one source of which lives on the host. */
static const char kinds_net[] =
    "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"kinds\",\"time_source\":"
    "\"imported:test\",\"device\":{\"alignment_bytes\":1,\"h2d_bytes_per_s\":1000000000,"
    "\"d2h_bytes_per_s\":1000000000},\"tensors\":["
    "{\"name\":\"w\",\"bytes\":8,\"kind\":\"parameter\"},"
    "{\"name\":\"m\",\"bytes\":32,\"kind\":\"state\",\"home\":\"host\"},"
    "{\"name\":\"data\",\"bytes\":2,\"kind\":\"input\"},"
    "{\"name\":\"a\",\"bytes\":16,\"kind\":\"activation\"},"
    "{\"name\":\"g\",\"bytes\":4,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[0,2],\"outputs\":[3],\"time_ns\":10},"
    "{\"name\":\"b\",\"kind\":\"k\",\"inputs\":[3],\"outputs\":[4],\"time_ns\":10},"
    "{\"name\":\"u\",\"kind\":\"k\",\"inputs\":[4],\"outputs\":[],\"updates\":[0,1],"
    "\"time_ns\":10,\"workspace_bytes\":1}],\"keep\":[]}";

static const struct rp_step kinds_steps[] = {
    {.kind = RP_RUN, .id = 0},      {.kind = RP_RUN, .id = 1}, {.kind = RP_FREE, .id = 3},
    {.kind = RP_SWAP_IN, .id = 1},  {.kind = RP_RUN, .id = 2}, {.kind = RP_FREE, .id = 4},
    {.kind = RP_SWAP_OUT, .id = 1}, {.kind = RP_FREE, .id = 1}};

static bool holds(const struct rp_memory_split *s, uint64_t parameter, uint64_t state,
                  uint64_t input, uint64_t activation, uint64_t gradient,
                  uint64_t workspace) {
    return s->of[RP_PARAMETER] == parameter && s->of[RP_STATE] == state &&
           s->of[RP_INPUT_TENSOR] == input && s->of[RP_ACTIVATION] == activation &&
           s->of[RP_GRADIENT] == gradient && s->of[RP_WORKSPACE] == workspace &&
           s->bytes == parameter + state + input + activation + gradient + workspace;
}

static void memory_is_split_by_kind_on_the_device_and_on_the_host(void) {
    struct rp_graph g;
    struct rp_plan p = {0};
    struct rp_memory_trace t, keep_all;
    struct rp_memory_split most[3];
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(kinds_net, strlen(kinds_net), "net", &g, &err),
                          RP_OK);
    rp_push(&p.homes, ((struct rp_plan_home){1, RP_NO_ADDRESS}));
    for (size_t s = 0; s < N(kinds_steps); s++)
        rp_push(&p.steps, kinds_steps[s]);
    rp_memory_trace_plan(&g, &p, &t);
    CU_ASSERT(holds(&t.fixed, 8, 0, 2, 0, 0, 0));
    CU_ASSERT(holds(&t.steps[1].during, 8, 0, 2, 16, 4, 0));
    CU_ASSERT(holds(&t.steps[2].during, 8, 0, 2, 16, 4, 0)); /* a is freed after it */
    CU_ASSERT(holds(&t.steps[2].after, 8, 0, 2, 0, 4, 0));
    CU_ASSERT(holds(&t.peak, 8, 32, 2, 0, 4, 1)); /* the update */
    CU_ASSERT(holds(&t.steps[7].after, 8, 0, 2, 0, 0, 0));
    rp_memory_trace_columns(&t, 94, 3, most); /* m comes in 20..52, goes out 62..94 */
    CU_ASSERT(holds(&most[0], 8, 32, 2, 0, 4, 0));
    CU_ASSERT(holds(&most[1], 8, 32, 2, 0, 4, 1));
    CU_ASSERT(holds(&most[2], 8, 32, 2, 0, 0, 0));
    rp_memory_trace_keep_all(&g, false, &keep_all);
    CU_ASSERT(holds(&keep_all.fixed, 8, 32, 2, 0, 0, 0));
    rp_memory_trace_fini(&t);
    rp_memory_trace_fini(&keep_all);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

/* What is on the host has its home there, or is copied there. */
static void the_host_holds_homes_and_copies(void) {
    struct rp_graph g;
    struct rp_plan p = {0};
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(kinds_net, strlen(kinds_net), "net", &g, &err),
                          RP_OK);
    rp_push(&p.homes, ((struct rp_plan_home){1, RP_NO_ADDRESS}));
    for (size_t s = 0; s < N(kinds_steps); s++)
        rp_push(&p.steps, kinds_steps[s]);
    for (p.homes.n = 0; p.homes.n < 2; p.homes.n++)
        for (p.steps.n = 6; p.steps.n < 8; p.steps.n++) { /* up to the copy, and with it */
            struct rp_memory_split host = rp_memory_split_host(&g, &p);
            CU_ASSERT(holds(&host, 0, p.homes.n + p.steps.n > 6 ? 32 : 0, 0, 0, 0, 0));
        }
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

static void a_plan_without_steps_holds_what_is_fixed(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", NULL, 0);
    const struct rp_memory_trace *t = &s.r.plan;
    CU_ASSERT(holds(&t->fixed, 8, 0, 0, 0, 0, 0));
    CU_ASSERT(holds(&t->peak, 8, 0, 0, 0, 0, 0));
    CU_ASSERT_EQUAL(t->peak_op, RP_NONE);
    rp_shown_close(&s);
}

/* What takes no time counts in the column that ends there, or else in the first. */
static void the_columns_show_what_takes_no_time(void) {
    struct rp_timed_step steps[] = {
        {.during.bytes = 90, .after.bytes = 5},
        {.clock_ns = 10, .end_ns = 10, .during.bytes = 70, .after.bytes = 6},
    };
    const struct rp_memory_trace t = {.steps = steps, .n_steps = 2, .time_ns = 30};
    struct rp_memory_split most[3];
    rp_memory_trace_columns(&t, 30, 3, most);
    CU_ASSERT_EQUAL(most[0].bytes, 90);
    CU_ASSERT_EQUAL(most[1].bytes, 6);
    steps[0].during.bytes = 0;
    rp_memory_trace_columns(&t, 30, 3, most);
    CU_ASSERT_EQUAL(most[0].bytes, 70);
    CU_ASSERT_EQUAL(most[1].bytes, 6);
}

static void columns_reach_the_peak_however_many_there_are(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(2000, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(9);
        struct rp_graph g;
        struct rp_plan p;
        struct rp_memory_trace t;
        struct rp_memory_split most[200];
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, false, &p);
        rp_memory_trace_plan(&g, &p, &t);
        for (uint32_t columns = 1; columns <= 200; columns += 33) {
            uint64_t peak = 0;
            rp_memory_trace_columns(&t, t.time_ns > 0 ? t.time_ns : 1, columns, most);
            for (uint32_t c = 0; c < columns; c++)
                peak = most[c].bytes > peak ? most[c].bytes : peak;
            if (peak != t.peak.bytes) {
                rp_gen_failed(seed);
                CU_FAIL("a peak between the columns");
            }
        }
        rp_memory_trace_fini(&t);
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

/* ---- text ---- */

static void report_1(const struct rp_report *r, FILE *f) {
    rp_report_text(r, 1, f);
}

static void steps_are_named_and_frees_share_a_line(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a\\u001b[2J", rp_again, RP_N_AGAIN);
    rp_shown_expect(rp_report_steps, &s,
                    "  step     start ns      takes     memory  what\n"
                    "     0            0      10 ns       48 B  run   a\\x1b[2J\n"
                    "     1           10      60 ns       88 B  run   b\n"
                    "     2           70                  24 B  free  x\n"
                    "     3           70      30 ns       88 B  run   c\n"
                    "     4          100                  24 B  free  u\n"
                    "     5          100      10 ns       64 B  again a\\x1b[2J\n"
                    "     6          110      20 ns       72 B  run   d\n"
                    "     7          130                  16 B  free  x, y\n");
    s.p.steps.n--;
    char *text = rp_shown_text(rp_report_steps, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "free  x\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "free  x, y\n"));
    free(text);
    rp_shown_close(&s);
    rp_shown_open(&s, "a", rp_swapped, RP_N_SWAPPED);
    rp_shown_expect(rp_report_steps, &s,
                    "  step     start ns      takes     memory  what\n"
                    "     0            0      10 ns       48 B  run   a\n"
                    "     1           10      90 ns       48 B  out   x\n"
                    "     2           10      60 ns       88 B  run   b\n"
                    "     3          100                  24 B  free  x\n"
                    "     4          100      50 ns       64 B  in    x\n"
                    "     5          100      30 ns      128 B  run   c\n"
                    "     6          150      20 ns       76 B  run   d\n");
    rp_shown_close(&s);
}

static void start_times_are_shown_to_the_nanosecond_if_needed(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, 2);
    struct rp_timed_step *b = &s.r.plan.steps[1];
    b->start_ns = 1007;
    b->end_ns = s.r.plan.time_ns = 1500;
    rp_shown_expect(rp_report_steps, &s,
                    "  step     start us      takes     memory  what\n"
                    "     0        0.000      10 ns       48 B  run   a\n"
                    "     1        1.007     493 ns       88 B  run   b\n");
    static const char *const units[] = {"ns", "us", "us", "ms"};
    static const uint64_t ends_ns[] = {999, 1000, 999999, 1000000};
    for (size_t k = 0; k < N(units); k++) {
        s.r.plan.time_ns = ends_ns[k];
        char *text = rp_shown_text(rp_report_steps, &s);
        CU_ASSERT_EQUAL(strncmp(text, "  step     start ", 17), 0);
        CU_ASSERT_EQUAL(strncmp(text + 17, units[k], 2), 0);
        free(text);
    }
    b->start_ns = 2999999999;
    b->end_ns = s.r.plan.time_ns = 3000000000;
    rp_shown_expect(rp_report_steps, &s,
                    "  step     start ms      takes     memory  what\n"
                    "     0     0.000000      10 ns       48 B  run   a\n"
                    "     1  2999.999999       1 ns       88 B  run   b\n");
    rp_shown_close(&s);
}

static void the_report_says_which_plans_the_bound_is_about(void) {
    static const struct {
        struct rp_bound_scope scope;
        const char *words;
    } cases[] = {
        {{.recompute = true, .swap = true, .all_programs = true, .host_budget_bytes = 2048},
         " for plans with at most 2.00 KiB on the host"},
        {{.any_order = true, .all_programs = true, .host_budget_bytes = 2048},
         " for plans without recomputation, without swaps"},
        {{.recompute = true, .swap = true, .host_budget_bytes = RP_NO_LIMIT},
         " for plans with no op twice between two first runs"},
        {{.recompute = true,
          .swap = true,
          .host_budget_bytes = RP_NO_LIMIT,
          .all_programs = true},
         ""},
    };
    struct rp_shown s;
    rp_shown_open(&s, "a", rp_again, RP_N_AGAIN);
    for (size_t i = 0; i < N(cases); i++) {
        s.p.claims.bound_for = cases[i].scope;
        char *text = rp_shown_text(report_1, &s);
        char *want = rp_format("proof bounded%s\n", cases[i].words);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, want));
        free(text);
        free(want);
    }
    s.g.free_order = true;
    char *text = rp_shown_text(report_1, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "proof bounded for plans in the graph's order\n"));
    free(text);
    rp_shown_close(&s);
}

static void the_report_gives_costs_and_savings(void) {
    struct rp_shown s;
    rp_shown_open(&s, "a.very.long.name.of.an.\u00f6p.keeps\\u001bits.end", rp_again,
                  RP_N_AGAIN);
    rp_shown_expect(
        report_1, &s,
        "plan      for net: 9 steps, costs from imported:test\n"
        "time      130 ns, 8.33% over keep-all's 120 ns: recompute 10 ns, stall 0 ns\n"
        "bound     125 ns: gap 4.00%, proof bounded\n"
        "memory    peak 88 B, 68.75% of keep-all's 128 B, budget 96 B\n"
        "          fixed 8 B, no addresses\n"
        "at peak   activations 56 B, parameters 8 B, workspace 24 B\n"
        "saves     40 B at keep-all's peak, during c\n"
        "recompute 1 of 4 ops, 1 extra run, 10 ns\n"
        "\n"
        "recomputed op                        bytes times     extra   share off device\n"
        "..name.of.an.öp.keeps\\x1bits.end      40 B     1     10 ns 100.00%      30 ns\n");
    rp_shown_close(&s);
}

/* The reruns of both ops take 30 ns. The table has one row for the first of them, whose
 * name has just the width of its column. */
static void a_short_table_sums_up_the_other_reruns(void) {
    static const struct rp_step steps[] = {
        {.kind = RP_RUN, .id = 0}, {.kind = RP_RUN, .id = 1},  {.kind = RP_RUN, .id = 2},
        {.kind = RP_RUN, .id = 2}, {.kind = RP_FREE, .id = 1}, {.kind = RP_RUN, .id = 0},
        {.kind = RP_RUN, .id = 0}, {.kind = RP_RUN, .id = 0},  {.kind = RP_RUN, .id = 3},
    };
    struct rp_shown s;
    rp_shown_open(&s, "12345678901234567890123456789012", steps, N(steps));
    s.p.claims.lower_bound_ns = 0;
    char *text = rp_shown_text(report_1, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nbound     none\nmemory "));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "off device\n"
                     "12345678901234567890123456789012      40 B     3     30 ns  50.00%"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "\n... and 1 more                             30 ns  50.00%\n"));
    CU_ASSERT_EQUAL(s.r.plan.reruns.at[0].op, 0); /* the first of equals */
    CU_ASSERT_EQUAL(s.r.plan.reruns.at[1].op, 2);
    free(text);
    rp_shown_close(&s);
}

void suite_show(void) {
    RP_SUITE("show");
    RP_TEST(the_memory_trace_agrees_with_the_verdict);
    RP_TEST(the_keep_all_trace_equals_that_of_the_plan_without_reruns);
    RP_TEST(reruns_report_their_cost_and_how_long_outputs_were_off_the_device);
    RP_TEST(copies_overlap_ops_and_stalls_are_counted);
    RP_TEST(columns_hold_the_max_memory_of_their_slice);
    RP_TEST(memory_is_split_by_kind_on_the_device_and_on_the_host);
    RP_TEST(the_host_holds_homes_and_copies);
    RP_TEST(a_plan_without_steps_holds_what_is_fixed);
    RP_TEST(the_columns_show_what_takes_no_time);
    RP_TEST(columns_reach_the_peak_however_many_there_are);
    RP_TEST(steps_are_named_and_frees_share_a_line);
    RP_TEST(start_times_are_shown_to_the_nanosecond_if_needed);
    RP_TEST(the_report_says_which_plans_the_bound_is_about);
    RP_TEST(the_report_gives_costs_and_savings);
    RP_TEST(a_short_table_sums_up_the_other_reruns);
}
