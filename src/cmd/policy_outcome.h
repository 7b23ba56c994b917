/* policy_outcome: a policy's verified plan for a graph, or why it has none. */
#ifndef RP_CMD_POLICY_OUTCOME_H
#define RP_CMD_POLICY_OUTCOME_H

#include <stdbool.h>

#include "policy/policy_plan.h"

struct rp_outcome {
    /* RP_OK: there is a plan. Else report.reason says why not. RP_INPUT: a sum passes 63
     * bits. */
    rp_rc rc;
    struct rp_plan plan; /* passed verify; it may be over the budget (see report.fits) */
    struct rp_policy_report report;
};

/* Plans with `policy`. RP_OK: *out is filled in, and the caller empties it. RP_BUG: verify
 * rejects the plan. */
rp_rc rp_outcome_make(const struct rp_graph *g, const struct rp_policy *policy,
                      const struct rp_policy_options *o, struct rp_outcome *out,
                      struct rp_err *err);
void rp_outcome_fini(struct rp_outcome *out);

/* True if there is a plan and it is within the budget. */
bool rp_outcome_fits(const struct rp_outcome *out);

#endif
