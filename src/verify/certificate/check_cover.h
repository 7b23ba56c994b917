/* check_cover: is a cover inequality valid?
 *
 * Items may be chosen or not, each with a weight and a count. The question is whether the
 * counts of every choice that fits into a knapsack sum to `max_count` at most. Dynamic
 * programming over counts: for each count the least weight that reaches it (P. C. Gilmore
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
    __int128 capacity; /* the sum of weights that fits; may be negative */
};

/* Adds to the weight and the count of the item `key`. */
void rp_cover_check_add(struct rp_cover_check *k, uint64_t key, __int128 weight,
                        uint64_t count);

/* Does no choice that fits count more than `max_count` <= RP_COVER_MAX_COUNT? */
bool rp_cover_check_holds(struct rp_cover_check *k, uint64_t max_count);

#endif
