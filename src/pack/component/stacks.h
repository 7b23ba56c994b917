/* stacks: a component whose long-lived items lie in two stacks, which leaves few items that
 * live together.
 *
 * In a training step most of what lives long is nested or stays: statistics of the forward
 * pass are freed in the reverse order of their birth, and gradients of parameters live
 * until the end. Items that live until the end are stacked from the top downward as they
 * begin. Of the others, a chain of nested lifetimes is stacked from the bottom upward.
 * Neither stack has a gap at any time. What is left lives shortly and lies between them.
 *
 * Such a placement need not exist where others do, so this is one method among several.
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_STACKS_H
#define RP_PACK_COMPONENT_STACKS_H

#include "pack/component/components.h"

struct rp_pack_stacked {
    struct rp_pack_component rest; /* in the component's unit and sections */
    uint32_t *item_of;             /* by item of the rest: the component's */
    /* By item of the component: its end in the stack, counted from the bottom or from the
     * top; 0: it is in neither stack. */
    uint64_t *lower_end, *upper_end;
};

/* Makes p->stacked, unless few items would be in a stack, or one of the rest would have no
 * room below the bound. */
void rp_pack_stack(struct rp_pack_component *p, struct rp_pack_work *work);

/* Records the placement of the rest as one of p if it is better than its best. */
void rp_pack_unstack(struct rp_pack_component *p);

void rp_pack_stacked_free(struct rp_pack_stacked *stacked); /* NULL is safe */

#endif
