#include "solve/narrower.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "solve/bound/copies_bound.h"
#include "solve/child/child.h"
#include "solve/child/loss.h"
#include "solve/core/params.h"
#include "solve/moment/moment_bound.h"

/* What the child sends: perhaps a bound, then its result. */
struct message {
    uint64_t bound_ns;
    uint64_t plan_bytes; /* of the plan's file; 0: no plan */
    bool done, capped;
};

struct rp_narrower {
    const struct rp_graph *g;
    struct rp_solve_options o;
    rp_solve_function *solve;
    struct rp_child child;
    int file; /* in memory: the plan, as rp_plan_dump writes it */
    struct message last;
};

/* ---- in the child ---- */

static uint64_t prove_without_swaps(const struct rp_narrower *n,
                                    const struct rp_instance *p) {
    struct rp_moment_statistics ignored = {0};
    struct rp_moment_bound_options o = {
        .any_order = n->o.reorder,
        .goal_ns = UINT64_MAX,
        .work = (uint64_t)(MOMENT_SHARE * n->o.time_limit * MIP_WORK_PER_S) + 1};
    return rp_moment_bound(p, &o, &ignored).bound_ns;
}

/* The sum of all op times where nothing else is cheap to have. Where sources may move, the
 * budget may be less than they take together. */
static uint64_t prove(const struct rp_narrower *n) {
    const struct rp_solve_options *o = &n->o;
    struct rp_instance p;
    if (o->swap && (o->recompute || o->reorder || rp_any_source_may_move(n->g)))
        return n->g->total_time_ns;
    rp_instance_init(&p, n->g, o->budget_bytes, o->addressed, NULL);
    bool swaps = o->swap && rp_instance_allow_swap(&p, o->host_bytes);
    if (!o->recompute)
        rp_instance_run_once(&p);
    uint64_t bound_ns = swaps ? rp_copies_bound_ns(&p) : prove_without_swaps(n, &p);
    rp_instance_fini(&p);
    return bound_ns;
}

static void search(const struct rp_narrower *n, struct message *m) {
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err ignored;
    m->done = true;
    if (n->solve(n->g, &n->o, &plan, &report, &ignored) == RP_OK) {
        char *text;
        size_t len;
        rp_plan_dump(&plan, &text, &len);
        if (rp_write_all(n->file, text, len))
            m->plan_bytes = len;
        else
            rp_lose(RP_NO_MEMORY, errno);
        free(text);
        rp_plan_fini(&plan);
    }
    m->capped = report.capped;
}

static void serve(void *arg, int socket) {
    const struct rp_narrower *n = arg;
    struct message m = {0};
    rp_log_set(-1);
    rp_progress_off();
    setpriority(PRIO_PROCESS, 0, 10);
    m.bound_ns = prove(n);
    send(socket, &m, sizeof m, MSG_NOSIGNAL);
    search(n, &m);
    send(socket, &m, sizeof m, MSG_NOSIGNAL);
}

/* ---- in the parent ---- */

struct rp_narrower *rp_narrower_start(const struct rp_graph *g,
                                      const struct rp_solve_options *o,
                                      rp_solve_function *solve) {
    struct rp_narrower *n = rp_calloc(1, sizeof *n);
    *n = (struct rp_narrower){.g = g, .o = *o, .solve = solve};
    n->file = memfd_create("plan", MFD_CLOEXEC);
    if (n->file < 0)
        rp_lose(RP_NO_MEMORY, errno);
    else if (rp_child_start(&n->child, serve, n))
        return n;
    else
        close(n->file);
    free(n);
    return NULL;
}

bool rp_narrower_wait(struct rp_narrower *n, double seconds) {
    if (!n->last.done &&
        rp_child_wait(&n->child, seconds, &n->last, sizeof n->last) == RP_CHILD_GONE)
        n->last = (struct message){.done = true};
    return n->last.done;
}

uint64_t rp_narrower_bound_ns(const struct rp_narrower *n) {
    return n->last.bound_ns;
}

bool rp_narrower_capped(const struct rp_narrower *n) {
    return n->last.capped;
}

bool rp_narrower_plan(const struct rp_narrower *n, struct rp_plan *plan) {
    size_t len = n->last.plan_bytes;
    struct rp_err ignored;
    char *text = rp_calloc(len + 1, 1);
    bool whole = len > 0 && pread(n->file, text, len, 0) == (ssize_t)len;
    bool ok = whole && rp_plan_parse(text, len, "plan", plan, &ignored) == RP_OK;
    free(text);
    return ok;
}

void rp_narrower_end(struct rp_narrower *n) {
    if (n == NULL)
        return;
    rp_child_end(&n->child);
    close(n->file);
    free(n);
}
