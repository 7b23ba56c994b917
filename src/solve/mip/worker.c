#include "solve/mip/worker.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/engine/child.h"

/* What the parent sends; the child answers with its state. Schedules lie in memory that
 * both processes share, and only the one whose turn it is touches them. */
struct request {
    uint64_t work;
    uint64_t has_schedule; /* 0 or 1; a bool would send padding too */
};
struct answer {
    struct rp_branch_cut_state state;
    double seconds;
};

struct rp_mip_worker {
    const struct rp_instance *instance;
    struct rp_child child;
    struct rp_schedule to_child, from_child; /* rows lie in the shared memory */
    void *shared;
    size_t shared_bytes;
    bool dead;
};

static size_t schedule_bytes(const struct rp_schedule *s) {
    return ((size_t)s->n_stages + 1) * s->words * sizeof *s->rows;
}

static bool share_schedules(struct rp_mip_worker *m) {
    struct rp_schedule shape;
    rp_schedule_empty(m->instance, &shape);
    size_t bytes = schedule_bytes(&shape);
    rp_schedule_fini(&shape);
    m->shared_bytes = 2 * bytes;
    m->shared = rp_shared_memory(m->shared_bytes);
    if (m->shared == NULL)
        return false;
    m->to_child = (struct rp_schedule){.n_stages = m->instance->n_ops,
                                       .words = (size_t)m->instance->n_tensors / 64 + 1,
                                       .rows = m->shared};
    m->from_child = m->to_child;
    m->from_child.rows = (uint64_t *)m->shared + bytes / sizeof(uint64_t);
    return true;
}

struct job {
    struct rp_mip_worker *worker;
    const struct rp_branch_cut_options *options;
};

/* The child's main loop. */
static void serve(void *arg, int socket) {
    const struct job *job = arg;
    struct rp_mip_worker *m = job->worker;
    struct rp_branch_cut *bc = NULL;
    struct answer answer;
    struct request request;
    while (recv(socket, &request, sizeof request, 0) == sizeof request) {
        if (bc == NULL)
            bc = rp_branch_cut_new(m->instance, job->options);
        if (request.has_schedule)
            rp_branch_cut_offer(bc, &m->to_child);
        rp_branch_cut_run(bc, request.work, &answer.state);
        answer.seconds = rp_thread_seconds();
        if (answer.state.found)
            rp_schedule_copy(&m->from_child, rp_branch_cut_best(bc));
        if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
            break;
    }
}

struct rp_mip_worker *rp_mip_worker_start(const struct rp_instance *p,
                                          const struct rp_branch_cut_options *o) {
    struct rp_mip_worker *m = rp_calloc(1, sizeof *m);
    m->instance = p;
    if (share_schedules(m) && rp_child_start(&m->child, serve, &(struct job){m, o}))
        return m;
    rp_shared_memory_free(m->shared, m->shared_bytes);
    free(m);
    return NULL;
}

void rp_mip_worker_submit(struct rp_mip_worker *m, uint64_t work,
                          const struct rp_schedule *best) {
    struct request request = {work, best != NULL};
    if (best != NULL) {
        struct rp_schedule held = *best;
        held.ins = NULL; /* without swap-ins, which have no place in the shared memory */
        rp_schedule_copy(&m->to_child, &held);
    }
    m->dead = m->dead || !rp_child_send(&m->child, &request, sizeof request);
}

/* Does the schedule take the time that the state claims? */
static bool is_valid(const struct rp_mip_worker *m,
                     const struct rp_branch_cut_state *state) {
    if (!state->found)
        return true;
    struct rp_cost c = rp_schedule_cost(m->instance, &m->from_child);
    return rp_cost_fits(m->instance, &c) && c.time_ns == state->time_ns;
}

enum rp_mip_worker_status rp_mip_worker_wait(struct rp_mip_worker *m, double seconds,
                                             struct rp_mip_worker_result *r) {
    if (m->dead)
        return RP_MIP_DEAD;
    struct answer answer;
    enum rp_child_answer got = rp_child_wait(&m->child, seconds, &answer, sizeof answer);
    if (got == RP_CHILD_SILENT)
        return RP_MIP_DEADLINE;
    m->dead = got == RP_CHILD_GONE || !is_valid(m, &answer.state);
    if (m->dead)
        return RP_MIP_DEAD;
    r->state = answer.state;
    r->seconds = answer.seconds;
    r->schedule = &m->from_child;
    return r->state.status == RP_BRANCH_CUT_PAUSED ? RP_MIP_PAUSED : RP_MIP_FINISHED;
}

void rp_mip_worker_end(struct rp_mip_worker *m) {
    if (m == NULL)
        return;
    rp_child_end(&m->child);
    rp_shared_memory_free(m->shared, m->shared_bytes);
    free(m);
}

pid_t rp_mip_worker_process(const struct rp_mip_worker *m) {
    return m->child.pid;
}
