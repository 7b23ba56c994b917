#include "solve/order/order_descent.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/warm_start.h"
#include "solve/order/run_instance.h"
#include "solve/order/run_sequence.h"
#include "solve/order/step_end.h"

/* Half of the moves go no farther than this. */
enum { NEAR = 16 };

struct descent {
    const struct rp_instance *p; /* of the start */
    const struct rp_order_descent_options *o;
    struct rp_instance runs;      /* without copies: */
    struct rp_run_sequence order; /* of first runs: run j is op j of `runs` */
    struct rp_plan now;           /* the steps of the best schedule */
    size_t *begin, *end;          /* per op: the steps of its stage */
    size_t tail;                  /* the steps from here on belong to no op's stage */
    bool *touched;                /* per tensor of the graph, by the op that moves */
    uint32_t *ops;                /* work space: the graph's op per place */
    uint64_t now_ns, random, work;
};

/* ---- steps by stages ---- */

/* A stage ends behind what follows its first run at once: copies to the host and frees. */
static void find_stages(struct descent *d) {
    const struct rp_step *step = d->now.steps.at;
    size_t i = 0, n = d->now.steps.n;
    for (uint32_t q = 0; q < d->runs.n_ops; q++) {
        uint32_t j = d->order.at[q];
        d->begin[j] = i;
        while (step[i].kind != RP_RUN || step[i].id != d->runs.op_of[j])
            i++;
        for (i++; i < n && (step[i].kind == RP_SWAP_OUT || step[i].kind == RP_FREE);)
            i++;
        d->end[j] = d->tail = i;
    }
}

/* What the moved op reads or updates, or not any more. */
static void mark_tensors(struct descent *d, uint32_t moved, bool value) {
    const struct rp_op *op = &d->p->graph->ops[d->runs.op_of[moved]];
    for (uint32_t k = 0; k < op->n_inputs; k++)
        d->touched[op->inputs[k]] = value;
    for (uint32_t k = 0; k < op->n_updates; k++)
        d->touched[op->updates[k]] = value;
}

/* Appends the steps of op j's stage that are of this kind. */
static void push_touched(const struct descent *d, uint32_t j, enum rp_step_kind kind,
                         struct rp_plan *plan) {
    for (size_t i = d->begin[j]; i < d->end[j]; i++)
        if (d->now.steps.at[i].kind == kind && d->touched[d->now.steps.at[i].id])
            rp_push(&plan->steps, d->now.steps.at[i]);
}

/* Appends the steps of op j's stage, which lies in the part of the order that the move
 * changes, but for copies in and frees of what the moved op touches. */
static void push_others(const struct descent *d, uint32_t j, uint32_t moved,
                        struct rp_plan *plan) {
    for (size_t i = d->begin[j]; i < d->end[j]; i++) {
        const struct rp_step *step = &d->now.steps.at[i];
        bool is_free = step->kind == RP_FREE, is_in = step->kind == RP_SWAP_IN;
        if (!((is_free || (is_in && j != moved)) && d->touched[step->id]))
            rp_push(&plan->steps, *step);
    }
}

/* The steps in the present order of stages; op `moved` has come to one end of the places
 * first .. last from the other. What it touches comes before it, and is freed after all of
 * them. */
static struct rp_plan ordered_steps(struct descent *d, uint32_t moved, uint32_t first,
                                    uint32_t last) {
    struct rp_plan plan = {0};
    mark_tensors(d, moved, true);
    for (uint32_t q = 0; q < d->runs.n_ops; q++) {
        uint32_t j = d->order.at[q];
        for (uint32_t k = first; k <= last && j == moved; k++)
            if (k != q)
                push_touched(d, d->order.at[k], RP_SWAP_IN, &plan);
        if (q >= first && q <= last)
            push_others(d, j, moved, &plan);
        for (size_t i = d->begin[j]; i < d->end[j] && (q < first || q > last); i++)
            rp_push(&plan.steps, d->now.steps.at[i]);
        for (uint32_t k = first; k <= last && q == last; k++)
            push_touched(d, d->order.at[k], RP_FREE, &plan);
    }
    mark_tensors(d, moved, false);
    for (size_t i = d->tail; i < d->now.steps.n; i++)
        rp_push(&plan.steps, d->now.steps.at[i]);
    for (size_t k = 0; k < d->now.homes.n; k++)
        rp_push(&plan.homes, d->now.homes.at[k]);
    return plan;
}

/* ---- moves ---- */

/* The instance in the present order. */
static void init_instance(struct descent *d, struct rp_instance *p) {
    const struct rp_instance *of = d->p;
    for (uint32_t q = 0; q < d->runs.n_ops; q++)
        d->ops[q] = d->runs.op_of[d->order.at[q]];
    rp_instance_init_homes(p, of->graph, of->fixed_bytes + of->limit_bytes, d->o->addressed,
                           d->ops);
    rp_instance_allow_swap(p, of->host_limit_bytes);
    struct rp_step_end_options o = {.any_order = true, .may_run = d->o->may_recompute};
    if (of->has_end)
        rp_instance_add_end_if_needed(p, o);
    if (!d->o->may_recompute)
        rp_instance_run_once(p);
}

/* Makes the schedule the best one if it fits and is not slower. */
static bool take(struct descent *d, const struct rp_instance *p,
                 const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(p, s);
    if (!rp_cost_fits(p, &c) || c.time_ns > d->now_ns)
        return false;
    rp_plan_fini(&d->now);
    rp_schedule_steps(p, s, NULL, &d->now);
    find_stages(d);
    d->now_ns = c.time_ns;
    return true;
}

/* Reads the steps in the present order. False if that is no better. */
static bool evaluate(struct descent *d, uint32_t from, uint32_t to) {
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_plan plan =
        ordered_steps(d, d->order.at[to], rp_min_u32(from, to), rp_max_u32(from, to));
    init_instance(d, &p);
    rp_schedule_empty(&p, &s);
    bool taken = rp_schedule_from_plan(&p, &plan, NULL, &s) && take(d, &p, &s);
    d->work += 6 * (uint64_t)p.n_ops * (s.words + 10);
    rp_schedule_fini(&s);
    rp_instance_fini(&p);
    rp_plan_fini(&plan);
    return taken;
}

static void try_move(struct descent *d) {
    uint32_t from = rp_random_below(&d->random, d->runs.n_ops), low, high;
    d->work += 10;
    rp_run_sequence_range(&d->order, d->order.at[from], &low, &high);
    if (rp_random_below(&d->random, 2)) {
        low = rp_max_u32(low, from > NEAR ? from - NEAR : 0);
        high = rp_min_u32(high, from + NEAR);
    }
    if (low >= high)
        return;
    uint32_t to = low + rp_random_below(&d->random, high - low);
    to += to >= from;
    rp_run_sequence_move(&d->order, from, to);
    if (!evaluate(d, from, to))
        rp_run_sequence_move(&d->order, to, from);
}

bool rp_order_descent(const struct rp_instance *p, const struct rp_schedule *start,
                      const struct rp_order_descent_options *o, struct rp_plan *plan) {
    struct descent d = {.p = p, .o = o};
    uint64_t start_ns = d.now_ns = rp_schedule_cost(p, start).time_ns;
    rp_run_instance_init(&d.runs, p, o->addressed);
    rp_run_sequence_init(&d.order, &d.runs, NULL, d.runs.n_ops);
    d.begin = rp_calloc(d.runs.n_ops, sizeof *d.begin);
    d.end = rp_calloc(d.runs.n_ops, sizeof *d.end);
    d.ops = rp_calloc(d.runs.n_ops, sizeof *d.ops);
    d.touched = rp_calloc(p->graph->n_tensors, sizeof *d.touched);
    d.random = o->seed * RP_GOLDEN_RATIO_64 + 0x2468ace;
    rp_schedule_steps(p, start, NULL, &d.now);
    find_stages(&d);
    while (d.work < o->work && d.runs.n_ops > 1 && !o->stop(o->stop_arg))
        try_move(&d);
    bool better = d.now_ns < start_ns;
    for (size_t i = 0; i < d.now.steps.n && better; i++)
        rp_push(&plan->steps, d.now.steps.at[i]);
    for (size_t k = 0; k < d.now.homes.n && better; k++)
        rp_push(&plan->homes, d.now.homes.at[k]);
    rp_plan_fini(&d.now);
    rp_run_sequence_fini(&d.order);
    rp_instance_fini(&d.runs);
    free(d.begin);
    free(d.end);
    free(d.ops);
    free(d.touched);
    return better;
}
