/* child: a child process that works for this one and can be ended at any moment. It begins
 * as a copy of the parent, and the two exchange messages over a socket. What is too large
 * for a message lies in memory that both share.
 *
 *     c = rp_child_start(serve, arg)      in the child: serve(arg, socket) never comes back
 *     rp_child_send(c, &m, sizeof m)      in the child: send and recv on the socket
 *     rp_child_wait(c, 1.0, &m, sizeof m)
 *     rp_child_end(c)
 *
 * The child ignores Ctrl-C, since the parent decides when to stop. It dies with the parent,
 * and leaves no core file. It has the calling thread only, and may take memory: the C
 * library sees to it that no other thread holds the locks of that (glibc; musl from 1.2.2).
 * Not thread-safe: one child, one thread.
 */
#ifndef RP_SOLVE_CHILD_CHILD_H
#define RP_SOLVE_CHILD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rp_child {
    pid_t pid;
    int socket;
};

/* False, and a loss (loss.h), if the system cannot start one. When `serve` returns, the
 * child ends. It must not touch the parent's files. */
bool rp_child_start(struct rp_child *c, void (*serve)(void *arg, int socket), void *arg);

/* False, and a loss, if the child is gone. */
bool rp_child_send(struct rp_child *c, const void *message, size_t bytes);

enum rp_child_answer {
    RP_CHILD_ANSWERED,
    RP_CHILD_SILENT, /* so far, or a signal arrived */
    RP_CHILD_GONE
};
/* Waits at most `seconds` for a message of just that size. A child that is gone is a loss.
 */
enum rp_child_answer rp_child_wait(struct rp_child *c, double seconds, void *message,
                                   size_t bytes);
void rp_child_end(struct rp_child *c); /* ends the process, whatever it does */

/* Zeroed memory that a child started later shares. NULL, and a loss, if there is none. */
void *rp_shared_memory(size_t bytes);
void rp_shared_memory_free(void *p, size_t bytes);

#endif
