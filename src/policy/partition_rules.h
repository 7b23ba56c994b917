/* partition_rules: which forward ops PyTorch's min-cut partitioner will not run again, and
 * what it thinks the saving of a tensor costs. policy/pytorch.c says what follows from
 * them. Source: torch/_functorch/partitioners.py of PyTorch 2.15 (BSD-3-Clause), the
 * functions solve_min_cut and get_default_op_list.
 *
 * The rules are about nodes of a graph captured from PyTorch: ops, views, and the parts of
 * a tuple. Our graphs have ops and storages. So
 *   - views are left out, and distances and chains count ops only;
 *   - a tensor of an op with one output is the op's node. A tensor of an op with several is
 *     a node of its own, which is never banned and may be fused with its readers;
 *   - op classes follow from the kind, with or without "aten.": expensive are convolutions,
 *     matrix products and attention (rp_op_class). PyTorch lists the ops that it calls
 *     recomputable, nearly all elementwise ops and reductions among them. Here all others
 *     are listed: normalizations, softmax, pooling, losses, ops with random numbers, ...;
 *   - an op is always banned if it must run exactly once, or if it can no longer run again
 *     when an output may be needed (rp_instance.irreplaceable).
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_POLICY_PARTITION_RULES_H
#define RP_POLICY_PARTITION_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "solve/core/instance.h"

/* Which rules ban an op. Each level bans less than the one before. */
enum rp_ban_level {
    RP_BAN_DEFAULT,    /* all rules: runs again only what fuses with its readers */
    RP_BAN_UNLISTED,   /* reductions, and all but the ops in the list */
    RP_BAN_EXPENSIVE,  /* reductions, expensive and random ops */
    RP_BAN_IMPOSSIBLE, /* only what cannot run again */
};

/* The step as the partitioner sees it. Ops and tensors are numbered as in the instance; the
 * forward tensors are those below n_tensors. */
struct rp_partition {
    const struct rp_instance *p; /* borrowed */
    uint32_t n_forward, n_tensors;
    bool *required; /* per forward op: the forward phase has to run it for its own outputs,
                       which are kept tensors; all are if there are none */
    bool *leads_back; /* per forward op: the backward phase reads something made of it */
    bool *fusible, *expensive, *random, *concatenates; /* per op */
    uint64_t *bytes;  /* per forward tensor: its size, not rounded up */
    uint64_t *weight; /* per forward tensor: its size, with a bias towards tensors near the
                         backward phase and such as are written to memory anyway */
    struct rp_stop *stop; /* set it after rp_partition_init; may be NULL. Once it hits, what
                             is found out is of no use */
};

/* `p` must outlive `s`. n_forward: the ops before the backward phase. */
void rp_partition_init(const struct rp_instance *p, uint32_t n_forward,
                       struct rp_partition *s);
void rp_partition_fini(struct rp_partition *s);

/* May forward op i run again as late as anything needs its outputs? */
bool rp_partition_may_rerun(const struct rp_partition *s, uint32_t i);

/* Writes into `banned`, which has room for n_forward, which forward ops may not run again.
 */
void rp_partition_ban(const struct rp_partition *s, enum rp_ban_level level, bool *banned);

#endif
