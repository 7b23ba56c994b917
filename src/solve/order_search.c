#include "solve/order_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/moment_bound.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"
#include "solve/incumbent.h"
#include "solve/placement.h"
#include "solve/portfolio.h"
#include "solve/search/construct.h"

/* Looks for a sequence of runs in another order that overflows less than the given order.
 * False if none was found. Else w->order is its order of first runs. */
static bool find_order(struct rp_context *w, struct rp_plan *runs) {
    double work = fmin(ORDER_SHARE * w->o->time_limit * ORDER_WORK_PER_S,
                       MAX_ORDER_WORK_PER_OP * (w->p.n_ops + 1.0));
    struct rp_anneal_order_options o = {.seed = w->o->seed,
                                        .may_recompute = w->o->recompute,
                                        .work = (uint64_t)work,
                                        .stop = rp_context_stop,
                                        .stop_arg = w,
                                        .statistics = &w->statistics.order};
    struct rp_method_statistics *s = &w->statistics.method[RP_ANNEAL_ORDER];
    double begin = rp_seconds();
    rp_context_doing(w, rp_method_name[RP_ANNEAL_ORDER]);
    bool found = rp_anneal_order(&w->p, &o, runs);
    s->seconds += rp_seconds() - begin;
    s->work += o.work;
    s->calls++;
    if (!found)
        return false;
    w->order = rp_calloc(w->p.n_ops, sizeof *w->order);
    rp_plan_first_runs(w->g, runs, w->order);
    return true;
}

/* Raises the bound, which holds in every order. With swaps it needs a plan. */
static void prove_bound(struct rp_context *w) {
    struct rp_method_statistics *s = &w->statistics.method[RP_MOMENT];
    struct rp_moment_bound_options o = {
        .any_order = true,
        .horizon_ns = w->incumbent.time_ns,
        .goal_ns = w->incumbent.found ? w->incumbent.time_ns : UINT64_MAX,
        .work = (uint64_t)(MOMENT_SHARE * w->o->time_limit * MIP_WORK_PER_S) + 1,
        .stop = &w->stop};
    if (w->p.out_ns != NULL && !w->incumbent.found)
        return;
    double begin = rp_seconds();
    struct rp_moment_bound b = rp_moment_bound(&w->p, &o, &w->statistics.moment);
    s->seconds += rp_seconds() - begin;
    s->work += o.work;
    s->calls++;
    s->bounds += b.bound_ns > w->bound_ns;
    s->bound_ns = rp_max_u64(s->bound_ns, b.bound_ns);
    w->bound_ns = rp_max_u64(w->bound_ns, b.bound_ns);
    rp_log(1, "bound for every order: %" PRIu64 " ns%s", b.bound_ns,
           b.optimal ? ", the best of its moment" : "");
}

/* Takes the order of the start plan, if it is not the given one: on graphs captured from
 * PyTorch it was better than what annealing found. False if there is none. */
static bool take_start_order(struct rp_context *w, struct rp_plan *runs) {
    if (w->o->start == NULL)
        return false;
    size_t size = w->p.n_ops * sizeof *w->order;
    w->order = rp_calloc(w->p.n_ops, sizeof *w->order);
    rp_plan_first_runs(w->g, w->o->start, w->order);
    if (memcmp(w->order, w->p.op_of, size) == 0) {
        free(w->order);
        w->order = NULL;
        return false;
    }
    rp_plan_restate(w->o->start, false, w->o->budget_bytes, runs);
    return true;
}

/* What belongs to one order of first runs. */
struct order_state {
    struct rp_instance p;
    struct rp_incumbent incumbent;
    struct rp_schedule start;
    struct rp_space spaces[RP_N_SPACES];
};

static void exchange(struct rp_context *w, struct order_state *other) {
    struct order_state mine = {.p = w->p, .incumbent = w->incumbent, .start = w->start};
    memcpy(mine.spaces, w->spaces, sizeof mine.spaces);
    w->p = other->p;
    w->incumbent = other->incumbent;
    w->start = other->start;
    memcpy(w->spaces, other->spaces, sizeof w->spaces);
    *other = mine;
}

static void order_state_fini(struct order_state *o) {
    rp_instance_fini(&o->p);
    rp_schedule_fini(&o->incumbent.s);
    rp_schedule_fini(&o->start);
    rp_context_free_spaces(o->spaces);
}

/* Switches to the instance in w->order, with `runs` as its warm start. The other order goes
 * to `given`. */
static void enter_order(struct rp_context *w, const struct rp_plan *runs,
                        struct order_state *given, struct rp_schedule *scratch) {
    struct order_state other = {0};
    rp_context_instance(w, &other.p, w->o->budget_bytes);
    exchange(w, &other);
    *given = other;
    rp_context_begin_search(w);
    rp_incumbent_offer_keep_all(w);
    rp_construct_from_plan(w, runs);
    rp_place_first(w, scratch);
    rp_log(1, "another order of first runs: %s",
           w->incumbent.found ? "a plan fits" : "no plan fits yet");
}

void rp_search_orders(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_plan runs = {0};
    struct order_state given = {0};
    if (w->p.out_ns == NULL)
        prove_bound(w);
    bool have_order = take_start_order(w, &runs);
    bool reordered = have_order || find_order(w, &runs);
    w->share = (have_order ? 1 : 1 - ORDER_SHARE) / (reordered ? 2 : 1);
    if (reordered) {
        enter_order(w, &runs, &given, scratch);
        rp_portfolio_run(w, scratch);
        if (!rp_context_gap_reached(w))
            exchange(w, &given);
    }
    if (!rp_context_gap_reached(w))
        rp_portfolio_run(w, scratch);
    if (reordered && given.incumbent.found &&
        (!w->incumbent.found || given.incumbent.time_ns < w->incumbent.time_ns))
        exchange(w, &given);
    if (w->p.out_ns != NULL && !rp_context_gap_reached(w))
        prove_bound(w);
    order_state_fini(&given);
    rp_plan_fini(&runs);
}
