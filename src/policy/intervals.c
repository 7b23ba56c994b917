#include "policy/intervals.h"

#include <stdlib.h>

#include "base/mem.h"
#include "policy/phases.h"

uint32_t rp_n_intervals(const struct rp_instance *p) {
    return p->reader_start[p->n_tensors];
}

uint32_t rp_interval_begin(const struct rp_instance *p, uint32_t x, uint32_t e) {
    return e > p->reader_start[x] ? p->readers[e - 1] : p->producer[x];
}

uint32_t rp_interval_ending_from(const struct rp_instance *p, uint32_t x, uint32_t t) {
    uint32_t a = p->reader_start[x], b = p->reader_start[x + 1];
    while (a < b) {
        uint32_t mid = a + (b - a) / 2;
        if (p->readers[mid] < t)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

bool rp_interval_covers(const struct rp_instance *p, uint32_t x, uint32_t e, uint32_t t) {
    return rp_interval_begin(p, x, e) < t && t < p->readers[e];
}

struct rp_interval rp_interval_of(const struct rp_instance *p, uint32_t x, uint32_t e) {
    return (struct rp_interval){
        .x = x, .e = e, .begin = rp_interval_begin(p, x, e), .use = p->readers[e]};
}

void rp_intervals_across_phases(const struct rp_instance *p, uint32_t n_forward,
                                struct rp_intervals *intervals) {
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        uint32_t use = rp_backward_need(p, n_forward, x);
        if (use == RP_NONE || p->bytes[x] == 0 || p->pinned[x])
            continue;
        rp_push(intervals, rp_interval_of(p, x, rp_interval_ending_from(p, x, use)));
    }
}

static int by_key(const void *a, const void *b) {
    const struct rp_interval *g = a, *h = b;
    return g->key != h->key ? (g->key > h->key) - (g->key < h->key)
                            : (g->e > h->e) - (g->e < h->e);
}

void rp_intervals_sort(struct rp_intervals *intervals) {
    if (intervals->n > 0)
        qsort(intervals->at, intervals->n, sizeof *intervals->at, by_key);
}
