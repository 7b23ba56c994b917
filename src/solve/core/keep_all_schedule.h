/* keep_all_schedule: the step without recomputation and swaps. Each tensor stays on the
 * device from the run that makes it to its last reader, and kept ones to the end. Unlike
 * the same schedule as a matrix (schedule.h), this takes memory and time in proportion to
 * the graph.
 */
#ifndef RP_SOLVE_CORE_KEEP_ALL_SCHEDULE_H
#define RP_SOLVE_CORE_KEEP_ALL_SCHEDULE_H

#include "model/plan.h"
#include "solve/core/schedule.h"

/* What rp_schedule_cost says of rp_schedule_keep_all. */
struct rp_cost rp_keep_all_cost(const struct rp_instance *p);

/* Appends its steps to plan->steps, as rp_schedule_steps does. */
void rp_keep_all_steps(const struct rp_instance *p, struct rp_plan *plan);

#endif
