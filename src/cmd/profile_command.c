/* profile --graph: measures the ops of a program while it runs. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cmd/profile.h"
#include "cmd/profile_ways.h"
#include "profile/annotate.h"
#include "profile/join/link_fit.h"
#include "profile/launch.h"
#include "solve/solver.h"

static const char *plural(uint32_t n) {
    return n == 1 ? "" : "s";
}

/* The sum of the ops' interquartile ranges: how far the sum of their medians may be off. */
static uint64_t sum_of_ranges(const struct rp_joined_costs *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_ops; i++)
        sum += c->ops[i].q3_ns - c->ops[i].q1_ns;
    return sum;
}

static uint64_t number_of(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void report_gaps(const struct rp_graph *g, const struct rp_joined_costs *c) {
    const json_t *profile = json_object_get(g->attrs, "profile");
    const uint64_t graph_ns = number_of(profile, "graph_ns");
    const uint64_t eager_ns = number_of(profile, "eager_ns");
    if (graph_ns == 0)
        return;
    printf("gaps      %s after each of %" PRIu64
           " launches as a CUDA graph (step %s), %s one "
           "by one (%s); in op times: %s\n",
           rp_show_ns(rp_gap_ns(c, graph_ns)).s, number_of(profile, "launches"),
           rp_show_ns(graph_ns).s, rp_show_ns(rp_gap_ns(c, eager_ns)).s,
           rp_show_ns(eager_ns).s, json_string_value(json_object_get(profile, "gaps")));
}

static void report_clocks(const struct rp_graph *g) {
    const json_t *clocks = json_object_get(json_object_get(g->notes, "profile"), "clocks");
    const json_t *limits = json_object_get(clocks, "limited_by");
    const uint64_t power_mw = number_of(clocks, "power_mw");
    if (!json_is_object(clocks))
        return;
    printf("clocks    %" PRIu64 " MHz (lowest %" PRIu64 "), memory %" PRIu64 " MHz",
           number_of(clocks, "sm_mhz"), number_of(clocks, "lowest_sm_mhz"),
           number_of(clocks, "memory_mhz"));
    if (power_mw > 0)
        printf(", %" PRIu64 " of %" PRIu64 " W", (power_mw + 500) / 1000,
               (number_of(clocks, "power_limit_mw") + 500) / 1000);
    for (size_t i = 0; i < json_array_size(limits); i++)
        printf("%s%s", i == 0 ? ", limited by " : " and ",
               json_string_value(json_array_get(limits, i)));
    putchar('\n');
}

static void report(const struct rp_graph *g, const struct rp_joined_costs *c, bool measured,
                   const char *out) {
    const struct rp_run_counts *runs = &c->runs;
    uint32_t unused = runs->no_stamp + runs->held_up + runs->lost;
    printf("ops       %s in %" PRIu32 " ops, quartiles %s apart (",
           rp_show_ns(g->total_time_ns).s, g->n_ops, rp_show_ns(sum_of_ranges(c)).s);
    rp_put_clean(g->time_source, stdout);
    puts(")");
    if (c->n_steps > 0)
        printf("step      %s on the device, median of %" PRIu32 " step%s in %" PRIu32
               " process%s\n",
               rp_show_ns(c->step_ns).s, c->n_steps, plural(c->n_steps), c->n_processes,
               c->n_processes == 1 ? "" : "es");
    if (unused > 0)
        printf("not used  %" PRIu32 " run%s of ops: %" PRIu32
               " without time stamps, %" PRIu32 " held up by tracing, %" PRIu32
               " with work missing\n",
               unused, plural(unused), runs->no_stamp, runs->held_up, runs->lost);
    if (runs->held_but_used > 0)
        printf("held up   %" PRIu32
               " run%s used although tracing delayed the launch: the ops "
               "have no others\n",
               runs->held_but_used, plural(runs->held_but_used));
    if (c->memory.known)
        printf(
            "memory    %s held on the device in a step (%s when it begins); by the graph, "
            "keep-all takes %s\n",
            rp_show_bytes(c->memory.peak_bytes).s, rp_show_bytes(c->memory.begin_bytes).s,
            rp_show_bytes(rp_keep_all_bytes(g, true)).s);
    if (c->idle_ns > 0)
        printf("idle      %s of the step (tracing makes pauses longer)\n",
               rp_show_percent(c->idle_ns, c->step_ns).s);
    rp_ways_print(g, stdout);
    report_gaps(g, c);
    report_clocks(g);
    if (c->outside_ns > 0)
        printf("outside   %s of the device's work in steps is in no op's range\n",
               rp_show_percent(c->outside_ns, c->outside_ns + c->inside_ns).s);
    if (c->side_by_side_ns > 0)
        printf("at once   %s of the ops' work ran beside another op's\n",
               rp_show_percent(c->side_by_side_ns, c->inside_ns).s);
    if (c->n_unknown_ranges > 0)
        printf("unknown   %" PRIu32 " range name%s of no op: %s\n", c->n_unknown_ranges,
               plural(c->n_unknown_ranges), c->unknown_ranges);
    if (g->device.h2d_bytes_per_s > 0 || g->device.d2h_bytes_per_s > 0)
        printf("copies    %.1f GB/s to the device, %.1f GB/s to the host (%s)\n",
               1e-9 * (double)g->device.h2d_bytes_per_s,
               1e-9 * (double)g->device.d2h_bytes_per_s,
               measured ? "measured" : "as in the graph given");
    rp_put_clean_line("graph     ", out, stdout);
}

static void report_json(const struct rp_graph *g, const struct rp_joined_costs *c,
                        const char *out) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "graph", out);
    rp_json_string(&w, "sha256", g->sha256);
    rp_json_string(&w, "time_source", g->time_source);
    rp_json_uint(&w, "time_ns", g->total_time_ns);
    rp_json_uint(&w, "ops", g->n_ops);
    rp_json_uint(&w, "spread_ns", sum_of_ranges(c));
    rp_json_uint(&w, "step_ns", c->step_ns);
    rp_json_uint(&w, "steps", c->n_steps);
    rp_json_uint(&w, "processes", c->n_processes);
    rp_json_object(&w, "not_used");
    rp_json_uint(&w, "no_stamp", c->runs.no_stamp);
    rp_json_uint(&w, "held_up", c->runs.held_up);
    rp_json_uint(&w, "lost", c->runs.lost);
    rp_json_end(&w);
    const json_t *profile = json_object_get(g->attrs, "profile");
    if (json_object_get(profile, "graph_ns") != NULL) {
        rp_json_uint(&w, "graph_ns", number_of(profile, "graph_ns"));
        rp_json_uint(&w, "eager_ns", number_of(profile, "eager_ns"));
        rp_json_uint(&w, "launches", number_of(profile, "launches"));
        rp_json_uint(&w, "gap_ns", number_of(profile, "gap_ns"));
    }
    rp_json_uint(&w, "held_but_used", c->runs.held_but_used);
    rp_json_uint(&w, "idle_ns", c->idle_ns);
    rp_json_uint(&w, "outside_ns", c->outside_ns);
    rp_json_uint(&w, "inside_ns", c->inside_ns);
    rp_json_uint(&w, "side_by_side_ns", c->side_by_side_ns);
    rp_json_uint(&w, "unknown_ranges", c->n_unknown_ranges);
    rp_ways_write(&w, g);
    if (c->memory.known) {
        rp_json_object(&w, "memory");
        rp_json_uint(&w, "begin_bytes", c->memory.begin_bytes);
        rp_json_uint(&w, "peak_bytes", c->memory.peak_bytes);
        rp_json_uint(&w, "pinned_bytes", c->memory.pinned_bytes);
        rp_json_uint(&w, "keep_all_bytes", rp_keep_all_bytes(g, true));
        rp_json_end(&w);
    }
    rp_json_end(&w);
    rp_json_finish(&w);
}

rp_rc rp_profile_finish(const struct rp_measure *m, struct rp_graph *g,
                        const struct rp_traces *t, const struct rp_untraced_step *step,
                        enum rp_gaps gaps, struct rp_err *err) {
    struct rp_joined_costs c = {0};
    struct rp_link_fit link = {0};
    const char *file = rp_path_name(m->graph);
    rp_rc rc = rp_join_traces(g, file, t->at, t->n, &c, err);
    if (rc == RP_OK)
        rc = rp_link_fit_build(t->at, t->n, &link, err);
    if (rc == RP_OK)
        rc = rp_annotate_costs(g, &c, file, err);
    if (rc == RP_OK && step != NULL)
        rc = rp_annotate_gaps(g, &c, step, gaps, file, err);
    if (rc == RP_OK)
        rp_annotate_link(g, &link);
    if (rc == RP_OK)
        rc = rp_graph_save(g, m->out, err);
    bool measured = link.copies[RP_LINK_ALONE][RP_LINK_H2D].n > 0 &&
                    link.copies[RP_LINK_ALONE][RP_LINK_D2H].n > 0;
    if (rc == RP_OK && strcmp(m->out, "-") != 0 && (m->json || rp_log_level() >= 0))
        (m->json ? report_json(g, &c, m->out) : report(g, &c, measured, m->out));
    rp_joined_costs_fini(&c);
    return rc;
}

rp_rc rp_profile_measure(const struct rp_measure *m, char *const command[],
                         struct rp_err *err) {
    struct rp_graph g = {0};
    struct rp_traces t = {0};
    rp_rc rc = rp_graph_load(m->graph, &g, err);
    if (rc == RP_OK)
        rc = command[0] != NULL ? rp_traces_run(command, m->traces, &t, err)
                                : rp_traces_load(m->traces, &t, err);
    if (rc == RP_OK)
        rc = rp_profile_finish(m, &g, &t, NULL, RP_GAPS_NONE, err);
    rp_traces_fini(&t);
    rp_graph_fini(&g);
    return rc;
}
