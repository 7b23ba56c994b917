/* Greedy placements: items in some fixed order, each at the lowest gap that holds it (first
 * fit) or at the tightest one (best fit). */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/sorted_items.h"

enum { CHUNK = 512 }; /* items looked at between two tests for a gap */

struct shelf {
    const struct pack_component *p;
    struct sorted_items row; /* by offset */
    uint64_t *offset;        /* by item */
    uint32_t in_way[CHUNK + 1];
};

/* The lowest offset where x fits, or the lowest of the tightest gaps. */
static uint64_t fit(struct shelf *s, const struct pack_item *x, bool best,
                    struct pack_work *work) {
    uint64_t end = 0, tightest = UINT64_MAX, at = 0;
    for (uint32_t i = 0; i < s->row.n; i += CHUNK) {
        uint32_t stop = s->row.n - i < CHUNK ? s->row.n : i + CHUNK;
        uint32_t n = sorted_items_scan(&s->row, i, stop, x, s->in_way);
        work->done += stop - i + n;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t y = s->in_way[k];
            if (s->offset[y] >= end + x->size && s->offset[y] - end < tightest) {
                tightest = s->offset[y] - end;
                at = end;
                if (!best)
                    return at;
            }
            if (s->offset[y] + s->p->items[y].size > end)
                end = s->offset[y] + s->p->items[y].size;
        }
    }
    return tightest == UINT64_MAX ? end : at;
}

/* Places all items in this order; gives up when it cannot beat the best so far. */
static void place_in_order(struct pack_component *p, const uint32_t *order, bool best,
                           struct pack_work *work) {
    struct shelf s = {.p = p, .offset = rp_calloc(p->n, sizeof *s.offset)};
    uint64_t height = 0;
    rp_sorted_items_init(&s.row, p->n);
    for (uint32_t i = 0; i < p->n && height < p->height; i++) {
        const struct pack_item *x = &p->items[order[i]];
        uint64_t at = fit(&s, x, best, work);
        s.offset[order[i]] = at;
        rp_sorted_items_insert(&s.row, x, order[i], at);
        if (at + x->size > height)
            height = at + x->size;
    }
    if (height < p->height)
        rp_pack_record_placement(p, s.offset);
    rp_sorted_items_fini(&s.row);
    free(s.offset);
}

/* The orders: the larger key first, then the larger second key, then the earlier item. */
enum rule { BY_SIZE, BY_LIFETIME, BY_AREA, BY_START, BY_END, BY_PRESSURE, N_RULES };

struct key {
    unsigned __int128 first;
    uint64_t second;
    uint32_t item;
};

static int by_key(const void *x, const void *y) {
    const struct key *a = x, *b = y;
    if (a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* By item: the largest sum of sizes in a section it lives through, from a sparse table of
 * range maxima. */
static uint64_t *pressures(const struct pack_component *p) {
    uint32_t n = p->n_sections, levels = 1;
    while ((n >> levels) > 0)
        levels++;
    uint64_t *top = rp_calloc((size_t)levels * (n + 1), sizeof *top);
    uint64_t *pressure = rp_calloc(p->n, sizeof *pressure);
    for (uint32_t i = 0; i < p->n; i++) {
        top[p->items[i].lo] += p->items[i].size;
        top[p->items[i].hi] -= p->items[i].size;
    }
    for (uint32_t t = 1; t < n; t++)
        top[t] += top[t - 1];
    for (uint32_t k = 1; k < levels; k++)
        for (uint32_t t = 0; t + (1u << k) <= n; t++) {
            uint64_t *row = top + (size_t)k * (n + 1), *half = row - (n + 1);
            uint64_t a = half[t], b = half[t + (1u << (k - 1))];
            row[t] = a > b ? a : b;
        }
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t length = p->items[i].hi - p->items[i].lo, k = 0;
        while ((length >> (k + 1)) > 0)
            k++;
        const uint64_t *row = top + (size_t)k * (n + 1);
        uint64_t a = row[p->items[i].lo], b = row[p->items[i].hi - (1u << k)];
        pressure[i] = a > b ? a : b;
    }
    free(top);
    return pressure;
}

static struct key make_key(const struct pack_component *p, uint32_t i, enum rule rule,
                           const uint64_t *pressure) {
    const struct pack_item *x = &p->items[i];
    uint64_t length = x->hi - x->lo;
    struct key key = {.item = i, .second = x->size};
    switch (rule) {
    case BY_SIZE:
        key.first = x->size;
        key.second = length;
        break;
    case BY_LIFETIME:
        key.first = length;
        break;
    case BY_AREA:
        key.first = (unsigned __int128)x->size * length;
        break;
    case BY_START:
        key.first = p->n_sections - x->lo;
        key.second = length;
        break;
    case BY_END:
        key.first = x->hi;
        key.second = length;
        break;
    case BY_PRESSURE:
        key.first = pressure[i];
        break;
    case N_RULES:
        break;
    }
    return key;
}

static void sort_by_rule(const struct pack_component *p, enum rule rule,
                         const uint64_t *pressure, uint32_t *order) {
    struct key *keys = rp_calloc(p->n, sizeof *keys);
    for (uint32_t i = 0; i < p->n; i++)
        keys[i] = make_key(p, i, rule, pressure);
    qsort(keys, p->n, sizeof *keys, by_key);
    for (uint32_t i = 0; i < p->n; i++)
        order[i] = keys[i].item;
    free(keys);
}

void rp_pack_first_fit(struct pack_component *p, uint64_t goal, struct pack_work *work) {
    static const struct {
        enum rule rule;
        bool best;
    } tries[] = {
        {BY_SIZE, true},   {BY_LIFETIME, false}, {BY_AREA, true},     {BY_LIFETIME, true},
        {BY_START, false}, {BY_END, false},      {BY_SIZE, false},    {BY_AREA, false},
        {BY_START, true},  {BY_END, true},       {BY_PRESSURE, true}, {BY_PRESSURE, false},
    };
    uint32_t *order = rp_calloc(p->n, sizeof *order);
    uint64_t *pressure = pressures(p);
    for (size_t k = 0; k < sizeof tries / sizeof tries[0] && p->height > goal; k++) {
        if (k >= 2 && work->done >= work->limit)
            break;
        sort_by_rule(p, tries[k].rule, pressure, order);
        place_in_order(p, order, tries[k].best, work);
    }
    free(pressure);
    free(order);
}
