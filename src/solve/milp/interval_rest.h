/* interval_rest: what programs take at the end of the step, at least.
 *
 * A window (interval_model.h) that ends with the step says what every program takes after
 * the first run of an op, whatever it has done before. The shorter windows are easy, and
 * the bounds of all of them guide a search of all programs (exhaustive/astar.h): a state
 * after that op costs what it has cost so far, and this. On a chain of 26 ops whose
 * copies take three times as long as an op, a twentieth of the way from the floor to the
 * peak, 8,158 states with them prove a plan optimal; 1,000,000 without prove 87% of its
 * time.
 *
 * Thread-safe as far as the engine is.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_REST_H
#define RP_SOLVE_MILP_INTERVAL_REST_H

#include "solve/milp/interval_solve.h"

/* Sets rest_ns[t], t = 0 .. n_ops + 1: a program that takes less than plan_ns takes as much
 * after the first run of op t - 1, beside first runs. plan_ns is more than these take. Of
 * the options, engine, work and stop count. Returns the work done. */
uint64_t rp_interval_rest(const struct rp_instance *p, uint64_t plan_ns,
                          const struct rp_interval_options *o, uint64_t *rest_ns);

#endif
