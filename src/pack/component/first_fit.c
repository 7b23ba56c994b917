#include "pack/component/first_fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "pack/component/sorted_items.h"

enum {
    CHUNK = 512, /* items scanned between two tests for a gap */
    MAX_ITEMS =
        10000,      /* with more, no pass takes quadratic time unless there is work left */
    MAX_GAPS = 1000 /* tried for an item in a pass along time */
};

/* Passes after the first two (of many items, after the first) begin only before so much has
 * been done. The other methods gain more then. */
#define MAX_WORK UINT64_C(3000000)

struct placement {
    const struct rp_pack_component *p;
    struct rp_sorted_items placed; /* by offset */
    uint64_t *offset;              /* by item */
    uint32_t overlapping[CHUNK + 1];
};

/* The lowest offset where x fits, or the lowest of the tightest gaps. */
static uint64_t find_offset(struct placement *s, uint32_t item, bool best_fit,
                            struct rp_pack_work *work) {
    const struct rp_pack_item *x = &s->p->items[item];
    uint64_t end = rp_pack_below(s->p, item), tightest = UINT64_MAX, at = 0;
    for (uint32_t i = 0; i < s->placed.n; i += CHUNK) {
        uint32_t stop = i + rp_min_u32(s->placed.n - i, CHUNK);
        uint32_t n = rp_sorted_items_overlapping(&s->placed, i, stop, x, s->overlapping);
        work->done += stop - i + n;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t y = s->overlapping[k];
            if (s->offset[y] >= end + x->size && s->offset[y] - end < tightest) {
                tightest = s->offset[y] - end;
                at = end;
                if (!best_fit)
                    return at;
            }
            end = rp_max_u64(end, s->offset[y] + s->p->items[y].size);
        }
    }
    return tightest == UINT64_MAX ? end : at;
}

/* True if there is a placement, and no time for another one. */
static bool gives_up(const struct rp_pack_component *p, struct rp_pack_work *work) {
    return p->height < UINT64_MAX && rp_pack_stopped(work);
}

/* Places all items in this order; stops when it cannot beat the best placement. */
static void place_in_order(struct rp_pack_component *p, const uint32_t *order,
                           bool best_fit, struct rp_pack_work *work) {
    struct placement s = {.p = p, .offset = rp_calloc(p->n, sizeof *s.offset)};
    uint64_t height = 0;
    uint32_t i = 0;
    rp_sorted_items_init(&s.placed, p->n);
    for (; i < p->n && height < p->height && !gives_up(p, work); i++) {
        const struct rp_pack_item *x = &p->items[order[i]];
        uint64_t at = find_offset(&s, order[i], best_fit, work);
        s.offset[order[i]] = at;
        rp_sorted_items_insert(&s.placed, x, order[i], at);
        height = rp_max_u64(height, at + x->size + rp_pack_above(p, order[i]));
    }
    if (i == p->n && height < p->height)
        rp_pack_record_placement(p, s.offset);
    rp_sorted_items_fini(&s.placed);
    free(s.offset);
    work->statistics.first_fit_passes++;
}

/* ---- one pass along time, for many items ---- */

/* A free range of the arena below its top. */
struct gap {
    uint64_t begin, end;
};

struct heap {
    RP_VEC(struct gap) gaps; /* by address, none touches the next one */
    uint64_t top;            /* all above is free */
};

/* The first gap that ends at `begin` or after. */
static size_t find_gap(const struct heap *h, uint64_t begin) {
    size_t low = 0, high = h->gaps.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (h->gaps.at[mid].end < begin)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void remove_gap(struct heap *h, size_t k) {
    memmove(h->gaps.at + k, h->gaps.at + k + 1, (--h->gaps.n - k) * sizeof *h->gaps.at);
}

static void release(struct heap *h, uint64_t begin, uint64_t end) {
    size_t k = find_gap(h, begin);
    if (k < h->gaps.n && h->gaps.at[k].end == begin) {
        begin = h->gaps.at[k].begin;
        remove_gap(h, k);
    }
    if (k < h->gaps.n && h->gaps.at[k].begin == end) {
        end = h->gaps.at[k].end;
        remove_gap(h, k);
    }
    if (end == h->top) {
        h->top = begin;
        return;
    }
    rp_push(&h->gaps, ((struct gap){0, 0}));
    memmove(h->gaps.at + k + 1, h->gaps.at + k, (h->gaps.n - 1 - k) * sizeof *h->gaps.at);
    h->gaps.at[k] = (struct gap){begin, end};
}

/* The lowest of the first MAX_GAPS gaps that is large enough, or the top. */
static uint64_t acquire(struct heap *h, uint64_t size) {
    size_t n = h->gaps.n < MAX_GAPS ? h->gaps.n : MAX_GAPS;
    for (size_t k = 0; k < n; k++) {
        struct gap *gap = &h->gaps.at[k];
        uint64_t begin = gap->begin;
        if (gap->end - begin < size)
            continue;
        gap->begin += size;
        if (gap->begin == gap->end)
            remove_gap(h, k);
        return begin;
    }
    h->top += size;
    return h->top - size;
}

static int by_end(const void *left, const void *right) {
    const struct rp_sort_key *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* Places the items as they begin, like an allocator at run time. */
static void place_along_time(struct rp_pack_component *p, struct rp_pack_work *work) {
    struct heap h = {0};
    uint64_t *offset = rp_calloc(p->n, sizeof *offset);
    struct rp_sort_key *ends = rp_calloc(p->n, sizeof *ends);
    uint32_t ended = 0;
    for (uint32_t i = 0; i < p->n; i++)
        ends[i] = (struct rp_sort_key){p->items[i].hi, 0, i};
    qsort(ends, p->n, sizeof *ends, by_end);
    for (uint32_t i = 0; i < p->n; i++) {
        for (; p->items[ends[ended].item].hi <= p->items[i].lo; ended++) {
            uint32_t x = ends[ended].item;
            release(&h, offset[x], offset[x] + p->items[x].size);
        }
        offset[i] = acquire(&h, p->items[i].size);
        work->done += 1 + rp_min_u64(h.gaps.n, MAX_GAPS);
    }
    rp_pack_record_placement(p, offset);
    free(h.gaps.at);
    free(ends);
    free(offset);
    work->statistics.first_fit_passes++;
}

/* ---- passes over sorted items ---- */

/* What makes an item come first: the larger first, ties by size or lifetime. */
enum rule { BY_SIZE, BY_LIFETIME, BY_AREA, BY_START, BY_END, BY_PRESSURE };

/* By item: the largest sum of sizes in a section that it lives through, from a sparse table
 * of range maxima (M. A. Bender and M. Farach-Colton, "The LCA problem revisited", 2000).
 */
static uint64_t *pressures(const struct rp_pack_component *p) {
    uint32_t n = p->n_sections, levels = 1;
    while ((n >> levels) > 0)
        levels++;
    uint64_t *table = rp_calloc((size_t)levels * (n + 1), sizeof *table);
    uint64_t *pressure = rp_calloc(p->n, sizeof *pressure);
    for (uint32_t i = 0; i < p->n; i++) {
        table[p->items[i].lo] += p->items[i].size;
        table[p->items[i].hi] -= p->items[i].size;
    }
    for (uint32_t t = 1; t < n; t++)
        table[t] += table[t - 1];
    for (uint32_t k = 1; k < levels; k++)
        for (uint32_t t = 0; t + (1u << k) <= n; t++) {
            uint64_t *row = table + (size_t)k * (n + 1), *half = row - (n + 1);
            row[t] = rp_max_u64(half[t], half[t + (1u << (k - 1))]);
        }
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t length = p->items[i].hi - p->items[i].lo, k = 0;
        while ((length >> (k + 1)) > 0)
            k++;
        const uint64_t *row = table + (size_t)k * (n + 1);
        pressure[i] = rp_max_u64(row[p->items[i].lo], row[p->items[i].hi - (1u << k)]);
    }
    free(table);
    return pressure;
}

static struct rp_sort_key make_key(const struct rp_pack_component *p, uint32_t i,
                                   enum rule rule, const uint64_t *pressure) {
    const struct rp_pack_item *x = &p->items[i];
    uint64_t length = rp_pack_length(x);
    switch (rule) {
    case BY_SIZE:
        return (struct rp_sort_key){x->size, length, i};
    case BY_LIFETIME:
        return (struct rp_sort_key){length, x->size, i};
    case BY_AREA:
        return (struct rp_sort_key){rp_pack_area(x), x->size, i};
    case BY_START:
        return (struct rp_sort_key){p->n_sections - x->lo, length, i};
    case BY_END:
        return (struct rp_sort_key){x->hi, length, i};
    case BY_PRESSURE:
        break;
    }
    return (struct rp_sort_key){pressure[i], x->size, i};
}

static void sort_by_rule(const struct rp_pack_component *p, enum rule rule,
                         const uint64_t *pressure, uint32_t *order) {
    struct rp_sort_key *keys = rp_calloc(p->n, sizeof *keys);
    for (uint32_t i = 0; i < p->n; i++)
        keys[i] = make_key(p, i, rule, pressure);
    rp_sort_keys(keys, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        order[i] = keys[i].item;
    free(keys);
}

void rp_pack_first_fit(struct rp_pack_component *p, uint64_t goal,
                       struct rp_pack_work *work) {
    static const struct {
        enum rule rule;
        bool best_fit;
    } passes[] = {
        {BY_SIZE, false}, {BY_PRESSURE, true}, {BY_SIZE, true},   {BY_LIFETIME, false},
        {BY_AREA, true},  {BY_LIFETIME, true}, {BY_START, false}, {BY_END, false},
        {BY_AREA, false}, {BY_START, true},    {BY_END, true},    {BY_PRESSURE, false},
    };
    uint32_t *order = rp_calloc(p->n, sizeof *order);
    uint64_t *pressure = pressures(p), before = work->done;
    if (p->n > MAX_ITEMS && p->height == UINT64_MAX && p->below == NULL)
        place_along_time(p, work);
    for (size_t k = 0; k < sizeof passes / sizeof passes[0] && p->height > goal; k++) {
        bool optional = k >= 2 || (p->n > MAX_ITEMS && p->height < UINT64_MAX);
        bool enough = rp_pack_ended(work) || work->done - before > MAX_WORK;
        if ((optional && enough) || gives_up(p, work))
            break;
        sort_by_rule(p, passes[k].rule, pressure, order);
        place_in_order(p, order, passes[k].best_fit, work);
    }
    work->statistics.first_fit_work += work->done - before;
    free(pressure);
    free(order);
}
