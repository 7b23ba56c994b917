/* first_fit: placements in a fixed order of the items, each at the lowest gap that holds it
 * (first fit) or at the tightest one (best fit; Knuth, The Art of Computer Programming,
 * volume 1, section 2.5).
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_FIRST_FIT_H
#define RP_PACK_FIRST_FIT_H

#include "pack/components.h"

/* Tries one order after another until a placement is at or below `goal` or the work is used
 * up. The first two orders are always tried. */
void rp_pack_first_fit(struct rp_pack_component *p, uint64_t goal,
                       struct rp_pack_work *work);

#endif
