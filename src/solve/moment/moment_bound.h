/* moment_bound: a lower bound of the time of every program within the limit, from what must
 * be on the device at one moment (moment_relaxation.h). Unlike all other bounds it holds
 * in every order of first runs and for every program. It takes a fraction of a second on
 * graphs of a thousand ops.
 *
 * It tries the moments at which most bytes are wanted above the limit (with sources that
 * may live on the host, those of large updates), solves the linear relaxation of each, and
 * then the 0/1 program of the best one by branch and bound over S:
 * the node with the least bound first, on the S that is fractional in most bytes. Bounds of
 * nodes are safe dual bounds (rp_lp_bound). Without swaps, times are multiples of the
 * greatest common divisor of all op times, and the bound is rounded up to one.
 *
 * With swaps, what is proved from a horizon H holds for programs of at most H. So the
 * smaller of that bound and H holds for all, and a few steps of bisection look for the H
 * that gives most. With sources that may live on the host, all times are columns of the
 * program (moment_sources.h), and no such H is needed.
 *
 * The same input gives the same result, unless `stop` ends it early.
 *
 * Thread safety: as GLPK (engine/lp_engine.h), from one thread at a time.
 */
#ifndef RP_SOLVE_MOMENT_MOMENT_BOUND_H
#define RP_SOLVE_MOMENT_MOMENT_BOUND_H

#include "base/stop.h"
#include "solve/core/instance.h"

struct rp_moment_bound_options {
    bool any_order;       /* false: for the instance's order alone, which proves more */
    uint64_t horizon_ns;  /* with swaps: the time of a plan */
    uint64_t goal_ns;     /* a bound of that much is enough; UINT64_MAX: none is */
    uint64_t work;        /* limit: about a microsecond each */
    struct rp_stop *stop; /* may be NULL */
};

/* Plain data. */
struct rp_moment_statistics {
    uint64_t moments; /* linear programs */
    uint64_t pivots;  /* of the simplex method */
    uint64_t nodes;   /* of branch and bound */
    uint64_t work;
};

struct rp_moment_bound {
    uint64_t bound_ns; /* at least the sum of all op times */
    uint32_t op;       /* whose first run is the moment; RP_NONE: the bound is that sum */
    bool optimal;      /* the 0/1 program of that moment has been solved */
};

/* Times are below 2^63 in sum. `statistics` are added to; they may not be NULL. */
struct rp_moment_bound rp_moment_bound(const struct rp_instance *p,
                                       const struct rp_moment_bound_options *o,
                                       struct rp_moment_statistics *statistics);

#endif
