/* moment_proof: raises the bound of a search by that of one moment (bound/moment_bound.h):
 * in every order, or in the given one if the search keeps to that.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_SEARCH_MOMENT_PROOF_H
#define RP_SOLVE_SEARCH_MOMENT_PROOF_H

#include "solve/context.h"

/* Does nothing if a certificate is wanted, which cannot hold this bound. With swaps it
 * needs an incumbent. */
void rp_prove_moment(struct rp_context *w);

#endif
