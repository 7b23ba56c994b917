#include "verify/check_cover.h"

#include <stdlib.h>

#include "base/mem.h"

void rp_cover_check_add(struct rp_cover_check *k, uint64_t key, __int128 weight,
                        uint64_t count) {
    struct rp_thing thing = {key, weight, count};
    rp_push(k, thing);
}

static int by_key(const void *left, const void *right) {
    const struct rp_thing *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* What was said of a thing in parts becomes one. */
static void merge(struct rp_cover_check *k) {
    size_t n = 0;
    if (k->n == 0)
        return; /* nor is there a list */
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

/* least[h]: the least weight of things that count h or more together, of those so far;
 * beyond the room it does not matter how far. */
bool rp_cover_check_counts(struct rp_cover_check *k, uint64_t at_most) {
    uint64_t most = at_most + 1;
    __int128 beyond = k->room + 1;
    if (k->room < 0)
        return true; /* not even nothing fits */
    __int128 *least = rp_calloc(most + 1, sizeof *least);
    for (uint64_t h = 1; h <= most; h++)
        least[h] = beyond;
    merge(k);
    for (size_t i = 0; i < k->n; i++)
        for (uint64_t h = most, count = k->at[i].count; h > 0; h--) {
            __int128 with = least[h > count ? h - count : 0] + k->at[i].weight;
            least[h] = with < least[h] ? with : least[h];
        }
    bool good = least[most] >= beyond;
    free(least);
    return good;
}
