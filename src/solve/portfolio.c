#include "solve/portfolio.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "model/timeline.h"
#include "solve/background.h"
#include "solve/core/params.h"
#include "solve/core/plan_claims.h"
#include "solve/core/temperature.h"
#include "solve/incumbent.h"
#include "solve/lns/large_neighborhood.h"
#include "solve/placement.h"
#include "solve/search/program_search.h"
#include "solve/search/run_annealing.h"

/* A turn under way. */
struct job {
    struct rp_context *w;
    const struct rp_turn *turn;
    struct rp_space *space;
    struct rp_schedule *scratch;
    double work;        /* in the unit of the method */
    double met;         /* seconds of the turn that the methods beside it have had */
    uint32_t questions; /* of annealing since the last meeting */
};

static void meet(struct job *j, double max_seconds);

/* ---- annealing ---- */

/* Asked after each RP_ANNEAL_QUESTION units of work. */
static bool stop_turn(void *arg, double best_ns) {
    struct job *j = arg;
    uint32_t interval = (uint32_t)(SLICE_SECONDS * ANNEAL_WORK_PER_S / RP_ANNEAL_QUESTION);
    struct rp_context *w = j->w;
    rp_interval_milp_poll(w);
    if (++j->questions % interval == 0 && j->met < j->turn->seconds)
        meet(j, SLICE_SECONDS);
    return j->space->solved || w->proved || rp_context_gap_allows(w, best_ns) ||
           rp_context_stopped(w);
}

/* Anneals the scratch schedule. `times` is what the first temperature is of the usual one.
 */
static void anneal_scratch(struct job *j, double work, double times, uint64_t seed,
                           enum rp_method method) {
    static const double max_temperature = 16;
    struct rp_context *w = j->w;
    double temperature =
        times * rp_initial_temperature(rp_share_of_run(&j->space->p, work));
    struct rp_anneal_options o = {.seed = w->o->seed + seed,
                                  .work = (uint64_t)work,
                                  .stop = stop_turn,
                                  .stop_arg = j,
                                  .initial_temperature =
                                      fmin(temperature, max_temperature)};
    rp_run_annealing(w, &j->space->p, &o, method, j->scratch);
}

/* One run from the scratch schedule, with a share of the turn's work. */
static void run(struct job *j, double share, double times, uint64_t seed) {
    anneal_scratch(j, share * j->work, times, seed, RP_ANNEAL);
    rp_incumbent_offer_in(j->w, j->turn->space, j->scratch, RP_ANNEAL);
}

/* Adds the result of a run to the pool that neighbourhoods descend from. */
static void add_to_pool(struct job *j) {
    struct rp_cost c = rp_schedule_cost(&j->space->p, j->scratch);
    if (j->turn->space == RP_WITHOUT_SWAPS && j->w->p.n_ops <= MAX_NEIGHBORHOOD_OPS &&
        rp_cost_fits(&j->w->p, &c))
        rp_solution_pool_add(&j->space->pool, j->scratch, c.time_ns);
}

/* With swaps, runs differ in their first temperature: a step of a few large ops, such as
 * U-Net's, wants it 16 times as high as one of many small ops, such as ResNet's. */
static double run_temperature(const struct job *j) {
    static const double times[] = {1, 4, 16};
    bool is_long = j->turn->round >= ROUNDS_TO_FULL_LENGTH;
    uint32_t n = j->turn->round - ROUNDS_TO_FULL_LENGTH;
    return j->space->p.out_ns != NULL && is_long ? times[n % 3] : 1;
}

/* The first temperature of a run of full length from the incumbent, as a share of the usual
 * one. With swaps it is about 1, 0.5 and 2 times the mean op time in turns, since which of
 * them finds more differs from graph to graph. */
static double reheat_temperature(const struct job *j) {
    static const double times[] = {0.25, 0.125, 0.5};
    bool may_swap = j->space->p.out_ns != NULL;
    return may_swap ? times[(j->turn->round - FIRST_REHEAT) / 2 % 3] : 0.3;
}

/* The first run of a space is from the warm start. A short run on a large graph is from the
 * incumbent: it would not get far from keep-all. Where sources may live on the host most
 * runs are. Returns the first temperature of the run, as a share of the usual one. */
static double choose_start(struct job *j) {
    static const double cool = 0.1;
    struct rp_context *w = j->w;
    struct rp_incumbent *best = rp_context_incumbent(w, j->turn->space);
    bool is_large = w->p.n_ops >= MIN_LARGE_OPS &&
                    rp_share_of_run(&j->space->p, j->work) < LONG_RUN_SHARE;
    bool from_best = best->found && j->turn->from_incumbent;
    bool is_short = best->found && (is_large || (from_best && w->p.n_homes > 0));
    if (j->space->warm) {
        j->space->warm = false;
        rp_schedule_copy(j->scratch, &w->start);
        return is_short ? cool : run_temperature(j);
    }
    if (is_short || from_best) {
        rp_schedule_copy(j->scratch, &best->s);
        return is_short ? cool : reheat_temperature(j);
    }
    rp_schedule_fini(j->scratch);
    rp_schedule_keep_all(&w->p, j->scratch);
    return run_temperature(j);
}

/* One run, and a cooler one from where it ended. Several such runs find more than one long
 * one, which tends to end in the same place whatever the seed. */
static void anneal(struct job *j) {
    double times = choose_start(j);
    uint64_t seed = 2 * SEEDS_APART * j->turn->k;
    run(j, 0.7, times, seed);
    if (!rp_context_stopped(j->w))
        run(j, 0.3, 0.1, seed + SEEDS_APART);
    add_to_pool(j);
}

/* ---- annealing from points of the linear program ---- */

/* The first temperatures, as shares of the usual one. Warmer runs would leave what the
 * point says. */
static const double CHOICE_TEMPERATURE = 0.03, ROUNDED_TEMPERATURE = 0.1;

/* PDHG goes on, in slices that the methods beside it have too. Returns what it leaves of
 * the turn's work: nothing if the point is not yet of use. */
static double approach_point(struct job *j) {
    struct rp_context *w = j->w;
    struct rp_lp_rounding *r = j->space->rounding;
    double begin = rp_thread_seconds(), used = 0, limit = j->turn->seconds;
    double missing = (double)rp_lp_rounding_work_missing(r) / PDHG_WORK_PER_S;
    double seconds = missing > 0 ? fmin(missing, limit) : ROUNDING_LP_SHARE * limit;
    for (bool more = true; more && used < seconds && !rp_context_stopped(w);) {
        double slice = fmin(SLICE_SECONDS, seconds - used);
        more = rp_lp_rounding_run(r, (uint64_t)(slice * PDHG_WORK_PER_S) + 1, &w->stop);
        used += more ? slice : 0;
        if (j->met < limit)
            meet(j, SLICE_SECONDS);
    }
    w->statistics.method[RP_LP_ROUNDING].seconds += rp_thread_seconds() - begin;
    return missing > seconds ? 0 : j->work * (1 - used / limit);
}

/* Is a schedule of cost `a` better to go on from? */
static bool is_better(const struct rp_instance *p, const struct rp_cost *a,
                      const struct rp_cost *b) {
    bool a_fits = rp_cost_fits(p, a), b_fits = rp_cost_fits(p, b);
    if (a_fits && b_fits)
        return a->time_ns < b->time_ns;
    return a_fits || (!b_fits && a->peak_bytes < b->peak_bytes);
}

/* Short cool runs from the point, rounded at several thresholds. The best result is left in
 * the scratch schedule. False if there is none. */
static bool choose_rounding(struct job *j, double work, uint64_t seed) {
    struct rp_context *w = j->w;
    const struct rp_instance *p = &j->space->p;
    struct rp_schedule best = {0};
    struct rp_cost best_cost;
    double n = fmin(work / (MIN_ROUNDED_RUN_WORK_PER_OP * p->n_ops), MAX_ROUNDED_RUNS);
    n = fmax(floor(n), 1);
    for (uint32_t i = 0; i < (uint32_t)n && !rp_context_stopped(w); i++) {
        if (!rp_lp_rounding_next(j->space->rounding, &w->stop, j->scratch))
            continue;
        anneal_scratch(j, work / n, CHOICE_TEMPERATURE, seed + i, RP_LP_ROUNDING);
        struct rp_cost c = rp_schedule_cost(p, j->scratch);
        if (best.rows == NULL || is_better(p, &c, &best_cost)) {
            best_cost = c;
            rp_schedule_copy(&best, j->scratch);
        }
    }
    bool found = best.rows != NULL;
    if (found)
        rp_schedule_exchange(&best, j->scratch);
    rp_schedule_fini(&best);
    return found;
}

/* The best of these runs is gone on with. */
static void round_lp(struct job *j) {
    struct rp_space *space = j->space;
    uint64_t seed = 2 * SEEDS_APART * j->turn->k;
    if (space->rounding == NULL)
        space->rounding = rp_lp_rounding_new(&space->p);
    if (!rp_lp_rounding_begin(space->rounding,
                              rp_context_incumbent(j->w, j->turn->space)->time_ns)) {
        anneal(j);
        return;
    }
    double work = approach_point(j);
    if (work == 0 || !choose_rounding(j, ROUNDING_CHOICE_SHARE * work, seed))
        return;
    anneal_scratch(j, (1 - ROUNDING_CHOICE_SHARE) * work, ROUNDED_TEMPERATURE,
                   seed + SEEDS_APART, RP_LP_ROUNDING);
    rp_incumbent_offer_in(j->w, j->turn->space, j->scratch, RP_LP_ROUNDING);
    add_to_pool(j);
}

/* ---- other searches ---- */

/* Of searches that solve restricted programs. The pool changes between two programs only,
 * so this does not depend on the clock. */
static bool stop_pool(void *arg) {
    const struct job *j = arg;
    const struct rp_solution_pool *pool = &j->space->pool;
    double best_ns = pool->n > 0 ? (double)pool->at[0].time_ns : INFINITY;
    return rp_context_gap_allows(j->w, best_ns) || rp_context_stopped(j->w);
}

static void search_neighborhoods(struct job *j) {
    struct rp_context *w = j->w;
    struct rp_method_statistics *s = &w->statistics.method[RP_NEIGHBORHOOD];
    struct rp_large_neighborhood_options o = {.engine = w->o->engine,
                                              .work = (uint64_t)j->work,
                                              .seed = w->o->seed,
                                              .stop = stop_pool,
                                              .stop_arg = j};
    struct rp_solution_pool *pool = &j->space->pool;
    const struct rp_incumbent *best = rp_context_incumbent(w, j->turn->space);
    rp_solution_pool_add(pool, &best->s, best->time_ns);
    rp_large_neighborhood_search(&j->space->p, &o, &j->space->neighborhoods, pool,
                                 &w->statistics.neighborhood);
    s->seconds = w->statistics.neighborhood.seconds;
    s->work = w->statistics.neighborhood.work;
    s->calls++;
    rp_incumbent_offer_in(w, j->turn->space, &pool->at[0].s, RP_NEIGHBORHOOD);
}

/* ---- the table of methods ---- */

/* Spaces that a method can search, as bits. */
enum {
    WITHOUT_SWAPS = 1 << RP_WITHOUT_SWAPS,
    WITH_SWAPS = 1 << RP_BOTH | 1 << RP_WITHOUT_RECOMPUTE,
    ANY_SPACE = WITHOUT_SWAPS | WITH_SWAPS
};

/* The functions of a row say what kind of method it is: `search` takes a turn, and `begin`,
 * `submit` and `wait` work beside the turns. */
struct method {
    enum rp_method id;
    /* When it may run. */
    unsigned spaces;
    uint32_t min_ops, max_ops; /* max_ops 0: any */
    bool given_order;          /* not if another order of first runs is searched */
    bool homes;                /* where sources may live on the host too */
    bool needs_incumbent;
    bool undivided;    /* its turns are one slice for the methods beside them */
    bool only_proves;  /* it finds no plans */
    double work_per_s; /* per second of a turn; 0: as annealing */

    void (*search)(struct job *);
    void (*begin)(struct rp_context *);
    void (*submit)(struct rp_context *, double work);
    void (*wait)(struct rp_context *);
};

static const struct method methods[] = {
    {RP_ANNEAL, ANY_SPACE, .homes = true, .search = anneal},
    {RP_LP_ROUNDING, WITHOUT_SWAPS, .min_ops = MIN_ROUNDING_OPS, .search = round_lp},
    {RP_LP_ROUNDING, 1 << RP_BOTH, .min_ops = MIN_ROUNDING_OPS, .needs_incumbent = true,
     .search = round_lp},
    {RP_NEIGHBORHOOD, WITHOUT_SWAPS, .min_ops = MIN_NEIGHBORHOOD_OPS,
     .max_ops = MAX_NEIGHBORHOOD_OPS, .needs_incumbent = true, .undivided = true,
     .work_per_s = MIP_WORK_PER_S, .search = search_neighborhoods},
    {RP_BRANCH_CUT, WITHOUT_SWAPS, .max_ops = MAX_MIP_OPS, .given_order = true,
     .work_per_s = MIP_WORK_PER_S, .begin = rp_mip_begin, .submit = rp_mip_submit,
     .wait = rp_mip_wait},
    {RP_PDHG, WITHOUT_SWAPS, .min_ops = MIN_PDHG_OPS, .given_order = true,
     .only_proves = true, .work_per_s = PDHG_WORK_PER_S, .begin = rp_bound_begin,
     .submit = rp_bound_submit, .wait = rp_bound_wait},
    {RP_PDHG, WITH_SWAPS, .given_order = true, .needs_incumbent = true, .only_proves = true,
     .work_per_s = PDHG_WORK_PER_S, .submit = rp_bound_submit, .wait = rp_bound_wait},
    {RP_INTERVAL_MILP, WITH_SWAPS, .max_ops = MAX_WINDOWS_OPS, .given_order = true,
     .needs_incumbent = true, .work_per_s = INTERVAL_WORK_PER_S},
};
enum { N_ROWS = sizeof methods / sizeof *methods };

static bool may_run(struct rp_context *w, const struct method *m, enum rp_space_id space) {
    return m->id != ABLATED_METHOD && w->spaces[space].active &&
           (m->spaces >> space & 1) != 0 && w->p.n_ops >= m->min_ops &&
           (m->max_ops == 0 || w->p.n_ops <= m->max_ops) &&
           !(m->given_order && w->o->reorder) && (m->homes || w->p.n_homes == 0) &&
           !(m->needs_incumbent && !rp_context_incumbent(w, space)->found) &&
           !(m->only_proves && w->o->plan_only);
}

/* Branch and cut works for the space without swaps, others beside the turns for the whole
 * space. */
static bool may_run_beside(struct rp_context *w, const struct method *m) {
    return m->submit != NULL &&
           may_run(w, m, m->id == RP_BRANCH_CUT ? RP_WITHOUT_SWAPS : w->whole);
}

/* The search of this turn. If it may not run, annealing takes its place. */
static const struct method *choose_search(struct rp_context *w, const struct rp_turn *t) {
    const struct method *annealing = NULL;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct method *m = &methods[i];
        if (m->id == t->method && may_run(w, m, t->space))
            return m;
        if (m->id == RP_ANNEAL)
            annealing = m;
    }
    return annealing;
}

/* ---- turns ---- */

/* Takes what the methods beside the turn have found, and gives them the work of the next
 * slice of the turn's time, if any is left. */
static void meet(struct job *j, double max_seconds) {
    struct rp_context *w = j->w;
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].wait != NULL)
            methods[i].wait(w);
    double seconds = fmin(max_seconds, j->turn->seconds - j->met);
    for (size_t i = 0; i < N_ROWS && seconds > 0; i++)
        if (may_run_beside(w, &methods[i]))
            methods[i].submit(w, seconds * methods[i].work_per_s);
    j->met += seconds;
}

/* Is the search of the whole space over? A plan may still lack its addresses. */
static bool is_solved(const struct rp_context *w) {
    return w->proved || rp_context_gap_reached(w);
}

/* Of the time limit: what the turns have before A* takes what is its own. */
static double search_seconds(struct rp_context *w) {
    return w->o->time_limit - rp_program_search_seconds(w);
}

/* The interval MILP gains much from a good incumbent. The first turns therefore come before
 * it, and it begins anew when there is a better one and as much time has passed again, but
 * not in the second half. */
static void begin_interval(struct rp_context *w, const struct rp_turn *t) {
    double limit = w->o->time_limit - rp_program_search_used(w);
    double begin = w->interval_next > 0 ? t->begin : 0;
    double first = fmin(INTERVAL_BEGIN_SECONDS, INTERVAL_BEGIN_SHARE * limit);
    if (t->begin < fmax(w->interval_next, first) || 2 * begin > limit)
        return;
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].id == RP_INTERVAL_MILP && may_run(w, &methods[i], w->whole) &&
            rp_interval_milp_begin(w, (limit - begin) * methods[i].work_per_s))
            w->interval_next = 2 * t->begin;
}

static void take_turn(struct rp_context *w, const struct rp_turn *t,
                      struct rp_schedule *scratch) {
    struct job j = {.w = w, .turn = t, .space = &w->spaces[t->space], .scratch = scratch};
    const struct method *m = choose_search(w, t);
    begin_interval(w, t);
    bool searches = j.space->active && !j.space->solved;
    j.work = t->seconds * (m->work_per_s > 0 ? m->work_per_s : ANNEAL_WORK_PER_S);
    meet(&j, searches && m->undivided ? t->seconds : SLICE_SECONDS);
    if (searches && !rp_context_stopped(w)) {
        rp_context_doing(w, rp_method_name[m->id]);
        m->search(&j);
    }
    while (j.met < t->seconds && !is_solved(w) && !rp_context_stopped(w))
        meet(&j, SLICE_SECONDS);
    if (m->undivided && is_solved(w))
        rp_bound_abandon(w);
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].wait != NULL)
            methods[i].wait(w);
    rp_narrower_poll(w);
}

/* Nothing is left to do: nothing fits, or a plan is as fast as was asked for. */
static bool is_done(const struct rp_context *w) {
    bool none_fits = w->proved || w->bound_ns >= RP_MAX_PLAN_NS;
    return (w->sequence_placed && w->turns.round >= ROUNDS_BESIDE_SEQUENCE) ||
           (!w->incumbent.found && none_fits) ||
           (is_solved(w) && (!w->o->addressed || w->placed_ns <= w->incumbent.time_ns ||
                             rp_context_gap_allows(w, (double)w->placed_ns)));
}

/* The turns that end before `limit`, in seconds. */
static void take_turns(struct rp_context *w, double limit, struct rp_schedule *scratch) {
    struct rp_turn turn;
    while (!is_done(w) && !rp_context_stopped(w) &&
           rp_sequence_next(&w->turns, limit, &turn)) {
        if (!is_solved(w) && w->incumbent.found)
            rp_program_search_go_on(w, &turn);
        if (!is_solved(w))
            take_turn(w, &turn, scratch);
        w->spaces[turn.space].placing_seconds += PLACING_SHARE * turn.seconds;
        rp_place_incumbent(w, &turn, scratch);
    }
}

/* What only proves has the time that no turn fits into: whatever it finds, a longer search
 * finds the same plans. */
static void raise_bound(struct rp_context *w, double seconds) {
    for (double used = 0; used < seconds && !is_solved(w) && !rp_context_stopped(w);
         used += SLICE_SECONDS)
        for (size_t i = 0; i < N_ROWS; i++) {
            const struct method *m = &methods[i];
            if (!m->only_proves || !may_run_beside(w, m))
                continue;
            m->submit(w, fmin(SLICE_SECONDS, seconds - used) * m->work_per_s);
            m->wait(w);
        }
}

void rp_portfolio_run(struct rp_context *w, struct rp_schedule *scratch) {
    double share = w->share * (w->o->addressed ? SCHEDULE_SHARE : 1);
    take_turns(w, share * search_seconds(w), scratch);
    rp_program_search_end(w);
    /* What A* has left. */
    double limit = share * w->o->time_limit - rp_program_search_used(w);
    take_turns(w, limit, scratch);
    if (w->incumbent.found && !w->sequence_placed)
        raise_bound(w, limit - w->turns.done);
    w->report->capped = w->report->capped || rp_context_stopped(w);
}

/* ---- before and after ---- */

void rp_portfolio_begin(struct rp_context *w) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (methods[i].begin != NULL && may_run_beside(w, &methods[i]) &&
            !rp_context_stopped(w))
            methods[i].begin(w);
}

rp_rc rp_portfolio_finish(struct rp_context *w, struct rp_err *err) {
    rp_mip_end(w);
    rp_stop_until(&w->stop, rp_context_finish_deadline(w));
    rp_rc rc = rp_program_search_finish(w, err);
    if (w->o->gap == 0 || !rp_context_gap_reached(w))
        rp_interval_milp_finish(w);
    return rc;
}
