/* shrink_lifetimes: allocates storage as late and frees it as early as the time line
 * allows. The shorter lifetimes are, the easier addresses are to find.
 *
 * Thread safety: different plans may be used by different threads.
 */
#ifndef RP_SOLVE_LOCAL_SHRINK_LIFETIMES_H
#define RP_SOLVE_LOCAL_SHRINK_LIFETIMES_H

#include "model/graph.h"
#include "model/plan.h"

/* Moves swap-ins later and frees earlier among the steps of a valid plan without addresses.
 * Runs and copies keep their order in each queue. No run begins or ends at another time,
 * and nothing waits longer. No lifetime grows, so the peak does not either. */
void rp_shrink_lifetimes(const struct rp_graph *g, struct rp_plan *plan);

#endif
