/* astar_expand: the states that one step of a plan leads to (astar.h says which steps are
 * tried). Internal to this folder.
 */
#ifndef RP_SOLVE_EXHAUSTIVE_ASTAR_EXPAND_H
#define RP_SOLVE_EXHAUSTIVE_ASTAR_EXPAND_H

#include <stdint.h>

#include "solve/exhaustive/astar_open.h"

/* Adds what every step from a node leads to. */
void rp_astar_expand(struct rp_astar_search *f, uint32_t node);

/* The same for a run of op j alone. */
void rp_astar_expand_by_run(struct rp_astar_search *f, uint32_t node, uint32_t j);

#endif
