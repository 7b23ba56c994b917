/* solution_plan: a solution of the whole model, found by another solver, as a plan, and a
 * plan as a point of the model, from which another solver may start.
 *
 * Thread-safe: there is no shared state. */
#ifndef RP_SOLVE_EXCHANGE_SOLUTION_PLAN_H
#define RP_SOLVE_EXCHANGE_SOLUTION_PLAN_H

#include "model/plan.h"
#include "solve/exchange/whole_model.h"

struct rp_solution_options {
    const char *path;
    bool addressed; /* give every byte an address */
    uint64_t budget_bytes;
    uint64_t pack_work;   /* limit of the packer, as in pack/packer.h */
    struct rp_stop *stop; /* or NULL */
};

/* Reads the file and makes `plan`, with its claims, which the caller owns on RP_OK.
 * *cost_ns gets what the solution costs in the model; the plan may take longer
 * (whole_model.h).
 *
 * RP_ENV, RP_INPUT: as rp_solution_load. RP_INPUT too if a value is not an integer where it
 * must be, or out of its bounds, if a row is broken, or if the plan does not fit: the
 * message names the column or row and the values. */
rp_rc rp_solution_plan(const struct rp_whole_model *m, const struct rp_solution_options *o,
                       struct rp_plan *plan, uint64_t *cost_ns, struct rp_err *err);

/* The same for a point x, one value per column. Integers in it are rounded. o->path is only
 * for messages. */
rp_rc rp_point_plan(const struct rp_whole_model *m, const struct rp_solution_options *o,
                    double *x, struct rp_plan *plan, uint64_t *cost_ns, struct rp_err *err);

/* Writes the point of a plan that is valid for the graph to x[n_cols]. *cost_ns gets what
 * the point costs. It is what the plan takes, unless the model has only a slower schedule
 * for it: copies begin where stages begin, an op runs once in a stage, and nothing runs
 * after the last first run.
 *
 * RP_INPUT: the model has no such point, since that schedule does not fit, takes more than
 * the model's horizon, or breaks a row; `path`, the plan's, is for this message. */
rp_rc rp_plan_point(const struct rp_whole_model *m, const struct rp_plan *plan,
                    const char *path, double *x, uint64_t *cost_ns, struct rp_err *err);

#endif
