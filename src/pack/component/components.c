#include "pack/component/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

/* ---- the peak ---- */

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
        uint64_t size = rp_round_up(b[i].size, alignment);
        starts[i] = (struct event){b[i].lower, size};
        ends[i] = (struct event){b[i].upper, size};
    }
    qsort(starts, n, sizeof *starts, by_time);
    qsort(ends, n, sizeof *ends, by_time);
    for (size_t i = 0, e = 0; i < n; i++) {
        for (; ends[e].time <= starts[i].time; e++)
            live -= ends[e].size;
        live += starts[i].size;
        peak = rp_max_u64(peak, live);
    }
    free(starts);
    free(ends);
    return peak;
}

/* ---- the split ---- */

/* Splitting may take as many passes as there are buffers. Past this many steps a component
 * is not split further. */
#define SPLIT_WORK UINT64_C(200000000)

struct range { /* of split.order */
    uint32_t begin, end;
    uint64_t base;
};

struct split {
    struct rp_buffer *b;
    uint64_t alignment;
    uint32_t *order; /* buffers; every range is sorted by lower */
    struct rp_pack_components *components;
    RP_VEC(struct range) waiting;
    uint64_t height, work;
};

static uint64_t rounded_size(const struct split *s, uint32_t buffer) {
    return rp_round_up(s->b[buffer].size, s->alignment);
}

static int by_lower(const void *x, const void *y, void *context) {
    const struct rp_buffer *b = context;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    if (b[i].lower != b[j].lower)
        return b[i].lower < b[j].lower ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* One past the last section that begins before time `upper`, once all `lo` are known. */
static uint32_t section_end(const struct split *s, const struct rp_pack_component *p,
                            uint64_t upper) {
    uint32_t low = 0, high = p->n; /* items[low - 1] starts before it, items[high] not */
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->b[p->items[mid].buffer].lower < upper)
            low = mid + 1;
        else
            high = mid;
    }
    return p->items[low - 1].lo + 1;
}

/* A new section begins at each start that follows an end. */
static void number_sections(const struct split *s, struct rp_pack_component *p) {
    uint64_t *ends = rp_calloc(p->n, sizeof *ends);
    uint32_t section = 0;
    for (uint32_t i = 0; i < p->n; i++)
        ends[i] = s->b[p->items[i].buffer].upper;
    qsort(ends, p->n, sizeof *ends, rp_compare_u64);
    for (uint32_t i = 0, e = 0; i < p->n; i++) {
        uint32_t before = e;
        while (ends[e] <= s->b[p->items[i].buffer].lower)
            e++;
        section += e > before;
        p->items[i].lo = section;
    }
    for (uint32_t i = 0; i < p->n; i++)
        p->items[i].hi = section_end(s, p, s->b[p->items[i].buffer].upper);
    p->n_sections = section + 1;
    free(ends);
}

static uint64_t max_section_sum(const struct rp_pack_component *p) {
    uint64_t *change = rp_calloc(p->n_sections + 1, sizeof *change), live = 0, max = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        change[p->items[i].lo] += p->items[i].size;
        change[p->items[i].hi] -= p->items[i].size; /* wraps; the running sum does not */
    }
    for (uint32_t t = 0; t < p->n_sections; t++) {
        live += change[t];
        max = rp_max_u64(max, live);
    }
    free(change);
    return max;
}

static void use_largest_unit(struct rp_pack_component *p) {
    uint64_t unit = 0;
    for (uint32_t i = 0; i < p->n && unit != 1; i++)
        unit = rp_gcd_u64(unit, p->items[i].size);
    for (uint32_t i = 0; i < p->n; i++)
        p->items[i].size /= unit;
    p->unit = unit;
}

static void add_component(struct split *s, struct range r) {
    struct rp_pack_component p = {
        .n = r.end - r.begin, .base = r.base, .height = UINT64_MAX};
    p.items = rp_calloc(p.n, sizeof *p.items);
    p.best = rp_calloc(p.n, sizeof *p.best);
    for (uint32_t i = 0; i < p.n; i++) {
        p.items[i].buffer = s->order[r.begin + i];
        p.items[i].size = rounded_size(s, p.items[i].buffer);
    }
    use_largest_unit(&p);
    number_sections(s, &p);
    p.bound = max_section_sum(&p);
    rp_push(s->components, p);
}

/* Places those buffers of a connected range that are live together with all of it. The rest
 * waits to be split further, or becomes a component if there were none. */
static void place_spanning(struct split *s, struct range r) {
    uint64_t last_start = s->b[s->order[r.end - 1]].lower, first_end = UINT64_MAX;
    uint32_t kept = r.begin;
    for (uint32_t i = r.begin; i < r.end; i++)
        first_end = rp_min_u64(first_end, s->b[s->order[i]].upper);
    for (uint32_t i = r.begin; i < r.end; i++) {
        struct rp_buffer *x = &s->b[s->order[i]];
        if (x->lower < first_end && x->upper > last_start) {
            x->offset = r.base;
            r.base += rounded_size(s, s->order[i]);
        } else {
            s->order[kept++] = s->order[i];
        }
    }
    s->height = rp_max_u64(s->height, r.base);
    if (kept == r.end) {
        add_component(s, r);
    } else if (kept > r.begin) {
        r.end = kept;
        rp_push(&s->waiting, r);
    }
}

/* Cuts a range where nothing is live. */
static void split_range(struct split *s, struct range r) {
    struct range piece = {r.begin, r.begin, r.base};
    uint64_t live_until = 0;
    s->work += r.end - r.begin;
    for (; piece.end < r.end; piece.end++) {
        const struct rp_buffer *x = &s->b[s->order[piece.end]];
        if (piece.end > piece.begin && x->lower >= live_until) {
            place_spanning(s, piece);
            piece.begin = piece.end;
        }
        live_until = rp_max_u64(live_until, x->upper);
    }
    place_spanning(s, piece);
}

uint64_t rp_pack_split(struct rp_buffer *b, size_t n, uint64_t alignment,
                       struct rp_pack_components *components) {
    struct split s = {.b = b, .alignment = alignment, .components = components};
    struct range all = {0, 0, 0};
    s.order = rp_calloc(n, sizeof *s.order);
    for (size_t i = 0; i < n; i++) {
        b[i].offset = 0;
        if (b[i].size > 0)
            s.order[all.end++] = (uint32_t)i;
    }
    qsort_r(s.order, all.end, sizeof *s.order, by_lower, b);
    if (all.end > 0)
        rp_push(&s.waiting, all);
    while (s.waiting.n > 0) {
        struct range r = s.waiting.at[--s.waiting.n];
        if (s.work < SPLIT_WORK)
            split_range(&s, r);
        else
            add_component(&s, r);
    }
    free(s.waiting.at);
    free(s.order);
    return s.height;
}

void rp_pack_record_placement(struct rp_pack_component *p, const uint64_t *offset) {
    p->height = 0;
    for (uint32_t i = 0; i < p->n; i++)
        p->height =
            rp_max_u64(p->height, offset[i] + p->items[i].size + rp_pack_above(p, i));
    memcpy(p->best, offset, p->n * sizeof *offset);
}
