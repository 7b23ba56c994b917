/* solution_pool: the best schedules that annealing has found, for neighbourhoods to descend
 * from.
 *
 * Invariants: all are of one instance, sound and within the limit; sorted by time, no two
 * the same, at most RP_MAX_POOL.
 *
 * The pool owns its schedules. Not thread-safe: one pool, one thread.
 */
#ifndef RP_SOLVE_MIP_SOLUTION_POOL_H
#define RP_SOLVE_MIP_SOLUTION_POOL_H

#include "base/mem.h"
#include "solve/core/schedule.h"

enum { RP_MAX_POOL = 12 };

struct rp_pool_solution {
    struct rp_schedule s;
    uint64_t time_ns;
};

struct rp_solution_pool {
    RP_VEC(struct rp_pool_solution);
};

/* Adds a copy of `s`. It takes time_ns and fits. Does nothing if it is in
 * the pool already, or if the pool is full of schedules that are as fast. */
void rp_solution_pool_add(struct rp_solution_pool *pool, const struct rp_schedule *s,
                          uint64_t time_ns);
/* The same, in place of one that takes old_ns, if there is one: the pool is to hold
 * schedules that were found apart from each other, not one with its ancestors. */
void rp_solution_pool_replace(struct rp_solution_pool *pool, uint64_t old_ns,
                              const struct rp_schedule *s, uint64_t time_ns);
void rp_solution_pool_fini(struct rp_solution_pool *pool); /* safe on a zeroed pool */

#endif
