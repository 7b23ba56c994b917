#include "pack/sorted_items.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rp_sorted_items_init(struct sorted_items *r, uint32_t capacity) {
    r->n = 0;
    r->lo = rp_calloc(capacity, sizeof *r->lo);
    r->hi = rp_calloc(capacity, sizeof *r->hi);
    r->item = rp_calloc(capacity, sizeof *r->item);
    r->key = rp_calloc(capacity, sizeof *r->key);
}

void rp_sorted_items_fini(struct sorted_items *r) {
    free(r->lo);
    free(r->hi);
    free(r->item);
    free(r->key);
}

/* Position of the first item whose key is not below `key`. */
static uint32_t find(const struct sorted_items *r, uint64_t key) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->key[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void rp_sorted_items_insert(struct sorted_items *r, const struct pack_item *x,
                            uint32_t item, uint64_t key) {
    uint32_t at = find(r, key), n_after = r->n++ - at;
    memmove(r->lo + at + 1, r->lo + at, n_after * sizeof *r->lo);
    memmove(r->hi + at + 1, r->hi + at, n_after * sizeof *r->hi);
    memmove(r->item + at + 1, r->item + at, n_after * sizeof *r->item);
    memmove(r->key + at + 1, r->key + at, n_after * sizeof *r->key);
    r->lo[at] = x->lo;
    r->hi[at] = x->hi;
    r->item[at] = item;
    r->key[at] = key;
}

void rp_sorted_items_remove(struct sorted_items *r, uint32_t item, uint64_t key) {
    uint32_t at = find(r, key);
    while (r->item[at] != item)
        at++;
    assert(at < r->n);
    uint32_t n_after = --r->n - at;
    memmove(r->lo + at, r->lo + at + 1, n_after * sizeof *r->lo);
    memmove(r->hi + at, r->hi + at + 1, n_after * sizeof *r->hi);
    memmove(r->item + at, r->item + at + 1, n_after * sizeof *r->item);
    memmove(r->key + at, r->key + at + 1, n_after * sizeof *r->key);
}
