/* background: branch and cut and the interval MILP in processes of their own, and the PDHG
 * bound in a thread of its own, beside the search.
 *
 * They work in slices, each begun and its result taken after a fixed amount of
 * work of the search (portfolio.c). So the same input gives the same plan however fast they
 * are.
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

/* Starts the process, with `work` units (interval_solve.h), to look for programs that are
 * faster than the incumbent. One that looks for slower programs is ended. False if there is
 * nothing to start: the incumbent is no better, or cannot be improved. */
bool rp_interval_milp_begin(struct rp_context *w, double work);
/* Takes the answer if it has arrived and is a proof that the incumbent is optimal. Any
 * other waits for rp_interval_milp_finish, since what arrives in time depends on the clock.
 * If addresses are wanted, the plan that has them must be optimal. */
void rp_interval_milp_poll(struct rp_context *w);
/* Has it proved by now that no program takes less? */
bool rp_interval_milp_proves(const struct rp_context *w, uint64_t ns);
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
/* Ends the thread within a slice, and how far that is depends on the clock, so the bound
 * stays what it was. Does nothing if a certificate is wanted, since that follows from all
 * that PDHG has done. */
void rp_bound_abandon(struct rp_context *w);

/* ---- searches with fewer options, each in a process of its own (narrower.h) ----
 *
 * There is one for every choice of --reorder, swaps and recomputation that allows less,
 * but for those whose only plan is keep-all, which the search itself tries. Each does what
 * it would do if it alone had been asked for. The best plan is the answer, so an option
 * that allows more never gives a slower one. */

/* Starts them. Where there can be no new process, such as at the user's limit, the search
 * goes on without. Does nothing in a search that is itself a narrower one. */
void rp_narrower_begin(struct rp_context *w, rp_solve_function *solve);
/* Ends those that can find nothing as fast as the best plan so far. */
void rp_narrower_poll(struct rp_context *w);
/* Replaces `plan`, the result so far with return code `rc`, by the best one of theirs if
 * that is better (rp_incumbent_offer_plan). Waits for their ends, but not if `plan` is as
 * near the bound as --gap asks. */
rp_rc rp_narrower_offer(struct rp_context *w, rp_rc rc, struct rp_plan *plan);

#endif
