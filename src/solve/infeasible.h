/* infeasible: whether a plan can exist, and why there is none.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_INFEASIBLE_H
#define RP_SOLVE_INFEASIBLE_H

#include "solve/context.h"

/* Computes the floor, the least memory that any plan needs, into the report. RP_OK if the
 * budget is at least that; else RP_NO with the reason. */
rp_rc rp_check_floor(struct rp_context *w);

/* Explains that no plan was found. RP_NO if it is proved that none exists, else RP_LIMIT;
 * the reason goes to the report. Keep-all has been offered (incumbent.h). */
rp_rc rp_explain_none_found(struct rp_context *w);

/* RP_LIMIT: the graph is too large for a search, and keep-all does not fit. */
rp_rc rp_explain_too_large(struct rp_context *w);

#endif
