/* order: a better order of first runs, found together with what runs again.
 *
 * Annealing over sequences of runs (run_sequence.h): a run is taken to another place
 * between what it reads and what reads it, an op is run once more ahead of something that
 * reads it, or once less. A sequence is judged by the time of repeated runs + price *
 * overflow, where overflow is the sum over its runs of the bytes above the limit; the price
 * follows it, as in anneal.h. Where it ends without overflow and without repeated runs,
 * keep-all fits in that order; elsewhere the sequence is where the search over schedules
 * begins.
 *
 * Ops that run once only (side effects, unseeded randomness) keep their order among
 * themselves.
 */
#ifndef RP_SOLVE_ORDER_ANNEAL_ORDER_H
#define RP_SOLVE_ORDER_ANNEAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/instance.h"

struct rp_anneal_order_options {
    uint64_t seed;
    uint64_t work;                /* limit: about ten nanoseconds each */
    bool again;                   /* ops may run again */
    bool (*stop)(void *stop_arg); /* asked now and then: true ends the search */
    void *stop_arg;
};

/* Runs and frees in a better order, with the graph's indices, appended to plan->steps;
 * false if none was found: the overflow is not less, or it is none at all but not in less
 * time. `p` is in the graph's order. */
bool rp_anneal_order(const struct rp_instance *p, const struct rp_anneal_order_options *o,
                     struct rp_plan *plan);

#endif
