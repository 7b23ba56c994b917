/* ejection_chain: local search for a placement at or below a goal, from the best placement
 * so far.
 *
 * Items that end above the goal are ejected. Then, one at a time and in random order, each
 * is put back into the tightest gap that holds it. If there is none, it goes where the
 * items that overlap it weigh least, and those are ejected in turn: an ejection chain
 * (F. Glover, "Ejection chains, reference structures and alternating path methods for
 * traveling salesman problems", 1996). An item that did not fit becomes heavier, so that in
 * time the items that are hard to place get their places and the easy ones move (Y. Nagata
 * and O. Braysy, "A powerful route minimization heuristic for the vehicle routing problem
 * with time windows", 2009).
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_EJECTION_CHAIN_H
#define RP_PACK_COMPONENT_EJECTION_CHAIN_H

#include "pack/component/components.h"

/* Makes attempts until a placement is at or below `goal` or the bound, or the work is used
 * up. */
void rp_pack_ejection_chain(struct rp_pack_component *p, uint64_t goal,
                            struct rp_pack_work *work);

#endif
