/* step_end: the op `end` of an instance, which reads what is kept.
 *
 * A kept tensor may wait on the host until the last op of the graph has run, where there is
 * no room for it beside that op, or be made again then. In an instance with `end` this is a
 * stage like any other: all that is known of stages and of what they read holds for it, in
 * the search and in bounds. Every plan of the graph is one of such an instance, with the
 * same time, if `end` runs at its very end. So bounds for the instance hold for the graph.
 *
 * Thread safety: as instance.h.
 */
#ifndef RP_SOLVE_ORDER_STEP_END_H
#define RP_SOLVE_ORDER_STEP_END_H

#include "solve/core/instance.h"

struct rp_step_end_options {
    bool any_order; /* it is to be the same in all orders of first runs */
    bool may_run;   /* ops may run again in the stage of `end` */
};
/* Adds `end` where it can matter: something that is kept may leave the device after it was
 * made, and the last op does not fit beside all that is kept (in any order: some op whose
 * outputs no other op reads). If it does fit, what is kept may as well come back before it
 * runs. To be called after rp_instance_allow_swap, and before rp_instance_run_once. */
void rp_instance_add_end_if_needed(struct rp_instance *p, struct rp_step_end_options o);

/* The instance *q is p, but what is kept comes back by copies only, where the host has room
 * for it: then a search need not try to make it again after the last op, which seldom pays.
 * All that q points to stays p's. */
void rp_instance_copies_at_end(const struct rp_instance *p, struct rp_instance *q);

#endif
