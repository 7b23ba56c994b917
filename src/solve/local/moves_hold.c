#include "solve/local/moves_hold.h"

#include "base/random.h"
#include "solve/local/moves_interval.h"

/* Holds or drops the interval of x around row t. */
static bool toggle_interval(struct rp_incremental *s, uint64_t *random, uint32_t x,
                            uint32_t t) {
    uint32_t first, last;
    if (t <= s->p->producer[x] || t >= s->n_stages ||
        !rp_find_interval(s, x, t, &first, &last))
        return false;
    if (rp_incremental_held(s, t, x))
        return rp_drop_interval(s, random, x, first, last);
    rp_incremental_flip(s, x, first, last, true);
    return true;
}

bool rp_move_reduce_peak(struct rp_incremental *s, uint64_t *random) {
    uint32_t t = rp_random_below(random, s->n_stages), n = 0;
    while (s->over_bytes[t] <= 0 && n++ < s->n_stages)
        t = t + 1 < s->n_stages ? t + 1 : 0;
    if (s->over_bytes[t] <= 0)
        return false;
    for (int tries = 0; tries < 32; tries++) {
        uint32_t x = rp_random_below(random, s->n_tensors);
        if (rp_incremental_held(s, t, x))
            return toggle_interval(s, random, x, t);
    }
    return false;
}

/* ---- toggles ---- */

/* A random use: stage *t, a run in it, a tensor that run makes or reads. */
static uint32_t random_use(const struct rp_incremental *s, uint64_t *random, uint32_t *t) {
    const struct rp_instance *p = s->p;
    *t = rp_random_below(random, s->n_stages);
    const struct rp_id_list *runs = &s->stage_runs[*t];
    uint32_t j = runs->at[rp_random_below(random, runs->n)];
    uint32_t n_in = p->input_start[j + 1] - p->input_start[j];
    uint32_t n_out = p->output_start[j + 1] - p->output_start[j];
    if (n_in + n_out == 0)
        return RP_NONE;
    uint32_t k = rp_random_below(random, n_in + n_out);
    return k < n_in ? p->inputs[p->input_start[j] + k] : p->output_start[j] + k - n_in;
}

bool rp_move_toggle_at_use(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, x = random_use(s, random, &t);
    return x != RP_NONE && toggle_interval(s, random, x, t + rp_random_below(random, 2));
}

bool rp_move_toggle_random(struct rp_incremental *s, uint64_t *random) {
    uint32_t n = s->n_stages, x = rp_random_below(random, s->n_tensors);
    uint32_t j = s->p->producer[x];
    return j + 1 < n &&
           toggle_interval(s, random, x, j + 1 + rp_random_below(random, n - j - 1));
}

bool rp_move_toggle_segment(struct rp_incremental *s, uint64_t *random) {
    uint32_t t = 1 + rp_random_below(random, s->n_stages - 1),
             width = 2 + rp_random_below(random, 10);
    uint32_t x0 = rp_random_below(random, s->n_tensors), first, last;
    bool held = false, any = false;
    if (s->p->producer[x0] >= t)
        return false;
    for (uint32_t x = x0; x < s->n_tensors && x < x0 + width; x++) {
        uint32_t j = s->p->producer[x];
        if (j >= t)
            break;
        if (!any)
            held = rp_incremental_held(s, t, x);
        if (rp_incremental_held(s, t, x) != held || (held && s->p->last_stage[j] < t))
            continue;
        if (rp_find_interval(s, x, t, &first, &last)) {
            if (held)
                rp_drop_interval(s, random, x, first, last);
            else
                rp_incremental_flip(s, x, first, last, true);
            any = true;
        }
    }
    return any;
}

/* ---- exchanges ---- */

/* A tensor that stage *t makes again, and its interval before that. RP_NONE if the random
 * choice finds none. */
static uint32_t random_recomputed_interval(const struct rp_incremental *s, uint64_t *random,
                                           uint32_t *t, uint32_t *first, uint32_t *last) {
    uint32_t x = rp_random_recomputed(s, random, t);
    if (x == RP_NONE || rp_incremental_held(s, *t, x) ||
        !rp_find_interval(s, x, *t, first, last))
        return RP_NONE;
    return x;
}

bool rp_move_exchange_1_1(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = random_recomputed_interval(s, random, &t, &first, &last);
    if (x == RP_NONE)
        return false;
    uint32_t row = first + rp_random_below(random, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = rp_random_below(random, s->n_tensors);
        if (y != x && rp_incremental_held(s, row, y)) {
            rp_incremental_flip(s, x, first, last, true);
            return toggle_interval(s, random, y, row);
        }
    }
    return false;
}

bool rp_move_exchange_1_n(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, y = random_use(s, random, &t);
    if (y == RP_NONE || ++t >= s->n_stages || !rp_incremental_held(s, t, y) ||
        !rp_find_interval(s, y, t, &first, &last) ||
        !rp_drop_interval(s, random, y, first, last))
        return false;
    uint64_t room = s->p->bytes[y];
    for (int tries = 0; tries < 12 && room > 0; tries++) {
        uint32_t at, from, to, x = rp_random_recomputed(s, random, &at);
        if (x == RP_NONE || x == y || s->p->bytes[x] > room ||
            rp_incremental_held(s, at, x) || !rp_find_interval(s, x, at, &from, &to) ||
            to < first || from > last)
            continue;
        rp_incremental_flip(s, x, from, to, true);
        room -= s->p->bytes[x];
    }
    return true;
}

bool rp_move_exchange_n_1(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = random_recomputed_interval(s, random, &t, &first, &last);
    if (x == RP_NONE)
        return false;
    uint64_t need = s->p->bytes[x], found = 0;
    rp_incremental_flip(s, x, first, last, true);
    for (int tries = 0; tries < 24 && found < need; tries++) {
        uint32_t y = rp_random_below(random, s->n_tensors);
        uint32_t row = first + rp_random_below(random, last - first + 1), from, to;
        if (y == x || s->p->bytes[y] > need || !rp_incremental_held(s, row, y) ||
            !rp_find_interval(s, y, row, &from, &to) ||
            !rp_drop_interval(s, random, y, from, to))
            continue;
        found += s->p->bytes[y];
    }
    return true;
}

/* ---- where tensors are made again ---- */

/* A random input of op j; RP_NONE if it has none. */
static uint32_t random_input(const struct rp_instance *p, uint64_t *random, uint32_t j) {
    uint32_t n = p->input_start[j + 1] - p->input_start[j];
    return n > 0 ? p->inputs[p->input_start[j] + rp_random_below(random, n)] : RP_NONE;
}

/* Stage t makes x again, and `before` is the last stage before it that uses x. Leaves x to
 * the next stage that uses it, or makes it in one of the eight stages before t. Alone this
 * gains nothing. But stage t may then have room to hold another tensor, since what x is
 * made of need not be there. If runs only came sooner, tensors that nothing needs
 * yet would fill the memory. Without swaps much is made again, and on random layered graphs
 * these moves took more from the others than they gained. */
static bool shift_run(struct rp_incremental *s, uint64_t *random, uint32_t x, uint32_t t,
                      uint32_t before) {
    bool can_drop = rp_incremental_held(s, t + 1, x) && !s->is_small[x];
    uint32_t next = can_drop ? rp_incremental_use_from(s, x, t + 1) : RP_NONE;
    if (next != RP_NONE && rp_random_below(random, 2) == 0) {
        rp_incremental_flip(s, x, t + 1, next, false);
        return true;
    }
    uint32_t stages = 1 + rp_random_below(random, 1u << rp_random_below(random, 4));
    if (rp_random_below(random, 3) != 0 || t - before <= stages)
        return false;
    rp_incremental_flip(s, x, t - stages + 1, t, true);
    return true;
}

bool rp_move_shift_recompute(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, x = rp_random_recomputed(s, random, &t);
    if (x == RP_NONE || rp_incremental_held(s, t, x))
        return false;
    uint32_t j = s->p->producer[x], y = random_input(s->p, random, j);
    uint32_t at = y != RP_NONE ? rp_incremental_use_before(s, y, t) : RP_NONE;
    uint32_t before = rp_incremental_use_before(s, x, t);
    if (at == RP_NONE || at <= before)
        return s->p->out_ns != NULL && shift_run(s, random, x, t, before);
    rp_incremental_flip(s, x, at + 1, t, true);
    if (rp_random_below(random, 2))
        rp_rehold_inputs(s, random, j, at, rp_random_below(random, 3));
    return true;
}

bool rp_move_shift_checkpoint(struct rp_incremental *s, uint64_t *random) {
    uint32_t t, first, last, x = random_recomputed_interval(s, random, &t, &first, &last);
    if (x == RP_NONE)
        return false;
    uint32_t y = random_input(s->p, random, s->p->producer[x]);
    if (y == RP_NONE)
        return false;
    rp_incremental_flip(s, x, first, last, true);
    if (!rp_incremental_held(s, t, y) || s->is_small[y] ||
        s->p->last_stage[s->p->producer[y]] < t)
        return true;
    uint32_t from = rp_incremental_use_before(s, y, t) + 1;
    uint32_t end = rp_incremental_use_from(s, y, t + 1);
    bool up_to_t = rp_random_below(random, 2) || end == RP_NONE;
    rp_incremental_flip(s, y, from, up_to_t ? t : end, false);
    return true;
}
