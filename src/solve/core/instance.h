/* problem: a graph and a memory limit, laid out flat for the planner.
 *
 * Ops are numbered by their place in the order of first runs (position i is graph op
 * op_of[i]); tensors are only those that an op makes, numbered by producer. Sources are on
 * the device for the whole step, so they only show in what is left of the budget. Bytes are
 * rounded up to the alignment when the plan will carry addresses.
 *
 * Stage t is what happens up to and including the first run of op t: any earlier ops may
 * run again, then op t runs. There are n_ops stages.
 */
#ifndef RP_SOLVE_CORE_INSTANCE_H
#define RP_SOLVE_CORE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"

struct rp_instance {
    const struct rp_graph *graph; /* borrowed */
    uint32_t n_ops, n_tensors;
    uint64_t limit_bytes; /* for everything but sources: budget - fixed bytes */
    uint64_t *bytes;      /* per tensor */
    uint64_t *time_ns, *workspace_bytes; /* per op */
    bool *recompute;                     /* per op: may run more than once */
    bool *kept;                          /* per tensor: on the device at the end */
    uint32_t *producer;                  /* per tensor: op */
    /* Lists in compressed rows: list[start[i]] .. list[start[i + 1] - 1], ascending. */
    uint32_t *input_start, *inputs;   /* per op: tensors it reads (sources left out) */
    uint32_t *output_start, *outputs; /* per op: tensors it makes; outputs[x] == x */
    uint32_t *reader_start, *readers; /* per tensor: ops that read it */
    uint32_t *op_of;                  /* per op here: op of the graph */
    uint32_t *tensor_of;              /* per tensor here: tensor of the graph */
    /* Swapping; without rp_instance_allow_swap there is none: the pointers are NULL. */
    uint64_t *out_ns, *in_ns;  /* per tensor: how long a copy to the host, from it takes */
    uint64_t host_limit_bytes; /* for all host copies together */
};

/* `order` lists the graph's ops in the order of their first runs (topological; NULL: the
 * graph's own). `addressed` rounds sizes up to the graph's alignment. budget_bytes must be
 * at least the graph's fixed bytes. The caller owns `p`; `g` must outlive it. */
void rp_instance_init(struct rp_instance *p, const struct rp_graph *g,
                      uint64_t budget_bytes, bool addressed, const uint32_t *order);
void rp_instance_fini(struct rp_instance *p); /* safe on a zeroed problem */

/* Tensors may be swapped out and in, as fast as the graph's device says. False, and nothing
 * is changed, if it does not state both bandwidths or a copy would take 2^62 ns. */
bool rp_instance_allow_swap(struct rp_instance *p, uint64_t host_limit_bytes);

/* The last op that needs tensor x whatever the schedule does; n_ops if x is kept. */
uint32_t rp_instance_last_need(const struct rp_instance *p, uint32_t x);

/* The least memory that any schedule needs: the largest working set (inputs, outputs and
 * workspace of an op, and, where nothing may be swapped, outputs of earlier run-once ops
 * that something still reads), or the kept tensors together. *op is the op that binds,
 * RP_NONE if the kept tensors do. */
uint64_t rp_instance_floor(const struct rp_instance *p, uint32_t *op);

#endif
