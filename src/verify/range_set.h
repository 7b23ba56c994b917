/* spans: which byte ranges of one piece of memory are taken, in address order.
 *
 * Invariant: no two overlap, so both ends rise along the array and a binary search finds
 * every conflict. Typical: thousands of live ranges, tens of thousands of calls. */
#ifndef RP_VERIFY_RANGE_SET_H
#define RP_VERIFY_RANGE_SET_H

#include <stddef.h>
#include <stdint.h>

struct rp_span {
    uint64_t lo, hi; /* bytes lo .. hi-1 */
    uint32_t tensor;
};

struct rp_range_set {
    struct rp_span *at;
    size_t n, cap;
};

/* One that shares a byte with lo..hi, or, where lo == hi, has that point inside it; NULL if
 * there is none. */
const struct rp_span *rp_range_set_conflict(const struct rp_range_set *s, uint64_t lo,
                                            uint64_t hi);

/* `span` must be without conflict. */
void rp_range_set_add(struct rp_range_set *s, struct rp_span span);

/* The span that begins at `lo` and is not empty must be there. */
void rp_range_set_remove(struct rp_range_set *s, uint64_t lo);

void rp_range_set_fini(struct rp_range_set *s);

#endif
