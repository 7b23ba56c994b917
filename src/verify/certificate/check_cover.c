#include "verify/certificate/check_cover.h"

#include <stdlib.h>

#include "base/mem.h"

void rp_cover_check_add(struct rp_cover_check *k, uint64_t key, __int128 weight,
                        uint64_t count) {
    struct rp_cover_item item = {key, weight, count};
    rp_push(k, item);
}

static int by_key(const void *left, const void *right) {
    const struct rp_cover_item *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* Merges items with the same key. */
static void merge_items(struct rp_cover_check *k) {
    size_t n = 0;
    if (k->n == 0)
        return; /* k->at may be NULL */
    qsort(k->at, k->n, sizeof *k->at, by_key);
    for (size_t i = 0; i < k->n; i++)
        if (n > 0 && k->at[n - 1].key == k->at[i].key) {
            k->at[n - 1].weight += k->at[i].weight;
            k->at[n - 1].count += k->at[i].count;
        } else {
            k->at[n++] = k->at[i];
        }
    k->n = n;
}

/* min_weight[h]: the smallest weight of a set of the items so far that counts h or more. A
 * weight above the capacity is too heavy, and its exact value does not matter. */
bool rp_cover_check_holds(struct rp_cover_check *k, uint64_t max_count) {
    uint64_t last = max_count + 1;
    __int128 too_heavy = k->capacity + 1;
    if (k->capacity < 0)
        return true; /* nothing fits, not even the empty choice */
    __int128 *min_weight = rp_calloc(last + 1, sizeof *min_weight);
    for (uint64_t h = 1; h <= last; h++)
        min_weight[h] = too_heavy;
    merge_items(k);
    for (size_t i = 0; i < k->n; i++)
        for (uint64_t h = last, count = k->at[i].count; h > 0; h--) {
            __int128 with = min_weight[h > count ? h - count : 0] + k->at[i].weight;
            min_weight[h] = with < min_weight[h] ? with : min_weight[h];
        }
    bool good = min_weight[last] >= too_heavy;
    free(min_weight);
    return good;
}
