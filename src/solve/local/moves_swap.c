#include "solve/local/moves.h"

/* The row to which x has to be held so that its copy out, begun when it is first made, is
 * over when it is freed, judged by the queue as it is. */
static uint32_t copied_by(const struct rp_anneal *a, uint32_t x) {
    const struct rp_copy_state *c = &a->s.copies;
    uint32_t p = a->p->producer[x], t = p + 1;
    double end = rp_incremental_swapped(&a->s, x)
                     ? c->out_end[x] - a->s.stage_time[p] - c->stall[p]
                     : c->d2h[t] + (double)a->p->out_ns[x];
    for (; end > 0 && t < a->s.n; t++)
        end -= a->s.stage_time[t] + c->stall[t];
    return t;
}

/* The last stage from `first` to `last` in which a swap-in of x can begin and be over by
 * stage `last`, judged by the queue as it is; `haste` >= 1 multiplies the copy's time. */
static uint32_t arrives_by(const struct rp_anneal *a, uint32_t x, uint32_t first,
                           uint32_t last, double haste) {
    const struct rp_copy_state *c = &a->s.copies;
    double room = 0, takes = (double)a->p->in_ns[x] * haste;
    uint32_t t = last;
    for (; t > first && c->h2d[t] + takes > room; t--)
        room += a->s.stage_time[t - 1] + c->stall[t - 1];
    return t;
}

void rp_undo_swap_ins(struct rp_anneal *a, uint32_t x, uint32_t first, uint32_t last) {
    for (uint32_t t = first; t <= last && rp_incremental_swapped(&a->s, x); t++)
        if (rp_incremental_swapped_in(&a->s, t, x))
            rp_incremental_flip_swap_in(&a->s, x, t, false);
}

bool rp_swap_gap(struct rp_anneal *a, uint32_t x, uint32_t first, uint32_t last) {
    uint32_t die = rp_below(a, 8);
    uint32_t in = die == 0 ? first + rp_below(a, last - first + 1)
                           : arrives_by(a, x, first, last, 1 + 0.25 * (double)(die / 2));
    uint32_t free_at = rp_below(a, 8) == 0 ? first - 1 : copied_by(a, x);
    if (in <= a->p->producer[x])
        return false;
    free_at = free_at >= in ? in - 1 : free_at;
    if (free_at >= first)
        rp_incremental_flip(&a->s, x, first, free_at, true);
    rp_incremental_flip(&a->s, x, free_at < first ? first : free_at + 1, in, false);
    rp_incremental_flip_swap_in(&a->s, x, in, true);
    for (uint32_t t = first; t <= last; t++)
        if (t != in && rp_incremental_swapped_in(&a->s, t, x))
            rp_incremental_flip_swap_in(&a->s, x, t, false);
    if (in < last)
        rp_incremental_flip(&a->s, x, in + 1, last, true);
    return true;
}

bool rp_swappable(const struct rp_anneal *a, uint32_t x) {
    return a->p->out_ns != NULL && a->p->bytes[x] > 0;
}

/* A swap that is there: x, and its stage *t; RP_NONE if the random look finds none. */
static uint32_t random_trip(struct rp_anneal *a, uint32_t *t) {
    const struct rp_swap_ins *trips = a->s.copies.trips;
    *t = rp_below(a, a->s.n);
    for (uint32_t tries = 0; tries < 64 && *t < a->s.n; tries++, ++*t)
        if (trips[*t].n > 0)
            return trips[*t].at[rp_below(a, trips[*t].n)].x;
    return RP_NONE;
}

/* Begin a swap-in earlier or later. */
static bool shift_trip(struct rp_anneal *a) {
    uint32_t t, x = random_trip(a, &t), first, last, to;
    if (x == RP_NONE || !rp_find_gap(a, x, t, &first, &last) || last < t)
        return false;
    uint32_t die = rp_below(a, 4), far = 1 + rp_below(a, 1 + rp_below(a, 16));
    if (die == 0)
        to = arrives_by(a, x, first, last, 1 + 0.5 * rp_unit(a));
    else if (die == 1)
        to = t + far <= last ? t + far : last;
    else
        to = t >= first + far ? t - far : first;
    if (to == t || to <= a->p->producer[x])
        return false;
    rp_incremental_flip(&a->s, x, to < t ? to : t, to < t ? t : to, false);
    rp_incremental_flip_swap_in(&a->s, x, to, true);
    rp_incremental_flip_swap_in(&a->s, x, t, false);
    if (to < last)
        rp_incremental_flip(&a->s, x, to + 1, last, true);
    return true;
}

/* Free what is swapped earlier or later than its copy out seems to need. */
static bool shift_free(struct rp_anneal *a) {
    uint32_t t, x = random_trip(a, &t), j, end, to;
    if (x == RP_NONE)
        return false;
    j = a->p->producer[x];
    for (end = j; end < a->s.n && rp_incremental_held(&a->s, end + 1, x);)
        end++;
    uint32_t before = rp_incremental_touch_before(&a->s, x, end + 1);
    uint32_t most = rp_incremental_touch_from(&a->s, x, before + 1);
    most = most == RP_NONE ? a->s.n - 1 : most;
    uint32_t die = rp_below(a, 3), far = 1 + rp_below(a, 1 + rp_below(a, 16));
    to = die == 0 ? copied_by(a, x) : die == 1 ? end + far : end - (far < end ? far : end);
    to = to < before ? before : to > most ? most : to;
    while (to > end && rp_incremental_swapped_in(&a->s, to, x))
        to--;
    if (to == end)
        return false;
    rp_incremental_flip(&a->s, x, (to < end ? to : end) + 1, to < end ? end : to, to > end);
    return true;
}

/* Stop swapping a gap: hold it, or make x again. */
static bool end_trip(struct rp_anneal *a) {
    uint32_t t, x = random_trip(a, &t), first, last;
    if (x == RP_NONE || !rp_find_gap(a, x, t, &first, &last) || last < t)
        return false;
    rp_incremental_flip_swap_in(&a->s, x, t, false);
    bool again = a->p->recompute[a->p->producer[x]] && rp_below(a, 2);
    rp_incremental_flip(&a->s, x, first, last, !again);
    if (again)
        rp_provide_inputs(a, a->p->producer[x], last, (int)rp_below(a, 4));
    return true;
}

/* Swap what is made again. */
static bool swap_remade(struct rp_anneal *a) {
    uint32_t t, first, last, x = rp_random_remake(a, &t);
    if (x == RP_NONE || rp_incremental_held(&a->s, t, x) || !rp_swappable(a, x) ||
        !rp_find_gap(a, x, t, &first, &last))
        return false;
    return rp_swap_gap(a, x, first, last);
}

/* Swap another tensor meanwhile instead of one that is swapped, which is held or made
 * again.
 */
static bool exchange_trip(struct rp_anneal *a) {
    uint32_t t, x = random_trip(a, &t), first, last, from, to;
    if (x == RP_NONE || !rp_find_gap(a, x, t, &first, &last) || last < t)
        return false;
    uint32_t row = first + rp_below(a, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = rp_below(a, a->s.m);
        if (y == x || a->p->producer[y] >= row || !rp_swappable(a, y) ||
            !rp_find_gap(a, y, row, &from, &to))
            continue;
        rp_incremental_flip_swap_in(&a->s, x, t, false);
        bool again = a->p->recompute[a->p->producer[x]] && rp_below(a, 2);
        rp_incremental_flip(&a->s, x, first, last, !again);
        return rp_swap_gap(a, y, from, to);
    }
    return false;
}

bool rp_propose_swap(struct rp_anneal *a) {
    uint32_t die = rp_below(a, 8);
    if (rp_below(a, 4) == 0)
        return exchange_trip(a);
    if (die < 3)
        return shift_trip(a);
    if (die < 4)
        return shift_free(a);
    if (die < 6)
        return end_trip(a);
    return swap_remade(a);
}
