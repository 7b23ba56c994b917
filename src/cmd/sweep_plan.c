#include "cmd/sweep_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "cmd/policy_outcome.h"
#include "cmd/sweep_budgets.h"

/* ---- one point ---- */

/* Loads the fastest plan of the earlier rounds that fits the point. *start stays empty if
 * there is none. */
static rp_rc load_start(const struct rp_sweep_graph *a, const struct rp_point *p,
                        struct rp_plan *start, struct rp_err *err) {
    const struct rp_point *best = NULL;
    for (size_t i = 0; i < a->points.n; i++) {
        const struct rp_point *q = &a->points.at[i];
        if (q->round < p->round && q->budget_bytes <= p->budget_bytes && q->time_ns > 0 &&
            (best == NULL || q->time_ns < best->time_ns))
            best = q;
    }
    *start = (struct rp_plan){0};
    return best == NULL ? RP_OK : rp_point_load_plan(a, best->budget_bytes, start, err);
}

/* Saves the plan, if there is one, and then the record. */
static rp_rc save_point(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                        struct rp_point p, const struct rp_outcome *out,
                        struct rp_err *err) {
    rp_rc rc = RP_OK;
    bool proved = out->rc == RP_NO && s->policy->record == NULL;
    p.state = rp_outcome_fits(out) ? RP_PLANNED : proved ? RP_PROVED_NONE : RP_NONE_FOUND;
    if (p.state == RP_PLANNED) {
        char *path = rp_point_plan_path(a, p.budget_bytes);
        p.time_ns = out->plan.claims.time_ns;
        rc = rp_plan_save(&out->plan, path, err);
        free(path);
    }
    return rc == RP_OK ? rp_point_save(s, a, &p, err) : rc;
}

static rp_rc plan_point(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                        struct rp_point p, struct rp_err *err) {
    struct rp_policy_options o = s->options;
    struct rp_plan start;
    struct rp_outcome out = {0};
    rp_rc rc = load_start(a, &p, &start, err);
    o.budget_bytes = p.budget_bytes;
    o.host_bytes = a->host.bytes;
    o.start = start.graph_name != NULL ? &start : NULL;
    double begin = rp_seconds();
    if (rc == RP_OK)
        rc = rp_outcome_make(&a->g, s->policy, &o, &out, err);
    p.solver_ns = (uint64_t)((rp_seconds() - begin) * 1e9);
    if (rc == RP_OK && !rp_stop_interrupted(o.stop))
        rc = save_point(s, a, p, &out, err);
    rp_outcome_fini(&out);
    rp_plan_fini(&start);
    return rc;
}

/* ---- all points ---- */

struct task {
    const struct rp_sweep_graph *a;
    const struct rp_point *p;
};

/* Runs a task in a new process, which ends with this one, however that ends. */
static rp_rc start_process(const struct rp_sweep *s, const struct task *t,
                           struct rp_err *err) {
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return rp_fail(err, RP_ENV, "sweep: cannot start a process: %s", strerror(errno));
    if (child > 0)
        return RP_OK;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(RP_LIMIT);
    struct rp_err child_err = {{0}};
    rp_progress_off();
    rp_rc rc = plan_point(s, t->a, *t->p, &child_err);
    if (rc != RP_OK)
        rp_log(-1, "%s", child_err.msg);
    _exit((int)rc);
}

/* Waits until one of the processes ends. */
static rp_rc await_process(struct rp_err *err) {
    int status;
    while (waitpid(-1, &status, 0) < 0)
        if (errno != EINTR)
            return rp_fail(err, RP_ENV, "sweep: lost a process: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == RP_OK)
        return RP_OK;
    return rp_fail(err, WIFEXITED(status) ? (rp_rc)WEXITSTATUS(status) : RP_BUG,
                   "sweep: one of the processes failed");
}

/* Shows that a point is planned, with `left` more to come. */
static void show_progress(const struct rp_sweep *s, const struct task *t, size_t number,
                          size_t n, double left, uint64_t n_processes) {
    char round[32] = "";
    if (s->graphs[0].given.n == 0)
        snprintf(round, sizeof round, "round %" PRIu32 " of %d, ", t->p->round + 1,
                 RP_SWEEP_ROUNDS);
    rp_progress_task(s->options.time_limit,
                     left * s->options.time_limit / (double)n_processes,
                     "%spoint %zu of %zu, %s at %s", round, number, n, t->a->name,
                     rp_show_bytes(t->p->budget_bytes).s);
}

static rp_rc run_tasks(const struct rp_sweep *s, const struct task *tasks, size_t n,
                       uint64_t n_processes, struct rp_err *err) {
    uint64_t running = 0, later = rp_sweep_n_to_come(s);
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < n && rc == RP_OK && !rp_stop_interrupted(s->options.stop); i++) {
        show_progress(s, &tasks[i], i + 1, n, (double)(n - i - 1 + later), n_processes);
        if (n_processes == 1) {
            rc = plan_point(s, tasks[i].a, *tasks[i].p, err);
            continue;
        }
        if (running == n_processes) {
            rc = await_process(err);
            running--;
        }
        if (rc == RP_OK && (rc = start_process(s, &tasks[i], err)) == RP_OK)
            running++;
    }
    for (; running > 0; running--) {
        rp_rc last = await_process(err);
        rc = rc == RP_OK ? last : rc;
    }
    rp_progress_end();
    return rc;
}

static rp_rc create_folder(const struct rp_sweep_graph *a, struct rp_err *err) {
    if (mkdir(a->dir, 0777) != 0 && errno != EEXIST)
        return rp_fail(err, RP_ENV, "%s: %s", a->dir, strerror(errno));
    return RP_OK;
}

rp_rc rp_sweep_plan(const struct rp_sweep *s, struct rp_share share, uint64_t n_processes,
                    struct rp_err *err) {
    RP_VEC(struct task) tasks = {0};
    uint64_t round_size = rp_sweep_round_size(s);
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < s->n_graphs && rc == RP_OK; i++) {
        const struct rp_sweep_graph *a = &s->graphs[i];
        rc = create_folder(a, err);
        for (size_t j = 0; j < a->points.n; j++) {
            const struct rp_point *p = &a->points.at[j];
            bool mine = (i * round_size + p->index) % share.n == share.k;
            if (p->state == RP_NOT_PLANNED && mine)
                rp_push(&tasks, ((struct task){a, p}));
        }
    }
    if (rc == RP_OK)
        rc = run_tasks(s, tasks.at, tasks.n, n_processes, err);
    free(tasks.at);
    return rc;
}
