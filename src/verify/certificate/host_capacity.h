/* host_capacity: how many bytes a plan that swaps can have on the host alone. The right
 * side of a memory row, which counts what is on the device or the host, grows by that
 * (docs/certificate.md, "With swaps").
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_VERIFY_HOST_CAPACITY_H
#define RP_VERIFY_HOST_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/certificate/lp_variables.h"

#define RP_HOST_CAPACITY_MAX_TENSORS 9 /* with more, not all sets of tensors are tried */

struct rp_host_capacity {
    const struct rp_lp_variables *c; /* borrowed */
    bool addressed;
    uint64_t host_bytes;        /* no more are on the host alone at any time */
    uint64_t out_bytes, out_ns; /* size and copy time of the tensor with the best rate */
    uint64_t in_bytes, in_ns;   /* likewise, for copies in */
    uint64_t horizon_ns; /* the plan takes no longer; at least the sum of all op times */
    uint64_t *before_ns; /* per position, and for n_ops: of all ops before that position */
};

/* Sizes are rounded up to the alignment if `addressed`. False if the graph's device states
 * no bandwidths or a copy takes 2^63 ns: then no plan swaps. */
bool rp_host_capacity_init(struct rp_host_capacity *r, const struct rp_lp_variables *c,
                           const uint32_t *order, bool addressed, uint64_t horizon_ns,
                           uint64_t host_budget_bytes);
void rp_host_capacity_fini(struct rp_host_capacity *r); /* safe on a zeroed one */

/* No more bytes are on the host alone while an op of stage t runs: the op that ends the
 * stage if `last`, else any of its ops. */
uint64_t rp_host_capacity_max_bytes(const struct rp_host_capacity *r, uint32_t t,
                                    bool last);

#endif
