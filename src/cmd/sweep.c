/* sweep: plans of graphs at several budgets: their Pareto curves of time over memory. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cmd/budget_argument.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/interrupt.h"
#include "cmd/policy_argument.h"
#include "cmd/sweep_graphs.h"
#include "cmd/sweep_jobs.h"
#include "cmd/sweep_plan.h"
#include "cmd/sweep_table.h"

enum { MAX_PROCESSES = 256, DEFAULT_POINTS = 12 };

struct options {
    struct rp_sweep sweep;
    struct rp_budget_texts budgets;
    const char *policy_text, *share_text;
    struct rp_share share;
    uint64_t n_processes;
    double gap;           /* percent */
    uint64_t host_budget; /* UINT64_MAX: not given */
    const char *engine;
    bool jobs, slurm, merge, no_addresses, json;
};

/* ---- the command ---- */

/* RP_USAGE if a graph lies in the folder of this one, by whatever name: a point could
 * replace it. */
static rp_rc check_folder(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                          struct rp_err *err) {
    DIR *dir = opendir(a->dir);
    struct dirent *entry;
    rp_rc rc = RP_OK;
    while (dir != NULL && rc == RP_OK && (entry = readdir(dir)) != NULL) {
        char *path = rp_format("%s/%s", a->dir, entry->d_name);
        for (size_t i = 0; i < s->n_graphs && rc == RP_OK; i++)
            if (rp_replaces(path, s->graphs[i].path))
                rc = rp_fail(err, RP_USAGE, "sweep: --out would replace GRAPH, %s",
                             s->graphs[i].path);
        free(path);
    }
    if (dir != NULL)
        closedir(dir);
    return rc;
}

/* Creates the folder unless its points are only joined. RP_USAGE if an output would replace
 * a graph, RP_ENV if the table cannot be written. */
static rp_rc open_folder(const struct rp_sweep *s, bool create, struct rp_err *err) {
    if (create && mkdir(s->dir, 0777) != 0 && errno != EEXIST)
        return rp_fail(err, RP_ENV, "%s: %s", s->dir, strerror(errno));
    char *json = rp_format("%s/sweep.json", s->dir),
         *csv = rp_format("%s/sweep.csv", s->dir);
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < s->n_graphs && rc == RP_OK; i++) {
        const struct rp_named_file files[] = {
            {"GRAPH", s->graphs[i].path, .input = true}, {"--out", json}, {"--out", csv}};
        rc = rp_check_files("sweep", files, 3, err);
        if (rc == RP_OK)
            rc = check_folder(s, &s->graphs[i], err);
    }
    free(json);
    free(csv);
    return rc;
}

/* A job is a line of its own. */
static rp_rc check_lines(const struct rp_sweep *s, struct rp_err *err) {
    const char *broken = strchr(s->dir, '\n') != NULL ? s->dir : NULL;
    for (size_t i = 0; i < s->n_graphs && broken == NULL; i++)
        broken = strchr(s->graphs[i].path, '\n') != NULL ? s->graphs[i].path : NULL;
    return broken == NULL ? RP_OK
                          : rp_fail(err, RP_USAGE,
                                    "sweep: --jobs: there is a line break in %s", broken);
}

/* Lists the points of all graphs. */
static rp_rc load_points(struct rp_sweep *s, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < s->n_graphs && rc == RP_OK; i++)
        rc = rp_sweep_load_points(s, &s->graphs[i], err);
    return rc;
}

/* Plans one round after the other, until no point is left. A share ends with its round,
 * since the others may not be done yet. */
static rp_rc plan_rounds(struct options *o, struct rp_err *err) {
    struct rp_sweep *s = &o->sweep;
    bool whole = o->share_text == NULL;
    rp_rc rc = load_points(s, err);
    do {
        if (rc == RP_OK)
            rc = rp_sweep_plan(s, o->share, o->n_processes, err);
        if (rc == RP_OK)
            rc = load_points(s, err);
    } while (rc == RP_OK && whole && rp_sweep_n_left(s) > 0 &&
             !rp_stop_interrupted(s->options.stop));
    return rc == RP_OK ? rp_sweep_check_stop(s, err) : rc;
}

/* Without a single finished point, the folder or the options are wrong. */
static rp_rc check_merge(const struct rp_sweep *s, struct rp_err *err) {
    for (size_t i = 0; i < s->n_graphs; i++)
        if (s->graphs[i].points.n > rp_sweep_n_missing(&s->graphs[i]))
            return RP_OK;
    return rp_fail(err, RP_INPUT, "%s: no point of this sweep is planned", s->dir);
}

static rp_rc sweep(struct options *o, struct rp_err *err) {
    struct rp_sweep *s = &o->sweep;
    bool plans = !o->jobs && !o->slurm && !o->merge;
    rp_rc rc = o->jobs ? check_lines(s, err) : RP_OK;
    if (rc == RP_OK)
        rc = open_folder(s, !o->merge, err);
    if (rc == RP_OK)
        rc = plans ? plan_rounds(o, err) : load_points(s, err);
    if (rc == RP_OK && o->merge)
        rc = check_merge(s, err);
    if (rc != RP_OK || o->share_text != NULL)
        return rc;
    if (o->jobs)
        rp_sweep_print_jobs(s);
    else if (o->slurm)
        rp_sweep_print_slurm(s);
    else
        rc = rp_sweep_tabulate(s, o->json, err);
    return rc;
}

/* ---- options ---- */

static rp_rc check_points(struct options *o, struct rp_err *err) {
    struct rp_sweep *s = &o->sweep;
    bool listed = o->budgets.all != NULL || o->budgets.activations != NULL;
    if (listed && s->n_points != UINT64_MAX)
        return rp_fail(err, RP_USAGE, "sweep: --points cannot be combined with --%s",
                       o->budgets.all != NULL ? "budget" : "activation-budget");
    if (s->n_points == UINT64_MAX)
        s->n_points = DEFAULT_POINTS;
    if (s->n_points < 2 || s->n_points > RP_SWEEP_MAX_POINTS)
        return rp_fail(err, RP_USAGE, "sweep: --points must be from 2 to %d",
                       RP_SWEEP_MAX_POINTS);
    return listed ? rp_check_budget_texts("sweep", NULL, &o->budgets, err) : RP_OK;
}

/* Parses K/N. */
static rp_rc parse_share(struct options *o, struct rp_err *err) {
    o->share = (struct rp_share){0, 1};
    if (o->share_text == NULL)
        return RP_OK;
    char *copy = rp_strdup(o->share_text), *n = copy, *k = strsep(&n, "/");
    bool ok = n != NULL && rp_parse_nat(k, &o->share.k) && rp_parse_nat(n, &o->share.n) &&
              o->share.k < o->share.n;
    free(copy);
    return ok ? RP_OK
              : rp_fail(err, RP_USAGE,
                        "sweep: --share: '%s' is not K/N with K from 0 to N-1",
                        o->share_text);
}

/* At most one of the options that say what to do instead of the whole sweep. */
static rp_rc check_mode(const struct options *o, int n_paths, char **paths,
                        struct rp_err *err) {
    const struct {
        const char *name;
        bool given, prints, plans;
    } modes[] = {
        {"--jobs", o->jobs, true, false},
        {"--slurm", o->slurm, true, false},
        {"--share", o->share_text != NULL, false, true},
        {"--merge", o->merge, false, false},
    };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const char *other = !modes[i].given                                    ? NULL
                            : first != NULL                                    ? first
                            : o->json && strcmp(modes[i].name, "--merge") != 0 ? "--json"
                            : o->n_processes > 1 && !modes[i].plans ? "--processes"
                                                                    : NULL;
        if (other != NULL)
            return rp_fail(err, RP_USAGE, "sweep: %s cannot be combined with %s",
                           modes[i].name, other);
        for (int k = 0; k < n_paths && modes[i].given && modes[i].prints; k++)
            if (strcmp(paths[k], "-") == 0)
                return rp_fail(err, RP_USAGE,
                               "sweep: %s needs a GRAPH that every command can read, not -",
                               modes[i].name);
        first = modes[i].given ? modes[i].name : first;
    }
    return RP_OK;
}

static rp_rc check_usage(struct options *o, int n_paths, char **paths, struct rp_err *err) {
    struct rp_sweep *s = &o->sweep;
    if (o->n_processes < 1 || o->n_processes > MAX_PROCESSES)
        return rp_fail(err, RP_USAGE, "sweep: --processes must be from 1 to %d",
                       MAX_PROCESSES);
    rp_rc rc = check_points(o, err);
    if (rc == RP_OK)
        rc = parse_share(o, err);
    if (rc == RP_OK)
        rc = check_mode(o, n_paths, paths, err);
    return rc == RP_OK
               ? rp_parse_policy("sweep", o->policy_text, &s->options, &s->policy, err)
               : rc;
}

/* The options in words. All values were parsed, so that none needs quotes. */
static void write_words(struct options *o) {
    struct rp_sweep *s = &o->sweep;
    const struct rp_policy_options *p = &s->options;
    const struct rp_budget_texts *b = &o->budgets;
    s->settings = rp_format(
        " --policy %s --time-limit %.10g --gap %.10g --seed %" PRIu64 "%s%s%s",
        o->policy_text, p->time_limit, o->gap, p->seed,
        p->ignore_clock ? " --ignore-clock" : "", p->addressed ? "" : " --no-addresses",
        p->engine == RP_ENGINE_HIGHS ? " --engine highs" : "");
    char *budgets = b->all != NULL ? rp_format(" --budget %s", b->all)
                    : b->activations != NULL
                        ? rp_format(" --activation-budget %s", b->activations)
                        : rp_format(" --points %" PRIu64, s->n_points);
    s->limits = o->host_budget == UINT64_MAX
                    ? rp_strdup(budgets)
                    : rp_format("%s --host-budget %" PRIu64, budgets, o->host_budget);
    free(budgets);
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.sweep = {.n_points = UINT64_MAX},
                        .policy_text = "remat",
                        .n_processes = 1,
                        .gap = 0.1,
                        .host_budget = UINT64_MAX};
    struct rp_sweep *s = &o.sweep;
    struct rp_policy_options *p = &s->options;
    bool done;
    int n;
    rp_policy_options_init(p);
    p->time_limit = 10;
    const struct rp_option table[] = {
        {"out", 'o', RP_OPT_REQUIRED, &s->dir, "DIR",
         "write plans and tables into DIR (required)"},
        {"points", 'n', RP_OPT_NAT, &s->n_points, "N",
         "choose N budgets for each graph (12)"},
        {"budget", 'b', RP_OPT_STRING, &o.budgets.all, "A,B,C",
         "these budgets; 40%..80%:9 means 9 from 40% to 80%"},
        rp_option_activation_budget(&o.budgets, "A,B,C"),
        rp_option_host_budget(&o.host_budget),
        {"policy", 'p', RP_OPT_STRING, &o.policy_text, "POLICY",
         "plan by this policy, listed below (remat)", rp_policy_name},
        {"time-limit", 't', RP_OPT_POSITIVE, &p->time_limit, "SEC",
         "work for at most about SEC seconds on each point (10)"},
        rp_option_ignore_clock(&p->ignore_clock),
        {"gap", 0, RP_OPT_NUMBER, &o.gap, "PERCENT",
         "finish a point when it is this close to its bound (0.1)"},
        {"processes", 'j', RP_OPT_NAT, &o.n_processes, "N",
         "plan N points at the same time (1)"},
        {"jobs", 0, RP_OPT_FLAG, &o.jobs, NULL,
         "print a command for each point of the next round"},
        {"slurm", 0, RP_OPT_FLAG, &o.slurm, NULL,
         "print a script that submits the sweep to Slurm"},
        {"share", 0, RP_OPT_STRING, &o.share_text, "K/N",
         "only plan share K, from 0 to N-1, of the next round"},
        {"merge", 0, RP_OPT_FLAG, &o.merge, NULL, "plan nothing, only write the tables"},
        {"html", 0, RP_OPT_FLAG, &s->html, NULL,
         "write DIR/NAME/curve.html too, pages for a browser with all plans"},
        {"no-seconds", 0, RP_OPT_FLAG, &s->no_seconds, NULL,
         "leave out of the tables how long planning took"},
        rp_option_no_addresses(&o.no_addresses),
        rp_option_seed(&p->seed),
        rp_option_engine(&o.engine),
        rp_option_json(&o.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_sweep, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if ((rc = check_usage(&o, n, argv + 1, err)) != RP_OK ||
        (rc = rp_parse_engine("sweep", o.engine, &p->engine, err)) != RP_OK)
        return rc;
    struct rp_stop stop = {rp_watch_interrupts(), INFINITY};
    p->stop = &stop;
    p->addressed = !o.no_addresses;
    p->gap = o.gap / 100;
    write_words(&o);
    rc = rp_sweep_load_graphs(s, argv + 1, (size_t)n, &o.budgets, o.host_budget, err);
    if (rc == RP_OK)
        rc = sweep(&o, err);
    rp_sweep_free_graphs(s);
    free(s->settings);
    free(s->limits);
    return rc;
}

const struct rp_command rp_cmd_sweep = {
    .name = "sweep",
    .operands = "GRAPH...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .summary = "Plan graphs at many budgets, and tabulate time over memory",
    .detail =
        "Budgets are chosen in four rounds: a quarter evenly from the largest working set\n"
        "to what keep-all needs, the others where the curve bends. A plan found at one\n"
        "budget also counts at every larger one, so that time never rises with it. The\n"
        "table of all graphs is DIR/sweep.csv and sweep.json. Each graph has a folder\n"
        "DIR/NAME with a plan for each budget and the picture curve.svg. Host copies may\n"
        "take the memory of the device's usual server, divided by its GPUs, unless\n"
        "--host-budget is given. With --ignore-clock and --no-seconds, plans and tables\n"
        "are the same on any machine, however the points are spread.\n"
        "\n"
        "Ctrl-C stops with exit code 4 and tells how many points are not planned. The\n"
        "same command goes on from there, and with --merge it makes a table of what\n"
        "there is.\n"
        "\n"
        "On all cores, with GNU parallel, and on a cluster:\n"
        "  remat-plan sweep *.json -o DIR -j 8\n"
        "  for k in 1 2 3 4; do remat-plan sweep *.json -o DIR --jobs | parallel; done\n"
        "  remat-plan sweep *.json -o DIR --merge\n"
        "  remat-plan sweep *.json -o DIR --slurm >submit; sh submit --partition=NAME\n",
    .print_more = rp_print_policies,
    .run = run,
};
