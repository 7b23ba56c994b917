/* branch_cut: branch and cut over R and S of formulation.h, with the dual simplex method.
 * It finds the fastest schedule without swaps and proves it, for small and medium graphs.
 *
 * At the root, rows of every family (separation.h) are added until they no longer raise the
 * bound. Columns whose reduced cost exceeds the distance to the incumbent are fixed. Then
 * the node of least bound is taken, next one of its children, and so on down to a leaf
 * (plunging). branching.h says what is branched on. Every bound comes from row multipliers
 * by weak duality (rp_lp_bound) and is rounded up to the next sum of op times, so it never
 * exceeds the optimum.
 *
 * Without a good incumbent few columns can be fixed. So a cutoff a little above the root
 * bound is tried first: only schedules below it are looked for, in a model without the
 * columns that the cutoff fixes. If there is none, the cutoff is proved as a bound, and a
 * larger one is tried.
 *
 * All limits are in work units. They depend on the instance alone, not on the machine. A
 * unit is about 0.7 us on a 2020s core.
 *
 * Not thread-safe: one object, one thread, and the engine is not to be used by others
 * meanwhile.
 */
#ifndef RP_SOLVE_MIP_BRANCH_CUT_H
#define RP_SOLVE_MIP_BRANCH_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/engine/engine.h"
#include "solve/lp/separation.h"

struct rp_branch_cut_options {
    enum rp_engine engine; /* of the linear programs; it is loaded */
    double gap;            /* stop when the incumbent is within this share of the bound */
    const struct rp_formulation *base; /* with `known`, as in rp_formulation_options */
    const uint8_t *known;
    /* For comparison: */
    uint32_t skip_cuts; /* bit k: without family k of separation.c */
    bool no_merge, no_sums, no_fixing;
};

enum rp_branch_cut_status {
    RP_BRANCH_CUT_PAUSED,     /* the work limit was reached */
    RP_BRANCH_CUT_OPTIMAL,    /* incumbent and bound are within the gap */
    RP_BRANCH_CUT_INFEASIBLE, /* no schedule fits */
    RP_BRANCH_CUT_FAILED      /* the LP solver gave up; the bound is still valid */
};

/* Plain data: it travels from worker.h's process through a socket. */
struct rp_branch_cut_statistics {
    uint64_t nodes;
    uint64_t lp_solves;    /* trial solves included */
    uint64_t trial_solves; /* of branching.h, one for each side */
    uint64_t pivots;       /* simplex iterations */
    struct rp_separation_statistics cuts;
    uint64_t fixed_columns; /* by their reduced cost */
    uint64_t restarts;      /* with a smaller or a larger model */
    uint64_t cutoffs_tried;
    uint64_t incumbents;
    uint64_t roundings, rounding_successes; /* vertices rounded; new incumbents from that */
    uint64_t work;
};
void rp_branch_cut_statistics_add(struct rp_branch_cut_statistics *into,
                                  const struct rp_branch_cut_statistics *from);
/* Rows of all families together. */
uint64_t rp_branch_cut_statistics_cuts(const struct rp_branch_cut_statistics *s);

struct rp_branch_cut_state {
    enum rp_branch_cut_status status;
    uint64_t bound_ns;       /* of all schedules that fit; UINT64_MAX if there are none */
    bool found;              /* there is an incumbent: rp_branch_cut_best */
    uint64_t time_ns;        /* its time */
    uint32_t n_rows, n_cols; /* of the LP now */
    uint64_t root_bound_ns;  /* before the first branching; 0 if there was none */
    struct rp_branch_cut_statistics statistics;
};

struct rp_branch_cut;
/* `p` must outlive the result, which the caller frees. o->base and o->known need not. */
struct rp_branch_cut *rp_branch_cut_new(const struct rp_instance *p,
                                        const struct rp_branch_cut_options *o);
void rp_branch_cut_free(struct rp_branch_cut *bc); /* NULL is fine */

/* Offers a schedule from elsewhere as incumbent. It is copied if it is sound, fits and is
 * better, and ignored otherwise. */
void rp_branch_cut_offer(struct rp_branch_cut *bc, const struct rp_schedule *s);
/* Continues for `work` units and fills `state`. The last step of a call may pass that; the
 * next call then gets less. */
enum rp_branch_cut_status rp_branch_cut_run(struct rp_branch_cut *bc, uint64_t work,
                                            struct rp_branch_cut_state *state);
/* The incumbent. Valid until the next call of rp_branch_cut_run. */
const struct rp_schedule *rp_branch_cut_best(const struct rp_branch_cut *bc);

#endif
