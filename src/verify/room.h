/* room: how many bytes a plan that swaps can have on the host alone, and so how many there
 * are for all that is on the device or the host (docs/certificate.md, "With swaps").
 *
 * Stages and places count from 0; order[t] is the op whose first run ends stage t.
 */
#ifndef RP_VERIFY_ROOM_H
#define RP_VERIFY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

struct rp_room {
    uint64_t host_bytes;        /* the most there are on the host alone at any time */
    uint64_t out_bytes, out_ns; /* of the tensor whose copy out moves the most a ns */
    uint64_t in_bytes, in_ns;
    uint64_t most_ns; /* the plan takes no longer */
    uint64_t *before; /* per stage, and for n_ops: the time of all ops of earlier places */
};

/* Sizes are rounded up to the alignment if `addressed`. False if the graph's device states
 * no bandwidths or a copy takes 2^63 ns: then no plan swaps. */
bool rp_room_init(struct rp_room *r, const struct rp_graph *g, const uint32_t *order,
                  bool addressed, uint64_t most_ns, uint64_t host_budget_bytes);
void rp_room_fini(struct rp_room *r); /* safe on a zeroed one */

/* The most bytes that are on the host alone while the last op of stage t runs, or, unless
 * `last`, any op of stage t. */
uint64_t rp_room_away(const struct rp_room *r, uint32_t n_ops, uint32_t t, bool last);

#endif
