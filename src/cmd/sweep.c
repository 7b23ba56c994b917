/* sweep: plans of one graph at several budgets: its Pareto curve of time over memory. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/interrupt.h"
#include "cmd/policy_outcome.h"
#include "cmd/sweep_curve.h"
#include "cmd/sweep_points.h"
#include "policy/quick_plans.h"
#include "solve/solver.h"

struct options {
    struct rp_sweep sweep;
    double gap;           /* percent */
    uint64_t host_budget; /* UINT64_MAX: not given */
    bool jobs, json, no_addresses;
};

/* ---- which budgets ---- */

/* Of the time limit: what the search for the first budget may take. Work is counted, so
 * that
 * --jobs and --merge choose the same budgets. */
static const double CHOICE_SHARE = 0.3;

static bool some_policy_fits(const struct rp_sweep *s, uint64_t budget,
                             struct rp_stop *stop) {
    struct rp_policy_options o = s->policy;
    o.stop = stop;
    o.budget_bytes = budget;
    return rp_quick_policy_fits(s->g, &o);
}

/* Point 0 is the floor: the largest working set. The others are spread evenly from the
 * smallest budget for which a policy has a plan, found by bisection, to keep-all. */
static void choose_budgets(struct rp_sweep *s) {
    struct rp_instance p;
    uint32_t op;
    rp_instance_init(&p, s->g, s->g->fixed_bytes, s->policy.addressed, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    s->floor_bytes = s->g->fixed_bytes + rp_instance_floor(&p, &op);
    rp_instance_fini(&p);
    s->keep_all_bytes = rp_keep_all_bytes(s->g, s->policy.addressed);
    uint64_t low = s->floor_bytes, high = s->keep_all_bytes;
    uint64_t precision = (high - low) / 128 + 1;
    struct rp_stop stop = {s->policy.stop->interrupted, INFINITY};
    stop.max_questions =
        (uint64_t)(CHOICE_SHARE * s->policy.time_limit * 1e9 / RP_STOP_WORK) + 1;
    if (!some_policy_fits(s, low, &stop) && !rp_stop_interrupted(&stop)) {
        while (high - low > precision && !stop.hit) {
            uint64_t mid = low + (high - low) / 2;
            if (some_policy_fits(s, mid, &stop))
                high = mid;
            else
                low = mid;
        }
        low = high;
    }
    s->budgets = rp_calloc(s->n_points, sizeof *s->budgets);
    s->budgets[0] = s->floor_bytes;
    for (uint64_t k = 1; k < s->n_points; k++)
        s->budgets[k] = s->n_points == 2 ? s->keep_all_bytes
                                         : low + (uint64_t)((unsigned __int128)(k - 1) *
                                                            (s->keep_all_bytes - low) /
                                                            (s->n_points - 2));
}

/* ---- plans ---- */

/* Saves the plan of point k, if there is one, and records what became of the point. */
static rp_rc record_point(struct rp_sweep *s, uint64_t k, const struct rp_outcome *out,
                          struct rp_err *err) {
    if (!rp_outcome_fits(out)) {
        s->states[k] = out->rc == RP_NO                      ? RP_PROVED_NONE
                       : rp_stop_interrupted(s->policy.stop) ? RP_NOT_PLANNED
                                                             : RP_NONE_FOUND;
        return RP_OK;
    }
    char *path = rp_sweep_file(s, k);
    rp_rc rc = rp_plan_save(&out->plan, path, err);
    free(path);
    s->states[k] = rc == RP_OK ? RP_PLANNED : RP_NOT_PLANNED;
    return rc;
}

/* Plans the points from `first` to `last`, each search starting from the plan before, and
 * writes each plan at once. After an interrupt it plans only where keep-all fits, which
 * takes no time. */
static rp_rc plan_points(struct rp_sweep *s, uint64_t first, uint64_t last,
                         struct rp_err *err) {
    struct rp_outcome previous = {.rc = RP_NO}, current;
    rp_rc rc = RP_OK;
    for (uint64_t k = first; k <= last && rc == RP_OK; k++) {
        if (rp_stop_interrupted(s->policy.stop) && s->budgets[k] < s->keep_all_bytes)
            continue;
        rp_progress("point %" PRIu64 " of %" PRIu64 ": %s", k + 1, s->n_points,
                    rp_show_bytes(s->budgets[k]).s);
        s->policy.budget_bytes = s->budgets[k];
        s->policy.start = rp_outcome_fits(&previous) ? &previous.plan : NULL;
        rc = rp_outcome_make(s->g, rp_policy_find("remat"), &s->policy, &current, err);
        if (rc == RP_OK)
            rc = record_point(s, k, &current, err);
        if (rc == RP_OK && rp_outcome_fits(&current)) {
            rp_outcome_fini(&previous);
            previous = current;
        } else {
            rp_outcome_fini(&current);
        }
    }
    rp_outcome_fini(&previous);
    rp_progress("%s", "");
    return rc;
}

/* Plans each range of neighbouring points in a process of its own. An interrupt of any of
 * them reaches all (rp_watch_interrupts). */
static rp_rc plan_in_processes(struct rp_sweep *s, struct rp_err *err) {
    uint64_t n = rp_min_u64(s->n_processes, s->n_points);
    pid_t *child = rp_calloc(n, sizeof *child);
    rp_rc rc = RP_OK;
    fflush(NULL);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t first = s->n_points * i / n, last = s->n_points * (i + 1) / n - 1;
        child[i] = fork();
        if (child[i] == 0) {
            struct rp_err child_err = {{0}};
            rc = plan_points(s, first, last, &child_err);
            if (rc != RP_OK)
                rp_log(-1, "%s", child_err.msg);
            _exit((int)rc);
        }
        if (child[i] < 0)
            rc = rp_fail(err, RP_ENV, "sweep: cannot start a process: %s", strerror(errno));
    }
    for (uint64_t i = 0; i < n; i++) {
        int status;
        if (child[i] <= 0)
            continue;
        while (waitpid(child[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (rc == RP_OK && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
            rc = rp_fail(err, WIFEXITED(status) ? (rp_rc)WEXITSTATUS(status) : RP_BUG,
                         "sweep: one of the processes failed");
    }
    free(child);
    return rc;
}

/* ---- one command a point ---- */

/* Quotes a path for a shell. One that begins with '-' would be taken for an option. */
static void print_quoted(const char *text) {
    fputs(text[0] == '-' ? "'./" : "'", stdout);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

/* The options that all commands of a sweep share. */
static void print_shared(const struct rp_sweep *s) {
    if (s->host.bytes < RP_MAX_QUANTITY)
        printf(" --host-budget %" PRIu64, s->host.bytes);
    if (!s->policy.addressed)
        printf(" --no-addresses");
}

static void print_jobs(const struct rp_sweep *s) {
    for (uint64_t k = 0; k < s->n_points; k++) {
        char *path = rp_sweep_file(s, k);
        printf("remat-plan solve ");
        print_quoted(s->graph_path);
        printf(" --policy remat --budget %" PRIu64
               " --time-limit %g --gap %g --seed %" PRIu64,
               s->budgets[k], s->policy.time_limit, s->policy.gap * 100, s->policy.seed);
        print_shared(s);
        printf("%s -q -o ", s->policy.ignore_clock ? " --ignore-clock" : "");
        print_quoted(path);
        putchar('\n');
        free(path);
    }
    printf("remat-plan sweep ");
    print_quoted(s->graph_path);
    printf(" --points %" PRIu64, s->n_points);
    print_shared(s);
    printf(" --merge -o ");
    print_quoted(s->dir);
    putchar('\n');
}

/* ---- the command ---- */

static rp_rc plan_and_report(struct rp_sweep *s, bool json, struct rp_err *err) {
    rp_rc rc = RP_OK;
    s->states =
        mmap(NULL, s->n_points, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->states == MAP_FAILED)
        return rp_fail(err, RP_ENV, "sweep: cannot share memory between processes: %s",
                       strerror(errno));
    if (!s->merge)
        rc = rp_sweep_remove_old(s, err);
    if (rc == RP_OK && !s->merge)
        rc = s->n_processes > 1 ? plan_in_processes(s, err)
                                : plan_points(s, 0, s->n_points - 1, err);
    if (rc == RP_OK)
        rc = rp_sweep_report(s, json, err);
    munmap(s->states, s->n_points);
    return rc;
}

static rp_rc sweep(struct options *o, struct rp_err *err) {
    struct rp_sweep *s = &o->sweep;
    rp_rc rc = s->merge ? rp_sweep_check_points(s, err) : rp_sweep_create_folder(s, err);
    if (rc != RP_OK)
        return rc;
    choose_budgets(s);
    if (o->jobs)
        print_jobs(s);
    else
        rc = plan_and_report(s, o->json, err);
    free(s->budgets);
    return rc;
}

static rp_rc check_usage(const struct options *o, struct rp_err *err) {
    const struct rp_sweep *s = &o->sweep;
    if (s->n_points < 2 || s->n_points > 1000)
        return rp_fail(err, RP_USAGE, "sweep: --points must be from 2 to 1000");
    if (s->n_processes < 1 || s->n_processes > 256)
        return rp_fail(err, RP_USAGE, "sweep: --processes must be from 1 to 256");
    if (o->jobs && (s->merge || o->json))
        return rp_fail(err, RP_USAGE, "sweep: --jobs cannot be combined with %s",
                       s->merge ? "--merge" : "--json");
    if ((o->jobs || s->merge) && s->n_processes > 1)
        return rp_fail(err, RP_USAGE, "sweep: --processes cannot be combined with %s",
                       o->jobs ? "--jobs" : "--merge");
    if (o->jobs && strcmp(s->graph_path, "-") == 0)
        return rp_fail(err, RP_USAGE,
                       "sweep: --jobs needs a GRAPH that every command can read, not -");
    return RP_OK;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {
        .sweep = {.n_points = 12, .n_processes = 1}, .gap = 0.1, .host_budget = UINT64_MAX};
    struct rp_sweep *s = &o.sweep;
    struct rp_graph g;
    bool done;
    int n;
    rp_policy_options_init(&s->policy);
    s->policy.time_limit = 10;
    const struct rp_option table[] = {
        {"out", 'o', RP_OPT_REQUIRED, &s->dir, "DIR",
         "write plans and curve into DIR (required)"},
        {"points", 'n', RP_OPT_NAT, &s->n_points, "N", "number of budgets (12)"},
        rp_option_host_budget(&o.host_budget),
        {"time-limit", 't', RP_OPT_POSITIVE, &s->policy.time_limit, "SEC",
         "work for at most about SEC seconds on each point (10)"},
        rp_option_ignore_clock(&s->policy.ignore_clock),
        {"gap", 0, RP_OPT_NUMBER, &o.gap, "PERCENT",
         "finish a point when it is this close to its bound (0.1)"},
        {"processes", 'j', RP_OPT_NAT, &s->n_processes, "N",
         "plan N points at the same time (1)"},
        {"jobs", 0, RP_OPT_FLAG, &o.jobs, NULL,
         "print a command for each point, and run none"},
        {"merge", 0, RP_OPT_FLAG, &s->merge, NULL, "only join the plans in DIR"},
        rp_option_no_addresses(&o.no_addresses),
        rp_option_seed(&s->policy.seed),
        rp_option_json(&o.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_sweep, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    s->graph_path = argv[1];
    if ((rc = check_usage(&o, err)) != RP_OK)
        return rc;
    struct rp_stop stop = {rp_watch_interrupts(), INFINITY};
    s->policy.stop = &stop;
    s->policy.addressed = !o.no_addresses;
    s->policy.gap = o.gap / 100;
    if ((rc = rp_load_timed_graph(argv[1], &g, err)) != RP_OK)
        return rc;
    s->g = &g;
    s->host = rp_host_budget_choose(o.host_budget, g.device.name);
    s->policy.host_bytes = s->host.bytes;
    rc = sweep(&o, err);
    rp_graph_fini(&g);
    return rc;
}

const struct rp_command rp_cmd_sweep = {
    .name = "sweep",
    .operands = "GRAPH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Plan at several budgets, up to that of keep-all",
    .detail =
        "Each point gets a file DIR/point-NN.plan.json, and its search starts from the\n"
        "plan of the point before it. Then the plans are joined: a point that is slower\n"
        "than one with a smaller budget takes over its plan, so that time never rises\n"
        "with the budget. The curve is written to DIR/sweep.json, .csv and .svg. Point\n"
        "0 has the budget of the largest working set, for which there may be no plan.\n"
        "The others start from the smallest budget for which a published policy has a\n"
        "plan. Host copies may take the memory of the device's usual server, divided by\n"
        "its GPUs, unless --host-budget is given. With --ignore-clock the curve is the\n"
        "same on any machine.\n"
        "\n"
        "--jobs prints one command for each point and, as its last line, the one that\n"
        "joins their plans, for GNU parallel, job arrays and the like:\n"
        "  remat-plan sweep g.json -o DIR --jobs >jobs\n"
        "  head -n -1 jobs | parallel; tail -n 1 jobs | sh\n"
        "\n"
        "Files of an earlier sweep in DIR are removed first. Ctrl-C stops: the report\n"
        "lists what was not planned, and the exit code is 4.\n",
    .run = run,
};
