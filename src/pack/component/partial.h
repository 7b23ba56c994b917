/* partial: a partial placement that grows from the bottom up and can be undone, for
 * branch_bound.c.
 *
 * Every section has a floor: all unplaced items lie at or above it. An item cannot lie
 * lower than the highest floor among its sections, its `low`. There are three changes:
 *   - rp_partial_place puts an item at its low, where the floor below it is flat;
 *   - rp_partial_leave_gap raises the floor of one section, so that nothing will lie below;
 *   - rp_partial_raise_floors lifts every floor to the least low of its unplaced items.
 * A section is over the goal if its floor plus the sizes of its unplaced items passes it.
 *
 * Where a gap is left, the items that could have been placed there are skipped. In a
 * finished placement a skipped item could be dropped to that place, unless something else
 * is placed in its way. If nothing can be, the partial placement is dominated: another one
 * without the gap is as good.
 *
 * Call order, from one rp_partial_mark to its rp_partial_undo: place or leave_gap, then
 * raise_floors; if that is true, is_dominated and further changes.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_PACK_COMPONENT_PARTIAL_H
#define RP_PACK_COMPONENT_PARTIAL_H

#include "base/mem.h"
#include "pack/component/components.h"

struct rp_partial_change {
    uint64_t *at; /* the entry that was changed; NULL: the item `old` was placed */
    uint64_t old;
};

struct rp_partial {
    const struct rp_pack_component *p;
    uint64_t goal;
    struct rp_pack_work *work;

    /* By section. */
    uint64_t *floor;
    uint64_t *unplaced_size;  /* sum over its unplaced items */
    uint32_t *n_live;         /* unplaced items */
    uint32_t *n_crossing;     /* unplaced items of this section and the one before */
    uint64_t *hash;           /* of the set of unplaced items: their tags, XORed */
    uint64_t *failures;       /* times this section was over the goal */
    uint32_t *first;          /* items[first[t] ..] start at t or later; one more entry */
    uint32_t *live, *live_at; /* items of section t: live[live_at[t] .. live_at[t + 1]) */
    uint64_t *floor_item;     /* unplaced, its low is the floor, once floors are raised */

    /* By item. */
    uint64_t *low, *offset;
    uint64_t *skipped_at; /* where it was skipped and nothing is in its way yet */
    uint64_t *tag;        /* random (A. L. Zobrist, "A new hashing method with application
                           * for game playing", 1970) */
    uint64_t *n_floors;   /* sections whose floor_item it is */
    bool *placed;

    RP_VEC(struct rp_partial_change) trail;
    RP_VEC(uint32_t) skipped; /* items; outdated entries stay until they are undone */
    RP_VEC(uint32_t) stale;   /* floor items that were placed or raised, for raise_floors */
};

#define RP_NOT_SKIPPED UINT64_MAX

void rp_partial_init(struct rp_partial *s, const struct rp_pack_component *p,
                     struct rp_pack_work *work);
void rp_partial_fini(struct rp_partial *s);

static inline bool rp_is_live(const struct rp_pack_item *x, uint32_t t) {
    return x->lo <= t && t < x->hi;
}

/* A point to return to. */
struct rp_partial_mark {
    size_t n_trail, n_skipped;
};
struct rp_partial_mark rp_partial_mark(const struct rp_partial *s);
void rp_partial_undo(struct rp_partial *s, struct rp_partial_mark mark);

/* The floors of all of the item's sections must be equal to its low. */
void rp_partial_place(struct rp_partial *s, uint32_t item);

/* Decides that nothing will lie in section t below `level`. Unplaced items that could are
 * skipped. */
void rp_partial_leave_gap(struct rp_partial *s, uint32_t t, uint64_t level);

/* False if a section is over the goal. */
bool rp_partial_raise_floors(struct rp_partial *s);

/* Is there a skipped item in sections [begin, end) whose place nothing can block any more?
 * Then the partial placement is dominated. */
bool rp_partial_is_dominated(struct rp_partial *s, uint32_t begin, uint32_t end);

#endif
