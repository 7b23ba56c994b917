/* interval_solve: the optimum of the interval model, or a lower bound of it.
 *
 * First the linear relaxation is solved. It begins without rows. Rows of the model and
 * cuts that its points violate are added, until they gain little. Few rows of the model
 * matter. The bound follows from the multipliers by weak duality (engine/lp_engine.h), so
 * it holds whatever the engine says. Columns that would lift it beyond the horizon are
 * fixed. Then an engine's branch and cut solves the program (mip_engine.h). GLPK gets the
 * rows that points of the root have violated, and asks for others at its nodes: rows
 * separated there lift bounds far more than GLPK's own cuts, and few rows make its simplex
 * fast. HiGHS takes no rows while it searches, so it gets all of the model and all cuts
 * that were found so far; where that is too much for it, GLPK's tree follows its root. If
 * its point violates others, these are added and it is solved again. As every row holds
 * for all programs, the bound holds after each of these solves. It is lowered by
 * RP_INTERVAL_TRUST, which is more than the engines' rounding errors, and raised to the
 * next multiple of the divisor of all times. So where that divisor is 1 ns, it stays short
 * of the optimum by that share.
 *
 * What it is worth: chains of dense layers ("mlp") and of convolutions whose copies take as
 * long as an op (mlp21: twice as long), with a budget 10% of the way from the floor to the
 * peak. The gap is what was told without it. Seconds are of the whole command with a limit
 * of 60 s, on two cores.
 *
 *     ops        over keep-all   gap before   GLPK              HiGHS
 *     mlp16      20.73%           0.00%       proved, 0.1 s     proved, 0.1 s
 *     mlp21      47.86%          17.65%       proved, 1.7 s     proved, 11 s
 *     mlp26      24.92%          24.92%       proved, 0.2 s     proved, 0.1 s
 *     mlp31      25.97%          25.97%       proved, 0.2 s     proved, 0.2 s
 *     conv36      3.61%           3.61%       proved, 0.1 s     proved, 0.2 s
 *     mlp41      27.29%          27.29%       proved, 0.4 s     proved, 0.3 s
 *     conv46      6.05%           6.05%       proved, 0.3 s     proved, 0.3 s
 *     conv61      7.06%           7.06%       proved, 1.4 s     proved, 1.0 s
 *     conv101     7.39%           7.39%       proved, 3.1 s     proved, 1.0 s
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
    /* Or NULL: gets what is proved so far, at any moment, as `bound_ns` of the result. */
    uint64_t *proved_ns;
};

struct rp_interval_result {
    bool finished;          /* nothing more can be proved with this model */
    uint64_t bound_ns;      /* no program takes less; at most horizon_ns + divisor_ns */
    uint64_t root_bound_ns; /* of the linear relaxation */
    bool found;             /* a 0/1 point that meets all rows but (M14) to (M17) */
    uint32_t n_fixed, n_cuts;
    uint64_t work, nodes;
    double seconds; /* of processor time, if a worker (interval_worker.h) solved it */
};

/* x[n_cols] gets the cheapest 0/1 point that meets these rows, if it is found. */
void rp_interval_solve(const struct rp_interval_model *m,
                       const struct rp_interval_options *o, double *x,
                       struct rp_interval_result *r);

#endif
