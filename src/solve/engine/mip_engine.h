/* mip_engine: solves one mixed-integer program by an engine's own branch and cut, in a
 * child process that can be ended at any moment.
 *
 *     struct rp_mip_options o = {.engine = e, .start = x, .work = 5000000};
 *     struct rp_mip_result r;
 *     double *x = rp_calloc(m.n_cols, sizeof *x);
 *     rp_mip_solve(&m, &o, x, &r);
 *
 * GLPK runs with its MIR, Gomory, cover and clique cuts, but with `separate` only with the
 * caller's. It branches by glpk_branching.h. HiGHS runs in one thread. Limits are in
 * counted work, so the same program and options give the same answer on any machine; `stop`
 * is a cap on top.
 *
 * Not thread-safe: one object, one thread. Two may run at the same time, each in its child.
 */
#ifndef RP_SOLVE_ENGINE_MIP_ENGINE_H
#define RP_SOLVE_ENGINE_MIP_ENGINE_H

#include "base/stop.h"
#include "solve/engine/engine.h"
#include "solve/engine/milp.h"

/* Appends rows that the program has too, though they are not written in it (lazy rows), and
 * that x violates. `whole`: x is integral, and becomes a solution unless a row is added; so
 * then every violated row must be found. Otherwise x is a fractional point, and adding rows
 * is a choice; GLPK asks once a node. Low limits of rows may be -HUGE_VAL. It runs in the
 * child process: what it changes is not seen by the parent. Returns its work, in the unit
 * of rp_mip_options. */
typedef uint64_t rp_mip_separate(void *arg, const double *x, bool whole,
                                 struct rp_milp *rows);

struct rp_mip_options {
    enum rp_engine engine;
    const double *start; /* a point that meets all rows, lazy ones too; or NULL */
    /* Only points whose cost is below are looked for. 0: any (a cost below 0 cannot be
     * asked for). The start's cost is such a limit too. */
    double cutoff;
    double absolute_gap, relative_gap; /* stop when value - bound is within either */
    uint64_t work;                     /* limit, about a microsecond each; 0: none */
    struct rp_stop *stop;              /* or NULL */
    rp_mip_separate *separate;         /* or NULL: all rows are written out */
    void *separate_arg;
    /* Or NULL. Told while it searches what is proved so far, as `bound` of the result. When
     * and how often depends on the clock. Called in this process. */
    void (*on_bound)(void *arg, double bound);
    void *on_bound_arg;
};

enum rp_mip_status {
    RP_MIP_OPTIMAL, /* found and within the gap, or nothing is below start and cutoff */
    RP_MIP_LIMIT,   /* `work` was not enough */
    RP_MIP_STOPPED, /* `stop` said so; the point is lost, the bound is not */
    RP_MIP_FAILED   /* the engine gave up, or its process died; the same holds */
};

struct rp_mip_result {
    enum rp_mip_status status;
    bool found;   /* a point better than start and cutoff; it has been checked against the
                     rows that are written out */
    double value; /* its cost */
    /* No point costs less, as far as the engine's floating-point arithmetic can be trusted
     * (about 1e-6 of the value): good for deciding what to try next, not a proof. With lazy
     * rows GLPK's is lower by up to 1e-6 of the mean cost for each integer. -HUGE_VAL if
     * nothing is known; HUGE_VAL if nothing meets the rows and is below the cutoff. */
    double bound;
    uint64_t nodes, pivots, work;
    uint64_t lazy_rows; /* added by `separate` */
};

/* Solves it. x[n_cols] gets the point if one is found. */
enum rp_mip_status rp_mip_solve(const struct rp_milp *m, const struct rp_mip_options *o,
                                double *x, struct rp_mip_result *r);

#endif
