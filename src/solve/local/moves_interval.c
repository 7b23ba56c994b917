#include "solve/local/moves_interval.h"

#include "base/numbers.h"
#include "base/random.h"

bool rp_find_interval(const struct rp_incremental *s, uint32_t x, uint32_t t,
                      uint32_t *first, uint32_t *last) {
    uint32_t before = rp_incremental_use_before(s, x, t), from;
    if (before == RP_NONE || s->p->pinned[x] || rp_incremental_stays(s, x))
        return false;
    from = rp_incremental_use_from(s, x, t);
    if (from == RP_NONE) {
        if (!s->p->kept[x] && !rp_incremental_held(s, t, x))
            return false;
        from = s->n_stages - 1;
    }
    *first = before + 1;
    *last = from;
    return true;
}

uint32_t rp_random_recomputed(const struct rp_incremental *s, uint64_t *random,
                              uint32_t *t) {
    for (int tries = 0; tries < 8; tries++) {
        *t = rp_random_below(random, s->n_stages);
        const struct rp_id_list *runs = &s->stage_runs[*t];
        if (runs->n < 2)
            continue;
        uint32_t j = runs->at[rp_random_below(random, runs->n - 1)];
        uint32_t n_out = s->p->output_start[j + 1] - s->p->output_start[j];
        return s->p->output_start[j] + rp_random_below(random, n_out);
    }
    return RP_NONE;
}

void rp_rehold_inputs(struct rp_incremental *s, uint64_t *random, uint32_t j, uint32_t t,
                      uint32_t depth) {
    for (uint32_t k = s->p->input_start[j]; k < s->p->input_start[j + 1]; k++) {
        uint32_t y = s->p->inputs[k];
        if (rp_incremental_held(s, t, y) || rp_incremental_swapped_in(s, t, y))
            continue;
        if (depth == 0 || rp_random_below(random, 2))
            rp_incremental_flip(s, y, rp_incremental_use_before(s, y, t) + 1, t, true);
        else if (!rp_is_version(s->p, y))
            rp_rehold_inputs(s, random, s->p->producer[y], t, depth - 1);
    }
}

/* ---- swapping an interval ---- */

bool rp_swappable(const struct rp_incremental *s, uint32_t x) {
    return s->p->out_ns != NULL && s->p->bytes[x] > 0 && !s->is_small[x];
}

uint32_t rp_copied_out_by(const struct rp_incremental *s, uint32_t x) {
    const struct rp_incremental_swaps *w = &s->swaps;
    uint32_t j = s->p->producer[x], t = j + 1;
    if (x < s->p->n_homes)
        return 0;
    double end = rp_incremental_copied_out(s, x)
                     ? w->swap_out_end_ns[x] - s->stage_ns[j] - w->stage_stall_ns[j]
                     : w->d2h_backlog_ns[t] + (double)s->p->out_ns[x];
    for (; end > 0 && t < s->n_stages; t++)
        end -= s->stage_ns[t] + w->stage_stall_ns[t];
    return t;
}

uint32_t rp_last_swap_in(const struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, double margin) {
    const struct rp_incremental_swaps *w = &s->swaps;
    double room = 0, takes = (double)s->p->in_ns[x] * margin;
    uint32_t t = last;
    for (; t > first && w->h2d_backlog_ns[t] + takes > room; t--)
        room += s->stage_ns[t - 1] + w->stage_stall_ns[t - 1];
    return t;
}

bool rp_swap_interval(struct rp_incremental *s, uint64_t *random, uint32_t x,
                      uint32_t first, uint32_t last) {
    uint32_t drawn = rp_random_below(random, 8);
    uint32_t in = drawn == 0
                      ? first + rp_random_below(random, last - first + 1)
                      : rp_last_swap_in(s, x, first, last, 1 + 0.25 * (double)(drawn / 2));
    uint32_t free_at = rp_random_below(random, 8) == 0 ? first - 1 : rp_copied_out_by(s, x);
    if (in <= s->p->producer[x])
        return false;
    free_at = free_at >= in ? in - 1 : free_at;
    if (free_at >= first)
        rp_incremental_flip(s, x, first, free_at, true);
    rp_incremental_flip(s, x, free_at < first ? first : free_at + 1, in, false);
    rp_incremental_flip_swap_in(s, x, in, true);
    if (first < in)
        rp_incremental_remove_swap_ins(s, x, first, in - 1);
    if (in < last)
        rp_incremental_flip(s, x, in + 1, last, true);
    return true;
}

/* ---- dropping an interval ---- */

/* The last row from `first` to `last` in which all inputs of op j are held; 0 if none. */
static uint32_t last_row_with_inputs(const struct rp_incremental *s, uint32_t j,
                                     uint32_t first, uint32_t last) {
    const struct rp_instance *p = s->p;
    for (size_t i = last / 64 + 1; i-- > first / 64;) {
        uint64_t w = ~(uint64_t)0;
        if (i == last / 64)
            w >>= 63 - last % 64;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w &= s->held[(size_t)p->inputs[k] * s->words + i];
        if (w != 0) {
            uint32_t t = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w));
            return t >= first ? t : 0;
        }
    }
    return 0;
}

bool rp_drop_interval(struct rp_incremental *s, uint64_t *random, uint32_t x,
                      uint32_t first, uint32_t last) {
    enum { PART, UP_TO_INPUTS, WHOLE, WHOLE_WITH_INPUTS, N_WAYS };
    uint32_t j = s->p->producer[x], end = last, last_stage = s->p->last_stage[j];
    if (s->is_small[x])
        return false;
    if (rp_swappable(s, x) && (last_stage < first || rp_random_below(random, 12) == 0))
        return rp_swap_interval(s, random, x, first, last);
    uint32_t way = rp_random_below(random, N_WAYS);
    if (last_stage < first)
        return false;
    end = last = rp_min_u32(last, last_stage);
    if (way == PART)
        end = first + rp_random_below(random, last - first + 1);
    else if (way == UP_TO_INPUTS)
        end = last_row_with_inputs(s, j, first, last);
    if (end < first)
        return false;
    rp_incremental_remove_swap_ins(s, x, first, last);
    rp_incremental_flip(s, x, first, end, false);
    if (way == PART || way == WHOLE_WITH_INPUTS)
        rp_rehold_inputs(s, random, j, end, rp_random_below(random, 4));
    return true;
}
