#include "solve/context.h"

#include <inttypes.h>
#include <math.h>

#include "base/format.h"
#include "base/log.h"
#include "solve/core/warm_start.h"
#include "solve/local/anneal.h"
#include "solve/local/greedy.h"

/* What a run of the search may usefully work for each op, and how many are made at most. */
static const double RUN_WORK = 75e3;
enum { MAX_RUNS = 24 };
/* With swaps shorter runs do. They differ in how hot they start: a few large ops, as in
 * U-Net, want it 16 times as hot as the many small ones of ResNet. */
static const double SWAP_RUN_WORK = 60e3;
enum { N_HEATS = 3 };
static const double heats[N_HEATS] = {1, 4, 16};
static const double MAX_HEAT = 16;
/* The largest graph of which parts are handed to the exact method. */
enum { JOIN_OPS = 2000 };
/* Nor does the search as a whole gain from more than this for each op. */
static const double MAX_WORK = 3e6;

/* Once the exact method has the answer, what the search finds no longer matters. */
static bool search_may_stop(void *arg) {
    struct rp_context *w = arg;
    rp_mip_poll(w, 0);
    return w->proved || rp_context_stopped(w);
}

/* One annealing run from `start`; keeps the better of its best and w->best. */
void rp_portfolio_anneal(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *start, double work, double heat,
                         uint64_t seed) {
    struct rp_anneal_result r;
    struct rp_anneal_options o = {.seed = seed,
                                  .work = (uint64_t)work,
                                  .stop = search_may_stop,
                                  .stop_arg = w,
                                  .start_heat = heat};
    rp_anneal(p, &o, start, &r);
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

static void show_progress(const struct rp_context *w) {
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
double rp_initial_temperature(const struct rp_context *w, double work) {
    double heat = work / (50e3 * (w->p.n_ops + 1.0));
    return heat < 0.01 ? 0.01 : heat > 6 ? 6 : heat;
}

bool rp_portfolio_warm_start(struct rp_context *w, const struct rp_plan *plan) {
    rp_schedule_empty(&w->p, &w->start);
    if (!rp_schedule_from_plan(&w->p, plan, &w->start)) {
        rp_schedule_fini(&w->start);
        return false;
    }
    struct rp_cost c = rp_schedule_cost(&w->p, &w->start);
    bool fits = c.peak_bytes <= w->p.limit_bytes &&
                (w->p.out_ns == NULL || c.host_bytes <= w->p.host_limit_bytes);
    if (fits && (!w->found || c.time_ns < w->time_ns)) {
        rp_schedule_copy(&w->best, &w->start);
        w->time_ns = c.time_ns;
        w->found = true;
    }
    return true;
}

/* With swaps there is a schedule for nearly every limit above the floor. */
static void construct_by_swaps(struct rp_context *w, struct rp_schedule *scratch) {
    for (int early = 1; early >= 0 && !w->found && w->p.out_ns != NULL; early--) {
        rp_schedule_offload_all(&w->p, early, scratch);
        struct rp_cost c = rp_schedule_cost(&w->p, scratch);
        w->found = c.sound && c.peak_bytes <= w->p.limit_bytes &&
                   c.host_bytes <= w->p.host_limit_bytes;
        if (!w->found)
            continue;
        rp_schedule_copy(&w->best, scratch);
        w->time_ns = c.time_ns;
        rp_log(1, "by swaps alone: time %" PRIu64, w->time_ns);
    }
}

/* A schedule made in one pass is better than none: at the limit, or somewhat below it, for
 * a stage may take more than the pass did. */
void rp_portfolio_construct(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_instance p = w->p;
    for (int k = 0; k < 4 && !w->found && w->o->recompute && !rp_context_stopped(w); k++) {
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
    construct_by_swaps(w, scratch);
}

/* What round k of the search begins with. */
static void begin_round(struct rp_context *w, uint64_t k, bool last,
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

/* What a run ended with is there to be joined with others. */
static void keep_find(struct rp_context *w, const struct rp_instance *p,
                      const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(&w->p, s);
    if (p->out_ns == NULL && c.sound && c.peak_bytes <= w->p.limit_bytes)
        rp_solution_pool_add(&w->finds, s, c.time_ns);
}

/* Runs from keep-all, the first one from `scratch`, each followed by a cool one from where
 * it ended, as many as the work allows: long runs of one graph all tend to end in the same
 * place. */
static void anneal_again(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *scratch, double work, uint64_t seed) {
    bool swap = p->out_ns != NULL;
    double n = floor(work / ((swap ? SWAP_RUN_WORK : RUN_WORK) * (w->p.n_ops + 1.0)));
    n = n < 1 ? 1 : n > MAX_RUNS ? MAX_RUNS : n;
    double slice = work / n;
    for (uint64_t k = 0; k < (uint64_t)n && !w->proved && !rp_context_stopped(w); k++) {
        if (k > 0) {
            rp_schedule_fini(scratch);
            rp_schedule_keep_all(&w->p, scratch);
        }
        double heat = rp_initial_temperature(w, 0.7 * slice);
        if (swap && n >= N_HEATS)
            heat = fmin(heat * heats[k % N_HEATS], MAX_HEAT);
        rp_portfolio_anneal(w, p, scratch, 0.7 * slice, heat, seed + 16 * k);
        rp_portfolio_anneal(w, p, scratch, 0.3 * slice,
                            0.1 * rp_initial_temperature(w, slice), seed + 16 * k + 8);
        keep_find(w, p, scratch);
    }
}

/* A round of search: its share of the work, and what may be done. A round that joins hands
 * what all before it found to the exact method. */
struct round {
    double share;
    bool recompute, swap, join;
};

/* Short rounds for an early plan, a long one of several runs, and a cool one from the best.
 */
static const struct round without_swaps[] = {
    {0.003, true, false}, {0.025, true, false},      {0.1, true, false},
    {0.522, true, false}, {0.25, true, false, true}, {0.1, true, false},
};
/* Recomputation alone and swaps alone have their turns: a plan with both is never worse. */
static const struct round with_swaps[] = {
    {0.003, true, true}, {0.02, true, true},  {0.1, true, false}, {0.03, false, true},
    {0.1, true, true},   {0.547, true, true}, {0.2, true, true},
};

/* On a large graph with less work than this for each op annealing from keep-all does not
 * get far: once there is a plan, each round goes on from the best, rather cool. */
enum { LARGE_OPS = 2000 };
static const double LARGE_WORK = 100e3;
static const struct round from_the_best[] = {
    {0.2, true, true},
    {0.4, true, true},
    {0.4, true, true},
};

/* The problem as a round sees it; what it points to stays w->p's. */
static struct rp_instance restrict_problem(const struct rp_context *w,
                                           const struct round *r) {
    struct rp_instance p = w->p;
    if (!r->swap)
        p.out_ns = p.in_ns = NULL;
    if (!r->recompute)
        p.recompute = w->never;
    return p;
}

static bool joining_may_stop(void *arg) {
    return rp_context_stopped(arg);
}

/* Not where the exact method looks at everything, or parts are too large for it: then such
 * a round is one like the others. */
static bool may_join(const struct rp_context *w) {
    return w->milp == NULL && w->p.n_ops <= JOIN_OPS;
}

/* The best of what the runs found, part by part. */
static void join(struct rp_context *w, double work) {
    struct rp_crossover_options o = {
        .work = (uint64_t)work + 1, .stop = joining_may_stop, .stop_arg = w};
    rp_crossover(&w->p, &o, &w->finds);
    if (w->finds.n == 0 || (w->found && w->finds.at[0].time_ns >= w->time_ns))
        return;
    rp_schedule_copy(&w->best, &w->finds.at[0].s);
    w->time_ns = w->finds.at[0].time_ns;
}

/* The rounds, each beside the exact method with the same share of its work. They exchange
 * what they found between the rounds only. */
void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch) {
    bool swap = w->p.out_ns != NULL;
    const struct round *rounds = swap ? with_swaps : without_swaps;
    size_t n =
        swap ? sizeof with_swaps / sizeof *rounds : sizeof without_swaps / sizeof *rounds;
    double seconds = w->share * w->o->time_limit * (w->o->addressed ? SCHEDULE_SHARE : 1);
    double work = fmin(seconds * SEARCH_WORK, MAX_WORK * (w->p.n_ops + 1.0));
    bool large =
        w->p.n_ops > LARGE_OPS && w->found && work < LARGE_WORK * (w->p.n_ops + 1.0);
    if (large) {
        rounds = from_the_best;
        n = sizeof from_the_best / sizeof *from_the_best;
    }
    for (size_t k = 0;
         k < n && !w->proved && !rp_context_stopped(w) && !rp_context_gap_reached(w); k++) {
        const struct round *r = &rounds[k];
        struct rp_instance p = restrict_problem(w, r);
        bool last = large || k + 1 == n;
        if (r->join && may_join(w)) {
            join(w, r->share * seconds * TREE_WORK);
            continue;
        }
        begin_round(w, k, last, scratch);
        rp_mip_submit(w, r->share * seconds * TREE_WORK);
        rp_bound_submit(w, r->share * seconds * BOUND_WORK);
        if (last && w->found)
            rp_portfolio_anneal(w, &p, scratch, r->share * work,
                                (large ? 0.1 : 0.05) *
                                    rp_initial_temperature(w, r->share * work),
                                w->o->seed + k);
        else
            anneal_again(w, &p, scratch, r->share * work, w->o->seed + k);
        rp_mip_wait(w);
        rp_bound_wait(w);
        show_progress(w);
    }
    w->report->capped = w->report->capped || rp_context_stopped(w);
}
