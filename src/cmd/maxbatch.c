/* maxbatch: the largest batch of a network that a device can train with a verified plan,
 * and the batch with the most samples per second. */
#include <inttypes.h>
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
    struct rp_maxbatch_options search;
    struct rp_zoo_texts zoo;
    const char *device, *budget, *max_overhead, *policy, *plan_out, *graph_out;
    uint64_t host_budget; /* UINT64_MAX: not given */
    double precision;     /* percent */
    bool no_addresses, json;
};

enum { N_OUTPUTS = 3 };

/* Writes graph and plan of the largest batch. */
static rp_rc save_largest(const struct options *o, const struct rp_maxbatch *m,
                          struct rp_err *err) {
    struct rp_graph g;
    if (m->plan_batch == 0)
        return RP_OK;
    rp_rc rc = rp_maxbatch_graph(&o->search, m->plan_batch, &g, err);
    if (rc == RP_OK && o->graph_out != NULL)
        rc = rp_graph_save(&g, o->graph_out, err);
    if (rc == RP_OK && o->plan_out != NULL)
        rc = rp_plan_save(&m->plan, o->plan_out, err);
    rp_graph_fini(&g);
    return rc;
}

/* RP_NO if no batch fits. RP_LIMIT if that is not known, or after an interrupt. */
static rp_rc result(const struct options *o, const struct rp_maxbatch *m,
                    struct rp_err *err) {
    bool interrupted = rp_maxbatch_interrupted(m);
    if (!interrupted && rp_maxbatch_largest(m) != NULL)
        return RP_OK;
    if (!interrupted && !rp_maxbatch_undecided(&o->search, m))
        return RP_NO;
    if (!interrupted)
        return rp_fail(err, RP_LIMIT, "maxbatch: no plan was found");
    if (m->open_to == 0)
        return rp_fail(err, RP_LIMIT,
                       "maxbatch: interrupted, %u batches not planned for speed",
                       m->n_open_for_speed);
    return rp_fail(err, RP_LIMIT,
                   "maxbatch: interrupted, batches %" PRIu64 " to %" PRIu64 " not decided",
                   m->open_from, m->open_to);
}

static rp_rc maxbatch(const struct options *o, struct rp_err *err) {
    const struct rp_named_file outputs[N_OUTPUTS] = {{"--json", o->json ? "-" : NULL},
                                                     {"--out", o->plan_out},
                                                     {"--graph", o->graph_out}};
    struct rp_maxbatch m = {0};
    struct rp_graph g;
    /* A wrong network or option shows here, before any output is opened. */
    rp_rc rc = rp_maxbatch_graph(&o->search, 1, &g, err);
    if (rc == RP_OK) {
        rp_graph_fini(&g);
        rc = rp_check_files("maxbatch", outputs, N_OUTPUTS, err);
    }
    if (rc == RP_OK)
        rc = rp_maxbatch_search(&o->search, &m, err);
    if (rc == RP_OK) {
        bool silent = rp_uses_stdout(outputs, N_OUTPUTS) || rp_log_level() < 0;
        if (o->json || !silent || rp_maxbatch_largest(&m) == NULL)
            rp_maxbatch_report(&o->search, &m, o->json);
        rc = save_largest(o, &m, err);
    }
    if (rc == RP_OK)
        rc = result(o, &m, err);
    rp_maxbatch_fini(&m);
    return rc;
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

static rp_rc parse_device(const struct options *o, struct rp_maxbatch_options *s,
                          struct rp_err *err) {
    rp_rc rc = rp_parse_device("maxbatch", o->device, &s->device, err);
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

static rp_rc parse_texts(struct options *o, struct rp_err *err) {
    struct rp_maxbatch_options *s = &o->search;
    rp_rc rc = rp_zoo_options_parse("maxbatch", s->network, &o->zoo, &s->zoo, err);
    if (rc == RP_OK)
        rc = rp_parse_policy("maxbatch", o->policy, &s->policy_options, &s->policy, err);
    if (rc == RP_OK)
        rc = parse_overhead(o->max_overhead, s, err);
    if (rc == RP_OK)
        rc = parse_device(o, s, err);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.policy = "remat", .precision = 1, .host_budget = UINT64_MAX};
    struct rp_maxbatch_options *s = &o.search;
    bool done;
    int n;
    rp_zoo_options_init(&s->zoo);
    rp_policy_options_init(&s->policy_options);
    s->policy_options.time_limit = 6;
    const struct rp_option table[] = {
        {"device", 'd', RP_OPT_REQUIRED, &o.device, "NAME",
         "plan for this device (required); 'list' lists all", rp_device_name},
        {"budget", 'b', RP_OPT_STRING, &o.budget, "SIZE",
         "device memory (all that the device has)"},
        rp_option_host_budget(&o.host_budget),
        {"max-overhead", 0, RP_OPT_STRING, &o.max_overhead, "PERCENT",
         "accept at most this time over keep-all, or 'forward' (no limit)"},
        {"precision", 0, RP_OPT_NUMBER, &o.precision, "PERCENT",
         "stop when the largest batch is known to within this (1)"},
        {"fit-only", 0, RP_OPT_FLAG, &s->fit_only, NULL, "do not plan for speed"},
        {"policy", 'p', RP_OPT_STRING, &o.policy, "POLICY",
         "plan by this policy, listed below (remat)", rp_policy_name},
        {"time-limit", 't', RP_OPT_POSITIVE, &s->policy_options.time_limit, "SEC",
         "work for at most about SEC seconds on each plan (6)"},
        rp_option_ignore_clock(&s->policy_options.ignore_clock),
        {"out", 'o', RP_OPT_STRING, &o.plan_out, "FILE",
         "write the plan of the largest batch to FILE"},
        {"graph", 'g', RP_OPT_STRING, &o.graph_out, "FILE",
         "write the graph of the largest batch to FILE"},
        RP_ZOO_ROWS(&s->zoo, &o.zoo),
        rp_option_no_addresses(&o.no_addresses),
        rp_option_seed(&s->policy_options.seed),
        rp_option_json(&o.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_maxbatch, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (rp_is_device_list(o.device)) {
        rp_list_devices(o.json);
        return RP_OK;
    }
    if ((rc = rp_check_operands("maxbatch", n, 1, 1, "NETWORK", err)) != RP_OK)
        return rc;
    s->network = argv[1];
    s->policy_options.addressed = !o.no_addresses;
    struct rp_stop stop = {rp_watch_interrupts(), INFINITY};
    s->policy_options.stop = &stop;
    s->precision = o.precision / 100;
    rc = parse_texts(&o, err);
    return rc == RP_OK ? maxbatch(&o, err) : rc;
}

const struct rp_command rp_cmd_maxbatch = {
    .name = "maxbatch",
    .operands = "NETWORK",
    .max_operands = 1, /* none with --device list */
    .operand_names = rp_network_name,
    .summary = "Find the largest batch of a network that fits a device",
    .detail =
        "The largest batch is found by bisection. For each batch the network's graph is\n"
        "planned with the device's times, up to the first plan within --max-overhead;\n"
        "'forward' accepts the time of one more forward pass. Then batches from\n"
        "keep-all's largest to the largest of all are planned for speed, each with all\n"
        "of --time-limit, to find the most samples per second. The budget is all of the\n"
        "device's memory unless --budget is given; note that a driver takes some of it.\n"
        "Host copies may take the memory of the device's usual server, divided by its\n"
        "GPUs, unless --host-budget is given. With --ignore-clock the answer is the same\n"
        "on any machine.\n"
        "Ctrl-C stops: the report lists what is undecided, and the exit code is 4.\n",
    .print_more = rp_print_policies,
    .run = run,
};
