/* interval_point: programs as points of the interval model, and points as schedules.
 *
 * Thread-safe: a model may be used by several threads.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_POINT_H
#define RP_SOLVE_MILP_INTERVAL_POINT_H

#include "model/plan.h"
#include "solve/core/schedule.h"
#include "solve/milp/interval_model.h"

/* Writes the point of a program, as interval_model.h defines it, to v[n_cols]. The steps
 * are valid for the instance's graph, whatever else the plan holds. False if the first runs
 * come in another order than the instance's, or if the plan takes longer than the horizon.
 */
bool rp_interval_point(const struct rp_interval_model *m, const struct rp_plan *plan,
                       double *v);

/* The schedule that a 0/1 point describes: what has storage at each moment, and a swap-in
 * at the start of each stage in which a copy begins. `s` has the instance's shape. The
 * schedule may be unsound, take more memory than the limit, or more time than the point
 * costs, since the model is a relaxation: see rp_schedule_cost. */
void rp_interval_schedule(const struct rp_interval_model *m, const double *v,
                          struct rp_schedule *s);

#endif
