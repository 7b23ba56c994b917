/* sweep_plan: plans the points of a sweep, several at the same time. Not thread-safe. */
#ifndef RP_CMD_SWEEP_PLAN_H
#define RP_CMD_SWEEP_PLAN_H

#include "cmd/sweep_points.h"

/* Which points to plan: of n shares the one with number k. The shares of a round are the
 * same, whichever of its points are planned already. */
struct rp_share {
    uint64_t k, n;
};

/* Plans those points of the share that are listed and not planned, n_processes at the same
 * time, each in a process of its own unless that is 1. An interrupt of any process reaches
 * all (rp_watch_interrupts). A point that is under way then is not finished.
 * RP_BUG, RP_ENV as rp_outcome_make; RP_INPUT if the plan of an earlier point is damaged.
 */
rp_rc rp_sweep_plan(const struct rp_sweep *s, struct rp_share share, uint64_t n_processes,
                    struct rp_err *err);

#endif
