/* solve: a graph and a budget in, a verified plan out. What the options of the search do
 * (--gap, --reorder, ...) is in struct rp_solve_options, solve/solver.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/budget_argument.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/interrupt.h"
#include "cmd/policy_argument.h"
#include "cmd/solve_certificate.h"
#include "cmd/solve_exchange.h"
#include "cmd/solve_policy.h"
#include "cmd/solve_report.h"
#include "policy/phases.h"
#include "policy/quick_plans.h"
#include "solve/core/instance.h"
#include "solve/core/warm_start.h"
#include "solve/solver.h"
#include "solve/statistics.h"

/* Bandwidths instead of the graph's. They change the graph, and the plan is for the changed
 * one. */
struct bandwidths {
    const char *h2d, *d2h, *graph_out;
};

struct options {
    struct rp_budget_texts budget;
    const char *start, *policy_text, *engine;
    struct bandwidths bandwidths;
    bool no_recompute, no_swap, no_addresses, given_order;
    double gap; /* percent; negative: not given */
    struct rp_output_options output;
    struct rp_solve_options solve;
    struct rp_exchange_options exchange;
    const struct rp_policy *policy; /* NULL: search */
    struct rp_policy_options policy_options;
    struct rp_stop stop; /* of the policy */
    double begin;        /* rp_seconds() when the time limit began to count */
};

/* ---- what the search starts from ---- */

/* Loads the plan of --start. It must be valid and for this graph, and without --reorder its
 * first runs must come in the graph's order. */
static rp_rc load_start(const struct rp_graph *g, const char *path, bool reorder,
                        struct rp_plan *plan, struct rp_err *err) {
    struct rp_verdict v;
    struct rp_err reason = {{0}};
    rp_rc rc = rp_plan_load(path, plan, err);
    if (rc == RP_OK && strcmp(plan->graph_sha256, g->sha256) != 0)
        rc = rp_fail(
            err, RP_INPUT,
            "%s: this plan is for \"%.80s\" (sha256 %.12s...), this graph is \"%.80s\" "
            "(sha256 %.12s...)",
            rp_path_name(path), plan->graph_name, plan->graph_sha256, g->name, g->sha256);
    else if (rc == RP_OK && rp_verify(g, plan, &v, &reason) != RP_OK)
        rc = rp_fail(err, RP_INPUT, "%s: %.900s", rp_path_name(path), reason.msg);
    uint32_t *order = rp_calloc(g->n_ops, sizeof *order);
    if (rc == RP_OK)
        rp_plan_first_runs(g, plan, order);
    for (uint32_t i = 0; i < g->n_ops && rc == RP_OK && !reorder; i++)
        if (order[i] != i)
            rc = rp_fail(err, RP_INPUT,
                         "%s: op %" PRIu32 " runs before op %" PRIu32
                         ", not in the graph's order (try --reorder)",
                         rp_path_name(path), order[i], i);
    free(order);
    if (rc != RP_OK)
        rp_plan_fini(plan);
    return rc;
}

/* Makes a plan by a published policy as a warm start. On graphs of thousands of ops a
 * search from keep-all is weak. On smaller graphs, the search found the same plan or a
 * better one without this warm start. Graphs captured from PyTorch always get one: no plan
 * may be slower than that of PyTorch's own partitioner. Nor may one be slower than those
 * that stream sources from the host by a fixed rule. False if there is none. The caller
 * empties *plan. */
static bool make_initial_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                              struct rp_plan *plan) {
    enum { MAX_OPS_WITHOUT = 2000, POLICY_OPS_PER_S = 2000 };
    bool large = !o->reorder && g->n_ops > MAX_OPS_WITHOUT;
    bool fits = !rp_any_home(g, RP_HOME_HOST) &&
                rp_keep_all_bytes(g, o->addressed) <= o->budget_bytes;
    if (fits ||
        (g->n_ops > POLICY_OPS_PER_S * o->time_limit && !rp_is_too_large_to_search(g)))
        return false;
    if (rp_any_source_may_move(g)) {
        if (!rp_streamed_policy_plan(g, o, plan))
            return false;
    } else if (!o->recompute || !(large || rp_is_captured(g)) ||
               !rp_quick_policy_plan(g, o, plan)) {
        return false;
    }
    rp_log(1, "initial plan: %s over keep-all",
           rp_show_percent(plan->claims.time_ns - g->total_time_ns, g->total_time_ns).s);
    return true;
}

/* ---- the search ---- */

static rp_rc solve_and_report(const struct rp_graph *g, const struct rp_solve_options *o,
                              const struct rp_output_options *output, struct rp_err *err) {
    struct rp_plan plan = {0};
    struct rp_solve_report report;
    struct rp_verdict v;
    const struct rp_statistics *statistics = output->stats ? o->statistics : NULL;
    double begin = rp_seconds();
    rp_rc rc = rp_solve(g, o, &plan, &report, err);
    rp_progress_end();
    if (report.start_left_out)
        rp_log(0,
               "the plan of --start cannot be expressed as a schedule; the search starts "
               "without it");
    if (rc == RP_OK)
        rc = rp_verify_own_plan("solve", g, &plan, &v, err);
    if (rc == RP_OK && output->json)
        rp_solve_report_json(g, &plan, &report, &v, statistics, rp_seconds() - begin,
                             stdout);
    else if (rc == RP_OK && !output->silent && rp_log_level() >= 0) {
        rp_solve_report_text(g, &plan, &report, &v, stdout);
        rp_solve_report_unwritten(output->plan, stdout);
    } else if (rc == RP_NO || rc == RP_LIMIT)
        rp_solve_report_no_plan(g, o, &report, rc, statistics, output->json, stdout);
    if (statistics != NULL && !output->json && !output->silent)
        rp_statistics_text(statistics, stdout);
    if (rc == RP_OK && output->plan != NULL)
        rc = rp_plan_save(&plan, output->plan, err);
    if (rc == RP_OK && o->certificate != NULL)
        rp_warn_of_certificate(g, &plan, o->certificate);
    if (rc == RP_LIMIT)
        rp_fail_without_plan(o->stop, err);
    rp_plan_fini(&plan);
    return rc;
}

/* The time limit counts from `begin`, in rp_seconds(). */
static rp_rc search(const struct rp_graph *g, struct rp_solve_options *o, double begin,
                    const struct rp_output_options *output, struct rp_err *err) {
    struct rp_plan initial = {0};
    struct rp_statistics statistics = {0};
    o->statistics = &statistics;
    if (o->start == NULL && make_initial_plan(g, o, &initial))
        o->start = &initial;
    o->spent = rp_seconds() - begin;
    rp_rc rc = solve_and_report(g, o, output, err);
    rp_plan_fini(&initial);
    return rc;
}

/* ---- options ---- */

static rp_rc check_bandwidths(const struct bandwidths *b, bool plan_wanted,
                              struct rp_err *err) {
    bool changed = b->h2d != NULL || b->d2h != NULL;
    if (!changed && b->graph_out != NULL)
        return rp_fail(err, RP_USAGE, "solve: --graph-out needs --h2d or --d2h");
    if (changed && plan_wanted && b->graph_out == NULL)
        return rp_fail(err, RP_USAGE,
                       "solve: --h2d and --d2h change the graph, and the plan is for the "
                       "changed one: add --graph-out FILE to write it");
    return RP_OK;
}

static rp_rc change_bandwidths(const struct bandwidths *b, struct rp_graph *g,
                               struct rp_err *err) {
    rp_rc rc = rp_parse_bandwidth("solve", "h2d", b->h2d, &g->device.h2d_bytes_per_s, err);
    if (rc == RP_OK)
        rc = rp_parse_bandwidth("solve", "d2h", b->d2h, &g->device.d2h_bytes_per_s, err);
    g->has_device = g->has_device || b->h2d != NULL || b->d2h != NULL;
    return rc == RP_OK && b->graph_out != NULL ? rp_graph_save(g, b->graph_out, err) : rc;
}

/* Warns of what is legal, but may not be what was meant. */
static void warn(const struct rp_graph *g, const struct rp_solve_options *o,
                 const struct bandwidths *b, bool search) {
    const struct rp_device *d = &g->device;
    if (g->has_device && d->memory_bytes > 0 && o->budget_bytes > d->memory_bytes)
        rp_log(0, "the budget, %s, is larger than the device's memory, %s",
               rp_show_bytes(o->budget_bytes).s, rp_show_bytes(d->memory_bytes).s);
    bool unknown = d->h2d_bytes_per_s == 0 || d->d2h_bytes_per_s == 0;
    bool set_to_0 = (b->h2d != NULL && d->h2d_bytes_per_s == 0) ||
                    (b->d2h != NULL && d->d2h_bytes_per_s == 0);
    if (search && o->swap && unknown && !set_to_0)
        rp_log(0,
               "no swaps are planned: the graph's device has no %s (set both with --h2d "
               "and --d2h)",
               d->h2d_bytes_per_s > 0   ? "bandwidth to the host"
               : d->d2h_bytes_per_s > 0 ? "bandwidth from the host"
                                        : "bandwidths");
}

/* Checks that the other options make sense with --policy. */
static rp_rc check_policy(const struct options *o, struct rp_err *err) {
    const struct rp_policy *policy = o->policy;
    const char *wrong = o->start != NULL               ? "--start"
                        : o->output.stats              ? "--stats"
                        : o->solve.reorder             ? "--reorder"
                        : o->solve.certificate != NULL ? "--certificate"
                        : policy->record == NULL       ? NULL
                        : o->gap >= 0                  ? "--gap"
                        : o->solve.ignore_clock        ? "--ignore-clock"
                        : o->engine != NULL            ? "--engine"
                                                       : NULL;
    if (wrong != NULL)
        return rp_fail(err, RP_USAGE, "solve: %s cannot be combined with --policy %s",
                       wrong, policy->name);
    return rp_check_policy_allowed("solve", policy, o->no_recompute, o->no_swap, err);
}

/* Checks that the other options make sense with a model or solution for other solvers. */
static rp_rc check_exchange(const struct options *o, struct rp_err *err) {
    const struct rp_exchange_options *e = &o->exchange;
    bool starts = o->start != NULL && (e->point == NULL || e->solution != NULL);
    const char *wrong = starts                         ? "--start"
                        : o->output.stats              ? "--stats"
                        : o->solve.reorder             ? "--reorder"
                        : o->solve.certificate != NULL ? "--certificate"
                        : o->gap >= 0                  ? "--gap"
                        : o->policy != NULL            ? "--policy"
                        : o->engine != NULL            ? "--engine"
                        : e->solution != NULL          ? NULL
                        : o->output.json               ? "--json"
                        : o->output.plan != NULL       ? "--out"
                                                       : NULL;
    if (e->point != NULL && o->start == NULL)
        return rp_fail(err, RP_USAGE,
                       "solve: --write-solution needs --start, the plan to write");
    return wrong == NULL
               ? RP_OK
               : rp_fail(err, RP_USAGE, "solve: %s cannot be combined with %s", wrong,
                         e->solution != NULL ? "--solution"
                         : e->mps != NULL    ? "--write-mps"
                         : e->lp != NULL     ? "--write-lp"
                                             : "--write-solution");
}

static rp_rc check_usage(struct options *o, struct rp_err *err) {
    rp_rc rc = rp_check_budget_texts("solve", NULL, &o->budget, err);
    if (rc == RP_OK)
        rc = rp_parse_policy("solve", o->policy_text, &o->policy_options, &o->policy, err);
    if (rc == RP_OK)
        rc = rp_parse_engine("solve", o->engine, &o->solve.engine, err);
    if (rc == RP_OK && rp_exchange_wanted(&o->exchange))
        rc = check_exchange(o, err);
    else if (rc == RP_OK && o->policy != NULL)
        rc = check_policy(o, err);
    if (rc != RP_OK)
        return rc;
    if (o->given_order && (o->solve.reorder || o->policy != NULL))
        return rp_fail(err, RP_USAGE, "solve: --given-order cannot be combined with %s",
                       o->solve.reorder ? "--reorder" : "--policy");
    if (o->solve.certificate != NULL && (o->solve.reorder || o->no_recompute))
        return rp_fail(err, RP_USAGE, "solve: %s cannot be combined with --certificate",
                       o->solve.reorder ? "--reorder" : "--no-recompute");
    return check_bandwidths(&o->bandwidths, o->output.plan != NULL, err);
}

static rp_rc check_files(struct options *o, const char *graph, struct rp_err *err) {
    const struct rp_named_file files[] = {
        {"GRAPH", graph, .input = true},
        {"--start", o->start, .input = true},
        {"--json", o->output.json ? "-" : NULL},
        {"--out", o->output.plan},
        {"--certificate", o->solve.certificate},
        {"--graph-out", o->bandwidths.graph_out},
        {"--write-mps", o->exchange.mps},
        {"--write-lp", o->exchange.lp},
        {"--write-solution", o->exchange.point},
        {"--solution", o->exchange.solution, .input = true},
    };
    enum { N = sizeof files / sizeof *files };
    o->output.silent = !o->output.json && rp_uses_stdout(files, N);
    return rp_check_files("solve", files, N, err);
}

/* What can be checked only once the graph is known. */
static rp_rc check_order(const struct options *o, const struct rp_graph *g,
                         struct rp_err *err) {
    if (g->free_order && !o->given_order && o->policy == NULL &&
        o->solve.certificate != NULL)
        return rp_fail(err, RP_USAGE,
                       "solve: a certificate is about the graph's order of ops, which this "
                       "graph leaves free: add --given-order");
    return RP_OK;
}

/* Completes the options of the search, and gives the policy those that both have. */
static void complete_options(struct options *o, const struct rp_graph *g) {
    struct rp_solve_options *s = &o->solve;
    struct rp_policy_options *p = &o->policy_options;
    s->addressed = !o->no_addresses;
    s->recompute = !o->no_recompute;
    s->swap = !o->no_swap;
    s->reorder = s->reorder || (g->free_order && !o->given_order);
    s->gap = fmax(o->gap, 0) / 100;
    s->stop = rp_watch_interrupts();
    p->addressed = s->addressed;
    p->no_recompute = o->no_recompute;
    p->no_swap = o->no_swap;
    p->host_bytes = s->host_bytes;
    p->time_limit = s->time_limit;
    p->ignore_clock = s->ignore_clock;
    p->engine = s->engine;
    p->seed = s->seed;
    p->gap = s->gap;
    o->stop = (struct rp_stop){s->stop, INFINITY};
    p->stop = &o->stop;
}

static rp_rc solve(struct options *o, const char *file, struct rp_err *err) {
    struct rp_graph g;
    struct rp_plan start = {0};
    struct rp_solve_options *s = &o->solve;
    rp_rc rc = rp_load_timed_graph(file, &g, err);
    if (rc != RP_OK)
        return rc;
    rc = check_order(o, &g, err);
    complete_options(o, &g);
    if (rc == RP_OK && rp_exchange_wanted(&o->exchange))
        rc = rp_refuse_homes(&g, file, "a model for other solvers", err);
    if (rc == RP_OK)
        rc = change_bandwidths(&o->bandwidths, &g, err);
    if (rc == RP_OK)
        rc = rp_parse_budget("solve", &o->budget, &g, s->addressed, &s->budget_bytes, err);
    if (rc == RP_OK)
        warn(&g, s, &o->bandwidths, o->policy == NULL);
    if (rc == RP_OK && o->start != NULL) {
        rc = load_start(&g, o->start, s->reorder || o->exchange.point != NULL, &start, err);
        s->start = &start;
        o->exchange.start = o->start;
    }
    o->policy_options.budget_bytes = s->budget_bytes;
    if (rc == RP_OK && rp_exchange_wanted(&o->exchange))
        rc = rp_solve_by_exchange(&g, s, &o->exchange, &o->output, err);
    else if (rc == RP_OK && o->policy != NULL)
        rc = rp_solve_by_policy(&g, o->policy, &o->policy_options, &o->output, err);
    else if (rc == RP_OK)
        rc = search(&g, s, o->begin, &o->output, err);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {
        .gap = -1,
        .begin = rp_seconds(),
        .solve = {.host_bytes = RP_MAX_QUANTITY, .time_limit = 60, .seed = 1},
    };
    bool done;
    int n;
    rp_policy_options_init(&o.policy_options);
    const struct rp_option table[] = {
        {"budget", 'b', RP_OPT_STRING, &o.budget.all, "SIZE",
         "device memory: 8GiB, 16GB, 4096 or 60% (required)"},
        rp_option_activation_budget(&o.budget, "SIZE"),
        {"out", 'o', RP_OPT_STRING, &o.output.plan, "FILE",
         "write the plan to FILE; - is standard output"},
        {"time-limit", 't', RP_OPT_POSITIVE, &o.solve.time_limit, "SEC",
         "work for at most about SEC seconds (60)"},
        rp_option_ignore_clock(&o.solve.ignore_clock),
        {"gap", 0, RP_OPT_NUMBER, &o.gap, "PERCENT",
         "stop when the plan is this close to the bound (0)"},
        {"start", 0, RP_OPT_STRING, &o.start, "PLAN",
         "start from PLAN; if it fits, the result is not slower"},
        {"reorder", 0, RP_OPT_FLAG, &o.solve.reorder, NULL,
         "let ops run first in another order than the graph's"},
        {"given-order", 0, RP_OPT_FLAG, &o.given_order, NULL,
         "keep the graph's order of ops, though the graph leaves it free"},
        {"certificate", 0, RP_OPT_STRING, &o.solve.certificate, "FILE",
         "write a proof of the bound to FILE"},
        {"no-recompute", 0, RP_OPT_FLAG, &o.no_recompute, NULL, "run no op again"},
        {"no-swap", 0, RP_OPT_FLAG, &o.no_swap, NULL, "copy nothing to the host"},
        {"host-budget", 0, RP_OPT_BYTES, &o.solve.host_bytes, "SIZE",
         "host memory for copies (no limit)"},
        {"h2d", 0, RP_OPT_STRING, &o.bandwidths.h2d, "GB/s",
         "host-to-device bandwidth, instead of the graph's"},
        {"d2h", 0, RP_OPT_STRING, &o.bandwidths.d2h, "GB/s",
         "device-to-host bandwidth, instead of the graph's"},
        {"graph-out", 0, RP_OPT_STRING, &o.bandwidths.graph_out, "FILE",
         "write the graph with these bandwidths to FILE"},
        rp_option_no_addresses(&o.no_addresses),
        rp_option_seed(&o.solve.seed),
        rp_option_engine(&o.engine),
        {"write-mps", 0, RP_OPT_STRING, &o.exchange.mps, "FILE",
         "write the whole problem for other solvers, and stop"},
        {"write-lp", 0, RP_OPT_STRING, &o.exchange.lp, "FILE", "the same as an LP file"},
        {"write-solution", 0, RP_OPT_STRING, &o.exchange.point, "FILE",
         "write the plan of --start as a solution of it"},
        {"solution", 0, RP_OPT_STRING, &o.exchange.solution, "FILE",
         "make the plan of another solver's solution of it"},
        {"policy", 'p', RP_OPT_STRING, &o.policy_text, "POLICY",
         "plan by this policy (listed below) instead of searching", rp_policy_name},
        {"stats", 0, RP_OPT_FLAG, &o.output.stats, NULL,
         "print what each part of the planner did"},
        rp_option_json(&o.output.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_solve, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    rc = check_usage(&o, err);
    if (rc == RP_OK)
        rc = check_files(&o, argv[1], err);
    return rc == RP_OK ? solve(&o, argv[1], err) : rc;
}

const struct rp_command rp_cmd_solve = {
    .name = "solve",
    .operands = "GRAPH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Find the fastest plan within a memory budget",
    .detail =
        "The budget covers everything on the device: sources (parameters, inputs) and\n"
        "the arena. 1 GiB is 2^30 bytes, 1 GB is 10^9; N% is a share of the peak\n"
        "without recomputation. --activation-budget takes its place. It says how much\n"
        "there may be on top of the sources and of the kept tensors, such as gradients;\n"
        "its N% is a share of what that peak has on top of them. Ctrl-C stops the search\n"
        "and keeps the best plan found so far. The same graph and options give the same\n"
        "plan, unless --time-limit cut the search short (notes.capped in the plan). With\n"
        "--ignore-clock they always do, or the exit code is 5.\n",
    .print_more = rp_print_policies,
    .run = run,
};
