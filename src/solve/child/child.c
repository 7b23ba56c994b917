#include "solve/child/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "solve/child/loss.h"

static _Noreturn void run_child(void (*serve)(void *, int), void *arg, int socket,
                                pid_t parent) {
    signal(SIGINT, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        serve(arg, socket);
    _exit(0);
}

bool rp_child_start(struct rp_child *c, void (*serve)(void *, int), void *arg) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        rp_lose(RP_NO_PROCESS, errno);
        return false;
    }
    pid_t parent = getpid();
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        run_child(serve, arg, ends[1], parent);
    }
    if (c->pid < 0)
        rp_lose(RP_NO_PROCESS, errno);
    close(ends[1]);
    c->socket = ends[0];
    if (c->pid < 0)
        close(ends[0]);
    return c->pid > 0;
}

bool rp_child_send(struct rp_child *c, const void *message, size_t bytes) {
    if (send(c->socket, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes)
        return true;
    rp_lose_child(c->pid);
    return false;
}

enum rp_child_answer rp_child_wait(struct rp_child *c, double seconds, void *message,
                                   size_t bytes) {
    struct pollfd fd = {.fd = c->socket, .events = POLLIN};
    int ms = seconds > 1e6 ? 1000000000 : seconds < 0 ? 0 : (int)(seconds * 1000);
    int ready = poll(&fd, 1, ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return RP_CHILD_SILENT;
    ssize_t n = ready > 0 ? recv(c->socket, message, bytes, 0) : -1;
    if (n == (ssize_t)bytes)
        return RP_CHILD_ANSWERED;
    if (n <= 0)
        rp_lose_child(c->pid);
    return RP_CHILD_GONE;
}

void rp_child_end(struct rp_child *c) {
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(c->socket);
}

void *rp_shared_memory(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        rp_lose(RP_NO_MEMORY, errno);
    return p == MAP_FAILED ? NULL : p;
}

void rp_shared_memory_free(void *p, size_t bytes) {
    if (p != NULL)
        munmap(p, bytes);
}
