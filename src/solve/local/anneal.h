/* anneal: simulated annealing over schedules (Kirkpatrick, Gelatt and Vecchi 1983; the
 * moves, in moves.c, are ours).
 *
 * A move changes when some tensors are held or swapped, and is evaluated by the change of
 * time + price * overflow, where overflow is the sum over stages of the bytes above the
 * limit. temperature.h says how temperature and price change.
 *
 * Thread safety: different calls may run in different threads, if their `stop` functions
 * may.
 */
#ifndef RP_SOLVE_LOCAL_ANNEAL_H
#define RP_SOLVE_LOCAL_ANNEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/anneal_statistics.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/local/moves.h"

enum { RP_ANNEAL_QUESTION = 100000 }; /* about 3 ms */

struct rp_anneal_options {
    uint64_t seed;
    uint64_t work;              /* limit: about 25 ns each. A tenth more for repairs */
    double initial_temperature; /* as a share of the mean op time */
    /* Called at the start and after each RP_ANNEAL_QUESTION units of work, with the time of
     * the best schedule so far (INFINITY: none fits): true ends the search. */
    bool (*stop)(void *stop_arg, double best_ns);
    void *stop_arg;
    struct rp_stop *until; /* once it hits while the start is read, nothing is searched; may
                              be NULL */
};

struct rp_anneal_result {
    bool found;     /* a schedule within the limit: `best` holds it */
    bool stopped;   /* by `stop`, before the work limit */
    double time_ns; /* of the best; INFINITY if none was found */
    uint64_t moves, accepted;
    double seconds;
    struct rp_anneal_statistics statistics; /* of this run; moves as in moves.h */
};

/* `best` is the schedule to start from: sound, but perhaps over the limit. On return it is
 * the best schedule found within the limit. If there is none, it is the one least over it,
 * or that made to fit (repair.h). */
void rp_anneal(const struct rp_instance *p, const struct rp_anneal_options *o,
               struct rp_schedule *best, struct rp_anneal_result *r);

#endif
