#include "solve/local/postpone.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

struct swap_in {
    uint32_t x, t; /* in stage t */
    uint32_t use;  /* the first stage from t on that reads it, or at the latest n_ops - 1 */
    uint64_t start_ns; /* of the copy */
};

struct walk {
    const struct rp_instance *p;
    RP_VEC(struct swap_in) ins; /* in the order of the queue */
    size_t
        *pending; /* per tensor of the graph: 1 + its swap-in that nothing has used yet */
    uint64_t *begin_ns; /* per stage: when its first run may begin */
    struct rp_timeline clock;
};

static void list_swap_ins(struct walk *w, const struct rp_schedule *s) {
    for (uint32_t t = 0; t < s->n_stages; t++)
        for (size_t i = s->words; i-- > 0;)
            for (uint64_t rest = s->ins[(size_t)t * s->words + i]; rest != 0;) {
                uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
                struct swap_in in = {
                    .x = (uint32_t)(i * 64) + high, .t = t, .use = s->n_stages - 1};
                rest ^= (uint64_t)1 << high;
                rp_push(&w->ins, in);
            }
}

static void use(struct walk *w, uint32_t x, uint32_t stage) {
    if (w->pending[x] != 0)
        w->ins.at[w->pending[x] - 1].use = stage;
    w->pending[x] = 0;
}

static void use_inputs(struct walk *w, const struct rp_op *op, uint32_t stage) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        use(w, op->inputs[k], stage);
    for (uint32_t k = 0; k < op->n_updates; k++)
        use(w, op->updates[k], stage);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        use(w, op->outputs[k], stage);
}

/* Goes through the steps along the time line. */
static void walk_steps(struct walk *w, const struct rp_plan *plan) {
    const struct rp_graph *g = w->p->graph;
    uint32_t stage = w->p->n_homes > 0;
    size_t n = 0;
    bool begun = false;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        uint64_t busy_ns = w->clock.h2d_busy_ns;
        if (step->kind == RP_RUN && !begun)
            w->begin_ns[stage] = w->clock.compute_ns;
        rp_timeline_step(&w->clock, step);
        if (step->kind == RP_SWAP_IN) {
            w->pending[step->id] = n + 1;
            w->ins.at[n++].start_ns = w->clock.h2d_ns - (w->clock.h2d_busy_ns - busy_ns);
        }
        if (step->kind == RP_FREE)
            use(w, step->id, stage);
        if (step->kind != RP_RUN)
            continue;
        use_inputs(w, &g->ops[step->id], stage);
        begun = step->id != w->p->op_of[stage];
        stage += !begun;
    }
}

static void move(struct rp_schedule *s, const struct swap_in *in, uint32_t to) {
    if (to == in->t)
        return;
    rp_schedule_set_in(s, in->x, in->t, false);
    rp_schedule_set_in(s, in->x, to, true);
    rp_schedule_set(s, in->x, in->t + 1, to, false);
}

void rp_schedule_postpone(const struct rp_instance *p, struct rp_schedule *s) {
    struct walk w = {.p = p};
    struct rp_plan plan = {0};
    uint32_t last = p->n_ops - 1;
    if (!rp_schedule_swaps(s))
        return;
    w.pending = rp_calloc(p->graph->n_tensors, sizeof *w.pending);
    w.begin_ns = rp_calloc(p->n_ops, sizeof *w.begin_ns);
    rp_timeline_init(&w.clock, p->graph);
    list_swap_ins(&w, s);
    rp_schedule_steps(p, s, NULL, &plan);
    walk_steps(&w, &plan);
    for (size_t k = w.ins.n; k-- > 0;) {
        const struct swap_in *in = &w.ins.at[k];
        last = rp_min_u32(last, in->use);
        while (last > in->t && w.begin_ns[last] > in->start_ns)
            last--;
        last = last < in->t ? in->t : last;
        move(s, in, last);
    }
    rp_plan_fini(&plan);
    rp_timeline_fini(&w.clock);
    free(w.ins.at);
    free(w.pending);
    free(w.begin_ns);
}
