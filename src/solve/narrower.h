/* narrower: a search with fewer options in a process of its own, beside the one that was
 * asked for (background.h says which). It proves nothing but what it sends first: a time
 * that no plan of its search can beat, where that can be had at once. It runs at a lower
 * priority, so that on a busy machine the clock cuts it first.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_NARROWER_H
#define RP_SOLVE_NARROWER_H

#include "solve/solver.h"

struct rp_narrower;
enum { RP_MAX_NARROWER = 7 }; /* searches beside one: the proper subsets of three options */

/* What solves: rp_solve, handed in by the file that defines it. */
typedef rp_rc rp_solve_function(const struct rp_graph *g, const struct rp_solve_options *o,
                                struct rp_plan *plan, struct rp_solve_report *report,
                                struct rp_err *err);

/* `g` and what `o` points to outlive the search. NULL: no process could be started. */
struct rp_narrower *rp_narrower_start(const struct rp_graph *g,
                                      const struct rp_solve_options *o,
                                      rp_solve_function *solve);

/* Waits at most `seconds` for the search to end. Returns whether it has. */
bool rp_narrower_wait(struct rp_narrower *n, double seconds);

/* No plan of this search is faster; 0 if nothing is known yet. */
uint64_t rp_narrower_bound_ns(const struct rp_narrower *n);

/* After the end: was the search cut off by the clock? */
bool rp_narrower_capped(const struct rp_narrower *n);

/* After the end: reads its plan into `plan`, which is empty. False if there is none. */
bool rp_narrower_plan(const struct rp_narrower *n, struct rp_plan *plan);

void rp_narrower_end(struct rp_narrower *n); /* NULL is fine */

#endif
