/* naive: the plan rules of docs/formats.md once more, for tests: no data structure, no
 * speed, nothing from src/verify. It looks at whole lifetimes where the real checker keeps
 * a running state, so that the two hardly make the same mistake. */
#ifndef RP_TESTS_NAIVE_H
#define RP_TESTS_NAIVE_H

#include <stdbool.h>

#include "model/graph.h"
#include "model/plan.h"

/* Are all rules kept, those about claims apart? *facts gets what the claims should be if
 * so (lower_bound_ns 0). */
bool rp_naive_steps(const struct rp_graph *g, const struct rp_plan *p,
                    struct rp_claims *facts);

/* ... and do the claims hold? */
bool rp_naive_valid(const struct rp_graph *g, const struct rp_plan *p);

#endif
