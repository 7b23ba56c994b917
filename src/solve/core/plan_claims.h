/* plan_claims: what a plan claims: computed from its steps, and its bound.
 *
 * Thread safety: different plans may be used by different threads.
 */
#ifndef RP_SOLVE_CORE_PLAN_CLAIMS_H
#define RP_SOLVE_CORE_PLAN_CLAIMS_H

#include "model/graph.h"
#include "model/plan.h"

/* Fills in arena_bytes, host_bytes and all claims but the bound and its proof. The steps
 * are valid. RP_INPUT if a time passes 63 bits. */
rp_rc rp_plan_fill_claims(const struct rp_graph *g, struct rp_plan *plan,
                          struct rp_err *err);

/* Fills in, for each step of a valid plan, the bytes in use during the run, or after a step
 * of another kind: without sources that stay on the device. */
void rp_plan_used_bytes(const struct rp_graph *g, const struct rp_plan *plan,
                        uint64_t *used_bytes);

/* Sets the bound, what it is about, and the proof that follows from it. claims.time_ns is
 * set and not below the bound. A bound up to the sum of all op times holds for every plan,
 * whatever `scope` says. */
void rp_plan_set_bound(const struct rp_graph *g, struct rp_claims *claims,
                       uint64_t bound_ns, struct rp_bound_scope scope);

#endif
