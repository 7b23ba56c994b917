/* lifetimes: storage that is taken no earlier and given back no later than the time line
 * needs. Holes between lifetimes are what the packer lives on. */
#ifndef RP_SOLVE_CORE_SHRINK_LIFETIMES_H
#define RP_SOLVE_CORE_SHRINK_LIFETIMES_H

#include "model/graph.h"
#include "model/plan.h"

/* Moves swap-ins later and frees earlier among the steps of a valid plan without addresses.
 * Runs and copies keep their order in each queue; no run begins or ends at another time,
 * and nothing waits for longer. No lifetime grows, so neither does the peak. */
void rp_shrink_lifetimes(const struct rp_graph *g, struct rp_plan *plan);

#endif
