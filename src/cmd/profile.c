/* profile: a graph in, the same graph with the cost of each op out. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/device_argument.h"
#include "cmd/profile.h"
#include "emit/project.h"
#include "model/cost.h"
#include "model/device.h"
#include "model/graph.h"

struct options {
    const char *device, *out, *h2d, *d2h, *graph, *traces, *plan, *program;
    const char *gaps, *tf32;
    uint64_t gpu, repeat; /* NOT_GIVEN: 0 and 20 */
    double warm_up;       /* seconds; below 0: half a second */
    double time_limit;    /* seconds; 0: ten minutes */
    bool json, compare;
};
#define NOT_GIVEN UINT64_MAX

static const char *gaps_name(size_t i) {
    return i < RP_N_GAPS ? rp_gaps_word[i] : NULL;
}

static const char *tf32_name(size_t i) {
    static const char *const words[] = {"none", "conv", "all"}; /* from RP_TF32_NONE on */
    return i < sizeof words / sizeof words[0] ? words[i] : NULL;
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
    printf("step      %s in %" PRIu32 " ops on ", rp_show_ns(g->total_time_ns).s, g->n_ops);
    rp_put_clean(g->device.name, stdout);
    fputs(" (", stdout);
    rp_put_clean(g->time_source, stdout);
    puts(")");
    for (int c = 0; c < RP_N_CLASSES; c++)
        if (sum[c].n_ops > 0)
            printf("%-9s %s in %" PRIu32 " ops\n", rp_op_class_word[c],
                   rp_show_ns(sum[c].ns).s, sum[c].n_ops);
    printf("copies    %.1f GB/s to the device, %.1f GB/s to the host\n",
           1e-9 * (double)g->device.h2d_bytes_per_s,
           1e-9 * (double)g->device.d2h_bytes_per_s);
    rp_put_clean_line("graph     ", out, stdout);
}

static void report_json(const struct rp_graph *g, const char *out) {
    struct class_sum sum[RP_N_CLASSES] = {0};
    struct rp_json_writer w = rp_json_writer_on(stdout);
    sum_classes(g, sum);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "graph", out);
    rp_json_string(&w, "sha256", g->sha256);
    rp_json_string(&w, "time_source", g->time_source);
    rp_json_uint(&w, "time_ns", g->total_time_ns);
    rp_json_uint(&w, "ops", g->n_ops);
    rp_json_uint(&w, "h2d_bytes_per_s", g->device.h2d_bytes_per_s);
    rp_json_uint(&w, "d2h_bytes_per_s", g->device.d2h_bytes_per_s);
    rp_json_object(&w, "classes");
    for (int c = 0; c < RP_N_CLASSES; c++) {
        rp_json_object(&w, rp_op_class_word[c]);
        rp_json_uint(&w, "time_ns", sum[c].ns);
        rp_json_uint(&w, "ops", sum[c].n_ops);
        rp_json_end(&w);
    }
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

static void warn_of_kinds(const struct rp_graph *g, const struct rp_device_model *model,
                          const char *file) {
    char *kinds = rp_cost_doubtful_kinds(g, model, file);
    if (kinds != NULL)
        rp_log(
            0,
            "%s: these kinds compute much, but are not charged as products, which may be "
            "far from true (docs/formats.md lists the kinds that are): %s",
            file, kinds);
    free(kinds);
}

static void warn_of_unknown_dtype(const struct rp_graph *g) {
    const char *dtype = rp_cost_unknown_dtype(g);
    if (dtype != NULL)
        rp_log(0,
               "warning: device models know no rate for dtype %.80s; its ops are charged "
               "by their traffic only",
               dtype);
}

static rp_rc apply_model(const struct options *o, const struct rp_device_model *model,
                         const char *path, struct rp_err *err) {
    struct rp_graph g = {0};
    uint64_t h2d = 0, d2h = 0;
    rp_rc rc = rp_parse_bandwidth("profile", "h2d", o->h2d, &h2d, err);
    if (rc == RP_OK)
        rc = rp_parse_bandwidth("profile", "d2h", o->d2h, &d2h, err);
    if (rc == RP_OK)
        rc = rp_load_graph(path, &g, err);
    if (rc == RP_OK)
        rc = rp_cost_apply(&g, model, rp_path_name(path), err);
    if (rc == RP_OK) {
        warn_of_kinds(&g, model, rp_path_name(path));
        warn_of_unknown_dtype(&g);
    }
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

/* Runs the command argv[0..n-1] and measures it. */
static rp_rc measure(const struct options *o, char **argv, int n, struct rp_err *err) {
    if (o->device != NULL || o->h2d != NULL || o->d2h != NULL)
        return rp_fail(err, RP_USAGE, "profile: %s cannot be combined with --graph",
                       o->device != NULL ? "--device"
                       : o->h2d != NULL  ? "--h2d"
                                         : "--d2h");
    if (n == 0 && o->traces == NULL)
        return rp_fail(err, RP_USAGE,
                       "profile: --graph needs a COMMAND, or --traces of an earlier one "
                       "(try --help)");
    char **command = rp_calloc((size_t)n + 1, sizeof *command);
    memcpy(command, argv, (size_t)n * sizeof *command);
    struct rp_measure m = {o->graph, o->traces, o->out, o->json};
    rp_rc rc = rp_profile_measure(&m, command, err);
    free(command);
    return rc;
}

static rp_rc measure_on_gpu(const struct options *o, const char *path, struct rp_err *err) {
    struct rp_gpu_measure how = {
        .program = o->program,
        .gpu = o->gpu == NOT_GIVEN ? 0 : o->gpu,
        .repeat = o->repeat == NOT_GIVEN ? 20 : o->repeat,
        .warm_up_s = o->warm_up < 0 ? 0.5 : o->warm_up,
        .limit_s = o->time_limit > 0 ? o->time_limit : 600,
    };
    if (o->h2d != NULL || o->d2h != NULL)
        return rp_fail(err, RP_USAGE, "profile: --h2d and --d2h need --device");
    if (how.repeat < 1 || how.repeat > 1000)
        return rp_fail(err, RP_USAGE, "profile: --repeat must be from 1 to 1000");
    if (how.warm_up_s > 60)
        return rp_fail(err, RP_USAGE, "profile: --warm-up must be at most 60");
    size_t gaps = RP_GAPS_GRAPH, tf32 = 0;
    rp_rc rc = RP_OK;
    if (o->gaps != NULL)
        rc = rp_choose("profile", "gaps", o->gaps, gaps_name, &gaps, err);
    if (rc == RP_OK && o->tf32 != NULL)
        rc = rp_choose("profile", "tf32", o->tf32, tf32_name, &tf32, err);
    if (rc != RP_OK)
        return rc;
    how.gaps = (enum rp_gaps)gaps;
    how.tf32 = o->tf32 == NULL ? RP_TF32_AS_GIVEN : (enum rp_tf32)(RP_TF32_NONE + tf32);
    if (o->program != NULL && rp_project_replaces(RP_TARGET_PROFILE, o->program, path))
        return rp_fail(err, RP_USAGE, "profile: --program would replace GRAPH, %s", path);
    struct rp_measure m = {path, NULL, o->out, o->json};
    return rp_profile_on_gpu(&m, &how, err);
}

/* The options of a measurement on this GPU cannot be combined with the other modes. */
static rp_rc check_gpu_options(const struct options *o, struct rp_err *err) {
    const char *other = o->compare          ? "--compare"
                        : o->graph != NULL  ? "--graph"
                        : o->device != NULL ? "--device"
                                            : NULL;
    const char *given = o->gpu != NOT_GIVEN      ? "--gpu"
                        : o->repeat != NOT_GIVEN ? "--repeat"
                        : o->warm_up >= 0        ? "--warm-up"
                        : o->time_limit > 0      ? "--time-limit"
                        : o->gaps != NULL        ? "--gaps"
                        : o->tf32 != NULL        ? "--tf32"
                        : o->program != NULL     ? "--program"
                                                 : NULL;
    if (other == NULL || given == NULL)
        return RP_OK;
    return rp_fail(err, RP_USAGE, "profile: %s cannot be combined with %s", given, other);
}

/* Not with --compare, which writes nothing. */
static rp_rc check_files(const struct options *o, const char *graph, struct rp_err *err) {
    const struct rp_named_file files[] = {
        {"GRAPH", graph, .input = true},
        {"--json", o->json ? "-" : NULL},
        {"--out", o->out},
    };
    if (o->json && strcmp(o->out, "-") == 0)
        return rp_fail(err, RP_USAGE,
                       "profile: --json needs --out FILE, since the graph would go to "
                       "standard output too");
    return rp_check_files("profile", files, sizeof files / sizeof *files, err);
}

static rp_rc profile(const struct options *o, char **operands, int n, struct rp_err *err) {
    const struct rp_device_model *model = NULL;
    rp_rc rc = check_gpu_options(o, err);
    if (rc != RP_OK)
        return rc;
    if (rp_is_device_list(o->device)) {
        rp_list_devices(o->json);
        return RP_OK;
    }
    if (o->device != NULL)
        rc = rp_parse_device("profile", o->device, &model, err);
    if (rc != RP_OK)
        return rc;
    if (o->compare) {
        rc = rp_check_operands("profile", operands, n, 2, 2, "A B", err);
        return rc == RP_OK
                   ? rp_profile_compare(operands[0], operands[1], o->plan, o->json, err)
                   : rc;
    }
    if (o->plan != NULL)
        return rp_fail(err, RP_USAGE, "profile: --plan needs --compare");
    if (o->graph != NULL)
        return (rc = check_files(o, o->graph, err)) == RP_OK ? measure(o, operands, n, err)
                                                             : rc;
    if (o->traces != NULL)
        return rp_fail(err, RP_USAGE, "profile: --traces needs --graph");
    if ((rc = rp_check_operands("profile", operands, n, 1, 1, "GRAPH", err)) != RP_OK ||
        (rc = check_files(o, operands[0], err)) != RP_OK)
        return rc;
    return model != NULL ? apply_model(o, model, operands[0], err)
                         : measure_on_gpu(o, operands[0], err);
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.out = "-", .gpu = NOT_GIVEN, .repeat = NOT_GIVEN, .warm_up = -1};
    const struct rp_option table[] = {
        {"device", 0, RP_OPT_STRING, &o.device, "NAME",
         "model this device instead of measuring; 'list' lists all", rp_device_name},
        {"out", 'o', RP_OPT_STRING, &o.out, "FILE",
         "write the graph to FILE (standard output)"},
        {"h2d", 0, RP_OPT_STRING, &o.h2d, "GB/s", "host-to-device bandwidth; 0 for none"},
        {"d2h", 0, RP_OPT_STRING, &o.d2h, "GB/s", "device-to-host bandwidth; 0 for none"},
        {"graph", 0, RP_OPT_STRING, &o.graph, "GRAPH",
         "measure the ops of GRAPH while COMMAND runs"},
        {"traces", 0, RP_OPT_STRING, &o.traces, "DIR",
         "keep the traces of COMMAND in DIR; without COMMAND, read them"},
        {"gpu", 0, RP_OPT_NAT, &o.gpu, "N", "measure on GPU number N (0)"},
        {"repeat", 0, RP_OPT_NAT, &o.repeat, "N", "measure N steps (20)"},
        {"warm-up", 0, RP_OPT_NUMBER, &o.warm_up, "SECONDS",
         "run the step for this long before it is measured (0.5)"},
        {"time-limit", 't', RP_OPT_POSITIVE, &o.time_limit, "SECONDS",
         "measure fewer steps if all would take longer (600)"},
        {"gaps", 0, RP_OPT_STRING, &o.gaps, "WHICH",
         "which gaps between kernels op times contain: graph, eager or none (graph)",
         gaps_name},
        {"tf32", 0, RP_OPT_STRING, &o.tf32, "WHICH",
         "which f32 ops use TF32: none, conv, or all, products too (as GRAPH says)",
         tf32_name},
        {"program", 0, RP_OPT_STRING, &o.program, "DIR",
         "keep the measured program in DIR; the next build is faster"},
        {"compare", 0, RP_OPT_FLAG, &o.compare, NULL,
         "compare the times of graphs A and B"},
        {"plan", 0, RP_OPT_STRING, &o.plan, "PLAN",
         "with --compare: time PLAN with the times of A and of B"},
        rp_option_json(&o.json),
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&rp_cmd_profile, table, argc, argv, &n, &done, err);
    return rc != RP_OK || done ? rc : profile(&o, argv + 1, n, err);
}

const struct rp_command rp_cmd_profile = {
    .name = "profile",
    .operands = "GRAPH | --graph GRAPH -- COMMAND... | --compare A B",
    .max_operands = INT_MAX,
    .summary = "Measure or model what each op costs on a device",
    .detail =
        "The times are measured with CUPTI on a GPU: a program that runs the step of\n"
        "GRAPH, with the kernels of 'emit', is built with nvcc and run. Copies in both\n"
        "directions are measured too.\n"
        "\n"
        "With --device the times come from a model. The time of an op is the larger of\n"
        "two: its arithmetic at a share of the peak rate (70% for matrix products and\n"
        "convolutions, 50% on tensor cores, 10% for grouped convolutions, 50% for all\n"
        "else), and its memory traffic at 80% of the peak bandwidth. A launch takes 5\n"
        "us more. Copies run at 80% of the host link's rate. attrs.flops states an op's\n"
        "arithmetic: convolutions and matrix products need it, other ops may have none.\n"
        "attrs.traffic_bytes states its traffic, if that is not one read of every input\n"
        "and one write of every output. Ops of integers are charged by traffic alone.\n"
        "\n"
        "With --graph, COMMAND is run and measured with CUPTI. It marks each op with an\n"
        "NVTX range 'rp:OP' and each training step with 'rp:step'. The first of several\n"
        "steps is not measured. See docs/profile.md.\n",
    .run = run,
};
