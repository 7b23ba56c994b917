#include "solve/local/shrink_lifetimes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/timeline.h"

struct shrinking {
    const struct rp_graph *g;
    struct rp_step *steps;
    size_t n;
    uint64_t *reached_ns;  /* per step: the end of the compute queue before it; n: in all */
    uint64_t *begin_ns;    /* per step: of runs and swap-ins */
    uint64_t *duration_ns; /* per step: of swap-ins */
    size_t *to;            /* per step: the step it moves before, or itself */
    /* Per tensor. In move_frees: the last step so far that uses it. In move_swap_ins: 1 +
     * the next step that uses it; 0 if none does. */
    size_t *use;
    bool *ran;      /* per op */
    bool *at_begin; /* per step: no run lies between it and the end of a first run, so
                       a stage of the schedule begins here */
    uint64_t end_ns;
};

/* The first step of [low, high) that is reached at `ns` or later; high if there is none. */
static size_t first_reached(const struct shrinking *s, size_t low, size_t high,
                            uint64_t ns) {
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->reached_ns[mid] < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void set_use(struct shrinking *s, size_t k, size_t mark) {
    const struct rp_step *step = &s->steps[k];
    if (step->kind != RP_RUN) {
        s->use[step->id] = mark;
        return;
    }
    const struct rp_op *op = &s->g->ops[step->id];
    for (uint32_t i = 0; i < op->n_inputs; i++)
        s->use[op->inputs[i]] = mark;
    for (uint32_t i = 0; i < op->n_updates; i++)
        s->use[op->updates[i]] = mark;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        s->use[op->outputs[i]] = mark;
}

/* A free moves right after the last use, or, if the copy out ends later, to the first
 * beginning of a stage after that: in the middle of a stage no schedule frees what the
 * stage does not use. The free of a tensor that came in and was not used stays where it
 * is: no use tells by when its swap-in has ended. */
static void move_free(struct shrinking *s, const struct rp_timeline *timeline, size_t k) {
    uint32_t x = s->steps[k].id;
    size_t last = s->use[x];
    if (s->steps[last].kind == RP_SWAP_IN)
        return;
    s->to[k] = first_reached(s, last + 1, k, timeline->host_ready_ns[x]);
    while (s->to[k] > last + 1 && s->to[k] < k && !s->at_begin[s->to[k]])
        s->to[k]++;
}

/* Goes through the steps along the time line, and moves the frees. */
static void move_frees(struct shrinking *s) {
    struct rp_timeline timeline;
    rp_timeline_init(&timeline, s->g);
    for (size_t k = 0; k < s->n; k++) {
        const struct rp_step *step = &s->steps[k];
        uint64_t busy = timeline.h2d_busy_ns;
        s->to[k] = k;
        s->at_begin[k] = k > 0 && s->at_begin[k - 1];
        if (k > 0 && s->steps[k - 1].kind == RP_RUN) {
            s->at_begin[k] = !s->ran[s->steps[k - 1].id];
            s->ran[s->steps[k - 1].id] = true;
        }
        s->reached_ns[k] = timeline.compute_ns;
        if (step->kind == RP_FREE)
            move_free(s, &timeline, k);
        rp_timeline_step(&timeline, step);
        if (step->kind == RP_RUN)
            s->begin_ns[k] = timeline.compute_ns - s->g->ops[step->id].time_ns;
        if (step->kind == RP_SWAP_IN) {
            s->duration_ns[k] = timeline.h2d_busy_ns - busy;
            s->begin_ns[k] = timeline.h2d_ns - s->duration_ns[k];
        }
        set_use(s, k, k);
    }
    s->reached_ns[s->n] = timeline.compute_ns;
    s->end_ns = rp_timeline_end(&timeline);
    rp_timeline_fini(&timeline);
}

/* Moves swap-ins later, from the last to the first. Each ends when its tensor is used, or
 * when the next swap-in begins. */
static void move_swap_ins(struct shrinking *s) {
    uint64_t next_begin = UINT64_MAX;
    size_t next_to = s->n;
    for (uint32_t x = 0; x < s->g->n_tensors; x++)
        s->use[x] = 0;
    for (size_t k = s->n; k-- > 0;) {
        const struct rp_step *step = &s->steps[k];
        if (step->kind != RP_SWAP_IN) {
            set_use(s, k, k + 1);
            continue;
        }
        size_t use = s->use[step->id] > 0 ? s->use[step->id] - 1 : s->n;
        uint64_t end = use == s->n                    ? s->end_ns
                       : s->steps[use].kind == RP_RUN ? s->begin_ns[use]
                                                      : s->reached_ns[use];
        if (end > next_begin)
            end = next_begin;
        if (end >= s->begin_ns[k] + s->duration_ns[k])
            s->begin_ns[k] = end - s->duration_ns[k];
        size_t last = use < next_to ? use : next_to;
        s->to[k] = first_reached(s, k + 1, last + 1, s->begin_ns[k] + 1) - 1;
        next_begin = s->begin_ns[k];
        next_to = s->to[k];
    }
}

struct position {
    size_t to, from;
    enum { MOVED_FREE, MOVED_SWAP_IN, UNMOVED } kind; /* in this order before a step */
};

static int by_position(const void *a, const void *b) {
    const struct position *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void reorder(struct shrinking *s) {
    struct position *positions = rp_calloc(s->n, sizeof *positions);
    struct rp_step *old = rp_calloc(s->n, sizeof *old);
    for (size_t k = 0; k < s->n; k++) {
        old[k] = s->steps[k];
        positions[k] = (struct position){s->to[k], k,
                                         s->to[k] < k   ? MOVED_FREE
                                         : s->to[k] > k ? MOVED_SWAP_IN
                                                        : UNMOVED};
    }
    qsort(positions, s->n, sizeof *positions, by_position);
    for (size_t k = 0; k < s->n; k++)
        s->steps[k] = old[positions[k].from];
    free(old);
    free(positions);
}

void rp_shrink_lifetimes(const struct rp_graph *g, struct rp_plan *plan) {
    struct shrinking s = {.g = g, .steps = plan->steps.at, .n = plan->steps.n};
    s.reached_ns = rp_calloc(s.n + 1, sizeof *s.reached_ns);
    s.begin_ns = rp_calloc(s.n, sizeof *s.begin_ns);
    s.duration_ns = rp_calloc(s.n, sizeof *s.duration_ns);
    s.ran = rp_calloc(g->n_ops, sizeof *s.ran);
    s.at_begin = rp_calloc(s.n, sizeof *s.at_begin);
    s.to = rp_calloc(s.n, sizeof *s.to);
    s.use = rp_calloc(g->n_tensors, sizeof *s.use);
    move_frees(&s);
    move_swap_ins(&s);
    reorder(&s);
    free(s.reached_ns);
    free(s.begin_ns);
    free(s.duration_ns);
    free(s.ran);
    free(s.at_begin);
    free(s.to);
    free(s.use);
}
