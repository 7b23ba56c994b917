#include "solve/local/moves.h"

bool rp_find_gap(const struct rp_anneal *a, uint32_t x, uint32_t t, uint32_t *first,
                 uint32_t *last) {
    uint32_t before = rp_incremental_touch_before(&a->s, x, t), from;
    if (before == RP_NONE)
        return false;
    from = rp_incremental_touch_from(&a->s, x, t);
    if (from == RP_NONE) {
        if (!a->p->kept[x] && !rp_incremental_held(&a->s, t, x))
            return false;
        from = a->s.n - 1;
    }
    *first = before + 1;
    *last = from;
    return true;
}

/* The last row from `first` to `last` in which all inputs of op j are held; 0 if none. */
static uint32_t last_at_hand(const struct rp_anneal *a, uint32_t j, uint32_t first,
                             uint32_t last) {
    const struct rp_instance *p = a->p;
    for (size_t i = last / 64 + 1; i-- > first / 64;) {
        uint64_t w = ~(uint64_t)0;
        if (i == last / 64)
            w >>= 63 - last % 64;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w &= a->s.held[(size_t)p->inputs[k] * a->s.words + i];
        if (w != 0) {
            uint32_t t = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w));
            return t >= first ? t : 0;
        }
    }
    return 0;
}

void rp_provide_inputs(struct rp_anneal *a, uint32_t j, uint32_t t, int depth) {
    for (uint32_t k = a->p->input_start[j]; k < a->p->input_start[j + 1]; k++) {
        uint32_t y = a->p->inputs[k];
        if (rp_incremental_held(&a->s, t, y) || rp_incremental_swapped_in(&a->s, t, y))
            continue;
        if (depth == 0 || rp_below(a, 2))
            rp_incremental_flip(&a->s, y, rp_incremental_touch_before(&a->s, y, t) + 1, t,
                                true);
        else
            rp_provide_inputs(a, a->p->producer[y], t, depth - 1);
    }
}

/* Drops the gap rows first..last of x: all of it, all of it while its op's inputs are held
 * to its end, or as far as these inputs are held already. */
static bool drop_gap(struct rp_anneal *a, uint32_t x, uint32_t first, uint32_t last) {
    uint32_t j = a->p->producer[x], end = last;
    if (rp_swappable(a, x) && (!a->p->recompute[j] || rp_below(a, 12) == 0))
        return rp_swap_gap(a, x, first, last);
    uint32_t die = rp_below(a, 4);
    if (!a->p->recompute[j])
        return false;
    if (die == 0)
        end = first + rp_below(a, last - first + 1);
    else if (die == 1)
        end = last_at_hand(a, j, first, last);
    if (end < first)
        return false;
    rp_undo_swap_ins(a, x, first, last);
    rp_incremental_flip(&a->s, x, first, end, false);
    if (die == 0 || die == 3)
        rp_provide_inputs(a, j, end, (int)rp_below(a, 4));
    return true;
}

/* Toggles the gap around row t of x. */
static bool toggle_gap(struct rp_anneal *a, uint32_t x, uint32_t t) {
    uint32_t first, last;
    if (t <= a->p->producer[x] || t >= a->s.n || !rp_find_gap(a, x, t, &first, &last))
        return false;
    if (rp_incremental_held(&a->s, t, x))
        return drop_gap(a, x, first, last);
    rp_incremental_flip(&a->s, x, first, last, true);
    return true;
}

/* A random use: stage *t, a run in it, a tensor that run makes or reads. */
static uint32_t random_use(struct rp_anneal *a, uint32_t *t) {
    const struct rp_instance *p = a->p;
    *t = rp_below(a, a->s.n);
    const struct rp_id_list *runs = &a->s.stage_runs[*t];
    uint32_t j = runs->at[rp_below(a, runs->n)];
    uint32_t n_in = p->input_start[j + 1] - p->input_start[j];
    uint32_t n_out = p->output_start[j + 1] - p->output_start[j];
    if (n_in + n_out == 0)
        return RP_NONE;
    uint32_t k = rp_below(a, n_in + n_out);
    return k < n_in ? p->inputs[p->input_start[j] + k] : p->output_start[j] + k - n_in;
}

static bool toggle_at_use(struct rp_anneal *a) {
    uint32_t t, x = random_use(a, &t);
    return x != RP_NONE && toggle_gap(a, x, t + rp_below(a, 2));
}

static bool toggle_anywhere(struct rp_anneal *a) {
    uint32_t x = rp_below(a, a->s.m), j = a->p->producer[x];
    return j + 1 < a->s.n && toggle_gap(a, x, j + 1 + rp_below(a, a->s.n - j - 1));
}

uint32_t rp_random_remake(struct rp_anneal *a, uint32_t *t) {
    for (int tries = 0; tries < 8; tries++) {
        *t = rp_below(a, a->s.n);
        const struct rp_id_list *runs = &a->s.stage_runs[*t];
        if (runs->n < 2)
            continue;
        uint32_t j = runs->at[rp_below(a, runs->n - 1)];
        uint32_t n_out = a->p->output_start[j + 1] - a->p->output_start[j];
        return a->p->output_start[j] + rp_below(a, n_out);
    }
    return RP_NONE;
}

/* Hold one tensor that is made again, and drop another one that is held meanwhile. */
static bool exchange(struct rp_anneal *a) {
    uint32_t t, first, last, x = rp_random_remake(a, &t);
    if (x == RP_NONE || rp_incremental_held(&a->s, t, x) ||
        !rp_find_gap(a, x, t, &first, &last))
        return false;
    uint32_t row = first + rp_below(a, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = rp_below(a, a->s.m);
        if (y != x && rp_incremental_held(&a->s, row, y)) {
            rp_incremental_flip(&a->s, x, first, last, true);
            return toggle_gap(a, y, row);
        }
    }
    return false;
}

/* Make a tensor again earlier, where an input of its op is at hand, and hold it till then.
 */
static bool remake_earlier(struct rp_anneal *a) {
    uint32_t t, x = rp_random_remake(a, &t), j;
    if (x == RP_NONE || rp_incremental_held(&a->s, t, x))
        return false;
    j = a->p->producer[x];
    uint32_t n_in = a->p->input_start[j + 1] - a->p->input_start[j];
    if (n_in == 0)
        return false;
    uint32_t y = a->p->inputs[a->p->input_start[j] + rp_below(a, n_in)];
    uint32_t at = rp_incremental_touch_before(&a->s, y, t);
    uint32_t before = rp_incremental_touch_before(&a->s, x, t);
    if (at == RP_NONE || at <= before)
        return false;
    rp_incremental_flip(&a->s, x, at + 1, t, true);
    if (rp_below(a, 2))
        rp_provide_inputs(a, j, at, (int)rp_below(a, 3));
    return true;
}

/* Move a checkpoint: hold a tensor that is made again instead of one that its op reads, or
 * that one's sibling, over the rows they share. */
static bool shift_checkpoint(struct rp_anneal *a) {
    uint32_t t, first, last, x = rp_random_remake(a, &t), j;
    if (x == RP_NONE || rp_incremental_held(&a->s, t, x) ||
        !rp_find_gap(a, x, t, &first, &last))
        return false;
    j = a->p->producer[x];
    uint32_t n_in = a->p->input_start[j + 1] - a->p->input_start[j];
    if (n_in == 0)
        return false;
    uint32_t y = a->p->inputs[a->p->input_start[j] + rp_below(a, n_in)];
    rp_incremental_flip(&a->s, x, first, last, true);
    if (!rp_incremental_held(&a->s, t, y) || !a->p->recompute[a->p->producer[y]])
        return true;
    uint32_t from = rp_incremental_touch_before(&a->s, y, t) + 1;
    uint32_t end = rp_incremental_touch_from(&a->s, y, t + 1);
    rp_incremental_flip(&a->s, y, from, rp_below(a, 2) || end == RP_NONE ? t : end, false);
    return true;
}

/* Drops, or holds, all tensors of a short run of ops across one row. */
static bool toggle_segment(struct rp_anneal *a) {
    uint32_t t = 1 + rp_below(a, a->s.n - 1), width = 2 + rp_below(a, 10);
    uint32_t x0 = rp_below(a, a->s.m), first, last;
    bool held = false, any = false;
    if (a->p->producer[x0] >= t)
        return false;
    for (uint32_t x = x0; x < a->s.m && x < x0 + width; x++) {
        uint32_t j = a->p->producer[x];
        if (j >= t)
            break;
        if (!any)
            held = rp_incremental_held(&a->s, t, x);
        if (rp_incremental_held(&a->s, t, x) != held || (held && !a->p->recompute[j]))
            continue;
        if (rp_find_gap(a, x, t, &first, &last)) {
            if (held)
                drop_gap(a, x, first, last);
            else
                rp_incremental_flip(&a->s, x, first, last, true);
            any = true;
        }
    }
    return any;
}

/* Drop one large tensor, and hold with the room it leaves some that are made again. */
static bool one_for_many(struct rp_anneal *a) {
    uint32_t t, first, last, y = random_use(a, &t);
    if (y == RP_NONE || ++t >= a->s.n || !rp_incremental_held(&a->s, t, y) ||
        !rp_find_gap(a, y, t, &first, &last) || !drop_gap(a, y, first, last))
        return false;
    uint64_t room = a->p->bytes[y];
    for (int tries = 0; tries < 12 && room > 0; tries++) {
        uint32_t at, from, to, x = rp_random_remake(a, &at);
        if (x == RP_NONE || x == y || a->p->bytes[x] > room ||
            rp_incremental_held(&a->s, at, x) || !rp_find_gap(a, x, at, &from, &to) ||
            to < first || from > last)
            continue;
        rp_incremental_flip(&a->s, x, from, to, true);
        room -= a->p->bytes[x];
    }
    return true;
}

/* Hold one tensor that is made again, and drop others until their room suffices. */
static bool many_for_one(struct rp_anneal *a) {
    uint32_t t, first, last, x = rp_random_remake(a, &t);
    if (x == RP_NONE || rp_incremental_held(&a->s, t, x) ||
        !rp_find_gap(a, x, t, &first, &last))
        return false;
    uint64_t need = a->p->bytes[x], found = 0;
    rp_incremental_flip(&a->s, x, first, last, true);
    for (int tries = 0; tries < 24 && found < need; tries++) {
        uint32_t y = rp_below(a, a->s.m), row = first + rp_below(a, last - first + 1), from,
                 to;
        if (y == x || a->p->bytes[y] > need || !rp_incremental_held(&a->s, row, y) ||
            !rp_find_gap(a, y, row, &from, &to) || !drop_gap(a, y, from, to))
            continue;
        found += a->p->bytes[y];
    }
    return true;
}

/* Drops something where memory is short. */
static bool relieve(struct rp_anneal *a) {
    uint32_t t = rp_below(a, a->s.n), n = 0;
    while (a->s.over[t] <= 0 && n++ < a->s.n)
        t = t + 1 < a->s.n ? t + 1 : 0;
    if (a->s.over[t] <= 0)
        return false;
    for (int tries = 0; tries < 32; tries++) {
        uint32_t x = rp_below(a, a->s.m);
        if (rp_incremental_held(&a->s, t, x))
            return toggle_gap(a, x, t);
    }
    return false;
}

bool rp_propose(struct rp_anneal *a) {
    uint32_t die = rp_below(a, 100);
    rp_incremental_begin(&a->s);
    if (a->s.overflow > 0 && rp_below(a, 4) == 0)
        return relieve(a);
    if (a->p->out_ns != NULL && rp_below(a, 3) == 0)
        return rp_propose_swap(a);
    if (die < 40)
        return toggle_at_use(a);
    if (die < 65)
        return toggle_anywhere(a);
    if (die < 75)
        return exchange(a);
    if (die < 85)
        return remake_earlier(a);
    if (die < 91)
        return shift_checkpoint(a);
    if (die < 94)
        return one_for_many(a);
    if (die < 96)
        return many_for_one(a);
    return toggle_segment(a);
}
