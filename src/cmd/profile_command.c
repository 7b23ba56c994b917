/* profile --graph: what a program's ops cost, measured while it runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/profile.h"
#include "profile/join.h"
#include "profile/launch.h"
#include "profile/link_fit.h"

static const char *plural(uint32_t n) {
    return n == 1 ? "" : "s";
}

/* Sum over ops of the quartile range: what a median may be off by, all told. */
static uint64_t spread_sum(const struct rp_costs *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_ops; i++)
        sum += c->ops[i].q3_ns - c->ops[i].q1_ns;
    return sum;
}

static void report(const struct rp_graph *g, const struct rp_costs *c, bool measured,
                   const char *out) {
    uint32_t unused = c->no_stamp + c->held_up + c->lost;
    printf("ops       %s in %" PRIu32 " ops, quartiles %s apart (%s)\n",
           rp_show_ns(g->total_time_ns).s, g->n_ops, rp_show_ns(spread_sum(c)).s,
           g->time_source);
    if (c->n_steps > 0)
        printf("step      %s on the device, median of %" PRIu32 " step%s in %" PRIu32
               " process%s\n",
               rp_show_ns(c->step_ns).s, c->n_steps, plural(c->n_steps), c->n_processes,
               c->n_processes == 1 ? "" : "es");
    if (unused > 0)
        printf("not used  %" PRIu32 " run%s of ops: %" PRIu32
               " without time stamps, %" PRIu32 " held up by tracing, %" PRIu32
               " with work missing\n",
               unused, plural(unused), c->no_stamp, c->held_up, c->lost);
    if (c->outside_ns > 0)
        printf("outside   %s of the device's work in steps is in no op's range\n",
               rp_show_percent(c->outside_ns, c->outside_ns + c->inside_ns).s);
    if (c->side_by_side_ns > 0)
        printf("at once   %s of the ops' work ran beside another op's\n",
               rp_show_percent(c->side_by_side_ns, c->inside_ns).s);
    if (c->n_strangers > 0)
        printf("unknown   %" PRIu32 " range name%s of no op: %s\n", c->n_strangers,
               plural(c->n_strangers), c->strangers);
    if (g->device.h2d_bytes_per_s > 0 || g->device.d2h_bytes_per_s > 0)
        printf("copies    %.1f GB/s to the device, %.1f GB/s to the host (%s)\n",
               1e-9 * (double)g->device.h2d_bytes_per_s,
               1e-9 * (double)g->device.d2h_bytes_per_s,
               measured ? "measured" : "as in the graph given");
    printf("graph     %s\n", out);
}

static void report_json(const struct rp_graph *g, const struct rp_costs *c,
                        const char *out) {
    printf("{\"graph\":");
    rp_json_put_string(stdout, out);
    printf(",\"sha256\":\"%s\",\"time_source\":", g->sha256);
    rp_json_put_string(stdout, g->time_source);
    printf(",\"time_ns\":%" PRIu64 ",\"ops\":%" PRIu32 ",\"spread_ns\":%" PRIu64
           ",\"step_ns\":%" PRIu64 ",\"steps\":%" PRIu32 ",\"processes\":%" PRIu32,
           g->total_time_ns, g->n_ops, spread_sum(c), c->step_ns, c->n_steps,
           c->n_processes);
    printf(",\"not_used\":{\"no_stamp\":%" PRIu32 ",\"held_up\":%" PRIu32
           ",\"lost\":%" PRIu32 "},\"outside_ns\":%" PRIu64 ",\"inside_ns\":%" PRIu64
           ",\"side_by_side_ns\":%" PRIu64 ",\"unknown_ranges\":%" PRIu32 "}\n",
           c->no_stamp, c->held_up, c->lost, c->outside_ns, c->inside_ns,
           c->side_by_side_ns, c->n_strangers);
}

rp_rc rp_profile_finish(const struct rp_measure *m, struct rp_graph *g,
                        const struct rp_traces *t, struct rp_err *err) {
    struct rp_costs c = {0};
    struct rp_link_fit copies = {0};
    const char *file = rp_path_name(m->graph);
    rp_rc rc = rp_costs_join(g, file, t->at, t->n, &c, err);
    if (rc == RP_OK)
        rc = rp_link_fit_measure(t->at, t->n, &copies, err);
    if (rc == RP_OK)
        rc = rp_costs_apply(&c, g, file, err);
    if (rc == RP_OK)
        rp_link_fit_apply(&copies, g);
    if (rc == RP_OK)
        rc = rp_graph_save(g, m->out, err);
    bool measured =
        copies.fit[RP_ALONE][RP_TO_DEVICE].n > 0 && copies.fit[RP_ALONE][RP_TO_HOST].n > 0;
    if (rc == RP_OK && strcmp(m->out, "-") != 0 && (m->json || rp_log_level() >= 0))
        (m->json ? report_json(g, &c, m->out) : report(g, &c, measured, m->out));
    rp_costs_fini(&c);
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
        rc = rp_profile_finish(m, &g, &t, err);
    rp_traces_fini(&t);
    rp_graph_fini(&g);
    return rc;
}
