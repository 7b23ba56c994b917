/* portfolio: every method that finds plans or bounds, when it may run, and its turns.
 *
 * The table of methods is in portfolio.c: one row each. A turn gives a share of the work to
 * one search method; branch and cut and the PDHG bound work beside it with the same share
 * of theirs. Methods exchange what they found between turns only, so that the result does
 * not depend on the clock.
 */
#ifndef RP_SOLVE_PORTFOLIO_H
#define RP_SOLVE_PORTFOLIO_H

#include "solve/context.h"

/* Offers keep-all as the incumbent. */
void rp_portfolio_keep_all(struct rp_context *w);

/* Begins what works beside the search. */
void rp_portfolio_begin(struct rp_context *w);

/* The schedule of `plan` is where the first turn starts from, and the incumbent if it is
 * better. False if it is no schedule of this instance. */
bool rp_portfolio_warm_start(struct rp_context *w, const struct rp_plan *plan);

/* While nothing fits: schedules made in one pass. */
void rp_portfolio_construct(struct rp_context *w, struct rp_schedule *scratch);

/* All turns, with w->share of the work. */
void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch);

/* Ends what works beside the search, then runs what comes after it: w->sequence may have a
 * plan afterwards, with all claims but the bound. RP_INPUT if one passes 63 bits. */
rp_rc rp_portfolio_finish(struct rp_context *w, struct rp_err *err);

/* One annealing run of `work` units from `start` on p, which is w->p or a restriction of
 * it. `temperature` is the first one, as a share of the mean op time. What it ends with is
 * left in `start` and offered as the incumbent on behalf of `method`. */
void rp_portfolio_anneal(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *start, double work, double temperature,
                         uint64_t seed, enum rp_method method);

#endif
