/* search: annealing over S, stage by stage.
 *
 * A move changes when some tensors are held and is judged by the change of
 * time + price * overflow, where overflow is the sum over stages of the bytes above the
 * limit. The price follows the overflow (a Lagrange multiplier found on the way), so the
 * search passes through schedules that do not fit and ends in those that do. Moves: drop a
 * gap of a tensor between two uses, all of it or up to a moment at which it can be made
 * again, with or without holding what that will read; hold a gap; exchange one for another,
 * or one for many; make again earlier; a whole segment at once (Kirkpatrick et al. 1983 for
 * the method; the moves are ours).
 */
#ifndef RP_SOLVE_LOCAL_ANNEAL_H
#define RP_SOLVE_LOCAL_ANNEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

struct rp_anneal_options {
    uint64_t seed;
    uint64_t work;                /* limit: about a tenth of a microsecond each */
    double start_heat;            /* first temperature, as a share of the mean op time */
    bool (*stop)(void *stop_arg); /* asked now and then: true ends the search */
    void *stop_arg;
};

struct rp_anneal_result {
    bool found;   /* a schedule within the limit: `best` holds it */
    bool stopped; /* by `stop`, before the work limit */
    double time;  /* of the best, ns */
    uint64_t moves, accepted, work;
    double seconds;
};

/* `best` goes in as the schedule to start from (sound, may be over the limit) and comes out
 * as the best found within the limit, or the least over it when none was found. */
void rp_anneal(const struct rp_instance *p, const struct rp_anneal_options *o,
               struct rp_schedule *best, struct rp_anneal_result *r);

#endif
