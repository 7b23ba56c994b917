/* host_capacity: how many bytes a plan that swaps can have on the host alone. With swaps, a
 * memory row counts what is on the device or on the host, so its right side grows by that
 * number (docs/certificate.md, "With swaps").
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
    uint64_t host_bytes;        /* the most that the host budget and the tensors allow */
    uint64_t out_bytes, out_ns; /* size and copy time of the tensor with the best rate */
    uint64_t in_bytes, in_ns;   /* likewise, for copies in */
    uint64_t horizon_ns; /* the plan takes no longer; at least the sum of all op times */
    uint64_t *before_ns; /* per position 0..n_ops: sum over all ops before it */
};

/* Sizes are rounded up to the alignment if `addressed`. False if the graph's device states
 * no bandwidths or a copy takes 2^63 ns: then no plan swaps. */
bool rp_host_capacity_init(struct rp_host_capacity *r, const struct rp_lp_variables *c,
                           const uint32_t *order, bool addressed, uint64_t horizon_ns,
                           uint64_t host_budget_bytes);
void rp_host_capacity_fini(struct rp_host_capacity *r); /* safe on a zeroed one */

/* An upper bound on the bytes that are on the host alone while an op of stage t runs. With
 * `last` it is for the op that ends the stage, otherwise for every op of the stage. */
uint64_t rp_host_capacity_max_bytes(const struct rp_host_capacity *r, uint32_t t,
                                    bool last);

#endif
