#include "solve/engine/mip_engine.h"

#include <math.h>
#include <string.h>
#include <sys/socket.h>

#include "solve/child/child.h"
#include "solve/engine/mip_solver.h"

#define POLL_SECONDS 0.05

/* What both processes see. The child writes it as it goes, so what it has proved is not
 * lost with it. */
struct shared {
    struct rp_mip_result r;
    double x[];
};

struct run {
    struct rp_child child;
    const struct rp_milp *m;
    const struct rp_mip_options *o;
    struct shared *shared;
};

static rp_mip_solver *const solvers[] = {
    [RP_ENGINE_GLPK] = rp_mip_solver_glpk, [RP_ENGINE_HIGHS] = rp_mip_solver_highs};

/* Judges the point, and says what follows for the bound. */
static void complete(const struct run *s, double *x, struct rp_mip_result *r) {
    double limit = rp_mip_limit(s->m, s->o);
    if (r->found && !(rp_milp_round(s->m, x, RP_MIP_TOLERANCE) &&
                      rp_milp_accepts(s->m, x, RP_MIP_TOLERANCE)))
        *r = (struct rp_mip_result){.status = RP_MIP_FAILED, .bound = -HUGE_VAL};
    r->value = r->found ? rp_milp_value(s->m, x) : HUGE_VAL;
    r->found = r->found && r->value <= limit + 1e-9 * fabs(limit);
    r->bound = fmin(r->bound, r->found ? r->value : limit);
}

static void serve(void *arg, int socket) {
    struct run *s = arg;
    solvers[s->o->engine](s->m, s->o, s->shared->x, &s->shared->r);
    struct rp_mip_result r = s->shared->r;
    complete(s, s->shared->x, &r);
    send(socket, &r, sizeof r, MSG_NOSIGNAL);
}

/* While the child has not answered. After a whole search the bound depends on the point
 * found, which has not been judged. */
static double bound_so_far(const struct run *s) {
    double bound = s->shared->r.bound;
    return bound == HUGE_VAL ? -HUGE_VAL : fmin(bound, rp_mip_limit(s->m, s->o));
}

static void wait_for_answer(struct run *s, double *x, struct rp_mip_result *r) {
    enum rp_child_answer answer;
    while (answer = rp_child_wait(&s->child, POLL_SECONDS, r, sizeof *r),
           answer == RP_CHILD_SILENT && !rp_stop_now(s->o->stop))
        if (s->o->on_bound != NULL)
            s->o->on_bound(s->o->on_bound_arg, bound_so_far(s));
    rp_child_end(&s->child);
    if (answer != RP_CHILD_ANSWERED) {
        *r = s->shared->r;
        r->status = answer == RP_CHILD_SILENT ? RP_MIP_STOPPED : RP_MIP_FAILED;
        r->found = false;
        r->bound = bound_so_far(s);
    }
    if (r->found)
        memcpy(x, s->shared->x, s->m->n_cols * sizeof *x);
}

enum rp_mip_status rp_mip_solve(const struct rp_milp *m, const struct rp_mip_options *o,
                                double *x, struct rp_mip_result *r) {
    size_t bytes = sizeof(struct shared) + m->n_cols * sizeof *x;
    struct run s = {.m = m, .o = o, .shared = rp_shared_memory(bytes)};
    *r = (struct rp_mip_result){
        .status = RP_MIP_FAILED, .value = HUGE_VAL, .bound = -HUGE_VAL};
    if (s.shared != NULL) {
        s.shared->r = *r;
        if (rp_child_start(&s.child, serve, &s))
            wait_for_answer(&s, x, r);
    }
    rp_shared_memory_free(s.shared, bytes);
    return r->status;
}
