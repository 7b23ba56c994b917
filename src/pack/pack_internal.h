/* pack_core: what the files of the packer share. Only pack*.c include it.
 *
 * Sizes and offsets in a part are in its own unit, the greatest that divides them all. A
 * part is a set of items whose
 * lifetimes hang together, with times replaced by section numbers: a section is a moment at
 * which a maximal set of items is live, so two items are live together exactly if they
 * share a section.
 */
#ifndef RP_PACK_PACK_INTERNAL_H
#define RP_PACK_PACK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/packer.h"

struct pack_item {
    uint32_t lo, hi; /* live in sections [lo, hi) */
    uint64_t size;   /* >= 1, in units of the part */
    uint32_t buffer; /* index in the caller's array */
};

struct pack_branch_bound;
struct pack_box;

struct pack_components {
    struct pack_component *at;
    size_t n, cap;
};

struct pack_component {
    struct pack_item *items; /* by lo */
    uint32_t n, n_sections;
    uint64_t unit;   /* bytes */
    uint64_t base;   /* bytes: everything here lies at or above it */
    uint64_t bound;  /* no placement of the items is lower than this (above base) */
    uint64_t *best;  /* offsets above base, by item: the best placement so far */
    uint64_t height; /* its largest end; UINT64_MAX before there is one */
    struct pack_branch_bound
        *search;     /* of rp_pack_branch_bound: what it learned; NULL at first */
    uint64_t random; /* state of what is drawn at random for it */
    uint32_t n_searches;
    uint32_t n_failed_searches, n_failed_ejections; /* since the last success */
    struct pack_box *box;                           /* NULL: there is none */
    uint32_t n_boxings; /* times that boxing was tried on this and what it is a box of */
};

/* A part with a coarser unit (boxing.c). */
struct pack_box {
    uint64_t unit; /* in units of the part; offsets of the buffers are multiples of it */
    uint64_t peak; /* with sizes rounded up to the unit: no placement is lower */
    struct {       /* large items, and boxes of small ones; times are sections */
        struct rp_buffer *at;
        size_t n, cap;
    } buffers;
    uint32_t *of;     /* by item: its buffer, */
    uint64_t *inside; /* and its offset in that */
    struct pack_components parts;
    uint64_t base; /* how high the buffers that are in no part reach */
    bool placed;   /* greedily */
};

/* A part may be boxed so often, one box within the other. */
enum { PACK_MAX_BOXES = 4 };

enum pack_found { PACK_NO, PACK_YES, PACK_STOPPED };

struct pack_work {
    uint64_t done, limit;
};

/* Splits the buffers into parts. Items that are live together with all others of their part
 * are placed below it at once, which loses nothing: everything else lies wholly above or
 * wholly below such an item. Sets the offset of every buffer that is in no part,
 * and returns how high these reach. */
uint64_t rp_pack_split(struct rp_buffer *b, size_t n, uint64_t alignment,
                       struct pack_components *parts);
void rp_pack_components_fini(struct pack_components *parts);

/* These offsets, by item, are the best now. */
void rp_pack_record_placement(struct pack_component *p, const uint64_t *offset);

/* Greedy placements until one is at or below `goal` or the work is used up; the first two
 * are always tried. */
void rp_pack_first_fit(struct pack_component *p, uint64_t goal, struct pack_work *work);

/* Exact search for a placement at or below `goal`, under the work limit. p->bound grows
 * where it is proved that there is none. Leaves large parts alone. `work` and p must stay
 * where they are from one call to the next. */
void rp_pack_branch_bound(struct pack_component *p, uint64_t goal, struct pack_work *work);

void rp_pack_branch_bound_free(struct pack_branch_bound *search);

/* Local search from the best placement, for the same end, under the work limit. */
void rp_pack_ejection_chain(struct pack_component *p, uint64_t goal,
                            struct pack_work *work);

/* Makes the box of a part, if one wastes little enough. */
void rp_pack_box(struct pack_component *p, struct pack_work *work);
/* The offsets of the box's buffers, set by the caller, as a placement of the part. */
void rp_pack_unbox(struct pack_component *p);
void rp_pack_box_free(struct pack_box *box);

/* The least height worth looking for. */
static inline uint64_t pack_min(const struct pack_component *p, uint64_t goal) {
    return goal > p->bound ? goal : p->bound;
}

/* A height to aim at, below the best: half of the way down to the least, and half of that
 * for each failure. */
static inline uint64_t pack_step_down(const struct pack_component *p, uint64_t goal,
                                      uint32_t n_failed) {
    uint64_t gap = p->height - pack_min(p, goal);
    uint64_t step = n_failed < 63 ? gap >> (n_failed + 1) : 0;
    return p->height - (step > 0 ? step : 1);
}

/* The next of a fixed sequence (splitmix64, S. Vigna). */
static inline uint64_t pack_random(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
