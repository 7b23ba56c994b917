#include "solve/portfolio.h"

#include <inttypes.h>
#include <math.h>

#include "base/format.h"
#include "base/log.h"
#include "base/mem.h"
#include "solve/background.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/core/temperature.h"
#include "solve/core/warm_start.h"
#include "solve/exhaustive/astar.h"
#include "solve/incumbent.h"
#include "solve/local/anneal.h"
#include "solve/local/greedy.h"
#include "solve/local/offload_all.h"
#include "solve/mip/crossover.h"

/* A turn: its share of the work, its method, and what may be done in it. */
struct turn {
    double share;
    enum rp_method method;
    bool recompute, swap;
    double temperature; /* RP_POLISH: times the usual first one */
};

/* A turn under way. */
struct job {
    const struct turn *turn;
    uint64_t k;                  /* which turn it is, from 0; seeds depend on it */
    const struct rp_instance *p; /* the instance as the turn restricts it */
    double work;                 /* in the unit of the method */
    struct rp_schedule *scratch;
};

/* ---- annealing ---- */

/* Once branch and cut has the answer, what the search finds no longer matters. */
static bool stop_annealing(void *arg) {
    struct rp_context *w = arg;
    rp_mip_poll(w, 0);
    return w->proved || rp_context_stopped(w);
}

void rp_portfolio_anneal(struct rp_context *w, const struct rp_instance *p,
                         struct rp_schedule *start, double work, double temperature,
                         uint64_t seed, enum rp_method method) {
    struct rp_statistics *s = &w->statistics;
    struct rp_anneal_result r;
    struct rp_anneal_options o = {.seed = seed,
                                  .work = (uint64_t)work,
                                  .stop = stop_annealing,
                                  .stop_arg = w,
                                  .initial_temperature = temperature};
    rp_anneal(p, &o, start, &r);
    w->report->moves += r.moves;
    rp_anneal_statistics_add(&s->anneal, &r.statistics);
    s->method[method].calls++;
    s->method[method].work += o.work;
    s->method[method].seconds += r.seconds;
    rp_incumbent_offer(w, start, method);
}

/* Adds the result of a run to the pool, for crossover. */
static void add_to_pool(struct rp_context *w, const struct rp_instance *p,
                        const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(&w->p, s);
    if (p->out_ns == NULL && c.sound && c.peak_bytes <= w->p.limit_bytes)
        rp_solution_pool_add(&w->pool, s, c.time_ns);
}

static void restart_from_keep_all(struct rp_context *w, struct rp_schedule *s) {
    rp_schedule_fini(s);
    rp_schedule_keep_all(&w->p, s);
}

/* With swaps, runs differ in their first temperature: a step of a few large ops, such as
 * U-Net's, wants it 16 times as high as one of many small ops, such as ResNet's. */
static double run_temperature(const struct rp_context *w, bool swap, double work,
                              double n_runs, uint64_t k) {
    static const double factors[] = {1, 4, 16}, max_temperature = 16;
    enum { N_FACTORS = sizeof factors / sizeof *factors };
    double temperature = rp_initial_temperature(w->p.n_ops, work);
    if (!swap || n_runs < N_FACTORS)
        return temperature;
    return fmin(temperature * factors[k % N_FACTORS], max_temperature);
}

/* As many runs from keep-all as the work allows, each followed by a cooler one from where
 * it ended. Several runs find more than one long one, which tends to end in the same place
 * whatever the seed. The first run of the first turn starts from the warm start. */
static void anneal(struct rp_context *w, const struct job *j) {
    bool swap = j->p->out_ns != NULL;
    double run_work = (swap ? SWAP_RUN_WORK_PER_OP : RUN_WORK_PER_OP) * (w->p.n_ops + 1.0);
    double n = fmin(fmax(floor(j->work / run_work), 1), MAX_RUNS_PER_TURN);
    double slice = j->work / n;
    if (j->k == 0 && w->start.rows != NULL)
        rp_schedule_copy(j->scratch, &w->start);
    else
        restart_from_keep_all(w, j->scratch);
    for (uint64_t k = 0; k < (uint64_t)n && !w->proved && !rp_context_stopped(w); k++) {
        uint64_t seed = w->o->seed + j->k + 16 * k;
        if (k > 0)
            restart_from_keep_all(w, j->scratch);
        rp_portfolio_anneal(w, j->p, j->scratch, 0.7 * slice,
                            run_temperature(w, swap, 0.7 * slice, n, k), seed, RP_ANNEAL);
        rp_portfolio_anneal(w, j->p, j->scratch, 0.3 * slice,
                            0.1 * rp_initial_temperature(w->p.n_ops, slice), seed + 8,
                            RP_ANNEAL);
        add_to_pool(w, j->p, j->scratch);
    }
}

/* One cool run from the incumbent. */
static void polish(struct rp_context *w, const struct job *j) {
    rp_schedule_copy(j->scratch, &w->incumbent.s);
    rp_portfolio_anneal(w, j->p, j->scratch, j->work,
                        j->turn->temperature * rp_initial_temperature(w->p.n_ops, j->work),
                        w->o->seed + j->k, RP_POLISH);
}

/* ---- other searches ---- */

static void cross(struct rp_context *w, const struct job *j) {
    struct rp_method_statistics *s = &w->statistics.method[RP_CROSSOVER];
    struct rp_crossover_options o = {
        .work = (uint64_t)j->work + 1, .stop = rp_context_stop, .stop_arg = w};
    double begin = rp_seconds();
    rp_crossover(&w->p, &o, &w->pool, &w->statistics.crossover);
    s->seconds += rp_seconds() - begin;
    s->work += o.work;
    s->calls++;
    if (w->pool.n > 0)
        rp_incumbent_offer(w, &w->pool.at[0].s, RP_CROSSOVER);
}

bool rp_portfolio_warm_start(struct rp_context *w, const struct rp_plan *plan) {
    w->statistics.method[RP_WARM_START].calls++;
    rp_schedule_empty(&w->p, &w->start);
    if (!rp_schedule_from_plan(&w->p, plan, &w->start)) {
        rp_schedule_fini(&w->start);
        return false;
    }
    rp_incumbent_offer(w, &w->start, RP_WARM_START);
    return true;
}

/* Tries the limit, then lower ones, since a stage may need more memory than the pass
 * counted. */
static void construct_greedily(struct rp_context *w, struct rp_schedule *scratch) {
    enum { MAX_PASSES = 4 };
    struct rp_instance p = w->p;
    p.out_ns = p.in_ns = NULL;
    for (int k = 0; k < MAX_PASSES && !w->incumbent.found && !rp_context_stopped(w); k++) {
        w->statistics.method[RP_GREEDY].calls++;
        if (rp_schedule_greedy(&p, &w->stop, scratch))
            rp_incumbent_offer(w, scratch, RP_GREEDY);
        p.limit_bytes -= p.limit_bytes / 32;
    }
}

/* If every tensor is on the host between its uses, the schedule fits nearly every limit
 * above the floor. */
static void construct_by_offloading(struct rp_context *w, struct rp_schedule *scratch) {
    for (int early = 1; early >= 0 && !w->incumbent.found && !rp_context_stopped(w);
         early--) {
        w->statistics.method[RP_OFFLOAD_ALL].calls++;
        rp_schedule_offload_all(&w->p, early, scratch);
        rp_incumbent_offer(w, scratch, RP_OFFLOAD_ALL);
    }
}

/* On small graphs, searches for plans that no schedule can represent. They may be faster
 * than all schedules. */
static rp_rc search_sequences(struct rp_context *w, struct rp_err *err) {
    static const uint64_t max_ns = (uint64_t)1 << 61; /* longer plans are of no interest */
    struct rp_method_statistics *s = &w->statistics.method[RP_ASTAR];
    uint64_t below_ns = w->incumbent.found ? w->incumbent.time_ns : max_ns;
    struct rp_plan *plan = &w->sequence;
    struct rp_astar_result r;
    if (!rp_astar_accepts(&w->p) || below_ns > max_ns || below_ns == w->g->total_time_ns)
        return RP_OK;
    double states = fmax(w->o->time_limit * ASTAR_STATES_PER_S, 1);
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    double begin = rp_seconds();
    rp_astar_search(&w->p, below_ns, (uint32_t)fmin(states, MAX_ASTAR_STATES), &w->stop, &r,
                    plan);
    w->report->capped = w->report->capped || w->stop.hit;
    s->seconds += rp_seconds() - begin;
    s->work += r.statistics.states_added;
    s->calls++;
    s->bounds += r.bound_ns > w->bound_ns;
    s->bound_ns = r.bound_ns;
    w->statistics.astar = r.statistics;
    rp_log(1, "A*: %s, bound %" PRIu64 " ns", r.found ? "a faster plan" : "no faster plan",
           r.bound_ns);
    /* A bound that was proved for schedules only may be above this one. Then it does not
     * hold for other step sequences. */
    w->all_sequences = r.found || r.bound_ns >= below_ns;
    if (w->all_sequences || r.bound_ns > w->bound_ns)
        w->bound_ns = r.bound_ns;
    return rp_plan_fill_claims(w->g, plan, err);
}

/* ---- the table of methods ---- */

enum instances { WITHOUT_SWAPS = 1, WITH_SWAPS = 2, ANY_INSTANCE = 3 };

/* The functions of a row say what kind of method it is. `construct` makes a first schedule
 * in one pass, `search` takes a turn, `begin`, `submit` and `wait` work beside the turns,
 * and `finish` comes after them. */
struct method {
    enum rp_method id;
    /* When it may run. */
    enum instances instances;
    uint32_t min_ops, max_ops; /* max_ops 0: any */
    bool given_order;          /* not if another order of first runs is searched */
    bool recomputes;           /* not if no op may run again */
    bool needs_incumbent;
    bool unless_mip; /* not if branch and cut solves the whole instance */
    bool alone;      /* nothing works beside its turns */
    /* For all turns together: per second of time limit, and at most per op (0: any). */
    double work_per_s, max_work_per_op;

    void (*construct)(struct rp_context *, struct rp_schedule *);
    void (*search)(struct rp_context *, const struct job *);
    void (*begin)(struct rp_context *);
    void (*submit)(struct rp_context *, double work);
    void (*wait)(struct rp_context *);
    rp_rc (*finish)(struct rp_context *, struct rp_err *);
};

static const struct method methods[] = {
    {RP_GREEDY, ANY_INSTANCE, .recomputes = true, .construct = construct_greedily},
    {RP_OFFLOAD_ALL, WITH_SWAPS, .construct = construct_by_offloading},
    {RP_ANNEAL, ANY_INSTANCE, .work_per_s = ANNEAL_WORK_PER_S,
     .max_work_per_op = MAX_ANNEAL_WORK_PER_OP, .search = anneal},
    {RP_POLISH, ANY_INSTANCE, .needs_incumbent = true, .work_per_s = ANNEAL_WORK_PER_S,
     .max_work_per_op = MAX_ANNEAL_WORK_PER_OP, .search = polish},
    {RP_CROSSOVER, WITHOUT_SWAPS, .max_ops = MAX_CROSSOVER_OPS, .unless_mip = true,
     .alone = true, .work_per_s = MIP_WORK_PER_S, .search = cross},
    {RP_BRANCH_CUT, WITHOUT_SWAPS, .max_ops = MAX_MIP_OPS, .given_order = true,
     .work_per_s = MIP_WORK_PER_S, .begin = rp_mip_begin, .submit = rp_mip_submit,
     .wait = rp_mip_wait},
    {RP_PDHG, WITHOUT_SWAPS, .min_ops = MIN_PDHG_OPS, .given_order = true,
     .work_per_s = PDHG_WORK_PER_S, .begin = rp_bound_begin, .submit = rp_bound_submit,
     .wait = rp_bound_wait},
    {RP_PDHG, WITH_SWAPS, .given_order = true, .needs_incumbent = true,
     .work_per_s = PDHG_WORK_PER_S, .submit = rp_bound_submit, .wait = rp_bound_wait},
    {RP_ASTAR, ANY_INSTANCE, .max_ops = RP_ASTAR_MAX_OPS, .given_order = true,
     .finish = search_sequences},
};
enum { N_ROWS = sizeof methods / sizeof *methods };

static bool may_run(const struct rp_context *w, const struct method *m) {
    enum instances here = w->p.out_ns != NULL ? WITH_SWAPS : WITHOUT_SWAPS;
    return (m->instances & here) != 0 && w->p.n_ops >= m->min_ops &&
           (m->max_ops == 0 || w->p.n_ops <= m->max_ops) &&
           !(m->given_order && w->o->reorder) && !(m->recomputes && !w->o->recompute) &&
           !(m->needs_incumbent && !w->incumbent.found) &&
           !(m->unless_mip && w->mip != NULL);
}

/* The search of this turn. If it may not run, annealing takes its place. */
static const struct method *choose_search(const struct rp_context *w,
                                          const struct turn *t) {
    const struct method *annealing = NULL;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (methods[i].id == t->method && may_run(w, &methods[i]))
            return &methods[i];
        if (methods[i].id == RP_ANNEAL)
            annealing = &methods[i];
    }
    return annealing;
}

/* ---- turns ---- */

/* Short turns give an early plan. Then come a long turn of several runs, crossover of their
 * results, and a cool run from the incumbent. */
static const struct turn without_swaps[] = {
    {0.003, RP_ANNEAL, true, false},   {0.025, RP_ANNEAL, true, false},
    {0.1, RP_ANNEAL, true, false},     {0.522, RP_ANNEAL, true, false},
    {0.25, RP_CROSSOVER, true, false}, {0.1, RP_POLISH, true, false, 0.05},
};
/* Recomputation alone and swaps alone have turns too, so that allowing both gives no worse
 * plan than allowing one. */
static const struct turn with_swaps[] = {
    {0.003, RP_ANNEAL, true, true},     {0.02, RP_ANNEAL, true, true},
    {0.1, RP_ANNEAL, true, false},      {0.03, RP_ANNEAL, false, true},
    {0.1, RP_ANNEAL, true, true},       {0.547, RP_ANNEAL, true, true},
    {0.2, RP_POLISH, true, true, 0.05},
};
/* A large graph with little work per op: each turn goes on from the incumbent. */
static const struct turn large[] = {
    {0.2, RP_POLISH, true, true, 0.1},
    {0.4, RP_POLISH, true, true, 0.1},
    {0.4, RP_POLISH, true, true, 0.1},
};
struct turns {
    const struct turn *at;
    size_t n;
};
#define TURNS(table) ((struct turns){table, sizeof(table) / sizeof *(table)})

/* The work of a method in one turn. */
static double work_of(const struct rp_context *w, const struct method *m, double share,
                      double seconds) {
    if (m->max_work_per_op == 0)
        return share * seconds * m->work_per_s;
    return share * fmin(seconds * m->work_per_s, m->max_work_per_op * (w->p.n_ops + 1.0));
}

static struct turns choose_turns(const struct rp_context *w, double seconds) {
    double work =
        fmin(seconds * ANNEAL_WORK_PER_S, MAX_ANNEAL_WORK_PER_OP * (w->p.n_ops + 1.0));
    if (w->p.n_ops >= MIN_LARGE_OPS && w->incumbent.found &&
        work < LARGE_WORK_PER_OP * (w->p.n_ops + 1.0))
        return TURNS(large);
    return w->p.out_ns != NULL ? TURNS(with_swaps) : TURNS(without_swaps);
}

/* The instance as a turn sees it. What it points to stays w->p's. */
static struct rp_instance restrict_instance(const struct rp_context *w,
                                            const struct turn *t) {
    struct rp_instance p = w->p;
    if (!t->swap)
        p.out_ns = p.in_ns = NULL;
    if (!t->recompute) {
        p.last_stage = w->own_stage;
        p.irreplaceable = w->all_irreplaceable;
    }
    return p;
}

static void show_progress(const struct rp_context *w) {
    uint64_t time_ns = w->incumbent.time_ns, keep_all_ns = w->g->total_time_ns;
    double seconds = rp_seconds() - w->begin;
    if (w->incumbent.found)
        rp_progress("%.1f s: %s over keep-all, gap %s", seconds,
                    rp_show_percent(time_ns - keep_all_ns, keep_all_ns).s,
                    rp_show_percent(time_ns - w->bound_ns, w->bound_ns).s);
    else
        rp_progress("%.1f s: no plan yet", seconds);
}

static void take_turn(struct rp_context *w, const struct turn *t, uint64_t k,
                      double seconds, struct rp_schedule *scratch) {
    const struct method *m = choose_search(w, t);
    struct rp_instance p = restrict_instance(w, t);
    struct job j = {t, k, &p, work_of(w, m, t->share, seconds), scratch};
    const struct method *beside[N_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < N_ROWS && !m->alone; i++)
        if (methods[i].submit != NULL && may_run(w, &methods[i]))
            beside[n++] = &methods[i];
    for (size_t i = 0; i < n; i++)
        beside[i]->submit(w, work_of(w, beside[i], t->share, seconds));
    m->search(w, &j);
    for (size_t i = 0; i < n; i++)
        beside[i]->wait(w);
    show_progress(w);
}

void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch) {
    double seconds = w->share * w->o->time_limit * (w->o->addressed ? SCHEDULE_SHARE : 1);
    struct turns turns = choose_turns(w, seconds);
    for (size_t k = 0;
         k < turns.n && !w->proved && !rp_context_stopped(w) && !rp_context_gap_reached(w);
         k++)
        take_turn(w, &turns.at[k], k, seconds, scratch);
    w->report->capped = w->report->capped || rp_context_stopped(w);
}

/* ---- before and after ---- */

void rp_portfolio_construct(struct rp_context *w, struct rp_schedule *scratch) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].construct != NULL && may_run(w, &methods[i]))
            methods[i].construct(w, scratch);
}

void rp_portfolio_begin(struct rp_context *w) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].begin != NULL && may_run(w, &methods[i]) && !rp_context_stopped(w))
            methods[i].begin(w);
}

rp_rc rp_portfolio_finish(struct rp_context *w, struct rp_err *err) {
    rp_rc rc = RP_OK;
    rp_mip_end(w);
    rp_stop_until(&w->stop,
                  fmax(w->stop.deadline, w->begin + FINISH_SHARE * (w->end - w->begin)));
    for (size_t i = 0; i < N_ROWS && rc == RP_OK; i++)
        if (methods[i].finish != NULL && may_run(w, &methods[i]))
            rc = methods[i].finish(w, err);
    return rc;
}
