/* naive: the plan rules of docs/formats.md a second time, for tests. It is simple and slow
 * and uses nothing of src/verify. It looks at whole lifetimes where the real checker keeps
 * a running state, so the two are unlikely to share a mistake. */
#ifndef RP_TESTS_NAIVE_H
#define RP_TESTS_NAIVE_H

#include <stdbool.h>

#include "model/graph.h"
#include "model/plan.h"

/* Does the plan obey all rules except those about claims? If so, *facts gets the right
 * claims (with lower_bound_ns 0). */
bool rp_naive_steps(const struct rp_graph *g, const struct rp_plan *p,
                    struct rp_claims *facts);

/* Does the plan obey all rules, including those about claims? */
bool rp_naive_valid(const struct rp_graph *g, const struct rp_plan *p);

#endif
