/* Splitting buffers into independent parts, and numbering their sections. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/pack_internal.h"

/* Splitting can take as many rounds as there are buffers; past this many steps a part stays
 * as it is. */
#define SPLIT_WORK UINT64_C(200000000)

struct range { /* of split.order */
    uint32_t begin, end;
    uint64_t base;
};

struct split {
    struct rp_buffer *b;
    uint64_t alignment;
    uint32_t *order; /* buffers; every range is sorted by lower */
    struct pack_components *parts;
    struct {
        struct range *at;
        size_t n, cap;
    } waiting;
    uint64_t height, work;
};

static uint64_t rounded(const struct split *s, uint32_t buffer) {
    return rp_rounding_up(s->b[buffer].size, s->alignment);
}

static int by_lower(const void *x, const void *y, void *context) {
    const struct rp_buffer *b = context;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    if (b[i].lower != b[j].lower)
        return b[i].lower < b[j].lower ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int by_value(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* One past the last section that begins before time `upper`; items so far have only lo. */
static uint32_t section_end(const struct split *s, const struct pack_component *p,
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
static void number_sections(const struct split *s, struct pack_component *p) {
    uint64_t *ends = rp_calloc(p->n, sizeof *ends);
    uint32_t section = 0;
    for (uint32_t i = 0; i < p->n; i++)
        ends[i] = s->b[p->items[i].buffer].upper;
    qsort(ends, p->n, sizeof *ends, by_value);
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

static uint64_t largest_sum(const struct pack_component *p) {
    uint64_t *change = rp_calloc(p->n_sections + 1, sizeof *change), live = 0, most = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        change[p->items[i].lo] += p->items[i].size;
        change[p->items[i].hi] -= p->items[i].size; /* wraps; the running sum does not */
    }
    for (uint32_t t = 0; t < p->n_sections; t++) {
        live += change[t];
        if (live > most)
            most = live;
    }
    free(change);
    return most;
}

static void use_largest_unit(struct pack_component *p) {
    uint64_t unit = 0;
    for (uint32_t i = 0; i < p->n && unit != 1; i++)
        for (uint64_t x = p->items[i].size; x > 0;) {
            uint64_t rest = unit % x;
            unit = x;
            x = rest;
        }
    for (uint32_t i = 0; i < p->n; i++)
        p->items[i].size /= unit;
    p->unit = unit;
}

static void make_part(struct split *s, struct range r) {
    struct pack_component p = {.n = r.end - r.begin, .base = r.base, .height = UINT64_MAX};
    p.items = rp_calloc(p.n, sizeof *p.items);
    p.best = rp_calloc(p.n, sizeof *p.best);
    for (uint32_t i = 0; i < p.n; i++) {
        p.items[i].buffer = s->order[r.begin + i];
        p.items[i].size = rounded(s, p.items[i].buffer);
    }
    use_largest_unit(&p);
    number_sections(s, &p);
    p.bound = largest_sum(&p);
    rp_push(s->parts, p);
}

/* Places the buffers of a connected range that are live together with all of it; the rest
 * waits, or becomes a part if there were none. */
static void peel(struct split *s, struct range r) {
    uint64_t last_start = s->b[s->order[r.end - 1]].lower, first_end = UINT64_MAX;
    uint32_t kept = r.begin;
    for (uint32_t i = r.begin; i < r.end; i++)
        if (s->b[s->order[i]].upper < first_end)
            first_end = s->b[s->order[i]].upper;
    for (uint32_t i = r.begin; i < r.end; i++) {
        struct rp_buffer *x = &s->b[s->order[i]];
        if (x->lower < first_end && x->upper > last_start) {
            x->offset = r.base;
            r.base += rounded(s, s->order[i]);
        } else {
            s->order[kept++] = s->order[i];
        }
    }
    if (r.base > s->height)
        s->height = r.base;
    if (kept == r.end) {
        make_part(s, r);
    } else if (kept > r.begin) {
        r.end = kept;
        rp_push(&s->waiting, r);
    }
}

/* Cuts a range where nothing is live, and peels each piece. */
static void split_range(struct split *s, struct range r) {
    struct range piece = {r.begin, r.begin, r.base};
    uint64_t live_until = 0;
    s->work += r.end - r.begin;
    for (; piece.end < r.end; piece.end++) {
        const struct rp_buffer *x = &s->b[s->order[piece.end]];
        if (piece.end > piece.begin && x->lower >= live_until) {
            peel(s, piece);
            piece.begin = piece.end;
        }
        if (x->upper > live_until)
            live_until = x->upper;
    }
    peel(s, piece);
}

uint64_t rp_pack_split(struct rp_buffer *b, size_t n, uint64_t alignment,
                       struct pack_components *parts) {
    struct split s = {.b = b, .alignment = alignment, .parts = parts};
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
            make_part(&s, r);
    }
    free(s.waiting.at);
    free(s.order);
    return s.height;
}

void rp_pack_record_placement(struct pack_component *p, const uint64_t *offset) {
    p->height = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (offset[i] + p->items[i].size > p->height)
            p->height = offset[i] + p->items[i].size;
    memcpy(p->best, offset, p->n * sizeof *offset);
}

void rp_pack_components_fini(struct pack_components *parts) {
    for (size_t i = 0; i < parts->n; i++) {
        rp_pack_box_free(parts->at[i].box);
        rp_pack_branch_bound_free(parts->at[i].search);
        free(parts->at[i].items);
        free(parts->at[i].best);
    }
    free(parts->at);
    *parts = (struct pack_components){0};
}
