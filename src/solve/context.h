/* context: the state of one call of rp_solve, shared by the files of src/solve/.
 *
 *   solver.c        the order of attack
 *   portfolio.c     which methods exist, when they may run, and how turns are taken
 *   sequence.c      which turns there are
 *   background.c    branch and cut, and the PDHG bound, beside the search
 *   order_search.c  the same in another order of first runs
 *   every_order.c   A* in every order, the last resort on tiny graphs
 *   narrower.c      the same search with fewer options, beside this one
 *   placement.c     addresses, and tighter schedules where they do not fit
 *   incumbent.c     replaces the incumbent
 *   infeasible.c    says why there is no plan
 *   statistics.c    prints what each part did
 *
 * One context belongs to one thread. The PDHG thread of background.c uses `bound`,
 * `bound_work`, `bound_stop` and `bound_seconds` while it runs; nobody else does meanwhile.
 * It reads `bound_abandoned`, which the other may set.
 */
#ifndef RP_SOLVE_CONTEXT_H
#define RP_SOLVE_CONTEXT_H

#include <pthread.h>

#include "base/stop.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"
#include "solve/lns/large_neighborhood.h"
#include "solve/milp/interval_worker.h"
#include "solve/mip/solution_pool.h"
#include "solve/mip/worker.h"
#include "solve/narrower.h"
#include "solve/search/lp_rounding.h"
#include "solve/search/sequence.h"
#include "solve/solver.h"
#include "solve/statistics.h"

/* Until it is found, `s` has no rows, and time_ns is undefined. */
struct rp_incumbent {
    struct rp_schedule s;
    bool found;       /* s is sound and within the limits */
    uint64_t time_ns; /* of s, or of the plan that has replaced it (incumbent.h) */
};

/* How a first schedule is made where sources may live on the host (construct_homes.h). */
struct rp_home_settings {
    double stay;  /* this share of the limit is for sources that stay on the device */
    double late;  /* this share of that is for those used last, the rest for all alike */
    double ahead; /* this share of what is left of the limit is for copies ahead of time */
};

/* What is searched for: all plans that the options allow (the whole space), or only those
 * of them that do without swaps or without recomputation. */
struct rp_space {
    bool active; /* the options allow it */
    bool warm;   /* its first run is to start from w->start */
    bool solved; /* branch and cut has found its optimum, or proved that nothing fits */
    struct rp_instance p;          /* what it points to is the context's */
    struct rp_incumbent incumbent; /* not of the whole space: that is the context's */
    struct rp_solution_pool pool;  /* where annealing runs ended */
    struct rp_large_neighborhood neighborhoods;
    struct rp_lp_rounding *rounding; /* NULL: not begun */
    /* The last attempt to place its incumbent: its time, and the packer's work. */
    uint64_t tried_ns, tried_work;
    /* What attempts to place its incumbents have left. Below 0, the next one waits. */
    double placing_seconds;
    struct rp_incumbent waiting;           /* the last one whose attempt had to wait */
    struct rp_home_settings home_settings; /* of the best first schedule; or 0 */
};

/* Plans that take longer are of no interest. As a bound, it says that there is no plan. */
#define RP_MAX_PLAN_NS ((uint64_t)1 << 61)

struct rp_context {
    /* The task. */
    const struct rp_graph *g;
    const struct rp_solve_options *o;
    struct rp_solve_report *report;
    struct rp_statistics statistics; /* what each part did */
    double begin;                    /* rp_seconds() when the time limit began to count */
    double end;                      /* of all */
    const char *doing;               /* for the progress line */
    uint64_t losses;                 /* rp_losses() when the search began (child/loss.h) */
    struct rp_stop stop;             /* of the search; later, of the placement */
    double reserve_s; /* for what comes after the search (rp_context_reserve) */
    bool homes; /* the plan decides which sources live on the host; else all that may stay
                   on the device do */

    /* What belongs to one order of first runs; order_search.c exchanges it. */
    struct rp_instance p;
    struct rp_incumbent incumbent;
    struct rp_schedule start; /* that of o->start; rows is NULL if there is none */
    struct rp_space spaces[RP_N_SPACES];
    struct rp_sequence turns; /* the turns that are still to be taken */
    enum rp_space_id whole;   /* the space of all plans that the options allow */
    uint32_t *order;          /* graph's op per place; NULL: the graph's own order */

    /* The fastest plan so far that has addresses, and its time. UINT64_MAX: there is none.
     * Plans without addresses need no attempt, so they are made at the end only. */
    struct rp_plan placed;
    uint64_t placed_ns;

    /* The offer that came nearest to fitting, in whatever order it was made. No bytes:
     * there was none. */
    struct {
        uint64_t peak_bytes; /* without sources */
        uint32_t op;         /* the graph's op that binds; RP_NONE: the end */
    } nearest;

    /* If a certificate is wanted: the instance in the given order, as far as
     * certificates know its rules (rp_instance_for_certificate). */
    struct rp_instance certified;

    /* What is proved. */
    uint64_t bound_ns; /* no plan within the budget is faster (see all_sequences) */
    /* Of the whole space: the incumbent is within --gap of the optimum, or nothing fits. */
    bool proved;
    bool all_sequences; /* bound_ns holds for all step sequences, not only for schedules */

    /* What runs beside the search. */
    struct rp_mip_worker *mip;           /* branch and cut; NULL: it does not run */
    bool mip_pending;                    /* it works; its result has not been taken */
    struct rp_interval_worker *interval; /* the MILP with swaps; NULL: it does not run */
    uint64_t interval_horizon_ns;        /* it looks for programs that take no longer */
    double interval_next;        /* rp_turn.begin of its next start at the earliest */
    struct rp_pdhg_bound *bound; /* NULL: not begun */
    uint64_t bound_work;         /* for the turn under way */
    struct rp_stop bound_stop;   /* a copy of `stop` */
    bool bound_abandoned;        /* another reason to end the thread */
    pthread_t bound_thread;
    bool bound_pending;
    double bound_seconds; /* of the turn under way, written by its thread */
    /* NULL: it does not run, or cannot win any more (background.h). */
    struct rp_narrower *narrower[RP_MAX_NARROWER];

    struct rp_astar *astar;  /* NULL: not begun */
    struct rp_plan sequence; /* of A*; without steps if there is none */
    bool sequence_placed;    /* none is faster, and it has addresses if they are wanted */
    uint64_t sequence_ns;    /* its time; UINT64_MAX if there is none */
    double sequences_next;   /* rp_turn.begin of its next part of the time */
    /* For turns in which nothing runs again: last_stage and irreplaceable of an instance
     * whose ops run once. */
    uint32_t *own_stage;
    bool *all_irreplaceable;
    bool unplaced; /* the incumbent was found after the last turn */
    double share;  /* of the time limit, for all turns of this order so far (portfolio.h) */
};

/* Sets up w->p and the rest, but no schedule yet. The budget is at least the graph's fixed
 * bytes. */
void rp_context_init(struct rp_context *w);
/* Do searches with fewer options run beside this one (background.h), if there are
 * any? w->p is laid out. */
bool rp_context_may_narrow(const struct rp_context *w);
/* May all sources stay on the device? Else no plan does without copies. */
bool rp_context_may_stay(const struct rp_context *w);
/* Makes the spaces, and the incumbent's schedule if it is found: then it is keep-all. w->p
 * is laid out. */
void rp_context_begin_search(struct rp_context *w);
void rp_context_free_spaces(struct rp_space *spaces);
void rp_context_fini(struct rp_context *w);

/* Ends the search early enough for what comes after it: to place the schedule, and to check
 * and free the plan. On large graphs that takes about twice as long as to evaluate a
 * schedule, which has just taken `seconds`. */
void rp_context_reserve(struct rp_context *w, double seconds);
/* Shows in the progress line what is being done from now on. */
void rp_context_doing(struct rp_context *w, const char *what);
/* Has a process or thread been lost that the same plan as always needs? */
bool rp_context_lost(const struct rp_context *w);
/* True once a signal has come or the deadline of `stop` has passed, or without a clock once
 * something was lost. Keeps the progress line up to date. */
bool rp_context_stopped(struct rp_context *w);
/* The same, as a callback for the searches: arg is the context. */
bool rp_context_stop(void *arg);
/* Until when first schedules and their addresses are looked for, as long as there are none:
 * the limit may pass by a little. */
double rp_context_last_resort(const struct rp_context *w);
/* Until when what comes after the turns may work. */
double rp_context_finish_deadline(const struct rp_context *w);
/* What ended the search: "interrupt", "time limit" or "work limit". */
const char *rp_context_limit_word(const struct rp_context *w);
/* The time of a plan that is as near the bound as --gap asks. */
double rp_context_goal_ns(const struct rp_context *w);
/* True if a plan takes no longer than that. */
bool rp_context_gap_allows(const struct rp_context *w, double time_ns);
/* True if the incumbent is. Search and bounds meet after fixed amounts of work
 * (background.h). The gap is looked at there and at the end of turns, and nowhere else, so
 * whether and when it is reached does not depend on the clock. Branch and cut applies the
 * gap itself (mip/node_lp.h). */
bool rp_context_gap_reached(const struct rp_context *w);
/* The incumbent of a space. */
struct rp_incumbent *rp_context_incumbent(struct rp_context *w, enum rp_space_id space);
/* The instance that the options describe, in the order w->order. The caller ends it with
 * rp_instance_fini. */
void rp_context_instance(const struct rp_context *w, struct rp_instance *p,
                         uint64_t budget_bytes);

#endif
