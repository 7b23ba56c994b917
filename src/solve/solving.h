/* solving: what the parts of rp_solve share. solve.c has the order of attack; floor.c says
 * when nothing fits; beside.c runs the exact method and the first-order bound beside the
 * search; rounds.c gives the search its turns; reorder.c tries another order of ops.
 */
#ifndef RP_SOLVE_SOLVING_H
#define RP_SOLVE_SOLVING_H

#include <pthread.h>

#include "solve/bound.h"
#include "solve/combine.h"
#include "solve/milp.h"
#include "solve/problem.h"
#include "solve/schedule.h"
#include "solve/solve.h"

/* Work a second of --time-limit, low enough that the work limit comes before the clock. */
static const double SEARCH_WORK = 8e6;
static const double TREE_WORK = 0.7e6;
static const double BOUND_WORK = 1.4e8;
/* The share of the time limit that is the schedule's when addresses are wanted too. */
static const double SCHEDULE_SHARE = 0.7;

struct rp_solving {
    const struct rp_graph *g;
    const struct rp_solve_options *o;
    struct rp_solve_report *report;
    struct rp_problem p;
    struct rp_schedule best;
    struct rp_schedule start;    /* of o->start; without rows if that cannot be one */
    bool *never;                 /* per op: false */
    uint32_t *order;             /* of first runs; NULL: the graph's */
    double share;                /* of the work, for one call of rp_search_rounds */
    struct rp_finds finds;       /* where runs of the search ended; for combine.h */
    bool found;                  /* best is within the limit */
    uint64_t time_ns;            /* of best */
    uint64_t bound_ns;           /* no plan within the budget is faster */
    double begin, deadline, end; /* deadline: of the present phase, end: of all */
    struct rp_milp *milp;        /* NULL: the graph is too large for it */
    bool awaited;                /* it works, and its result has not been taken */
    bool proved;                 /* it is done: best is optimal, or nothing fits */
    bool all_programs;           /* and bound_ns is so for programs that are no schedules */
    struct rp_bound *bound;      /* NULL: the exact method gives the bound */
    uint64_t bound_work;         /* for the round under way */
    pthread_t bound_thread;
    bool bounding;
};

/* ---- solve.c ---- */

/* A signal came, or the deadline of the present phase has passed. */
bool rp_solving_stopped(const struct rp_solving *w);
/* The best schedule is as near the bound as --gap asks. */
bool rp_solving_near_enough(const struct rp_solving *w);
/* The problem with what the options allow in it. The caller ends it. */
void rp_solving_problem(const struct rp_solving *w, struct rp_problem *p, uint64_t budget);

/* ---- floor.c ---- */

/* The floor, and whether the budget is at least that: RP_OK, or RP_NO and the reason. */
rp_rc rp_test_floor(struct rp_solving *w);
/* No schedule was found: RP_NO if none exists, else RP_LIMIT; says why. `least` is the one
 * that came nearest to the limit. */
rp_rc rp_say_none_found(struct rp_solving *w, const struct rp_schedule *least);

/* ---- beside.c ---- */

/* The exact method, in its own process: to work so much; what it has to say by now, waiting
 * at most `seconds`; to wait for it until it has spoken, or the deadline. */
void rp_ask_tree(struct rp_solving *w, double work);
void rp_hear_tree(struct rp_solving *w, double seconds);
void rp_await_tree(struct rp_solving *w);
/* The first-order bound, in a thread of its own: to work so much; to wait for it. */
void rp_ask_bound(struct rp_solving *w, double work);
void rp_await_bound(struct rp_solving *w);

/* ---- rounds.c ---- */

/* One annealing run from `start`; keeps the better of its best and w->best. */
void rp_anneal(struct rp_solving *w, const struct rp_problem *p, struct rp_schedule *start,
               double work, double heat, uint64_t seed);
/* How hot a run of that much work starts, as a share of the mean op time. */
double rp_heat_for(const struct rp_solving *w, double work);
/* The schedule of `plan` is what the first round starts from, and the best if it is. False
 * if it is no schedule of this problem. */
bool rp_take_start(struct rp_solving *w, const struct rp_plan *plan);
/* A first schedule in one pass, if w->best does not fit. */
void rp_construct(struct rp_solving *w, struct rp_schedule *scratch);
/* w->share of the work in rounds, each beside the exact method and the bound. */
void rp_search_rounds(struct rp_solving *w, struct rp_schedule *scratch);

/* ---- reorder.c ---- */

/* Searches in another order as well, and leaves the better of the two results. */
void rp_search_orders(struct rp_solving *w, struct rp_schedule *scratch);

#endif
