/* sweep: plans of one graph from the least budget to that of keep-all: the Pareto curve. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/sweep.h"
#include "solve/solver.h"

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
    "for which a published policy has a plan. Points of an earlier sweep in DIR are "
    "removed\n"
    "first. Ctrl-C ends it: what was not planned is said, and the exit code is 4.\n"};

/* ---- which budgets ---- */

static bool some_policy_fits(const struct rp_sweep *s, uint64_t budget) {
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
static void choose_budgets(struct rp_sweep *s) {
    struct rp_instance p;
    uint32_t op;
    rp_instance_init(&p, s->g, s->g->fixed_bytes, s->o.addressed, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    s->floor_bytes = s->g->fixed_bytes + rp_instance_floor(&p, &op);
    rp_instance_fini(&p);
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

char *rp_sweep_file(const struct rp_sweep *s, uint64_t k) {
    return rp_format("%s/point-%02" PRIu64 ".plan.json", s->dir, k);
}

uint64_t rp_sweep_point(const char *file_name) {
    uint64_t k = 0;
    char after;
    if (sscanf(file_name, "point-%4" SCNu64 ".plan.jso%c", &k, &after) != 2)
        return UINT64_MAX;
    char *same = rp_format("point-%02" PRIu64 ".plan.json", k);
    bool is_one = strcmp(same, file_name) == 0;
    free(same);
    return is_one ? k : UINT64_MAX;
}

/* ---- the folder ---- */

static rp_rc cannot(const char *path, struct rp_err *err) {
    return rp_fail(err, RP_ENV, "%s: %s", path, strerror(errno));
}

/* Makes it, if need be, and sees whether the curve can be written there. */
static rp_rc make_folder(const struct rp_sweep *s, struct rp_err *err) {
    if (mkdir(s->dir, 0777) != 0 && errno != EEXIST)
        return cannot(s->dir, err);
    char *curve = rp_format("%s/sweep.json", s->dir);
    rp_rc rc = rp_probe_file(curve, err);
    free(curve);
    return rc;
}

static rp_rc remove_file(const struct rp_sweep *s, const char *name, struct rp_err *err) {
    char *path = rp_format("%s/%s", s->dir, name);
    rp_rc rc = unlink(path) != 0 && errno != ENOENT ? cannot(path, err) : RP_OK;
    free(path);
    return rc;
}

/* Points and curve of an earlier run: they must not pass for this one's. */
static rp_rc remove_old(const struct rp_sweep *s, struct rp_err *err) {
    static const char *const curve[] = {"sweep.json", "sweep.csv", "sweep.svg"};
    struct dirent *entry;
    rp_rc rc = RP_OK;
    DIR *dir = opendir(s->dir);
    if (dir == NULL)
        return cannot(s->dir, err);
    while (rc == RP_OK && (entry = readdir(dir)) != NULL)
        if (rp_sweep_point(entry->d_name) != UINT64_MAX)
            rc = remove_file(s, entry->d_name, err);
    closedir(dir);
    for (size_t i = 0; i < sizeof curve / sizeof curve[0] && rc == RP_OK; i++)
        rc = remove_file(s, curve[i], err);
    return rc;
}

/* --merge: the folder holds points, and none beyond those of this sweep. */
static rp_rc check_points(const struct rp_sweep *s, struct rp_err *err) {
    struct dirent *entry;
    uint64_t n = 0, most = 0;
    DIR *dir = opendir(s->dir);
    if (dir == NULL)
        return cannot(s->dir, err);
    while ((entry = readdir(dir)) != NULL) {
        uint64_t k = rp_sweep_point(entry->d_name);
        n += k != UINT64_MAX;
        most = k != UINT64_MAX && k > most ? k : most;
    }
    closedir(dir);
    if (n == 0)
        return rp_fail(err, RP_INPUT, "%s: no point-NN.plan.json to merge", s->dir);
    if (most >= s->points)
        return rp_fail(err, RP_INPUT,
                       "%s: point %" PRIu64 " is beyond the %" PRIu64
                       " of this sweep: sweep with the same options",
                       s->dir, most, s->points);
    return RP_OK;
}

/* ---- plans ---- */

/* Saves the plan of point k, if there is one, and says what became of the point. */
static rp_rc take_point(struct rp_sweep *s, uint64_t k, const struct rp_outcome *now,
                        struct rp_err *err) {
    if (!rp_outcome_fits(now)) {
        s->state[k] = now->rc == RP_NO ? RP_PROVED_NONE
                      : *s->o.stop     ? RP_NOT_PLANNED
                                       : RP_NONE_FOUND;
        return RP_OK;
    }
    char *path = rp_sweep_file(s, k);
    rp_rc rc = rp_plan_save(&now->plan, path, err);
    free(path);
    s->state[k] = rc == RP_OK ? RP_PLANNED : RP_NOT_PLANNED;
    return rc;
}

/* Points first .. last, each from the plan before; files as they come. After an interrupt
 * only where keep-all fits, which takes no time. */
static rp_rc plan_points(struct rp_sweep *s, uint64_t first, uint64_t last,
                         struct rp_err *err) {
    struct rp_outcome before = {.rc = RP_NO}, now;
    rp_rc rc = RP_OK;
    for (uint64_t k = first; k <= last && rc == RP_OK; k++) {
        if (*s->o.stop && s->budget[k] < s->keep_all_bytes)
            continue;
        rp_progress("point %" PRIu64 " of %" PRIu64 ": %s", k + 1, s->points,
                    rp_show_bytes(s->budget[k]).s);
        s->o.budget_bytes = s->budget[k];
        s->o.start = rp_outcome_fits(&before) ? &before.plan : NULL;
        rc = rp_outcome_make(s->g, rp_policy_find("remat"), &s->o, &now, err);
        if (rc == RP_OK)
            rc = take_point(s, k, &now, err);
        if (rc == RP_OK && rp_outcome_fits(&now)) {
            rp_outcome_fini(&before);
            before = now;
        } else {
            rp_outcome_fini(&now);
        }
    }
    rp_outcome_fini(&before);
    rp_progress("%s", "");
    return rc;
}

/* A process for each share of the points, ascending shares of neighbours. An interrupt of
 * any of them reaches all (rp_watch_interrupts). */
static rp_rc plan_in_processes(struct rp_sweep *s, struct rp_err *err) {
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

static void put_jobs(const struct rp_sweep *s) {
    for (uint64_t k = 0; k < s->points; k++) {
        char *path = rp_sweep_file(s, k);
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

static rp_rc plan_and_report(struct rp_sweep *s, bool json, struct rp_err *err) {
    rp_rc rc = RP_OK;
    s->state =
        mmap(NULL, s->points, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->state == MAP_FAILED)
        return rp_fail(err, RP_ENV, "sweep: no shared memory: %s", strerror(errno));
    if (!s->merge)
        rc = remove_old(s, err);
    if (rc == RP_OK && !s->merge)
        rc = s->processes > 1 ? plan_in_processes(s, err)
                              : plan_points(s, 0, s->points - 1, err);
    if (rc == RP_OK)
        rc = rp_sweep_report(s, json, err);
    munmap(s->state, s->points);
    return rc;
}

static rp_rc run(struct rp_sweep *s, bool jobs, bool json, struct rp_err *err) {
    rp_rc rc = s->merge ? check_points(s, err) : make_folder(s, err);
    if (rc != RP_OK)
        return rc;
    choose_budgets(s);
    if (jobs)
        put_jobs(s);
    else
        rc = plan_and_report(s, json, err);
    free(s->budget);
    return rc;
}

/* What the ways to split a sweep over commands have no use for. */
static rp_rc check_split(const struct rp_sweep *s, bool jobs, bool json,
                         struct rp_err *err) {
    if (jobs && s->merge)
        return rp_fail(err, RP_USAGE, "sweep: --jobs is not for --merge");
    if (jobs && json)
        return rp_fail(err, RP_USAGE, "sweep: --jobs is not for --json");
    if ((jobs || s->merge) && s->processes > 1)
        return rp_fail(err, RP_USAGE, "sweep: -j is not for %s",
                       jobs ? "--jobs" : "--merge");
    if (jobs && strcmp(s->graph_path, "-") == 0)
        return rp_fail(err, RP_USAGE,
                       "sweep: --jobs needs a GRAPH that every command can read, not -");
    return RP_OK;
}

static rp_rc check(const struct rp_sweep *s, int n, bool jobs, bool json,
                   struct rp_err *err) {
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
    return check_split(s, jobs, json, err);
}

rp_rc rp_cmd_sweep(int argc, char **argv, struct rp_err *err) {
    struct rp_sweep s = {.points = 12, .processes = 1};
    bool jobs = false, json = false, no_addresses = false, done;
    double gap = 0.1;
    int n;
    rp_policy_options_init(&s.o);
    s.o.time_limit = 10;
    const struct rp_option table[] = {
        {"out", 'o', RP_OPT_STRING, &s.dir, "DIR", "plans and curve go here (required)"},
        {"points", 'n', RP_OPT_NAT, &s.points, "N", "budgets (12)"},
        {"time-limit", 't', RP_OPT_NUMBER, &s.o.time_limit, "SEC", "for each point (10)"},
        {"gap", 0, RP_OPT_NUMBER, &gap, "PERCENT",
         "a point is done when that near its bound (0.1)"},
        {"processes", 'j', RP_OPT_NAT, &s.processes, "N",
         "plan so many points at once (1)"},
        {"jobs", 0, RP_OPT_FLAG, &jobs, NULL, "print the commands, run none"},
        {"merge", 0, RP_OPT_FLAG, &s.merge, NULL, "only put the plans in DIR together"},
        {"no-addresses", 0, RP_OPT_FLAG, &no_addresses, NULL,
         "schedules only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &s.o.seed, "N", "of the search's random choices (1)"},
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    s.graph_path = argv[1];
    if ((rc = check(&s, n, jobs, json, err)) != RP_OK)
        return rc;
    s.o.stop = rp_watch_interrupts();
    struct rp_graph g;
    if ((rc = rp_graph_load(argv[1], &g, err)) != RP_OK)
        return rc;
    s.g = &g;
    s.o.addressed = !no_addresses;
    s.o.gap = gap / 100;
    rc = rp_check_times(&g, argv[1], err);
    if (rc == RP_OK)
        rc = run(&s, jobs, json, err);
    rp_graph_fini(&g);
    return rc;
}
