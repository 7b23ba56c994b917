/* sorted_items: placed items in ascending order of a key, such as their offset. Their
 * sections stand in arrays of their own, so that the scan for those in an item's way is two
 * comparisons each without a branch. */
#ifndef RP_PACK_SORTED_ITEMS_H
#define RP_PACK_SORTED_ITEMS_H

#include "pack/pack_internal.h"

struct sorted_items {
    uint32_t n;
    uint32_t *lo, *hi, *item;
    uint64_t *key;
};

void rp_sorted_items_init(struct sorted_items *r, uint32_t capacity);
void rp_sorted_items_fini(struct sorted_items *r);
void rp_sorted_items_insert(struct sorted_items *r, const struct pack_item *x,
                            uint32_t item, uint64_t key);
void rp_sorted_items_remove(struct sorted_items *r, uint32_t item, uint64_t key);

/* The items among [at, end) of the row that are live together with x, in order, into
 * `found`; returns how many. `found` has room for one more than it needs. */
static inline uint32_t sorted_items_scan(const struct sorted_items *r, uint32_t at,
                                         uint32_t end, const struct pack_item *x,
                                         uint32_t *found) {
    uint32_t n = 0, lo = x->lo, hi = x->hi;
    for (; at < end; at++) {
        found[n] = r->item[at];
        n += (r->lo[at] < hi) & (r->hi[at] > lo);
    }
    return n;
}

#endif
