#include "solve/construct/swap_descent.h"

#include "solve/construct/copy_ahead.h"
#include "solve/incremental/incremental.h"
#include "solve/local/moves_interval.h"

enum { NS_PER_WORK = 40 }; /* about, of a unit of the state's work */

/* What becomes of a copy in. With runs_back > 0 the tensor is made again: its maker runs,
 * before that the makers of what that reads, and so on. What is read that many runs back
 * comes from the host, if it is not there. With `stays` that is held until its next use,
 * which then needs no copy of its own. */
struct choice {
    uint32_t runs_back; /* 0: the tensor is held since its last use */
    bool stays;
};
static const struct choice choices[] = {
    {0, false}, {1, false}, {1, true}, {2, false}, {2, true}};
enum { N_CHOICES = sizeof choices / sizeof *choices };

/* y comes from the host in stage t, or its maker runs there. */
static void provide(struct rp_incremental *s, uint32_t y, uint32_t t, struct choice c) {
    const struct rp_instance *p = s->p;
    uint32_t maker = p->producer[y], next;
    if (rp_incremental_held(s, t, y) || rp_incremental_swapped_in(s, t, y))
        return;
    if (c.runs_back > 0 && p->last_stage[maker] >= t) {
        c.runs_back--;
        for (uint32_t k = p->input_start[maker]; k < p->input_start[maker + 1]; k++)
            provide(s, p->inputs[k], t, c);
    } else if (rp_swappable(s, y)) {
        rp_incremental_flip_swap_in(s, y, t, true);
        next = c.stays ? rp_incremental_use_from(s, y, t + 1) : RP_NONE;
        if (next != RP_NONE)
            rp_incremental_flip(s, y, t + 1, next, true);
    }
}

/* Proposes a move without the copy in of x in stage t. False if there is none. */
static bool propose(struct rp_incremental *s, uint32_t x, uint32_t t, struct choice c) {
    uint32_t first, last, maker = s->p->producer[x];
    rp_incremental_begin(s);
    if (!rp_find_interval(s, x, t, &first, &last) || last < t)
        return false;
    if (c.runs_back == 0) {
        rp_incremental_flip(s, x, first, last, true);
        return true;
    }
    if (s->p->last_stage[maker] < t)
        return false;
    rp_incremental_flip_swap_in(s, x, t, false);
    provide(s, x, t, c);
    return true;
}

/* The move is faster than best_ns, and the schedule still fits. */
static bool is_better(struct rp_incremental *s, double best_ns) {
    return !s->infeasible && rp_incremental_evaluate(s, 0, 0, false) &&
           s->new_overflow_bytes <= 0 && s->new_time_ns < best_ns;
}

/* Takes the fastest choice. False if none is faster than the copy in of x. */
static bool leave_out(struct rp_incremental *s, uint32_t x, uint32_t t) {
    double best_ns = s->time_ns;
    int best = -1;
    for (int i = 0; i < N_CHOICES; i++) {
        if (propose(s, x, t, choices[i]) && is_better(s, best_ns)) {
            best_ns = s->new_time_ns;
            best = i;
        }
        rp_incremental_undo(s);
    }
    if (best < 0)
        return false;
    propose(s, x, t, choices[best]);
    rp_incremental_evaluate(s, 0, 0, false);
    rp_incremental_commit(s);
    return true;
}

/* Each change may bring other copies into the stage, so its copies are looked at anew. That
 * ends, since each change makes the schedule faster. */
static void visit_stage(struct rp_incremental *s, uint32_t t, struct rp_stop *stop) {
    const struct rp_swap_ins *ins = &s->swaps.swap_ins[t];
    for (uint32_t i = 0; i < ins->n;) {
        uint64_t work = s->work;
        i = leave_out(s, ins->at[i].x, t) ? 0 : i + 1;
        if (rp_stop_after(stop, NS_PER_WORK * (s->work - work)))
            return;
    }
}

void rp_swap_descent(const struct rp_instance *p, struct rp_stop *stop,
                     struct rp_schedule *s) {
    struct rp_incremental state;
    rp_incremental_init(&state, p);
    if (rp_incremental_load_until(&state, s, stop)) {
        for (uint32_t t = 0; t < state.n_stages && !rp_stop_hit(stop); t++)
            visit_stage(&state, t, stop);
        rp_incremental_store(&state, s);
        rp_schedule_copy_ahead(p, stop, s);
    }
    rp_incremental_fini(&state);
}
