#include "solve/search/stage_rounding.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

/* A stage of the program under way. */
struct rounding {
    const struct rp_formulation *f;
    const double *v;
    double threshold;
    /* Per tensor. */
    bool *there;           /* held as the stage began, or made since; then: */
    uint32_t *from;        /* the row from which it is held */
    uint32_t *use;         /* the op that uses it last */
    uint32_t *needed;      /* until then it is held from its making on; 0: it is not */
    RP_VEC(uint32_t) open; /* ops that are to run */
};

static bool is_held(const struct rounding *w, uint32_t stage, uint32_t x) {
    return rp_formulation_value(w->v, rp_formulation_held(w->f, stage, x)) > w->threshold;
}

static void make_outputs(struct rounding *w, uint32_t j, uint32_t t) {
    const struct rp_instance *p = w->f->instance;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        if (w->there[x])
            continue;
        w->there[x] = true;
        w->from[x] = t + 1;
        w->use[x] = t;
    }
}

/* x is wanted as op t first runs, and is not there. False if its maker may not run again.
 * Then it has been held until now. */
static bool is_to_run(struct rounding *w, uint32_t x, uint32_t t) {
    const struct rp_instance *p = w->f->instance;
    if (t <= p->last_stage[p->producer[x]])
        return true;
    w->there[x] = true;
    w->from[x] = w->needed[x] = t;
    return false;
}

/* The inputs of op j are used as op t first runs. Makers of those that are not there are to
 * run. True if there is none. */
static bool use_inputs(struct rounding *w, uint32_t j, uint32_t t) {
    const struct rp_instance *p = w->f->instance;
    size_t before = w->open.n;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t x = p->inputs[k];
        w->use[x] = t;
        if (!w->there[x] && is_to_run(w, x, t))
            rp_push(&w->open, p->producer[x]);
    }
    return w->open.n == before;
}

/* Op j runs as op t first runs, after what it needs. */
static void run(struct rounding *w, uint32_t j, uint32_t t) {
    rp_push(&w->open, j);
    while (w->open.n > 0) {
        uint32_t next = w->open.at[w->open.n - 1];
        if (!use_inputs(w, next, t))
            continue;
        make_outputs(w, next, t);
        w->open.n--;
    }
}

static void begin_stage(struct rounding *w, uint32_t stage, uint32_t first) {
    for (uint32_t x = 0; x < w->f->instance->n_tensors; x++) {
        w->there[x] = is_held(w, stage, x);
        w->from[x] = w->use[x] = first;
    }
}

/* What is held on is made with the last op of the stage at the latest. That it is held as
 * the next stage begins, that stage says. */
static void end_stage(struct rounding *w, uint32_t stage, struct rp_schedule *s) {
    const struct rp_instance *p = w->f->instance;
    uint32_t last = w->f->last_op[stage];
    bool ends_step = stage + 1 == w->f->n_stages;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (is_held(w, stage + 1, x) && !w->there[x] && is_to_run(w, x, last))
            run(w, p->producer[x], last);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (is_held(w, stage + 1, x))
            w->use[x] = last + ends_step;
        if (w->there[x])
            rp_schedule_change(s, x, w->from[x], w->use[x]);
    }
}

void rp_stage_rounding(const struct rp_formulation *f, const double *v, double threshold,
                       struct rp_schedule *s) {
    uint32_t n = f->instance->n_tensors;
    struct rounding w = {.f = f,
                         .v = v,
                         .threshold = threshold,
                         .there = rp_calloc(n, sizeof *w.there),
                         .from = rp_calloc(n, sizeof *w.from),
                         .use = rp_calloc(n, sizeof *w.use),
                         .needed = rp_calloc(n, sizeof *w.needed)};
    rp_schedule_fini(s);
    rp_schedule_empty(f->instance, s);
    for (uint32_t stage = 0, t = 0; stage < f->n_stages; stage++) {
        begin_stage(&w, stage, t);
        for (; t <= f->last_op[stage]; t++)
            run(&w, t, t);
        end_stage(&w, stage, s);
    }
    rp_schedule_from_changes(s);
    for (uint32_t x = 0; x < n; x++)
        if (w.needed[x] > 0)
            rp_schedule_set(s, x, f->instance->producer[x] + 1, w.needed[x], true);
    free(w.there);
    free(w.from);
    free(w.use);
    free(w.needed);
    free(w.open.at);
}
