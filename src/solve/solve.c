#include "solve/solve.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "solve/address.h"
#include "solve/bound.h"
#include "solve/certificate.h"
#include "solve/claims.h"
#include "solve/greedy.h"
#include "solve/milp.h"
#include "solve/order.h"
#include "solve/pack.h"
#include "solve/problem.h"
#include "solve/schedule.h"
#include "solve/search.h"
#include "solve/start.h"

/* Work a second of --time-limit, low enough that the work limit comes before the clock. */
static const double SEARCH_WORK = 8e6;
static const double TREE_WORK = 0.7e6;
static const double BOUND_WORK = 1.4e8;
/* The share of it that goes into a certificate where another method gave the bound. */
static const double CERTIFY_SHARE = 0.1;

/* The exact method is for graphs of at most so many ops, the first-order bound for more
 * than so many: where both are, the latter has a share of its work only. */
enum { TREE_OPS = 260, BOUND_OPS = 60 };
static const double BESIDE_SHARE = 0.4;

/* What a run of the search may usefully work for each op, and how many are made at most. */
static const double RUN_WORK = 250e3;
enum { MOST_RUNS = 8 };
/* With swaps shorter runs do. They differ in how hot they start: a few large ops, as in
 * U-Net, want it 16 times as hot as the many small ones of ResNet. */
static const double SWAP_RUN_WORK = 60e3;
enum { N_HEATS = 3 };
static const double heats[N_HEATS] = {1, 4, 16};
static const double MOST_HEAT = 16;
/* Nor does the search as a whole gain from more than this for each op. */
static const double MOST_WORK = 3e6;

/* The search for another order: its share of the time limit, work a second, and what each
 * op may gain from. */
static const double ORDER_SHARE = 0.1;
static const double ORDER_WORK = 2e7;
static const double MOST_ORDER_WORK = 1e5;

enum { N_TIGHTEN = 12 }; /* how often the packing may ask for a tighter schedule */
/* The share of the time limit that is the schedule's when addresses are wanted too. */
static const double SCHEDULE_SHARE = 0.7;
/* Packing work, of a nanosecond each, for one placement and a second of --time-limit. */
static const double PACK_WORK = 2e6;

struct solving {
    const struct rp_graph *g;
    const struct rp_solve_options *o;
    struct rp_solve_report *report;
    struct rp_problem p;
    struct rp_schedule best;
    struct rp_schedule start;    /* of o->start; without rows if that cannot be one */
    bool *never;                 /* per op: false */
    uint32_t *order;             /* of first runs; NULL: the graph's */
    double share;                /* of the work, for one call of search_rounds */
    bool found;                  /* best is within the limit */
    uint64_t time_ns;            /* of best */
    uint64_t bound_ns;           /* no plan within the budget is faster */
    double begin, deadline, end; /* deadline: of the present phase, end: of all */
    struct rp_milp *milp;        /* NULL: the graph is too large for it */
    bool awaited;                /* it works, and its result has not been taken */
    bool proved;                 /* it is done: best is optimal, or nothing fits */
    struct rp_bound *bound;      /* NULL: the exact method gives the bound */
    uint64_t bound_work;         /* for the round under way */
    pthread_t bound_thread;
    bool bounding;
};

uint64_t rp_keep_all_bytes(const struct rp_graph *g, bool addressed) {
    struct rp_problem p;
    struct rp_schedule s;
    rp_problem_init(&p, g, g->fixed_bytes, addressed, NULL);
    rp_schedule_keep_all(&p, &s);
    uint64_t bytes = g->fixed_bytes + rp_schedule_cost(&p, &s).peak_bytes;
    rp_schedule_fini(&s);
    rp_problem_fini(&p);
    return bytes;
}

static bool stopped(const struct solving *w) {
    return (w->o->stop != NULL && *w->o->stop) || rp_seconds() > w->deadline;
}

static bool near_enough(const struct solving *w) {
    return w->found && (double)w->time_ns <= (double)w->bound_ns * (1 + w->o->gap);
}

/* The problem with what the options allow in it. */
static void set_problem(const struct solving *w, struct rp_problem *p, uint64_t budget) {
    rp_problem_init(p, w->g, budget, w->o->addressed, w->order);
    if (w->o->swap)
        rp_problem_allow_swap(p, w->o->host_bytes);
    for (uint32_t i = 0; i < p->n_ops && !w->o->recompute; i++)
        p->recompute[i] = false;
}

/* ---- when nothing fits ---- */

static rp_rc say_floor(struct solving *w, uint64_t floor_bytes, uint32_t op) {
    char *reason = w->report->reason;
    size_t size = sizeof w->report->reason;
    if (op == RP_NONE)
        snprintf(reason, size,
                 "the tensors to be kept and the sources take %" PRIu64
                 " bytes together, more than the budget of %" PRIu64,
                 floor_bytes, w->o->budget_bytes);
    else
        snprintf(
            reason, size,
            "op %" PRIu32 " \"%.80s\" alone needs %" PRIu64
            " bytes (its inputs, outputs, workspace, what cannot be made again, and the "
            "sources), more than the budget of %" PRIu64,
            op, w->g->ops[op].name, floor_bytes, w->o->budget_bytes);
    return RP_NO;
}

/* The floor, and whether the budget is at least that. */
static rp_rc test_floor(struct solving *w) {
    uint32_t op;
    uint64_t fixed = w->g->fixed_bytes;
    struct rp_problem p;
    set_problem(w, &p, fixed);
    /* How long what runs once has to stay depends on the order. */
    for (uint32_t i = 0; i < p.n_ops && w->o->reorder; i++)
        p.recompute[i] = true;
    w->report->floor_bytes = fixed + rp_problem_floor(&p, &op);
    w->report->floor_op = op == RP_NONE ? RP_NONE : p.op_of[op];
    rp_problem_fini(&p);
    if (w->o->budget_bytes < w->report->floor_bytes)
        return say_floor(w, w->report->floor_bytes, w->report->floor_op);
    return RP_OK;
}

static rp_rc say_none_found(struct solving *w, const struct rp_schedule *least) {
    if (w->proved) {
        snprintf(w->report->reason, sizeof w->report->reason,
                 "proved that no plan fits in %" PRIu64 " bytes in this order of ops",
                 w->o->budget_bytes);
        return RP_NO;
    }
    struct rp_cost c = rp_schedule_cost(&w->p, least);
    w->report->least_bytes = w->g->fixed_bytes + c.peak_bytes;
    snprintf(w->report->reason, sizeof w->report->reason,
             "no plan found within %" PRIu64 " bytes; the least that one was found for is "
             "%" PRIu64 ", where op %" PRIu32 " \"%.80s\" binds; no plan fits in less than "
             "%" PRIu64,
             w->o->budget_bytes, w->report->least_bytes, w->p.op_of[c.peak_op],
             w->g->ops[w->p.op_of[c.peak_op]].name, w->report->floor_bytes);
    return RP_LIMIT;
}

/* ---- the exact method, in its own process ---- */

/* Takes what the exact method has to say, waiting at most `seconds`. */
static void hear_tree(struct solving *w, double seconds) {
    struct rp_milp_result r;
    if (!w->awaited)
        return;
    enum rp_milp_status status = rp_milp_wait(w->milp, seconds, &r);
    if (status == RP_MILP_DEADLINE)
        return;
    w->awaited = false;
    if (status == RP_MILP_DEAD) {
        rp_log(0, "the exact method's process ended early; going on without it");
        rp_milp_end(w->milp);
        w->milp = NULL;
        return;
    }
    if (r.state.found && (!w->found || r.state.time_ns <= w->time_ns)) {
        rp_schedule_copy(&w->best, r.schedule);
        w->time_ns = r.state.time_ns;
        w->found = true;
    }
    if (r.state.bound_ns != UINT64_MAX && r.state.bound_ns > w->bound_ns)
        w->bound_ns = r.state.bound_ns;
    w->proved = status == RP_MILP_FINISHED && r.state.status != RP_TREE_FAILED;
    w->report->tree = r.state;
    rp_log(1,
           "tree: %" PRIu32 " rows, %" PRIu32 " columns, %" PRIu64 " cuts, %" PRIu64
           " nodes, %" PRIu64 " pivots, bound %" PRIu64,
           r.state.n_rows, r.state.n_cols, r.state.cuts, r.state.nodes, r.state.pivots,
           r.state.bound_ns);
}

static void ask_tree(struct solving *w, double work) {
    if (w->milp == NULL || w->proved)
        return;
    rp_milp_go(w->milp, (uint64_t)work + 1, w->found ? &w->best : NULL);
    w->awaited = true;
}

/* Waits for it. An interrupt or the deadline ends the wait. */
static void await_tree(struct solving *w) {
    while (w->awaited && !stopped(w))
        hear_tree(w, 0.2);
}

/* ---- the first-order bound, in a thread of its own ---- */

static void *bound_some(void *arg) {
    struct solving *w = arg;
    rp_bound_run(w->bound, w->bound_work, w->deadline, w->o->stop);
    return NULL;
}

/* With swaps it is for plans that are no slower than the best, so it waits for one. */
static void aim_bound(struct solving *w) {
    if (w->p.out_ns == NULL || !w->found || w->o->reorder)
        return;
    if (w->bound == NULL)
        w->bound = rp_bound_new(&w->p, w->time_ns);
    else
        rp_bound_tighten(w->bound, w->time_ns);
}

static void ask_bound(struct solving *w, double work) {
    aim_bound(w);
    w->bound_work = (uint64_t)(w->milp != NULL ? BESIDE_SHARE * work : work) + 1;
    w->bounding =
        w->bound != NULL && pthread_create(&w->bound_thread, NULL, bound_some, w) == 0;
}

static void await_bound(struct solving *w) {
    if (!w->bounding)
        return;
    pthread_join(w->bound_thread, NULL);
    w->bounding = false;
    uint64_t bound = rp_bound_ns(w->bound);
    w->bound_ns = bound > w->bound_ns ? bound : w->bound_ns;
    rp_log(1, "bound: %" PRIu64 " after %.1f s", w->bound_ns, rp_seconds() - w->begin);
}

/* ---- the schedule ---- */

/* Once the exact method has the answer, what the search finds no longer matters. */
static bool search_may_stop(void *arg) {
    struct solving *w = arg;
    hear_tree(w, 0);
    return w->proved || stopped(w);
}

/* One annealing run from `start`; keeps the better of its best and w->best. */
static void anneal(struct solving *w, const struct rp_problem *p, struct rp_schedule *start,
                   double work, double heat, uint64_t seed) {
    struct rp_search_result r;
    struct rp_search_options o = {.seed = seed,
                                  .work = (uint64_t)work,
                                  .stop = search_may_stop,
                                  .stop_arg = w,
                                  .start_heat = heat};
    rp_search(p, &o, start, &r);
    w->report->moves += r.moves;
    w->report->accepted += r.accepted;
    w->report->search_seconds += r.seconds;
    struct rp_cost c = rp_schedule_cost(&w->p, start);
    bool fits = c.sound && c.peak_bytes <= w->p.limit_bytes;
    if (fits && !w->proved && (!w->found || c.time_ns < w->time_ns)) {
        rp_schedule_copy(&w->best, start);
        w->time_ns = c.time_ns;
        w->found = true;
    }
    rp_log(1, "search: %.1f M moves in %.1f s, %s, time %" PRIu64, (double)r.moves / 1e6,
           r.seconds, fits ? "fits" : "over the limit", c.time_ns);
}

static void show_progress(const struct solving *w) {
    if (!w->found) {
        rp_progress("%.1f s: no plan yet", rp_seconds() - w->begin);
        return;
    }
    rp_progress("%.1f s: %s over keep-all, gap %s", rp_seconds() - w->begin,
                rp_show_percent(w->time_ns - w->g->total_time_ns, w->g->total_time_ns).s,
                rp_show_percent(w->time_ns - w->bound_ns, w->bound_ns).s);
}

/* How hot a run of that much work starts, as a share of the mean op time: with little work
 * for each op it has to be greedy. */
static double heat_for(const struct solving *w, double work) {
    double heat = work / (50e3 * (w->p.n_ops + 1.0));
    return heat < 0.01 ? 0.01 : heat > 6 ? 6 : heat;
}

/* The schedule of the start plan, which is the best so far if it fits. */
static void take_start(struct solving *w) {
    if (w->o->start == NULL)
        return;
    rp_schedule_empty(&w->p, &w->start);
    if (!rp_schedule_from_plan(&w->p, w->o->start, &w->start)) {
        rp_log(0, "the plan to start from is no schedule of this search; going on without");
        rp_schedule_fini(&w->start);
        return;
    }
    struct rp_cost c = rp_schedule_cost(&w->p, &w->start);
    w->found = c.peak_bytes <= w->p.limit_bytes &&
               (w->p.out_ns == NULL || c.host_bytes <= w->p.host_limit_bytes);
    if (!w->found)
        return;
    rp_schedule_copy(&w->best, &w->start);
    w->time_ns = c.time_ns;
}

/* A schedule made in one pass is better than none: at the limit, or somewhat below it, for
 * a stage may take more than the pass did. */
static void construct(struct solving *w, struct rp_schedule *scratch) {
    struct rp_problem p = w->p;
    for (int k = 0; k < 4 && !w->found && w->o->recompute && !stopped(w); k++) {
        p.out_ns = p.in_ns = NULL;
        bool made = rp_schedule_greedy(&p, scratch);
        struct rp_cost c = rp_schedule_cost(&w->p, scratch);
        w->found = made && c.peak_bytes <= w->p.limit_bytes;
        if (w->found) {
            rp_schedule_copy(&w->best, scratch);
            w->time_ns = c.time_ns;
            rp_log(1, "one pass: time %" PRIu64, w->time_ns);
        }
        p.limit_bytes -= p.limit_bytes / 32;
    }
}

/* What round k of the search begins with. */
static void begin_round(struct solving *w, uint64_t k, bool last,
                        struct rp_schedule *scratch) {
    if (last && w->found) {
        rp_schedule_copy(scratch, &w->best);
    } else if (k == 0 && w->start.rows != NULL) {
        rp_schedule_copy(scratch, &w->start);
    } else {
        rp_schedule_fini(scratch);
        rp_schedule_keep_all(&w->p, scratch);
    }
}

/* Runs from keep-all, the first one from `scratch`, each followed by a cool one from where
 * it ended, as many as the work allows: long runs of one graph all tend to end in the same
 * place. */
static void anneal_again(struct solving *w, const struct rp_problem *p,
                         struct rp_schedule *scratch, double work, uint64_t seed) {
    bool swap = p->out_ns != NULL;
    double n = floor(work / ((swap ? SWAP_RUN_WORK : RUN_WORK) * (w->p.n_ops + 1.0)));
    n = n < 1 ? 1 : n > MOST_RUNS ? MOST_RUNS : n;
    double slice = work / n;
    for (uint64_t k = 0; k < (uint64_t)n && !w->proved && !stopped(w); k++) {
        if (k > 0) {
            rp_schedule_fini(scratch);
            rp_schedule_keep_all(&w->p, scratch);
        }
        double heat = heat_for(w, 0.7 * slice);
        if (swap && n >= N_HEATS)
            heat = fmin(heat * heats[k % N_HEATS], MOST_HEAT);
        anneal(w, p, scratch, 0.7 * slice, heat, seed + 16 * k);
        anneal(w, p, scratch, 0.3 * slice, 0.1 * heat_for(w, slice), seed + 16 * k + 8);
    }
}

/* A round of search: its share of the work, and what may be done. */
struct round {
    double share;
    bool recompute, swap;
};

/* Short rounds for an early plan, a long one of several runs, and a cool one from the best.
 */
static const struct round without_swaps[] = {
    {0.003, true, false}, {0.025, true, false}, {0.1, true, false},
    {0.672, true, false}, {0.2, true, false},
};
/* Recomputation alone and swaps alone have their turns: a plan with both is never worse. */
static const struct round with_swaps[] = {
    {0.003, true, true}, {0.02, true, true},  {0.1, true, false}, {0.03, false, true},
    {0.1, true, true},   {0.547, true, true}, {0.2, true, true},
};

/* The problem as a round sees it; what it points to stays w->p's. */
static struct rp_problem restrict_problem(const struct solving *w, const struct round *r) {
    struct rp_problem p = w->p;
    if (!r->swap)
        p.out_ns = p.in_ns = NULL;
    if (!r->recompute)
        p.recompute = w->never;
    return p;
}

/* The rounds, each beside the exact method with the same share of its work. They exchange
 * what they found between the rounds only. */
static void search_rounds(struct solving *w, struct rp_schedule *scratch) {
    bool swap = w->p.out_ns != NULL;
    const struct round *rounds = swap ? with_swaps : without_swaps;
    size_t n =
        swap ? sizeof with_swaps / sizeof *rounds : sizeof without_swaps / sizeof *rounds;
    double seconds = w->share * w->o->time_limit * (w->o->addressed ? SCHEDULE_SHARE : 1);
    double work = fmin(seconds * SEARCH_WORK, MOST_WORK * (w->p.n_ops + 1.0));
    for (size_t k = 0; k < n && !w->proved && !stopped(w) && !near_enough(w); k++) {
        const struct round *r = &rounds[k];
        struct rp_problem p = restrict_problem(w, r);
        bool last = k + 1 == n;
        begin_round(w, k, last, scratch);
        ask_tree(w, r->share * seconds * TREE_WORK);
        ask_bound(w, r->share * seconds * BOUND_WORK);
        if (last && w->found)
            anneal(w, &p, scratch, r->share * work, 0.05 * heat_for(w, r->share * work),
                   w->o->seed + k);
        else
            anneal_again(w, &p, scratch, r->share * work, w->o->seed + k);
        await_tree(w);
        await_bound(w);
        show_progress(w);
    }
    w->report->capped = w->report->capped || stopped(w);
}

/* ---- another order ---- */

static bool order_may_stop(void *arg) {
    return stopped(arg);
}

/* Looks for an order in which keep-all overflows less. False if there is none. */
static bool find_order(struct solving *w) {
    uint32_t *order = rp_calloc(w->p.n_ops, sizeof *order);
    struct rp_order_options o = {
        .seed = w->o->seed,
        .work = (uint64_t)fmin(ORDER_SHARE * w->o->time_limit * ORDER_WORK,
                               MOST_ORDER_WORK * (w->p.n_ops + 1.0)),
        .stop = order_may_stop,
        .stop_arg = w};
    bool better = rp_order_search(&w->p, &o, order);
    if (better)
        w->order = order;
    else
        free(order);
    return better;
}

static void exchange_orders(struct solving *w, struct solving *other) {
    struct solving held = *w;
    w->p = other->p;
    w->best = other->best;
    w->start = other->start;
    w->found = other->found;
    w->time_ns = other->time_ns;
    other->p = held.p;
    other->best = held.best;
    other->start = held.start;
    other->found = held.found;
    other->time_ns = held.time_ns;
}

/* Searches in another order as well, and leaves the better of the two results. Nothing that
 * is proved for one order is true for all. */
static void search_orders(struct solving *w, struct rp_schedule *scratch) {
    bool better = find_order(w);
    struct solving given = *w;
    w->share = better ? (1 - ORDER_SHARE) / 2 : 1 - ORDER_SHARE;
    if (better) {
        set_problem(w, &w->p, w->o->budget_bytes);
        rp_schedule_keep_all(&w->p, &w->best);
        w->start = (struct rp_schedule){0};
        struct rp_cost c = rp_schedule_cost(&w->p, &w->best);
        w->found = c.peak_bytes <= w->p.limit_bytes;
        w->time_ns = c.time_ns;
        search_rounds(w, scratch);
        if (!near_enough(w))
            exchange_orders(w, &given);
    }
    if (!near_enough(w))
        search_rounds(w, scratch);
    if (better && given.found && (!w->found || given.time_ns < w->time_ns))
        exchange_orders(w, &given);
    if (better) {
        rp_problem_fini(&given.p);
        rp_schedule_fini(&given.best);
        rp_schedule_fini(&given.start);
    }
}

/* ---- the plan ---- */

static void write_notes(const struct solving *w, struct rp_plan *plan) {
    plan->notes = json_pack("{s:s, s:s, s:f, s:I, s:b}", "program", "remat-plan", "method",
                            w->time_ns == w->g->total_time_ns ? "keep-all"
                            : rp_schedule_swaps(&w->best)     ? "annealing over S and I"
                                                              : "annealing over S",
                            "time_limit", w->o->time_limit, "seed", (json_int_t)w->o->seed,
                            "capped", (int)w->report->capped);
}

static void make_steps(const struct solving *w, struct rp_plan *plan, uint64_t capacity) {
    rp_plan_fini(plan);
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    plan->budget_bytes = w->o->budget_bytes;
    rp_schedule_steps(&w->p, &w->best, plan);
    if (w->o->addressed)
        rp_plan_place(w->g, plan, capacity, (uint64_t)(w->o->time_limit * PACK_WORK));
}

/* Packs; while the arena is too large, tightens the limit by what is missing, and somewhat
 * more each time, and searches a little from the best schedule. */
static rp_rc fit_addresses(struct solving *w, struct rp_plan *plan,
                           struct rp_schedule *scratch) {
    uint64_t limit = w->p.limit_bytes;
    double work = 0.04 * w->o->time_limit * SEARCH_WORK;
    w->deadline = w->end;
    for (uint64_t k = 0;; k++) {
        make_steps(w, plan, limit);
        if (!w->o->addressed || plan->arena_bytes <= limit)
            return RP_OK;
        uint64_t missing = plan->arena_bytes - limit;
        if (k == 0)
            w->report->missing_bytes = missing;
        rp_log(1, "packing misses %" PRIu64 " bytes: tightening the schedule", missing);
        missing += missing / 4 * k;
        if (k == N_TIGHTEN || missing >= w->p.limit_bytes || stopped(w))
            break;
        w->p.limit_bytes -= missing;
        w->found = w->proved = false;
        rp_schedule_copy(scratch, &w->best);
        anneal(w, &w->p, scratch, work, 0.1 * heat_for(w, work), w->o->seed + k);
        if (!w->found)
            construct(w, scratch);
        if (!w->found) {
            rp_schedule_fini(scratch);
            rp_schedule_keep_all(&w->p, scratch);
            anneal(w, &w->p, scratch, 2 * work, heat_for(w, 2 * work), w->o->seed + k);
        }
        if (!w->found)
            break;
    }
    w->report->capped = w->report->capped || stopped(w);
    snprintf(w->report->reason, sizeof w->report->reason,
             "schedules within %" PRIu64 " bytes were found, but no addresses for them",
             w->o->budget_bytes);
    return RP_LIMIT;
}

static rp_rc find_schedule(struct solving *w, struct rp_schedule *scratch) {
    struct rp_cost c = rp_schedule_cost(&w->p, &w->best);
    w->report->keep_all_bytes = w->g->fixed_bytes + c.peak_bytes;
    w->time_ns = w->bound_ns = w->g->total_time_ns;
    w->found = c.peak_bytes <= w->p.limit_bytes;
    if (w->found)
        return RP_OK;
    if (!w->o->recompute && w->p.out_ns == NULL && !w->o->reorder) {
        w->report->least_bytes = w->report->keep_all_bytes;
        snprintf(w->report->reason, sizeof w->report->reason,
                 "without recomputation the step needs %" PRIu64
                 " bytes, more than the budget of %" PRIu64,
                 w->report->keep_all_bytes, w->o->budget_bytes);
        return RP_NO;
    }
    /* The exact method knows of no swaps. */
    if (w->p.out_ns == NULL && w->p.n_ops <= TREE_OPS && !w->o->reorder) {
        struct rp_tree_options tree = {.gap = w->o->gap};
        w->milp = rp_milp_start(&w->p, &tree);
    }
    if (w->p.out_ns == NULL && w->p.n_ops > BOUND_OPS && !w->o->reorder)
        w->bound = rp_bound_new(&w->p, 0);
    rp_schedule_copy(scratch, &w->best);
    take_start(w);
    w->share = 1;
    construct(w, scratch);
    if (w->o->reorder)
        search_orders(w, scratch);
    else
        search_rounds(w, scratch);
    rp_milp_end(w->milp);
    w->milp = NULL;
    w->awaited = false;
    return w->found ? RP_OK : say_none_found(w, scratch);
}

/* The start plan as it is, as `plan`: true if the options allow it and it fits. */
static bool restate_start(struct solving *w, struct rp_plan *plan) {
    struct rp_err ignored = {{0}};
    const struct rp_plan *start = w->o->start;
    bool addressed = w->o->addressed;
    for (size_t i = 0; i < start->steps.n; i++)
        if (start->steps.at[i].kind == RP_SWAP_OUT && !w->o->swap)
            return false;
    if (!w->o->recompute && start->claims.recompute_ns > 0)
        return false;
    rp_plan_restate(start, addressed && start->addressed, w->o->budget_bytes, plan);
    uint64_t limit = w->o->budget_bytes - w->g->fixed_bytes;
    if (addressed && !start->addressed)
        rp_plan_place(w->g, plan, limit, (uint64_t)(w->o->time_limit * PACK_WORK));
    return rp_plan_claim(w->g, plan, &ignored) == RP_OK && plan->arena_bytes <= limit &&
           plan->host_bytes <= w->o->host_bytes;
}

/* The result is never slower than a start plan that fits. */
static rp_rc prefer_start(struct solving *w, rp_rc rc, struct rp_plan *plan) {
    struct rp_plan same;
    if (w->o->start == NULL || (rc != RP_OK && rc != RP_LIMIT && rc != RP_NO) ||
        (rc == RP_OK && plan->claims.time_ns <= w->o->start->claims.time_ns))
        return rc;
    if (!restate_start(w, &same)) {
        rp_plan_fini(&same);
        return rc;
    }
    rp_plan_fini(plan);
    *plan = same;
    w->time_ns = plan->claims.time_ns;
    if (w->bound_ns > w->time_ns) /* it runs an op twice in a stage: no schedule does */
        w->bound_ns = w->g->total_time_ns;
    return RP_OK;
}

/* The exact method leaves no rows behind: then the first-order method looks for some. */
static rp_rc certify(struct solving *w, struct rp_err *err) {
    unsigned scale_log2;
    if (w->o->certificate == NULL)
        return RP_OK;
    if (w->bound == NULL) {
        w->bound = rp_bound_new(&w->p, w->p.out_ns != NULL ? w->time_ns : 0);
        if (w->time_ns > w->g->total_time_ns)
            rp_bound_run(w->bound,
                         (uint64_t)(CERTIFY_SHARE * w->o->time_limit * BOUND_WORK),
                         INFINITY, w->o->stop);
    }
    const int64_t *m = rp_bound_multipliers(w->bound, &scale_log2);
    const struct rp_form *f = rp_bound_form(w->bound);
    struct rp_form any = {0}; /* where there are no rows */
    if (f == NULL)
        rp_form_init(&any, &w->p, &(struct rp_form_options){0});
    rp_rc rc = rp_certificate_save(
        w->o->certificate, w->g, f != NULL ? f : &any, w->o->addressed, w->o->budget_bytes,
        rp_bound_rows(w->bound), m, scale_log2, rp_bound_most_ns(w->bound), err);
    rp_form_fini(&any);
    return rc;
}

rp_rc rp_solve(const struct rp_graph *g, const struct rp_solve_options *o,
               struct rp_plan *plan, struct rp_solve_report *report, struct rp_err *err) {
    struct solving w = {.g = g, .o = o, .report = report, .begin = rp_seconds()};
    struct rp_schedule scratch = {0};
    *report = (struct rp_solve_report){.floor_op = RP_NONE};
    *plan = (struct rp_plan){0};
    w.end = o->ignore_clock ? INFINITY : w.begin + o->time_limit;
    w.deadline = w.begin + (w.end - w.begin) * (o->addressed ? SCHEDULE_SHARE : 1);
    rp_rc rc = test_floor(&w);
    if (rc != RP_OK)
        return rc;
    assert(!o->reorder || o->certificate == NULL);
    set_problem(&w, &w.p, o->budget_bytes);
    rp_schedule_keep_all(&w.p, &w.best);
    rp_schedule_empty(&w.p, &scratch);
    w.never = rp_calloc(g->n_ops, sizeof *w.never);
    rc = find_schedule(&w, &scratch);
    if (rc == RP_OK)
        rc = certify(&w, err);
    if (rc == RP_OK)
        rc = fit_addresses(&w, plan, &scratch);
    if (rc == RP_OK)
        rc = rp_plan_claim(g, plan, err);
    rc = prefer_start(&w, rc, plan);
    if (rc == RP_OK) {
        plan->claims.lower_bound_ns = w.bound_ns;
        plan->claims.proof = plan->claims.time_ns == w.bound_ns ? RP_PROOF_OPTIMAL
                             : w.bound_ns > g->total_time_ns    ? RP_PROOF_BOUNDED
                                                                : RP_PROOF_NONE;
        write_notes(&w, plan);
    } else {
        rp_plan_fini(plan);
    }
    rp_bound_free(w.bound);
    rp_schedule_fini(&w.best);
    rp_schedule_fini(&w.start);
    rp_schedule_fini(&scratch);
    rp_problem_fini(&w.p);
    free(w.never);
    free(w.order);
    return rc;
}
