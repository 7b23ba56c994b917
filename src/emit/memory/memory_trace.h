/* memory_trace: a plan's steps with times (docs/formats.md) and with the memory that is
 * held on the device. Reports and charts are made from it.
 *
 * The plan must be valid for the graph, so plans from files are verified first.
 * Thread-safe for different traces.
 */
#ifndef RP_EMIT_MEMORY_MEMORY_TRACE_H
#define RP_EMIT_MEMORY_MEMORY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "emit/memory/memory_split.h"
#include "model/graph.h"
#include "model/plan.h"

enum rp_trace_queue { RP_TRACE_COMPUTE, RP_TRACE_TO_HOST, RP_TRACE_TO_DEVICE };
enum { RP_N_TRACE_QUEUES = 3 };

/* One step. Memory includes the fixed bytes. Sizes are rounded as in the plan. */
struct rp_timed_step {
    uint64_t clock_ns; /* the compute queue's clock when the step allocates or frees */
    uint64_t start_ns, end_ns;     /* of the work on its queue; a free takes no time */
    struct rp_memory_split during; /* from clock_ns on; includes a run's workspace */
    struct rp_memory_split after;  /* from end_ns on for runs, else from clock_ns on */
    enum rp_trace_queue queue;
    enum rp_step_kind kind;
    bool again; /* the op ran before */
};

/* What running an op more than once costs, and what it saves. */
struct rp_rerun {
    uint32_t op, times; /* times: runs after the first */
    uint64_t extra_ns;
    uint64_t bytes;  /* of the op's outputs */
    uint64_t off_ns; /* time that the outputs were off the device: mean over their bytes */
};

struct rp_memory_trace {
    struct rp_timed_step *steps; /* one for each step of the plan */
    size_t n_steps;
    uint64_t time_ns, recompute_ns, stall_ns;
    struct rp_memory_split peak, fixed; /* peak: the first time that most is held */
    uint32_t peak_op;                   /* the op that runs then, or RP_NONE */
    uint64_t copied_bytes[RP_N_TRACE_QUEUES], busy_ns[RP_N_TRACE_QUEUES];
    RP_VEC(struct rp_rerun) reruns; /* by extra time, largest first */
};

/* *t need not be initialised. The caller empties it. */
void rp_memory_trace_plan(const struct rp_graph *g, const struct rp_plan *p,
                          struct rp_memory_trace *t);

/* Traces the step without rematerialization: every op runs once, tensors are freed after
 * their last use, and all sources stay on the device. With `addressed`, sizes are rounded
 * up to the alignment as in a plan with addresses. */
void rp_memory_trace_keep_all(const struct rp_graph *g, bool addressed,
                              struct rp_memory_trace *t);

void rp_memory_trace_fini(struct rp_memory_trace *t); /* safe on an empty or zeroed trace */

/* Divides 0..total_ns into n equal columns. most[k] becomes what is held when most is held
 * in column k; 0 after the end of the step. total_ns >= 1. */
void rp_memory_trace_columns(const struct rp_memory_trace *t, uint64_t total_ns, uint32_t n,
                             struct rp_memory_split *most);

#endif
