/* launch: runs a command with the library that traces it (inject/), and gathers what its
 * processes wrote. The command itself is not changed; its standard output goes to standard
 * error, since ours is for the answer. */
#ifndef RP_PROFILE_LAUNCH_H
#define RP_PROFILE_LAUNCH_H

#include "profile/trace.h"

struct rp_traces {
    struct rp_trace *at;
    size_t n, cap;
};

/* RP_ENV if nothing can be traced: another tool's injection is set, or the library is not
 * there. rp_traces_run finds out itself. */
rp_rc rp_traces_ready(struct rp_err *err);

/* Runs argv (NULL at its end) until it ends. Traces go to `folder`, which must not hold any
 * yet and stays; NULL: to a temporary one. RP_ENV if the command cannot be run or fails, or
 * if another tool's injection is set. The caller owns `t` on RP_OK. */
rp_rc rp_traces_run(char *const argv[], const char *folder, struct rp_traces *t,
                    struct rp_err *err);

/* Reads every trace in the folder, by process id. */
rp_rc rp_traces_load(const char *folder, struct rp_traces *t, struct rp_err *err);
void rp_traces_fini(struct rp_traces *t);

#endif
