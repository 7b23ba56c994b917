/* portfolio: every method that finds plans or bounds, when it may run, and how turns are
 * taken.
 *
 * The table of methods is in portfolio.c: one row each. A turn (sequence.h) gives work to
 * one search method. Branch and cut and the PDHG bound work beside it for as long. The two
 * sides meet after each slice of that time: results are exchanged there and at the end of
 * turns only, so that nothing depends on the clock. Turns that the options leave out take
 * no search, but what works beside them goes on.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_PORTFOLIO_H
#define RP_SOLVE_PORTFOLIO_H

#include "solve/context.h"

/* Starts the methods that work beside the search. */
void rp_portfolio_begin(struct rp_context *w);

/* Goes on with w->turns until they pass w->share of the time limit, or there is nothing
 * left to do. After each turn the incumbent of its space gets addresses, if it is to have
 * any. On small graphs A* has a part of that time, and may leave a plan in w->sequence. */
void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch);

/* Ends the methods that work beside the search. w->sequence gets all claims but the bound.
 * RP_INPUT if a claim passes 63 bits. */
rp_rc rp_portfolio_finish(struct rp_context *w, struct rp_err *err);

#endif
