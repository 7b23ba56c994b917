/* search: annealing over S, stage by stage. */
#ifndef RP_SOLVE_SEARCH_H
#define RP_SOLVE_SEARCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "solve/problem.h"
#include "solve/schedule.h"

struct rp_search_options {
    uint64_t seed;
    uint64_t work;                     /* limit, in runs evaluated and rows scanned */
    double deadline;                   /* on rp_seconds' clock; a cap on top */
    const volatile sig_atomic_t *stop; /* set from outside (Ctrl-C) or NULL */
    double start_heat; /* initial temperature, as a share of the mean op time */
};

struct rp_search_result {
    bool found;  /* a schedule within the limit: `best` holds it */
    bool capped; /* the deadline or `stop` ended it, not the work limit */
    double time; /* of the best */
    uint64_t moves, accepted, work;
    double seconds;
};

/* `best` goes in as the schedule to start from (sound, may be over the limit) and comes out
 * as the best found within the limit, or the least over it when none was found. */
void rp_search(const struct rp_problem *p, const struct rp_search_options *o,
               struct rp_schedule *best, struct rp_search_result *r);

#endif
