/* check_cover: is a cover inequality valid?
 *
 * Each item has a weight and a count. The inequality is valid if the counts of every set of
 * items that fits into the knapsack sum to at most `max_count`. This is decided by dynamic
 * programming: for each count, the smallest weight of a set that reaches it (P. C. Gilmore
 * and R. E. Gomory, "The theory and computation of knapsack functions", 1966).
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_VERIFY_CHECK_COVER_H
#define RP_VERIFY_CHECK_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_COVER_MAX_COUNT 4096

struct rp_cover_item {
    uint64_t key; /* which variable it is */
    __int128 weight;
    uint64_t count;
};

/* Zero-initialised it is empty. free(at) empties it. */
struct rp_cover_check {
    struct rp_cover_item *at;
    size_t n, cap;
    __int128 capacity; /* the largest sum of weights that fits; may be negative */
};

/* Adds to the weight and the count of the item `key`. */
void rp_cover_check_add(struct rp_cover_check *k, uint64_t key, __int128 weight,
                        uint64_t count);

/* True if no set of items that fits counts more than `max_count`, which is at most
 * RP_COVER_MAX_COUNT. Sorts the items and merges those with the same key. */
bool rp_cover_check_holds(struct rp_cover_check *k, uint64_t max_count);

#endif
