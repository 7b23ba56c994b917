/* pack_partial: a partial placement that grows from the bottom up and can be taken back.
 *
 * Per section there is a floor: everything still to come lies at or above it. An item
 * cannot lie lower than the highest floor among its sections, its `low`. Three moves: put
 * an item at its low where the floor is flat; raise the floor of one section, so that
 * nothing comes to lie below; and settle, which lifts every floor to the least low of the
 * items to come. A section is over the goal when its floor plus what is still to come in it
 * passes the goal.
 *
 * When a floor was raised, the items that could have been put there were passed over. They
 * could be dropped to that place in a finished placement unless something else is put in
 * their way; if nothing can be, the state is dominated and given up.
 */
#ifndef RP_PACK_PARTIAL_H
#define RP_PACK_PARTIAL_H

#include "pack/pack_internal.h"

struct pack_partial {
    const struct pack_component *p;
    uint64_t goal;
    struct pack_work *work;

    /* By section. */
    uint64_t *floor, *rest;   /* rest: sum of the sizes to come */
    uint32_t *n_live;         /* items to come */
    uint32_t *n_cross;        /* items to come in this section and the one before */
    uint64_t *digest;         /* of the set of items to come */
    uint64_t *failures;       /* times this section was over the goal */
    uint32_t *first;          /* items[first[t] ..] start at t or later; one more entry */
    uint32_t *live, *live_at; /* items of section t: live[live_at[t] .. live_at[t + 1]) */
    uint64_t *witness;        /* an item to come whose low is the floor; once settled */

    /* By item. */
    uint64_t *low, *offset;
    uint64_t *passed;      /* the level where it was passed over and is not yet blocked */
    uint64_t *tag;         /* for digests */
    uint64_t *n_witnessed; /* the sections it is the witness of */
    bool *placed;

    struct {
        struct pack_change {
            uint64_t *at; /* NULL: the item `old` was put */
            uint64_t old;
        } * at;
        size_t n, cap;
    } trail;
    struct {
        uint32_t *at;
        size_t n, cap;
    } passed_over; /* items; entries that hold no longer stay until they are undone */
    struct {
        uint32_t *at;
        size_t n, cap;
    } moved; /* witnesses that were put or whose low has changed since all was settled */
};

#define PACK_NOT_PASSED UINT64_MAX
#define PACK_NO_ITEM UINT32_MAX

void rp_pack_partial_init(struct pack_partial *s, const struct pack_component *p,
                          struct pack_work *work);
void rp_pack_partial_fini(struct pack_partial *s);

static inline bool pack_covers(const struct pack_item *x, uint32_t t) {
    return x->lo <= t && t < x->hi;
}

/* A point to come back to. */
struct pack_mark {
    size_t trail, passed_over;
};
struct pack_mark rp_pack_mark(const struct pack_partial *s);
void rp_pack_undo(struct pack_partial *s, struct pack_mark mark);

/* All floors of the item's sections are equal to its low. */
void rp_pack_put(struct pack_partial *s, uint32_t item);

/* The items that could be put at the floor of section t are passed over. */
void rp_pack_skip_to(struct pack_partial *s, uint32_t t, uint64_t level);

/* False if a section is over the goal. */
bool rp_pack_raise_floors(struct pack_partial *s);

/* False if an item of sections [begin, end) was passed over for nothing. */
bool rp_pack_passes_hold(struct pack_partial *s, uint32_t begin, uint32_t end);

#endif
