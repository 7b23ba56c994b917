/* construct: first schedules, from a given plan or made in one pass.
 *
 * Not thread-safe: one context, one thread.
 */
#ifndef RP_SOLVE_CONSTRUCT_CONSTRUCT_H
#define RP_SOLVE_CONSTRUCT_CONSTRUCT_H

#include "solve/context.h"

/* What is known of a schedule made in one pass. */
struct rp_constructed {
    enum rp_method from;
    struct rp_cost cost;
};

/* Makes the schedule of `plan` the start of the first run of each space that allows it, and
 * offers it as the incumbent. False if the plan is no schedule of this instance. */
bool rp_construct_from_plan(struct rp_context *w, const struct rp_plan *plan);

/* Offers one schedule to each space without an incumbent, and to each where sources may
 * live on the host, if one can be made. `scratch` has the instance's shape. */
void rp_construct_incumbents(struct rp_context *w, struct rp_schedule *scratch);

/* Tries the methods that make a schedule of a space in one pass. `p` is the space's
 * instance, or that with a lower limit. False if none fits p, or once the search is to
 * stop. Else `s`, which has the instance's shape, is the schedule. */
bool rp_construct(struct rp_context *w, enum rp_space_id space, const struct rp_instance *p,
                  struct rp_schedule *s, struct rp_constructed *made);
/* The schedule that holds as little as possible (local/offload_all.h), for buffers that
 * nothing faster leaves room to place. Arguments and result as above. */
bool rp_construct_offloaded(struct rp_context *w, const struct rp_instance *p,
                            struct rp_schedule *s, struct rp_cost *cost);

#endif
