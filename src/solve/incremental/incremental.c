#include "solve/incremental/incremental.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/incremental/incremental_internal.h"
#include "solve/incremental/incremental_stage.h"
#include "solve/incremental/incremental_timeline.h"

void rp_incremental_init(struct rp_incremental *s, const struct rp_instance *p) {
    rp_incremental_state_init(s, p);
    if (p->out_ns != NULL)
        rp_incremental_timeline_init(s);
}

void rp_incremental_fini(struct rp_incremental *s) {
    rp_incremental_timeline_fini(s);
    rp_incremental_state_fini(s);
}

/* ---- load ---- */

/* Row t + 1 against row t: what opens and closes, the bytes; columns get the changes. */
static void load_changes(struct rp_incremental *s, const struct rp_schedule *from,
                         uint32_t t) {
    const uint64_t *now = from->rows + (size_t)t * from->words, *next = now + from->words;
    s->opens[t].n = s->closes[t].n = 0;
    s->base_bytes[t + 1] = s->base_bytes[t];
    for (size_t i = 0; i < from->words; i++)
        for (uint64_t rest = now[i] ^ next[i]; rest != 0; rest &= rest - 1) {
            uint32_t x = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(rest);
            bool opens = next[i] & rest & -rest;
            struct rp_id_list *l = opens ? &s->opens[t] : &s->closes[t];
            rp_push(l, x);
            s->base_bytes[t + 1] +=
                opens ? (int64_t)s->p->bytes[x] : -(int64_t)s->p->bytes[x];
            s->held[(size_t)x * s->words + (t + 1) / 64] ^= rp_bit(t + 1);
        }
}

/* From the rows in which a tensor's hold changes to the rows in which it is held: bit t of
 * a column becomes the parity of its bits 0..t. Row 0 is empty. */
static void sum_changes(struct rp_incremental *s) {
    for (uint32_t x = 0; x < s->n_tensors; x++) {
        uint64_t *column = s->held + (size_t)x * s->words, before = 0;
        for (size_t i = 0; i < s->words; i++) {
            uint64_t w = column[i];
            if (w == 0 && before == 0) /* pages of zeros stay untouched */
                continue;
            for (unsigned shift = 1; shift < 64; shift *= 2)
                w ^= w << shift;
            column[i] = w ^ before;
            before = column[i] >> 63 ? ~(uint64_t)0 : 0;
        }
    }
}

/* What sources that live on the host take there, and the copies out that they need. */
static void load_homes(struct rp_incremental *s) {
    struct rp_incremental_swaps *w = &s->swaps;
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < s->n_tensors && p->n_homes > 0; x++) {
        bool copied_out = rp_incremental_copied_out(s, x);
        w->n_copies += copied_out;
        w->n_swap_outs[p->producer[x]] += copied_out;
        w->host_bytes += x < p->n_homes && !rp_incremental_stays(s, x) ? p->bytes[x] : 0;
    }
}

static void load_swap_ins(struct rp_incremental *s, const struct rp_schedule *from) {
    struct rp_incremental_swaps *w = &s->swaps;
    memset(w->n_swap_ins, 0, s->n_tensors * sizeof *w->n_swap_ins);
    memset(w->n_swap_outs, 0, s->n_stages * sizeof *w->n_swap_outs);
    w->n_copies = 0;
    w->host_bytes = 0;
    load_homes(s);
    for (uint32_t t = 0; t < s->n_stages; t++) {
        w->swap_ins[t].n = 0;
        for (size_t i = from->ins != NULL ? from->words : 0; i-- > 0;)
            for (uint64_t rest = from->ins[(size_t)t * from->words + i]; rest != 0;) {
                uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
                struct rp_flip f = {.x = (uint32_t)(i * 64) + high,
                                    .first = t,
                                    .last = t,
                                    .value = true,
                                    .swap_in = true};
                rest ^= (uint64_t)1 << high;
                rp_incremental_apply_flip(s, &f);
            }
    }
}

static void load_stage(struct rp_incremental *s, uint32_t t) {
    struct rp_id_list *runs = &s->move->runs;
    uint32_t stuck;
    runs->n = s->stage_runs[t].n = 0;
    rp_incremental_find_closure(s, t, INFINITY, &s->stage_ns[t], &stuck);
    for (uint32_t a = 0; a < runs->n; a++) {
        uint32_t j = runs->at[a];
        rp_push(&s->stage_runs[t], j);
        s->runs[(size_t)j * s->words + t / 64] |= rp_bit(t);
    }
    s->over_bytes[t] = rp_incremental_stage_over(s, t, runs->at, runs->n, s->base_bytes[t]);
    s->time_ns += s->stage_ns[t];
    s->overflow_bytes += rp_max_double(s->over_bytes[t], 0);
}

/* Pages that the state has not touched yet stay so. */
static void clear(struct rp_incremental *s) {
    if (s->loaded) {
        rp_words_clear(s->held, s->n_tensors * s->words);
        rp_words_clear(s->runs, s->n_stages * s->words);
        if (s->p->out_ns != NULL)
            rp_words_clear(s->swaps.swapped_in, s->n_tensors * s->words);
    }
    s->loaded = true;
}

/* How long a row takes to read, in ns, about. */
static uint64_t row_work(const struct rp_schedule *from) {
    return 20 + from->words / 2;
}

bool rp_incremental_load_until(struct rp_incremental *s, const struct rp_schedule *from,
                               struct rp_stop *stop) {
    bool may_swap = s->p->out_ns != NULL;
    clear(s);
    s->time_ns = s->overflow_bytes = 0;
    for (uint32_t t = 0; t < s->n_stages && !rp_stop_after(stop, row_work(from)); t++)
        load_changes(s, from, t);
    if (rp_stop_hit(stop))
        return false;
    sum_changes(s);
    if (may_swap)
        load_swap_ins(s, from);
    for (uint32_t t = 0; t < s->n_stages && !rp_stop_after(stop, row_work(from)); t++)
        load_stage(s, t);
    if (rp_stop_hit(stop))
        return false;
    if (may_swap)
        rp_incremental_timeline_load(s);
    s->time_ns += s->swaps.stall_ns;
    return true;
}

void rp_incremental_load(struct rp_incremental *s, const struct rp_schedule *from) {
    rp_incremental_load_until(s, from, NULL);
}

/* ---- store ---- */

/* Rows get what differs from the row before. */
static void store_changes(const struct rp_incremental *s, uint32_t x,
                          struct rp_schedule *to) {
    const uint64_t *column = s->held + (size_t)x * s->words;
    for (size_t i = 0; i < s->words; i++) {
        uint64_t before = column[i] << 1 | (i > 0 ? column[i - 1] >> 63 : 0);
        for (uint64_t rest = column[i] ^ before; rest != 0; rest &= rest - 1) {
            size_t t = i * 64 + (size_t)__builtin_ctzll(rest);
            if (t <= s->n_stages)
                to->rows[t * to->words + x / 64] |= rp_bit(x);
        }
    }
}

void rp_incremental_store(const struct rp_incremental *s, struct rp_schedule *to) {
    rp_schedule_clear(to);
    for (uint32_t x = 0; x < s->n_tensors; x++)
        store_changes(s, x, to);
    rp_schedule_from_changes(to);
    for (uint32_t t = 0; s->swaps.n_copies > 0 && t < s->n_stages; t++)
        for (uint32_t k = 0; k < s->swaps.swap_ins[t].n; k++)
            rp_schedule_set_in(to, s->swaps.swap_ins[t].at[k].x, t, true);
}
