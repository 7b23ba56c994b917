#include "solve/order_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/construct/construct.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"
#include "solve/incumbent.h"
#include "solve/order/order_descent.h"
#include "solve/order/run_instance.h"
#include "solve/placement.h"
#include "solve/portfolio.h"
#include "solve/search/moment_proof.h"
#include "solve/search/run_annealing.h"

/* The first temperature of a repair, times the usual one. */
static const double COOL = 0.05;

/* What belongs to one order of first runs. */
struct order_state {
    struct rp_instance p;
    struct rp_incumbent incumbent;
    struct rp_schedule start;
    struct rp_space spaces[RP_N_SPACES];
    struct rp_sequence turns;
    uint32_t *order;
};

/* The given order, and the other one whose best schedule is fastest. */
enum { GIVEN, OTHER };

struct search {
    struct rp_context *w;
    struct rp_schedule *scratch;
    int here;                   /* the order whose state is in the context */
    struct order_state away[2]; /* the other one's state; without ops if there is none */
    bool seeks;        /* from the given order on, not only from the best schedule */
    bool gained;       /* the last search for other orders improved the plan */
    double seconds[2]; /* of the time limit, that its turns may take in all */
};

/* ---- states ---- */

static struct order_state take_state(struct rp_context *w) {
    struct order_state o = {.p = w->p,
                            .incumbent = w->incumbent,
                            .start = w->start,
                            .turns = w->turns,
                            .order = w->order};
    memcpy(o.spaces, w->spaces, sizeof o.spaces);
    memset(w->spaces, 0, sizeof w->spaces);
    w->incumbent = (struct rp_incumbent){0};
    w->start = (struct rp_schedule){0};
    w->order = NULL;
    return o;
}

static void put_state(struct rp_context *w, struct order_state *o) {
    w->p = o->p;
    w->incumbent = o->incumbent;
    w->start = o->start;
    w->turns = o->turns;
    w->order = o->order;
    memcpy(w->spaces, o->spaces, sizeof w->spaces);
    *o = (struct order_state){0};
}

static void order_state_fini(struct order_state *o) {
    rp_instance_fini(&o->p);
    rp_schedule_fini(&o->incumbent.s);
    rp_schedule_fini(&o->start);
    rp_context_free_spaces(o->spaces);
    free(o->order);
    *o = (struct order_state){0};
}

static bool has_other(const struct search *s) {
    return s->here == OTHER || s->away[OTHER].p.n_ops > 0;
}

static void switch_to(struct search *s, int order) {
    if (s->here == order)
        return;
    s->away[s->here] = take_state(s->w);
    put_state(s->w, &s->away[order]);
    s->here = order;
}

static bool is_faster(const struct rp_incumbent *a, const struct rp_incumbent *b) {
    return a->found && (!b->found || a->time_ns < b->time_ns);
}

static void switch_to_best(struct search *s) {
    int there = 1 - s->here;
    if (s->away[there].p.n_ops > 0 &&
        is_faster(&s->away[there].incumbent, &s->w->incumbent))
        switch_to(s, there);
}

/* What fits as a sequence of runs need not fit as a schedule, whose runs come in order
 * within a stage. Then a short search goes on from there. */
static void repair_start(struct search *s, double seconds) {
    struct rp_context *w = s->w;
    if (w->incumbent.found || w->start.rows == NULL)
        return;
    rp_schedule_copy(s->scratch, &w->start);
    rp_run_annealing_alone(w, &w->p, seconds * ANNEAL_WORK_PER_S, COOL, w->o->seed,
                           s->scratch);
    rp_schedule_copy(&w->start, s->scratch);
    rp_incumbent_offer_in(w, w->whole, s->scratch, RP_ANNEAL);
}

/* Lays the context out for the order of the first runs of `runs`, and offers them. Where
 * sources may live on the host and it lists none, it says nothing of them, and first
 * schedules are made anew. */
static void begin_order(struct search *s, const struct rp_plan *runs, double seconds) {
    struct rp_context *w = s->w;
    w->order = rp_calloc(w->g->n_ops, sizeof *w->order);
    rp_plan_first_runs(w->g, runs, w->order);
    rp_context_instance(w, &w->p, w->o->budget_bytes);
    rp_incumbent_offer_keep_all(w);
    rp_context_begin_search(w);
    if (w->p.n_homes == 0 || runs->homes.n > 0)
        rp_construct_from_plan(w, runs);
    if (w->p.n_homes > 0)
        rp_construct_incumbents(w, s->scratch);
    repair_start(s, seconds);
    rp_place_first(w, s->scratch);
    rp_log(1, "another order of first runs: %s",
           w->incumbent.found ? "a plan fits" : "no plan fits yet");
}

/* Tries the order of `runs`: it becomes the other one if nothing is known to fit in that,
 * or if its first schedule is faster than all that were found there. The search for that
 * may take `seconds`. */
static void try_order(struct search *s, const struct rp_plan *runs, double seconds) {
    s->away[s->here] = take_state(s->w);
    begin_order(s, runs, seconds);
    s->here = OTHER;
    struct order_state *other = &s->away[OTHER];
    if (other->incumbent.found && !is_faster(&s->w->incumbent, &other->incumbent)) {
        struct order_state tried = take_state(s->w);
        put_state(s->w, other);
        order_state_fini(&tried);
        return;
    }
    order_state_fini(other);
    s->seconds[OTHER] = 0;
}

/* ---- other orders ---- */

/* The order of the start plan, if it is not the given one. */
static void try_start_order(struct search *s) {
    const struct rp_plan *start = s->w->o->start;
    if (start == NULL)
        return;
    struct rp_plan runs;
    uint32_t n = s->w->g->n_ops, *order = rp_calloc(n, sizeof *order);
    rp_plan_first_runs(s->w->g, start, order);
    if (memcmp(order, s->w->p.op_of + (s->w->p.n_homes > 0), n * sizeof *order) != 0) {
        rp_plan_restate(start, false, s->w->o->budget_bytes, &runs);
        try_order(s, &runs, 0);
        rp_plan_fini(&runs);
    }
    free(order);
}

/* Anneals over sequences of runs, and tries the order of the best. `start` is as in
 * anneal_order.h. */
static void anneal_order(struct search *s, const struct rp_plan *start, double seconds,
                         uint64_t seed) {
    struct rp_context *w = s->w;
    struct rp_instance p;
    struct rp_plan runs = {0};
    struct rp_anneal_order_options o = {
        .seed = seed,
        .work = (uint64_t)(seconds * (1 - REPAIR_SHARE) * ORDER_WORK_PER_S) + 1,
        .may_recompute = w->o->recompute,
        .goal_ns = fmax(0, rp_context_goal_ns(w) - (double)w->g->total_time_ns),
        .start = start,
        .stop = rp_context_stop,
        .stop_arg = w,
        .statistics = &w->statistics.order};
    struct rp_method_statistics *m = &w->statistics.method[RP_ANNEAL_ORDER];
    double begin = rp_thread_seconds();
    rp_context_doing(w, rp_method_name[RP_ANNEAL_ORDER]);
    rp_run_instance_init(&p, &w->p, w->o->addressed);
    bool found = rp_anneal_order(&p, &o, &runs);
    rp_instance_fini(&p);
    m->seconds += rp_thread_seconds() - begin;
    m->work = w->statistics.order.work;
    m->calls++;
    if (found)
        try_order(s, &runs, REPAIR_SHARE * seconds);
    rp_plan_fini(&runs);
}

/* Tries the order of `steps`, which are near the incumbent. In it, the turns go on where
 * they are here. */
static void go_on_in(struct search *s, const struct rp_plan *steps) {
    struct rp_sequence turns = s->w->turns;
    double seconds = s->seconds[s->here];
    struct rp_incumbent before = s->w->incumbent;
    try_order(s, steps, 0);
    if (s->here != OTHER || !is_faster(&s->w->incumbent, &before))
        return;
    s->w->turns = turns;
    s->seconds[OTHER] = seconds;
}

/* Moves the stages of the best schedule, where all schedules swap. */
static void move_stages(struct search *s, double seconds, uint64_t seed) {
    struct rp_context *w = s->w;
    struct rp_plan steps = {0};
    struct rp_order_descent_options o = {
        .seed = seed,
        .work = (uint64_t)(seconds * ORDER_WORK_PER_S) + 1,
        .addressed = w->o->addressed,
        .may_recompute = w->o->recompute,
        .stop = rp_context_stop,
        .stop_arg = w,
    };
    struct rp_method_statistics *m = &w->statistics.method[RP_ANNEAL_ORDER];
    double begin = rp_thread_seconds();
    rp_context_doing(w, rp_method_name[RP_ANNEAL_ORDER]);
    bool found = rp_order_descent(&w->p, &w->incumbent.s, &o, &steps);
    m->seconds += rp_thread_seconds() - begin;
    m->work += o.work;
    m->calls++;
    if (found)
        go_on_in(s, &steps);
    rp_plan_fini(&steps);
}

/* Looks for an order in which the runs of the best schedule without swaps take less memory,
 * and with that, for a sequence that takes less time. */
static void improve_order(struct search *s, double seconds, uint64_t seed) {
    struct rp_context *w = s->w;
    struct rp_plan runs = {0};
    const struct rp_incumbent *best = rp_context_incumbent(w, RP_WITHOUT_SWAPS);
    if (w->p.n_homes > 0)
        move_stages(s, seconds, seed);
    if (!best->found)
        return;
    rp_schedule_steps(&w->spaces[RP_WITHOUT_SWAPS].p, &best->s, NULL, &runs);
    anneal_order(s, &runs, seconds, seed);
    rp_plan_fini(&runs);
}

/* ---- rounds ---- */

static bool is_done(struct search *s) {
    switch_to_best(s);
    const struct rp_context *w = s->w;
    return rp_context_gap_reached(w) &&
           (!w->o->addressed || rp_context_gap_allows(w, (double)w->placed_ns));
}

static void take_turns(struct search *s, int order, double seconds) {
    struct rp_context *w = s->w;
    if (is_done(s) || rp_context_stopped(w))
        return;
    switch_to(s, order);
    s->seconds[order] += seconds;
    w->share = s->seconds[order] / w->o->time_limit;
    rp_portfolio_run(w, s->scratch);
}

/* Spends up to `seconds` of *left on turns in an order. */
static void spend_on_turns(struct search *s, int order, double seconds, double *left) {
    take_turns(s, order, fmin(seconds, *left));
    *left -= fmin(seconds, *left);
}

/* True, and *left is less, if `seconds` are left. Else nothing is. */
static bool spend(double seconds, double *left) {
    bool enough = seconds <= *left;
    *left = enough ? *left - seconds : 0;
    return enough;
}

/* The time of the best schedule; UINT64_MAX if there is none. */
static uint64_t best_ns(struct search *s) {
    switch_to_best(s);
    return s->w->incumbent.found ? s->w->incumbent.time_ns : UINT64_MAX;
}

/* Anneals over orders for `seconds`. Returns what is left of the time. */
static double search_orders(struct search *s, double seconds, double left, uint64_t round) {
    bool found = best_ns(s) < UINT64_MAX;
    double new_order = !found ? seconds : s->seeks ? NEW_ORDER_SHARE * seconds : 0;
    uint64_t seed = s->w->o->seed + SEEDS_APART * round;
    if (new_order > 0 && spend(new_order, &left)) {
        switch_to(s, GIVEN);
        anneal_order(s, NULL, new_order, seed);
    }
    if (found && !is_done(s) && spend(seconds - new_order, &left))
        improve_order(s, seconds - new_order, seed);
    return left;
}

/* A round: searches for other orders, then turns in the given order and in the best other
 * one, with more for the better of the two. Orders get more time where they gained
 * something in the last round. What is done in a round does not depend on the time limit,
 * which only says where it is cut. */
static void take_round(struct search *s, double seconds, double left, uint64_t round) {
    uint64_t before_ns = best_ns(s);
    double order = seconds * (s->w->p.n_homes > 0 ? DESCENT_SHARE
                              : s->gained         ? ORDER_SHARE
                                                  : LOW_ORDER_SHARE);
    left = search_orders(s, order, left, round);
    s->gained = best_ns(s) < before_ns || before_ns == UINT64_MAX;
    double turns = seconds - order, other = 0;
    if (has_other(s))
        other = (s->here == OTHER ? BETTER_ORDER_SHARE : 1 - BETTER_ORDER_SHARE) * turns;
    spend_on_turns(s, GIVEN, turns - other, &left);
    if (has_other(s))
        spend_on_turns(s, OTHER, other, &left);
}

/* Not where sources may live on the host and all else fits beside those in use. */
static bool may_help(const struct rp_context *w) {
    struct rp_instance p;
    rp_run_instance_init(&p, &w->p, w->o->addressed);
    bool fits = rp_keep_all_cost(&p).peak_bytes <= p.limit_bytes;
    rp_instance_fini(&p);
    return w->p.n_homes == 0 || !fits;
}

void rp_search_orders(struct rp_context *w, struct rp_schedule *scratch) {
    struct search s = {
        .w = w, .scratch = scratch, .here = GIVEN, .seeks = may_help(w), .gained = true};
    double length = FIRST_ORDER_ROUND_SECONDS_PER_OP * w->p.n_ops;
    double limit = w->o->time_limit;
    bool proved = w->p.out_ns == NULL;
    try_start_order(&s);
    uint64_t round = 0;
    for (double done = 0; done < limit && !is_done(&s) && !rp_context_stopped(w);) {
        take_round(&s, length, limit - done, round++);
        done += length;
        length = done; /* each round doubles what was done before */
        switch_to_best(&s);
        if (!proved && w->incumbent.found)
            rp_prove_moment(w);
        proved = proved || w->incumbent.found;
    }
    w->report->capped = w->report->capped || rp_context_stopped(w);
    order_state_fini(&s.away[1 - s.here]);
}
