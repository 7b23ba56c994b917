/* policy_plan: the plan of any policy, whether it records steps or searches.
 *
 * Thread-safe as rp_solve is.
 */
#ifndef RP_POLICY_POLICY_PLAN_H
#define RP_POLICY_POLICY_PLAN_H

#include "policy/policy_table.h"

/* RP_OK: `plan` is complete but not yet verified; the caller owns it. Its budget_bytes is
 * the budget, or what it needs if it does not fit. RP_NO, RP_LIMIT: there is no plan, and
 * report->reason says why. RP_INPUT: a sum passes 63 bits.
 * A search begins with o->start and with rp_best_policy_plan. It never returns a plan that
 * is slower than one of these that fits. */
rp_rc rp_policy_plan(const struct rp_graph *g, const struct rp_policy *policy,
                     const struct rp_policy_options *o, struct rp_plan *plan,
                     struct rp_policy_report *report, struct rp_err *err);

#endif
