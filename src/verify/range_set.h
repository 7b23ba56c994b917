/* range_set: the byte ranges of one memory that are in use, in address order.
 *
 * Invariant: no two overlap, so both ends ascend along the array and a binary search finds
 * every conflict. A typical plan has thousands of ranges and tens of thousands of calls.
 *
 * Not thread-safe: one object, one thread. */
#ifndef RP_VERIFY_RANGE_SET_H
#define RP_VERIFY_RANGE_SET_H

#include <stddef.h>
#include <stdint.h>

struct rp_byte_range {
    uint64_t lo, hi; /* bytes lo .. hi-1 */
    uint32_t tensor;
};

struct rp_range_set {
    struct rp_byte_range *at;
    size_t n, cap;
};

/* A range that shares a byte with lo..hi; NULL if there is none. The pointer is valid until
 * the set changes. */
const struct rp_byte_range *rp_range_set_conflict(const struct rp_range_set *s, uint64_t lo,
                                                  uint64_t hi);

/* `range` must have no conflict. An empty one is not kept. */
void rp_range_set_add(struct rp_range_set *s, struct rp_byte_range range);

/* Removes the range that begins at `lo` and is not empty. It must be there. */
void rp_range_set_remove(struct rp_range_set *s, uint64_t lo);

void rp_range_set_fini(struct rp_range_set *s);

#endif
