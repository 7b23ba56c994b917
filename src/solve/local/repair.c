#include "solve/local/repair.h"

#include <math.h>

#include "solve/local/moves_interval.h"

/* Of the bytes above the limit: what a tensor must have to leave a stage with all others.
 */
#define LEAST_SHARE 0.02

/* What a step does to a stage, whose last op is its own. */
enum kind {
    SWAP,   /* a tensor is on the host over its interval around a row */
    INPUT,  /* an input of its op comes from the host instead of being made again */
    RERUNS, /* all that it makes again comes from the host, or later */
    ALL     /* the same, and what it only holds is on the host */
};
struct step {
    enum kind kind;
    uint32_t x, row;
};

struct search {
    struct rp_incremental *s;
    uint64_t max_work; /* of the state */
    struct rp_stop *stop;
    uint32_t t; /* the stage */
    struct step best;
    double price; /* of it: ns for each byte that it frees. INFINITY: none frees any */
};

/* ---- one step ---- */

static bool may_move(const struct search *w, uint32_t x) {
    const struct rp_instance *p = w->s->p;
    return rp_swappable(w->s, x) && !rp_is_version(p, x);
}

/* x was made in an earlier stage. May it leave this one? Its op does without it. */
static bool may_leave(const struct search *w, uint32_t x) {
    return may_move(w, x) && !rp_op_reads(w->s->p, w->t, x);
}

static bool is_input_to_copy(const struct search *w, uint32_t x) {
    return may_move(w, x) && !rp_incremental_held(w->s, w->t, x) &&
           !rp_incremental_swapped_in(w->s, w->t, x);
}

/* x is away over its interval around the row. It comes back in the stage at its end, unless
 * that makes it anyway, for another output of the same op. */
static void swap_around(struct rp_incremental *s, uint32_t x, uint32_t row) {
    uint32_t first, last;
    if (!rp_find_interval(s, x, row, &first, &last))
        return;
    rp_incremental_flip(s, x, first, last, false);
    if (!rp_incremental_runs(s, last, s->p->producer[x]))
        rp_incremental_flip_swap_in(s, x, last, true);
}

/* x is not there as the stage begins, nor as it ends. What is there after the last stage is
 * kept, so it is swapped in instead of being made again. */
static void leave(struct search *w, uint32_t x) {
    uint32_t first, last, t = w->t;
    if (t + 1 < w->s->n_stages && rp_incremental_held(w->s, t + 1, x))
        swap_around(w->s, x, t + 1);
    else if (rp_incremental_held(w->s, t + 1, x) && !rp_incremental_held(w->s, t, x))
        rp_incremental_flip_swap_in(w->s, x, t, true);
    /* What is still there is read by runs of this stage alone, or by none. */
    if (rp_incremental_held(w->s, t, x) && rp_find_interval(w->s, x, t, &first, &last))
        rp_incremental_flip(w->s, x, first, t, false);
}

/* What the stage makes again leaves it; with `all`, so does what is large. Its op's inputs
 * come from the host. */
static void clear_stage(struct search *w, bool all) {
    const struct rp_instance *p = w->s->p;
    double least = LEAST_SHARE * w->s->over_bytes[w->t];
    for (uint32_t x = p->n_homes; x < p->n_tensors && p->producer[x] < w->t; x++) {
        bool is_made =
            !rp_incremental_held(w->s, w->t, x) && rp_incremental_held(w->s, w->t + 1, x);
        if ((is_made || (all && (double)p->bytes[x] >= least)) && may_leave(w, x))
            leave(w, x);
    }
    for (uint32_t k = p->input_start[w->t]; k < p->input_start[w->t + 1]; k++)
        if (is_input_to_copy(w, p->inputs[k]))
            rp_incremental_flip_swap_in(w->s, p->inputs[k], w->t, true);
}

/* Proposes the step as a move. False if it cannot be done. */
static bool evaluate(struct search *w, struct step c) {
    rp_incremental_begin(w->s);
    if (c.kind == SWAP)
        swap_around(w->s, c.x, c.row);
    else if (c.kind == INPUT)
        rp_incremental_flip_swap_in(w->s, c.x, w->t, true);
    else
        clear_stage(w, c.kind == ALL);
    return !w->s->infeasible && rp_incremental_evaluate(w->s, 0, INFINITY, false);
}

/* ---- all steps ---- */

static bool may_go_on(const struct search *w) {
    return w->s->work < w->max_work && !rp_stop_now(w->stop);
}

static void try_step(struct search *w, struct step c) {
    if (!may_go_on(w))
        return;
    bool can = evaluate(w, c);
    double freed = w->s->overflow_bytes - w->s->new_overflow_bytes;
    double price = (w->s->new_time_ns - w->s->time_ns) / freed;
    if (can && freed > 0 && price < w->price) {
        w->best = c;
        w->price = price;
    }
    rp_incremental_undo(w->s);
}

static void try_all_steps(struct search *w) {
    const struct rp_incremental *s = w->s;
    const struct rp_instance *p = s->p;
    w->price = INFINITY;
    w->s->work += p->n_tensors / 16;
    for (uint32_t x = p->n_homes; x < p->n_tensors && p->producer[x] < w->t; x++)
        for (uint32_t row = w->t; row <= w->t + 1; row++)
            if (rp_incremental_held(s, row, x) && may_leave(w, x))
                try_step(w, (struct step){SWAP, x, row});
    for (uint32_t k = p->input_start[w->t]; k < p->input_start[w->t + 1]; k++)
        if (is_input_to_copy(w, p->inputs[k]))
            try_step(w, (struct step){INPUT, p->inputs[k], w->t});
    try_step(w, (struct step){.kind = RERUNS});
    try_step(w, (struct step){.kind = ALL});
}

/* Takes the best step. False if there is none. */
static bool improve(struct search *w) {
    try_all_steps(w);
    if (w->price == INFINITY || !may_go_on(w))
        return false;
    evaluate(w, w->best);
    rp_incremental_commit(w->s);
    return true;
}

bool rp_repair(struct rp_incremental *s, uint64_t work, struct rp_stop *stop) {
    struct search w = {.s = s, .max_work = s->work + work, .stop = stop};
    for (; w.t < s->n_stages && s->p->out_ns != NULL; w.t++)
        while (s->over_bytes[w.t] > 0)
            if (!improve(&w))
                return false;
    return s->overflow_bytes <= 0;
}
