/* background: branch and cut in a process of its own, and the PDHG bound in a thread of its
 * own, beside the search.
 *
 * Both work in slices, each begun and its result taken after a fixed amount of work of the
 * search (portfolio.c). So the same input gives the same plan however fast they are.
 */
#ifndef RP_SOLVE_BACKGROUND_H
#define RP_SOLVE_BACKGROUND_H

#include "solve/context.h"

/* ---- branch and cut; all but begin do nothing if it does not run ---- */

/* Starts the process. If that fails, branch and cut does not run. */
void rp_mip_begin(struct rp_context *w);
/* Starts `work` units (branch_cut.h) from the incumbent of the space without swaps, and
 * returns at once. */
void rp_mip_submit(struct rp_context *w, double work);
/* Takes the result of these as soon as it arrives, or gives up at the deadline. If that
 * space is not the whole one, the result is no bound. */
void rp_mip_wait(struct rp_context *w);
/* Ends the process. */
void rp_mip_end(struct rp_context *w);

/* ---- the interval MILP, in a process of its own ---- */

/* Starts the process once, with `work` units (interval_solve.h), to look for programs that
 * are faster than the incumbent. */
void rp_interval_milp_begin(struct rp_context *w, double work);
/* Takes the answer if it has arrived and is a proof that the incumbent is optimal. Any
 * other waits for rp_interval_milp_finish, since what arrives in time depends on the clock.
 * If addresses are wanted, the plan that has them must be optimal. */
void rp_interval_milp_poll(struct rp_context *w);
/* Takes the answer, or gives up at the deadline, and ends the process. */
void rp_interval_milp_finish(struct rp_context *w);

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
