/* room: how many bytes a plan that swaps can have on the host alone, and so how many there
 * are for all that is on the device or the host (docs/certificate.md, "With swaps").
 */
#ifndef RP_VERIFY_HOST_CAPACITY_H
#define RP_VERIFY_HOST_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/lp_variables.h"

#define RP_ROOM_PARCELS 9 /* of more tensors, sets are not tried */

struct rp_host_capacity {
    const struct rp_lp_variables *c; /* borrowed */
    bool addressed;
    uint64_t host_bytes;        /* the most there are on the host alone at any time */
    uint64_t out_bytes, out_ns; /* of the tensor whose copy out moves the most a ns */
    uint64_t in_bytes, in_ns;
    uint64_t horizon_ns; /* the plan takes no longer; at least the sum of all op times */
    uint64_t *before; /* per place, and for n_ops: the time of all ops of earlier places */
};

/* Sizes are rounded up to the alignment if `addressed`. False if the graph's device states
 * no bandwidths or a copy takes 2^63 ns: then no plan swaps. */
bool rp_host_capacity_init(struct rp_host_capacity *r, const struct rp_lp_variables *c,
                           const uint32_t *order, bool addressed, uint64_t horizon_ns,
                           uint64_t host_budget_bytes);
void rp_host_capacity_fini(struct rp_host_capacity *r); /* safe on a zeroed one */

/* The most bytes that are on the host alone while an op runs in stage t: its last one, or,
 * unless `last`, any other. */
uint64_t rp_host_capacity_away(const struct rp_host_capacity *r, uint32_t t, bool last);

#endif
