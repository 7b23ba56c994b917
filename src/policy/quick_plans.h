/* quick_plans: plans of policies that do not search. A search begins with them.
 *
 * Which policies are asked follows from the flags of struct rp_policy.
 *
 * Thread-safe: calls share nothing but constant tables.
 */
#ifndef RP_POLICY_QUICK_PLANS_H
#define RP_POLICY_QUICK_PLANS_H

#include "policy/policy.h"
#include "solve/solver.h"

/* For `solve` on graphs of thousands of ops, where a search from keep-all makes little
 * progress, and on captured graphs. Asks the quick policies that need no swaps, and takes
 * the fastest steps within the budget, without addresses. If o->swap is off, they see a
 * device without bandwidths. Ops run first in the graph's order unless o->reorder is set.
 * False if none fit. The caller ends `plan` in either case. */
bool rp_quick_policy_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                          struct rp_plan *plan);

/* For `solve` on graphs with sources that may live on the host: the fastest plan within the
 * budget of the policies that move them. The caller owns `plan` on true. */
bool rp_streamed_policy_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                             struct rp_plan *plan);

/* The plan that the search of `search` begins with. If keep-all is within the budget, it is
 * keep-all's plan, since nothing beats it. Else it is the fastest plan of the policies that
 * fit the budget. Policies that swap are asked only if `search` may swap. The caller owns
 * `plan` on true. */
bool rp_best_policy_plan(const struct rp_graph *g, const struct rp_policy *search,
                         const struct rp_policy_options *o, struct rp_plan *plan);

/* True if time_ns is at most (1 + o->gap) times the sum of all op times. */
bool rp_is_fast_enough(const struct rp_graph *g, const struct rp_policy_options *o,
                       uint64_t time_ns);

#endif
