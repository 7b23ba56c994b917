/* background: branch and cut in a process of its own, and the PDHG bound in a thread of its
 * own, beside the search.
 *
 * Both get work at the start of a turn of the portfolio, and their results are taken at its
 * end. So the same input gives the same plan however fast they are. The one exception is
 * that a search may end early once branch and cut has proved the optimum; its own finds
 * then do not count (incumbent.c).
 */
#ifndef RP_SOLVE_BACKGROUND_H
#define RP_SOLVE_BACKGROUND_H

#include "solve/context.h"

/* Branch and cut: begins; gets `work` units; takes its result if it is there within
 * `seconds`; waits for it until the deadline; ends. Each does nothing where it does not
 * run. */
void rp_mip_begin(struct rp_context *w);
void rp_mip_submit(struct rp_context *w, double work);
void rp_mip_poll(struct rp_context *w, double seconds);
void rp_mip_wait(struct rp_context *w);
void rp_mip_end(struct rp_context *w);

/* The PDHG bound: begins; gets `work` units; waits until they are done. */
void rp_bound_begin(struct rp_context *w);
void rp_bound_submit(struct rp_context *w, double work);
void rp_bound_wait(struct rp_context *w);

#endif
