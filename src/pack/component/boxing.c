#include "pack/component/boxing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "pack/component/sorted_items.h"

/* Units lie between these shares of the bound. */
#define MIN_UNIT_SHARE (UINT64_C(1) << 18)
#define MAX_UNIT_SHARE 64

/* By try: the peak of the boxed form may pass the bound by this share of it if its boxes
 * are full, and by the last one in any case. */
static const uint64_t waste_shares[RP_PACK_MAX_BOXINGS] = {8192, 1024, 128, 32};
/* By try: so many boxed forms that waste more end it, since each takes long. */
enum { MAX_REFUSED = 4 };

/* Units to try: all sizes, and the greatest common divisors of any two of the N_PAIRED
 * sizes with the largest area. */
enum { N_PAIRED = 24 };

struct size {
    uint64_t size;
    unsigned __int128 area; /* of all items of that size */
};

static int by_size(const void *x, const void *y) {
    uint64_t a = ((const struct size *)x)->size, b = ((const struct size *)y)->size;
    return a < b ? 1 : -(a > b);
}

static int by_area(const void *x, const void *y) {
    const struct size *a = x, *b = y;
    return a->area < b->area ? 1 : a->area > b->area ? -1 : by_size(x, y);
}

/* The distinct sizes, those of the largest area first. */
static uint32_t list_sizes(const struct rp_pack_component *p, struct size *sizes) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        sizes[i] = (struct size){p->items[i].size, rp_pack_area(&p->items[i])};
    qsort(sizes, p->n, sizeof *sizes, by_size);
    for (uint32_t i = 0; i < p->n; i++)
        if (n > 0 && sizes[n - 1].size == sizes[i].size)
            sizes[n - 1].area += sizes[i].area;
        else
            sizes[n++] = sizes[i];
    qsort(sizes, n, sizeof *sizes, by_area);
    return n;
}

/* Units to try, the largest first. */
static uint32_t list_units(const struct rp_pack_component *p, struct size *units) {
    uint32_t n = 0, n_sizes = list_sizes(p, units), all = n_sizes;
    uint32_t n_paired = rp_min_u32(n_sizes, N_PAIRED);
    for (uint32_t i = 0; i < n_paired; i++)
        for (uint32_t j = 0; j < i; j++)
            units[all++].size = rp_gcd_u64(units[i].size, units[j].size);
    qsort(units, all, sizeof *units, by_size);
    for (uint32_t i = 0; i < all; i++)
        if (units[i].size > 1 && units[i].size <= p->bound / MAX_UNIT_SHARE &&
            units[i].size >= p->bound / MIN_UNIT_SHARE &&
            (n == 0 || units[n - 1].size != units[i].size))
            units[n++] = units[i];
    return n;
}

/* A lower bound on the peak of the boxed form with this unit: boxes have no gaps. `large`
 * and `small` are scratch, all 0: an entry for each section and one more. */
static uint64_t min_peak(const struct rp_pack_component *p, uint64_t unit, uint64_t *large,
                         uint64_t *small) {
    uint64_t sum_large = 0, sum_small = 0, peak = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rp_pack_item *x = &p->items[i];
        uint64_t *change = x->size < unit ? small : large;
        uint64_t size = x->size < unit ? x->size : rp_round_up(x->size, unit);
        change[x->lo] += size;
        change[x->hi] -= size; /* wraps; the running sum does not */
    }
    for (uint32_t t = 0; t <= p->n_sections; t++) {
        sum_large += large[t];
        sum_small += small[t];
        peak = rp_max_u64(peak, sum_large + rp_round_up(sum_small, unit));
        large[t] = small[t] = 0;
    }
    return peak;
}

/* The small items in layers one unit high, none across two layers. */
struct layers {
    const struct rp_pack_component *p;
    uint64_t unit;
    struct rp_sorted_items placed; /* small items by offset */
    uint64_t *offset;              /* of the small items, by item */
    uint32_t *overlapping;
};

/* The lowest offset where x fits into one layer. */
static uint64_t find_offset(struct layers *s, const struct rp_pack_item *x,
                            struct rp_pack_work *work) {
    uint64_t at = 0;
    uint32_t n = rp_sorted_items_overlapping(&s->placed, 0, s->placed.n, x, s->overlapping);
    work->done += s->placed.n + n;
    for (uint32_t k = 0; k <= n; k++) {
        if (at % s->unit + x->size > s->unit)
            at = rp_round_up(at, s->unit);
        if (k == n || s->offset[s->overlapping[k]] >= at + x->size)
            break;
        uint32_t y = s->overlapping[k];
        at = rp_max_u64(at, s->offset[y] + s->p->items[y].size);
    }
    return at;
}

/* Sets the offsets of the n small items, in order of their keys. */
static void fill_layers(struct layers *s, struct rp_sort_key *keys, uint32_t n,
                        struct rp_pack_work *work) {
    rp_sort_keys(keys, n);
    for (uint32_t k = 0; k < n; k++) {
        const struct rp_pack_item *x = &s->p->items[keys[k].item];
        uint64_t at = find_offset(s, x, work);
        s->offset[keys[k].item] = at;
        rp_sorted_items_insert(&s->placed, x, keys[k].item, at);
    }
}

static uint32_t add_buffer(struct rp_pack_boxed *boxed, uint64_t lower, uint64_t upper,
                           uint64_t size) {
    struct rp_buffer b = {.lower = lower, .upper = upper, .size = size};
    rp_push(&boxed->buffers, b);
    return (uint32_t)boxed->buffers.n - 1;
}

/* Cuts the layers into boxes. A box ends where nothing is live in its layer. */
static void cut_layers(const struct layers *s, struct rp_pack_boxed *boxed,
                       struct rp_sort_key *keys, uint32_t n) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) { /* the lowest layer first, the earliest item first */
        keys[k].first = UINT64_MAX - s->offset[keys[k].item] / s->unit;
        keys[k].second = UINT64_MAX - s->p->items[keys[k].item].lo;
    }
    rp_sort_keys(keys, n);
    for (uint32_t k = 0; k < n; k++) {
        const struct rp_pack_item *x = &s->p->items[keys[k].item];
        if (k == 0 || keys[k].first != keys[k - 1].first ||
            x->lo >= boxed->buffers.at[at].upper)
            at = add_buffer(boxed, x->lo, x->hi, s->unit);
        else if (x->hi > boxed->buffers.at[at].upper)
            boxed->buffers.at[at].upper = x->hi;
        boxed->buffer_of[keys[k].item] = at;
        boxed->inside[keys[k].item] = s->offset[keys[k].item] % s->unit;
    }
}

static struct rp_pack_boxed *make_boxed(const struct rp_pack_component *p, uint64_t unit,
                                        struct rp_pack_work *work) {
    struct layers s = {.p = p, .unit = unit};
    struct rp_sort_key *keys = rp_calloc(p->n, sizeof *keys);
    struct rp_pack_boxed *boxed = rp_calloc(1, sizeof *boxed);
    uint32_t n = 0;
    boxed->unit = unit;
    boxed->buffer_of = rp_calloc(p->n, sizeof *boxed->buffer_of);
    boxed->inside = rp_calloc(p->n, sizeof *boxed->inside);
    s.offset = rp_calloc(p->n, sizeof *s.offset);
    s.overlapping = rp_calloc((size_t)p->n + 1, sizeof *s.overlapping);
    rp_sorted_items_init(&s.placed, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rp_pack_item *x = &p->items[i];
        if (x->size < unit) /* the longest-lived are placed first */
            keys[n++] = (struct rp_sort_key){rp_pack_length(x), x->size, i};
        else
            boxed->buffer_of[i] = add_buffer(boxed, x->lo, x->hi, x->size);
    }
    fill_layers(&s, keys, n, work);
    cut_layers(&s, boxed, keys, n);
    boxed->peak = rp_pack_peak(boxed->buffers.at, boxed->buffers.n, unit);
    rp_sorted_items_fini(&s.placed);
    free(s.overlapping);
    free(s.offset);
    free(keys);
    return boxed;
}

/* Makes the boxed form with the largest unit that can waste as little as `max_waste`, and
 * wastes no more than the last share, if there is one. */
static struct rp_pack_boxed *box_within(const struct rp_pack_component *p,
                                        uint64_t max_waste, struct rp_pack_work *work) {
    uint64_t max_peak = p->bound + p->bound / waste_shares[RP_PACK_MAX_BOXINGS - 1];
    struct rp_pack_boxed *boxed = NULL;
    uint32_t n_refused = 0;
    struct size *units = rp_calloc((size_t)p->n + N_PAIRED * N_PAIRED, sizeof *units);
    uint32_t n = list_units(p, units);
    uint64_t *large = rp_calloc((size_t)p->n_sections + 1, sizeof *large);
    uint64_t *small = rp_calloc((size_t)p->n_sections + 1, sizeof *small);
    for (uint32_t i = 0;
         i < n && boxed == NULL && n_refused < MAX_REFUSED && !rp_pack_ended(work); i++) {
        work->done += p->n + p->n_sections;
        if (min_peak(p, units[i].size, large, small) > p->bound + max_waste)
            continue;
        boxed = make_boxed(p, units[i].size, work);
        if (boxed->peak > max_peak) {
            rp_pack_boxed_free(boxed);
            boxed = NULL;
            n_refused++;
        }
    }
    free(large);
    free(small);
    free(units);
    return boxed;
}

void rp_pack_box(struct rp_pack_component *p, struct rp_pack_work *work) {
    uint64_t before = work->done;
    while (p->n_boxings < RP_PACK_MAX_BOXINGS && p->boxed == NULL)
        p->boxed = box_within(p, p->bound / waste_shares[p->n_boxings++], work);
    if (p->boxed != NULL) {
        struct rp_pack_boxed *boxed = p->boxed;
        boxed->base = rp_pack_split(boxed->buffers.at, boxed->buffers.n, boxed->unit,
                                    &boxed->components);
        for (size_t i = 0; i < boxed->components.n; i++)
            boxed->components.at[i].n_boxings = p->n_boxings;
        p->n_boxings = RP_PACK_MAX_BOXINGS;
        work->statistics.boxings++;
    }
    work->statistics.boxing_work += work->done - before;
}

void rp_pack_unbox(struct rp_pack_component *p) {
    const struct rp_pack_boxed *boxed = p->boxed;
    uint64_t *offset = rp_calloc(p->n, sizeof *offset), height = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        offset[i] = boxed->buffers.at[boxed->buffer_of[i]].offset + boxed->inside[i];
        height = rp_max_u64(height, offset[i] + p->items[i].size);
    }
    if (height < p->height) {
        rp_pack_record_placement(p, offset);
        p->n_failed_attempts = p->n_failed_ejections = 0;
    }
    free(offset);
}

void rp_pack_boxed_free(struct rp_pack_boxed *boxed) {
    if (boxed == NULL)
        return;
    free(boxed->buffers.at);
    free(boxed->buffer_of);
    free(boxed->inside);
    free(boxed);
}
