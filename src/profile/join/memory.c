#include "profile/join/memory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

/* ---- allocations and their releases ---- */

static int by_address(const void *a, const void *b) {
    const struct rp_trace_memory *const *x = a, *const *y = b;
    if ((*x)->place != (*y)->place)
        return (*x)->place < (*y)->place ? -1 : 1;
    if ((*x)->address != (*y)->address)
        return (*x)->address < (*y)->address ? -1 : 1;
    return (*x > *y) - (*x < *y); /* the trace has them by time */
}

/* partner[i] becomes the release of allocation i, or the allocation of release i; SIZE_MAX
 * if there is none. The caller frees it. */
static size_t *match(const struct rp_trace *t) {
    const size_t n = t->memories.n;
    const struct rp_trace_memory *m = t->memories.at;
    const struct rp_trace_memory **order = rp_calloc(n + 1, sizeof *order);
    size_t *partner = rp_calloc(n + 1, sizeof *partner);
    for (size_t i = 0; i < n; i++) {
        order[i] = &m[i];
        partner[i] = SIZE_MAX;
    }
    if (n > 0)
        qsort(order, n, sizeof *order, by_address);
    for (size_t i = 1; i < n; i++) {
        const struct rp_trace_memory *a = order[i - 1], *b = order[i];
        if (a->place != b->place || a->address != b->address || a->release || !b->release)
            continue;
        partner[a - m] = (size_t)(b - m);
        partner[b - m] = (size_t)(a - m);
    }
    free(order);
    return partner;
}

/* ---- what is held ---- */

struct sweep {
    const struct rp_trace *t;
    const size_t *partner;
    size_t next;
    uint64_t held[RP_N_MEMORY_PLACES], peak[RP_N_MEMORY_PLACES];
};

/* A release subtracts what its allocation has added: CUPTI may not give its size. */
static void apply(struct sweep *s) {
    const size_t i = s->next++;
    const struct rp_trace_memory *m = &s->t->memories.at[i];
    uint64_t *held = &s->held[m->place];
    if (!m->release)
        rp_add_capped(held, m->bytes);
    else if (s->partner[i] != SIZE_MAX)
        *held -= rp_min_u64(*held, s->t->memories.at[s->partner[i]].bytes);
    s->peak[m->place] = rp_max_u64(s->peak[m->place], *held);
}

static void advance(struct sweep *s, uint64_t before_ns) {
    while (s->next < s->t->memories.n && s->t->memories.at[s->next].time_ns < before_ns)
        apply(s);
}

static void raise(struct rp_held_memory *held, uint64_t begin_bytes,
                  const struct sweep *s) {
    held->begin_bytes = rp_max_u64(held->begin_bytes, begin_bytes);
    held->peak_bytes = rp_max_u64(held->peak_bytes, s->peak[RP_MEMORY_DEVICE]);
    held->pinned_bytes = rp_max_u64(held->pinned_bytes, s->peak[RP_MEMORY_PINNED]);
}

void rp_held_memory_add(const struct rp_trace *t, const bool *used,
                        struct rp_held_memory *held) {
    if (t->memories.n == 0)
        return;
    size_t *partner = match(t);
    struct sweep s = {.t = t, .partner = partner};
    held->known = true;
    for (size_t i = 0; i < t->steps.n; i++) {
        advance(&s, t->steps.at[i].begin_ns);
        const uint64_t begin_bytes = s.held[RP_MEMORY_DEVICE];
        for (int p = 0; p < RP_N_MEMORY_PLACES; p++)
            s.peak[p] = s.held[p];
        advance(&s, t->steps.at[i].end_ns);
        if (used[i])
            raise(held, begin_bytes, &s);
    }
    if (t->steps.n == 0) {
        advance(&s, UINT64_MAX);
        raise(held, 0, &s);
    }
    free(partner);
}

/* ---- what ops allocate for themselves ---- */

static size_t run_of(const struct rp_trace *t, const size_t *run, size_t i) {
    const struct rp_trace_range *r =
        rp_trace_range_of(t, rp_trace_caller(t, t->memories.at[i].correlation));
    return r != NULL ? run[r - t->ranges.at] : SIZE_MAX;
}

void rp_temporary_memory(const struct rp_trace *t, const size_t *run, uint64_t *bytes) {
    size_t *partner = match(t);
    uint64_t *held = rp_calloc(t->ranges.n + 1, sizeof *held);
    for (size_t i = 0; i < t->ranges.n; i++)
        bytes[i] = 0;
    for (size_t i = 0; i < t->memories.n; i++) {
        const struct rp_trace_memory *m = &t->memories.at[i];
        const size_t r = run_of(t, run, i);
        if (m->place != RP_MEMORY_DEVICE || r == SIZE_MAX || partner[i] == SIZE_MAX ||
            run_of(t, run, partner[i]) != r)
            continue;
        if (m->release)
            held[r] -= rp_min_u64(held[r], t->memories.at[partner[i]].bytes);
        else
            rp_add_capped(&held[r], m->bytes);
        bytes[r] = rp_max_u64(bytes[r], held[r]);
    }
    free(held);
    free(partner);
}
