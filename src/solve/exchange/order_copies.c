#include "solve/exchange/order_copies.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/timeline.h"

/* Copies, by their step in the given plan, that may begin. */
struct waiting {
    RP_VEC(size_t);
};

struct ordering {
    const struct rp_graph *g;
    const struct rp_plan *plan;
    size_t *due;        /* per step that copies: the step that waits for its end */
    uint64_t *begin_ns; /* per step: the time of the runs before it */
    bool patient;       /* a queue may stay idle for a more urgent copy */
    struct waiting out, in;
    struct rp_timeline timeline; /* of the new order */
    RP_VEC(struct rp_step) steps;
};

static bool is_copy(const struct rp_step *s) {
    return s->kind == RP_SWAP_OUT || s->kind == RP_SWAP_IN;
}

/* Sets `due`, from the last step back. */
static void find_due(struct ordering *o) {
    const struct rp_graph *g = o->g;
    size_t n = o->plan->steps.n;
    size_t *next_free = rp_calloc(g->n_tensors, sizeof *next_free);
    size_t *next_use = rp_calloc(g->n_tensors, sizeof *next_use); /* reader or free */
    for (uint32_t x = 0; x < g->n_tensors; x++)
        next_free[x] = next_use[x] = n;
    for (size_t i = n; i-- > 0;) {
        const struct rp_step *s = &o->plan->steps.at[i];
        const struct rp_op *op = s->kind == RP_RUN ? &g->ops[s->id] : NULL;
        if (s->kind == RP_FREE)
            next_free[s->id] = next_use[s->id] = i;
        if (is_copy(s))
            o->due[i] = s->kind == RP_SWAP_OUT ? next_free[s->id] : next_use[s->id];
        for (uint32_t k = 0; op != NULL && k < op->n_inputs; k++)
            next_use[op->inputs[k]] = i;
    }
    free(next_free);
    free(next_use);
}

static void emit(struct ordering *o, size_t i) {
    const struct rp_step *s = &o->plan->steps.at[i];
    rp_timeline_step(&o->timeline, s);
    rp_push(&o->steps, *s);
}

/* Emits copy k of those that wait. */
static void emit_waiting(struct ordering *o, struct waiting *w, size_t k) {
    emit(o, w->at[k]);
    for (k++; k < w->n; k++)
        w->at[k - 1] = w->at[k];
    w->n--;
}

/* Emits the copies that step i waits for. */
static void emit_due(struct ordering *o, struct waiting *w, size_t i) {
    for (size_t k = 0; k < w->n;)
        if (o->due[w->at[k]] <= i)
            emit_waiting(o, w, k);
        else
            k++;
}

static uint64_t copy_ns(const struct ordering *o, const struct rp_step *s) {
    uint64_t bytes = o->g->tensors[s->id].bytes;
    return s->kind == RP_SWAP_OUT ? rp_device_d2h_ns(&o->g->device, bytes)
                                  : rp_device_h2d_ns(&o->g->device, bytes);
}

/* Would a more urgent copy, which may begin only after step i, be late if `copy` went
 * first? */
static bool is_in_the_way(const struct ordering *o, size_t copy, size_t i) {
    const struct rp_step *steps = o->plan->steps.at;
    uint64_t queue_ns =
        steps[copy].kind == RP_SWAP_OUT ? o->timeline.d2h_ns : o->timeline.h2d_ns;
    uint64_t now_ns = o->timeline.compute_ns;
    uint64_t end_ns = (queue_ns > now_ns ? queue_ns : now_ns) + copy_ns(o, &steps[copy]);
    for (size_t j = i + 1; j < o->due[copy] && j < o->plan->steps.n; j++) {
        if (steps[j].kind != steps[copy].kind || o->due[j] >= o->due[copy])
            continue;
        uint64_t ready_ns = now_ns + o->begin_ns[j] - o->begin_ns[i];
        uint64_t due_ns = now_ns + o->begin_ns[o->due[j]] - o->begin_ns[i];
        if (ready_ns < end_ns && end_ns + copy_ns(o, &steps[j]) > due_ns)
            return true;
    }
    return false;
}

/* Keeps the queue busy until the run at step i has ended: the copy that is due first goes
 * first. */
static void fill_queue(struct ordering *o, struct waiting *w, const uint64_t *queue_ns,
                       size_t i) {
    uint64_t end_ns = o->timeline.compute_ns + o->g->ops[o->plan->steps.at[i].id].time_ns;
    while (w->n > 0 && *queue_ns < end_ns) {
        size_t best = 0;
        for (size_t k = 1; k < w->n; k++)
            if (o->due[w->at[k]] < o->due[w->at[best]])
                best = k;
        if (o->patient && is_in_the_way(o, w->at[best], i))
            return;
        emit_waiting(o, w, best);
    }
}

static void order(struct ordering *o) {
    for (size_t i = 0; i < o->plan->steps.n; i++) {
        const struct rp_step *s = &o->plan->steps.at[i];
        if (is_copy(s)) {
            rp_push(s->kind == RP_SWAP_OUT ? &o->out : &o->in, i);
            continue;
        }
        emit_due(o, &o->out, i);
        emit_due(o, &o->in, i);
        if (s->kind == RP_RUN) {
            fill_queue(o, &o->out, &o->timeline.d2h_ns, i);
            fill_queue(o, &o->in, &o->timeline.h2d_ns, i);
        }
        emit(o, i);
    }
    emit_due(o, &o->out, SIZE_MAX);
    emit_due(o, &o->in, SIZE_MAX);
}

/* Replaces the steps by those in the new order if they end earlier than time_ns. */
static uint64_t try_order(const struct rp_graph *g, struct rp_plan *plan, bool patient,
                          uint64_t time_ns) {
    size_t n = plan->steps.n;
    struct ordering o = {.g = g, .plan = plan, .patient = patient};
    o.due = rp_calloc(n + 1, sizeof *o.due);
    o.begin_ns = rp_calloc(n + 1, sizeof *o.begin_ns);
    for (size_t i = 0; i < n; i++) {
        const struct rp_step *s = &plan->steps.at[i];
        o.begin_ns[i + 1] = o.begin_ns[i] + (s->kind == RP_RUN ? g->ops[s->id].time_ns : 0);
    }
    rp_timeline_init(&o.timeline, g);
    find_due(&o);
    order(&o);
    uint64_t new_ns = rp_steps_time_ns(g, o.steps.at, o.steps.n);
    for (size_t i = 0; i < n && new_ns < time_ns; i++)
        plan->steps.at[i] = o.steps.at[i];
    rp_timeline_fini(&o.timeline);
    free(o.due);
    free(o.begin_ns);
    free(o.out.at);
    free(o.in.at);
    free(o.steps.at);
    return new_ns < time_ns ? new_ns : time_ns;
}

uint64_t rp_order_copies(const struct rp_graph *g, struct rp_plan *plan) {
    uint64_t time_ns = rp_steps_time_ns(g, plan->steps.at, plan->steps.n);
    time_ns = try_order(g, plan, false, time_ns);
    return try_order(g, plan, true, time_ns);
}
