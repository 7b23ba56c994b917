/* packer: an address for every byte.
 *
 * Dynamic storage allocation: buffers with fixed lifetimes and sizes are placed in one
 * arena so that no two that are live together overlap, and the arena is as small as
 * possible (J. M. Robson, "Bounds for some functions concerning dynamic storage
 * allocation", 1974; NP-hard, problem SR2 of Garey and Johnson). No arena is smaller than
 * the peak: the largest sum of rounded sizes that are live at one moment.
 *
 * Order of attack: split the buffers into independent components (components.h) and place
 * each by first fit and best fit (first_fit.h). Then alternate between branch and bound
 * (branch_bound.h) and ejection chains (ejection_chain.h), on simpler forms of the
 * components first: with the long-lived buffers in stacks (stacks.h), and with the small
 * ones in boxes (boxing.h). Stop as soon as the arena is as small as asked.
 *
 * Same input, same result: limits count work, not time, and random numbers come from fixed
 * seeds. Thread-safe: there is no shared state.
 */
#ifndef RP_PACK_PACKER_H
#define RP_PACK_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/stop.h"

/* Live during [lower, upper), lower < upper, of any clock: only the order of the times
 * matters. A buffer of size 0 is allowed: it gets offset 0 and overlaps nothing. */
struct rp_buffer {
    uint64_t lower, upper;
    uint64_t size;   /* bytes */
    uint64_t offset; /* bytes; set by rp_pack */
};

/* About ten seconds. */
#define RP_PACK_WORK UINT64_C(3000000000)

struct rp_pack_options {
    uint64_t alignment; /* of sizes and offsets, in bytes; >= 1 */
    uint64_t capacity;  /* bytes: an arena this small is good enough; 0: aim for the peak */
    uint64_t work_limit; /* 1 to 4 ns each; 0: only the first two placements by first fit */
    struct rp_stop *stop; /* ends it like work_limit; may be NULL */
    bool squeeze; /* after reaching `capacity` go on to the peak, with the same limit
                   * again */
    uint64_t near_capacity; /* bytes: from an eighth of the work limit on, an arena this
                             * small is good enough too; 0: only `capacity` is */
};

struct rp_pack_result {
    uint64_t arena_bytes; /* the largest end of a buffer */
    uint64_t peak_bytes;  /* the largest sum of rounded sizes live at one moment */
    uint64_t bound_bytes; /* no arena is smaller: the peak, or more where that was proved */
};

/* What the packer did: field, description. Work is in the unit of work_limit. */
#define RP_PACK_STATISTICS(X)                                                              \
    X(packings, "calls of the packer")                                                     \
    X(components, "independent components that needed a search")                           \
    X(first_fit_passes, "placements by first fit and best fit")                            \
    X(first_fit_work, "work of these")                                                     \
    X(boxings, "components that got a boxed form")                                         \
    X(boxing_work, "work of making boxes")                                                 \
    X(stackings, "components that got stacks")                                             \
    X(stacking_work, "work of making stacks")                                              \
    X(branch_bound_attempts, "attempts by branch and bound")                               \
    X(branch_bound_nodes, "nodes of these")                                                \
    X(branch_bound_work, "work of these")                                                  \
    X(ejection_attempts, "attempts by ejection chains")                                    \
    X(ejection_moves, "moves of these")                                                    \
    X(ejection_work, "work of these")                                                      \
    X(work, "work of all methods")

struct rp_pack_statistics {
#define X(name, description) uint64_t name;
    RP_PACK_STATISTICS(X)
#undef X
};

void rp_pack_statistics_add(struct rp_pack_statistics *into,
                            const struct rp_pack_statistics *from);

/* Sets every offset, a multiple of the alignment, and *result. The offsets are valid
 * whatever is returned:
 *   RP_OK     arena_bytes <= max(capacity, peak_bytes);
 *   RP_NO     no arena is that small (proved);
 *   RP_LIMIT  the work limit or near_capacity came first; the arena is the smallest found.
 * n < 2^31, and the sum of all rounded sizes must fit in 63 bits (rp_add). `statistics` is
 * added to; it may be NULL. */
rp_rc rp_pack(struct rp_buffer *b, size_t n, const struct rp_pack_options *options,
              struct rp_pack_result *result, struct rp_pack_statistics *statistics);

#endif
