/* pack: an address for every byte. Dynamic storage allocation: buffers with fixed lifetimes
 * and sizes are placed in one arena so that no two that are live together overlap, and the
 * arena is as small as we can make it. No arena is smaller than the peak: the largest sum
 * of rounded sizes live at one moment.
 *
 * Order of attack: split into independent parts (pack_component.c), greedy placements
 * (first_fit.c), then exact search (pack_branch_bound.c) and local search
 * (ejection_chain.c) in turn, on coarser forms of the parts first (boxing.c). Stops as soon
 * as the arena is as small as asked. Same input, same result: no clock and no randomness
 * from outside.
 */
#ifndef RP_PACK_PACKER_H
#define RP_PACK_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Live during [lower, upper), lower < upper, of any clock: only the order of the times
 * matters. A size of 0 is allowed: such a buffer gets offset 0 and is in nobody's way. */
struct rp_buffer {
    uint64_t lower, upper;
    uint64_t size;   /* bytes */
    uint64_t offset; /* set by rp_pack */
};

/* About ten seconds when it is used up. */
#define RP_PACK_WORK UINT64_C(3000000000)

struct rp_pack_options {
    uint64_t alignment;  /* of sizes and offsets; >= 1 */
    uint64_t capacity;   /* an arena this small is good enough; 0: aim for the peak */
    uint64_t work_limit; /* 1 to 4 ns each; 0: the first greedy placements only */
    bool squeeze;        /* once it is, go on to the peak, with the same limit again */
};

struct rp_pack_stats {
    uint64_t peak;    /* what rp_pack_peak gives */
    uint64_t bound;   /* no placement is smaller: the peak, or more if that was proved */
    uint64_t work;    /* spent, in the unit of work_limit */
    uint32_t n_parts; /* independent parts that were left to search */
};

/* The largest sum, over time, of the live buffers' sizes, each rounded up to `alignment`.
 * The caller has seen to it that the sum of ALL rounded sizes fits in 63 bits (rp_add); the
 * same holds for rp_pack. */
uint64_t rp_pack_peak(const struct rp_buffer *b, size_t n, uint64_t alignment);

/* Sets every offset, a multiple of the alignment, and *arena, the largest end. They are
 * valid whatever the result:
 *   RP_OK     *arena <= max(capacity, peak);
 *   RP_NO     no placement is that small (proved);
 *   RP_LIMIT  the work limit came first; *arena is the best found.
 * `stats` may be NULL. n < 2^31. */
rp_rc rp_pack(struct rp_buffer *b, size_t n, const struct rp_pack_options *options,
              uint64_t *arena, struct rp_pack_stats *stats);

#endif
