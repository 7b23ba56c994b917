/* runs: which work belongs together as one run of an op, and what a run of each op costs.
 *
 * A run has all of an op's work in one step of one process. It takes the time in which at
 * least one piece of that work was under way: pieces that overlap on two streams count
 * once, and pauses between pieces do not count.
 *
 * A run is not used if its work has no time stamps, or if it has fewer pieces than the op
 * usually has. Runs that tracing delayed are used only for ops without others: a delay of
 * the host does not change how long the device works, but the caches and the clock may have
 * changed meanwhile.
 *
 * Thread-safe for different results.
 */
#ifndef RP_PROFILE_JOIN_RUNS_H
#define RP_PROFILE_JOIN_RUNS_H

#include "model/graph.h"

/* A piece of an op's work, or a mark that the op had a range. */
struct rp_piece {
    uint32_t op, process; /* process: an index of the traces */
    uint64_t key; /* identifies the op's run: its step; without steps its range or launch */
    uint64_t start_ns, end_ns;
    uint64_t correlation;
    enum { RP_PIECE_MARK, RP_PIECE_WORK, RP_PIECE_OF_GRAPH } what; /* of a CUDA graph */
    bool no_stamp, held_up; /* it has no time stamps; tracing delayed its launch */
};

struct rp_op_cost {
    uint32_t n_samples; /* runs that are used */
    uint32_t n_pieces;  /* of work in a usual run: kernels, copies and fills */
    uint64_t median_ns, q1_ns, q3_ns, min_ns, max_ns;
    /* The largest that a range stated. If none did: the most that a run both allocated
     * and released, if it did so. */
    uint64_t workspace_bytes;
    bool states_workspace;
};

/* Runs of all ops that are not used, and those that are used although they were delayed. */
struct rp_run_counts {
    uint32_t no_stamp, held_up, lost;
    uint32_t held_but_used;
};

/* Sorts the pieces, and fills in the figures of ops[0 .. g->n_ops-1] but for workspaces.
 * process_ids is per process, for messages. Adds to *counts. RP_INPUT if an op has two
 * ranges or two launches of a CUDA graph in one run, RP_ENV if an op has no run with time
 * stamps. */
rp_rc rp_op_costs_build(const struct rp_graph *g, struct rp_piece *pieces, size_t n,
                        const uint64_t *process_ids, struct rp_op_cost *ops,
                        struct rp_run_counts *counts, struct rp_err *err);

#endif
