#include "solve/mip/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* What the parent sends; the child answers with its state. Schedules lie in memory that
 * both processes share, and only the one whose turn it is touches them. */
struct request {
    uint64_t work;
    bool has_schedule;
};

struct rp_mip_worker {
    const struct rp_instance *instance;
    pid_t pid;
    int socket;
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
    m->shared = mmap(NULL, m->shared_bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m->shared == MAP_FAILED)
        return false;
    m->to_child = (struct rp_schedule){m->instance->n_ops, m->instance->n_tensors,
                                       (size_t)m->instance->n_tensors / 64 + 1, m->shared};
    m->from_child = m->to_child;
    m->from_child.rows = (uint64_t *)m->shared + bytes / sizeof(uint64_t);
    return true;
}

/* The child's main loop. It never returns, and never touches the parent's files. */
static void serve(struct rp_mip_worker *m, int socket,
                  const struct rp_branch_cut_options *o, pid_t parent) {
    struct rp_branch_cut_state state;
    struct request request;
    signal(SIGINT, SIG_IGN); /* the parent decides when to stop */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    struct rp_branch_cut *bc = NULL;
    while (recv(socket, &request, sizeof request, 0) == sizeof request) {
        if (bc == NULL)
            bc = rp_branch_cut_new(m->instance, o);
        if (request.has_schedule)
            rp_branch_cut_offer(bc, &m->to_child);
        rp_branch_cut_run(bc, request.work, &state);
        if (state.found)
            rp_schedule_copy(&m->from_child, rp_branch_cut_best(bc));
        if (send(socket, &state, sizeof state, MSG_NOSIGNAL) != sizeof state)
            break;
    }
    _exit(0);
}

struct rp_mip_worker *rp_mip_worker_start(const struct rp_instance *p,
                                          const struct rp_branch_cut_options *o) {
    struct rp_mip_worker *m = rp_calloc(1, sizeof *m);
    int ends[2];
    m->instance = p;
    if (!share_schedules(m)) {
        free(m);
        return NULL;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        goto no_process;
    pid_t parent = getpid();
    m->pid = fork();
    if (m->pid == 0) {
        close(ends[0]);
        serve(m, ends[1], o, parent);
    }
    close(ends[1]);
    if (m->pid < 0) {
        close(ends[0]);
        goto no_process;
    }
    m->socket = ends[0];
    return m;
no_process:
    munmap(m->shared, m->shared_bytes);
    free(m);
    return NULL;
}

void rp_mip_worker_submit(struct rp_mip_worker *m, uint64_t work,
                          const struct rp_schedule *best) {
    struct request request = {work, best != NULL};
    if (best != NULL)
        rp_schedule_copy(&m->to_child, best);
    if (!m->dead &&
        send(m->socket, &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
        m->dead = true;
}

/* Does the schedule take the time that the state claims? */
static bool is_valid(const struct rp_mip_worker *m,
                     const struct rp_branch_cut_state *state) {
    if (!state->found)
        return true;
    struct rp_cost c = rp_schedule_cost(m->instance, &m->from_child);
    return c.sound && c.peak_bytes <= m->instance->limit_bytes &&
           c.time_ns == state->time_ns;
}

enum rp_mip_worker_status rp_mip_worker_wait(struct rp_mip_worker *m, double seconds,
                                             struct rp_mip_worker_result *r) {
    struct pollfd fd = {.fd = m->socket, .events = POLLIN};
    int ms = seconds > 1e6 ? 1000000000 : seconds < 0 ? 0 : (int)(seconds * 1000);
    if (m->dead)
        return RP_MIP_DEAD;
    int ready = poll(&fd, 1, ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return RP_MIP_DEADLINE;
    if (ready < 0 || recv(m->socket, &r->state, sizeof r->state, 0) != sizeof r->state ||
        !is_valid(m, &r->state)) {
        m->dead = true;
        return RP_MIP_DEAD;
    }
    r->schedule = &m->from_child;
    return r->state.status == RP_BRANCH_CUT_PAUSED ? RP_MIP_PAUSED : RP_MIP_FINISHED;
}

void rp_mip_worker_end(struct rp_mip_worker *m) {
    if (m == NULL)
        return;
    kill(m->pid, SIGKILL);
    while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(m->socket);
    munmap(m->shared, m->shared_bytes);
    free(m);
}

pid_t rp_mip_worker_process(const struct rp_mip_worker *m) {
    return m->pid;
}
