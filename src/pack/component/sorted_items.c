#include "pack/component/sorted_items.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rp_sorted_items_init(struct rp_sorted_items *s, uint32_t capacity) {
    s->n = 0;
    s->lo = rp_calloc(capacity, sizeof *s->lo);
    s->hi = rp_calloc(capacity, sizeof *s->hi);
    s->item = rp_calloc(capacity, sizeof *s->item);
    s->key = rp_calloc(capacity, sizeof *s->key);
}

void rp_sorted_items_fini(struct rp_sorted_items *s) {
    free(s->lo);
    free(s->hi);
    free(s->item);
    free(s->key);
}

/* Index of the first item whose key is not below `key`. */
static uint32_t lower_bound(const struct rp_sorted_items *s, uint64_t key) {
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->key[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Moves the items from index `from` to the end to index `to`. */
static void shift(struct rp_sorted_items *s, uint32_t from, uint32_t to) {
    uint32_t n = s->n - from;
    memmove(s->lo + to, s->lo + from, n * sizeof *s->lo);
    memmove(s->hi + to, s->hi + from, n * sizeof *s->hi);
    memmove(s->item + to, s->item + from, n * sizeof *s->item);
    memmove(s->key + to, s->key + from, n * sizeof *s->key);
}

void rp_sorted_items_insert(struct rp_sorted_items *s, const struct rp_pack_item *x,
                            uint32_t item, uint64_t key) {
    uint32_t at = lower_bound(s, key);
    shift(s, at, at + 1);
    s->n++;
    s->lo[at] = x->lo;
    s->hi[at] = x->hi;
    s->item[at] = item;
    s->key[at] = key;
}

void rp_sorted_items_remove(struct rp_sorted_items *s, uint32_t item, uint64_t key) {
    uint32_t at = lower_bound(s, key);
    while (s->item[at] != item)
        at++;
    assert(at < s->n);
    shift(s, at + 1, at);
    s->n--;
}

static int by_key(const void *x, const void *y) {
    const struct rp_sort_key *a = x, *b = y;
    if (a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

void rp_sort_keys(struct rp_sort_key *keys, uint32_t n) {
    qsort(keys, n, sizeof *keys, by_key);
}
