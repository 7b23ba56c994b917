/* sorted_items: items in order of a key: placed items by offset or by end, and lists of all
 * items in the order in which to place them.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_PACK_COMPONENT_SORTED_ITEMS_H
#define RP_PACK_COMPONENT_SORTED_ITEMS_H

#include "pack/component/components.h"

/* Items in ascending order of a key. Their sections are in arrays of their own, so that the
 * scan for overlaps needs two comparisons per item and no branch. */
struct rp_sorted_items {
    uint32_t n;
    uint32_t *lo, *hi, *item;
    uint64_t *key;
};

void rp_sorted_items_init(struct rp_sorted_items *s, uint32_t capacity);
void rp_sorted_items_fini(struct rp_sorted_items *s);
void rp_sorted_items_insert(struct rp_sorted_items *s, const struct rp_pack_item *x,
                            uint32_t item, uint64_t key);
/* The item must be there, with this key. */
void rp_sorted_items_remove(struct rp_sorted_items *s, uint32_t item, uint64_t key);

/* Stores those of the items [at, end) of `s` that are live together with x in `found`, in
 * order, and returns their number. `found` needs room for one more than that. */
static inline uint32_t rp_sorted_items_overlapping(const struct rp_sorted_items *s,
                                                   uint32_t at, uint32_t end,
                                                   const struct rp_pack_item *x,
                                                   uint32_t *found) {
    uint32_t n = 0, lo = x->lo, hi = x->hi;
    for (; at < end; at++) {
        found[n] = s->item[at];
        n += (s->lo[at] < hi) & (s->hi[at] > lo);
    }
    return n;
}

struct rp_sort_key {
    unsigned __int128 first;
    uint64_t second;
    uint32_t item;
};

/* The larger first key comes first, then the larger second key, then the smaller item. */
void rp_sort_keys(struct rp_sort_key *keys, uint32_t n);

#endif
