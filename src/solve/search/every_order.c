#include "solve/search/every_order.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/params.h"
#include "solve/exhaustive/astar.h"

enum { MAX_STATES = 20000, WORK_PER_ORDER = 10000 }; /* to lay one out */

struct search {
    struct rp_context *w;
    struct rp_update_order updates; /* of the graph's ops */
    uint32_t *order, n;             /* so far */
    bool *listed;                   /* per op of the graph */
    uint64_t work, max_work;
};

static bool keeps_order(const struct rp_op *op) {
    return !op->recompute || op->ordered;
}

/* May op i of the graph be the next one? */
static bool may_follow(const struct search *s, uint32_t i) {
    const struct rp_graph *g = s->w->g;
    const struct rp_op *op = &g->ops[i];
    bool may = !s->listed[i];
    for (uint32_t k = 0; k < op->n_inputs && may; k++) {
        uint32_t maker = g->tensors[op->inputs[k]].producer;
        may = maker == RP_NONE || s->listed[maker];
    }
    for (uint32_t k = s->updates.before_start[i]; k < s->updates.before_start[i + 1]; k++)
        may = may && s->listed[s->updates.before[k]];
    for (uint32_t k = 0; k < i && keeps_order(op); k++)
        may = may && (s->listed[k] || !keeps_order(&g->ops[k]));
    return may;
}

static bool is_over(const struct search *s) {
    return s->work >= s->max_work || rp_stop_hit(&s->w->stop);
}

/* The order s->order. */
static void search_order(struct search *s) {
    struct rp_context *w = s->w;
    struct rp_instance p;
    struct rp_plan plan = {0};
    uint32_t *order = w->order;
    w->order = s->order;
    rp_context_instance(w, &p, w->o->budget_bytes);
    w->order = order;
    s->work += WORK_PER_ORDER;
    if (rp_astar_accepts(&p) && !is_over(s)) {
        uint64_t work = s->max_work - s->work;
        struct rp_astar_options o = {.below_ns = rp_min_u64(RP_MAX_PLAN_NS, w->sequence_ns),
                                     .enough_ns = UINT64_MAX,
                                     .max_work = work,
                                     .stop = &w->stop};
        struct rp_astar *a = rp_astar_new(&p, MAX_STATES, (double)work);
        const struct rp_astar_result *r = rp_astar_search(a, &o, &plan);
        s->work += r->work;
        if (r->plan_ns < w->sequence_ns) {
            w->sequence_ns = r->plan_ns;
            rp_plan_fini(&w->sequence);
            w->sequence = plan;
            plan = (struct rp_plan){0};
        }
        rp_astar_free(a);
    }
    rp_plan_fini(&plan);
    rp_instance_fini(&p);
}

/* All orders that begin with those s->n ops. */
static void search_orders(struct search *s) {
    uint32_t n_ops = s->w->g->n_ops;
    if (s->n == n_ops)
        search_order(s);
    for (uint32_t i = 0; i < n_ops && s->n < n_ops && !is_over(s); i++) {
        if (!may_follow(s, i))
            continue;
        s->order[s->n++] = i;
        s->listed[i] = true;
        search_orders(s);
        s->listed[i] = false;
        s->n--;
    }
}

void rp_search_every_order(struct rp_context *w) {
    uint32_t n = w->g->n_ops;
    struct search s = {.w = w, .max_work = MIN_ASTAR_WORK};
    double deadline = w->stop.deadline;
    if (RP_ASTAR == ABLATED_METHOD || n > RP_ASTAR_MAX_OPS || w->p.n_ops == 0)
        return;
    s.order = rp_calloc(n, sizeof *s.order);
    s.listed = rp_calloc(n, sizeof *s.listed);
    for (uint32_t i = 0; i < n; i++)
        s.order[i] = i;
    rp_update_order_init(&s.updates, w->g, s.order, n);
    rp_stop_until(&w->stop, INFINITY);
    search_orders(&s);
    rp_stop_until(&w->stop, deadline);
    rp_update_order_fini(&s.updates);
    free(s.order);
    free(s.listed);
}
