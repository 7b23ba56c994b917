/* cmd_profile: what `profile` does besides device models; options are in cmd/profile.c. */
#ifndef RP_CMD_PROFILE_H
#define RP_CMD_PROFILE_H

#include <stdbool.h>

#include "base/status.h"
#include "model/graph.h"
#include "profile/launch.h"

struct rp_measure {
    const char *graph, *traces, *out; /* traces: a folder, or NULL */
    bool json;
};

/* Joins the graph with the traces of `command` (NULL at its end), or, if it is empty, with
 * those of an earlier run. */
rp_rc rp_profile_measure(const struct rp_measure *m, char *const command[],
                         struct rp_err *err);

/* The rest of it: what the traces say goes into g, which is written, and reported. */
rp_rc rp_profile_finish(const struct rp_measure *m, struct rp_graph *g,
                        const struct rp_traces *t, struct rp_err *err);

/* Measures m->graph on this machine's GPU, with the kernels of `emit`: writes a program
 * that runs its step, builds it, and traces `repeat` steps of it. `program` is a folder to
 * keep it in, or NULL (cmd/profile_gpu.c). */
rp_rc rp_profile_on_gpu(const struct rp_measure *m, const char *program, uint64_t gpu,
                        uint64_t repeat, struct rp_err *err);

/* Compares the times of two graphs of one step; `plan`, of graph a or b, is timed with both
 * (NULL: none). */
rp_rc rp_profile_compare(const char *a, const char *b, const char *plan, bool json,
                         struct rp_err *err);

#endif
