/* addresses: gives every tensor and workspace of a plan its address in one arena, and every
 * tensor with a host copy its address in one slab, for the whole step. packer.h chooses the
 * addresses; solve/placement.h calls this and knows what to do when they do not fit.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_PACK_ADDRESSES_H
#define RP_PACK_ADDRESSES_H

#include "model/graph.h"
#include "model/plan.h"
#include "pack/packer.h"

/* Fills in all addresses and sets plan->arena_bytes, host_bytes and addressed. `plan` holds
 * the valid steps of a schedule for `g`, made without addresses. The packer aims for an
 * arena of at most `capacity` bytes, and then for the smallest if `squeeze` is set.
 * `work_limit` and `stop` are as in rp_pack_options. `statistics` is added to; it may be
 * NULL. */
void rp_assign_addresses(const struct rp_graph *g, struct rp_plan *plan, uint64_t capacity,
                         uint64_t work_limit, bool squeeze, struct rp_stop *stop,
                         struct rp_pack_statistics *statistics);

#endif
