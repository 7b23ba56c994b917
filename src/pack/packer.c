/* The order of attack, and what goes in and out in bytes. */
#include "pack/packer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pack/pack_internal.h"

/* Work of the exact search, and then of the ejection search, before the other's turn;
 * doubled each time. */
#define FIRST_SLICE UINT64_C(10000000)

/* Larger parts are left to their boxes and to ejection, if they have any boxes. */
enum { SEARCH_ITEMS = 1000 };

struct event {
    uint64_t time, size;
};

static int by_time(const void *x, const void *y) {
    const struct event *a = x, *b = y;
    return a->time < b->time ? -1 : a->time > b->time;
}

uint64_t rp_pack_peak(const struct rp_buffer *b, size_t n, uint64_t alignment) {
    struct event *starts = rp_calloc(n, sizeof *starts), *ends = rp_calloc(n, sizeof *ends);
    uint64_t live = 0, peak = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t size = rp_rounding_up(b[i].size, alignment);
        starts[i] = (struct event){b[i].lower, size};
        ends[i] = (struct event){b[i].upper, size};
    }
    qsort(starts, n, sizeof *starts, by_time);
    qsort(ends, n, sizeof *ends, by_time);
    for (size_t i = 0, e = 0; i < n; i++) {
        for (; ends[e].time <= starts[i].time; e++)
            live -= ends[e].size;
        live += starts[i].size;
        if (live > peak)
            peak = live;
    }
    free(starts);
    free(ends);
    return peak;
}

/* What a part may reach, above its base, for the arena to be at or below `target`. */
static uint64_t part_goal(const struct pack_component *p, uint64_t target) {
    return target > p->base ? (target - p->base) / p->unit : 0;
}

/* No placement is smaller than this. */
static uint64_t proved_bound(const struct pack_components *parts, uint64_t peak) {
    for (size_t i = 0; i < parts->n; i++) {
        const struct pack_component *p = &parts->at[i];
        if (p->base + p->bound * p->unit > peak)
            peak = p->base + p->bound * p->unit;
    }
    return peak;
}

/* Where a turn ends; the last step of a turn may pass its end. */
static uint64_t slice_end(const struct pack_work *work, uint64_t limit, uint64_t slice) {
    bool last = work->done >= limit || limit - work->done <= slice;
    return last ? limit : work->done + slice;
}

/* Offsets of the items in parts; returns the arena, `height` being that of the others. */
static uint64_t write_offsets(struct rp_buffer *b, const struct pack_components *parts,
                              uint64_t height) {
    for (size_t i = 0; i < parts->n; i++) {
        const struct pack_component *p = &parts->at[i];
        for (uint32_t k = 0; k < p->n; k++)
            b[p->items[k].buffer].offset = p->base + p->best[k] * p->unit;
        if (p->base + p->height * p->unit > height)
            height = p->base + p->height * p->unit;
    }
    return height;
}

static void place_greedily(struct pack_components *parts, uint64_t enough,
                           struct pack_work *work) {
    for (size_t i = 0; i < parts->n; i++)
        rp_pack_first_fit(&parts->at[i], part_goal(&parts->at[i], enough), work);
}

static bool search_parts(struct pack_components *parts, uint64_t enough, uint64_t slice,
                         struct pack_work *work);

/* The coarser form of a part, if that can be lower than the part is. */
static void search_box(struct pack_component *p, uint64_t goal, uint64_t slice,
                       struct pack_work *work) {
    if (p->n_boxings < PACK_MAX_BOXES)
        rp_pack_box(p, work);
    struct pack_box *box = p->box;
    uint64_t enough = pack_min(p, goal);
    if (box == NULL || box->peak >= p->height)
        return;
    enough = box->peak > enough ? box->peak : enough;
    if (!box->placed)
        place_greedily(&box->parts, enough, work);
    box->placed = true;
    search_parts(&box->parts, enough, slice, work);
    write_offsets(box->buffers.at, &box->parts, box->base);
    rp_pack_unbox(p);
}

/* One round of search on each part that is above the target or the proved bound. False if
 * there was none. */
static bool search_parts(struct pack_components *parts, uint64_t enough, uint64_t slice,
                         struct pack_work *work) {
    uint64_t limit = work->limit;
    bool any = false;
    for (size_t i = 0; i < parts->n; i++) {
        struct pack_component *p = &parts->at[i];
        uint64_t goal = part_goal(p, proved_bound(parts, enough));
        if (p->height <= pack_min(p, goal))
            continue;
        any = true;
        work->limit = slice_end(work, limit, slice);
        if (p->box == NULL || p->n <= SEARCH_ITEMS)
            rp_pack_branch_bound(p, goal, work);
        work->limit = limit;
        search_box(p, goal, slice, work);
        work->limit = slice_end(work, limit, slice);
        rp_pack_ejection_chain(p, goal, work);
        work->limit = limit;
        if (work->done >= limit)
            break;
    }
    return any;
}

static void pack_components(struct pack_components *parts, uint64_t enough,
                            struct pack_work *work) {
    place_greedily(parts, enough, work);
    for (uint64_t slice = FIRST_SLICE; work->done < work->limit; slice *= 2)
        if (!search_parts(parts, enough, slice, work))
            break;
}

rp_rc rp_pack(struct rp_buffer *b, size_t n, const struct rp_pack_options *options,
              uint64_t *arena, struct rp_pack_stats *stats) {
    struct pack_components parts = {0};
    struct pack_work work = {0, options->work_limit};
    uint64_t alignment = options->alignment;
    assert(alignment >= 1 && n < (size_t)1 << 31);
    for (size_t i = 0; i < n; i++)
        assert(b[i].lower < b[i].upper);
    uint64_t peak = rp_pack_peak(b, n, alignment);
    uint64_t enough = options->capacity > peak ? options->capacity : peak;
    uint64_t height = rp_pack_split(b, n, alignment, &parts);
    pack_components(&parts, enough, &work);
    if (options->squeeze && enough > peak) {
        work.limit = work.done + options->work_limit;
        pack_components(&parts, peak, &work);
    }
    *arena = write_offsets(b, &parts, height);
    uint64_t bound = proved_bound(&parts, peak);
    if (stats != NULL)
        *stats = (struct rp_pack_stats){peak, bound, work.done, (uint32_t)parts.n};
    rp_pack_components_fini(&parts);
    return *arena <= enough ? RP_OK : bound > enough ? RP_NO : RP_LIMIT;
}
