/* solving: what the parts of rp_solve share. solver.c has the order of attack; infeasible.c
 * says when nothing fits; background.c runs the exact method and the first-order bound
 * beside the search; portfolio.c gives the search its turns; order_search.c tries another
 * order of ops.
 */
#ifndef RP_SOLVE_CONTEXT_H
#define RP_SOLVE_CONTEXT_H

#include <pthread.h>

#include "solve/bound/pdhg_bound.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/mip/crossover.h"
#include "solve/mip/worker.h"
#include "solve/solver.h"

/* Work a second of --time-limit, low enough that the work limit comes before the clock. */
static const double SEARCH_WORK = 8e6;
static const double TREE_WORK = 0.7e6;
static const double BOUND_WORK = 1.4e8;
/* The share of the time limit that is the schedule's when addresses are wanted too. */
static const double SCHEDULE_SHARE = 0.7;

struct rp_context {
    const struct rp_graph *g;
    const struct rp_solve_options *o;
    struct rp_solve_report *report;
    struct rp_instance p;
    struct rp_schedule best;
    struct rp_schedule start;      /* of o->start; without rows if that cannot be one */
    bool *never;                   /* per op: false */
    uint32_t *order;               /* of first runs; NULL: the graph's */
    double share;                  /* of the work, for one call of rp_portfolio_run */
    struct rp_solution_pool finds; /* where runs of the search ended; for crossover.h */
    bool found;                    /* best is within the limit */
    uint64_t time_ns;              /* of best */
    uint64_t bound_ns;             /* no plan within the budget is faster */
    double begin, deadline, end;   /* deadline: of the present phase, end: of all */
    struct rp_mip_worker *milp;    /* NULL: the graph is too large for it */
    bool awaited;                  /* it works, and its result has not been taken */
    bool proved;                   /* it is done: best is optimal, or nothing fits */
    bool all_programs;           /* and bound_ns is so for programs that are no schedules */
    struct rp_pdhg_bound *bound; /* NULL: the exact method gives the bound */
    uint64_t bound_work;         /* for the round under way */
    pthread_t bound_thread;
    bool bounding;
};

/* ---- solver.c ---- */

/* A signal came, or the deadline of the present phase has passed. */
bool rp_context_stopped(const struct rp_context *w);
/* The best schedule is as near the bound as --gap asks. */
bool rp_context_gap_reached(const struct rp_context *w);
/* The problem with what the options allow in it. The caller ends it. */
void rp_context_instance(const struct rp_context *w, struct rp_instance *p,
                         uint64_t budget);

/* ---- infeasible.c ---- */

/* The floor, and whether the budget is at least that: RP_OK, or RP_NO and the reason. */
rp_rc rp_check_floor(struct rp_context *w);
/* No schedule was found: RP_NO if none exists, else RP_LIMIT; says why. `least` is the one
 * that came nearest to the limit. */
rp_rc rp_explain_none_found(struct rp_context *w, const struct rp_schedule *least);

/* ---- background.c ---- */

/* The exact method, in its own process: to work so much; what it has to say by now, waiting
 * at most `seconds`; to wait for it until it has spoken, or the deadline. */
void rp_mip_submit(struct rp_context *w, double work);
void rp_mip_poll(struct rp_context *w, double seconds);
void rp_mip_wait(struct rp_context *w);
/* The first-order bound, in a thread of its own: to work so much; to wait for it. */
void rp_bound_submit(struct rp_context *w, double work);
void rp_bound_wait(struct rp_context *w);

/* ---- portfolio.c ---- */

/* One annealing run from `start`; keeps the better of its best and w->best. */
void rp_portfolio_anneal(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *start, double work, double heat,
                         uint64_t seed);
/* How hot a run of that much work starts, as a share of the mean op time. */
double rp_initial_temperature(const struct rp_context *w, double work);
/* The schedule of `plan` is what the first round starts from, and the best if it is. False
 * if it is no schedule of this problem. */
bool rp_portfolio_warm_start(struct rp_context *w, const struct rp_plan *plan);
/* A first schedule in one pass, if w->best does not fit. */
void rp_portfolio_construct(struct rp_context *w, struct rp_schedule *scratch);
/* w->share of the work in rounds, each beside the exact method and the bound. */
void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch);

/* ---- order_search.c ---- */

/* Searches in another order as well, and leaves the better of the two results. */
void rp_search_orders(struct rp_context *w, struct rp_schedule *scratch);

#endif
