#include "cmd/interrupt.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

static volatile sig_atomic_t own_flag;
static volatile sig_atomic_t *interrupted = &own_flag;

/* A signal that follows at once counts as the same one: timeout(1) signals the process, and
 * then its group. */
static void on_interrupt(int signal_number) {
    static volatile sig_atomic_t seen;
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!seen)
        first = now;
    seen = *interrupted = 1;
    if (now.tv_sec > first.tv_sec + 1) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

const volatile sig_atomic_t *rp_watch_interrupts(void) {
    void *shared = mmap(NULL, sizeof *interrupted, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED)
        interrupted = shared;
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    return interrupted;
}
