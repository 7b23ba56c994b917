/* What policies ask about gaps before they decide. */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/gap_actions.h"
#include "policy/phases.h"

bool rp_gap_covers(const struct rp_instance *p, uint32_t x, uint32_t e, uint32_t t) {
    return rp_gap_begin(p, x, e) < t && t < p->readers[e];
}

void rp_gaps_across(const struct rp_instance *p, uint32_t n_forward, struct rp_gaps *gaps) {
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        uint32_t use = rp_backward_need(p, n_forward, x);
        if (use == RP_NONE || p->bytes[x] == 0)
            continue;
        uint32_t e = rp_gap_ending_from(p, x, use);
        struct rp_gap gap = {.x = x, .e = e, .begin = rp_gap_begin(p, x, e), .use = use};
        rp_push(gaps, gap);
    }
}

static int by_key(const void *a, const void *b) {
    const struct rp_gap *g = a, *h = b;
    return g->key != h->key ? (g->key > h->key) - (g->key < h->key)
                            : (g->e > h->e) - (g->e < h->e);
}

void rp_gaps_sort(struct rp_gaps *gaps) {
    if (gaps->n > 0)
        qsort(gaps->at, gaps->n, sizeof *gaps->at, by_key);
}

/* Start of each stage when ops take their own time only; [n_ops] is the end. */
static double *stage_starts(const struct rp_instance *p) {
    double *start = rp_calloc((size_t)p->n_ops + 1, sizeof *start);
    for (uint32_t i = 0; i < p->n_ops; i++)
        start[i + 1] = start[i] + (double)p->time_ns[i];
    return start;
}

/* The last stage that begins at `ns` or before. */
static uint32_t stage_at(const double *start, uint32_t n, double ns) {
    uint32_t a = 0, b = n;
    while (a + 1 < b) {
        uint32_t mid = a + (b - a) / 2;
        if (start[mid] <= ns)
            a = mid;
        else
            b = mid;
    }
    return a;
}

void rp_gap_actions_schedule_ins(const struct rp_instance *p, struct rp_gap_actions *f,
                                 const uint32_t *need) {
    struct rp_gaps gaps = {0};
    double *start = stage_starts(p), next = start[p->n_ops];
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
            if (f->fate[e] == RP_SWAP) {
                struct rp_gap gap = {.x = x,
                                     .e = e,
                                     .begin = rp_gap_begin(p, x, e),
                                     .use = need[e],
                                     .key = need[e]};
                rp_push(&gaps, gap);
            }
    rp_gaps_sort(&gaps);
    for (size_t k = gaps.n; k-- > 0;) {
        const struct rp_gap *gap = &gaps.at[k];
        double until = start[gap->use] < next ? start[gap->use] : next;
        next = until - (double)rp_copy_in_ns(p, gap->x);
        uint32_t t = stage_at(start, p->n_ops, next > 0 ? next : 0);
        /* Not before it can be out. */
        uint32_t first = gap->begin + 2 < gap->use ? gap->begin + 2 : gap->use;
        f->trigger[gap->e] = t > first ? (t < gap->use ? t : gap->use) : first;
    }
    free(gaps.at);
    free(start);
}

/* Is y there, or on the host, when the closure of stage t asks for it? */
static bool available(const struct rp_instance *p, const struct rp_gap_actions *f,
                      uint32_t y, uint32_t t) {
    uint32_t e = rp_gap_ending_from(p, y, t);
    if (!p->recompute[p->producer[y]])
        return true;
    if (e == p->reader_start[y + 1])
        return p->kept[y];
    return f->fate[e] != RP_REMAKE;
}

uint64_t rp_remake_ns(const struct rp_instance *p, const struct rp_gap_actions *f,
                      uint32_t x, uint32_t e) {
    enum { MOST = 512 }; /* ops; a longer chain is none worth making again */
    uint32_t list[MOST], n = 1, t = p->readers[e];
    uint64_t sum = 0;
    if (!p->recompute[p->producer[x]])
        return UINT64_MAX;
    list[0] = p->producer[x];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = list[k];
        sum += p->time_ns[j];
        for (uint32_t i = p->input_start[j]; i < p->input_start[j + 1]; i++) {
            uint32_t q = p->producer[p->inputs[i]];
            bool seen = available(p, f, p->inputs[i], t);
            for (uint32_t a = 0; a < n && !seen; a++)
                seen = list[a] == q;
            if (seen)
                continue;
            if (n == MOST)
                return UINT64_MAX;
            list[n++] = q;
        }
    }
    return sum;
}

uint32_t rp_min_that_fits(uint32_t n, void (*emit)(void *arg, uint32_t k), void *arg,
                          const struct rp_recorder *t) {
    uint32_t a = 0, b = n, last = RP_NONE;
    while (a < b) {
        uint32_t mid = a + (b - a) / 2;
        emit(arg, last = mid);
        if (t->peak_bytes <= t->p->limit_bytes)
            b = mid;
        else
            a = mid + 1;
    }
    if (last != a)
        emit(arg, a);
    return a;
}
