#include "solve/incremental/incremental_state.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/incremental/incremental_internal.h"

static void init_swaps(struct rp_incremental *s) {
    struct rp_incremental_swaps *w = &s->swaps;
    size_t n = s->n_stages, m = s->n_tensors;
    w->swapped_in = rp_calloc(m * s->words, sizeof *w->swapped_in);
    w->swap_ins = rp_calloc(n, sizeof *w->swap_ins);
    w->n_swap_ins = rp_calloc(m, sizeof *w->n_swap_ins);
    w->n_swap_outs = rp_calloc(n, sizeof *w->n_swap_outs);
    w->swap_out_end_ns = rp_calloc(m, sizeof *w->swap_out_end_ns);
    w->stage_stall_ns = rp_calloc(n, sizeof *w->stage_stall_ns);
    w->d2h_backlog_ns = rp_calloc(n + 1, sizeof *w->d2h_backlog_ns);
    w->h2d_backlog_ns = rp_calloc(n + 1, sizeof *w->h2d_backlog_ns);
}

static void init_move(struct rp_incremental *s) {
    struct rp_incremental_move *m = rp_calloc(1, sizeof *m);
    m->dirty_of = rp_calloc(s->n_stages, sizeof *m->dirty_of);
    m->op_bits = rp_calloc(s->words, sizeof *m->op_bits);
    m->last_use = rp_calloc(s->n_tensors, sizeof *m->last_use);
    s->move = m;
}

/* Marks those of the tensors first..last - 1 whose bytes are the smallest, as long as they
 * take max_bytes together at most; all of one size or none. */
static void mark_small(struct rp_incremental *s, uint32_t first, uint32_t last,
                       uint64_t max_bytes) {
    const struct rp_instance *p = s->p;
    uint64_t *bytes = rp_calloc(last - first, sizeof *bytes), sum = 0, small = 0;
    uint32_t n = 0, n_small = 0;
    for (uint32_t x = first; x < last; x++)
        if (!p->lives_on_host[x])
            bytes[n++] = p->bytes[x];
    if (n > 0)
        qsort(bytes, n, sizeof *bytes, rp_compare_u64);
    for (uint32_t k = 0; k < n && bytes[k] <= max_bytes - sum; k++) {
        sum += bytes[k];
        if (k + 1 == n || bytes[k + 1] > bytes[k]) {
            small = bytes[k];
            n_small = k + 1;
        }
    }
    for (uint32_t x = first; x < last && n_small > 0; x++)
        s->is_small[x] = p->bytes[x] <= small && !p->lives_on_host[x];
    free(bytes);
}

void rp_incremental_state_init(struct rp_incremental *s, const struct rp_instance *p) {
    *s = (struct rp_incremental){.p = p, .n_stages = p->n_ops, .n_tensors = p->n_tensors};
    size_t n = s->n_stages, m = s->n_tensors;
    s->words = n / 64 + 1; /* rows 0..n */
    s->held = rp_calloc(m * s->words, sizeof *s->held);
    s->runs = rp_calloc(n * s->words, sizeof *s->runs);
    s->stage_runs = rp_calloc(n, sizeof *s->stage_runs);
    s->opens = rp_calloc(n, sizeof *s->opens);
    s->closes = rp_calloc(n, sizeof *s->closes);
    s->base_bytes = rp_calloc(n + 1, sizeof *s->base_bytes);
    s->over_bytes = rp_calloc(n + 1, sizeof *s->over_bytes);
    s->stage_ns = rp_calloc(n, sizeof *s->stage_ns);
    s->is_small = rp_calloc(m, sizeof *s->is_small);
    mark_small(s, 0, p->n_homes, p->limit_bytes / 100);
    mark_small(s, p->n_homes, p->n_tensors, p->limit_bytes / 300);
    init_move(s);
    if (p->out_ns != NULL)
        init_swaps(s);
}

static void fini_swaps(struct rp_incremental *s) {
    struct rp_incremental_swaps *w = &s->swaps;
    for (uint32_t t = 0; t < s->n_stages && w->swap_ins != NULL; t++)
        free(w->swap_ins[t].at);
    free(w->swapped_in);
    free(w->swap_ins);
    free(w->n_swap_ins);
    free(w->n_swap_outs);
    free(w->swap_out_end_ns);
    free(w->stage_stall_ns);
    free(w->d2h_backlog_ns);
    free(w->h2d_backlog_ns);
}

static void fini_move(struct rp_incremental_move *m) {
    if (m == NULL)
        return;
    free(m->dirty_of);
    free(m->runs.at);
    free(m->op_bits);
    free(m->last_use);
    free(m);
}

void rp_incremental_state_fini(struct rp_incremental *s) {
    for (uint32_t t = 0; t < s->n_stages; t++) {
        free(s->stage_runs[t].at);
        free(s->opens[t].at);
        free(s->closes[t].at);
    }
    free(s->is_small);
    free(s->held);
    free(s->runs);
    free(s->stage_runs);
    free(s->opens);
    free(s->closes);
    free(s->base_bytes);
    free(s->over_bytes);
    free(s->stage_ns);
    fini_swaps(s);
    fini_move(s->move);
    *s = (struct rp_incremental){0};
}

/* Word i of the stages in which x is made or read. */
static inline uint64_t use_word(const struct rp_incremental *s, uint32_t x, size_t i) {
    const struct rp_instance *p = s->p;
    uint64_t w = s->runs[(size_t)p->producer[x] * s->words + i];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        w |= s->runs[(size_t)p->readers[k] * s->words + i];
    return w;
}

uint32_t rp_incremental_use_before(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    size_t lowest = s->p->producer[x] / 64;
    for (size_t i = (size_t)t / 64 + 1; i-- > lowest;) {
        uint64_t w = use_word(s, x, i);
        if (i == t / 64)
            w &= rp_bit(t) - 1;
        if (w != 0)
            return (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w));
    }
    return RP_NONE;
}

uint32_t rp_incremental_use_from(const struct rp_incremental *s, uint32_t x, uint32_t t) {
    for (size_t i = t / 64; i < s->words; i++) {
        uint64_t w = use_word(s, x, i);
        if (i == t / 64)
            w &= ~(rp_bit(t) - 1);
        if (w != 0)
            return (uint32_t)(i * 64 + (unsigned)__builtin_ctzll(w));
    }
    return RP_NONE;
}
