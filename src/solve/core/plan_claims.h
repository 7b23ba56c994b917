/* plan_claims: computes what a plan claims from its steps.
 *
 * Thread safety: different plans may be used by different threads.
 */
#ifndef RP_SOLVE_CORE_PLAN_CLAIMS_H
#define RP_SOLVE_CORE_PLAN_CLAIMS_H

#include "model/graph.h"
#include "model/plan.h"

/* Fills in all claims but the bound and its proof; for a plan without addresses also
 * arena_bytes and host_bytes. The steps are valid. RP_INPUT if a time passes 63 bits. */
rp_rc rp_plan_fill_claims(const struct rp_graph *g, struct rp_plan *plan,
                          struct rp_err *err);

#endif
