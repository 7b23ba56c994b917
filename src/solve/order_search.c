#include "solve/context.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/core/warm_start.h"
#include "solve/order/anneal_order.h"

/* The search for another order: its share of the time limit, work a second, and what each
 * op may gain from. */
static const double ORDER_SHARE = 0.2;
static const double ORDER_WORK = 2e7;
static const double MAX_ORDER_WORK = 2e6;

static bool order_may_stop(void *arg) {
    return rp_context_stopped(arg);
}

/* Looks for a sequence of runs in another order that overflows less. False if there is
 * none. */
static bool find_order(struct rp_context *w, struct rp_plan *runs) {
    struct rp_anneal_order_options o = {
        .seed = w->o->seed,
        .again = w->o->recompute,
        .work = (uint64_t)fmin(ORDER_SHARE * w->o->time_limit * ORDER_WORK,
                               MAX_ORDER_WORK * (w->p.n_ops + 1.0)),
        .stop = order_may_stop,
        .stop_arg = w};
    if (!rp_anneal_order(&w->p, &o, runs))
        return false;
    w->order = rp_calloc(w->p.n_ops, sizeof *w->order);
    rp_plan_first_runs(w->g, runs, w->order);
    return true;
}

static void exchange_orders(struct rp_context *w, struct rp_context *other) {
    struct rp_context held = *w;
    w->p = other->p;
    w->best = other->best;
    w->start = other->start;
    w->finds = other->finds;
    w->found = other->found;
    w->time_ns = other->time_ns;
    other->p = held.p;
    other->best = held.best;
    other->start = held.start;
    other->finds = held.finds;
    other->found = held.found;
    other->time_ns = held.time_ns;
}

/* The problem in the other order, with the sequence of runs as its first schedule. */
static void enter_order(struct rp_context *w, const struct rp_plan *runs) {
    rp_context_instance(w, &w->p, w->o->budget_bytes);
    rp_schedule_keep_all(&w->p, &w->best);
    w->start = (struct rp_schedule){0};
    w->finds = (struct rp_solution_pool){0};
    struct rp_cost c = rp_schedule_cost(&w->p, &w->best);
    w->found = c.peak_bytes <= w->p.limit_bytes;
    w->time_ns = c.time_ns;
    rp_portfolio_warm_start(w, runs);
    rp_log(1, "another order: time %" PRIu64 ", %s", w->time_ns,
           w->found ? "fits" : "over the limit");
}

void rp_search_orders(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_plan runs = {0};
    bool better = find_order(w, &runs);
    struct rp_context given = *w;
    w->share = better ? (1 - ORDER_SHARE) / 2 : 1 - ORDER_SHARE;
    if (better) {
        enter_order(w, &runs);
        rp_portfolio_run(w, scratch);
        if (!rp_context_gap_reached(w))
            exchange_orders(w, &given);
    }
    if (!rp_context_gap_reached(w))
        rp_portfolio_run(w, scratch);
    if (better && given.found && (!w->found || given.time_ns < w->time_ns))
        exchange_orders(w, &given);
    if (better) {
        rp_instance_fini(&given.p);
        rp_schedule_fini(&given.best);
        rp_schedule_fini(&given.start);
        rp_solution_pool_fini(&given.finds);
    }
    rp_plan_fini(&runs);
}
