/* costs: traces of a program joined with the graph of its step, by op name: how long the
 * device worked for each op, once a step; the median over steps, and the spread.
 *
 * Work belongs to the innermost range around its launch that names an op of the graph. An
 * op's time in a step is the time in which at least one piece of its work ran: pieces side
 * by side on two streams count once, pauses between pieces do not count.
 *
 * What is not used, and counted instead: the first of several steps (it warms up), work
 * outside steps if there are any, a step's op whose work has no time stamps, whose launch
 * tracing itself held up, or which lacks work that the same op has in other steps.
 */
#ifndef RP_PROFILE_JOIN_H
#define RP_PROFILE_JOIN_H

#include "model/graph.h"
#include "profile/trace.h"

struct rp_op_cost {
    uint32_t n_samples;
    uint64_t median_ns, q1_ns, q3_ns, min_ns, max_ns;
    uint64_t workspace_bytes; /* the most that a range stated */
    bool has_workspace;
};

struct rp_costs {
    struct rp_op_cost *ops; /* one an op of the graph */
    uint32_t n_ops;
    uint64_t sum_ns;  /* of the medians */
    uint64_t step_ns; /* first start to last end of a step's work, median; 0: no steps */
    uint32_t n_steps; /* that were used, over all processes */
    uint32_t n_processes;
    char *device;
    uint64_t memory_bytes;
    uint64_t cupti_version;

    /* Samples that were not used. */
    uint32_t no_stamp, held_up, lost;
    /* Work in steps that is in no range of an op: its sum over steps, and its share. */
    uint64_t outside_ns, inside_ns;
    uint64_t side_by_side_ns; /* two ops at once; is in both their times */
    char *strangers;          /* ranges that name no op: "a, b and 3 more", or NULL */
    uint32_t n_strangers;
};

/* RP_INPUT if graph and program do not fit: names that are twice in the graph, ops that no
 * range names, ops that are in two ranges of one step. RP_ENV if the measurement is not to
 * be used: nothing measured, dropped records, torn buffers, a trace without its end,
 * several devices, an op without one good sample. The caller owns `c` on RP_OK. */
rp_rc rp_costs_join(const struct rp_graph *g, const char *graph_file,
                    const struct rp_trace *traces, size_t n_traces, struct rp_costs *c,
                    struct rp_err *err);
void rp_costs_fini(struct rp_costs *c);

/* Sets times, workspace where stated, the device's name and memory, time_source
 * "cupti:NAME", and per op attrs.profile with the spread. RP_INPUT if the sums no longer
 * fit. */
rp_rc rp_costs_apply(const struct rp_costs *c, struct rp_graph *g, const char *file,
                     struct rp_err *err);

#endif
