/* certificate_claim: does a certificate support what a plan claims about its bound?
 *
 * check_certificate.h says which plans a certificate's bound is for. A claim may be about
 * fewer plans (claims.bound_for of docs/formats.md), but not about others.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_VERIFY_CERTIFICATE_CLAIM_H
#define RP_VERIFY_CERTIFICATE_CLAIM_H

#include "model/plan.h"
#include "verify/certificate/check_certificate.h"

/* rp_certificate_check, and then: is the certificate for the plan's budget, and for all
 * plans that the claim is about, and is its bound at least claims.lower_bound_ns? RP_NO:
 * `err` says why not. `p` has passed rp_verify with `g`. */
rp_rc rp_certificate_check_plan(const struct rp_certificate *c, const struct rp_graph *g,
                                const struct rp_plan *p, struct rp_certified_bound *b,
                                struct rp_err *err);

#endif
