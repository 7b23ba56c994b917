#include "solve/local/moves_swap.h"

#include "base/random.h"
#include "solve/local/moves_interval.h"

/* A tensor that is swapped in, and the stage *t in which it is. RP_NONE if the random
 * choice finds none. */
static uint32_t random_swap_in(const struct rp_incremental *s, uint64_t *random,
                               uint32_t *t) {
    const struct rp_swap_ins *l = s->swaps.swap_ins;
    *t = rp_random_below(random, s->n_stages);
    for (uint32_t tries = 0; tries < 64 && *t < s->n_stages; tries++, ++*t)
        if (l[*t].n > 0)
            return l[*t].at[rp_random_below(random, l[*t].n)].x;
    return RP_NONE;
}

/* The same, and the interval that it ends or lies in. */
static uint32_t random_swapped_interval(const struct rp_incremental *s, uint64_t *random,
                                        uint32_t *t, uint32_t *first, uint32_t *last) {
    uint32_t x = random_swap_in(s, random, t);
    if (x == RP_NONE || !rp_find_interval(s, x, *t, first, last) || *last < *t)
        return RP_NONE;
    return x;
}

/* How far to shift: 1..16 stages, more often a few. */
static uint32_t random_distance(uint64_t *random) {
    return 1 + rp_random_below(random, 1 + rp_random_below(random, 16));
}

bool rp_move_shift_swap_in(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, to, x = random_swapped_interval(s, random, &t, &first, &last);
    if (x == RP_NONE)
        return false;
    uint32_t drawn = rp_random_below(random, 4), distance = random_distance(random);
    if (drawn == 0)
        to = rp_last_swap_in(s, x, first, last, 1 + 0.5 * rp_random_unit(random));
    else if (drawn == 1)
        to = t + distance <= last ? t + distance : last;
    else
        to = t >= first + distance ? t - distance : first;
    if (to == t || to <= s->p->producer[x])
        return false;
    rp_incremental_flip(s, x, to < t ? to : t, to < t ? t : to, false);
    rp_incremental_flip_swap_in(s, x, to, true);
    rp_incremental_flip_swap_in(s, x, t, false);
    if (to < last)
        rp_incremental_flip(s, x, to + 1, last, true);
    return true;
}

bool rp_move_shift_free(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, x = random_swap_in(s, random, &t), end, to;
    if (x == RP_NONE || x < s->p->n_homes)
        return false;
    for (end = s->p->producer[x]; end < s->n_stages && rp_incremental_held(s, end + 1, x);)
        end++;
    uint32_t min_end = rp_incremental_use_before(s, x, end + 1);
    uint32_t max_end = rp_incremental_use_from(s, x, min_end + 1);
    max_end = max_end == RP_NONE ? s->n_stages - 1 : max_end;
    uint32_t drawn = rp_random_below(random, 3), distance = random_distance(random);
    to = drawn == 0   ? rp_copied_out_by(s, x)
         : drawn == 1 ? end + distance
                      : end - (distance < end ? distance : end);
    to = to < min_end ? min_end : to > max_end ? max_end : to;
    while (to > end && rp_incremental_swapped_in(s, to, x))
        to--;
    if (to == end)
        return false;
    rp_incremental_flip(s, x, (to < end ? to : end) + 1, to < end ? end : to, to > end);
    return true;
}

/* Takes out the swap-in of x in stage t, and holds x over its interval or drops it. True if
 * it is dropped. */
static bool end_swap(struct rp_incremental *s, uint64_t *random, uint32_t x, uint32_t t,
                     uint32_t first, uint32_t last) {
    rp_incremental_flip_swap_in(s, x, t, false);
    bool drop = s->p->last_stage[s->p->producer[x]] >= last && rp_random_below(random, 2);
    rp_incremental_flip(s, x, first, last, !drop);
    return drop;
}

bool rp_move_end_swap(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = random_swapped_interval(s, random, &t, &first, &last);
    if (x == RP_NONE)
        return false;
    if (end_swap(s, random, x, t, first, last))
        rp_rehold_inputs(s, random, s->p->producer[x], last, rp_random_below(random, 4));
    return true;
}

bool rp_move_swap_recomputed(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = rp_random_recomputed(s, random, &t);
    if (x == RP_NONE || rp_incremental_held(s, t, x) || !rp_swappable(s, x) ||
        !rp_find_interval(s, x, t, &first, &last))
        return false;
    return rp_swap_interval(s, random, x, first, last);
}

bool rp_move_exchange_swap(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = random_swapped_interval(s, random, &t, &first, &last),
                             from, to;
    if (x == RP_NONE)
        return false;
    uint32_t row = first + rp_random_below(random, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = rp_random_below(random, s->n_tensors);
        if (y == x || s->p->producer[y] >= row || !rp_swappable(s, y) ||
            !rp_find_interval(s, y, row, &from, &to))
            continue;
        end_swap(s, random, x, t, first, last);
        return rp_swap_interval(s, random, y, from, to);
    }
    return false;
}
