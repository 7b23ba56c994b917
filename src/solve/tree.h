/* tree: the exact method. Branch and cut over R and S with the dual simplex method.
 *
 * The root adds rows of every family (cuts.h) until they stop paying. Columns whose reduced
 * cost is above what is missing to the best plan are fixed. Then the node of least bound is
 * taken, and one of its children right after it, down to a leaf (plunging). What is
 * branched on: how often an op runs in all (a sum column for each op), then single columns.
 * Every bound comes from row multipliers by weak duality (rp_lp_bound) and is rounded up to
 * the next sum of op times, so it never exceeds the optimum.
 *
 * All limits are work units, which depend on the problem alone, not on the machine: one is
 * about a microsecond on a 2020s core.
 */
#ifndef RP_SOLVE_TREE_H
#define RP_SOLVE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/problem.h"
#include "solve/schedule.h"

struct rp_tree_options {
    double gap;       /* stop when the best plan is within this share of the bound */
    const bool *once; /* rp_form_options.once: the result is then only the best among
                         schedules so restricted, and the bound with it */
    const struct rp_form *base; /* with `known`, as in rp_form_options */
    const uint8_t *known;
    bool no_merge, no_windows, no_covers, no_sums, no_fixing; /* for comparison */
};

enum rp_tree_status {
    RP_TREE_PAUSED,     /* the work limit came */
    RP_TREE_OPTIMAL,    /* best plan and bound within the gap */
    RP_TREE_INFEASIBLE, /* no schedule fits */
    RP_TREE_FAILED      /* the LP solver gave up; the bound still holds */
};

struct rp_tree_state {
    enum rp_tree_status status;
    uint64_t bound_ns; /* of all schedules that fit; UINT64_MAX if there are none */
    bool found;        /* a schedule is known, rp_tree_best has it */
    uint64_t time_ns;
    uint32_t n_rows, n_cols; /* of the LP now */
    uint64_t nodes, cuts, pivots, incumbents, fixed, restarts, work;
    uint64_t root_bound_ns; /* before the first branching; 0 if there was none */
};

struct rp_tree; /* p must outlive it */
struct rp_tree *rp_tree_new(const struct rp_problem *p, const struct rp_tree_options *o);
void rp_tree_free(struct rp_tree *tree);

/* A schedule from elsewhere. Ignored unless it is sound, fits and is better. */
void rp_tree_offer(struct rp_tree *tree, const struct rp_schedule *s);
/* Goes on for about `work` units; `state` is filled. */
enum rp_tree_status rp_tree_run(struct rp_tree *tree, uint64_t work,
                                struct rp_tree_state *state);
/* The best schedule known; valid until the tree runs again. */
const struct rp_schedule *rp_tree_best(const struct rp_tree *tree);

#endif
