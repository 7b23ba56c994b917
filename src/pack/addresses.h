/* address: places what the steps of a plan allocate in one arena, and its host copies,
 * which all live to the end, in one slab. */
#ifndef RP_PACK_ADDRESSES_H
#define RP_PACK_ADDRESSES_H

#include "model/graph.h"
#include "model/plan.h"

/* Fills all addresses, sets plan->arena_bytes, host_bytes and addressed. `plan` holds the
 * valid steps of a schedule for `g`, made without addresses. The arena is to be at most
 * `capacity` bytes, and then as small as can be; work_limit as in rp_pack_options. */
void rp_assign_addresses(const struct rp_graph *g, struct rp_plan *plan, uint64_t capacity,
                         uint64_t work_limit);

#endif
