/* tight_instance: random instances that exhaustive search can solve, for tests of bounds.
 */
#ifndef RP_TESTS_TIGHT_INSTANCE_H
#define RP_TESTS_TIGHT_INSTANCE_H

#include "solve/core/instance.h"

/* A random graph of at most seven ops, with a limit a little above the floor. The caller
 * owns both. */
void rp_tight_instance(uint64_t seed, struct rp_graph *g, struct rp_instance *p);

#endif
