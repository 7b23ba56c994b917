/* params: how much each part of the planner works, and on which sizes of graphs. These
 * numbers decide when a part runs and when it stops; each part's own tuning (cut
 * thresholds, step sizes, tabu lengths) stays in its file.
 *
 * Work is counted, not timed, so the same input gives the same plan on any machine. The
 * units, with what they take on a 2020s core:
 *   annealing   about a tenth of a microsecond (anneal.h, anneal_order.h)
 *   MIP         about a microsecond (branch_cut.h, crossover.h)
 *   PDHG        one term of the linear program touched (pdhg_bound.h)
 *   packing     about a nanosecond (packer.h)
 *   A*          one state
 * "Per second" is per second of --time-limit. The rates are low enough that on an idle
 * machine the work limit comes before the clock.
 */
#ifndef RP_SOLVE_CORE_PARAMS_H
#define RP_SOLVE_CORE_PARAMS_H

/* ---- work per second ---- */

#define ANNEAL_WORK_PER_S 8e6
#define ORDER_WORK_PER_S 2e7
#define MIP_WORK_PER_S 0.7e6
#define PDHG_WORK_PER_S 1.4e8
#define PACK_WORK_PER_S 4e7 /* for one placement */
#define ASTAR_STATES_PER_S 50e3

/* ---- limits of work, whatever the time limit ---- */

#define MAX_ANNEAL_WORK_PER_OP 3e6 /* the search gains nothing from more */
#define MAX_ORDER_WORK_PER_OP 2e6
#define MAX_ASTAR_STATES 200e3

/* ---- shares ---- */

/* Of the time limit: the schedule's part when addresses are wanted too. */
#define SCHEDULE_SHARE 0.7
/* Of the time limit: the search for another order. */
#define ORDER_SHARE 0.2
/* Of PDHG's work: where branch and cut runs beside it. */
#define PDHG_SHARE_BESIDE_MIP 0.4
/* Of PDHG's work: for a certificate when another method gave the bound. */
#define CERTIFY_SHARE 0.1
/* Of the annealing work: each search for a tighter schedule, the first one and the others.
 */
#define FIRST_TIGHTEN_SHARE 0.12
#define TIGHTEN_SHARE 0.04

/* ---- sizes, in ops ---- */

enum {
    MAX_MIP_OPS = 260,        /* larger graphs are too much for branch and cut */
    MIN_PDHG_OPS = 61,        /* smaller ones are left to branch and cut */
    MAX_CROSSOVER_OPS = 2000, /* larger graphs have parts that are too large */
    MIN_LARGE_OPS = 2001,     /* from here on a long search starts from the incumbent */
};
/* A large graph with less annealing work per op than this does not get far from keep-all.
 */
#define LARGE_WORK_PER_OP 100e3

/* ---- annealing runs ---- */

/* What one run can usefully do per op. Runs with swaps can be shorter. */
#define RUN_WORK_PER_OP 75e3
#define SWAP_RUN_WORK_PER_OP 60e3
enum { MAX_RUNS_PER_TURN = 24 };

/* ---- addresses that do not fit ---- */

enum {
    MAX_TIGHTENINGS = 12,      /* schedules searched under a lower limit, */
    MAX_GREEDY_TIGHTENINGS = 4 /* then schedules made in one pass under lower limits */
};

#endif
