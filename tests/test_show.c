#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "emit/chart.h"
#include "emit/memory/memory_trace.h"
#include "emit/report.h"
#include "gen.h"
#include "run.h"
#include "verify/verifier.h"

/* w -a-> x -b-> y -c-> u   x,y -d-> z. */
static const char net[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"net\",\"time_source\":\"imported:"
    "test\",\"device\":{\"alignment_bytes\":1,\"h2d_bytes_per_s\":1000000000,"
    "\"d2h_bytes_per_s\":500000000,\"copy_latency_ns\":10},\"tensors\":["
    "{\"name\":\"w\",\"bytes\":8,\"kind\":\"parameter\"},"
    "{\"name\":\"x\",\"bytes\":40,\"kind\":\"activation\"},"
    "{\"name\":\"y\",\"bytes\":16,\"kind\":\"activation\"},"
    "{\"name\":\"u\",\"bytes\":4,\"kind\":\"activation\"},"
    "{\"name\":\"z\",\"bytes\":8,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"%s\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":10,"
    "\"phase\":\"forward\"},"
    "{\"name\":\"b\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":60,"
    "\"workspace_bytes\":24,\"phase\":\"forward\"},"
    "{\"name\":\"c\",\"kind\":\"k\",\"inputs\":[2],\"outputs\":[3],\"time_ns\":30,"
    "\"workspace_bytes\":60},"
    "{\"name\":\"d\",\"kind\":\"k\",\"inputs\":[1,2],\"outputs\":[4],\"time_ns\":20,"
    "\"phase\":\"backward\"}],\"keep\":[4]}";

struct shown {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_report r;
};

static void open_shown(struct shown *s, const char *first_op, const struct rp_step *steps,
                       size_t n) {
    struct rp_err err = {{0}};
    *s = (struct shown){0};
    char *text = rp_format(net, first_op);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "net", &s->g, &err), RP_OK);
    free(text);
    s->p.budget_bytes = 96;
    s->p.claims.lower_bound_ns = 125;
    s->p.claims.proof = RP_PROOF_BOUNDED;
    s->p.claims.bound_for = rp_bound_for_all_plans;
    for (size_t i = 0; i < n; i++)
        rp_push(&s->p.steps, steps[i]);
    rp_report_build(&s->g, &s->p, &s->r);
}

static void close_shown(struct shown *s) {
    rp_report_fini(&s->r);
    rp_plan_fini(&s->p);
    rp_graph_fini(&s->g);
}

#define N(steps) (sizeof(steps) / sizeof(steps)[0])
static const struct rp_step again[] = {
    {.kind = RP_RUN, .id = 0}, {.kind = RP_RUN, .id = 1},  {.kind = RP_FREE, .id = 1},
    {.kind = RP_RUN, .id = 2}, {.kind = RP_FREE, .id = 3}, {.kind = RP_RUN, .id = 0},
    {.kind = RP_RUN, .id = 3}, {.kind = RP_FREE, .id = 1}, {.kind = RP_FREE, .id = 2},
};
static const struct rp_step swapped[] = {
    {.kind = RP_RUN, .id = 0},  {.kind = RP_SWAP_OUT, .id = 1}, {.kind = RP_RUN, .id = 1},
    {.kind = RP_FREE, .id = 1}, {.kind = RP_SWAP_IN, .id = 1},  {.kind = RP_RUN, .id = 2},
    {.kind = RP_RUN, .id = 3},
};

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
    struct shown s;
    open_shown(&s, "a", again, N(again));
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
    close_shown(&s);
}

static void copies_overlap_ops_and_stalls_are_counted(void) {
    struct shown s;
    open_shown(&s, "a", swapped, N(swapped));
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
    close_shown(&s);
}

static void columns_hold_the_max_memory_of_their_slice(void) {
    struct shown s;
    struct rp_memory_split most[13];
    open_shown(&s, "a", again, N(again));
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
    close_shown(&s);
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
    CU_ASSERT(holds(&t.steps[2].after, 8, 0, 2, 0, 4, 0));
    CU_ASSERT(holds(&t.peak, 8, 32, 2, 0, 4, 1)); /* the update */
    CU_ASSERT(holds(&t.steps[7].after, 8, 0, 2, 0, 0, 0));
    rp_memory_trace_columns(&t, 94, 3, most); /* m comes in 20..52, goes out 62..94 */
    CU_ASSERT(holds(&most[0], 8, 32, 2, 0, 4, 0));
    CU_ASSERT(holds(&most[1], 8, 32, 2, 0, 4, 1));
    CU_ASSERT(holds(&most[2], 8, 32, 2, 0, 0, 0));
    struct rp_memory_split host = rp_memory_split_host(&g, &p);
    CU_ASSERT(holds(&host, 0, 32, 0, 0, 0, 0));
    rp_memory_trace_keep_all(&g, false, &keep_all);
    CU_ASSERT(holds(&keep_all.fixed, 8, 32, 2, 0, 0, 0));
    rp_memory_trace_fini(&t);
    rp_memory_trace_fini(&keep_all);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
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

static char *text_of(void (*put)(const struct rp_report *, FILE *), const struct shown *s) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    put(&s->r, f);
    rp_text_close(f);
    return text;
}

static void chart_40(const struct rp_report *r, FILE *f) {
    rp_chart_text(r, 40, false, f);
}

static void chart_utf8(const struct rp_report *r, FILE *f) {
    rp_chart_text(r, 40, true, f);
}

static void report_1(const struct rp_report *r, FILE *f) {
    rp_report_text(r, 1, f);
}

static void expect(void (*put)(const struct rp_report *, FILE *), const struct shown *s,
                   const char *want) {
    char *text = text_of(put, s);
    CU_ASSERT_STRING_EQUAL(text, want);
    if (strcmp(text, want) != 0)
        printf("got:\n%s\nwanted:\n%s\n", text, want);
    free(text);
}

static void the_text_chart_is_exact(void) {
    struct shown s;
    open_shown(&s, "a", again, N(again));
    expect(chart_40, &s,
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
    expect(chart_utf8, &s,
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
    close_shown(&s);
}

static void steps_are_named_and_frees_share_a_line(void) {
    struct shown s;
    open_shown(&s, "a\\u001b[2J", again, N(again));
    expect(rp_report_steps, &s,
           "  step     start ns      takes     memory  what\n"
           "     0            0      10 ns       48 B  run   a?[2J\n"
           "     1           10      60 ns       88 B  run   b\n"
           "     2           70                  24 B  free  x\n"
           "     3           70      30 ns       88 B  run   c\n"
           "     4          100                  24 B  free  u\n"
           "     5          100      10 ns       64 B  again a?[2J\n"
           "     6          110      20 ns       72 B  run   d\n"
           "     7          130                  16 B  free  x, y\n");
    close_shown(&s);
    open_shown(&s, "a", swapped, N(swapped));
    expect(rp_report_steps, &s,
           "  step     start ns      takes     memory  what\n"
           "     0            0      10 ns       48 B  run   a\n"
           "     1           10      90 ns       48 B  out   x\n"
           "     2           10      60 ns       88 B  run   b\n"
           "     3          100                  24 B  free  x\n"
           "     4          100      50 ns       64 B  in    x\n"
           "     5          100      30 ns      128 B  run   c\n"
           "     6          150      20 ns       76 B  run   d\n");
    close_shown(&s);
}

static void start_times_are_shown_to_the_nanosecond_if_needed(void) {
    struct shown s;
    open_shown(&s, "a", again, 2);
    struct rp_timed_step *b = &s.r.plan.steps[1];
    b->start_ns = 1007;
    b->end_ns = s.r.plan.time_ns = 1500;
    expect(rp_report_steps, &s,
           "  step     start us      takes     memory  what\n"
           "     0        0.000      10 ns       48 B  run   a\n"
           "     1        1.007     493 ns       88 B  run   b\n");
    b->start_ns = 2999999999;
    b->end_ns = s.r.plan.time_ns = 3000000000;
    expect(rp_report_steps, &s,
           "  step     start ms      takes     memory  what\n"
           "     0     0.000000      10 ns       48 B  run   a\n"
           "     1  2999.999999       1 ns       88 B  run   b\n");
    close_shown(&s);
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
    struct shown s;
    open_shown(&s, "a", again, N(again));
    for (size_t i = 0; i < N(cases); i++) {
        s.p.claims.bound_for = cases[i].scope;
        char *text = text_of(report_1, &s);
        char *want = rp_format("proof bounded%s\n", cases[i].words);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, want));
        free(text);
        free(want);
    }
    s.g.free_order = true;
    char *text = text_of(report_1, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "proof bounded for plans in the graph's order\n"));
    free(text);
    close_shown(&s);
}

static void the_report_gives_costs_and_savings(void) {
    struct shown s;
    open_shown(&s, "a.very.long.name.of.an.\u00f6p.keeps.its.end", again, N(again));
    expect(
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
        "..ng.name.of.an.öp.keeps.its.end      40 B     1     10 ns 100.00%      30 ns\n");
    close_shown(&s);
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
        struct shown s = {0};
        rp_gen_graph(seed, &shape, &s.g);
        rp_gen_plan(seed, &s.g, false, &s.p);
        rp_report_build(&s.g, &s.p, &s.r);
        char *text = text_of(rp_chart_svg, &s), *same = text_of(rp_chart_svg, &s);
        char *picture = text_of(chart_40, &s);
        if (!well_formed(text) || strcmp(text, same) != 0) {
            rp_gen_failed(seed);
            CU_FAIL("not well-formed, or not the same twice");
        }
        free(picture);
        free(same);
        free(text);
        close_shown(&s);
    }
}

static void names_are_escaped_in_the_svg(void) {
    struct shown s;
    open_shown(&s, "</title><a&b>\\u0001\\uffff", again, N(again));
    char *text = text_of(rp_chart_svg, &s);
    CU_ASSERT_TRUE(well_formed(text));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "<title>&lt;/title&gt;&lt;a&amp;b&gt;??: 10 ns</title>"));
    free(text);
    close_shown(&s);
}

static void the_svg_shows_copy_queues_only_for_plans_that_copy(void) {
    struct shown s;
    open_shown(&s, "a", again, N(again));
    char *text = text_of(rp_chart_svg, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">compute<"));
    CU_ASSERT_PTR_NULL(strstr(text, ">to host<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">recomputing (10 ns)<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">budget 96 B<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "class=\"budget\""));
    free(text);
    close_shown(&s);
    open_shown(&s, "a", swapped, N(swapped));
    s.p.budget_bytes = 1000;
    text = text_of(rp_chart_svg, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">to host<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">to device<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "<title>x: 90 ns</title>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">budget 1000 B (above the picture)<"));
    CU_ASSERT_PTR_NULL(strstr(text, "class=\"budget\""));
    CU_ASSERT_PTR_NULL(strstr(text, ">recomputing"));
    free(text);
    close_shown(&s);
}

void suite_show(void) {
    RP_SUITE("show");
    RP_TEST(the_memory_trace_agrees_with_the_verdict);
    RP_TEST(the_keep_all_trace_equals_that_of_the_plan_without_reruns);
    RP_TEST(reruns_report_their_cost_and_how_long_outputs_were_off_the_device);
    RP_TEST(copies_overlap_ops_and_stalls_are_counted);
    RP_TEST(columns_hold_the_max_memory_of_their_slice);
    RP_TEST(memory_is_split_by_kind_on_the_device_and_on_the_host);
    RP_TEST(columns_reach_the_peak_however_many_there_are);
    RP_TEST(axes_have_round_steps);
    RP_TEST(the_text_chart_is_exact);
    RP_TEST(steps_are_named_and_frees_share_a_line);
    RP_TEST(start_times_are_shown_to_the_nanosecond_if_needed);
    RP_TEST(the_report_says_which_plans_the_bound_is_about);
    RP_TEST(the_report_gives_costs_and_savings);
    RP_TEST(the_svg_check_detects_faults);
    RP_TEST(every_chart_is_well_formed_svg);
    RP_TEST(names_are_escaped_in_the_svg);
    RP_TEST(the_svg_shows_copy_queues_only_for_plans_that_copy);
}
