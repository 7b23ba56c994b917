#include "solve/incremental/incremental_evaluate.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/incremental/incremental_flip.h"
#include "solve/incremental/incremental_internal.h"
#include "solve/incremental/incremental_stage.h"
#include "solve/incremental/incremental_timeline.h"

/* Units of work, about 25 ns each, for the runs of a stage; each run whose bytes are
 * counted takes two, and each run that is looked up takes one. */
enum { WORK_PER_CLOSURE = 8 };

/* ---- what the new runs use ---- */

static bool runs_in(const struct rp_incremental_move *m, const struct rp_dirty_stage *d,
                    uint32_t j) {
    const uint32_t *runs = m->runs.at + d->first_run;
    uint32_t low = 0, high = d->n_runs;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (runs[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->n_runs && runs[low] == j;
}

static bool read_in(struct rp_incremental *s, const struct rp_dirty_stage *d, uint32_t x) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
        s->work++;
        if (runs_in(s->move, d, p->readers[k]))
            return true;
    }
    return false;
}

static bool used_in(struct rp_incremental *s, const struct rp_dirty_stage *d, uint32_t x) {
    s->work++;
    return runs_in(s->move, d, s->p->producer[x]) || read_in(s, d, x);
}

/* The last stage before t that makes or reads x, by the new runs where there are some. */
static uint32_t last_use_before(struct rp_incremental *s, uint32_t x, uint32_t t) {
    const struct rp_incremental_move *m = s->move;
    uint32_t last = rp_incremental_use_before(s, x, t);
    for (uint32_t k = 0; k < m->n_dirty; k++) {
        const struct rp_dirty_stage *d = &m->dirty[k];
        if (d->n_runs != RP_NONE && d->t < t && d->t > last && used_in(s, d, x))
            last = d->t;
    }
    return last;
}

/* ---- the runs of a dirty stage, and the flips that follow from them ---- */

/* Holds x from its last hold or swap-in before row t up to row t, or from the last stage in
 * which it can be made. Version 0 of a source is swapped in. */
static void hold_up_to(struct rp_incremental *s, uint32_t t, uint32_t x) {
    uint32_t first = t;
    if (x < s->p->n_homes) {
        rp_incremental_flip_swap_in(s, x, t, true);
        return;
    }
    while (first > s->p->last_stage[s->p->producer[x]] + 1 &&
           !rp_incremental_held(s, first - 1, x) &&
           !rp_incremental_swapped_in(s, first - 1, x))
        first--;
    rp_incremental_flip(s, x, first, t, true);
}

/* The first output of an op that row t lacks. x is the op's first output, or a version. */
static uint32_t missing_output(const struct rp_incremental *s, uint32_t t, uint32_t x) {
    uint32_t j = s->p->producer[x];
    while (!rp_is_version(s->p, x) && x + 1 < s->p->output_start[j + 1] &&
           rp_incremental_held(s, t, x))
        x++;
    return x;
}

/* Finds the new runs of a dirty stage. False if they take more than max_ns. */
static bool find_runs(struct rp_incremental *s, uint32_t index, double max_ns) {
    struct rp_incremental_move *m = s->move;
    struct rp_dirty_stage *d = &m->dirty[index];
    enum rp_closure result = RP_CLOSURE_STUCK;
    while (result == RP_CLOSURE_STUCK && !s->infeasible) {
        uint32_t stuck;
        d->first_run = m->runs.n;
        result = rp_incremental_find_closure(s, d->t, max_ns, &d->time_ns, &stuck);
        d->n_runs = m->runs.n - d->first_run;
        s->work += WORK_PER_CLOSURE;
        if (result == RP_CLOSURE_STUCK) {
            m->runs.n = d->first_run;
            hold_up_to(s, d->t, missing_output(s, d->t, stuck));
        }
    }
    return result != RP_CLOSURE_TOO_SLOW;
}

/* x is swapped out, and row t belongs to its first hold. That hold may end without a use,
 * since it must last until the copy out has ended. */
static bool waits_for_copy(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    if (!rp_incremental_copied_out(s, x))
        return false;
    while (t > s->p->producer[x] && rp_incremental_held(s, t, x))
        t--;
    return t == s->p->producer[x];
}

/* Shortens the holds that end in the stage without a use there, to their last use. The
 * stage's own runs do not read these tensors, so they need not be found again. */
static void shorten_holds(struct rp_incremental *s, uint32_t index) {
    struct rp_dirty_stage d = s->move->dirty[index];
    for (uint32_t k = 0; k < s->closes[d.t].n && !s->infeasible;) {
        uint32_t x = s->closes[d.t].at[k], n = s->closes[d.t].n;
        if (!used_in(s, &d, x) && !waits_for_copy(s, x, d.t))
            rp_incremental_flip(s, x, last_use_before(s, x, d.t) + 1, d.t, false);
        if (s->closes[d.t].n == n) /* else another one took its place */
            k++;
    }
    s->move->dirty[index].n_runs = d.n_runs;
}

/* Removes the swap-ins that the stage neither reads nor holds on. */
static void remove_unused_swap_ins(struct rp_incremental *s, uint32_t index) {
    struct rp_dirty_stage d = s->move->dirty[index];
    struct rp_swap_ins *l = &s->swaps.swap_ins[d.t];
    for (uint32_t k = 0; k < l->n && !s->infeasible;) {
        uint32_t x = l->at[k].x, n = l->n;
        if (!rp_incremental_held(s, d.t + 1, x) && !read_in(s, &d, x))
            rp_incremental_flip_swap_in(s, x, d.t, false);
        if (l->n == n)
            k++;
    }
    s->move->dirty[index].n_runs = d.n_runs;
}

/* How much longer the dirty stages took than the new runs found so far. */
static double saved_ns(const struct rp_incremental *s) {
    const struct rp_incremental_move *m = s->move;
    double sum = 0;
    for (uint32_t k = 0; k < m->n_dirty; k++) {
        sum += s->stage_ns[m->dirty[k].t];
        if (m->dirty[k].n_runs != RP_NONE)
            sum -= m->dirty[k].time_ns;
    }
    return sum;
}

/* Finds the new runs of all dirty stages. False if they take max_rise_ns more than the old
 * ones. */
static bool find_all_runs(struct rp_incremental *s, double max_rise_ns) {
    struct rp_incremental_move *m = s->move;
    for (uint32_t k = 0; k < m->n_dirty && !s->infeasible; k++) {
        if (m->dirty[k].n_runs != RP_NONE)
            continue;
        if (!find_runs(s, k, max_rise_ns + saved_ns(s)))
            return false;
        if (!s->infeasible && s->swaps.n_copies > 0)
            remove_unused_swap_ins(s, k);
        if (!s->infeasible)
            shorten_holds(s, k);
        k = RP_NONE; /* the next is 0: further flips may have opened earlier stages again */
    }
    return true;
}

/* ---- overflow ---- */

/* Bytes of S[t] once the flips of the move are counted. */
static int64_t new_base(const struct rp_incremental *s, uint32_t t) {
    const struct rp_incremental_move *m = s->move;
    int64_t b = s->base_bytes[t];
    for (uint32_t k = 0; k < m->n_flips; k++)
        if (!m->flips[k].swap_in && m->flips[k].first <= t && t <= m->flips[k].last)
            b += m->flips[k].value ? (int64_t)s->p->bytes[m->flips[k].x]
                                   : -(int64_t)s->p->bytes[m->flips[k].x];
    return b;
}

static double positive(double x) {
    return rp_max_double(x, 0);
}

/* Lists, ascending, the rows at which the change of the bytes held may itself change. */
static uint32_t list_breakpoints(const struct rp_incremental *s, uint32_t *row) {
    const struct rp_incremental_move *m = s->move;
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n_flips; k++) {
        if (m->flips[k].swap_in)
            continue;
        row[n++] = m->flips[k].first;
        row[n++] = rp_min_u32(m->flips[k].last + 1, s->n_stages);
    }
    for (uint32_t i = 1; i < n; i++) /* few of them: insertion sort */
        for (uint32_t k = i; k > 0 && row[k - 1] > row[k]; k--) {
            uint32_t swap = row[k];
            row[k] = row[k - 1];
            row[k - 1] = swap;
        }
    return n;
}

/* Change of overflow in the stages that only gain or lose bytes. */
static double shift_overflow(struct rp_incremental *s) {
    const struct rp_incremental_move *m = s->move;
    uint32_t row[2 * RP_MAX_FLIPS], n = list_breakpoints(s, row);
    double sum = 0;
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (row[i] == row[i + 1])
            continue;
        double shift = (double)(new_base(s, row[i]) - s->base_bytes[row[i]]);
        if (shift == 0)
            continue;
        const double *over = s->over_bytes;
        double change = 0;
        for (uint32_t t = row[i]; t < row[i + 1]; t++)
            change += positive(over[t] + shift) - positive(over[t]);
        sum += change;
        s->work += (row[i + 1] - row[i]) / 16;
    }
    for (uint32_t k = 0; k < m->n_dirty; k++) { /* these are evaluated exactly */
        uint32_t t = m->dirty[k].t;
        double shift = (double)(new_base(s, t) - s->base_bytes[t]);
        sum -= positive(s->over_bytes[t] + shift) - positive(s->over_bytes[t]);
    }
    return sum;
}

static void find_overflow(struct rp_incremental *s) {
    struct rp_incremental_move *m = s->move;
    s->new_overflow_bytes = s->overflow_bytes + shift_overflow(s);
    for (uint32_t k = 0; k < m->n_dirty; k++) {
        struct rp_dirty_stage *d = &m->dirty[k];
        const uint32_t *runs = m->runs.at + d->first_run;
        d->over_bytes =
            rp_incremental_stage_over(s, d->t, runs, d->n_runs, new_base(s, d->t));
        s->new_overflow_bytes += positive(d->over_bytes) - positive(s->over_bytes[d->t]);
        s->work += 2 * d->n_runs;
    }
}

/* ---- the whole ---- */

/* Evaluates the move as it stands, without stalls. Subtracts the cost of the added overflow
 * from *max_rise_ns. False if the move cannot be done or costs too much. */
static bool evaluate_runs(struct rp_incremental *s, double price, double *max_rise_ns) {
    const struct rp_incremental_swaps *w = &s->swaps;
    const struct rp_incremental_move *m = s->move;
    /* Overflow and stalls are never negative, so leaving them out gives a valid cutoff. */
    double room = *max_rise_ns + price * s->overflow_bytes + w->stall_ns;
    if (!find_all_runs(s, room))
        return false;
    if (s->p->out_ns != NULL && w->host_bytes > s->p->host_limit_bytes)
        s->infeasible = true;
    if (s->infeasible)
        return false;
    s->new_time_ns = s->time_ns - w->stall_ns;
    for (uint32_t k = 0; k < m->n_dirty; k++)
        s->new_time_ns += m->dirty[k].time_ns - s->stage_ns[m->dirty[k].t];
    if (s->new_time_ns - s->time_ns > room - w->stall_ns)
        return false;
    find_overflow(s);
    *max_rise_ns -= price * (s->new_overflow_bytes - s->overflow_bytes);
    return s->new_time_ns - s->time_ns <= *max_rise_ns;
}

enum { MAX_SHIFTS = 2 }; /* of what stalls, for each move */

bool rp_incremental_evaluate(struct rp_incremental *s, double price, double max_rise_ns,
                             bool may_shift) {
    const struct rp_incremental_swaps *w = &s->swaps;
    for (uint32_t k = 0;; k++) {
        double rise_ns = max_rise_ns, stall_ns;
        if (!evaluate_runs(s, price, &rise_ns))
            return false;
        if (w->n_copies == 0 && !s->move->swaps_changed)
            return true;
        if (!rp_incremental_timeline_evaluate(s, &stall_ns)) {
            s->infeasible = true;
            return false;
        }
        s->new_time_ns += stall_ns;
        if (!may_shift || k == MAX_SHIFTS || stall_ns <= w->stall_ns ||
            !rp_incremental_timeline_shift(s))
            return s->new_time_ns - s->time_ns <= rise_ns;
    }
}

static void replace_runs(struct rp_incremental *s, const struct rp_dirty_stage *d) {
    struct rp_id_list *l = &s->stage_runs[d->t];
    for (uint32_t a = 0; a < l->n; a++)
        s->runs[(size_t)l->at[a] * s->words + d->t / 64] &= ~rp_bit(d->t);
    l->n = 0;
    for (uint32_t a = 0; a < d->n_runs; a++) {
        uint32_t j = s->move->runs.at[d->first_run + a];
        rp_push(l, j);
        s->runs[(size_t)j * s->words + d->t / 64] |= rp_bit(d->t);
    }
}

void rp_incremental_commit(struct rp_incremental *s) {
    const struct rp_incremental_move *m = s->move;
    for (uint32_t k = 0; k < m->n_flips; k++) {
        const struct rp_flip *f = &m->flips[k];
        if (f->swap_in)
            continue;
        int64_t shift = (int64_t)s->p->bytes[f->x] * (f->value ? 1 : -1);
        for (uint32_t t = f->first; t <= f->last; t++) {
            s->base_bytes[t] += shift;
            s->over_bytes[t] += (double)shift; /* of the last row, too: unused */
        }
    }
    for (uint32_t k = 0; k < m->n_dirty; k++) {
        const struct rp_dirty_stage *d = &m->dirty[k];
        s->over_bytes[d->t] = d->over_bytes;
        s->stage_ns[d->t] = d->time_ns;
        replace_runs(s, d);
    }
    if (s->swaps.n_copies > 0 || m->swaps_changed)
        rp_incremental_timeline_commit(s);
    s->time_ns = s->new_time_ns;
    s->overflow_bytes = s->new_overflow_bytes;
    rp_incremental_clear_dirty(s);
}
