/* Boxing: a part with a coarser unit, which is far easier to place.
 *
 * Sizes of activations mostly have a large common factor, the batch times a little; what
 * lies between them, the gradients of small parameters, shifts them against each other so
 * that no gap fits exactly. So items smaller than some unit are put in boxes of that size
 * first, the longest-lived ones together, and the boxes are placed with the large items as
 * if the unit were a byte ("boxing" in A. L. Buchsbaum et al., "OPT versus LOAD in dynamic
 * storage allocation", 2004; here one unit for all boxes). The peak of the boxed part is
 * that of the part and what the boxes waste.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/sorted_items.h"

/* Units are this share of the bound at most, and its square at least; the boxed peak is
 * above the bound by no more than this share, for each box that is made. */
enum { LARGEST_UNIT = 64 };
#define SMALLEST_UNIT ((uint64_t)1 << 18)
static const uint64_t waste_shares[PACK_MAX_BOXES] = {8192, 1024, 128, 32};
/* Units that are tried: all sizes, and what two of so many sizes of the largest area have
 * in common. */
enum { N_COMMON = 24 };

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
static uint32_t list_sizes(const struct pack_component *p, struct size *sizes) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct pack_item *x = &p->items[i];
        sizes[i].size = x->size;
        sizes[i].area = (unsigned __int128)x->size * (x->hi - x->lo);
    }
    qsort(sizes, p->n, sizeof *sizes, by_size);
    for (uint32_t i = 0; i < p->n; i++)
        if (n > 0 && sizes[n - 1].size == sizes[i].size)
            sizes[n - 1].area += sizes[i].area;
        else
            sizes[n++] = sizes[i];
    qsort(sizes, n, sizeof *sizes, by_area);
    return n;
}

static uint64_t common(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Units to try, the largest first; the caller frees them. */
static struct size *list_units(const struct pack_component *p, uint32_t *n) {
    struct size *units = rp_calloc((size_t)p->n + N_COMMON * N_COMMON, sizeof *units);
    uint32_t n_sizes = list_sizes(p, units), all = n_sizes;
    uint32_t top = n_sizes < N_COMMON ? n_sizes : N_COMMON;
    for (uint32_t i = 0; i < top; i++)
        for (uint32_t j = 0; j < i; j++)
            units[all++].size = common(units[i].size, units[j].size);
    qsort(units, all, sizeof *units, by_size);
    *n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (units[i].size > 1 && units[i].size <= p->bound / LARGEST_UNIT &&
            units[i].size >= p->bound / SMALLEST_UNIT &&
            (*n == 0 || units[*n - 1].size != units[i].size))
            units[(*n)++] = units[i];
    return units;
}

/* The least that the peak can be with this unit: no box has a gap. `change` has an entry
 * for each section and one more, for large and for small items, all 0. */
static uint64_t min_peak(const struct pack_component *p, uint64_t unit, uint64_t *large,
                         uint64_t *small) {
    uint64_t sum_large = 0, sum_small = 0, peak = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct pack_item *x = &p->items[i];
        uint64_t *change = x->size < unit ? small : large;
        uint64_t size = x->size < unit ? x->size : rp_rounding_up(x->size, unit);
        change[x->lo] += size;
        change[x->hi] -= size; /* wraps; the running sum does not */
    }
    for (uint32_t t = 0; t <= p->n_sections; t++) {
        sum_large += large[t];
        sum_small += small[t];
        uint64_t sum = sum_large + rp_rounding_up(sum_small, unit);
        if (sum > peak)
            peak = sum;
        large[t] = small[t] = 0;
    }
    return peak;
}

/* The largest unit that wastes no more than that; 0: none was found. */
static uint64_t choose_unit(const struct pack_component *p, uint64_t max_waste,
                            struct pack_work *work) {
    uint32_t n;
    uint64_t chosen = 0;
    struct size *units = list_units(p, &n);
    uint64_t *large = rp_calloc((size_t)p->n_sections + 1, sizeof *large);
    uint64_t *small = rp_calloc((size_t)p->n_sections + 1, sizeof *small);
    for (uint32_t i = 0; i < n && chosen == 0 && work->done < work->limit; i++) {
        work->done += p->n + p->n_sections;
        if (min_peak(p, units[i].size, large, small) <= p->bound + max_waste)
            chosen = units[i].size;
    }
    free(large);
    free(small);
    free(units);
    return chosen;
}

struct shelf {
    const struct pack_component *p;
    uint64_t unit;
    struct sorted_items row; /* the small items placed, by offset */
    uint64_t *offset;        /* of the small items, by item */
    uint32_t *in_way;
};

/* The lowest offset where x fits and does not pass a multiple of the unit. */
static uint64_t fit(struct shelf *s, const struct pack_item *x, struct pack_work *work) {
    uint64_t at = 0;
    uint32_t n = sorted_items_scan(&s->row, 0, s->row.n, x, s->in_way);
    work->done += s->row.n + n;
    for (uint32_t k = 0; k <= n; k++) {
        if (at % s->unit + x->size > s->unit)
            at = rp_rounding_up(at, s->unit);
        if (k == n || s->offset[s->in_way[k]] >= at + x->size)
            break;
        uint64_t end = s->offset[s->in_way[k]] + s->p->items[s->in_way[k]].size;
        if (end > at)
            at = end;
    }
    return at;
}

struct order {
    uint64_t first, second;
    uint32_t item;
};

static int by_order(const void *x, const void *y) {
    const struct order *a = x, *b = y;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* Sets the offsets of the small items, which are `order`; longest-lived first. */
static void fill_shelf(struct shelf *s, struct order *order, uint32_t n,
                       struct pack_work *work) {
    for (uint32_t k = 0; k < n; k++) {
        const struct pack_item *x = &s->p->items[order[k].item];
        order[k].first = UINT32_MAX - (x->hi - x->lo);
        order[k].second = s->unit - x->size;
    }
    qsort(order, n, sizeof *order, by_order);
    for (uint32_t k = 0; k < n; k++) {
        const struct pack_item *x = &s->p->items[order[k].item];
        uint64_t at = fit(s, x, work);
        s->offset[order[k].item] = at;
        rp_sorted_items_insert(&s->row, x, order[k].item, at);
    }
}

static uint32_t add_buffer(struct pack_box *box, uint64_t lower, uint64_t upper,
                           uint64_t size) {
    struct rp_buffer b = {.lower = lower, .upper = upper, .size = size};
    rp_push(&box->buffers, b);
    return (uint32_t)box->buffers.n - 1;
}

/* Each layer of the shelf, one unit high, is a box for as long as something is in it. */
static void cut_shelf(const struct shelf *s, struct pack_box *box, struct order *order,
                      uint32_t n) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        order[k].first = s->offset[order[k].item] / s->unit;
        order[k].second = s->p->items[order[k].item].lo;
    }
    qsort(order, n, sizeof *order, by_order);
    for (uint32_t k = 0; k < n; k++) {
        const struct pack_item *x = &s->p->items[order[k].item];
        if (k == 0 || order[k].first != order[k - 1].first ||
            x->lo >= box->buffers.at[at].upper)
            at = add_buffer(box, x->lo, x->hi, s->unit);
        else if (x->hi > box->buffers.at[at].upper)
            box->buffers.at[at].upper = x->hi;
        box->of[order[k].item] = at;
        box->inside[order[k].item] = s->offset[order[k].item] % s->unit;
    }
}

static struct pack_box *make_box(const struct pack_component *p, uint64_t unit,
                                 struct pack_work *work) {
    struct shelf s = {.p = p, .unit = unit};
    struct order *order = rp_calloc(p->n, sizeof *order);
    struct pack_box *box = rp_calloc(1, sizeof *box);
    uint32_t n = 0;
    box->unit = unit;
    box->of = rp_calloc(p->n, sizeof *box->of);
    box->inside = rp_calloc(p->n, sizeof *box->inside);
    s.offset = rp_calloc(p->n, sizeof *s.offset);
    s.in_way = rp_calloc((size_t)p->n + 1, sizeof *s.in_way);
    rp_sorted_items_init(&s.row, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        if (p->items[i].size < unit)
            order[n++].item = i;
        else
            box->of[i] = add_buffer(box, p->items[i].lo, p->items[i].hi, p->items[i].size);
    fill_shelf(&s, order, n, work);
    cut_shelf(&s, box, order, n);
    box->peak = rp_pack_peak(box->buffers.at, box->buffers.n, unit);
    rp_sorted_items_fini(&s.row);
    free(s.in_way);
    free(s.offset);
    free(order);
    return box;
}

void rp_pack_box(struct pack_component *p, struct pack_work *work) {
    uint64_t unit = 0;
    while (p->n_boxings < PACK_MAX_BOXES && unit == 0)
        unit = choose_unit(p, p->bound / waste_shares[p->n_boxings++], work);
    if (unit == 0)
        return;
    p->box = make_box(p, unit, work);
    p->box->base =
        rp_pack_split(p->box->buffers.at, p->box->buffers.n, unit, &p->box->parts);
    for (size_t i = 0; i < p->box->parts.n; i++)
        p->box->parts.at[i].n_boxings = p->n_boxings;
    p->n_boxings = PACK_MAX_BOXES;
}

void rp_pack_unbox(struct pack_component *p) {
    const struct pack_box *box = p->box;
    uint64_t *offset = rp_calloc(p->n, sizeof *offset), height = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        offset[i] = box->buffers.at[box->of[i]].offset + box->inside[i];
        if (offset[i] + p->items[i].size > height)
            height = offset[i] + p->items[i].size;
    }
    if (height < p->height) {
        rp_pack_record_placement(p, offset);
        p->n_failed_searches = p->n_failed_ejections = 0;
    }
    free(offset);
}

void rp_pack_box_free(struct pack_box *box) {
    if (box == NULL)
        return;
    rp_pack_components_fini(&box->parts);
    free(box->buffers.at);
    free(box->of);
    free(box->inside);
    free(box);
}
