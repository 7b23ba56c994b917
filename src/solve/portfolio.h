/* portfolio: every method that finds plans or bounds, when it may run, and its turns.
 *
 * The table of methods is in portfolio.c: one row each. A turn gives a share of the work to
 * one search method; branch and cut and the PDHG bound work beside it with the same share
 * of theirs. Methods exchange what they found between turns only, so that the result does
 * not depend on the clock.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_PORTFOLIO_H
#define RP_SOLVE_PORTFOLIO_H

#include "solve/context.h"

/* Starts the methods that work beside the search. */
void rp_portfolio_begin(struct rp_context *w);

/* Makes the schedule of `plan` the start of the first turn, and offers it as the incumbent.
 * False if the plan is no schedule of this instance. */
bool rp_portfolio_warm_start(struct rp_context *w, const struct rp_plan *plan);

/* Until a schedule fits, tries the methods that make one in a single pass. */
void rp_portfolio_construct(struct rp_context *w, struct rp_schedule *scratch);

/* Runs all turns, with w->share of the work. */
void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch);

/* Ends the methods that work beside the search, then runs those that come after it. They
 * may leave a plan in w->sequence, with all claims but the bound. RP_INPUT if a claim
 * passes 63 bits. */
rp_rc rp_portfolio_finish(struct rp_context *w, struct rp_err *err);

/* One annealing run of `work` units from `start` on p, which is w->p or a restriction of
 * it. `temperature` is the first one, as a share of the mean op time. The best schedule
 * found replaces `start` and is offered as the incumbent, as found by `method`. */
void rp_portfolio_anneal(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *start, double work, double temperature,
                         uint64_t seed, enum rp_method method);

#endif
