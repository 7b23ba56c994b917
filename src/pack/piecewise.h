/* piecewise: addresses for buffers that have alignments of their own, or that are not live
 * as a whole from their first moment to their last.
 *
 * In a gap of its life a buffer keeps its address, but only some of its bytes are live, or
 * none; others may use the rest. So a buffer is a set of pieces, spans of time with a range
 * of bytes, and two buffers overlap if two of their pieces do.
 *
 * Each placement puts the buffers, in some order, at the lowest address that is free. The
 * first orders are by size, by area, by begin and by what rp_pack finds for the buffers
 * without their gaps; then swaps of the order are tried, and kept unless they are worse.
 * Same input, same result. Thread-safe: there is no shared state.
 */
#ifndef RP_PACK_PIECEWISE_H
#define RP_PACK_PIECEWISE_H

#include "pack/packer.h"

/* In [lower, upper) of the life of a buffer only its bytes [from, to) are live. */
struct rp_gap {
    size_t buffer;
    uint64_t lower, upper;
    uint64_t from, to;
};

struct rp_piecewise {
    struct rp_buffer *buffers;
    size_t n;
    const uint64_t *alignments; /* by buffer, >= 1 */
    const struct rp_gap *gaps;  /* by buffer, and by time; they do not overlap */
    size_t n_gaps;
};

/* Sets every offset, a multiple of the buffer's alignment and of that of the options, to
 * which sizes are rounded too. All is as in rp_pack, but that peak_bytes counts live bytes,
 * and is the only bound. The multiples fit in 62 bits (rp_piecewise_alignment), and the sum
 * of all sizes, rounded to all alignments, in 63. */
rp_rc rp_pack_piecewise(const struct rp_piecewise *p, const struct rp_pack_options *options,
                        struct rp_pack_result *result,
                        struct rp_pack_statistics *statistics);

/* The least multiple of both; 0 if it does not fit in 62 bits. */
uint64_t rp_piecewise_alignment(uint64_t a, uint64_t b);

/* Are all offsets aligned, and do no two buffers overlap, in an arena of this size? By
 * other means than the packer. */
bool rp_piecewise_is_sound(const struct rp_piecewise *p, uint64_t alignment,
                           uint64_t arena_bytes);

#endif
