/* interval_point: programs as points of the interval model, and points as schedules.
 *
 * Thread-safe: a model may be used by several threads.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_POINT_H
#define RP_SOLVE_MILP_INTERVAL_POINT_H

#include "model/plan.h"
#include "solve/core/schedule.h"
#include "solve/milp/interval_model.h"

/* What a program does, in the columns of a model that has them all. Tables are laid out as
 * rp_interval_cell says, and have 0 or 1. */
struct rp_interval_program {
    const struct rp_instance *instance; /* borrowed */
    uint8_t *at[RP_INTERVAL_D];         /* but V is 0, until a point is written */
    uint64_t *d_ns;                     /* per stage */
    uint64_t time_ns;                   /* of the program */
};
void rp_interval_program_fini(struct rp_interval_program *q); /* safe on a zeroed one */

/* Reads a program off a plan, as interval_model.h defines it. The steps are valid for the
 * instance's graph, whatever else the plan holds. Runs that `m` has no column for read
 * nothing; NULL: there are none. False if the first runs come in another order than the
 * instance's, or a source is copied. The caller owns *q either way. */
bool rp_interval_program_read(const struct rp_instance *p,
                              const struct rp_interval_model *m, const struct rp_plan *plan,
                              struct rp_interval_program *q);

/* The same of a schedule, with all columns. */
bool rp_interval_program_of_schedule(const struct rp_instance *p,
                                     const struct rp_schedule *s,
                                     struct rp_interval_program *q);

/* Writes the point of a program to v[n_cols]. `plan` is as above. False as above, or if the
 * plan takes longer than the horizon. */
bool rp_interval_point(const struct rp_interval_model *m, const struct rp_plan *plan,
                       double *v);

/* The schedule that a 0/1 point describes: what has storage at each moment, and a swap-in
 * at the start of each stage in which a copy begins. Kept tensors have storage at the end,
 * also where the point makes them after the last first run. `s` has the instance's shape.
 * The schedule may be unsound, take more memory than the limit, or more time than the point
 * costs, since the model is a relaxation: see rp_schedule_cost. */
void rp_interval_schedule(const struct rp_interval_model *m, const double *v,
                          struct rp_schedule *s);

#endif
