/* One stage of a state: what runs in it and what memory that takes. And whole schedules,
 * which are loaded stage by stage. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "solve/local/incremental.h"

static inline uint64_t bit(uint32_t i) {
    return (uint64_t)1 << (i % 64);
}

static void clear_ops(struct rp_incremental *s, size_t n_words) {
    for (size_t i = 0; i < n_words; i++)
        s->op_bits[i] = 0;
}

enum rp_closure rp_incremental_close_stage(struct rp_incremental *s, uint32_t t,
                                           double most, double *time, uint32_t *stuck) {
    const struct rp_instance *p = s->p;
    struct rp_id_list *out = &s->scratch_runs;
    uint32_t begin = out->n;
    enum rp_closure result = RP_CLOSED;
    *time = 0;
    s->op_bits[t / 64] |= bit(t);
    for (uint32_t k = 0; k < s->opens[t].n; k++) {
        uint32_t x = s->opens[t].at[k], j = p->producer[x];
        if (!rp_incremental_swapped_in(s, t, x))
            s->op_bits[j / 64] |= bit(j);
    }
    /* Producers come before readers: one pass from late to early finds the closure. */
    for (size_t i = (size_t)t / 64 + 1; i-- > 0;)
        while (s->op_bits[i] != 0) {
            uint32_t j = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(s->op_bits[i]));
            s->op_bits[i] &= ~bit(j);
            rp_push(out, j);
            *time += (double)p->time_ns[j];
            if (*time > most) {
                clear_ops(s, i + 1);
                return RP_TOO_SLOW;
            }
            if (j != t && !p->recompute[j]) {
                result = RP_STUCK;
                *stuck = p->output_start[j];
            }
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
                uint32_t x = p->inputs[k];
                if (!rp_incremental_held(s, t, x) && !rp_incremental_swapped_in(s, t, x))
                    s->op_bits[p->producer[x] / 64] |= bit(p->producer[x]);
            }
        }
    for (uint32_t a = begin, b = out->n; a + 1 < b; a++) {
        uint32_t j = out->at[a];
        out->at[a] = out->at[--b];
        out->at[b] = j;
    }
    return result;
}

double rp_incremental_stage_over(struct rp_incremental *s, uint32_t t, const uint32_t *runs,
                                 uint32_t n_runs, int64_t base) {
    const struct rp_instance *p = s->p;
    uint32_t *last_use = s->last_use;
    for (uint32_t k = 0; k < s->closes[t].n; k++)
        last_use[s->closes[t].at[k]] = RP_NONE;
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            last_use[p->inputs[k]] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            last_use[x] = j;
    }
    int64_t live = base, peak = 0;
    for (uint32_t k = 0; k < s->closes[t].n; k++)
        if (last_use[s->closes[t].at[k]] == RP_NONE)
            live -= (int64_t)p->bytes[s->closes[t].at[k]];
    if (s->copies.n_swapped > 0)
        for (uint32_t k = 0; k < s->copies.trips[t].n; k++)
            live += (int64_t)p->bytes[s->copies.trips[t].at[k].x];
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (!rp_incremental_held(s, t, x) && !rp_incremental_swapped_in(s, t, x))
                live += (int64_t)p->bytes[x];
        if (live + (int64_t)p->workspace_bytes[j] > peak)
            peak = live + (int64_t)p->workspace_bytes[j];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (last_use[p->inputs[k]] == j && !rp_incremental_held(s, t + 1, p->inputs[k]))
                live -= (int64_t)p->bytes[p->inputs[k]];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (last_use[x] == j && !rp_incremental_held(s, t + 1, x))
                live -= (int64_t)p->bytes[x];
    }
    return (double)peak - (double)p->limit_bytes;
}

/* ---- whole schedules ---- */

/* Row t + 1 against row t: what opens and closes, the bytes; columns get the changes. */
static void load_changes(struct rp_incremental *s, const struct rp_schedule *from,
                         uint32_t t) {
    const uint64_t *now = from->rows + (size_t)t * from->words, *next = now + from->words;
    s->opens[t].n = s->closes[t].n = 0;
    s->base[t + 1] = s->base[t];
    for (size_t i = 0; i < from->words; i++)
        for (uint64_t rest = now[i] ^ next[i]; rest != 0; rest &= rest - 1) {
            uint32_t x = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(rest);
            bool opens = next[i] & rest & -rest;
            struct rp_id_list *l = opens ? &s->opens[t] : &s->closes[t];
            rp_push(l, x);
            s->base[t + 1] += opens ? (int64_t)s->p->bytes[x] : -(int64_t)s->p->bytes[x];
            s->held[(size_t)x * s->words + (t + 1) / 64] ^= bit(t + 1);
        }
}

/* From the rows in which each tensor's state changes to the rows in which it is held: bit t
 * of a column becomes the parity of its bits 0..t. Row 0 is empty. */
static void sum_changes(struct rp_incremental *s) {
    for (uint32_t x = 0; x < s->m; x++) {
        uint64_t *column = s->held + (size_t)x * s->words, before = 0;
        for (size_t i = 0; i < s->words; i++) {
            uint64_t w = column[i];
            for (unsigned shift = 1; shift < 64; shift *= 2)
                w ^= w << shift;
            column[i] = w ^ before;
            before = column[i] >> 63 ? ~(uint64_t)0 : 0;
        }
    }
}

static void load_stage(struct rp_incremental *s, uint32_t t) {
    uint32_t stuck;
    s->scratch_runs.n = s->stage_runs[t].n = 0;
    rp_incremental_close_stage(s, t, INFINITY, &s->stage_time[t], &stuck);
    for (uint32_t a = 0; a < s->scratch_runs.n; a++) {
        uint32_t j = s->scratch_runs.at[a];
        rp_push(&s->stage_runs[t], j);
        s->runs[(size_t)j * s->words + t / 64] |= bit(t);
    }
    s->over[t] =
        rp_incremental_stage_over(s, t, s->scratch_runs.at, s->scratch_runs.n, s->base[t]);
    s->time += s->stage_time[t];
    s->overflow += s->over[t] > 0 ? s->over[t] : 0;
}

void rp_incremental_load(struct rp_incremental *s, const struct rp_schedule *from) {
    memset(s->held, 0, (size_t)s->m * s->words * sizeof *s->held);
    memset(s->runs, 0, (size_t)s->n * s->words * sizeof *s->runs);
    s->n_flips = s->n_dirty = 0;
    s->time = s->overflow = 0;
    s->base[0] = 0;
    for (uint32_t t = 0; t < s->n; t++)
        load_changes(s, from, t);
    sum_changes(s);
    if (s->copies.brought != NULL)
        rp_incremental_timeline_load_swap_ins(s, from);
    for (uint32_t t = 0; t < s->n; t++)
        load_stage(s, t);
    if (s->copies.brought != NULL)
        rp_incremental_timeline_load(s);
    s->time += s->copies.stalls;
}

void rp_incremental_store(const struct rp_incremental *s, struct rp_schedule *to) {
    memset(to->rows, 0, ((size_t)s->n + 1) * to->words * sizeof *to->rows);
    for (uint32_t x = 0; x < s->m; x++) {
        const uint64_t *column = s->held + (size_t)x * s->words;
        for (size_t i = 0; i < s->words; i++) {
            uint64_t before = column[i] << 1 | (i > 0 ? column[i - 1] >> 63 : 0);
            for (uint64_t rest = column[i] ^ before; rest != 0; rest &= rest - 1) {
                size_t t = i * 64 + (size_t)__builtin_ctzll(rest);
                if (t <= s->n)
                    to->rows[t * to->words + x / 64] |= bit(x);
            }
        }
    }
    rp_schedule_from_changes(to);
    if (to->ins != NULL)
        memset(to->ins, 0, ((size_t)s->n + 1) * to->words * sizeof *to->ins);
    for (uint32_t t = 0; s->copies.n_swapped > 0 && t < s->n; t++)
        for (uint32_t k = 0; k < s->copies.trips[t].n; k++)
            rp_schedule_set_in(to, s->copies.trips[t].at[k].x, t, true);
}
