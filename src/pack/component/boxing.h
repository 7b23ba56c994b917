/* boxing: a coarser form of a component, which is far easier to place.
 *
 * Sizes of activations mostly have a large common factor: the batch size times a little.
 * Between them lie small buffers, such as the gradients of biases, which shift them against
 * each other so that no gap fits exactly. So all items smaller than some unit are put into
 * boxes of that size, the longest-lived ones together. Then the boxes and the large items
 * are placed as if the unit were a byte. The idea is from A. L. Buchsbaum, H. Karloff, C.
 * Kenyon, N. Reingold and M. Thorup, "OPT versus LOAD in dynamic storage allocation", 2004;
 * here one unit serves all boxes. The peak of the boxed form is that of the component plus
 * the waste in the boxes.
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_BOXING_H
#define RP_PACK_COMPONENT_BOXING_H

#include "base/mem.h"
#include "pack/component/components.h"

struct rp_pack_boxed {
    uint64_t unit; /* in units of the component; the buffers' offsets are multiples */
    uint64_t peak; /* of the buffers: no placement is lower */
    RP_VEC(struct rp_buffer) buffers; /* large items and boxes; times are sections */
    uint32_t *buffer_of;              /* by item of the component: its buffer, */
    uint64_t *inside;                 /* and its offset in that */
    struct rp_pack_components components;
    uint64_t base; /* how high the buffers that are in no component reach */
    bool placed;   /* all components have a placement */
};

/* A component may be boxed this often, one form within the other. */
enum { RP_PACK_MAX_BOXINGS = 4 };

/* Makes p->boxed with the largest unit that wastes little enough, if there is one. */
void rp_pack_box(struct rp_pack_component *p, struct rp_pack_work *work);

/* Records the offsets of the boxed form's buffers, set by the caller, as a placement of p
 * if they are better than its best. */
void rp_pack_unbox(struct rp_pack_component *p);

/* All but the components, which must have been freed. NULL is safe. */
void rp_pack_boxed_free(struct rp_pack_boxed *boxed);

#endif
