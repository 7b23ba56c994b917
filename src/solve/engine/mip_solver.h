/* mip_solver: the branch and cut of each engine, in this process and without a way to stop
 * it but its work. Only mip_engine.c calls these, in its child process.
 *
 * x[n_cols] gets the best point, if one was found. The status is set, and `bound`, which is
 * HUGE_VAL after a whole search. mip_engine.c checks the point and completes the result. */
#ifndef RP_SOLVE_ENGINE_MIP_SOLVER_H
#define RP_SOLVE_ENGINE_MIP_SOLVER_H

#include "solve/engine/mip_engine.h"

/* Integers and rows may be missed by this (rp_milp_accepts, rp_milp_violation). */
#define RP_MIP_TOLERANCE 1e-5

typedef void rp_mip_solver(const struct rp_milp *m, const struct rp_mip_options *o,
                           double *x, struct rp_mip_result *r);
rp_mip_solver rp_mip_solver_glpk, rp_mip_solver_highs;

/* ---- for these ---- */

/* Only points that cost at most this are of interest: less than start and cutoff by more
 * than the absolute gap. HUGE_VAL: any. */
double rp_mip_limit(const struct rp_milp *m, const struct rp_mip_options *o);
/* Work units of what has been done on a program of `size` rows and columns together: a
 * pivot takes about size / 64 microseconds. The solvers count what else they do as pivots.
 */
uint64_t rp_mip_work(uint64_t pivots, uint64_t size);
/* Rounds what is nearly an integer and must be one. Is that all of them? */
bool rp_mip_round(const struct rp_milp *m, double *x);
/* Sets `rows` to the lazy rows that x violates. Returns the work of that. */
uint64_t rp_mip_find_rows(const struct rp_mip_options *o, const double *x, bool whole,
                          struct rp_milp *rows);

#endif
