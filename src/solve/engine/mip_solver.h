/* mip_solver: the branch and cut of each engine, in this process and without a way to stop
 * it but its work. Only mip_engine.c calls these, in its child process.
 *
 * x[n_cols] gets the best point, if one was found. The status is set, and `bound`, which is
 * HUGE_VAL after a whole search. mip_engine.c checks the point and completes the result. */
#ifndef RP_SOLVE_ENGINE_MIP_SOLVER_H
#define RP_SOLVE_ENGINE_MIP_SOLVER_H

#include <math.h>

#include "solve/engine/mip_engine.h"

/* Integers and rows may be missed by this (milp.h). */
#define RP_MIP_TOLERANCE 1e-5

typedef void rp_mip_solver(const struct rp_milp *m, const struct rp_mip_options *o,
                           double *x, struct rp_mip_result *r);
rp_mip_solver rp_mip_solver_glpk, rp_mip_solver_highs;

/* ---- what they share ---- */

/* Only points that cost at most this are of interest: less than start and cutoff by more
 * than the absolute gap. HUGE_VAL: any. */
static inline double rp_mip_limit(const struct rp_milp *m, const struct rp_mip_options *o) {
    double limit = o->cutoff > 0 ? o->cutoff : HUGE_VAL;
    if (o->start != NULL)
        limit = fmin(limit, rp_milp_value(m, o->start));
    if (limit == HUGE_VAL)
        return limit;
    return limit - fmax(o->absolute_gap, 1e-7 * fabs(limit));
}

/* Work units of what has been done on a program of `size` rows and columns together: a
 * pivot takes about size / 64 microseconds. The solvers count what else they do as pivots.
 */
static inline uint64_t rp_mip_work(uint64_t pivots, uint64_t size) {
    return pivots * size / 64 + 1;
}

/* Sets `rows` to the lazy rows that x violates. Returns the work of that. */
static inline uint64_t rp_mip_find_rows(const struct rp_mip_options *o, const double *x,
                                        bool whole, struct rp_milp *rows) {
    rp_milp_fini(rows);
    uint64_t work = o->separate(o->separate_arg, x, whole, rows);
    rp_milp_drop_met(rows, x, RP_MIP_TOLERANCE);
    return work;
}

#endif
