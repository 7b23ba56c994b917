#include "pack/packer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "pack/component/boxing.h"
#include "pack/component/branch_bound.h"
#include "pack/component/components.h"
#include "pack/component/ejection_chain.h"
#include "pack/component/first_fit.h"
#include "pack/component/stacks.h"

/* Work that branch and bound, and then ejection chains, may do in the first turn. It
 * doubles with each turn. */
#define FIRST_SLICE UINT64_C(4000000)

/* Components with more items are left to their boxed form and to ejection chains, if they
 * have a boxed form. */
enum { MAX_BRANCH_BOUND_ITEMS = 1000 };

/* Components with fewer items get no stacks: branch and bound mostly solves them, and has
 * the first turn. Those with more get none, since their first placement could not be
 * stopped. */
enum { MIN_STACK_ITEMS = 400, MAX_STACK_ITEMS = 20000 };

/* A placement of more items takes long. Their boxed form, which has fewer, comes first, and
 * they get no stacks of their own if there is one. */
enum { MAX_FAST_ITEMS = 10000 };

void rp_pack_statistics_add(struct rp_pack_statistics *into,
                            const struct rp_pack_statistics *from) {
#define X(name, description) into->name += from->name;
    RP_PACK_STATISTICS(X)
#undef X
}

/* How high a component may reach above its base for an arena of at most `arena_bytes`. */
static uint64_t goal_within(const struct rp_pack_component *p, uint64_t arena_bytes) {
    return arena_bytes > p->base ? (arena_bytes - p->base) / p->unit : 0;
}

/* No arena is smaller than this. */
static uint64_t arena_bound(const struct rp_pack_components *c, uint64_t peak_bytes) {
    uint64_t bound = peak_bytes;
    for (size_t i = 0; i < c->n; i++)
        bound = rp_max_u64(bound, c->at[i].base + c->at[i].bound * c->at[i].unit);
    return bound;
}

/* Where a turn ends. The last step of a turn may pass it. */
static uint64_t slice_end(const struct rp_pack_work *work, uint64_t limit, uint64_t slice) {
    bool last = work->done >= limit || limit - work->done <= slice;
    return last ? limit : work->done + slice;
}

/* How high the components reach, in bytes. */
static uint64_t height_of(const struct rp_pack_components *c) {
    uint64_t height = 0;
    for (size_t i = 0; i < c->n; i++)
        height = rp_max_u64(height, c->at[i].base + c->at[i].height * c->at[i].unit);
    return height;
}

/* Writes the offsets of the items in components. */
static void write_offsets(struct rp_buffer *b, const struct rp_pack_components *c) {
    for (size_t i = 0; i < c->n; i++) {
        const struct rp_pack_component *p = &c->at[i];
        for (uint32_t k = 0; k < p->n; k++)
            b[p->items[k].buffer].offset = p->base + p->best[k] * p->unit;
    }
}

static void place_first(struct rp_pack_components *c, uint64_t target_bytes,
                        struct rp_pack_work *work) {
    for (size_t i = 0; i < c->n; i++)
        rp_pack_first_fit(&c->at[i], goal_within(&c->at[i], target_bytes), work);
}

static bool improve_all(struct rp_pack_components *c, uint64_t target_bytes, uint64_t slice,
                        struct rp_pack_work *work);

/* Can the boxed form be placed lower than the component is now? */
static bool may_boxed_gain(const struct rp_pack_component *p) {
    return p->boxed != NULL && p->boxed->peak < p->height;
}

/* How large its arena may be. */
static uint64_t boxed_target(const struct rp_pack_component *p, uint64_t goal) {
    return rp_max_u64(p->boxed->peak, rp_pack_reachable(p, goal));
}

/* Improves the boxed form of a component, if that may gain. */
static void improve_boxed(struct rp_pack_component *p, uint64_t goal, uint64_t slice,
                          struct rp_pack_work *work) {
    if (p->n_boxings < RP_PACK_MAX_BOXINGS)
        rp_pack_box(p, work);
    if (!may_boxed_gain(p))
        return;
    struct rp_pack_boxed *boxed = p->boxed;
    uint64_t target_bytes = boxed_target(p, goal);
    if (!boxed->placed)
        place_first(&boxed->components, target_bytes, work);
    boxed->placed = true;
    improve_all(&boxed->components, target_bytes, slice, work);
    write_offsets(boxed->buffers.at, &boxed->components);
    rp_pack_unbox(p);
}

static void improve_by_branch_bound(struct rp_pack_component *p, uint64_t goal,
                                    uint64_t slice, struct rp_pack_work *work) {
    uint64_t limit = work->limit;
    work->limit = slice_end(work, limit, slice);
    if (p->boxed == NULL || p->n <= MAX_BRANCH_BOUND_ITEMS)
        rp_pack_branch_bound(p, goal, work);
    work->limit = limit;
}

static void improve_by_ejection(struct rp_pack_component *p, uint64_t goal, uint64_t slice,
                                struct rp_pack_work *work) {
    uint64_t limit = work->limit;
    work->limit = slice_end(work, limit, slice);
    rp_pack_ejection_chain(p, goal, work);
    work->limit = limit;
}

/* Improves the rest between the stacks of a component, unless another placement of the
 * component is lower by now. */
static void improve_stacked(struct rp_pack_component *p, uint64_t goal, uint64_t slice,
                            struct rp_pack_work *work) {
    if (!p->was_stacked)
        rp_pack_stack(p, work);
    p->was_stacked = true;
    if (p->stacked == NULL)
        return;
    struct rp_pack_component *rest = &p->stacked->rest;
    if (rest->height == UINT64_MAX)
        rp_pack_first_fit(rest, goal, work);
    else if (rest->height > p->height)
        return;
    improve_by_ejection(rest, goal, slice, work);
    rp_pack_unstack(p);
}

/* May the boxed form gain, and is it higher than it is to be? */
static bool is_boxed_open(const struct rp_pack_component *p, uint64_t goal) {
    if (!may_boxed_gain(p))
        return false;
    uint64_t target_bytes = boxed_target(p, goal);
    for (size_t i = 0; i < p->boxed->components.n; i++) {
        const struct rp_pack_component *q = &p->boxed->components.at[i];
        if (q->height > rp_pack_reachable(q, goal_within(q, target_bytes)))
            return true;
    }
    return false;
}

static void improve(struct rp_pack_component *p, uint64_t goal, uint64_t slice,
                    struct rp_pack_work *work) {
    bool has_many = p->n >= MIN_STACK_ITEMS, is_large = p->n > MAX_FAST_ITEMS;
    if (!has_many)
        improve_by_branch_bound(p, goal, slice, work);
    else if (!is_large)
        improve_stacked(p, goal, slice, work);
    uint64_t before = p->height;
    improve_boxed(p, goal, slice, work);
    if (has_many && p->height < before && is_boxed_open(p, goal))
        return;
    if (is_large && p->boxed == NULL && p->n <= MAX_STACK_ITEMS)
        improve_stacked(p, goal, slice, work);
    if (has_many)
        improve_by_branch_bound(p, goal, slice, work);
    improve_by_ejection(p, goal, slice, work);
}

/* One turn of every method on each component that is above its goal and its bound. False if
 * there was none. */
static bool improve_all(struct rp_pack_components *c, uint64_t target_bytes, uint64_t slice,
                        struct rp_pack_work *work) {
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        struct rp_pack_component *p = &c->at[i];
        uint64_t goal = goal_within(p, arena_bound(c, target_bytes));
        if (p->height <= rp_pack_reachable(p, goal))
            continue;
        any = true;
        improve(p, goal, slice, work);
        if (rp_pack_ended(work))
            break;
    }
    return any;
}

static void pack_components(struct rp_pack_components *c, uint64_t target_bytes,
                            uint64_t near_bytes, struct rp_pack_work *work) {
    place_first(c, target_bytes, work);
    for (uint64_t slice = FIRST_SLICE; !rp_pack_ended(work); slice *= 2)
        if (!improve_all(c, target_bytes, slice, work) ||
            (work->done >= work->limit / 8 && height_of(c) <= near_bytes))
            break;
}

static void free_components(struct rp_pack_components *c) {
    for (size_t i = 0; i < c->n; i++) {
        struct rp_pack_component *p = &c->at[i];
        if (p->boxed != NULL)
            free_components(&p->boxed->components);
        rp_pack_boxed_free(p->boxed);
        rp_pack_branch_bound_free(p->branch_bound);
        rp_pack_stacked_free(p->stacked);
        free(p->items);
        free(p->best);
    }
    free(c->at);
}

rp_rc rp_pack(struct rp_buffer *b, size_t n, const struct rp_pack_options *options,
              struct rp_pack_result *result, struct rp_pack_statistics *statistics) {
    struct rp_pack_components components = {0};
    struct rp_pack_work work = {.limit = options->work_limit, .stop = options->stop};
    uint64_t alignment = options->alignment;
    assert(alignment >= 1 && n < (size_t)1 << 31);
    for (size_t i = 0; i < n; i++)
        assert(b[i].lower < b[i].upper);
    uint64_t peak = rp_pack_peak(b, n, alignment);
    uint64_t target_bytes = rp_max_u64(options->capacity, peak);
    uint64_t height = rp_pack_split(b, n, alignment, &components);
    pack_components(&components, target_bytes, options->near_capacity, &work);
    if (options->squeeze && target_bytes > peak) {
        work.limit = work.done + options->work_limit;
        pack_components(&components, peak, 0, &work);
    }
    write_offsets(b, &components);
    uint64_t arena = rp_max_u64(height, height_of(&components));
    uint64_t bound = arena_bound(&components, peak);
    *result = (struct rp_pack_result){arena, peak, bound};
    work.statistics.packings = 1;
    work.statistics.components = components.n;
    work.statistics.work = work.done;
    if (statistics != NULL)
        rp_pack_statistics_add(statistics, &work.statistics);
    free_components(&components);
    return arena <= target_bytes ? RP_OK : bound > target_bytes ? RP_NO : RP_LIMIT;
}
