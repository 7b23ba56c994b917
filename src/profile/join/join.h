/* join: joins traces of a program with the graph of its step, by op name. The result is the
 * time in a step that the device worked for each op: the median over steps, and quartiles.
 *
 * Work belongs to the innermost range around its launch that names an op of the graph. How
 * long it takes in a step, and which of its runs are used, is said in runs.h. The first of
 * several steps warms up and is not used, nor is work outside steps, if there are steps.
 *
 * Thread-safe for different results.
 */
#ifndef RP_PROFILE_JOIN_JOIN_H
#define RP_PROFILE_JOIN_JOIN_H

#include "model/graph.h"
#include "profile/join/memory.h"
#include "profile/join/runs.h"
#include "profile/trace.h"

struct rp_joined_costs {
    struct rp_op_cost *ops; /* per op of the graph */
    uint32_t n_ops;
    uint64_t sum_ns; /* of the medians */
    /* Medians over steps: from the first start of work to the last end, and the part of
     * that in which nothing ran. 0: no steps. */
    uint64_t step_ns, idle_ns;
    uint32_t n_steps; /* used ones, over all processes */
    uint32_t n_processes;
    char *device;
    uint64_t memory_bytes;
    uint64_t cupti_version;
    struct rp_held_memory memory;
    struct rp_run_counts runs;
    uint64_t outside_ns, inside_ns; /* work in steps, outside and inside ranges of ops */
    uint64_t side_by_side_ns;       /* two ops ran at once; included in both ops' times */
    char *unknown_ranges;           /* ranges that name no op: "a, b and 3 more", or NULL */
    uint32_t n_unknown_ranges;
};

/* RP_INPUT if graph and program do not fit: two ops have one name, no range names an op, an
 * op has two ranges in one step, steps overlap. RP_ENV if the measurement cannot be used:
 * nothing was measured, records were dropped, a buffer or a trace is incomplete, ops ran on
 * several devices, an op has no usable run. The caller owns `c` on RP_OK; it is empty
 * otherwise. */
rp_rc rp_join_traces(const struct rp_graph *g, const char *graph_file,
                     const struct rp_trace *traces, size_t n_traces,
                     struct rp_joined_costs *c, struct rp_err *err);
void rp_joined_costs_fini(struct rp_joined_costs *c); /* safe on an empty or zeroed one */

#endif
