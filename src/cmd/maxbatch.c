/* maxbatch: the largest batch of a network that a device can train with a verified plan,
 * and the batch with the most samples per second; or the most layers, or the largest width.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/device_argument.h"
#include "cmd/interrupt.h"
#include "cmd/maxbatch_report.h"
#include "cmd/maxbatch_search.h"
#include "cmd/policy_argument.h"
#include "cmd/unit_hint.h"
#include "cmd/zoo_options.h"

/* The command line. */
struct options {
    struct rp_maxbatch_options search; /* without network and device */
    struct rp_zoo_texts zoo;
    char **networks;
    size_t n_networks;
    const char *devices, *budget, *max_overhead, *policy, *engine, *plan_out, *graph_out;
    const char *csv, *h2d, *d2h, *largest;
    uint64_t host_budget; /* UINT64_MAX: not given */
    double precision;     /* percent */
    bool no_addresses, json;
};

enum { N_OUTPUTS = 4 };

typedef RP_VEC(struct rp_maxbatch_answer) answer_list;

/* Writes graph and plan of the largest size. */
static rp_rc save_largest(const struct options *o, const struct rp_maxbatch_answer *a,
                          struct rp_err *err) {
    struct rp_graph g;
    const struct rp_size *largest = rp_maxbatch_largest(&a->found);
    if (largest == NULL || (o->graph_out == NULL && o->plan_out == NULL))
        return RP_OK;
    rp_rc rc = rp_maxbatch_graph(&a->options, largest->size, &g, err);
    if (rc == RP_OK && o->graph_out != NULL)
        rc = rp_graph_save(&g, o->graph_out, err);
    if (rc == RP_OK && o->plan_out != NULL)
        rc = rp_plan_save(&largest->plan, o->plan_out, err);
    rp_graph_fini(&g);
    return rc;
}

/* RP_LIMIT if the answer is not known, or after an interrupt. RP_NO if nothing fits. */
static rp_rc result(const struct rp_maxbatch_answer *a, struct rp_err *err) {
    static const char *const sizes[RP_N_EXTENTS] = {"batches", "layers", "widths"};
    const char *what = sizes[a->options.extent];
    const struct rp_maxbatch *m = &a->found;
    bool interrupted = rp_maxbatch_interrupted(m);
    if (!interrupted && rp_maxbatch_largest(m) != NULL)
        return RP_OK;
    if (!interrupted && !rp_maxbatch_undecided(&a->options, m))
        return RP_NO;
    if (!interrupted)
        return rp_fail(err, RP_LIMIT, "maxbatch: no plan was found");
    if (m->open_to == 0)
        return rp_fail(err, RP_LIMIT, "maxbatch: interrupted, %u %s not planned for speed",
                       m->n_open_for_speed, what);
    if (m->open_to == UINT64_MAX)
        return rp_fail(err, RP_LIMIT,
                       "maxbatch: interrupted, %s from %" PRIu64 " on not decided", what,
                       m->open_from);
    return rp_fail(err, RP_LIMIT,
                   "maxbatch: interrupted, %s %" PRIu64 " to %" PRIu64 " not decided", what,
                   m->open_from, m->open_to);
}

/* RP_LIMIT if that is the result of any, RP_NO if nothing of any fits. */
static rp_rc result_of_all(const answer_list *list, struct rp_err *err) {
    rp_rc all = RP_NO;
    for (size_t i = 0; i < list->n; i++) {
        rp_rc rc = result(&list->at[i], err);
        if (rc == RP_LIMIT)
            return rc;
        all = rc == RP_OK ? RP_OK : all;
    }
    return all;
}

static bool any_fits(const answer_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (rp_maxbatch_largest(&list->at[i].found) != NULL)
            return true;
    return false;
}

/* Reports, also on standard output if nothing fits and it holds no file. */
static rp_rc report(const struct options *o, const struct rp_named_file *outputs,
                    const answer_list *list, struct rp_err *err) {
    bool silent = rp_uses_stdout(outputs, N_OUTPUTS) || rp_log_level() < 0;
    if (o->json || !silent || (list->n == 1 && !any_fits(list)))
        rp_maxbatch_report(list->at, list->n, o->json);
    rp_rc rc =
        o->csv != NULL ? rp_maxbatch_save_csv(list->at, list->n, o->csv, err) : RP_OK;
    return rc == RP_OK && list->n == 1 ? save_largest(o, &list->at[0], err) : rc;
}

static rp_rc maxbatch(const struct options *o, answer_list *list, struct rp_err *err) {
    const struct rp_named_file outputs[N_OUTPUTS] = {{"--json", o->json ? "-" : NULL},
                                                     {"--csv", o->csv},
                                                     {"--out", o->plan_out},
                                                     {"--graph", o->graph_out}};
    struct rp_graph g;
    rp_rc rc = RP_OK;
    if (list->n > 1 && (o->plan_out != NULL || o->graph_out != NULL))
        return rp_fail(err, RP_USAGE, "maxbatch: %s is for one network and one device",
                       o->plan_out != NULL ? "--out" : "--graph");
    /* A wrong network or option shows here, before any output is opened. */
    for (size_t i = 0; i < list->n && rc == RP_OK; i++) {
        rc = rp_maxbatch_graph(&list->at[i].options, rp_maxbatch_unit(&list->at[i].options),
                               &g, err);
        if (rc == RP_OK)
            rp_graph_fini(&g);
    }
    if (rc == RP_OK)
        rc = rp_check_files("maxbatch", outputs, N_OUTPUTS, err);
    for (size_t i = 0; i < list->n && rc == RP_OK; i++)
        rc = rp_maxbatch_search(&list->at[i].options, &list->at[i].found, err);
    if (rc == RP_OK)
        rc = report(o, outputs, list, err);
    return rc == RP_OK ? result_of_all(list, err) : rc;
}

/* ---- options ---- */

static rp_rc parse_overhead(const char *text, struct rp_maxbatch_options *s,
                            struct rp_err *err) {
    char *end;
    s->max_overhead = -1;
    s->one_forward = text != NULL && strcmp(text, "forward") == 0;
    if (text == NULL || s->one_forward)
        return RP_OK;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (strspn(text, "0123456789.%") != strlen(text) || *end != '\0' || end == text)
        return rp_fail(
            err, RP_USAGE,
            "maxbatch: --max-overhead: '%s' is neither a share such as 10%% nor 'forward'",
            text);
    s->max_overhead = percent / 100;
    return RP_OK;
}

static rp_rc parse_device(const struct options *o, const char *name,
                          struct rp_maxbatch_options *s, struct rp_err *err) {
    rp_rc rc = rp_parse_device("maxbatch", name, &s->device, err);
    if (rc != RP_OK)
        return rc;
    s->policy_options.budget_bytes = s->device->memory_bytes;
    s->host = rp_host_budget_choose(o->host_budget, s->device->name);
    s->policy_options.host_bytes = s->host.bytes;
    if (o->budget != NULL && !rp_parse_bytes(o->budget, &s->policy_options.budget_bytes))
        return rp_fail(err, RP_USAGE,
                       "maxbatch: --budget: '%.200s' is not a size such as 15GiB%s",
                       o->budget, rp_hint_of_size(o->budget, false).s);
    return RP_OK;
}

static const char *extent_name(size_t i) {
    return i < RP_N_EXTENTS ? rp_extent_word[i] : NULL;
}

/* What is searched for cannot be given too. */
static rp_rc parse_extent(const char *text, struct rp_maxbatch_options *s,
                          struct rp_err *err) {
    const uint64_t given[RP_N_EXTENTS] = {s->zoo.batch, s->zoo.layers, s->zoo.width};
    size_t chosen = RP_EXTENT_BATCH;
    rp_rc rc = RP_OK;
    if (text != NULL)
        rc = rp_choose("maxbatch", "largest", text, extent_name, &chosen, err);
    s->extent = (enum rp_extent)chosen;
    if (rc == RP_OK && given[chosen] != RP_ZOO_DEFAULT)
        return rp_fail(err, RP_USAGE, "maxbatch: --%s is what --largest %s looks for",
                       extent_name(chosen), extent_name(chosen));
    return rc;
}

/* Not every network has every extent. */
static rp_rc check_extent(const struct rp_maxbatch_options *s, struct rp_err *err) {
    if (s->extent == RP_EXTENT_BATCH || rp_maxbatch_unit(s) > 0)
        return RP_OK;
    return rp_fail(err, RP_USAGE, "maxbatch: --largest %s does not apply to %s",
                   extent_name(s->extent), s->network);
}

/* What all networks and devices share. */
static rp_rc parse_shared(struct options *o, struct rp_err *err) {
    struct rp_maxbatch_options *s = &o->search;
    rp_rc rc = rp_parse_policy("maxbatch", o->policy, &s->policy_options, &s->policy, err);
    if (rc == RP_OK)
        rc = rp_check_policy_allowed("maxbatch", s->policy, false,
                                     s->policy_options.no_swap, err);
    if (rc == RP_OK)
        rc = rp_parse_engine("maxbatch", o->engine, &s->policy_options.engine, err);
    if (rc == RP_OK)
        rc = parse_extent(o->largest, s, err);
    if (rc == RP_OK)
        rc = parse_overhead(o->max_overhead, s, err);
    if (rc == RP_OK)
        rc = rp_parse_bandwidth("maxbatch", "h2d", o->h2d, &s->h2d_bytes_per_s, err);
    if (rc == RP_OK)
        rc = rp_parse_bandwidth("maxbatch", "d2h", o->d2h, &s->d2h_bytes_per_s, err);
    return rc;
}

/* Adds the networks on one device, without their answers. */
static rp_rc add_device(const struct options *o, const char *device, answer_list *list,
                        struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < o->n_networks && rc == RP_OK; i++) {
        struct rp_maxbatch_answer a = {.options = o->search};
        a.options.network = o->networks[i];
        rc = rp_zoo_options_parse("maxbatch", o->networks[i], &o->zoo, &a.options.zoo, err);
        if (rc == RP_OK)
            rc = check_extent(&a.options, err);
        if (rc == RP_OK)
            rc = parse_device(o, device, &a.options, err);
        rp_push(list, a);
    }
    return rc;
}

static rp_rc maxbatch_on_devices(struct options *o, struct rp_err *err) {
    answer_list list = {0};
    char *copy = rp_strdup(o->devices), *rest = copy, *device;
    rp_rc rc = parse_shared(o, err);
    while (rc == RP_OK && (device = strsep(&rest, ",")) != NULL)
        rc = add_device(o, device, &list, err);
    if (rc == RP_OK)
        rc = maxbatch(o, &list, err);
    for (size_t i = 0; i < list.n; i++)
        rp_maxbatch_fini(&list.at[i].found);
    free(list.at);
    free(copy);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.policy = "remat", .precision = 1, .host_budget = UINT64_MAX};
    struct rp_maxbatch_options *s = &o.search;
    bool done;
    int n;
    rp_zoo_options_init(&s->zoo);
    rp_policy_options_init(&s->policy_options);
    s->h2d_bytes_per_s = s->d2h_bytes_per_s = UINT64_MAX;
    s->policy_options.ignore_clock = true; /* the same answer on every run */
    s->policy_options.time_limit = 6;
    const struct rp_option table[] = {
        {"device", 'd', RP_OPT_REQUIRED, &o.devices, "A,B,C",
         "plan for these devices (required); 'list' lists all", rp_device_name},
        {"largest", 0, RP_OPT_STRING, &o.largest, "WHAT",
         "find the largest batch, layers or width (batch)", extent_name},
        {"batch", 0, RP_OPT_NAT, &s->zoo.batch, "N",
         "samples per step, for --largest layers or width"},
        {"budget", 'b', RP_OPT_STRING, &o.budget, "SIZE",
         "device memory (all that the device has)"},
        rp_option_host_budget(&o.host_budget),
        {"no-swap", 0, RP_OPT_FLAG, &s->policy_options.no_swap, NULL,
         "copy nothing to the host"},
        {"h2d", 0, RP_OPT_STRING, &o.h2d, "GB/s",
         "host-to-device bandwidth, instead of the device's"},
        {"d2h", 0, RP_OPT_STRING, &o.d2h, "GB/s",
         "device-to-host bandwidth, instead of the device's"},
        {"max-overhead", 0, RP_OPT_STRING, &o.max_overhead, "PERCENT",
         "accept at most this time over keep-all, or 'forward' (no limit)"},
        {"precision", 0, RP_OPT_NUMBER, &o.precision, "PERCENT",
         "stop when the largest size is known to within this (1)"},
        {"fit-only", 0, RP_OPT_FLAG, &s->fit_only, NULL, "do not plan for speed"},
        {"policy", 'p', RP_OPT_STRING, &o.policy, "POLICY",
         "plan by this policy, listed below (remat)", rp_policy_name},
        {"time-limit", 't', RP_OPT_POSITIVE, &s->policy_options.time_limit, "SEC",
         "do the work of about SEC seconds for each plan (6)"},
        {"out", 'o', RP_OPT_STRING, &o.plan_out, "FILE",
         "write the plan of the largest size to FILE"},
        {"graph", 'g', RP_OPT_STRING, &o.graph_out, "FILE",
         "write the graph of the largest size to FILE"},
        {"csv", 0, RP_OPT_STRING, &o.csv, "FILE",
         "write a line for each network and device to FILE"},
        RP_ZOO_ROWS(&s->zoo, &o.zoo),
        rp_option_no_addresses(&o.no_addresses),
        rp_option_seed(&s->policy_options.seed),
        rp_option_engine(&o.engine),
        rp_option_json(&o.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_maxbatch, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (rp_is_device_list(o.devices)) {
        rp_list_devices(o.json);
        return RP_OK;
    }
    rc = rp_check_operands("maxbatch", argv + 1, n, 1, INT_MAX, "NETWORK...", err);
    if (rc != RP_OK)
        return rc;
    o.networks = argv + 1;
    o.n_networks = (size_t)n;
    s->policy_options.addressed = !o.no_addresses;
    struct rp_stop stop = {rp_watch_interrupts(), INFINITY};
    s->policy_options.stop = &stop;
    s->precision = o.precision / 100;
    return maxbatch_on_devices(&o, err);
}

const struct rp_command rp_cmd_maxbatch = {
    .name = "maxbatch",
    .operands = "NETWORK...",
    .max_operands = INT_MAX, /* none with --device list */
    .operand_names = rp_network_name,
    .summary = "Find the largest batch or network that fits a device",
    .detail =
        "The largest batch is found by bisection. For each batch the network's graph is\n"
        "planned with the device's times, up to the first plan within --max-overhead;\n"
        "'forward' accepts the time of one more forward pass. Then batches from\n"
        "keep-all's largest to the largest of all are planned for speed, each with all\n"
        "of --time-limit, to find the most samples per second. --largest layers or width\n"
        "finds the largest network with the same batch instead. The budget is all of the\n"
        "device's memory unless --budget is given; note that a driver takes some of it.\n"
        "Host copies may take the memory of the device's usual server, divided by its\n"
        "GPUs, unless --host-budget is given. The answer is the same on every run and on\n"
        "any machine: --time-limit counts work, not seconds. Several networks or devices\n"
        "give one table.\n"
        "Ctrl-C stops: the report lists what is undecided, and the exit code is 4.\n",
    .print_more = rp_print_policies,
    .run = run,
};
