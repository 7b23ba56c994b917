/* check_steps: the rules of docs/formats.md, in the order in which a person would go
 * through a plan: what it is for, each step, what is on the device at the end, what it
 * claims.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_VERIFY_CHECK_STEPS_H
#define RP_VERIFY_CHECK_STEPS_H

#include "verify/verifier.h"

/* As rp_verify. */
rp_rc rp_check_steps(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_verdict *v, struct rp_err *err);

#endif
