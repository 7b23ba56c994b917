#include "solve/incremental/incremental_flip.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/incremental/incremental_internal.h"

void rp_incremental_begin(struct rp_incremental *s) {
    struct rp_incremental_move *m = s->move;
    m->n_flips = m->n_dirty = 0;
    m->runs.n = 0;
    m->swaps_changed = s->infeasible = false;
}

const struct rp_flip *rp_incremental_flips(const struct rp_incremental *s, uint32_t *n) {
    *n = s->move->n_flips;
    return s->move->flips;
}

/* ---- one flip ---- */

static void list_remove(struct rp_id_list *l, uint32_t x) {
    for (uint32_t k = 0; k < l->n; k++)
        if (l->at[k] == x) {
            l->at[k] = l->at[--l->n];
            return;
        }
}

static void change_list(struct rp_id_list *l, uint32_t x, bool listed) {
    if (listed)
        rp_push(l, x);
    else
        list_remove(l, x);
}

/* Flips bits of S, and keeps `opens` and `closes` right. */
static void apply_hold(struct rp_incremental *s, const struct rp_flip *f) {
    uint64_t *column = s->held + (size_t)f->x * s->words;
    for (size_t i = f->first / 64; i <= f->last / 64; i++) {
        uint64_t mask = ~(uint64_t)0;
        if (i == f->first / 64)
            mask &= ~(rp_bit(f->first) - 1);
        if (i == f->last / 64)
            mask &= rp_bit(f->last) | (rp_bit(f->last) - 1);
        column[i] ^= mask;
    }
    bool before = rp_incremental_held(s, f->first - 1, f->x);
    change_list(before ? &s->closes[f->first - 1] : &s->opens[f->first - 1], f->x,
                before != f->value);
    if (f->last == s->n_stages)
        return;
    bool after = rp_incremental_held(s, f->last + 1, f->x);
    change_list(after ? &s->opens[f->last] : &s->closes[f->last], f->x, after != f->value);
}

/* Counts the copy out of x, which f makes come or go. */
static void apply_swap_out(struct rp_incremental *s, struct rp_flip *f, uint32_t x) {
    struct rp_incremental_swaps *w = &s->swaps;
    bool comes = rp_incremental_copied_out(s, x);
    uint64_t bytes = rp_is_version(s->p, x) ? 0 : s->p->bytes[x];
    if (!comes)
        f->out_end_ns = w->swap_out_end_ns[x];
    w->swap_out_end_ns[x] = f->out_end_ns;
    w->n_copies += comes ? 1 : (uint32_t)-1;
    w->n_swap_outs[s->p->producer[x]] += comes ? 1 : (uint32_t)-1;
    w->host_bytes += comes ? bytes : -bytes;
}

static uint32_t last_version(const struct rp_instance *p, uint32_t x) {
    while (p->next_version[x] != RP_NONE)
        x = p->next_version[x];
    return x;
}

/* The source of version 0 f->x comes to stay on the device, or leaves it. */
static void apply_stay(struct rp_incremental *s, struct rp_flip *f) {
    uint32_t last = last_version(s->p, f->x);
    uint64_t bytes = s->p->bytes[f->x];
    bool was_out = rp_incremental_copied_out(s, last);
    apply_hold(s, f);
    s->swaps.host_bytes += f->value ? -bytes : bytes;
    if (rp_incremental_copied_out(s, last) != was_out)
        apply_swap_out(s, f, last);
}

static void apply_swap_in(struct rp_incremental *s, struct rp_flip *f) {
    struct rp_incremental_swaps *w = &s->swaps;
    struct rp_swap_ins *l = &w->swap_ins[f->first];
    uint32_t k = 0, x = f->x;
    bool was_out = rp_incremental_copied_out(s, x);
    w->swapped_in[(size_t)x * s->words + f->first / 64] ^= rp_bit(f->first);
    while (k < l->n && l->at[k].x > x)
        k++;
    if (f->value) {
        struct rp_swap_in swap_in = {.x = x, .end_ns = f->in_end_ns};
        rp_push(l, swap_in);
        memmove(&l->at[k + 1], &l->at[k], (l->n - 1 - k) * sizeof *l->at);
        l->at[k] = swap_in;
    } else {
        f->in_end_ns = l->at[k].end_ns;
        memmove(&l->at[k], &l->at[k + 1], (--l->n - k) * sizeof *l->at);
    }
    w->n_swap_ins[x] += f->value ? 1 : (uint32_t)-1;
    w->n_copies += f->value ? 1 : (uint32_t)-1;
    if (rp_incremental_copied_out(s, x) != was_out)
        apply_swap_out(s, f, x);
}

void rp_incremental_apply_flip(struct rp_incremental *s, struct rp_flip *f) {
    if (f->swap_in)
        apply_swap_in(s, f);
    else if (f->x < s->p->n_homes && f->first == 1)
        apply_stay(s, f);
    else
        apply_hold(s, f);
}

/* ---- the move ---- */

/* Lists stage t. The caller says that it has no new runs yet. */
static void mark_dirty(struct rp_incremental *s, uint32_t t) {
    struct rp_incremental_move *m = s->move;
    if (m->dirty_of[t] != 0)
        return;
    if (m->n_dirty == RP_MAX_DIRTY) {
        s->infeasible = true;
        return;
    }
    m->dirty[m->n_dirty].t = t;
    m->dirty_of[t] = ++m->n_dirty;
}

/* Marks stage t, even if this move has evaluated it already. */
static void mark_changed(struct rp_incremental *s, uint32_t t) {
    mark_dirty(s, t);
    if (!s->infeasible)
        s->move->dirty[s->move->dirty_of[t] - 1].n_runs = RP_NONE;
}

/* Makes a flip part of the move; false if there is no room. */
static bool add_flip(struct rp_incremental *s, struct rp_flip f) {
    struct rp_incremental_move *m = s->move;
    if (m->n_flips == RP_MAX_FLIPS) {
        s->infeasible = true;
        return false;
    }
    m->flips[m->n_flips] = f;
    rp_incremental_apply_flip(s, &m->flips[m->n_flips++]);
    return true;
}

uint32_t rp_incremental_next_row(const struct rp_incremental *s, uint32_t x, uint32_t t,
                                 uint32_t last, bool held) {
    const uint64_t *column = s->held + (size_t)x * s->words;
    for (; t <= last; t = t / 64 * 64 + 64) {
        uint64_t w = (held ? column[t / 64] : ~column[t / 64]) & ~(rp_bit(t) - 1);
        if (w != 0) {
            t = t / 64 * 64 + (uint32_t)__builtin_ctzll(w);
            return t <= last ? t : last + 1;
        }
    }
    return last + 1;
}

/* Marks the stage that ends the hold of x which begins in stage t. Only a hold that waits
 * for the copy out may end without a use, and this one may no longer be such a hold. */
static void mark_end_of_hold(struct rp_incremental *s, uint32_t x, uint32_t t) {
    uint32_t end = rp_incremental_next_row(s, x, t + 1, s->n_stages, false) - 1;
    if (end < s->n_stages)
        mark_changed(s, end);
}

/* Rows first..last of x all have !value. */
static void flip_range(struct rp_incremental *s, uint32_t x, uint32_t first, uint32_t last,
                       bool value) {
    struct rp_incremental_move *m = s->move;
    struct rp_flip f = {.x = x,
                        .first = first,
                        .last = last,
                        .value = value,
                        .in_end_ns = NAN,
                        .out_end_ns = NAN};
    if (!add_flip(s, f))
        return;
    mark_dirty(s, first - 1);
    if (last < s->n_stages) {
        mark_dirty(s, last);
        if (rp_incremental_copied_out(s, x) && rp_incremental_held(s, last + 1, x))
            mark_end_of_hold(s, x, last);
    }
    /* Stages inside that use x; first - 1 and last are marked already. */
    for (uint32_t t = first; t < last; t++) {
        t = rp_incremental_use_from(s, x, t);
        if (t == RP_NONE || t >= last)
            break;
        mark_dirty(s, t);
    }
    /* Stages that this move has evaluated already must be evaluated with the new S. */
    for (uint32_t k = 0; k < m->n_dirty; k++)
        if (m->dirty[k].t + 1 >= first && m->dirty[k].t <= last)
            m->dirty[k].n_runs = RP_NONE;
}

void rp_incremental_flip_swap_in(struct rp_incremental *s, uint32_t x, uint32_t t,
                                 bool value) {
    if (rp_incremental_swapped_in(s, t, x) == value)
        return;
    if (value && (rp_incremental_held(s, t, x) || s->p->producer[x] >= t ||
                  t > rp_last_row(s->p, x) || rp_incremental_stays(s, x)))
        s->infeasible = true;
    bool was_out = rp_incremental_copied_out(s, x);
    struct rp_flip f = {.x = x,
                        .first = t,
                        .last = t,
                        .value = value,
                        .swap_in = true,
                        .in_end_ns = NAN,
                        .out_end_ns = NAN};
    if (s->infeasible || !add_flip(s, f))
        return;
    s->move->swaps_changed = true;
    mark_changed(s, t);
    if (rp_incremental_copied_out(s, x) == was_out)
        return;
    mark_changed(s, s->p->producer[x]);
    if (!value)
        mark_end_of_hold(s, x, s->p->producer[x]);
}

void rp_incremental_remove_swap_ins(struct rp_incremental *s, uint32_t x, uint32_t first,
                                    uint32_t last) {
    for (uint32_t t = first; t <= last && rp_incremental_swapped(s, x); t++) {
        size_t i = t / 64;
        uint64_t w = s->swaps.swapped_in[(size_t)x * s->words + i] & ~(rp_bit(t) - 1);
        if (w == 0) {
            t = (uint32_t)i * 64 + 63;
            continue;
        }
        t = (uint32_t)i * 64 + (uint32_t)__builtin_ctzll(w);
        if (t <= last)
            rp_incremental_flip_swap_in(s, x, t, false);
    }
}

/* Sets all rows first..last of x that are !value. */
static void flip_all(struct rp_incremental *s, uint32_t x, uint32_t t, uint32_t last,
                     bool value) {
    while (t <= last && !s->infeasible) {
        uint32_t begin = rp_incremental_next_row(s, x, t, last, !value);
        t = rp_incremental_next_row(s, x, begin, last, value);
        if (begin < t)
            flip_range(s, x, begin, t - 1, value);
    }
}

void rp_incremental_flip(struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, bool value) {
    if ((!value && s->p->pinned[x]) || rp_incremental_stays(s, x))
        return;
    if (x < s->p->n_homes)
        first = rp_max_u32(first, 2);
    last = rp_min_u32(last, rp_last_row(s->p, x));
    if (value)
        rp_incremental_remove_swap_ins(s, x, first, last);
    flip_all(s, x, first, last, value);
}

void rp_incremental_flip_stay(struct rp_incremental *s, uint32_t x, bool value) {
    const struct rp_instance *p = s->p;
    for (uint32_t v = x; v != RP_NONE; v = p->next_version[v]) {
        rp_incremental_remove_swap_ins(s, v, p->producer[v] + 1, rp_last_row(p, v));
        flip_all(s, v, p->producer[v] + 1, rp_last_row(p, v), value);
    }
    uint32_t last = last_version(p, x);
    if (last != x && !s->infeasible)
        mark_changed(s, p->producer[last]);
}

void rp_incremental_clear_dirty(struct rp_incremental *s) {
    struct rp_incremental_move *m = s->move;
    while (m->n_dirty > 0)
        m->dirty_of[m->dirty[--m->n_dirty].t] = 0;
}

void rp_incremental_undo(struct rp_incremental *s) {
    struct rp_incremental_move *m = s->move;
    while (m->n_flips > 0) {
        struct rp_flip f = m->flips[--m->n_flips];
        f.value = !f.value;
        rp_incremental_apply_flip(s, &f);
    }
    rp_incremental_clear_dirty(s);
}
