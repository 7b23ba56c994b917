/* program_search: the search of all programs by A* (exhaustive/astar.h) on small graphs,
 * and its part of the time limit. It proves more than the methods whose plans are schedules
 * (core/schedule.h), and may find faster plans.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_SEARCH_PROGRAM_SEARCH_H
#define RP_SOLVE_SEARCH_PROGRAM_SEARCH_H

#include "solve/context.h"

/* Of the time limit: what it may take, in seconds. 0 if it may not run. */
double rp_program_search_seconds(const struct rp_context *w);
/* What it has taken, by its work. */
double rp_program_search_used(const struct rp_context *w);

/* Before all else: a little work, which no clock cuts, so that the plans of tiny graphs are
 * known at once on any machine. If one is the fastest and addresses for it are found, or
 * none are wanted, sets w->sequence_placed. */
void rp_program_search_begin(struct rp_context *w);
/* Before a turn: gives it half as much of its time as the turns have had of theirs, after
 * 1, 2, 4 ... seconds of them. As soon as it proves that the incumbent is optimal, all is
 * over. */
void rp_program_search_go_on(struct rp_context *w, const struct rp_turn *t);
/* After the turns: gives it what is left. Its memory is freed. */
void rp_program_search_end(struct rp_context *w);

/* The plan that it left in w->sequence gets all claims but the bound. RP_INPUT if a claim
 * passes 63 bits. */
rp_rc rp_program_search_finish(struct rp_context *w, struct rp_err *err);

#endif
