#include "solve/local/incremental.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static inline uint64_t bit(uint32_t i) {
    return (uint64_t)1 << (i % 64);
}

static void list_remove(struct rp_id_list *l, uint32_t x) {
    for (uint32_t k = 0; k < l->n; k++)
        if (l->at[k] == x) {
            l->at[k] = l->at[--l->n];
            return;
        }
}

void rp_incremental_init(struct rp_incremental *s, const struct rp_instance *p) {
    *s = (struct rp_incremental){.p = p, .n = p->n_ops, .m = p->n_tensors};
    s->words = (size_t)s->n / 64 + 1; /* rows 0..n */
    s->held = rp_calloc((size_t)s->m * s->words, sizeof *s->held);
    s->runs = rp_calloc((size_t)s->n * s->words, sizeof *s->runs);
    s->stage_runs = rp_calloc(s->n, sizeof *s->stage_runs);
    s->opens = rp_calloc(s->n, sizeof *s->opens);
    s->closes = rp_calloc(s->n, sizeof *s->closes);
    s->base = rp_calloc((size_t)s->n + 1, sizeof *s->base);
    s->over = rp_calloc(s->n, sizeof *s->over);
    s->stage_time = rp_calloc(s->n, sizeof *s->stage_time);
    s->op_bits = rp_calloc(s->words, sizeof *s->op_bits);
    s->last_use = rp_calloc(s->m, sizeof *s->last_use);
    s->dirty_of = rp_calloc(s->n, sizeof *s->dirty_of);
    if (p->out_ns != NULL)
        rp_incremental_timeline_init(s);
}

void rp_incremental_fini(struct rp_incremental *s) {
    for (uint32_t t = 0; t < s->n; t++) {
        free(s->stage_runs[t].at);
        free(s->opens[t].at);
        free(s->closes[t].at);
    }
    free(s->held);
    free(s->runs);
    free(s->stage_runs);
    free(s->opens);
    free(s->closes);
    free(s->base);
    free(s->over);
    free(s->stage_time);
    free(s->op_bits);
    free(s->last_use);
    free(s->dirty_of);
    free(s->scratch_runs.at);
    rp_incremental_timeline_fini(s);
    *s = (struct rp_incremental){0};
}

/* ---- touches ---- */

static inline uint64_t touch_word(const struct rp_incremental *s, uint32_t x, size_t i) {
    const struct rp_instance *p = s->p;
    uint64_t w = s->runs[(size_t)p->producer[x] * s->words + i];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        w |= s->runs[(size_t)p->readers[k] * s->words + i];
    return w;
}

uint32_t rp_incremental_touch_before(const struct rp_incremental *s, uint32_t x,
                                     uint32_t t) {
    size_t lowest = s->p->producer[x] / 64;
    for (size_t i = (size_t)t / 64 + 1; i-- > lowest;) {
        uint64_t w = touch_word(s, x, i);
        if (i == t / 64)
            w &= bit(t) - 1;
        if (w != 0)
            return (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w));
    }
    return RP_NONE;
}

uint32_t rp_incremental_touch_from(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    for (size_t i = t / 64; i < s->words; i++) {
        uint64_t w = touch_word(s, x, i);
        if (i == t / 64)
            w &= ~(bit(t) - 1);
        if (w != 0)
            return (uint32_t)(i * 64 + (unsigned)__builtin_ctzll(w));
    }
    return RP_NONE;
}

/* ---- moves ---- */

void rp_incremental_begin(struct rp_incremental *s) {
    s->n_flips = s->n_dirty = 0;
    s->scratch_runs.n = 0;
    s->copies.changed = s->broken = false;
}

/* Flips bits and keeps opens and closes right; its own inverse with the value negated. */
static void turn(struct rp_incremental *s, struct rp_flip *f) {
    if (f->trip) {
        rp_incremental_apply_swap_in(s, f);
        return;
    }
    uint64_t *column = s->held + (size_t)f->x * s->words;
    for (size_t i = f->first / 64; i <= f->last / 64; i++) {
        uint64_t mask = ~(uint64_t)0;
        if (i == f->first / 64)
            mask &= ~(bit(f->first) - 1);
        if (i == f->last / 64)
            mask &= bit(f->last) | (bit(f->last) - 1);
        column[i] ^= mask;
    }
    bool before = rp_incremental_held(s, f->first - 1, f->x),
         after = rp_incremental_held(s, f->last + 1, f->x);
    struct rp_id_list *left = before ? &s->closes[f->first - 1] : &s->opens[f->first - 1];
    struct rp_id_list *right = after ? &s->opens[f->last] : &s->closes[f->last];
    if (before != f->value)
        rp_push(left, f->x);
    else
        list_remove(left, f->x);
    if (after != f->value)
        rp_push(right, f->x);
    else
        list_remove(right, f->x);
}

static void mark_dirty(struct rp_incremental *s, uint32_t t) {
    if (s->dirty_of[t] != 0)
        return;
    if (s->n_dirty == RP_MAX_DIRTY) {
        s->broken = true;
        return;
    }
    s->dirty[s->n_dirty].t = t;
    s->dirty[s->n_dirty].n_runs = RP_NONE; /* not evaluated */
    s->dirty_of[t] = ++s->n_dirty;
}

/* Makes a flip part of the move; false if there is no room. */
static bool add_flip(struct rp_incremental *s, struct rp_flip f) {
    if (s->n_flips == RP_MAX_FLIPS) {
        s->broken = true;
        return false;
    }
    s->flips[s->n_flips] = f;
    turn(s, &s->flips[s->n_flips++]);
    return true;
}

static void judge_again(struct rp_incremental *s, uint32_t t) {
    mark_dirty(s, t);
    if (!s->broken)
        s->dirty[s->dirty_of[t] - 1].n_runs = RP_NONE;
}

/* The first row from t to `last` in which x is held, or is not; last + 1 if none is so. */
static uint32_t next_row(const struct rp_incremental *s, uint32_t x, uint32_t t,
                         uint32_t last, bool held) {
    const uint64_t *column = s->held + (size_t)x * s->words;
    for (; t <= last; t = t / 64 * 64 + 64) {
        uint64_t w = (held ? column[t / 64] : ~column[t / 64]) & ~(bit(t) - 1);
        if (w != 0) {
            t = t / 64 * 64 + (uint32_t)__builtin_ctzll(w);
            return t <= last ? t : last + 1;
        }
    }
    return last + 1;
}

/* The hold of x that begins in stage t may no longer be one that waits for the copy out,
 * and so end without a use. */
static void judge_end(struct rp_incremental *s, uint32_t x, uint32_t t) {
    uint32_t end = next_row(s, x, t + 1, s->n, false) - 1;
    if (end > t && end < s->n)
        judge_again(s, end);
}

static void flip_run(struct rp_incremental *s, uint32_t x, uint32_t first, uint32_t last,
                     bool value) {
    if (!add_flip(s,
                  (struct rp_flip){.x = x, .first = first, .last = last, .value = value}))
        return;
    mark_dirty(s, first - 1);
    mark_dirty(s, last);
    if (rp_incremental_swapped(s, x) && rp_incremental_held(s, last + 1, x))
        judge_end(s, x, last);
    /* Stages inside that touch x; first - 1 and last are marked already. */
    for (uint32_t t = first; t < last; t++) {
        t = rp_incremental_touch_from(s, x, t);
        if (t == RP_NONE || t >= last)
            break;
        mark_dirty(s, t);
    }
    /* A stage evaluated already in this move must be judged with the new S. */
    for (uint32_t k = 0; k < s->n_dirty; k++)
        if (s->dirty[k].t + 1 >= first && s->dirty[k].t <= last)
            s->dirty[k].n_runs = RP_NONE;
}

void rp_incremental_flip_swap_in(struct rp_incremental *s, uint32_t x, uint32_t t,
                                 bool value) {
    if (rp_incremental_swapped_in(s, t, x) == value)
        return;
    if (value && (rp_incremental_held(s, t, x) || s->p->producer[x] >= t))
        s->broken = true;
    bool was_swapped = rp_incremental_swapped(s, x);
    struct rp_flip f = {.x = x,
                        .first = t,
                        .last = t,
                        .value = value,
                        .trip = true,
                        .in_end = NAN,
                        .out_end = NAN};
    if (s->broken || !add_flip(s, f))
        return;
    s->copies.changed = true;
    judge_again(s, t);
    if (rp_incremental_swapped(s, x) == was_swapped)
        return;
    judge_again(s, s->p->producer[x]);
    if (!value)
        judge_end(s, x, s->p->producer[x]);
}

/* What a stage has it does not swap in. */
static void undo_trips(struct rp_incremental *s, uint32_t x, uint32_t first,
                       uint32_t last) {
    for (uint32_t t = first; t <= last; t++) {
        size_t i = t / 64;
        uint64_t w = s->copies.brought[(size_t)x * s->words + i] & ~(bit(t) - 1);
        if (w == 0) {
            t = (uint32_t)i * 64 + 63;
            continue;
        }
        t = (uint32_t)i * 64 + (uint32_t)__builtin_ctzll(w);
        if (t <= last)
            rp_incremental_flip_swap_in(s, x, t, false);
    }
}

void rp_incremental_flip(struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, bool value) {
    uint32_t t = first;
    if (value && rp_incremental_swapped(s, x))
        undo_trips(s, x, first, last);
    while (t <= last && !s->broken) {
        uint32_t begin = next_row(s, x, t, last, !value);
        t = next_row(s, x, begin, last, value);
        if (begin < t)
            flip_run(s, x, begin, t - 1, value);
    }
}

/* Holds tensor x from its last hold before row t up to row t. */
static void hold_up_to(struct rp_incremental *s, uint32_t t, uint32_t x) {
    uint32_t first = t;
    while (first > s->p->producer[x] + 1 && !rp_incremental_held(s, first - 1, x) &&
           !rp_incremental_swapped_in(s, first - 1, x))
        first--;
    rp_incremental_flip(s, x, first, t, true);
}

static bool runs_in(const struct rp_incremental *s, const struct rp_dirty *d, uint32_t j) {
    const uint32_t *runs = s->scratch_runs.at + d->run0;
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

/* True if tensor x is made or read by the new runs of a dirty stage. */
static bool touched_in(const struct rp_incremental *s, const struct rp_dirty *d,
                       uint32_t x) {
    const struct rp_instance *p = s->p;
    if (runs_in(s, d, p->producer[x]))
        return true;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (runs_in(s, d, p->readers[k]))
            return true;
    return false;
}

/* The last stage before t that touches x, by the new runs where there are new ones. */
static uint32_t last_touch(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    uint32_t last = rp_incremental_touch_before(s, x, t);
    for (uint32_t k = 0; k < s->n_dirty; k++) {
        const struct rp_dirty *d = &s->dirty[k];
        if (d->n_runs != RP_NONE && d->t < t && d->t > last && touched_in(s, d, x))
            last = d->t;
    }
    return last;
}

/* The hold of x up to row t is the first, and x is swapped: it may end when the copy does.
 */
static bool waits_for_copy(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    if (!rp_incremental_swapped(s, x))
        return false;
    while (t > s->p->producer[x] && rp_incremental_held(s, t, x))
        t--;
    return t == s->p->producer[x];
}

/* Holds that end at a stage without a use there end at their last use instead. The stage's
 * own runs stand: they do not read these tensors. */
static void shorten_holds(struct rp_incremental *s, uint32_t index) {
    struct rp_dirty d = s->dirty[index];
    for (uint32_t k = 0; k < s->closes[d.t].n && !s->broken;) {
        uint32_t x = s->closes[d.t].at[k], n = s->closes[d.t].n;
        if (!touched_in(s, &d, x) && !waits_for_copy(s, x, d.t))
            rp_incremental_flip(s, x, last_touch(s, x, d.t) + 1, d.t, false);
        if (s->closes[d.t].n == n) /* else another one took its place */
            k++;
    }
    s->dirty[index].n_runs = d.n_runs;
}

/* Trips for which the stage has no use are not made. */
static void undo_idle_trips(struct rp_incremental *s, uint32_t index) {
    const struct rp_instance *p = s->p;
    struct rp_dirty d = s->dirty[index];
    struct rp_swap_ins *l = &s->copies.trips[d.t];
    for (uint32_t k = 0; k < l->n && !s->broken;) {
        uint32_t x = l->at[k].x, n = l->n;
        bool used = rp_incremental_held(s, d.t + 1, x);
        for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1] && !used; i++)
            used = runs_in(s, &d, p->readers[i]);
        if (!used)
            rp_incremental_flip_swap_in(s, x, d.t, false);
        if (l->n == n)
            k++;
    }
    s->dirty[index].n_runs = d.n_runs;
}

/* Which output of run-once op j is missing in stage t. */
static uint32_t missing_output(const struct rp_incremental *s, uint32_t t, uint32_t x) {
    uint32_t j = s->p->producer[x];
    while (x + 1 < s->p->output_start[j + 1] && rp_incremental_held(s, t, x))
        x++;
    return x;
}

/* The new runs of a dirty stage; broken if they take more than `most`. */
static void eval_dirty(struct rp_incremental *s, uint32_t index, double most) {
    for (enum rp_closure result = RP_STUCK; result == RP_STUCK && !s->broken;) {
        struct rp_dirty *d = &s->dirty[index];
        uint32_t stuck;
        d->run0 = s->scratch_runs.n;
        result = rp_incremental_close_stage(s, d->t, most, &d->time, &stuck);
        d->n_runs = s->scratch_runs.n - d->run0;
        s->work += d->n_runs;
        if (result == RP_TOO_SLOW)
            s->broken = true;
        if (result == RP_STUCK) {
            s->scratch_runs.n = d->run0;
            hold_up_to(s, d->t, missing_output(s, d->t, stuck));
        }
    }
}

/* Bytes of S[t] once the flips of the move are counted. */
static int64_t new_base(const struct rp_incremental *s, uint32_t t) {
    int64_t b = s->base[t];
    for (uint32_t k = 0; k < s->n_flips; k++)
        if (!s->flips[k].trip && s->flips[k].first <= t && t <= s->flips[k].last)
            b += s->flips[k].value ? (int64_t)s->p->bytes[s->flips[k].x]
                                   : -(int64_t)s->p->bytes[s->flips[k].x];
    return b;
}

static double positive(double x) {
    return x > 0 ? x : 0;
}

/* Change of overflow in the stages that only gain or lose bytes. */
static double shift_overflow(struct rp_incremental *s) {
    uint32_t cut[2 * RP_MAX_FLIPS], n = 0;
    double sum = 0;
    for (uint32_t k = 0; k < s->n_flips; k++) {
        if (s->flips[k].trip)
            continue;
        cut[n++] = s->flips[k].first;
        cut[n++] = s->flips[k].last + 1;
    }
    for (uint32_t i = 1; i < n; i++) /* few of them: insertion sort */
        for (uint32_t k = i; k > 0 && cut[k - 1] > cut[k]; k--) {
            uint32_t c = cut[k];
            cut[k] = cut[k - 1];
            cut[k - 1] = c;
        }
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (cut[i] == cut[i + 1])
            continue;
        double shift = (double)(new_base(s, cut[i]) - s->base[cut[i]]);
        if (shift == 0)
            continue;
        const double *over = s->over;
        double part = 0;
        for (uint32_t t = cut[i]; t < cut[i + 1]; t++)
            part += positive(over[t] + shift) - positive(over[t]);
        sum += part;
        s->work += (cut[i + 1] - cut[i]) / 16;
    }
    for (uint32_t k = 0; k < s->n_dirty; k++) { /* these are judged exactly */
        uint32_t t = s->dirty[k].t;
        double shift = (double)(new_base(s, t) - s->base[t]);
        sum -= positive(s->over[t] + shift) - positive(s->over[t]);
    }
    return sum;
}

/* How much longer the dirty stages took than the new runs found so far. */
static double slack(const struct rp_incremental *s) {
    double sum = 0;
    for (uint32_t k = 0; k < s->n_dirty; k++) {
        sum += s->stage_time[s->dirty[k].t];
        if (s->dirty[k].n_runs != RP_NONE)
            sum -= s->dirty[k].time;
    }
    return sum;
}

/* Evaluates the move as it stands. *most is left as what the time may rise by. False if the
 * move cannot be done, or is too dear without any stalls. */
static bool evaluate(struct rp_incremental *s, double price, double *most) {
    struct rp_copy_state *c = &s->copies;
    /* No overflow is less than none, nor are stalls. */
    double room = *most + price * s->overflow + c->stalls;
    for (uint32_t k = 0; k < s->n_dirty && !s->broken; k++)
        if (s->dirty[k].n_runs == RP_NONE) {
            eval_dirty(s, k, room + slack(s));
            if (!s->broken && c->n_swapped > 0)
                undo_idle_trips(s, k);
            if (!s->broken)
                shorten_holds(s, k);
            k = RP_NONE; /* further flips may have opened earlier stages again */
        }
    if (s->broken || (c->n_swapped > 0 && c->host_bytes > s->p->host_limit_bytes))
        return false;
    s->new_time = s->time - c->stalls;
    for (uint32_t k = 0; k < s->n_dirty; k++)
        s->new_time += s->dirty[k].time - s->stage_time[s->dirty[k].t];
    if (s->new_time - s->time > room - c->stalls)
        return false;
    s->new_overflow = s->overflow + shift_overflow(s);
    for (uint32_t k = 0; k < s->n_dirty; k++) {
        struct rp_dirty *d = &s->dirty[k];
        const uint32_t *runs = s->scratch_runs.at + d->run0;
        d->over = rp_incremental_stage_over(s, d->t, runs, d->n_runs, new_base(s, d->t));
        s->new_overflow += positive(d->over) - positive(s->over[d->t]);
        s->work += d->n_runs + 2;
    }
    *most -= price * (s->new_overflow - s->overflow);
    return s->new_time - s->time <= *most;
}

enum { N_HELPS = 2 };

bool rp_incremental_evaluate(struct rp_incremental *s, double price, double most) {
    struct rp_copy_state *c = &s->copies;
    for (uint32_t k = 0;; k++) {
        double rise = most;
        if (!evaluate(s, price, &rise))
            return false;
        c->new_stalls = c->stalls;
        if (c->n_swapped == 0 && !c->changed)
            return true;
        if (!rp_incremental_timeline_evaluate(s))
            return false;
        s->new_time += c->new_stalls;
        if (!s->patient || k == N_HELPS || c->new_stalls <= c->stalls || c->n_late == 0)
            return s->new_time - s->time <= rise;
        rp_incremental_timeline_relieve(s);
    }
}

static void clear_dirty(struct rp_incremental *s) {
    for (uint32_t k = 0; k < s->n_dirty; k++)
        s->dirty_of[s->dirty[k].t] = 0;
}

void rp_incremental_undo(struct rp_incremental *s) {
    while (s->n_flips > 0) {
        struct rp_flip f = s->flips[--s->n_flips];
        f.value = !f.value;
        turn(s, &f);
    }
    clear_dirty(s);
}

static void replace_runs(struct rp_incremental *s, const struct rp_dirty *d) {
    struct rp_id_list *l = &s->stage_runs[d->t];
    for (uint32_t a = 0; a < l->n; a++)
        s->runs[(size_t)l->at[a] * s->words + d->t / 64] &= ~bit(d->t);
    l->n = 0;
    for (uint32_t a = 0; a < d->n_runs; a++) {
        uint32_t j = s->scratch_runs.at[d->run0 + a];
        rp_push(l, j);
        s->runs[(size_t)j * s->words + d->t / 64] |= bit(d->t);
    }
}

void rp_incremental_commit(struct rp_incremental *s) {
    for (uint32_t k = 0; k < s->n_flips; k++) {
        const struct rp_flip *f = &s->flips[k];
        if (f->trip)
            continue;
        int64_t shift = (int64_t)s->p->bytes[f->x] * (f->value ? 1 : -1);
        for (uint32_t t = f->first; t <= f->last; t++) {
            s->base[t] += shift;
            s->over[t] += (double)shift;
        }
    }
    for (uint32_t k = 0; k < s->n_dirty; k++) {
        const struct rp_dirty *d = &s->dirty[k];
        s->over[d->t] = d->over;
        s->stage_time[d->t] = d->time;
        replace_runs(s, d);
    }
    if (s->copies.n_swapped > 0 || s->copies.changed)
        rp_incremental_timeline_commit(s);
    s->time = s->new_time;
    s->overflow = s->new_overflow;
    clear_dirty(s);
}
