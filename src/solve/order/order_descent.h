/* order_descent: improves a schedule with swaps by moving stages to other places in the
 * order of first runs.
 *
 * A move takes the steps of one stage, its copies and repeated runs included, to a random
 * place between what it reads and what reads it. What the stage freed stays for later
 * stages to free. The steps are then read as a schedule of the new order
 * (core/warm_start.h). If that fits and is not slower, it is kept. So whatever is kept
 * takes no more time than the start, copies included, which a sequence of runs
 * (anneal_order.h) cannot tell. An update that moves forward, for example, gives the copy
 * of what it made more time to end.
 *
 * Thread safety: different calls may run in different threads if they do not share
 * `stop_arg`.
 */
#ifndef RP_SOLVE_ORDER_ORDER_DESCENT_H
#define RP_SOLVE_ORDER_ORDER_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"

struct rp_order_descent_options {
    uint64_t seed;
    uint64_t work;      /* limit: about six nanoseconds each */
    bool addressed;     /* as the instance */
    bool may_recompute; /* ops may run again */
    /* Called before each move: true ends the search. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

/* `start` is a schedule of `p` that fits. `p` is one of rp_instance_init_homes, and may
 * swap. True if a faster one was found in another order: its steps are appended to
 * plan->steps, and its homes to plan->homes. */
bool rp_order_descent(const struct rp_instance *p, const struct rp_schedule *start,
                      const struct rp_order_descent_options *o, struct rp_plan *plan);

#endif
