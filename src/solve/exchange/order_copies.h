/* order_copies: puts the copies of a plan in the order in which they are due. A schedule
 * (core/schedule.h) copies tensors out in the order in which they are made, and begins
 * copies in where its stages say. But if another tensor is freed or read earlier, its copy
 * should go first. The whole model allows for that.
 *
 * Not thread-safe: one plan, one thread. */
#ifndef RP_SOLVE_EXCHANGE_ORDER_COPIES_H
#define RP_SOLVE_EXCHANGE_ORDER_COPIES_H

#include "model/graph.h"
#include "model/plan.h"

/* Moves swap-outs and swap-ins later among the steps of a valid plan without addresses, if
 * the plan then ends earlier. A copy begins when its queue becomes free (or has been free);
 * of those that may begin, the one whose free, or whose first reader, comes first. Other
 * steps keep their order, so no storage is taken earlier or for longer. Returns the time of
 * the plan. */
uint64_t rp_order_copies(const struct rp_graph *g, struct rp_plan *plan);

#endif
