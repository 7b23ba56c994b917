#include "solve/construct/copy_ahead.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

/* ---- earlier ---- */

uint64_t *rp_schedule_room(const struct rp_instance *p, const struct rp_schedule *s,
                           struct rp_stop *stop) {
    struct rp_stage_work w = {0};
    uint64_t *room = rp_calloc(p->n_ops, sizeof *room);
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && !rp_stop_after(stop, s->words); t++)
        if (rp_stage_eval(p, s, t, &w) && w.stage.peak_bytes < p->limit_bytes)
            room[t] = p->limit_bytes - w.stage.peak_bytes;
    rp_stage_work_fini(&w);
    return room;
}

/* The earliest stage, not before `first`, from which on there is room for x to stage t, in
 * which it is swapped in. */
static uint32_t earliest(const struct rp_instance *p, const struct rp_schedule *s,
                         const uint64_t *room, uint32_t x, uint32_t first, uint32_t t) {
    first = rp_max_u32(first, p->producer[x] + 1);
    while (t > first && !rp_held(s, t - 1, x) && !rp_swapped_in(s, t - 1, x) &&
           room[t - 1] >= p->bytes[x])
        t--;
    return t;
}

static void bring_forward(const struct rp_instance *p, struct rp_schedule *s,
                          uint64_t *room, uint32_t x, uint32_t from, uint32_t to) {
    rp_schedule_set_in(s, x, from, false);
    rp_schedule_set_in(s, x, to, true);
    rp_schedule_set(s, x, to + 1, from, true);
    for (uint32_t t = to; t < from; t++)
        room[t] -= p->bytes[x];
}

void rp_schedule_prefetch(const struct rp_instance *p, struct rp_stop *stop,
                          struct rp_schedule *s) {
    uint64_t *room = rp_schedule_room(p, s, stop);
    uint32_t first = 0;
    for (uint32_t t = 0; t < p->n_ops && s->ins != NULL && !rp_stop_after(stop, s->words);
         t++)
        for (size_t i = s->words; i-- > 0;)
            for (uint64_t rest = s->ins[(size_t)t * s->words + i]; rest != 0;) {
                uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
                uint32_t x = (uint32_t)(i * 64) + high;
                rest ^= (uint64_t)1 << high;
                first = earliest(p, s, room, x, first, t);
                if (first < t)
                    bring_forward(p, s, room, x, t, first);
            }
    free(room);
}

/* ---- later, and freed earlier ---- */

struct swap_in {
    uint32_t x, t; /* in stage t */
    uint32_t use;  /* the first stage from t on that reads it, or at the latest n_ops - 1 */
    uint64_t start_ns; /* of the copy */
};

struct walk {
    const struct rp_instance *p;
    struct rp_schedule *s;
    RP_VEC(struct swap_in) ins; /* in the order of the queue */
    /* Per tensor of the graph: 1 + its swap-in that nothing has used yet; the last stage so
     * far that used it; which tensor of the instance it is now. */
    size_t *pending;
    uint32_t *used, *now;
    /* Per stage: when it begins, with frees, and when its first run may begin. */
    uint64_t *begin_ns, *run_ns;
    struct rp_timeline clock;
};

static void list_swap_ins(struct walk *w) {
    const struct rp_schedule *s = w->s;
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
    w->used[x] = stage;
}

static void use_tensors(struct walk *w, const struct rp_op *op, uint32_t stage) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        use(w, op->inputs[k], stage);
    for (uint32_t k = 0; k < op->n_updates; k++)
        use(w, op->updates[k], stage);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        use(w, op->outputs[k], stage);
}

/* What is freed at the beginning of this stage is freed in the first one that begins after
 * its copy out has ended. */
static void free_early(struct walk *w, uint32_t y, uint32_t stage) {
    uint32_t t = w->used[y] + 1, x = w->now[y];
    if (w->clock.host_ready_ns[y] == 0)
        return;
    while (t < stage && w->begin_ns[t] < w->clock.host_ready_ns[y])
        t++;
    if (t < stage)
        rp_schedule_set(w->s, x, t + 1, stage, false);
}

static void begin_stage(struct walk *w, uint32_t stage) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = p->output_start[stage]; x < p->output_start[stage + 1]; x++)
        w->now[p->tensor_of[x]] = x;
    if (stage + 1 < p->n_ops)
        w->begin_ns[stage + 1] = w->clock.compute_ns;
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
            w->run_ns[stage] = w->clock.compute_ns;
        if (step->kind == RP_FREE && !begun && w->pending[step->id] == 0)
            free_early(w, step->id, stage);
        rp_timeline_step(&w->clock, step);
        if (step->kind == RP_SWAP_IN) {
            w->pending[step->id] = n + 1;
            w->ins.at[n++].start_ns = w->clock.h2d_ns - (w->clock.h2d_busy_ns - busy_ns);
        }
        if (step->kind != RP_RUN)
            continue;
        use_tensors(w, &g->ops[step->id], stage);
        begun = step->id != w->p->op_of[stage];
        if (!begun)
            begin_stage(w, stage++);
    }
    if (w->p->has_end && !begun)
        w->run_ns[stage] = w->clock.compute_ns;
}

static void put_back(struct rp_schedule *s, const struct swap_in *in, uint32_t to) {
    if (to == in->t)
        return;
    rp_schedule_set_in(s, in->x, in->t, false);
    rp_schedule_set_in(s, in->x, to, true);
    rp_schedule_set(s, in->x, in->t + 1, to, false);
}

static void put_all_back(struct walk *w) {
    uint32_t last = w->p->n_ops - 1, next = 0; /* next in the queue, to stage `last` */
    for (size_t k = w->ins.n; k-- > 0;) {
        const struct swap_in *in = &w->ins.at[k];
        bool passes = in->x < next; /* in the same stage the larger comes first */
        last = rp_min_u32(last - (passes && last > in->t), in->use);
        while (last > in->t && w->run_ns[last] > in->start_ns)
            last--;
        put_back(w->s, in, last);
        next = in->x;
    }
}

void rp_schedule_trim(const struct rp_instance *p, struct rp_stop *stop,
                      struct rp_schedule *s) {
    struct walk w = {.p = p, .s = s};
    struct rp_plan plan = {0};
    if (s->ins == NULL)
        return;
    w.pending = rp_calloc(p->graph->n_tensors, sizeof *w.pending);
    w.used = rp_calloc(p->graph->n_tensors, sizeof *w.used);
    w.now = rp_calloc(p->graph->n_tensors, sizeof *w.now);
    w.begin_ns = rp_calloc(p->n_ops, sizeof *w.begin_ns);
    w.run_ns = rp_calloc(p->n_ops, sizeof *w.run_ns);
    rp_timeline_init(&w.clock, p->graph);
    list_swap_ins(&w);
    rp_schedule_steps(p, s, stop, &plan);
    if (!rp_stop_hit(stop)) {
        walk_steps(&w, &plan);
        put_all_back(&w);
    }
    rp_plan_fini(&plan);
    rp_timeline_fini(&w.clock);
    free(w.ins.at);
    free(w.pending);
    free(w.used);
    free(w.now);
    free(w.begin_ns);
    free(w.run_ns);
}

void rp_schedule_copy_ahead(const struct rp_instance *p, struct rp_stop *stop,
                            struct rp_schedule *s) {
    enum { ROUNDS = 3 };
    for (int k = 0; k < ROUNDS && !rp_stop_now(stop); k++) {
        rp_schedule_prefetch(p, stop, s);
        rp_schedule_trim(p, stop, s);
    }
}
