/* profile: what the command `profile` does apart from device models. Its options are in
 * cmd/profile.c. Not thread-safe: the functions run other programs and catch signals. */
#ifndef RP_CMD_PROFILE_H
#define RP_CMD_PROFILE_H

#include <stdbool.h>

#include "base/status.h"
#include "model/graph.h"
#include "profile/annotate.h"
#include "profile/launch.h"

/* What is measured and where the result goes. */
struct rp_measure {
    const char *graph;  /* the file */
    const char *traces; /* the folder to keep traces in, or NULL */
    const char *out;    /* where the graph with times is written */
    bool json;
};

/* Which f32 ops may round factors to TF32: as the graph's attributes say, or no others than
 * these. */
enum rp_tf32 { RP_TF32_AS_GIVEN, RP_TF32_NONE, RP_TF32_CONV, RP_TF32_ALL };

/* How the ops of a graph are measured with our kernels. */
struct rp_gpu_measure {
    const char *program; /* the folder to keep the program in, or NULL */
    uint64_t gpu, repeat;
    double warm_up_s, limit_s;
    enum rp_gaps gaps;
    enum rp_tf32 tf32;
};

/* Runs `command` (NULL at its end) and joins its traces with the graph. An empty command
 * stands for the traces of an earlier run (cmd/profile_command.c). */
rp_rc rp_profile_measure(const struct rp_measure *m, char *const command[],
                         struct rp_err *err);

/* Stores the costs that the traces show in g, writes g to m->out and reports. `step` is
 * NULL if the step was not timed without tracing; then op times are without gaps. RP_INPUT
 * and RP_ENV as for rp_join_traces and rp_link_fit_build. */
rp_rc rp_profile_finish(const struct rp_measure *m, struct rp_graph *g,
                        const struct rp_traces *t, const struct rp_untraced_step *step,
                        enum rp_gaps gaps, struct rp_err *err);

/* Measures m->graph on this machine's GPU, with the kernels of `emit`: writes a program
 * that runs the graph's step, builds it, times `repeat` steps, and traces as many
 * (cmd/profile_gpu.c). */
rp_rc rp_profile_on_gpu(const struct rp_measure *m, const struct rp_gpu_measure *how,
                        struct rp_err *err);

/* Compares the times of two graphs of one step. `plan`, if not NULL, is a plan for graph a
 * or b, and is timed with both (cmd/profile_diff.c). */
rp_rc rp_profile_compare(const char *a, const char *b, const char *plan, bool json,
                         struct rp_err *err);

#endif
