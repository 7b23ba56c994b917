/* trace: a plan walked along its time line (docs/formats.md): what runs when on which
 * queue, and how much memory is held meanwhile. What reports and pictures are drawn from.
 *
 * The plan must be valid for the graph; whoever reads plans from files asks verify first.
 */
#ifndef RP_EMIT_MEMORY_TRACE_H
#define RP_EMIT_MEMORY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"

enum rp_queue { RP_COMPUTE, RP_TO_HOST, RP_TO_DEVICE };
enum { RP_N_QUEUES = 3 };

/* One step. Memory counts the fixed bytes, and sizes as the plan counts them. */
struct rp_moment {
    uint64_t clock_ns; /* of the compute queue when the step takes or gives memory */
    uint64_t start_ns, end_ns; /* of the work on its queue; a free takes no time */
    uint64_t during_bytes;     /* from clock_ns; a run's workspace is in it */
    uint64_t after_bytes;      /* from end_ns for runs, at once for the others */
    enum rp_queue queue;
    bool again; /* a run of an op that ran before */
};

/* What running an op more than once costs, and what it gives. */
struct rp_rerun {
    uint32_t op, times; /* runs after the first */
    uint64_t extra_ns;
    uint64_t bytes;  /* of the op's outputs */
    uint64_t off_ns; /* the outputs were not on the device for so long: mean over bytes */
};

struct rp_memory_trace {
    struct rp_moment *moments; /* one a step */
    size_t n_moments;
    uint64_t time_ns, recompute_ns, stall_ns;
    uint64_t peak_bytes, fixed_bytes;
    uint32_t peak_op; /* running at the first peak; RP_NONE: a copy begins, or no step */
    uint64_t copied_bytes[RP_N_QUEUES], busy_ns[RP_N_QUEUES];
    struct {
        struct rp_rerun *at;
        size_t n, cap;
    } reruns; /* most extra time first */
};

void rp_memory_trace_plan(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_memory_trace *t);

/* The step as the graph has it: every op once, tensors freed after their last use. Sizes
 * are rounded up to the alignment if `addressed`, so that it compares with such a plan. */
void rp_memory_trace_keep_all(const struct rp_graph *g, bool addressed,
                              struct rp_memory_trace *t);

void rp_memory_trace_fini(struct rp_memory_trace *t); /* safe on an empty or zeroed trace */

/* The interval 0..total_ns cut into n equal columns: the most memory held in each, 0 after
 * the end. total_ns >= 1. */
void rp_memory_trace_columns(const struct rp_memory_trace *t, uint64_t total_ns, uint32_t n,
                             uint64_t *max_bytes);

#endif
