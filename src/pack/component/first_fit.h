/* first_fit: placements in a fixed order of the items, each at the lowest gap that holds it
 * (first fit) or at the tightest one (best fit; Knuth, The Art of Computer Programming,
 * volume 1, section 2.5). Each takes quadratic time. If there are very many items, they are
 * first placed as they begin, like by an allocator at run time.
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_FIRST_FIT_H
#define RP_PACK_COMPONENT_FIRST_FIT_H

#include "pack/component/components.h"

/* Tries one order after another until a placement is at or below `goal` or the work is used
 * up. Whatever the limits, there is a placement afterwards. Unless there are very many
 * items, the first two orders are tried even if no work is left. */
void rp_pack_first_fit(struct rp_pack_component *p, uint64_t goal,
                       struct rp_pack_work *work);

#endif
