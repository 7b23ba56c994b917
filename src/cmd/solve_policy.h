/* solve_policy: what `solve --policy` does. Not thread-safe: it prints. */
#ifndef RP_CMD_SOLVE_POLICY_H
#define RP_CMD_SOLVE_POLICY_H

#include "cmd/common.h"
#include "policy/policy_plan.h"

/* Plans with `policy`, checks and reports the plan, and writes it if it fits. RP_NO if it
 * does not fit or cannot exist; the report says so even if output->silent is set. */
rp_rc rp_solve_by_policy(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o,
                         const struct rp_output_options *output, struct rp_err *err);

#endif
