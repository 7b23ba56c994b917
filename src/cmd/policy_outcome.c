#include "cmd/policy_outcome.h"

#include <stdio.h>

#include "cmd/common.h"

rp_rc rp_outcome_make(const struct rp_graph *g, const struct rp_policy *policy,
                      const struct rp_policy_options *o, struct rp_outcome *out,
                      struct rp_err *err) {
    struct rp_verdict v;
    out->rc = rp_policy_plan(g, policy, o, &out->plan, &out->report, err);
    if (out->rc == RP_NO || out->rc == RP_LIMIT)
        return RP_OK;
    if (out->rc == RP_INPUT) {
        snprintf(out->report.reason, sizeof out->report.reason, "%.500s", err->msg);
        err->msg[0] = '\0';
        return RP_OK;
    }
    if (out->rc != RP_OK)
        return out->rc;
    rp_rc rc = rp_verify_own_plan(policy->name, g, &out->plan, &v, err);
    if (rc != RP_OK) {
        rp_outcome_fini(out);
        return rc;
    }
    out->report.out_bytes = v.swapped_out_bytes;
    out->report.in_bytes = v.swapped_in_bytes;
    return RP_OK;
}

void rp_outcome_fini(struct rp_outcome *out) {
    rp_plan_fini(&out->plan);
}

bool rp_outcome_fits(const struct rp_outcome *out) {
    return out->rc == RP_OK && out->report.fits;
}
