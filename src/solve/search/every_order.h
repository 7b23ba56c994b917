/* every_order: the search of all programs by A* (exhaustive/astar.h) in one order of first
 * runs after the other, as the last resort of a search that may choose the order. A little
 * work, which no clock cuts: enough for all orders of tiny graphs.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_SEARCH_EVERY_ORDER_H
#define RP_SOLVE_SEARCH_EVERY_ORDER_H

#include "solve/context.h"

/* Leaves the fastest plan that it finds in w->sequence, and its time in w->sequence_ns.
 * Ops that run once, or are ordered, keep their order, as wherever orders are searched. */
void rp_search_every_order(struct rp_context *w);

#endif
