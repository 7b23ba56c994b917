#include "solve/mip/worker.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/child/child.h"

/* What the parent sends; the child answers with its state. The schedule lies in memory that
 * both processes share, and only the one whose turn it is touches it. */
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
    struct rp_schedule schedule; /* of the request, then of the answer: rows are shared */
    bool dead;
};

static size_t schedule_bytes(const struct rp_schedule *s) {
    return ((size_t)s->n_stages + 1) * s->words * sizeof *s->rows;
}

static bool share_schedule(struct rp_mip_worker *m) {
    m->schedule = (struct rp_schedule){.n_stages = m->instance->n_ops,
                                       .words = (size_t)m->instance->n_tensors / 64 + 1};
    m->schedule.rows = rp_shared_memory(schedule_bytes(&m->schedule));
    return m->schedule.rows != NULL;
}

/* Once the process has ended. */
static void free_worker(struct rp_mip_worker *m) {
    rp_shared_memory_free(m->schedule.rows, schedule_bytes(&m->schedule));
    free(m);
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
            rp_branch_cut_offer(bc, &m->schedule);
        rp_branch_cut_run(bc, request.work, &answer.state);
        answer.seconds = rp_thread_seconds();
        if (answer.state.found)
            rp_schedule_copy(&m->schedule, rp_branch_cut_best(bc));
        if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
            break;
    }
}

struct rp_mip_worker *rp_mip_worker_start(const struct rp_instance *p,
                                          const struct rp_branch_cut_options *o) {
    struct rp_mip_worker *m = rp_calloc(1, sizeof *m);
    m->instance = p;
    if (share_schedule(m) && rp_child_start(&m->child, serve, &(struct job){m, o}))
        return m;
    free_worker(m);
    return NULL;
}

void rp_mip_worker_submit(struct rp_mip_worker *m, uint64_t work,
                          const struct rp_schedule *best) {
    struct request request = {work, best != NULL};
    if (best != NULL) {
        struct rp_schedule held = *best;
        held.ins = NULL; /* without swap-ins, which have no place in the shared memory */
        rp_schedule_copy(&m->schedule, &held);
    }
    m->dead = m->dead || !rp_child_send(&m->child, &request, sizeof request);
}

/* Does the schedule take the time that the state claims? */
static bool is_valid(const struct rp_mip_worker *m,
                     const struct rp_branch_cut_state *state) {
    if (!state->found)
        return true;
    struct rp_cost c = rp_schedule_cost(m->instance, &m->schedule);
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
    r->schedule = &m->schedule;
    return r->state.status == RP_BRANCH_CUT_PAUSED ? RP_MIP_PAUSED : RP_MIP_FINISHED;
}

void rp_mip_worker_end(struct rp_mip_worker *m) {
    if (m == NULL)
        return;
    rp_child_end(&m->child);
    free_worker(m);
}

pid_t rp_mip_worker_process(const struct rp_mip_worker *m) {
    return m->child.pid;
}
