#include "solve/solving.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/order.h"

/* The search for another order: its share of the time limit, work a second, and what each
 * op may gain from. */
static const double ORDER_SHARE = 0.1;
static const double ORDER_WORK = 2e7;
static const double MOST_ORDER_WORK = 1e5;

static bool order_may_stop(void *arg) {
    return rp_solving_stopped(arg);
}

/* Looks for an order in which keep-all overflows less. False if there is none. */
static bool find_order(struct rp_solving *w) {
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

static void exchange_orders(struct rp_solving *w, struct rp_solving *other) {
    struct rp_solving held = *w;
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
void rp_search_orders(struct rp_solving *w, struct rp_schedule *scratch) {
    bool better = find_order(w);
    struct rp_solving given = *w;
    w->share = better ? (1 - ORDER_SHARE) / 2 : 1 - ORDER_SHARE;
    if (better) {
        rp_solving_problem(w, &w->p, w->o->budget_bytes);
        rp_schedule_keep_all(&w->p, &w->best);
        w->start = (struct rp_schedule){0};
        struct rp_cost c = rp_schedule_cost(&w->p, &w->best);
        w->found = c.peak_bytes <= w->p.limit_bytes;
        w->time_ns = c.time_ns;
        rp_search_rounds(w, scratch);
        if (!rp_solving_near_enough(w))
            exchange_orders(w, &given);
    }
    if (!rp_solving_near_enough(w))
        rp_search_rounds(w, scratch);
    if (better && given.found && (!w->found || given.time_ns < w->time_ns))
        exchange_orders(w, &given);
    if (better) {
        rp_problem_fini(&given.p);
        rp_schedule_fini(&given.best);
        rp_schedule_fini(&given.start);
    }
}
