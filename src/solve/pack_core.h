/* pack_core: what the files of the packer share. Only pack*.c include it.
 *
 * Sizes and offsets here are in units of the alignment. A part is a set of items whose
 * lifetimes hang together, with times replaced by section numbers: a section is a moment at
 * which a maximal set of items is live, so two items are live together exactly if they
 * share a section.
 */
#ifndef RP_SOLVE_PACK_CORE_H
#define RP_SOLVE_PACK_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "solve/pack.h"

struct pack_item {
    uint32_t lo, hi; /* live in sections [lo, hi) */
    uint64_t size;   /* >= 1 */
    uint32_t buffer; /* index in the caller's array */
};

struct pack_part {
    struct pack_item *items; /* by lo */
    uint32_t n, n_sections;
    uint64_t base;   /* everything here lies at or above it */
    uint64_t bound;  /* no placement of the items is lower than this (above base) */
    uint64_t *best;  /* offsets above base, by item: the best placement so far */
    uint64_t height; /* its largest end; UINT64_MAX before there is one */
};

struct pack_parts {
    struct pack_part *at;
    size_t n, cap;
};

struct pack_work {
    uint64_t done, limit;
};

/* Splits the buffers into parts. Items that are live together with all others of their part
 * are placed below it at once, which loses nothing: everything else lies wholly above or
 * wholly below such an item. Sets the offset, in units, of every buffer that is in no part,
 * and returns how high these reach. */
uint64_t rp_pack_split(struct rp_buffer *b, size_t n, uint64_t alignment,
                       struct pack_parts *parts);
void rp_pack_parts_fini(struct pack_parts *parts);

/* Greedy placements until one is at or below `goal` or the work is used up; the first two
 * are always tried. */
void rp_pack_greedy(struct pack_part *p, uint64_t goal, struct pack_work *work);

#endif
