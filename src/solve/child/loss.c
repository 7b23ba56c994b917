#include "solve/child/loss.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct losses {
    uint64_t n;
    uint64_t last; /* what << 32 | detail */
};

static struct losses own;
static struct losses *losses = &own;

static void share(void) {
    void *p =
        mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED)
        losses = p;
}

uint64_t rp_losses(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, share);
    /* What child processes lose is not seen then: each answer differs from the last. */
    if (losses == &own)
        rp_lose(RP_NO_MEMORY, ENOMEM);
    return __atomic_load_n(&losses->n, __ATOMIC_RELAXED);
}

void rp_lose(enum rp_loss what, int detail) {
    uint64_t last = (uint64_t)what << 32 | (uint32_t)detail;
    __atomic_store_n(&losses->last, last, __ATOMIC_RELAXED);
    __atomic_fetch_add(&losses->n, 1, __ATOMIC_RELAXED);
}

static bool is_crash(int signal) {
    return signal == SIGABRT || signal == SIGSEGV || signal == SIGFPE || signal == SIGILL;
}

void rp_lose_child(pid_t pid) {
    siginfo_t end = {0};
    int rc;
    do
        rc = waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 || end.si_code == CLD_EXITED)
        rp_lose(RP_ENDED, rc == 0 ? end.si_status : 0);
    else if (!is_crash(end.si_status))
        rp_lose(RP_KILLED, end.si_status);
}

void rp_describe_loss(char *text, size_t size) {
    static const char *const words[] = {
        [RP_NO_PROCESS] = "a process could not be started",
        [RP_NO_THREAD] = "a thread could not be started",
        [RP_NO_MEMORY] = "a process had no shared memory",
        [RP_KILLED] = "a process was ended from outside",
        [RP_ENDED] = "a process ended without an answer",
    };
    uint64_t last = __atomic_load_n(&losses->last, __ATOMIC_RELAXED);
    enum rp_loss what = (enum rp_loss)(last >> 32);
    int detail = (int)(uint32_t)last;
    if (what == RP_ENDED)
        snprintf(text, size, "%s", words[what]);
    else
        snprintf(text, size, "%s: %s", words[what],
                 what == RP_KILLED ? strsignal(detail) : strerror(detail));
}
