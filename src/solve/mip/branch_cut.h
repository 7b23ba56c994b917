/* tree: the exact method. Branch and cut over R and S with the dual simplex method.
 *
 * The root adds rows of every family (separation.h) until they stop paying. Columns whose
 * reduced cost is above what is missing to the best plan are fixed. Then the node of least
 * bound is taken, and one of its children right after it, down to a leaf (plunging). What
 * is branched on: how often an op runs in all (a sum column for each op), then single
 * columns. Every bound comes from row multipliers by weak duality (rp_lp_bound) and is
 * rounded up to the next sum of op times, so it never exceeds the optimum.
 *
 * All limits are work units, which depend on the problem alone, not on the machine: one is
 * about a microsecond on a 2020s core.
 */
#ifndef RP_SOLVE_MIP_BRANCH_CUT_H
#define RP_SOLVE_MIP_BRANCH_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

struct rp_branch_cut_options {
    double gap;       /* stop when the best plan is within this share of the bound */
    const bool *once; /* rp_formulation_options.once: the result is then only the best among
                         schedules so restricted, and the bound with it */
    const struct rp_formulation *base; /* with `known`, as in rp_formulation_options */
    const uint8_t *known;
    bool no_merge, no_windows, no_covers, no_sums, no_fixing; /* for comparison */
};

enum rp_branch_cut_status {
    RP_BRANCH_CUT_PAUSED,     /* the work limit came */
    RP_BRANCH_CUT_OPTIMAL,    /* best plan and bound within the gap */
    RP_BRANCH_CUT_INFEASIBLE, /* no schedule fits */
    RP_BRANCH_CUT_FAILED      /* the LP solver gave up; the bound still holds */
};

struct rp_branch_cut_state {
    enum rp_branch_cut_status status;
    uint64_t bound_ns; /* of all schedules that fit; UINT64_MAX if there are none */
    bool found;        /* a schedule is known, rp_branch_cut_best has it */
    uint64_t time_ns;
    uint32_t n_rows, n_cols; /* of the LP now */
    uint64_t nodes, cuts, pivots, incumbents, fixed, restarts, work;
    uint64_t root_bound_ns; /* before the first branching; 0 if there was none */
};

struct rp_branch_cut; /* p must outlive it */
struct rp_branch_cut *rp_branch_cut_new(const struct rp_instance *p,
                                        const struct rp_branch_cut_options *o);
void rp_branch_cut_free(struct rp_branch_cut *tree);

/* A schedule from elsewhere. Ignored unless it is sound, fits and is better. */
void rp_branch_cut_offer(struct rp_branch_cut *tree, const struct rp_schedule *s);
/* Goes on for about `work` units; `state` is filled. */
enum rp_branch_cut_status rp_branch_cut_run(struct rp_branch_cut *tree, uint64_t work,
                                            struct rp_branch_cut_state *state);
/* The best schedule known; valid until the tree runs again. */
const struct rp_schedule *rp_branch_cut_best(const struct rp_branch_cut *tree);

#endif
