/* first: a plan for the search to begin with on a graph of thousands of ops, where there is
 * not the time to come far from keep-all.
 */
#ifndef RP_POLICY_QUICK_PLANS_H
#define RP_POLICY_QUICK_PLANS_H

#include "solve/solver.h"

/* The fastest of what quick policies record within the budget, without addresses. False if
 * none fits. With o->swap off they see a device without copies. The caller ends `plan`. */
bool rp_quick_policy_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                          struct rp_plan *plan);

#endif
