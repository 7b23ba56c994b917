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
 * the valid steps of a schedule for `g`, made without addresses. The alignment is that of
 * the device, whatever `o` says. `statistics` is added to; it may be NULL. Returns how many
 * bytes the arena is larger than the peak. */
uint64_t rp_assign_addresses(const struct rp_graph *g, struct rp_plan *plan,
                             const struct rp_pack_options *o,
                             struct rp_pack_statistics *statistics);

#endif
