/* plan_hand_over: the steps of a plan for one graph carried over to another with the same
 * ops and tensors, such as the same network with another batch. Not thread-safe. */
#ifndef RP_CMD_PLAN_HAND_OVER_H
#define RP_CMD_PLAN_HAND_OVER_H

#include "policy/policy.h"

/* `from` is a valid plan for a graph that differs from `g` in sizes and times only. True if
 * its steps are a valid plan for `g` within the budget and the host memory of `o`. The
 * caller ends *to in any case. */
bool rp_plan_hand_over(const struct rp_plan *from, const struct rp_graph *g,
                       const struct rp_policy_options *o, struct rp_plan *to);

#endif
