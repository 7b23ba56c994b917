/* background: branch and cut in a process of its own, and the PDHG bound in a thread of its
 * own, beside the search.
 *
 * Both get work at the start of a turn of the portfolio, and their results are taken at its
 * end. So the same input gives the same plan however fast they are. The one exception is
 * that a search may end early once branch and cut has proved the optimum; what it has
 * found by then is ignored (incumbent.c).
 */
#ifndef RP_SOLVE_BACKGROUND_H
#define RP_SOLVE_BACKGROUND_H

#include "solve/context.h"

/* ---- branch and cut; all but begin do nothing if it does not run ---- */

/* Starts the process. If that fails, branch and cut does not run. */
void rp_mip_begin(struct rp_context *w);
/* Starts `work` units (branch_cut.h) from the incumbent, and returns at once. */
void rp_mip_submit(struct rp_context *w, double work);
/* Takes the result of these if it arrives within `seconds`. */
void rp_mip_poll(struct rp_context *w, double seconds);
/* Takes it as soon as it arrives, or gives up at the deadline. */
void rp_mip_wait(struct rp_context *w);
/* Ends the process. */
void rp_mip_end(struct rp_context *w);

/* ---- the PDHG bound ---- */

/* Makes a bound, of rows that a certificate can hold if one is wanted. horizon_ns is as in
 * pdhg_bound.h. */
struct rp_pdhg_bound *rp_bound_new(const struct rp_context *w, uint64_t horizon_ns);
/* Makes the bound for plans without swaps. With swaps, the first submit makes it. */
void rp_bound_begin(struct rp_context *w);
/* Starts `work` units (pdhg_bound.h) in a thread, and returns at once. */
void rp_bound_submit(struct rp_context *w, double work);
/* Waits for the thread and takes the bound. */
void rp_bound_wait(struct rp_context *w);

#endif
