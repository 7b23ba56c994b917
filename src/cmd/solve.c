/* solve: a graph and a budget in, a verified plan out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/policy_options.h"
#include "solve/core/warm_start.h"
#include "solve/solver.h"
#include "verify/verifier.h"

static const struct rp_command command = {
    "solve", "GRAPH", "Finds the fastest plan within a memory budget.",
    "The budget is for everything on the device: sources (parameters, inputs) and the "
    "arena.\n"
    "GiB = 2^30 bytes, GB = 10^9; N% is a share of the peak without recomputation.\n"
    "Ctrl-C ends the search and keeps the best plan found so far.\n"
    "Same graph and options give the same plan, unless --time-limit struck "
    "(notes.capped);\n"
    "with --ignore-clock on a busy machine too.\n"};

/* A budget that there is a plan for, or where such ones begin. */
static void put_way_out(FILE *f, const struct rp_solve_options *o,
                        const struct rp_solve_report *r, uint64_t keep_all_bytes) {
    uint64_t known = r->min_bytes > 0 ? r->min_bytes : keep_all_bytes;
    if (r->min_bytes > 0 || r->floor_bytes >= known)
        fprintf(f, "try --budget %s\n", rp_show_budget(known).s);
    else if (r->floor_bytes > o->budget_bytes)
        fprintf(f, "try --budget %s or more; keep-all needs %s\n",
                rp_show_budget(r->floor_bytes).s, rp_show_budget(known).s);
    else
        fprintf(f, "try a larger --budget; keep-all needs %s\n", rp_show_budget(known).s);
}

static void put_no_plan(FILE *f, const struct rp_graph *g, const struct rp_solve_options *o,
                        const struct rp_solve_report *r, bool json, bool infeasible) {
    uint64_t keep_all_bytes = rp_keep_all_bytes(g, o->addressed);
    if (!json) {
        fprintf(f, "%s: %s\n", infeasible ? "infeasible" : "no plan", r->reason);
        put_way_out(f, o, r, keep_all_bytes);
        return;
    }
    fprintf(f,
            "{\"status\":\"%s\",\"budget_bytes\":%" PRIu64 ",\"floor_bytes\":%" PRIu64
            ",\"keep_all_bytes\":%" PRIu64,
            infeasible ? "infeasible" : "limit", o->budget_bytes, r->floor_bytes,
            keep_all_bytes);
    if (r->min_bytes > 0)
        fprintf(f, ",\"least_bytes_found\":%" PRIu64, r->min_bytes);
    fputs(",\"reason\":", f);
    rp_json_put_string(f, r->reason);
    fputs("}\n", f);
}

/* What is copied, and how busy each queue is with it. */
static void put_copies(FILE *f, const struct rp_verdict *v) {
    if (v->n_swap_outs == 0)
        return;
    fprintf(f, "copies  out %s (queue busy %s), ", rp_show_bytes(v->swapped_out_bytes).s,
            rp_show_percent(v->d2h_busy_ns, v->time_ns).s);
    fprintf(f, "in %s (%s)\n", rp_show_bytes(v->swapped_in_bytes).s,
            rp_show_percent(v->h2d_busy_ns, v->time_ns).s);
}

static void put_text(FILE *f, const struct rp_graph *g, const struct rp_plan *p,
                     const struct rp_solve_report *r, const struct rp_verdict *v) {
    const struct rp_claims *c = &p->claims;
    fprintf(f, "time    %s, %s over keep-all", rp_show_ns(c->time_ns).s,
            rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s);
    if (v->n_swap_outs > 0)
        fprintf(f, ": recompute %s, stall %s", rp_show_ns(c->recompute_ns).s,
                rp_show_ns(c->stall_ns).s);
    fputc('\n', f);
    fprintf(f, "memory  %s of %s (keep-all needs %s)\n",
            rp_show_bytes(p->addressed ? g->fixed_bytes + p->arena_bytes : c->peak_bytes).s,
            rp_show_bytes(p->budget_bytes).s, rp_show_bytes(r->keep_all_bytes).s);
    put_copies(f, v);
    if (c->proof == RP_PROOF_OPTIMAL)
        fprintf(f, "bound   proved optimal%s\n",
                r->bound_for_all ? "" : " (no op twice between two first runs)");
    else
        fprintf(f, "bound   %s, gap %s\n", rp_show_ns(c->lower_bound_ns).s,
                rp_show_percent(c->time_ns - c->lower_bound_ns, c->lower_bound_ns).s);
}

/* The most memory that this process, or the one it started, has had. */
static long max_rss_bytes(void) {
    struct rusage self, child;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &child);
    long kib = self.ru_maxrss > child.ru_maxrss ? self.ru_maxrss : child.ru_maxrss;
    return kib * 1024;
}

static void put_json(FILE *f, const struct rp_graph *g, const struct rp_plan *p,
                     const struct rp_solve_report *r, const struct rp_verdict *v,
                     double seconds) {
    const struct rp_claims *c = &p->claims;
    fprintf(
        f,
        "{\"status\":\"%s\",\"time_ns\":%" PRIu64 ",\"baseline_time_ns\":%" PRIu64
        ",\"recompute_ns\":%" PRIu64 ",\"stall_ns\":%" PRIu64 ",\"lower_bound_ns\":%" PRIu64
        ",\"proof\":\"%s\",\"bound_for\":\"%s\",\"peak_bytes\":%" PRIu64
        ",\"fixed_bytes\":%" PRIu64 ",\"arena_bytes\":%" PRIu64 ",\"budget_bytes\":%" PRIu64
        ",\"keep_all_bytes\":%" PRIu64 ",\"floor_bytes\":%" PRIu64 ",\"addressed\":%s",
        c->proof == RP_PROOF_OPTIMAL ? "optimal" : "feasible", c->time_ns,
        c->baseline_time_ns, c->recompute_ns, c->stall_ns, c->lower_bound_ns,
        rp_proof_word[c->proof], r->bound_for_all ? "all" : "schedules", c->peak_bytes,
        g->fixed_bytes, p->arena_bytes, p->budget_bytes, r->keep_all_bytes, r->floor_bytes,
        p->addressed ? "true" : "false");
    fprintf(f,
            ",\"host_bytes\":%" PRIu64 ",\"swapped_out_bytes\":%" PRIu64
            ",\"d2h_busy_ns\":%" PRIu64 ",\"swapped_in_bytes\":%" PRIu64
            ",\"h2d_busy_ns\":%" PRIu64,
            v->host_used_bytes, v->swapped_out_bytes, v->d2h_busy_ns, v->swapped_in_bytes,
            v->h2d_busy_ns);
    fprintf(f,
            ",\"steps\":%zu,\"moves\":%" PRIu64 ",\"missing_bytes\":%" PRIu64
            ",\"capped\":%s,\"seconds\":%.3f,\"max_rss_bytes\":%ld}\n",
            p->steps.n, r->moves, r->missing_bytes, r->capped ? "true" : "false", seconds,
            max_rss_bytes());
}

/* No plan is reported or written that verify has not passed. */
static rp_rc check_plan(const struct rp_graph *g, const struct rp_plan *p,
                        struct rp_verdict *v, struct rp_err *err) {
    struct rp_err why = {{0}};
    if (rp_verify(g, p, v, &why) != RP_OK)
        return rp_fail(err, RP_BUG, "solve: verify rejects the plan just made: %.900s",
                       why.msg);
    return RP_OK;
}

static rp_rc check_options(const struct rp_graph *g, const char *file,
                           const struct rp_solve_options *o, struct rp_err *err) {
    if (g->n_ops > 0 && g->total_time_ns == 0)
        return rp_fail(err, RP_INPUT,
                       "%s: all op times are 0: run 'remat-plan profile' on it first",
                       rp_path_name(file));
    if (!(o->time_limit > 0))
        return rp_fail(err, RP_USAGE, "solve: --time-limit must be above 0");
    return RP_OK;
}

/* The plan of --start: valid, for this graph, its first runs in the graph's order
 * or any that --reorder may take. */
static rp_rc load_start(const struct rp_graph *g, const char *path, bool reorder,
                        struct rp_plan *plan, struct rp_err *err) {
    struct rp_verdict v;
    struct rp_err why = {{0}};
    rp_rc rc = rp_plan_load(path, plan, err);
    if (rc == RP_OK && strcmp(plan->graph_sha256, g->sha256) != 0)
        rc = rp_fail(err, RP_INPUT,
                     "%s: a plan for another graph, '%.200s', not for this one",
                     rp_path_name(path), plan->graph_name);
    else if (rc == RP_OK && rp_verify(g, plan, &v, &why) != RP_OK)
        rc = rp_fail(err, RP_INPUT, "%s: %.900s", rp_path_name(path), why.msg);
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

/* Where the plan goes, and how the report is made. */
struct answer {
    const char *out; /* NULL: nowhere */
    bool json;
    bool silent; /* standard output is for something else */
};

static rp_rc solve_and_report(const struct rp_graph *g, const struct rp_solve_options *o,
                              const struct answer *a, struct rp_err *err) {
    struct rp_plan plan = {0};
    struct rp_solve_report report;
    struct rp_verdict v;
    double begin = rp_seconds();
    rp_rc rc = rp_solve(g, o, &plan, &report, err);
    rp_progress("%s", "");
    if (rc == RP_OK)
        rc = check_plan(g, &plan, &v, err);
    if (rc == RP_OK && a->json)
        put_json(stdout, g, &plan, &report, &v, rp_seconds() - begin);
    else if (rc == RP_OK && !a->silent && rp_log_level() >= 0)
        put_text(stdout, g, &plan, &report, &v);
    else if (rc == RP_NO || rc == RP_LIMIT)
        put_no_plan(stdout, g, o, &report, a->json, rc == RP_NO);
    if (rc == RP_OK && a->out != NULL)
        rc = rp_plan_save(&plan, a->out, err);
    if (rc == RP_LIMIT)
        rp_fail(err, RP_LIMIT, "solve: %s before any plan was found",
                *o->stop ? "interrupted" : "the work limit came");
    rp_plan_fini(&plan);
    return rc;
}

/* Without a plan to start from, the search has the policies'. */
static rp_rc search(const struct rp_graph *g, struct rp_solve_options *o,
                    const struct answer *a, struct rp_err *err) {
    struct rp_plan first = {0};
    double begin = rp_seconds();
    if (o->start == NULL && rp_cmd_initial_plan(g, o, &first))
        o->start = &first;
    o->spent = rp_seconds() - begin;
    rp_rc rc = solve_and_report(g, o, a, err);
    rp_plan_fini(&first);
    return rc;
}

/* Bandwidths other than the graph's. They make it another graph, which the plan is for. */
struct bandwidths {
    const char *h2d, *d2h, *graph_out;
};

static rp_rc check_bandwidths(const struct bandwidths *b, bool plan_wanted,
                              struct rp_err *err) {
    bool changed = b->h2d != NULL || b->d2h != NULL;
    if (!changed && b->graph_out != NULL)
        return rp_fail(err, RP_USAGE, "solve: --graph-out is for --h2d and --d2h");
    if (changed && plan_wanted && b->graph_out == NULL)
        return rp_fail(err, RP_USAGE,
                       "solve: with --h2d or --d2h the plan is for a changed graph: say "
                       "where to write that with --graph-out FILE");
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

/* What is legal, but may not be what was meant. */
static void warn(const struct rp_graph *g, const struct rp_solve_options *o,
                 const struct bandwidths *b, bool search) {
    const struct rp_device *d = &g->device;
    if (g->has_device && d->memory_bytes > 0 && o->budget_bytes > d->memory_bytes)
        rp_log(0, "the budget, %s, is more than the device's memory, %s",
               rp_show_bytes(o->budget_bytes).s, rp_show_bytes(d->memory_bytes).s);
    bool none = d->h2d_bytes_per_s == 0 || d->d2h_bytes_per_s == 0;
    bool refused = (b->h2d != NULL && d->h2d_bytes_per_s == 0) ||
                   (b->d2h != NULL && d->d2h_bytes_per_s == 0);
    if (search && o->swap && none && !refused)
        rp_log(0, "no swaps: the device states no %s; give --h2d and --d2h",
               d->h2d_bytes_per_s > 0   ? "bandwidth to the host"
               : d->d2h_bytes_per_s > 0 ? "bandwidth from the host"
                                        : "bandwidths");
}

/* The command line. */
struct asked {
    const char *budget, *start, *policy_name;
    struct bandwidths bandwidths;
    struct rp_policy_words words;
    bool no_recompute, no_swap, no_addresses;
    double gap; /* percent; negative: not given */
    struct answer answer;
    struct rp_solve_options o;
    const struct rp_policy *policy; /* NULL: the search alone */
    struct rp_policy_options po;
};

/* A policy that does something that is not allowed, whatever the graph; an option of the
 * searches for a policy that makes its plan in one go. */
static rp_rc check_policy(const struct asked *a, struct rp_err *err) {
    const struct rp_policy *policy = a->policy;
    const char *wrong = a->start != NULL           ? "--start"
                        : a->o.reorder             ? "--reorder"
                        : a->o.certificate != NULL ? "--certificate"
                        : policy->record == NULL   ? NULL
                        : a->gap >= 0              ? "--gap"
                        : a->o.ignore_clock        ? "--ignore-clock"
                                                   : NULL;
    if (wrong != NULL)
        return rp_fail(err, RP_USAGE, "solve: %s is not for --policy %s", wrong,
                       policy->name);
    if (a->no_recompute && !rp_policy_spares_recompute(policy))
        return rp_fail(err, RP_USAGE, "solve: --no-recompute: policy %s recomputes",
                       policy->name);
    if (a->no_swap && !rp_policy_spares_swap(policy))
        return rp_fail(err, RP_USAGE, "solve: --no-swap: policy %s swaps", policy->name);
    return RP_OK;
}

static rp_rc check_usage(struct asked *a, int n, struct rp_err *err) {
    const struct rp_solve_options *o = &a->o;
    if (n != 1)
        return rp_fail(err, RP_USAGE, "solve: one GRAPH is needed (try --help)");
    if (a->budget == NULL)
        return rp_fail(err, RP_USAGE, "solve: --budget is needed (try --help)");
    rp_rc rc = rp_policy_take("solve", a->policy_name, &a->words, &a->po, &a->policy, err);
    if (rc == RP_OK && a->policy != NULL)
        rc = check_policy(a, err);
    if (rc != RP_OK)
        return rc;
    if (o->certificate != NULL && (o->reorder || a->no_recompute))
        return rp_fail(err, RP_USAGE, "solve: %s",
                       o->reorder ? "--reorder is not for --certificate"
                                  : "--certificate is not for --no-recompute");
    return check_bandwidths(&a->bandwidths, a->answer.out != NULL, err);
}

static rp_rc check_outputs(struct asked *a, struct rp_err *err) {
    const struct rp_output outputs[] = {
        {"--json", a->answer.json ? "-" : NULL},
        {"--out", a->answer.out},
        {"--certificate", a->o.certificate},
        {"--graph-out", a->bandwidths.graph_out},
    };
    a->answer.silent = !a->answer.json && rp_uses_stdout(outputs, 4);
    return rp_check_outputs("solve", outputs, 4, err);
}

/* The policy's options are the search's where both have them. */
static void share_options(struct asked *a) {
    struct rp_policy_options *po = &a->po;
    struct rp_solve_options *o = &a->o;
    o->addressed = !a->no_addresses;
    o->recompute = !a->no_recompute;
    o->swap = !a->no_swap;
    o->gap = fmax(a->gap, 0) / 100;
    o->stop = rp_watch_interrupts();
    po->addressed = o->addressed;
    po->no_recompute = a->no_recompute;
    po->no_swap = a->no_swap;
    po->host_bytes = o->host_bytes;
    po->time_limit = o->time_limit;
    po->ignore_clock = o->ignore_clock;
    po->seed = o->seed;
    po->gap = o->gap;
    po->stop = o->stop;
}

static rp_rc solve(struct asked *a, const char *file, struct rp_err *err) {
    struct rp_graph g;
    struct rp_plan start = {0};
    struct rp_solve_options *o = &a->o;
    rp_rc rc = rp_graph_load(file, &g, err);
    if (rc != RP_OK)
        return rc;
    share_options(a);
    rc = check_options(&g, file, o, err);
    if (rc == RP_OK)
        rc = change_bandwidths(&a->bandwidths, &g, err);
    if (rc == RP_OK)
        rc = rp_parse_budget("solve", a->budget, &g, o->addressed, &o->budget_bytes, err);
    if (rc == RP_OK)
        warn(&g, o, &a->bandwidths, a->policy == NULL);
    if (rc == RP_OK && a->start != NULL) {
        rc = load_start(&g, a->start, o->reorder, &start, err);
        o->start = &start;
    }
    a->po.budget_bytes = o->budget_bytes;
    if (rc == RP_OK && a->policy != NULL)
        rc = rp_solve_by_policy(&g, a->policy, &a->po, a->answer.out, a->answer.json,
                                a->answer.silent, err);
    else if (rc == RP_OK)
        rc = search(&g, o, &a->answer, err);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
    return rc;
}

rp_rc rp_cmd_solve(int argc, char **argv, struct rp_err *err) {
    struct asked a = {
        .words = RP_NO_POLICY_WORDS,
        .gap = -1,
        .o = {.host_bytes = RP_MAX_QUANTITY, .time_limit = 60, .seed = 1},
    };
    bool done;
    int n;
    rp_policy_options_init(&a.po);
    const struct rp_option table[] = {
        {"budget", 'b', RP_OPT_STRING, &a.budget, "SIZE",
         "device memory: 8GiB, 16GB, 4096, 60% (required)"},
        {"out", 'o', RP_OPT_STRING, &a.answer.out, "FILE",
         "write the plan there; - is stdout"},
        {"time-limit", 't', RP_OPT_NUMBER, &a.o.time_limit, "SEC",
         "work for about that long at most (60)"},
        {"ignore-clock", 0, RP_OPT_FLAG, &a.o.ignore_clock, NULL,
         "do the work of --time-limit, however long it takes here"},
        {"gap", 0, RP_OPT_NUMBER, &a.gap, "PERCENT", "stop when that near the bound (0)"},
        {"start", 0, RP_OPT_STRING, &a.start, "PLAN",
         "begin with this plan; the result is not slower, if it fits"},
        {"reorder", 0, RP_OPT_FLAG, &a.o.reorder, NULL,
         "ops may first run in another order"},
        {"certificate", 0, RP_OPT_STRING, &a.o.certificate, "FILE",
         "write there what proves the bound"},
        {"no-recompute", 0, RP_OPT_FLAG, &a.no_recompute, NULL, "no op may run again"},
        {"no-swap", 0, RP_OPT_FLAG, &a.no_swap, NULL, "nothing is copied to the host"},
        {"host-budget", 0, RP_OPT_BYTES, &a.o.host_bytes, "SIZE",
         "host memory for copies (as much as they need)"},
        {"h2d", 0, RP_OPT_STRING, &a.bandwidths.h2d, "GB/s",
         "host-to-device copies, instead of what the graph says"},
        {"d2h", 0, RP_OPT_STRING, &a.bandwidths.d2h, "GB/s", "device-to-host copies"},
        {"graph-out", 0, RP_OPT_STRING, &a.bandwidths.graph_out, "FILE",
         "write there the graph with these bandwidths: the plan is for it"},
        {"no-addresses", 0, RP_OPT_FLAG, &a.no_addresses, NULL,
         "a schedule only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &a.o.seed, "N", "of the search's random choices (1)"},
        {"policy", 'p', RP_OPT_STRING, &a.policy_name, "NAME",
         "plan as published: keep-all, vdnn-all, ... ('remat-plan compare' has all)"},
        RP_TFLMS_ROWS(&a.words),
        {"json", 0, RP_OPT_FLAG, &a.answer.json, NULL,
         "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    rc = check_usage(&a, n, err);
    if (rc == RP_OK)
        rc = check_outputs(&a, err);
    return rc == RP_OK ? solve(&a, argv[1], err) : rc;
}
