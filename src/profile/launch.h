/* launch: runs a command with the library that traces it (inject/) and collects what its
 * processes wrote. The command is not changed, except that its standard output goes to
 * standard error: our standard output is for the answer.
 *
 * rp_traces_run is not thread-safe, because it sets signal handlers and waits for a child.
 */
#ifndef RP_PROFILE_LAUNCH_H
#define RP_PROFILE_LAUNCH_H

#include "profile/trace.h"

struct rp_traces {
    struct rp_trace *at;
    size_t n, cap;
};

/* RP_ENV if nothing can be traced: an environment variable makes CUDA load another tool, or
 * our library is missing. rp_traces_run checks this too. */
rp_rc rp_traces_ready(struct rp_err *err);

/* Runs the command argv (its last element is NULL) and waits until it ends. Traces go to
 * `folder`, which is kept and must not hold traces yet. If it is NULL, they go to a
 * temporary folder. RP_ENV if the command cannot be run or fails, or if nothing can be
 * traced. `t` is empty before; the caller ends it in any case. */
rp_rc rp_traces_run(char *const argv[], const char *folder, struct rp_traces *t,
                    struct rp_err *err);

/* Reads every trace in the folder, in the order of process ids, into `t` likewise. */
rp_rc rp_traces_load(const char *folder, struct rp_traces *t, struct rp_err *err);
void rp_traces_fini(struct rp_traces *t); /* safe on an empty or zeroed one */

#endif
