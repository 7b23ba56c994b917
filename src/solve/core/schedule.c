#include "solve/core/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/timeline.h"
#include "solve/core/params.h"

/* ---- arrays of words ---- */

enum { STRETCH = 512 }; /* words: a usual page */

static size_t stretch(size_t i, size_t n) {
    return n - i < STRETCH ? n - i : STRETCH;
}

static bool all_zero(const uint64_t *at, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (at[i] != 0)
            return false;
    return true;
}

void rp_words_clear(uint64_t *to, size_t n) {
    for (size_t i = 0; i < n; i += STRETCH)
        if (!all_zero(to + i, stretch(i, n)))
            memset(to + i, 0, stretch(i, n) * sizeof *to);
}

void rp_words_copy(uint64_t *to, const uint64_t *from, size_t n) {
    for (size_t i = 0; i < n; i += STRETCH)
        if (all_zero(from + i, stretch(i, n)))
            rp_words_clear(to + i, stretch(i, n));
        else
            memcpy(to + i, from + i, stretch(i, n) * sizeof *to);
}

/* ---- schedules ---- */

static size_t n_words(const struct rp_schedule *s) {
    return ((size_t)s->n_stages + 1) * s->words;
}

bool rp_schedule_too_large(const struct rp_instance *p) {
    return (p->n_tensors / 64 + 1.0) * (p->n_ops + 1.0) * 8 > MAX_SCHEDULE_BYTES;
}

void rp_schedule_empty(const struct rp_instance *p, struct rp_schedule *s) {
    s->n_stages = p->n_ops;
    s->words = (size_t)p->n_tensors / 64 + 1;
    s->rows = rp_calloc(n_words(s), sizeof *s->rows);
    s->ins = NULL;
}

/* Copies n words to `to`, or to new memory if that is NULL, where pages of zeros stay
 * untouched. Returns the copy; NULL, with `to` freed, if `from` is NULL. */
static uint64_t *copy_words(uint64_t *to, const uint64_t *from, size_t n) {
    if (from == NULL) {
        free(to);
        return NULL;
    }
    if (to != NULL) {
        rp_words_copy(to, from, n);
        return to;
    }
    to = rp_calloc(n, sizeof *to);
    for (size_t i = 0; i < n; i += STRETCH)
        if (!all_zero(from + i, stretch(i, n)))
            memcpy(to + i, from + i, stretch(i, n) * sizeof *to);
    return to;
}

void rp_schedule_copy(struct rp_schedule *to, const struct rp_schedule *from) {
    *to = (struct rp_schedule){.n_stages = from->n_stages,
                               .words = from->words,
                               .rows = copy_words(to->rows, from->rows, n_words(from)),
                               .ins = copy_words(to->ins, from->ins, n_words(from))};
}

void rp_schedule_exchange(struct rp_schedule *a, struct rp_schedule *b) {
    struct rp_schedule was_a = *a;
    *a = *b;
    *b = was_a;
}

void rp_schedule_clear(struct rp_schedule *s) {
    rp_words_clear(s->rows, n_words(s));
    free(s->ins);
    s->ins = NULL;
}

void rp_schedule_fini(struct rp_schedule *s) {
    free(s->rows);
    free(s->ins);
    *s = (struct rp_schedule){0};
}

void rp_schedule_set(struct rp_schedule *s, uint32_t x, uint32_t first, uint32_t last,
                     bool value) {
    uint64_t bit = (uint64_t)1 << (x % 64);
    for (uint32_t t = first; t <= last; t++) {
        uint64_t *w = &s->rows[(size_t)t * s->words + x / 64];
        *w = value ? *w | bit : *w & ~bit;
    }
}

/* Adds to `bits` those in which one of the rows differs. NULL: all are 0. */
static void add_differences(const struct rp_schedule *shape, const uint64_t *a,
                            const uint64_t *b, uint64_t *bits) {
    for (size_t k = 0; k < n_words(shape) && (a != NULL || b != NULL); k++)
        bits[k % shape->words] |= (a != NULL ? a[k] : 0) ^ (b != NULL ? b[k] : 0);
}

uint32_t rp_schedule_distance(const struct rp_schedule *a, const struct rp_schedule *b) {
    uint64_t *bits = rp_calloc(a->words, sizeof *bits);
    uint32_t n = 0;
    add_differences(a, a->rows, b->rows, bits);
    add_differences(a, a->ins, b->ins, bits);
    for (size_t k = 0; k < a->words; k++)
        n += (uint32_t)__builtin_popcountll(bits[k]);
    free(bits);
    return n;
}

bool rp_schedule_swaps(const struct rp_schedule *s) {
    for (size_t i = 0; s->ins != NULL && i < n_words(s); i++)
        if (s->ins[i] != 0)
            return true;
    return false;
}

void rp_schedule_set_in(struct rp_schedule *s, uint32_t x, uint32_t t, bool value) {
    uint64_t bit = (uint64_t)1 << (x % 64);
    if (s->ins == NULL && value)
        s->ins = rp_calloc(n_words(s), sizeof *s->ins);
    if (s->ins != NULL) {
        uint64_t *w = &s->ins[(size_t)t * s->words + x / 64];
        *w = value ? *w | bit : *w & ~bit;
    }
}

void rp_schedule_from_changes(struct rp_schedule *s) {
    for (size_t i = s->words; i < n_words(s); i++)
        if (s->rows[i - s->words] != 0) /* pages of zeros stay untouched */
            s->rows[i] ^= s->rows[i - s->words];
}

void rp_schedule_change(struct rp_schedule *s, uint32_t x, uint32_t first, uint32_t last) {
    uint64_t *w = s->rows + x / 64, bit = (uint64_t)1 << (x % 64);
    if (first > last)
        return;
    w[(size_t)first * s->words] ^= bit;
    if (last < s->n_stages)
        w[((size_t)last + 1) * s->words] ^= bit;
}

/* A version of a source: on the device for good if it may be, else swapped in at the
 * beginning. What is copied out at the end may as well stay meanwhile. */
static void keep_version(const struct rp_instance *p, uint32_t x, struct rp_schedule *s) {
    uint32_t first = p->producer[x] + 1, last = rp_instance_last_need(p, x);
    if (!p->lives_on_host[p->version_0[x]] || rp_must_copy_out(p, x)) {
        last = rp_last_row(p, x);
    } else if (x < p->n_homes && last > 0) {
        rp_schedule_set_in(s, x, first, true);
        first++;
    }
    rp_schedule_change(s, x, first, last);
}

void rp_schedule_keep_all(const struct rp_instance *p, struct rp_schedule *s) {
    rp_schedule_empty(p, s);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (rp_is_version(p, x))
            keep_version(p, x, s);
        else
            rp_schedule_change(s, x, p->producer[x] + 1, rp_instance_last_need(p, x));
    rp_schedule_from_changes(s);
}

/* ---- stages ---- */

void rp_stage_work_init(const struct rp_instance *p, struct rp_stage_work *w) {
    w->op_bits = rp_calloc((size_t)p->n_ops / 64 + 1, sizeof *w->op_bits);
    w->last_use = rp_calloc(p->n_tensors, sizeof *w->last_use);
    w->row = rp_calloc((size_t)p->n_tensors / 64 + 1, sizeof *w->row);
    w->row_bytes = 0;
    w->freed = rp_calloc(p->n_tensors, sizeof *w->freed);
    w->stage.runs = rp_calloc((size_t)p->n_ops + 1, sizeof *w->stage.runs);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        w->last_use[x] = RP_NONE;
}

void rp_stage_work_fini(struct rp_stage_work *w) {
    free(w->op_bits);
    free(w->last_use);
    free(w->row);
    free(w->freed);
    free(w->stage.runs);
    *w = (struct rp_stage_work){0};
}

static inline void set_bit(uint64_t *bits, uint32_t i) {
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Lists what must run in stage t, in order. w->op_bits is all zero before and after. */
static bool find_closure(const struct rp_instance *p, const struct rp_schedule *s,
                         uint32_t t, struct rp_stage_work *w) {
    const uint64_t *now = s->rows + (size_t)t * s->words, *next = now + s->words;
    const uint64_t *in = s->ins != NULL ? s->ins + (size_t)t * s->words : NULL;
    bool sound = true;
    uint32_t n = 0;
    set_bit(w->op_bits, t);
    for (size_t i = 0; i < s->words; i++)
        for (uint64_t rest = next[i] & ~(now[i] | (in != NULL ? in[i] : 0)); rest != 0;
             rest &= rest - 1) {
            uint32_t j = p->producer[i * 64 + (uint32_t)__builtin_ctzll(rest)];
            sound = sound && j <= t;
            if (j < t)
                set_bit(w->op_bits, j);
        }
    /* Producers come before readers: one pass from late to early finds the closure. */
    for (size_t i = (size_t)t / 64 + 1; i-- > 0;)
        while (w->op_bits[i] != 0) {
            uint32_t j = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w->op_bits[i]));
            w->op_bits[i] &= ~((uint64_t)1 << (j % 64));
            w->stage.runs[n++] = j;
            sound = sound && t <= p->last_stage[j];
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
                if (!rp_held(s, t, p->inputs[k]) && !rp_swapped_in(s, t, p->inputs[k]))
                    set_bit(w->op_bits, p->producer[p->inputs[k]]);
        }
    for (uint32_t a = 0, b = n; a + 1 < b; a++) { /* ascending */
        uint32_t j = w->stage.runs[a];
        w->stage.runs[a] = w->stage.runs[--b];
        w->stage.runs[b] = j;
    }
    w->stage.n_runs = n;
    return sound;
}

static void find_last_uses(const struct rp_instance *p, struct rp_stage_work *w) {
    for (uint32_t a = 0; a < w->stage.n_runs; a++) {
        uint32_t j = w->stage.runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w->last_use[p->inputs[k]] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            w->last_use[x] = j;
    }
}

static void clear_last_uses(const struct rp_instance *p, struct rp_stage_work *w) {
    for (uint32_t a = w->stage.n_runs; a-- > 0;) {
        uint32_t j = w->stage.runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w->last_use[p->inputs[k]] = RP_NONE;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            w->last_use[x] = RP_NONE;
    }
}

/* The bytes of row t, by its difference from the row that was summed last. */
static uint64_t bytes_held(const struct rp_instance *p, const struct rp_schedule *s,
                           uint32_t t, struct rp_stage_work *w) {
    const uint64_t *now = s->rows + (size_t)t * s->words;
    for (size_t i = 0; i < s->words; i++) {
        for (uint64_t rest = now[i] ^ w->row[i]; rest != 0; rest &= rest - 1) {
            uint64_t bytes = p->bytes[i * 64 + (size_t)__builtin_ctzll(rest)];
            w->row_bytes += now[i] & rest & -rest ? bytes : -bytes;
        }
        w->row[i] = now[i];
    }
    return w->row_bytes;
}

/* Lists in w->freed what is freed at the start of stage t. */
static void find_freed(const struct rp_schedule *s, uint32_t t, struct rp_stage_work *w) {
    const uint64_t *now = s->rows + (size_t)t * s->words, *next = now + s->words;
    w->n_freed = 0;
    for (size_t i = 0; i < s->words; i++)
        for (uint64_t rest = now[i] & ~next[i]; rest != 0; rest &= rest - 1) {
            uint32_t x = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(rest);
            if (w->last_use[x] == RP_NONE)
                w->freed[w->n_freed++] = x;
        }
}

/* Bytes on the device after the frees at the start of stage t. */
static uint64_t bytes_at_start(const struct rp_instance *p, const struct rp_schedule *s,
                               uint32_t t, struct rp_stage_work *w) {
    uint64_t live = bytes_held(p, s, t, w);
    find_freed(s, t, w);
    for (uint32_t k = 0; k < w->n_freed; k++)
        live -= p->bytes[w->freed[k]];
    return live;
}

/* Adds what stage t swaps in to *live. False if it may not be swapped in: it is held, it
 * has not been made yet, or the stage does not need it. */
static bool add_swap_ins(const struct rp_instance *p, const struct rp_schedule *s,
                         uint32_t t, const uint32_t *last_use, uint64_t *live) {
    bool sound = true;
    const uint64_t *in = s->ins != NULL ? s->ins + (size_t)t * s->words : NULL;
    for (size_t i = 0; in != NULL && i < s->words; i++)
        for (uint64_t rest = in[i]; rest != 0; rest &= rest - 1) {
            uint32_t x = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(rest);
            *live += p->bytes[x];
            sound = sound && !rp_held(s, t, x) && p->producer[x] < t &&
                    t <= rp_last_row(p, x) &&
                    (last_use[x] != RP_NONE || rp_held(s, t + 1, x));
        }
    return sound;
}

bool rp_stage_eval(const struct rp_instance *p, const struct rp_schedule *s, uint32_t t,
                   struct rp_stage_work *w) {
    struct rp_stage *st = &w->stage;
    st->time_ns = st->peak_bytes = 0;
    st->peak_op = t;
    if (!find_closure(p, s, t, w))
        return false;
    find_last_uses(p, w);
    uint64_t live = bytes_at_start(p, s, t, w);
    bool sound = add_swap_ins(p, s, t, w->last_use, &live);
    for (uint32_t a = 0; a < st->n_runs; a++) {
        uint32_t j = st->runs[a];
        st->time_ns += p->time_ns[j];
        uint64_t workspace = p->workspace_bytes[j];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (rp_held(s, t, x) || rp_swapped_in(s, t, x))
                workspace += p->shadow_bytes[x];
            else
                live += p->bytes[x];
        uint64_t bytes = live + workspace - p->overwritten_bytes[j];
        if (bytes > st->peak_bytes) {
            st->peak_bytes = bytes;
            st->peak_op = j;
        }
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (w->last_use[p->inputs[k]] == j && !rp_held(s, t + 1, p->inputs[k]))
                live -= p->bytes[p->inputs[k]];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (w->last_use[x] == j && !rp_held(s, t + 1, x))
                live -= p->bytes[x];
    }
    clear_last_uses(p, w);
    return sound;
}

static bool is_held_to_end(const struct rp_instance *p, const struct rp_schedule *s,
                           uint32_t x) {
    uint32_t t = p->n_ops;
    while (t > p->producer[x] && rp_held(s, t, x))
        t--;
    return t == p->producer[x];
}

bool rp_source_stays(const struct rp_instance *p, const struct rp_schedule *s, uint32_t x) {
    return rp_held(s, 1, p->version_0[x]);
}

/* Version x is not held once it is overwritten. If its source stays on the device it is
 * held all the time (that it never comes back says the evaluation of stages). */
static bool is_version_sound(const struct rp_instance *p, const struct rp_schedule *s,
                             const uint64_t *swapped, uint32_t x) {
    uint32_t last = rp_last_row(p, x);
    if (last < p->n_ops && rp_held(s, last + 1, x))
        return false;
    return !rp_source_stays(p, s, x) ||
           (!p->lives_on_host[p->version_0[x]] && rp_held(s, p->producer[x] + 1, x) &&
            rp_held(s, last, x) && !(swapped[x / 64] >> (x % 64) & 1));
}

static bool versions_sound(const struct rp_instance *p, const struct rp_schedule *s) {
    bool sound = true;
    if (p->n_homes == 0)
        return true;
    uint64_t *swapped = rp_schedule_swapped(s);
    for (uint32_t x = 0; x < p->n_tensors && sound; x++)
        sound = !rp_is_version(p, x) || is_version_sound(p, s, swapped, x);
    free(swapped);
    return sound;
}

/* Nothing is held before the first stage; at the end, all that must be. */
static bool holds_sound(const struct rp_instance *p, const struct rp_schedule *s) {
    for (size_t i = 0; i < s->words; i++)
        if (s->rows[i] != 0)
            return false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if ((p->kept[x] && !rp_held(s, p->n_ops, x)) ||
            (p->pinned[x] && !is_held_to_end(p, s, x)))
            return false;
    return versions_sound(p, s);
}

uint64_t *rp_schedule_swapped(const struct rp_schedule *s) {
    uint64_t *swapped = rp_calloc(s->words, sizeof *swapped);
    for (size_t t = 0; s->ins != NULL && t < s->n_stages; t++)
        for (size_t i = 0; i < s->words; i++)
            swapped[i] |= s->ins[t * s->words + i];
    return swapped;
}

uint64_t *rp_schedule_copied_out(const struct rp_instance *p, const struct rp_schedule *s) {
    uint64_t *out = rp_schedule_swapped(s);
    for (uint32_t x = 0; x < p->n_homes; x++)
        out[x / 64] &= ~((uint64_t)1 << (x % 64));
    for (uint32_t x = p->n_homes; x < p->n_tensors && p->n_homes > 0; x++)
        if (rp_must_copy_out(p, x) && !rp_source_stays(p, s, x))
            set_bit(out, x);
    return out;
}

/* A source that lives on the host has one range there for all its versions. */
uint64_t rp_schedule_host_bytes(const struct rp_instance *p, const struct rp_schedule *s) {
    uint64_t bytes = 0, *out = rp_schedule_copied_out(p, s);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        bool on_host = x < p->n_homes        ? !rp_source_stays(p, s, x)
                       : rp_is_version(p, x) ? false
                                             : out[x / 64] >> (x % 64) & 1;
        bytes += on_host ? p->bytes[x] : 0;
    }
    free(out);
    return bytes;
}

/* Adds host copies and stalls to the cost of a schedule with swaps. */
static void add_copies(const struct rp_instance *p, const struct rp_schedule *s,
                       struct rp_stop *stop, struct rp_cost *c) {
    struct rp_plan plan = {0};
    struct rp_timeline timeline;
    rp_schedule_steps(p, s, stop, &plan);
    rp_timeline_init(&timeline, p->graph);
    for (size_t i = 0; i < plan.steps.n; i++)
        rp_timeline_step(&timeline, &plan.steps.at[i]);
    c->host_bytes = rp_schedule_host_bytes(p, s);
    c->sound = timeline.sound && !timeline.overflow && !rp_stop_hit(stop);
    c->time_ns = rp_timeline_end(&timeline);
    c->stall_ns = timeline.stall_ns;
    rp_timeline_fini(&timeline);
    rp_plan_fini(&plan);
}

/* How long the evaluation of the last stage took, in ns, about. */
static uint64_t stage_work(const struct rp_schedule *s, const struct rp_stage_work *w) {
    return 2 * s->words + 20 * (uint64_t)w->stage.n_runs;
}

struct rp_cost rp_schedule_cost(const struct rp_instance *p, const struct rp_schedule *s) {
    return rp_schedule_cost_until(p, s, NULL);
}

struct rp_cost rp_schedule_cost_until(const struct rp_instance *p,
                                      const struct rp_schedule *s, struct rp_stop *stop) {
    struct rp_cost c = {.sound = !rp_stop_hit(stop) && holds_sound(p, s),
                        .peak_op = RP_NONE};
    struct rp_stage_work w = {0};
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && c.sound; t++) {
        bool evaluates = rp_stage_eval(p, s, t, &w);
        c.overflows = evaluates && !rp_add(&c.time_ns, w.stage.time_ns);
        c.sound = evaluates && !c.overflows && !rp_stop_after(stop, stage_work(s, &w));
        if (w.stage.peak_bytes > c.peak_bytes) {
            c.peak_bytes = w.stage.peak_bytes;
            c.peak_stage = t;
            c.peak_op = w.stage.peak_op;
        }
    }
    rp_stage_work_fini(&w);
    if (c.sound && (rp_schedule_swaps(s) || p->n_homes > 0))
        add_copies(p, s, stop, &c);
    return c;
}

bool rp_cost_fits(const struct rp_instance *p, const struct rp_cost *c) {
    return c->sound && c->peak_bytes <= p->limit_bytes &&
           (p->out_ns == NULL || c->host_bytes <= p->host_limit_bytes);
}

bool rp_schedule_fits(const struct rp_instance *p, const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(p, s);
    return rp_cost_fits(p, &c);
}

void rp_append_step(const struct rp_instance *p, struct rp_plan *plan,
                    enum rp_step_kind kind, uint32_t i) {
    if (kind == RP_RUN && !rp_is_graph_op(p, i))
        return;
    struct rp_step step = {.kind = kind,
                           .id = kind == RP_RUN ? p->op_of[i] : p->tensor_of[i],
                           .address = RP_NO_ADDRESS};
    rp_push(&plan->steps, step);
}

/* Frees what run j of stage t leaves unneeded. A version that the run has overwritten is
 * gone already. */
static void push_frees(const struct rp_instance *p, const struct rp_schedule *s, uint32_t t,
                       uint32_t j, const uint32_t *last_use, struct rp_plan *plan) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t x = p->inputs[k];
        if (last_use[x] == j && !rp_held(s, t + 1, x) && rp_last_row(p, x) != j)
            rp_append_step(p, plan, RP_FREE, x);
    }
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        if (last_use[x] == j && !rp_held(s, t + 1, x))
            rp_append_step(p, plan, RP_FREE, x);
}

/* The tensor made last comes first: in the backward pass that is mostly the order of use.
 */
static void push_swap_ins(const struct rp_instance *p, const struct rp_schedule *s,
                          uint32_t t, struct rp_plan *plan) {
    for (size_t i = s->ins != NULL ? s->words : 0; i-- > 0;)
        for (uint64_t rest = s->ins[(size_t)t * s->words + i]; rest != 0;) {
            uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
            rest ^= (uint64_t)1 << high;
            rp_append_step(p, plan, RP_SWAP_IN, (uint32_t)(i * 64) + high);
        }
}

static void push_swap_outs(const struct rp_instance *p, uint32_t t, const uint64_t *out,
                           struct rp_plan *plan) {
    for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++)
        if (out[x / 64] >> (x % 64) & 1)
            rp_append_step(p, plan, RP_SWAP_OUT, x);
}

void rp_append_homes(const struct rp_instance *p, struct rp_plan *plan, const bool *stays) {
    bool *listed = rp_calloc(p->graph->n_tensors, sizeof *listed);
    for (uint32_t x = 0; x < p->n_homes; x++)
        listed[p->tensor_of[x]] = !stays[x];
    for (uint32_t x = 0; x < p->graph->n_tensors; x++)
        if (listed[x]) {
            struct rp_plan_home home = {.tensor = x, .host_at = RP_NO_ADDRESS};
            rp_push(&plan->homes, home);
        }
    free(listed);
}

static void push_homes(const struct rp_instance *p, const struct rp_schedule *s,
                       struct rp_plan *plan) {
    bool *stays = rp_calloc(p->n_tensors, sizeof *stays);
    for (uint32_t x = 0; x < p->n_homes; x++)
        stays[x] = rp_source_stays(p, s, x);
    rp_append_homes(p, plan, stays);
    free(stays);
}

void rp_schedule_steps(const struct rp_instance *p, const struct rp_schedule *s,
                       struct rp_stop *stop, struct rp_plan *plan) {
    struct rp_stage_work w = {0};
    uint64_t *out = rp_schedule_copied_out(p, s);
    rp_stage_work_init(p, &w);
    push_homes(p, s, plan);
    for (uint32_t t = p->n_homes > 0;
         t < p->n_ops && !rp_stop_after(stop, stage_work(s, &w)); t++) {
        find_closure(p, s, t, &w);
        find_last_uses(p, &w);
        find_freed(s, t, &w);
        for (uint32_t k = 0; k < w.n_freed; k++)
            rp_append_step(p, plan, RP_FREE, w.freed[k]);
        push_swap_ins(p, s, t, plan);
        for (uint32_t a = 0; a < w.stage.n_runs; a++) {
            rp_append_step(p, plan, RP_RUN, w.stage.runs[a]);
            if (w.stage.runs[a] == t)
                push_swap_outs(p, t, out, plan);
            push_frees(p, s, t, w.stage.runs[a], w.last_use, plan);
        }
        clear_last_uses(p, &w);
    }
    rp_stage_work_fini(&w);
    free(out);
}
