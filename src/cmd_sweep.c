/* sweep: plans of one graph from the least budget to that of keep-all: the Pareto curve. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/units.h"
#include "cmd_common.h"
#include "commands.h"
#include "emit/curve.h"
#include "solve/solve.h"
#include "solve/start.h"
#include "verify/verify.h"

static const struct rp_command command = {
    "sweep", "GRAPH",
    "Plans a graph at several budgets, from the least to that of keep-all.",
    "Plans go to DIR/point-NN.plan.json; then they are put together: where a smaller\n"
    "budget has a faster plan, that one is taken, so that time never rises with the "
    "budget;\n"
    "DIR/sweep.json, .csv and .svg hold the curve. Each point begins with the plan of the\n"
    "one before it. --jobs prints a command a point and, as its last line, the one that\n"
    "puts them together, for GNU parallel, job arrays and the like:\n"
    "  remat-plan sweep g.json -o DIR --jobs >jobs\n"
    "  head -n -1 jobs | parallel; tail -n 1 jobs | sh\n"
    "The least budget is the largest working set, which a plan may miss, then the least\n"
    "for which a published policy has a plan.\n"};

struct sweep {
    const struct rp_graph *g;
    const char *graph_path, *dir;
    struct rp_policy_options o;
    uint64_t points, processes;
    uint64_t floor_bytes, keep_all_bytes;
    uint64_t *budget;     /* per point, ascending */
    struct rp_plan *plan; /* per point; no graph name: none */
};

/* ---- which budgets ---- */

static bool some_policy_fits(const struct sweep *s, uint64_t budget) {
    static const char *const quick[] = {"libra", "capuchin", "superneurons", "alibaba"};
    for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
        struct rp_policy_options o = s->o;
        struct rp_policy_report r;
        struct rp_plan plan;
        struct rp_err ignored = {{0}};
        o.budget_bytes = budget;
        o.addressed = false;
        bool fits = rp_policy_plan(s->g, rp_policy_find(quick[i]), &o, &plan, &r,
                                   &ignored) == RP_OK &&
                    r.fits;
        rp_plan_fini(&plan);
        if (fits)
            return true;
    }
    return false;
}

/* Point 0 is the floor; the others are spread evenly from the least budget that a policy
 * has a plan for, to keep-all. */
static void choose_budgets(struct sweep *s) {
    struct rp_problem p;
    uint32_t op;
    rp_problem_init(&p, s->g, s->g->fixed_bytes, s->o.addressed, NULL);
    rp_problem_allow_swap(&p, RP_MAX_QUANTITY);
    s->floor_bytes = s->g->fixed_bytes + rp_problem_floor(&p, &op);
    rp_problem_fini(&p);
    s->keep_all_bytes = rp_keep_all_bytes(s->g, s->o.addressed);
    uint64_t a = s->floor_bytes, b = s->keep_all_bytes;
    uint64_t near = (b - a) / 128 + 1;
    if (!some_policy_fits(s, a)) {
        while (b - a > near) {
            uint64_t mid = a + (b - a) / 2;
            if (some_policy_fits(s, mid))
                b = mid;
            else
                a = mid;
        }
        a = b;
    }
    s->budget = rp_calloc(s->points, sizeof *s->budget);
    s->budget[0] = s->floor_bytes;
    for (uint64_t k = 1; k < s->points; k++)
        s->budget[k] = s->points == 2
                           ? s->keep_all_bytes
                           : a + (uint64_t)((unsigned __int128)(k - 1) *
                                            (s->keep_all_bytes - a) / (s->points - 2));
}

static char *file_of(const struct sweep *s, uint64_t k) {
    return rp_format("%s/point-%02" PRIu64 ".plan.json", s->dir, k);
}

/* ---- plans ---- */

/* Points first .. last, each from the plan before; files as they come. */
static rp_rc plan_points(struct sweep *s, uint64_t first, uint64_t last,
                         struct rp_err *err) {
    struct rp_outcome before = {.rc = RP_NO}, now;
    rp_rc rc = RP_OK;
    for (uint64_t k = first; k <= last && rc == RP_OK && !*s->o.stop; k++) {
        char *path = file_of(s, k);
        rp_progress("point %" PRIu64 " of %" PRIu64 ": %s", k + 1, s->points,
                    rp_show_bytes(s->budget[k]).s);
        s->o.budget_bytes = s->budget[k];
        s->o.start = rp_outcome_fits(&before) ? &before.plan : NULL;
        rc = rp_outcome_make(s->g, rp_policy_find("remat"), &s->o, &now, err);
        if (rc == RP_OK && rp_outcome_fits(&now)) {
            rc = rp_plan_save(&now.plan, path, err);
            rp_outcome_fini(&before);
            before = now;
        } else {
            if (rc == RP_OK && unlink(path) != 0 && errno != ENOENT)
                rc = rp_fail(err, RP_ENV, "%s: %s", path, strerror(errno));
            rp_outcome_fini(&now);
        }
        free(path);
    }
    rp_outcome_fini(&before);
    rp_progress("%s", "");
    return rc;
}

/* A process for each share of the points, ascending shares of neighbours. */
static rp_rc plan_in_processes(struct sweep *s, struct rp_err *err) {
    uint64_t n = s->processes < s->points ? s->processes : s->points;
    pid_t *child = rp_calloc(n, sizeof *child);
    rp_rc rc = RP_OK;
    fflush(NULL);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t first = s->points * i / n, last = s->points * (i + 1) / n - 1;
        child[i] = fork();
        if (child[i] == 0) {
            struct rp_err why = {{0}};
            rc = plan_points(s, first, last, &why);
            if (rc != RP_OK)
                rp_log(-1, "%s", why.msg);
            _exit((int)rc);
        }
        if (child[i] < 0)
            rc = rp_fail(err, RP_ENV, "sweep: no process: %s", strerror(errno));
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

/* ---- putting them together ---- */

static rp_rc load_point(struct sweep *s, uint64_t k, struct rp_err *err) {
    char *path = file_of(s, k);
    struct rp_verdict v;
    struct rp_err why = {{0}};
    rp_rc rc = RP_OK;
    if (access(path, F_OK) == 0) {
        rc = rp_plan_load(path, &s->plan[k], err);
        if (rc == RP_OK && rp_verify(s->g, &s->plan[k], &v, &why) != RP_OK)
            rc = rp_fail(err, RP_INPUT, "%s: %.900s", path, why.msg);
        if (rc == RP_OK && s->plan[k].budget_bytes != s->budget[k])
            rc =
                rp_fail(err, RP_INPUT,
                        "%s: a plan for another budget: sweep with the same options", path);
    }
    free(path);
    return rc;
}

/* The plan of point k-1 for the budget of point k. */
static rp_rc carry_over(struct sweep *s, uint64_t k, struct rp_err *err) {
    const struct rp_plan *from = &s->plan[k - 1];
    char *path = file_of(s, k);
    uint64_t bound = s->plan[k].claims.lower_bound_ns;
    rp_plan_fini(&s->plan[k]);
    rp_plan_restate(from, from->addressed, s->budget[k], &s->plan[k]);
    s->plan[k].arena_bytes = from->arena_bytes;
    s->plan[k].host_bytes = from->host_bytes;
    s->plan[k].claims = from->claims;
    s->plan[k].claims.lower_bound_ns = bound > 0 ? bound : s->g->total_time_ns;
    s->plan[k].claims.proof = RP_PROOF_NONE;
    s->plan[k].notes = json_incref(from->notes);
    rp_rc rc = rp_plan_save(&s->plan[k], path, err);
    free(path);
    return rc;
}

static bool has_plan(const struct sweep *s, uint64_t k) {
    return s->plan[k].graph_name != NULL;
}

/* Loads all, and lets no point be slower than the one before it. */
static rp_rc merge(struct sweep *s, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (uint64_t k = 0; k < s->points && rc == RP_OK; k++) {
        rc = load_point(s, k, err);
        if (rc == RP_OK && k > 0 && has_plan(s, k - 1) &&
            (!has_plan(s, k) || s->plan[k].claims.time_ns > s->plan[k - 1].claims.time_ns))
            rc = carry_over(s, k, err);
    }
    /* What bounds a larger budget bounds a smaller one. */
    for (uint64_t k = s->points; rc == RP_OK && k-- > 1;) {
        struct rp_claims *a = &s->plan[k - 1].claims;
        if (has_plan(s, k) && has_plan(s, k - 1) &&
            a->lower_bound_ns < s->plan[k].claims.lower_bound_ns)
            a->lower_bound_ns = s->plan[k].claims.lower_bound_ns;
    }
    return rc;
}

static json_t *curve_json(const struct sweep *s) {
    json_t *points = json_array();
    for (uint64_t k = 0; k < s->points; k++) {
        const struct rp_claims *c = &s->plan[k].claims;
        json_t *p = json_pack("{s:I}", "budget_bytes", (json_int_t)s->budget[k]);
        json_array_append_new(points, p);
        json_object_set_new(p, "found", json_boolean(has_plan(s, k)));
        if (!has_plan(s, k))
            continue;
        json_object_set_new(p, "time_ns", json_integer((json_int_t)c->time_ns));
        json_object_set_new(p, "lower_bound_ns",
                            json_integer((json_int_t)c->lower_bound_ns));
        json_object_set_new(p, "recompute_ns", json_integer((json_int_t)c->recompute_ns));
        json_object_set_new(p, "stall_ns", json_integer((json_int_t)c->stall_ns));
        json_object_set_new(p, "peak_bytes", json_integer((json_int_t)c->peak_bytes));
        json_object_set_new(p, "arena_bytes",
                            json_integer((json_int_t)s->plan[k].arena_bytes));
        json_object_set_new(p, "host_bytes",
                            json_integer((json_int_t)s->plan[k].host_bytes));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "graph", s->g->name, "sha256",
                     s->g->sha256, "baseline_time_ns", (json_int_t)s->g->total_time_ns,
                     "floor_bytes", (json_int_t)s->floor_bytes, "keep_all_bytes",
                     (json_int_t)s->keep_all_bytes, "points", points);
}

static void put_csv(const struct sweep *s, FILE *f) {
    fputs("budget_bytes,time_ns,baseline_time_ns,lower_bound_ns,peak_bytes\n", f);
    for (uint64_t k = 0; k < s->points; k++)
        if (has_plan(s, k))
            fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                    s->budget[k], s->plan[k].claims.time_ns, s->g->total_time_ns,
                    s->plan[k].claims.lower_bound_ns, s->plan[k].claims.peak_bytes);
}

static void put_svg(const struct sweep *s, FILE *f) {
    struct rp_curve curve = {.title = s->g->name, .baseline_ns = s->g->total_time_ns};
    struct rp_curve_point *at = rp_calloc(s->points, sizeof *at);
    for (uint64_t k = 0; k < s->points; k++)
        if (has_plan(s, k))
            at[curve.n++] = (struct rp_curve_point){s->budget[k], s->plan[k].claims.time_ns,
                                                    s->plan[k].claims.lower_bound_ns};
    curve.at = at;
    rp_curve_svg(&curve, f);
    free(at);
}

static void put_curve_json(const struct sweep *s, FILE *f) {
    json_t *root = curve_json(s);
    rp_json_put(f, root);
    fputc('\n', f);
    json_decref(root);
}

static rp_rc save(const struct sweep *s, const char *name,
                  void (*put)(const struct sweep *, FILE *), struct rp_err *err) {
    char *text, *path = rp_format("%s/%s", s->dir, name);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    put(s, f);
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    free(path);
    return rc;
}

static void put_text(const struct sweep *s) {
    printf("%s: %s, keep-all needs %s\n"
           "point      budget  over time      bound  recompute      stall     on host\n",
           s->g->name, rp_show_ns(s->g->total_time_ns).s,
           rp_show_bytes(s->keep_all_bytes).s);
    for (uint64_t k = 0; k < s->points; k++) {
        const struct rp_claims *c = &s->plan[k].claims;
        printf("%5" PRIu64 " %11s ", k, rp_show_bytes(s->budget[k]).s);
        if (!has_plan(s, k)) {
            puts("  no plan found");
            continue;
        }
        printf(
            "%10s %10s %10s %10s %11s\n",
            rp_show_percent(c->time_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_percent(c->lower_bound_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
            rp_show_bytes(s->plan[k].host_bytes).s);
    }
    printf("curve in %s/sweep.svg, .csv, .json\n", s->dir);
}

static rp_rc report(struct sweep *s, bool json, struct rp_err *err) {
    s->plan = rp_calloc(s->points, sizeof *s->plan);
    rp_rc rc = merge(s, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.json", put_curve_json, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.csv", put_csv, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.svg", put_svg, err);
    if (rc == RP_OK && json)
        put_curve_json(s, stdout);
    else if (rc == RP_OK && rp_log_level() >= 0)
        put_text(s);
    for (uint64_t k = 0; k < s->points; k++)
        rp_plan_fini(&s->plan[k]);
    free(s->plan);
    return rc;
}

/* ---- one command a point ---- */

/* 'it''s' for a shell. */
static void put_quoted(const char *text) {
    putchar('\'');
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static void put_jobs(const struct sweep *s) {
    for (uint64_t k = 0; k < s->points; k++) {
        char *path = file_of(s, k);
        printf("remat-plan solve ");
        put_quoted(s->graph_path);
        printf(" --policy remat --budget %" PRIu64
               " --time-limit %g --gap %g --seed %" PRIu64 "%s -q -o ",
               s->budget[k], s->o.time_limit, s->o.gap * 100, s->o.seed,
               s->o.addressed ? "" : " --no-addresses");
        put_quoted(path);
        putchar('\n');
        free(path);
    }
    printf("remat-plan sweep ");
    put_quoted(s->graph_path);
    printf(" --points %" PRIu64 "%s --merge -o ", s->points,
           s->o.addressed ? "" : " --no-addresses");
    put_quoted(s->dir);
    putchar('\n');
}

static rp_rc run(struct sweep *s, bool jobs, bool only_merge, bool json,
                 struct rp_err *err) {
    rp_rc rc = RP_OK;
    if (mkdir(s->dir, 0777) != 0 && errno != EEXIST)
        return rp_fail(err, RP_ENV, "%s: %s", s->dir, strerror(errno));
    choose_budgets(s);
    if (jobs) {
        put_jobs(s);
    } else {
        if (!only_merge)
            rc = s->processes > 1 ? plan_in_processes(s, err)
                                  : plan_points(s, 0, s->points - 1, err);
        if (rc == RP_OK)
            rc = report(s, json, err);
    }
    free(s->budget);
    return rc;
}

static rp_rc check(const struct sweep *s, int n, struct rp_err *err) {
    if (n != 1)
        return rp_fail(err, RP_USAGE, "sweep: one GRAPH is needed (try --help)");
    if (s->dir == NULL)
        return rp_fail(err, RP_USAGE, "sweep: -o DIR is needed (try --help)");
    if (s->points < 2 || s->points > 1000)
        return rp_fail(err, RP_USAGE, "sweep: --points must be 2 to 1000");
    if (s->processes < 1 || s->processes > 256)
        return rp_fail(err, RP_USAGE, "sweep: -j must be 1 to 256");
    if (!(s->o.time_limit > 0))
        return rp_fail(err, RP_USAGE, "sweep: --time-limit must be above 0");
    return RP_OK;
}

rp_rc rp_cmd_sweep(int argc, char **argv, struct rp_err *err) {
    struct sweep s = {.points = 12, .processes = 1};
    bool jobs = false, only_merge = false, json = false, no_addresses = false, done;
    double gap = 0.1;
    int n;
    rp_policy_options_init(&s.o);
    s.o.time_limit = 10;
    const struct rp_opt table[] = {
        {"out", 'o', RP_OPT_STRING, &s.dir, "DIR", "plans and curve go here (required)"},
        {"points", 'n', RP_OPT_NAT, &s.points, "N", "budgets (12)"},
        {"time-limit", 't', RP_OPT_NUMBER, &s.o.time_limit, "SEC", "for each point (10)"},
        {"gap", 0, RP_OPT_NUMBER, &gap, "PERCENT",
         "a point is done when that near its bound (0.1)"},
        {"processes", 'j', RP_OPT_NAT, &s.processes, "N",
         "plan so many points at once (1)"},
        {"jobs", 0, RP_OPT_FLAG, &jobs, NULL, "print the commands, run none"},
        {"merge", 0, RP_OPT_FLAG, &only_merge, NULL, "only put the plans in DIR together"},
        {"no-addresses", 0, RP_OPT_FLAG, &no_addresses, NULL,
         "schedules only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &s.o.seed, "N", "of the search's random choices (1)"},
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_opt_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if ((rc = check(&s, n, err)) != RP_OK)
        return rc;
    struct rp_graph g;
    if ((rc = rp_graph_load(argv[1], &g, err)) != RP_OK)
        return rc;
    s.g = &g;
    s.graph_path = argv[1];
    s.o.addressed = !no_addresses;
    s.o.gap = gap / 100;
    s.o.stop = rp_watch_interrupts();
    rc = rp_check_times(&g, argv[1], err);
    if (rc == RP_OK)
        rc = run(&s, jobs, only_merge, json, err);
    rp_graph_fini(&g);
    return rc;
}
