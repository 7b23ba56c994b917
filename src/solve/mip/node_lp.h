/* node_lp: the LP of branch and cut. It is made and solved here, its bounds become times,
 * and columns that no longer matter are fixed and left out. Not thread-safe: one object,
 * one thread. */
#ifndef RP_SOLVE_MIP_NODE_LP_H
#define RP_SOLVE_MIP_NODE_LP_H

#include "solve/mip/mip_internal.h"

/* ---- bounds ---- */

/* The least time that a schedule can have if it is not below `bound` (scaled): the next
 * multiple of the divisor of all times. */
uint64_t rp_node_lp_bound_ns(const struct rp_branch_cut *bc, double bound);
/* Schedules that are not below this are of no interest: the incumbent's time less the gap.
 */
uint64_t rp_node_lp_goal_ns(const struct rp_branch_cut *bc);
/* A node with this bound or more is pruned: the goal, or the cutoff if that is less. */
uint64_t rp_node_lp_target_ns(const struct rp_branch_cut *bc);
/* Records that a pruned subtree may hold a schedule of this time. */
void rp_node_lp_record_pruned(struct rp_branch_cut *bc, uint64_t bound_ns);

/* ---- models ---- */

/* Makes formulation and LP of the whole instance, as bc->m. */
void rp_node_lp_init(struct rp_branch_cut *bc);
void rp_node_lp_fini(struct rp_branch_cut *bc);
/* Makes bc->m anew for the schedules below the target: all columns are left out that
 * reduced-cost fixing decides. Open nodes have no meaning afterwards. With `keep_full`, the
 * former model goes to bc->full. */
void rp_node_lp_rebuild(struct rp_branch_cut *bc, bool keep_full);
void rp_node_lp_restore_full(struct rp_branch_cut *bc); /* bc->full is bc->m again */

/* ---- solving ---- */

/* Solves with at most `pivots` iterations and sets bc->bound and m.reduced. Counts work. */
enum rp_lp_status rp_node_lp_solve(struct rp_branch_cut *bc, uint64_t pivots);
/* Sets bounds of a column for this node and those below. */
void rp_node_lp_change_bounds(struct rp_branch_cut *bc, struct change c);
void rp_node_lp_add_cuts(struct rp_branch_cut *bc, const struct rp_row_set *rows);
/* Drops the cuts that are slack, if there are many cuts. */
void rp_node_lp_drop_slack_cuts(struct rp_branch_cut *bc);

/* ---- reduced-cost fixing at the root ---- */

/* Keeps the current bound and reduced costs if they are the best so far. */
void rp_node_lp_record_root(struct rp_branch_cut *bc);
/* How many columns a target would fix. */
uint32_t rp_node_lp_count_fixed(const struct rp_branch_cut *bc, uint64_t target_ns);
/* Fixes each column that, moved from its value at the root, raises the bound to the target.
 */
void rp_node_lp_fix_columns(struct rp_branch_cut *bc);

#endif
