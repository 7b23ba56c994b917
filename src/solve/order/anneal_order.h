/* anneal_order: a better order of first runs, found together with what runs again, by
 * simulated annealing over sequences of runs (run_sequence.h).
 *
 * A run moves to another place between what it reads and what reads it, an op is run once
 * more before something that reads it, or once less. A sequence is evaluated by the time of
 * repeated runs + price * overflow, where overflow is the sum over its runs of the bytes
 * above the limit; core/temperature.h says how temperature and price go. If it ends without
 * overflow and without repeated runs, keep-all fits in that order. Otherwise the sequence
 * is where the search over schedules begins.
 *
 * Ops that run once only (side effects, unseeded randomness) keep their order among
 * themselves.
 *
 * Thread safety: calls in different threads do not meet, if their `stop` and `statistics`
 * do not.
 */
#ifndef RP_SOLVE_ORDER_ANNEAL_ORDER_H
#define RP_SOLVE_ORDER_ANNEAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/anneal_statistics.h"
#include "solve/core/instance.h"

/* The name of the moves counted at index i; NULL from the last one on. */
const char *rp_order_move_name(uint32_t i);

struct rp_anneal_order_options {
    uint64_t seed;
    uint64_t work; /* limit: about ten nanoseconds each */
    bool again;    /* ops may run again */
    /* Called now and then: true ends the search. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
    struct rp_anneal_statistics *statistics; /* added to; may be NULL */
};

/* Appends runs and frees in a better order, with the graph's indices, to plan->steps. False
 * if none was found: one with less overflow, or the same sequence if there is none. `p` is
 * in the graph's order. */
bool rp_anneal_order(const struct rp_instance *p, const struct rp_anneal_order_options *o,
                     struct rp_plan *plan);

#endif
