/* anneal_order: finds a better order of first runs, together with what runs again, by
 * simulated annealing over sequences of runs (run_sequence.h).
 *
 * A move shifts a run to another place between what it reads and what reads it, adds a run
 * of an op before a run that reads its output, or removes a repeated run. A sequence is
 * evaluated by the time of repeated runs + price * overflow, where overflow is the sum over
 * its runs of the bytes above the limit; core/temperature.h says how temperature and price
 * change. If it ends without overflow and without repeated runs, keep-all fits in that
 * order. Otherwise the sequence is where the search over schedules begins.
 *
 * Ops that run once only (side effects, unseeded randomness) and ordered ops keep the order
 * of their first runs. Updates stay where they are among the runs that touch what they
 * update (core/update_order.h).
 *
 * Thread safety: different calls may run in different threads if they share neither
 * `stop_arg` nor `statistics`.
 */
#ifndef RP_SOLVE_ORDER_ANNEAL_ORDER_H
#define RP_SOLVE_ORDER_ANNEAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/anneal_statistics.h"
#include "solve/core/instance.h"

/* The name of the move that is counted at index i; NULL past the last one. */
const char *rp_order_move_name(uint32_t i);

struct rp_anneal_order_options {
    uint64_t seed;
    uint64_t work;      /* limit: about six nanoseconds each */
    bool may_recompute; /* ops may run again */
    double
        goal_ns; /* a sequence that fits and repeats runs for no longer ends the search */
    /* A valid plan whose runs to begin with; the search is cool then and stays near it.
     * NULL: each op once, in the instance's order. */
    const struct rp_plan *start;
    /* Called now and then: true ends the search. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
    struct rp_anneal_statistics *statistics; /* added to; may be NULL */
};

/* Appends runs and frees in a better order, with the graph's indices, to plan->steps.
 * False, with nothing appended, if no sequence was found that overflows less than the start
 * or as little and takes less time. Swaps of o->start are left out. `p` may be in any
 * order; ordered ops keep the order that they have there. */
bool rp_anneal_order(const struct rp_instance *p, const struct rp_anneal_order_options *o,
                     struct rp_plan *plan);

#endif
