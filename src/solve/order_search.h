/* order_search: `solve --reorder`. Looks for another order of first runs, plans in it as
 * well as in the given order, and leaves the better result in the context.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_ORDER_SEARCH_H
#define RP_SOLVE_ORDER_SEARCH_H

#include "solve/context.h"

/* Runs the portfolio once or twice. w->p, the incumbent and the pool are afterwards those
 * of the better order. `scratch` has the instance's shape. */
void rp_search_orders(struct rp_context *w, struct rp_schedule *scratch);

#endif
