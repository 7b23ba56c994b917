/* lp_solver: what lp_engine.c asks of an engine. Only lp_engine.c calls these. `self` is
 * the engine's own object. Nothing here needs to be exact: lp_engine.c derives bounds and
 * proofs from the multipliers by itself.
 *
 * Multipliers are of rows  a x - b <= 0  in  minimise cost x + y (a x - b): at an optimum
 * y >= 0, except for equations, where it is free. */
#ifndef RP_SOLVE_ENGINE_LP_SOLVER_H
#define RP_SOLVE_ENGINE_LP_SOLVER_H

#include "solve/engine/lp_engine.h"

struct rp_lp_solver {
    void *(*create)(double fixed);
    void (*destroy)(void *self);
    void (*add_col)(void *self, double cost, double low, double high);
    void (*add_rows)(void *self, const struct rp_sparse_rows *rows);
    void (*drop_rows)(void *self, const bool *drop);
    void (*set_bounds)(void *self, uint32_t col, double low, double high);
    /* RP_LP_INFEASIBLE: it says so; `ray` may prove it. */
    enum rp_lp_status (*solve)(void *self, uint64_t max_pivots, double cutoff);
    void (*forget_basis)(void *self); /* the next solve starts anew */
    uint64_t (*pivots)(const void *self);
    double (*value)(const void *self, uint32_t col);
    bool (*row_is_slack)(const void *self, uint32_t row); /* the row's slack is basic */
    void (*multipliers)(void *self, double *y);
    /* After RP_LP_INFEASIBLE: multipliers for which the least y (a x - b) over the bounds
     * may be above 0. False: it has none. */
    bool (*ray)(void *self, double *y);
};

extern const struct rp_lp_solver rp_lp_glpk, rp_lp_highs;

#endif
