/* loss: processes, threads and shared memory that a search asked for and did not get, or
 * that did not live to answer. The search goes on without them and finds less, so that the
 * same options no longer give the same plan. Whoever began it asks whether that happened.
 *
 * One count for this process and all that it starts, so searches at the same time see each
 * other's losses. Thread-safe. */
#ifndef RP_SOLVE_CHILD_LOSS_H
#define RP_SOLVE_CHILD_LOSS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rp_loss {
    RP_NO_PROCESS, /* `detail` is an errno */
    RP_NO_THREAD,  /* likewise */
    RP_NO_MEMORY,  /* likewise; shared memory, or a file in memory */
    RP_KILLED,     /* a signal */
    RP_ENDED       /* an exit code */
};

/* So far. If it is not what it was before, something was lost meanwhile. The first call
 * comes before the first process starts. */
uint64_t rp_losses(void);

void rp_lose(enum rp_loss what, int detail);

/* A child process has ended without an answer. A crash of its own, such as a failed
 * assertion of an engine, is none: it comes with the same input each time. */
void rp_lose_child(pid_t pid);

/* The last loss in words: "a process could not be started: Too many open files". */
void rp_describe_loss(char *text, size_t size);

#endif
