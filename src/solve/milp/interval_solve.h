/* interval_solve: the optimum of the interval model, or a lower bound of it.
 *
 * First the linear relaxation is solved, with rows separated until they gain little. Its
 * bound follows from the multipliers by weak duality (engine/lp_engine.h), so it holds
 * whatever the engine says. Columns that would lift it beyond the horizon are fixed. Then
 * an engine's branch and cut solves the program with the rows found so far (mip_engine.h).
 * If its point violates other rows, these are added and it is solved again. As every row
 * holds for all programs, the bound holds after each of these solves. It is lowered by
 * RP_INTERVAL_TRUST, which is more than the engines' rounding errors, and raised to the
 * next multiple of the divisor of all times. So where that divisor is 1 ns, it stays short
 * of the optimum by that share.
 *
 * Thread-safe as far as the engine is.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_SOLVE_H
#define RP_SOLVE_MILP_INTERVAL_SOLVE_H

#include "base/stop.h"
#include "solve/engine/engine.h"
#include "solve/milp/interval_model.h"

#define RP_INTERVAL_TRUST 2e-6

struct rp_interval_options {
    enum rp_engine engine; /* loaded */
    uint64_t work;         /* limit, about a microsecond each */
    struct rp_stop *stop;  /* or NULL */
    uint32_t skip_cuts;    /* as rp_interval_cuts_find */
    bool root_only;        /* the linear relaxation only */
};

struct rp_interval_result {
    bool finished;          /* nothing more can be proved with this model */
    uint64_t bound_ns;      /* no program takes less; at most horizon_ns + divisor_ns */
    uint64_t root_bound_ns; /* of the linear relaxation */
    bool found;             /* a 0/1 point that meets all rows */
    uint32_t n_fixed, n_cuts;
    uint64_t work, nodes;
};

/* x[n_cols] gets the cheapest 0/1 point that meets all rows, if it is found. */
void rp_interval_solve(const struct rp_interval_model *m,
                       const struct rp_interval_options *o, double *x,
                       struct rp_interval_result *r);

#endif
