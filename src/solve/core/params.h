/* params: how much each part of the planner works, and on which sizes of graphs. These
 * numbers decide when a part runs and when it stops; each part's own tuning (cut
 * thresholds, step sizes, tabu lengths) stays in its file.
 *
 * Work is counted, not timed, so the same input gives the same plan on any machine. The
 * units, with what they take on a 2020s core:
 *   annealing   about 25 ns (anneal.h); over orders about 6 ns (anneal_order.h)
 *   MIP         0.5 to 1 us (branch_cut.h)
 *   PDHG        one term of the linear program touched, about 1.2 ns (pdhg_bound.h)
 *   packing     1 to 4 ns (packer.h)
 *   A*          one state
 * "Per second" is per second of --time-limit, of which the search has SCHEDULE_SHARE if
 * addresses are wanted. bench/calibration shows what the units take on this machine.
 */
#ifndef RP_SOLVE_CORE_PARAMS_H
#define RP_SOLVE_CORE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

/* bench/ablation compiles the planner without one of these (statistics.h); its turns go to
 * annealing then. */
#ifndef ABLATED_METHOD
#define ABLATED_METHOD RP_N_METHODS
#endif

/* ---- work per second ---- */

#define ANNEAL_WORK_PER_S 4e7
#define ORDER_WORK_PER_S 1.5e8
#define MIP_WORK_PER_S 1.4e6
/* A try of large-neighbourhood search. */
#define NEIGHBORHOOD_TRY_WORK_PER_OP 2700
#define INTERVAL_WORK_PER_S 1e6
#define PDHG_WORK_PER_S 7.5e8
#define PACK_WORK_PER_S 4.5e8
#define ASTAR_WORK_PER_S 220e6

/* Of the sequence of turns: what comes before the interval MILP begins, and the most of the
 * time limit that this may be. */
#define INTERVAL_BEGIN_SECONDS 0.05
#define INTERVAL_BEGIN_SHARE 0.25
/* Of the sequence of turns, and of the time limit: what is never left to A*. */
#define EXHAUSTIVE_BEGIN_SECONDS 1.0

/* ---- limits of work, whatever the time limit ---- */

/* Of A*, before all else, whatever the clock says: 20 ms. Of all its work, at least. */
#define FIRST_ASTAR_WORK 5e6
#define MIN_ASTAR_WORK (4 * FIRST_ASTAR_WORK)
#define MAX_ASTAR_STATES 4000000 /* about 600 MiB */
/* Of A* where all schedules are known to be slower. */
#define MAX_SIDE_ASTAR_WORK 150000000

/* One search for path cuts in the PDHG bound: a longer one could not be stopped in time. */
#define MAX_PATH_WORK 2e9
/* Pivots that the first solve of a linear program gets even if the work limit is reached;
 * pivots for each side of a trial branching; the fixed cost of a solve, in pivots. */
#define FIRST_PIVOTS 100
#define TRIAL_PIVOTS 60
#define SOLVE_OVERHEAD_PIVOTS 20
/* Runs per op, on average, before the one-pass schedule is given up. */
#define MAX_GREEDY_RUNS_PER_OP 20

/* ---- shares ---- */

/* Of the time limit: the schedule's part when addresses are wanted too. */
#define SCHEDULE_SHARE 0.85
/* The same without addresses: the rest drops copies that the schedule can do without. */
#define UNPLACED_SHARE 0.98
/* Of the time limit beyond EXHAUSTIVE_BEGIN_SECONDS: A*, where it may run. */
#define EXHAUSTIVE_SHARE 0.65
#define MIN_EXHAUSTIVE_SHARE 0.1 /* of the whole time limit */
#define EXHAUSTIVE_BESIDE 0.5    /* of its time: between turns, not after them */
#define MAX_ASTAR_SECONDS 36.0
/* Of the time limit: when the work between search and placement ends. */
#define FINISH_SHARE 0.93
/* Of the time that is left: taking copies out of a first schedule that swaps everything. */
#define SWAP_DESCENT_SHARE 0.25
/* After the time limit: when attempts to find a first schedule, or addresses, end. */
#define LAST_RESORT_SECONDS 0.3
/* Of each round of a search in several orders: annealing over orders, where it gained
 * something in the last round, or not. Of that, once a plan is known: from the given order;
 * the rest goes on from the best plan. */
#define ORDER_SHARE 0.5
#define LOW_ORDER_SHARE 0.2
#define NEW_ORDER_SHARE 0.5
/* The same where sources may live on the host, whatever was gained. */
#define DESCENT_SHARE 0.1
/* Of the annealing over orders: making its result a schedule that fits. */
#define REPAIR_SHARE 0.2
/* Of the rest of a round: turns in the better of two orders. */
#define BETTER_ORDER_SHARE 0.75
/* The first round. Each round is as long as all before it. */
#define FIRST_ORDER_ROUND_SECONDS_PER_OP 1e-4
/* Of the work of branch and cut: the bound for every order. */
#define MOMENT_SHARE 0.1
/* Of the work of branch and cut or PDHG: while the other one has the higher bound. */
#define LOWER_BOUND_SHARE 0.4
/* Of PDHG's work: for a certificate when another method gave the bound. */
#define CERTIFY_SHARE 0.1
/* Of PDHG's work: the search for path cuts, in relation to the steps. */
#define PATH_SHARE 0.5
/* Of the time limit: one of the annealing runs from the interval MILP's point. */
#define POINT_SHARE 0.05
/* Of a turn of LP rounding: PDHG, if it has more to gain. Of what is left: short runs, to
 * choose the threshold. */
#define ROUNDING_LP_SHARE 0.3
#define ROUNDING_CHOICE_SHARE 0.5
/* Of the work of an annealing run: the first search for a tighter schedule. Of that: each
 * later one. */
#define TIGHTEN_SHARE 0.15
#define LATER_TIGHTEN_SHARE 0.33
/* Of the time of each turn: what attempts to place schedules may take. An attempt may take
 * more, and then the next one waits. Of the time so far, and of the time limit: the most
 * that one packing may take. */
#define PLACING_SHARE 0.5
#define MAX_PACKING_SHARE 0.1

/* Of the bound: the gap from which on windows of the interval MILP may raise it. */
#define MIN_WINDOWS_GAP 0.01

/* ---- sizes, in ops ---- */

enum {
    MAX_MIP_OPS = 260,      /* larger graphs are too much for branch and cut */
    MAX_INTERVAL_OPS = 110, /* with swaps; larger ones are too much for either engine, */
    MIN_WINDOWS_OPS = 51,   /* but not their windows. Of smaller ones these prove less */
    MAX_WINDOWS_OPS = 2000, /* than the whole program */
    MIN_PDHG_OPS = 61,      /* smaller ones are left to branch and cut */
    MIN_NEIGHBORHOOD_OPS = 60,
    MAX_NEIGHBORHOOD_OPS = 2000,
    MIN_ROUNDING_OPS = 300, /* annealing does as well on smaller ones */
    /* From here on a long search starts from the incumbent. */
    MIN_LARGE_OPS = 2001,
    /* First schedules of graphs of that size take milliseconds, so no clock ends them. */
    MAX_UNTIMED_OPS = 200,
    /* On larger graphs a narrower search beside the wider one would take as much memory
     * again, mostly for schedules that the wider one makes too. */
    MAX_NARROWER_OPS = 20000,
};

/* ---- sizes of schedules ---- */

/* A schedule has a bit for each stage and tensor. Graphs with larger ones, such as 92,000
 * ops with one output each, are not searched: a search holds several schedules. */
#define MAX_SCHEDULE_BYTES (1 << 30)

/* ---- sizes of linear programs ---- */

/* Larger ones, which would take more than about 2 GiB, are not solved. */
#define MAX_PDHG_COLUMNS 4000000u
#define MAX_PDHG_TERMS 40000000u
/* Of all programs for cutoffs of the PDHG bound together: about 50 bytes each. */
#define MAX_CUTOFF_TERMS 6000000u
/* Stages of the first linear program: FIRST_PDHG_STAGES, or as many as COARSE_PDHG_SIZE, in
 * stages times tensors, allows, but no fewer than MIN_PDHG_STAGES. Later ones have twice as
 * many, up to one for each op, or as MAX_PDHG_SIZE allows. A bound for a certificate has as
 * many as COARSE_PDHG_SIZE allows. */
#define FIRST_PDHG_STAGES 60u
#define COARSE_PDHG_SIZE 80000u
#define MAX_PDHG_SIZE 200000u
#define MIN_PDHG_STAGES 32u
/* Cuts in the linear program of branch and cut; if there are more, slack ones are dropped.
 */
#define MAX_MIP_CUTS 2000

/* ---- annealing runs ---- */

/* What one run can usefully do per op. */
#define RUN_WORK_PER_OP 60e3
#define RUN_WORK_PER_OP_WITH_SWAPS 120e3
/* Of that, on large graphs: a run that does less does not get far from keep-all. */
#define LONG_RUN_SHARE 0.4
/* Stages of the linear programs whose points are rounded. */
enum { MIN_ROUNDING_STAGES = 16, MAX_ROUNDING_STAGES = 64 };
/* The least work per op of a short run from a rounded point, and how many there are in a
 * turn at most. */
#define MIN_ROUNDED_RUN_WORK_PER_OP 5e3
enum { MAX_ROUNDED_RUNS = 8 };
/* Of the search for another order: short runs, and their share of all its work. */
#define SHORT_ORDER_RUN_WORK_PER_OP 2e4
#define SHORT_ORDER_RUN_SHARE 0.25
/* The runs of the first round are 4^4 times shorter. After MAX_ROUNDS even bounds gain
 * nothing from more. */
enum { ROUNDS_TO_FULL_LENGTH = 4, MAX_ROUNDS = ROUNDS_TO_FULL_LENGTH + 400 };
/* With the best step sequence known: the rounds in which schedules that take as long are
 * looked for. They copy less. */
enum { ROUNDS_BESIDE_SEQUENCE = 3 };
/* The rounds of the first turn of LP rounding, and from which on each has one. What the
 * first one can usefully do per op, in work of annealing. */
enum { FIRST_ROUNDING_ROUND = 1, LATER_ROUNDING_ROUND = ROUNDS_TO_FULL_LENGTH - 1 };
#define FIRST_ROUNDING_WORK_PER_OP 18e3
/* With swaps: the first round with a long run from the incumbent, which every second round
 * has from then on. */
enum { FIRST_REHEAT = ROUNDS_TO_FULL_LENGTH + 6 };
/* Searches and the methods beside them meet after this much of a turn's time. */
#define SLICE_SECONDS 0.25
/* Between the seeds of two runs, so that those of different --seed do not meet. */
#define SEEDS_APART UINT64_C(1000003)

/* ---- addresses that do not fit ---- */

/* Of an incumbent's time: how much longer a plan may take before its addresses are urgent.
 * An attempt has this many times the work then. */
#define MAX_PLAN_LAG 0.005
#define URGENT_TIMES 4

enum {
    MAX_TIGHTENINGS = 12,      /* schedules that leave memory unused, from a search, */
    MAX_GREEDY_TIGHTENINGS = 4 /* then those that are made in one pass */
};

/* ---- what follows from these ---- */

/* What one annealing run can usefully do. */
static inline double rp_run_work(uint32_t n_ops, bool may_swap) {
    return (may_swap ? RUN_WORK_PER_OP_WITH_SWAPS : RUN_WORK_PER_OP) * (n_ops + 1.0);
}

/* The most that one packing may take after so many seconds. */
static inline uint64_t rp_most_pack_work(double seconds) {
    return (uint64_t)(MAX_PACKING_SHARE * seconds * PACK_WORK_PER_S);
}

#endif
