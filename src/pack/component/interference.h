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

/* Without edges if there would be more than `max`, each once for both of its items. The
 * caller owns it. */
void rp_interference_init(struct rp_interference *g, const struct rp_pack_component *p,
                          size_t max, struct rp_pack_work *work);
/* Stores the edges in `into`, which has room for as many: of item i from begin[i] on, in
 * the order of all n items that is given. There must be edges. */
void rp_interference_sort(const struct rp_interference *g, const uint32_t *order,
                          uint32_t n, uint32_t *into);
void rp_interference_fini(struct rp_interference *g);

#endif
