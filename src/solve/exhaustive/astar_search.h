/* astar_search: one search of A* (astar.h), of the whole step or of a window. Internal to
 * this folder.
 *
 * Best first, the next node is that of the least bound in all columns. An anytime column
 * search (Vadlamudi, Gaurav, Aine and Chakrabarti, "Anytime column search", 2012) goes
 * through the columns again and again, and takes the best few of each: so it comes to the
 * end of the step soon, and finds plans. The whole step begins with that, and goes on with
 * what it left open, best first.
 *
 * A window has op t - 1 and all that follows it. It begins with all that has been made on
 * the device, more than there is room for, and on the host too. What is too much is freed
 * for op t - 1, which then runs first. So every plan comes to a state after this op that
 * has no more there and is no earlier, and from it on takes no less than the window does
 * from there.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_SEARCH_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/exhaustive/astar_open.h"

/* The search of the whole step, with no work yet. q must outlive it. */
void rp_astar_search_begin(struct rp_astar_search *f, const struct rp_astar_problem *q,
                           uint32_t max_states);
/* Looks for the fastest plan with max_work more, of all work at most column_share in the
 * column search. */
void rp_astar_search_go_on(struct rp_astar_search *f, const struct rp_astar_options *o,
                           uint64_t max_work, double column_share,
                           struct rp_astar_result *r);
/* All of the search for the window of op t - 1, 0 < t, if the ops before it can take less
 * than o->below_ns. Its times count from before that op. */
void rp_astar_search_window(struct rp_astar_search *f, const struct rp_astar_problem *q,
                            const struct rp_astar_options *o, uint32_t t, uint64_t max_work,
                            struct rp_astar_result *r);
void rp_astar_search_fini(struct rp_astar_search *f);

#endif
