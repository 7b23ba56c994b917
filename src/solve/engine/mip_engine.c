#include "solve/engine/mip_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "solve/engine/child.h"
#include "solve/engine/mip_solver.h"

#define POLL_SECONDS 0.05

/* What the child works on. Its answer is the result; the point lies in shared memory. */
struct rp_mip_run {
    struct rp_child child;
    const struct rp_milp *m;
    struct rp_mip_options o;
    uint32_t n_cols;
    double *shared; /* n_cols */
};

static rp_mip_solver *const solvers[] = {
    [RP_ENGINE_GLPK] = rp_mip_solver_glpk, [RP_ENGINE_HIGHS] = rp_mip_solver_highs};

/* Judges the point, and says what follows for the bound. */
static void complete(const struct rp_mip_run *s, double *x, struct rp_mip_result *r) {
    double limit = rp_mip_limit(s->m, &s->o);
    if (r->found && !(rp_mip_round(s->m, x) && rp_milp_accepts(s->m, x, RP_MIP_TOLERANCE)))
        *r = (struct rp_mip_result){.status = RP_MIP_FAILED, .bound = -HUGE_VAL};
    r->value = r->found ? rp_milp_value(s->m, x) : HUGE_VAL;
    r->found = r->found && r->value <= limit + 1e-9 * fabs(limit);
    r->bound = fmin(r->bound, r->found ? r->value : limit);
}

static void serve(void *arg, int socket) {
    struct rp_mip_run *s = arg;
    struct rp_mip_result r = {.status = RP_MIP_FAILED, .bound = -HUGE_VAL};
    solvers[s->o.engine](s->m, &s->o, s->shared, &r);
    complete(s, s->shared, &r);
    send(socket, &r, sizeof r, MSG_NOSIGNAL);
}

static size_t shared_bytes(const struct rp_mip_run *s) {
    return ((size_t)s->n_cols + 1) * sizeof *s->shared;
}

struct rp_mip_run *rp_mip_run_start(const struct rp_milp *m,
                                    const struct rp_mip_options *o) {
    struct rp_mip_run *s = rp_calloc(1, sizeof *s);
    *s = (struct rp_mip_run){.m = m, .o = *o, .n_cols = m->n_cols};
    s->shared = rp_shared_memory(shared_bytes(s));
    if (s->shared != NULL && rp_child_start(&s->child, serve, s))
        return s;
    rp_shared_memory_free(s->shared, shared_bytes(s));
    free(s);
    return NULL;
}

bool rp_mip_run_wait(struct rp_mip_run *s, double seconds, double *x,
                     struct rp_mip_result *r) {
    enum rp_child_answer answer = rp_child_wait(&s->child, seconds, r, sizeof *r);
    if (answer == RP_CHILD_SILENT)
        return false;
    if (answer == RP_CHILD_GONE)
        *r = (struct rp_mip_result){.status = RP_MIP_FAILED, .bound = -HUGE_VAL};
    if (r->found)
        memcpy(x, s->shared, s->n_cols * sizeof *x);
    return true;
}

void rp_mip_run_end(struct rp_mip_run *s) {
    if (s == NULL)
        return;
    rp_child_end(&s->child);
    rp_shared_memory_free(s->shared, shared_bytes(s));
    free(s);
}

enum rp_mip_status rp_mip_solve(const struct rp_milp *m, const struct rp_mip_options *o,
                                double *x, struct rp_mip_result *r) {
    struct rp_mip_run *s = rp_mip_run_start(m, o);
    *r = (struct rp_mip_result){.status = RP_MIP_FAILED, .bound = -HUGE_VAL};
    while (s != NULL && !rp_mip_run_wait(s, POLL_SECONDS, x, r))
        if (rp_stop_now(o->stop)) {
            r->status = RP_MIP_STOPPED;
            break;
        }
    rp_mip_run_end(s);
    return r->status;
}
