/* profile: a graph in, the same graph with what each op costs out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/profile.h"
#include "model/cost.h"
#include "model/device.h"
#include "model/graph.h"

struct options {
    const char *device, *out, *h2d, *d2h, *graph, *traces, *plan, *program;
    uint64_t gpu, repeat; /* NOT_GIVEN: 0 and 20 */
    bool json, compare;
};
#define NOT_GIVEN UINT64_MAX

static void list_devices(void) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    puts("device             memory    GB/s  peak TFLOP/s of f32, f16, bf16   host GB/s");
    for (size_t i = 0; i < n; i++)
        printf("%-16s %8s %7.0f %12.1f %8.1f %8.1f %11.1f  %s\n", m[i].name,
               rp_show_bytes(m[i].memory_bytes).s, 1e-9 * (double)m[i].memory_bytes_per_s,
               1e-12 * (double)m[i].f32_flops, 1e-12 * (double)m[i].f16_flops,
               1e-12 * (double)m[i].bf16_flops, 1e-9 * (double)m[i].link_bytes_per_s,
               m[i].title);
}

static void list_devices_json(void) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    fputs("{\"devices\":[", stdout);
    for (size_t i = 0; i < n; i++) {
        printf("%s{\"name\":\"%s\",\"title\":", i ? ",\n" : "\n", m[i].name);
        rp_json_put_string(stdout, m[i].title);
        printf(",\"memory_bytes\":%" PRIu64 ",\"memory_bytes_per_s\":%" PRIu64
               ",\"f32_flops\":%" PRIu64 ",\"f16_flops\":%" PRIu64
               ",\"bf16_flops\":%" PRIu64 ",\"link_bytes_per_s\":%" PRIu64 "}",
               m[i].memory_bytes, m[i].memory_bytes_per_s, m[i].f32_flops, m[i].f16_flops,
               m[i].bf16_flops, m[i].link_bytes_per_s);
    }
    puts("]}");
}

static rp_rc unknown_device(const char *name, struct rp_err *err) {
    size_t n, len;
    const struct rp_device_model *m = rp_device_models(&n);
    char *names;
    FILE *f = rp_text_open(&names, &len);
    for (size_t i = 0; i < n; i++)
        fprintf(f, " %s", m[i].name);
    rp_text_close(f);
    rp_rc rc = rp_fail(err, RP_USAGE, "profile: no device model '%.80s'; there are:%s",
                       name, names);
    free(names);
    return rc;
}

struct class_sum {
    uint64_t ns;
    uint32_t n_ops;
};

static void sum_classes(const struct rp_graph *g, struct class_sum sum[RP_N_CLASSES]) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        struct class_sum *s = &sum[rp_op_class(&g->ops[i])];
        s->ns += g->ops[i].time_ns; /* no more than total_time_ns */
        s->n_ops++;
    }
}

static void report(const struct rp_graph *g, const char *out) {
    struct class_sum sum[RP_N_CLASSES] = {0};
    sum_classes(g, sum);
    printf("step      %s in %" PRIu32 " ops on %s (%s)\n", rp_show_ns(g->total_time_ns).s,
           g->n_ops, g->device.name, g->time_source);
    for (int c = 0; c < RP_N_CLASSES; c++)
        if (sum[c].n_ops > 0)
            printf("%-9s %s in %" PRIu32 " ops\n", rp_op_class_word[c],
                   rp_show_ns(sum[c].ns).s, sum[c].n_ops);
    printf("copies    %.1f GB/s to the device, %.1f GB/s to the host\n",
           1e-9 * (double)g->device.h2d_bytes_per_s,
           1e-9 * (double)g->device.d2h_bytes_per_s);
    printf("graph     %s\n", out);
}

static void report_json(const struct rp_graph *g, const char *out) {
    struct class_sum sum[RP_N_CLASSES] = {0};
    sum_classes(g, sum);
    printf("{\"graph\":");
    rp_json_put_string(stdout, out);
    printf(",\"sha256\":\"%s\",\"time_source\":", g->sha256);
    rp_json_put_string(stdout, g->time_source);
    printf(",\"time_ns\":%" PRIu64 ",\"ops\":%" PRIu32 ",\"h2d_bytes_per_s\":%" PRIu64
           ",\"d2h_bytes_per_s\":%" PRIu64 ",\"classes\":{",
           g->total_time_ns, g->n_ops, g->device.h2d_bytes_per_s,
           g->device.d2h_bytes_per_s);
    for (int c = 0; c < RP_N_CLASSES; c++)
        printf("%s\"%s\":{\"time_ns\":%" PRIu64 ",\"ops\":%" PRIu32 "}", c ? "," : "",
               rp_op_class_word[c], sum[c].ns, sum[c].n_ops);
    printf("}}\n");
}

static rp_rc apply(const struct options *o, const char *path, struct rp_err *err) {
    struct rp_graph g = {0};
    const struct rp_device_model *model = rp_device_find(o->device);
    if (model == NULL)
        return unknown_device(o->device, err);
    uint64_t h2d = 0, d2h = 0;
    rp_rc rc = rp_parse_bandwidth("profile", "h2d", o->h2d, &h2d, err);
    if (rc == RP_OK)
        rc = rp_parse_bandwidth("profile", "d2h", o->d2h, &d2h, err);
    if (rc == RP_OK)
        rc = rp_graph_load(path, &g, err);
    if (rc == RP_OK)
        rc = rp_cost_apply(&g, model, rp_path_name(path), err);
    if (rc == RP_OK && o->h2d != NULL)
        g.device.h2d_bytes_per_s = h2d;
    if (rc == RP_OK && o->d2h != NULL)
        g.device.d2h_bytes_per_s = d2h;
    if (rc == RP_OK)
        rc = rp_graph_save(&g, o->out, err);
    if (rc == RP_OK && strcmp(o->out, "-") != 0 && (o->json || rp_log_level() >= 0))
        (o->json ? report_json : report)(&g, o->out);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc measure(const struct options *o, char **words, int n, struct rp_err *err) {
    if (o->device != NULL || o->h2d != NULL || o->d2h != NULL)
        return rp_fail(err, RP_USAGE, "profile: --graph measures; --device models");
    if (n == 0 && o->traces == NULL)
        return rp_fail(err, RP_USAGE, "profile: --graph needs a COMMAND (try --help)");
    char **command = rp_calloc((size_t)n + 1, sizeof *command);
    memcpy(command, words, (size_t)n * sizeof *command);
    struct rp_measure m = {o->graph, o->traces, o->out, o->json};
    rp_rc rc = rp_profile_measure(&m, command, err);
    free(command);
    return rc;
}

static rp_rc on_gpu(const struct options *o, const char *path, struct rp_err *err) {
    const uint64_t gpu = o->gpu == NOT_GIVEN ? 0 : o->gpu;
    const uint64_t repeat = o->repeat == NOT_GIVEN ? 20 : o->repeat;
    if (o->h2d != NULL || o->d2h != NULL)
        return rp_fail(err, RP_USAGE, "profile: --h2d and --d2h go with --device");
    if (repeat < 1 || repeat > 1000)
        return rp_fail(err, RP_USAGE, "profile: --repeat: 1 to 1000 steps");
    struct rp_measure m = {path, NULL, o->out, o->json};
    return rp_profile_on_gpu(&m, o->program, gpu, repeat, err);
}

/* The other ways have no use for these. */
static rp_rc check_gpu_options(const struct options *o, struct rp_err *err) {
    const char *other = o->compare          ? "--compare"
                        : o->graph != NULL  ? "--graph"
                        : o->device != NULL ? "--device"
                                            : NULL;
    const char *given = o->gpu != NOT_GIVEN      ? "--gpu"
                        : o->repeat != NOT_GIVEN ? "--repeat"
                        : o->program != NULL     ? "--program"
                                                 : NULL;
    if (other == NULL || given == NULL)
        return RP_OK;
    return rp_fail(err, RP_USAGE, "profile: %s is not for %s", given, other);
}

static const struct rp_command command = {
    "profile",
    "GRAPH | --graph GRAPH -- COMMAND... | --compare A B",
    "Fill in what each op of GRAPH costs on a device.",
    "The times are measured with CUPTI on a GPU: a program that runs the step of GRAPH,\n"
    "with the kernels of 'emit', is built with nvcc and run; so are copies both ways.\n"
    "\n"
    "With --device the times come from a model: for each op the larger of its arithmetic\n"
    "at a share of the peak rate (70% for matrix products and convolutions, 50% on tensor\n"
    "cores, 10% for grouped convolutions, 50% elsewhere) and its memory traffic at 80% of\n"
    "the peak bandwidth, plus 5 us a launch. Copies run at 80% of the host link's rate.\n"
    "Each op states its operations in attrs.flops, and attrs.traffic_bytes where it does\n"
    "not read its inputs and write its outputs once each.\n"
    "\n"
    "With --graph, COMMAND is run and measured with CUPTI. It marks each op with an NVTX\n"
    "range 'rp:OP', and each training step with 'rp:step'; the first of several steps is\n"
    "for warming up. See docs/profile.md.\n",
};

rp_rc rp_cmd_profile(int argc, char **argv, struct rp_err *err) {
    struct options o = {.out = "-", .gpu = NOT_GIVEN, .repeat = NOT_GIVEN};
    const struct rp_option table[] = {
        {"device", 0, RP_OPT_STRING, &o.device, "NAME",
         "model this device; 'list' names them all"},
        {"out", 'o', RP_OPT_STRING, &o.out, "FILE",
         "write the graph here (standard output)"},
        {"h2d", 0, RP_OPT_STRING, &o.h2d, "GB/s", "host-to-device copies; 0: none"},
        {"d2h", 0, RP_OPT_STRING, &o.d2h, "GB/s", "device-to-host copies; 0: none"},
        {"graph", 0, RP_OPT_STRING, &o.graph, "GRAPH",
         "measure its ops while COMMAND runs"},
        {"traces", 0, RP_OPT_STRING, &o.traces, "DIR",
         "keep COMMAND's traces here, or read them again"},
        {"gpu", 0, RP_OPT_NAT, &o.gpu, "N", "measure on this GPU (0)"},
        {"repeat", 0, RP_OPT_NAT, &o.repeat, "N", "measure so many steps (20)"},
        {"program", 0, RP_OPT_STRING, &o.program, "DIR",
         "keep the program that is measured; the next is built sooner"},
        {"compare", 0, RP_OPT_FLAG, &o.compare, NULL,
         "say how far the times of graphs A and B are apart"},
        {"plan", 0, RP_OPT_STRING, &o.plan, "PLAN",
         "with --compare: what that does to this plan"},
        {"json", 0, RP_OPT_FLAG, &o.json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if ((rc = check_gpu_options(&o, err)) != RP_OK)
        return rc;
    if (o.device != NULL && strcmp(o.device, "list") == 0) {
        if (o.json || rp_log_level() >= 0)
            (o.json ? list_devices_json : list_devices)();
        return RP_OK;
    }
    if (o.compare && n != 2)
        return rp_fail(err, RP_USAGE, "profile: --compare needs two graphs, not %d", n);
    if (o.compare)
        return rp_profile_compare(argv[1], argv[2], o.plan, o.json, err);
    if (o.plan != NULL)
        return rp_fail(err, RP_USAGE, "profile: --plan goes with --compare");
    if (o.json && strcmp(o.out, "-") == 0)
        return rp_fail(err, RP_USAGE, "profile: --json needs -o FILE");
    if (o.graph != NULL)
        return measure(&o, argv + 1, n, err);
    if (o.traces != NULL)
        return rp_fail(err, RP_USAGE, "profile: --traces goes with --graph");
    if (n != 1)
        return rp_fail(err, RP_USAGE, "profile: needs one GRAPH, not %d (try --help)", n);
    return o.device != NULL ? apply(&o, argv[1], err) : on_gpu(&o, argv[1], err);
}
