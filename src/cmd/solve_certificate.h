/* solve_certificate: what `solve` says about the certificate that it wrote.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_CMD_SOLVE_CERTIFICATE_H
#define RP_CMD_SOLVE_CERTIFICATE_H

#include "model/plan.h"

/* Warns if the certificate at `path` proves less than the plan claims, as `verify` would
 * find. Says nothing about one that went elsewhere than to a file. */
void rp_warn_of_certificate(const struct rp_graph *g, const struct rp_plan *plan,
                            const char *path);

#endif
