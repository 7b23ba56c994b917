/* interference: the interference graph of a component, as in register allocation (G. J.
 * Chaitin and others, "Register allocation via coloring", 1981). Two items are joined by an
 * edge if they are live together.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_PACK_COMPONENT_INTERFERENCE_H
#define RP_PACK_COMPONENT_INTERFERENCE_H

#include "pack/component/components.h"

struct rp_interference {
    /* Of item i: edges[begin[i] .. begin[i + 1]), in any order. NULL: there are too many.
     */
    uint32_t *edges;
    size_t *begin;
};

/* Without edges if an item would have more than `max_degree` on average, or if they would
 * take more than 64 MiB. The caller owns it. */
void rp_interference_init(struct rp_interference *g, const struct rp_pack_component *p,
                          uint32_t max_degree, struct rp_pack_work *work);
void rp_interference_fini(struct rp_interference *g);

#endif
