#include "verify/range_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The index of the first range that ends after `lo`. */
static size_t first_after(const struct rp_range_set *s, uint64_t lo) {
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (s->at[mid].hi > lo)
            to = mid;
        else
            from = mid + 1;
    }
    return from;
}

const struct rp_byte_range *rp_range_set_conflict(const struct rp_range_set *s, uint64_t lo,
                                                  uint64_t hi) {
    size_t k = first_after(s, lo);
    return lo < hi && k < s->n && s->at[k].lo < hi ? &s->at[k] : NULL;
}

void rp_range_set_add(struct rp_range_set *s, struct rp_byte_range range) {
    if (range.lo == range.hi)
        return;
    size_t k = first_after(s, range.lo);
    rp_push(s, range);
    memmove(&s->at[k + 1], &s->at[k], (s->n - 1 - k) * sizeof *s->at);
    s->at[k] = range;
}

void rp_range_set_remove(struct rp_range_set *s, uint64_t lo) {
    size_t k = first_after(s, lo);
    assert(k < s->n && s->at[k].lo == lo);
    s->n--;
    memmove(&s->at[k], &s->at[k + 1], (s->n - k) * sizeof *s->at);
}

void rp_range_set_fini(struct rp_range_set *s) {
    free(s->at);
    *s = (struct rp_range_set){0};
}
