/* components: the independent subproblems of a packing problem, and what all methods of the
 * packer share about them.
 *
 * A component is a set of items, one per buffer, whose lifetimes are connected through
 * overlaps. Sizes and offsets are in the component's own unit, the greatest that divides
 * all of its sizes. Times are replaced by section numbers: a section is a moment at which a
 * maximal set of items is live, so two items are live together exactly if they share a
 * section (as in MiniMalloc, see branch_bound.h).
 *
 * Only files of src/pack/ include this. Whoever calls rp_pack_split owns the components.
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_COMPONENTS_H
#define RP_PACK_COMPONENT_COMPONENTS_H

#include "base/mem.h"
#include "base/numbers.h"
#include "pack/packer.h"

#define RP_NO_ITEM UINT32_MAX

struct rp_pack_item {
    uint32_t lo, hi; /* live in sections [lo, hi) */
    uint64_t size;   /* >= 1, in units of the component */
    uint32_t buffer; /* index in the caller's array */
};

struct rp_pack_branch_bound; /* branch_bound.h */
struct rp_pack_boxed;        /* boxing.h */
struct rp_pack_stacked;      /* stacks.h */

struct rp_pack_component {
    struct rp_pack_item *items; /* by lo */
    uint32_t n, n_sections;
    uint64_t unit;   /* bytes */
    uint64_t base;   /* bytes: all of its items lie at or above it */
    uint64_t bound;  /* no placement is lower than this (above base) */
    uint64_t *best;  /* offsets above base, by item: the best placement so far */
    uint64_t height; /* the largest end of `best`; UINT64_MAX before there is one */
    uint64_t random; /* state of its random numbers */
    /* By item: how much of the component lies below it, and above it, at some time of its
     * life. NULL: nothing does. */
    uint64_t *below, *above;
    struct rp_pack_branch_bound
        *branch_bound;               /* its state; NULL before the first attempt */
    uint32_t n_attempts;             /* of branch and bound */
    uint32_t n_failed_attempts;      /* of these, since the last success */
    uint32_t n_failed_ejections;     /* likewise, of ejection chains */
    struct rp_pack_boxed *boxed;     /* its coarser form; NULL: there is none */
    struct rp_pack_stacked *stacked; /* NULL: there is none */
    bool was_stacked;                /* a try was made */
    uint32_t n_boxings; /* tries to box this component and those it was boxed from */
};

struct rp_pack_components {
    RP_VEC(struct rp_pack_component);
};

/* Methods end once rp_pack_ended. */
struct rp_pack_work {
    uint64_t done, limit;
    uint64_t told; /* part of `done` that the stop has been told of */
    struct rp_stop *stop;
    struct rp_pack_statistics statistics; /* all but `packings` and `work` */
};

/* As rp_pack_result.peak_bytes; buffers of size 0 may be among them. */
uint64_t rp_pack_peak(const struct rp_buffer *b, size_t n, uint64_t alignment);

/* Splits the buffers into components. An item that is live together with all others of its
 * component is placed below the rest at once. That loses nothing, since every other item
 * lies wholly above or wholly below it. Sets the offset of every buffer that is in no
 * component, and returns how high these reach, in bytes. */
uint64_t rp_pack_split(struct rp_buffer *b, size_t n, uint64_t alignment,
                       struct rp_pack_components *components);

/* Makes these offsets, by item, the best placement so far. */
void rp_pack_record_placement(struct rp_pack_component *p, const uint64_t *offset);

/* True if a signal or the clock ends the work. */
static inline bool rp_pack_stopped(struct rp_pack_work *w) {
    uint64_t more = w->done - w->told;
    w->told = w->done;
    return rp_stop_after(w->stop, more);
}

/* True once the work is done, or if it is to stop. */
static inline bool rp_pack_ended(struct rp_pack_work *w) {
    return w->done >= w->limit || rp_pack_stopped(w);
}

/* Where the room for item i begins, and what lies above that room. */
static inline uint64_t rp_pack_below(const struct rp_pack_component *p, uint32_t i) {
    return p->below == NULL ? 0 : p->below[i];
}
static inline uint64_t rp_pack_above(const struct rp_pack_component *p, uint32_t i) {
    return p->above == NULL ? 0 : p->above[i];
}

static inline uint64_t rp_pack_length(const struct rp_pack_item *x) {
    return x->hi - x->lo; /* sections */
}

static inline unsigned __int128 rp_pack_area(const struct rp_pack_item *x) {
    return (unsigned __int128)x->size * rp_pack_length(x);
}

/* The lowest height to aim at: the goal, or the bound if that is higher. */
static inline uint64_t rp_pack_reachable(const struct rp_pack_component *p, uint64_t goal) {
    return rp_max_u64(goal, p->bound);
}

/* A height below the best to aim at: half of the way down to the goal, and half of that for
 * each failure since the last success. */
static inline uint64_t rp_pack_next_step(const struct rp_pack_component *p, uint64_t goal,
                                         uint32_t n_failed) {
    uint64_t gap = p->height - rp_pack_reachable(p, goal);
    uint64_t step = n_failed < 63 ? gap >> (n_failed + 1) : 0;
    return p->height - rp_max_u64(step, 1);
}

#endif
