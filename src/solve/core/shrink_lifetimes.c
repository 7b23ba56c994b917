#include "solve/core/shrink_lifetimes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/timeline.h"

struct shortening {
    const struct rp_graph *g;
    struct rp_step *steps;
    size_t n;
    uint64_t *at;    /* the compute clock as step k is reached; at[n]: at the end */
    uint64_t *begin; /* of runs and swap-ins, by step */
    uint64_t *takes; /* of swap-ins, by step */
    size_t *to;      /* per step: the step it is to go before, or itself */
    size_t *use;     /* per tensor: the last step so far that uses it; or 1 + the next one,
                        0 if there is none */
    bool *ran;       /* per op */
    bool *begins;    /* per step: no run lies between it and the first run of an op */
    uint64_t end_ns;
};

/* The first step of [low, high) that the compute clock reaches at `ns` or later; high if
 * there is none. */
static size_t first_from(const struct shortening *s, size_t low, size_t high, uint64_t ns) {
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->at[mid] < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void note_use(struct shortening *s, size_t k, size_t mark) {
    const struct rp_step *step = &s->steps[k];
    if (step->kind != RP_RUN) {
        s->use[step->id] = mark;
        return;
    }
    const struct rp_op *op = &s->g->ops[step->id];
    for (uint32_t i = 0; i < op->n_inputs; i++)
        s->use[op->inputs[i]] = mark;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        s->use[op->outputs[i]] = mark;
}

/* Right after the last use, or where a stage begins once its copy out has ended: in the
 * middle of a stage no schedule frees what that does not use. What came in for nothing
 * stays where it is: nothing says when it is there. */
static void move_free(struct shortening *s, const struct rp_timeline *clock, size_t k) {
    uint32_t x = s->steps[k].id;
    size_t last = s->use[x];
    if (s->steps[last].kind == RP_SWAP_IN)
        return;
    s->to[k] = first_from(s, last + 1, k, clock->host_ready_ns[x]);
    while (s->to[k] > last + 1 && s->to[k] < k && !s->begins[s->to[k]])
        s->to[k]++;
}

/* Follows the time line, and moves the frees. */
static void move_frees(struct shortening *s) {
    struct rp_timeline clock;
    rp_timeline_init(&clock, s->g);
    for (size_t k = 0; k < s->n; k++) {
        const struct rp_step *step = &s->steps[k];
        uint64_t busy = clock.h2d_busy_ns;
        s->to[k] = k;
        s->begins[k] = k > 0 && s->begins[k - 1];
        if (k > 0 && s->steps[k - 1].kind == RP_RUN) {
            s->begins[k] = !s->ran[s->steps[k - 1].id];
            s->ran[s->steps[k - 1].id] = true;
        }
        s->at[k] = clock.compute_ns;
        if (step->kind == RP_FREE)
            move_free(s, &clock, k);
        rp_timeline_step(&clock, step);
        if (step->kind == RP_RUN)
            s->begin[k] = clock.compute_ns - s->g->ops[step->id].time_ns;
        if (step->kind == RP_SWAP_IN) {
            s->takes[k] = clock.h2d_busy_ns - busy;
            s->begin[k] = clock.h2d_ns - s->takes[k];
        }
        note_use(s, k, k);
    }
    s->at[s->n] = clock.compute_ns;
    s->end_ns = rp_timeline_end(&clock);
    rp_timeline_fini(&clock);
}

/* From the last to the first: each ends when it is wanted, or the next one begins. */
static void move_swap_ins(struct shortening *s) {
    uint64_t next_begin = UINT64_MAX;
    size_t next_to = s->n;
    for (uint32_t x = 0; x < s->g->n_tensors; x++)
        s->use[x] = 0;
    for (size_t k = s->n; k-- > 0;) {
        const struct rp_step *step = &s->steps[k];
        if (step->kind != RP_SWAP_IN) {
            note_use(s, k, k + 1);
            continue;
        }
        size_t use = s->use[step->id] > 0 ? s->use[step->id] - 1 : s->n;
        uint64_t end = use == s->n                    ? s->end_ns
                       : s->steps[use].kind == RP_RUN ? s->begin[use]
                                                      : s->at[use];
        if (end > next_begin)
            end = next_begin;
        if (end >= s->begin[k] + s->takes[k])
            s->begin[k] = end - s->takes[k];
        size_t last = use < next_to ? use : next_to;
        s->to[k] = first_from(s, k + 1, last + 1, s->begin[k] + 1) - 1;
        next_begin = s->begin[k];
        next_to = s->to[k];
    }
}

struct place {
    size_t to, from;
    enum { MOVED_FREE, MOVED_IN, IN_PLACE } what; /* in this order before a step */
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void reorder(struct shortening *s) {
    struct place *places = rp_calloc(s->n, sizeof *places);
    struct rp_step *old = rp_calloc(s->n, sizeof *old);
    for (size_t k = 0; k < s->n; k++) {
        old[k] = s->steps[k];
        places[k] = (struct place){s->to[k], k,
                                   s->to[k] < k   ? MOVED_FREE
                                   : s->to[k] > k ? MOVED_IN
                                                  : IN_PLACE};
    }
    qsort(places, s->n, sizeof *places, by_place);
    for (size_t k = 0; k < s->n; k++)
        s->steps[k] = old[places[k].from];
    free(old);
    free(places);
}

void rp_shrink_lifetimes(const struct rp_graph *g, struct rp_plan *plan) {
    struct shortening s = {.g = g, .steps = plan->steps.at, .n = plan->steps.n};
    s.at = rp_calloc(s.n + 1, sizeof *s.at);
    s.begin = rp_calloc(s.n, sizeof *s.begin);
    s.takes = rp_calloc(s.n, sizeof *s.takes);
    s.ran = rp_calloc(g->n_ops, sizeof *s.ran);
    s.begins = rp_calloc(s.n, sizeof *s.begins);
    s.to = rp_calloc(s.n, sizeof *s.to);
    s.use = rp_calloc(g->n_tensors, sizeof *s.use);
    move_frees(&s);
    move_swap_ins(&s);
    reorder(&s);
    free(s.at);
    free(s.begin);
    free(s.takes);
    free(s.ran);
    free(s.begins);
    free(s.to);
    free(s.use);
}
