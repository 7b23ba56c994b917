/* The boxed form of a component against a naive one: units are tried on all pairs of items,
 * small items in every place, and boxes are joined until none overlap. */
#include "pack/component/boxing.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "gen.h"
#include "run.h"

enum { MAX_ITEMS = 80, MAX_UNITS = MAX_ITEMS + 24 * 24, MAX_SECTIONS = 12 };

struct box {
    uint64_t lower, upper, size;
};

/* What is expected. */
struct form {
    uint64_t unit, work, peak;
    uint32_t n_refused;         /* forms that wasted too much */
    uint32_t n_boxings;         /* tries so far */
    uint64_t offset[MAX_ITEMS]; /* of small items: from the bottom of the lowest layer */
    struct box box_of[MAX_ITEMS];
    uint32_t n_buffers, n_small, small[MAX_ITEMS]; /* as they are placed */
};

static bool live_together(const struct rp_pack_item *x, const struct rp_pack_item *y) {
    return x->lo < y->hi && y->lo < x->hi;
}

/* ---- the unit ---- */

/* The sum over the items of this size. */
static uint64_t area_of(const struct rp_pack_component *p, uint64_t size) {
    uint64_t area = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->items[i].size == size)
            area += size * (p->items[i].hi - p->items[i].lo);
    return area;
}

/* Distinct sizes, largest area first, and of equal areas the larger size. */
static uint32_t sizes_by_area(const struct rp_pack_component *p, uint64_t *sizes) {
    uint32_t n = 0;
    uint64_t last_area = UINT64_MAX, last_size = 0;
    for (;;) {
        uint64_t best_area = 0, best = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            uint64_t size = p->items[i].size, area = area_of(p, size);
            bool waits = area < last_area || (area == last_area && size < last_size);
            if (waits && (area > best_area || (area == best_area && size > best))) {
                best_area = area;
                best = size;
            }
        }
        if (best == 0)
            return n;
        sizes[n++] = last_size = best;
        last_area = best_area;
    }
}

/* The largest candidate below `below`; 0: there is none. */
static uint64_t next_unit(const struct rp_pack_component *p, const uint64_t *candidates,
                          uint32_t n, uint64_t below) {
    uint64_t best = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t u = candidates[i];
        if (u > 1 && u < below && u > best && u <= p->bound / 64 &&
            u >= p->bound / (1 << 18))
            best = u;
    }
    return best;
}

/* The most that any section holds, if the boxes had no gaps. */
static uint64_t least_peak(const struct rp_pack_component *p, uint64_t unit) {
    uint64_t peak = 0;
    for (uint32_t t = 0; t < p->n_sections; t++) {
        uint64_t large = 0, small = 0;
        for (uint32_t i = 0; i < p->n; i++)
            if (p->items[i].lo <= t && t < p->items[i].hi) {
                if (p->items[i].size < unit)
                    small += p->items[i].size;
                else
                    large += rp_round_up(p->items[i].size, unit);
            }
        peak = rp_max_u64(peak, large + rp_round_up(small, unit));
    }
    return peak;
}

static void make_form(const struct rp_pack_component *p, struct form *f);

/* Tries each share of waste in turn, and for each the units from the largest on. */
static void expect(const struct rp_pack_component *p, uint64_t limit, struct form *f) {
    static const uint64_t share[] = {8192, 1024, 128, 32};
    *f = (struct form){0};
    uint64_t candidates[MAX_UNITS];
    uint32_t n = sizes_by_area(p, candidates), n_sizes = n;
    for (uint32_t i = 0; i < n_sizes && i < 24; i++)
        for (uint32_t j = 0; j < i; j++)
            candidates[n++] = rp_gcd_u64(candidates[i], candidates[j]);
    for (uint32_t k = p->n_boxings; k < RP_PACK_MAX_BOXINGS; k++) {
        f->n_boxings = k + 1;
        uint32_t n_refused = 0;
        for (uint64_t u = UINT64_MAX; (u = next_unit(p, candidates, n, u)) > 0;) {
            if (f->work >= limit)
                break;
            f->work += p->n + p->n_sections;
            if (least_peak(p, u) > p->bound + p->bound / share[k])
                continue;
            f->unit = u;
            make_form(p, f);
            if (f->peak <= p->bound + p->bound / 32)
                return;
            f->n_refused++;
            if (++n_refused == 4)
                break;
        }
    }
    f->unit = 0;
}

/* ---- boxes ---- */

/* The longest-lived first, then the largest. */
static void order_small(const struct rp_pack_component *p, struct form *f) {
    bool used[MAX_ITEMS] = {false};
    for (;;) {
        uint32_t best = RP_NONE;
        uint64_t best_key = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            uint64_t key = (p->items[i].hi - p->items[i].lo) * f->unit + p->items[i].size;
            if (!used[i] && p->items[i].size < f->unit && key > best_key) {
                best = i;
                best_key = key;
            }
        }
        if (best == RP_NONE)
            return;
        used[best] = true;
        f->small[f->n_small++] = best;
    }
}

/* Whether item f->small[k] fits at `at`: within one layer, and clear of those before it. */
static bool fits(const struct rp_pack_component *p, const struct form *f, uint32_t k,
                 uint64_t at) {
    const struct rp_pack_item *x = &p->items[f->small[k]];
    if (at / f->unit != (at + x->size - 1) / f->unit)
        return false;
    for (uint32_t j = 0; j < k; j++) {
        const struct rp_pack_item *y = &p->items[f->small[j]];
        uint64_t y_at = f->offset[f->small[j]];
        if (live_together(x, y) && at < y_at + y->size && y_at < at + x->size)
            return false;
    }
    return true;
}

/* Nothing lies lower than at the bottom, on top of another item or in the layer above it.
 */
static uint64_t lowest_place(const struct rp_pack_component *p, const struct form *f,
                             uint32_t k) {
    uint64_t lowest = fits(p, f, k, 0) ? 0 : UINT64_MAX;
    for (uint32_t j = 0; j < k; j++) {
        uint64_t top = f->offset[f->small[j]] + p->items[f->small[j]].size;
        uint64_t layer = rp_round_up(top, f->unit);
        if (fits(p, f, k, top))
            lowest = rp_min_u64(lowest, top);
        if (fits(p, f, k, layer))
            lowest = rp_min_u64(lowest, layer);
    }
    return lowest;
}

static void place_small(const struct rp_pack_component *p, struct form *f) {
    for (uint32_t k = 0; k < f->n_small; k++) {
        const struct rp_pack_item *x = &p->items[f->small[k]];
        f->work += k;
        for (uint32_t j = 0; j < k; j++)
            f->work += live_together(x, &p->items[f->small[j]]);
        f->offset[f->small[k]] = lowest_place(p, f, k);
    }
}

/* A box for each small item, and then boxes of one layer that overlap become one. */
static void join_boxes(const struct rp_pack_component *p, struct form *f) {
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rp_pack_item *x = &p->items[i];
        f->box_of[i] = (struct box){x->lo, x->hi, rp_max_u64(x->size, f->unit)};
    }
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < f->n_small; i++)
            for (uint32_t j = 0; j < f->n_small; j++) {
                uint32_t x = f->small[i], y = f->small[j];
                struct box *a = &f->box_of[x], *b = &f->box_of[y];
                if (f->offset[x] / f->unit != f->offset[y] / f->unit ||
                    a->lower >= b->upper || b->lower >= a->upper ||
                    memcmp(a, b, sizeof *a) == 0)
                    continue;
                a->lower = b->lower = rp_min_u64(a->lower, b->lower);
                a->upper = b->upper = rp_max_u64(a->upper, b->upper);
                again = true;
            }
    }
}

/* Whether small items x and y are in the same box. */
static bool share_box(const struct form *f, uint32_t x, uint32_t y) {
    return f->offset[x] / f->unit == f->offset[y] / f->unit &&
           f->box_of[x].lower == f->box_of[y].lower;
}

static void count_buffers(const struct rp_pack_component *p, struct form *f) {
    bool counted[MAX_ITEMS] = {false};
    f->n_buffers = p->n - f->n_small;
    for (uint32_t i = 0; i < f->n_small; i++) {
        bool first = true;
        for (uint32_t j = 0; j < i; j++)
            first = first && !share_box(f, f->small[i], f->small[j]);
        counted[f->small[i]] = first;
        f->n_buffers += first;
    }
    for (uint32_t t = 0; t < p->n_sections; t++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < p->n; i++)
            if ((p->items[i].size >= f->unit || counted[i]) && f->box_of[i].lower <= t &&
                t < f->box_of[i].upper)
                sum += rp_round_up(f->box_of[i].size, f->unit);
        f->peak = rp_max_u64(f->peak, sum);
    }
}

static void make_form(const struct rp_pack_component *p, struct form *f) {
    f->n_small = 0;
    f->peak = 0;
    memset(f->offset, 0, sizeof f->offset);
    order_small(p, f);
    place_small(p, f);
    join_boxes(p, f);
    count_buffers(p, f);
}

/* ---- comparison ---- */

static bool same_form(const struct rp_pack_component *p, const struct form *f) {
    const struct rp_pack_boxed *boxed = p->boxed;
    bool same = boxed->unit == f->unit && boxed->buffers.n == f->n_buffers &&
                boxed->peak == f->peak;
    for (uint32_t i = 0; same && i < p->n; i++) {
        const struct rp_buffer *b = &boxed->buffers.at[boxed->buffer_of[i]];
        const struct box *a = &f->box_of[i];
        same = b->lower == a->lower && b->upper == a->upper && b->size == a->size &&
               boxed->inside[i] == f->offset[i] % f->unit;
    }
    for (uint32_t i = 0; i < f->n_small; i++)
        for (uint32_t j = 0; j < i; j++) {
            uint32_t x = f->small[i], y = f->small[j];
            same =
                same && share_box(f, x, y) == (boxed->buffer_of[x] == boxed->buffer_of[y]);
        }
    for (size_t i = 0; i < boxed->components.n; i++)
        same = same && boxed->components.at[i].n_boxings == f->n_boxings;
    return same;
}

/* ---- components ---- */

/* Large items of a few sizes and small ones between them, items of any size, large items
 * and tiny ones, or items of few areas. The bound is their peak or more, and at times just
 * where a unit is at a limit. */
static void draw(uint64_t *random, struct rp_pack_component *p) {
    uint32_t kind = rp_random_below(random, 4), unit = 8 + rp_random_below(random, 60);
    for (uint32_t i = 0; i < p->n; i++) {
        struct rp_pack_item *x = &p->items[i];
        bool large = rp_random_below(random, 2);
        x->lo = rp_random_below(random, p->n_sections);
        x->hi = rp_min_u32(p->n_sections, x->lo + 1 + rp_random_below(random, 6));
        if (kind == 0)
            x->size = large ? unit * (1 + rp_random_below(random, 12))
                            : 1 + rp_random_below(random, unit / 2);
        else if (kind == 1)
            x->size = unit / 4 * (1 + rp_random_below(random, 90));
        else if (kind == 2)
            x->size = 1 + rp_random_below(random, large ? 1 << 17 : 6);
        else
            x->size = 27720 * (1 + rp_random_below(random, 9)) / (x->hi - x->lo);
    }
    p->bound = least_peak(p, 1);
    switch (rp_random_below(random, 4)) {
    case 0:
        p->bound += rp_random_below(random, (uint32_t)p->bound);
        break;
    case 1:
        p->bound = rp_max_u64(p->bound, p->items[0].size * 64);
        break;
    case 2:
        p->bound = rp_max_u64(p->bound, (p->items[0].size % 8) << 18);
        break;
    default:
        break;
    }
}

/* The caller frees it. */
static struct rp_pack_component component(uint64_t seed, uint64_t *random) {
    struct rp_pack_component p = {.n = 1 + (uint32_t)seed % MAX_ITEMS,
                                  .n_sections = MAX_SECTIONS,
                                  .n_boxings = rp_random_below(random, 6) % 5,
                                  .unit = 1,
                                  .height = UINT64_MAX};
    p.items = rp_calloc(p.n, sizeof *p.items);
    p.best = rp_calloc(p.n, sizeof *p.best);
    draw(random, &p);
    return p;
}

static void free_component(struct rp_pack_component *p) {
    for (size_t i = 0; p->boxed != NULL && i < p->boxed->components.n; i++) {
        free(p->boxed->components.at[i].items);
        free(p->boxed->components.at[i].best);
    }
    if (p->boxed != NULL)
        free(p->boxed->components.at);
    rp_pack_boxed_free(p->boxed);
    free(p->items);
    free(p->best);
}

static void a_boxed_form_is_that_of_the_naive_rules(void) {
    uint32_t n = 1000, n_boxed = 0, n_refused = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        uint64_t random = seed;
        struct form f;
        struct rp_pack_component p = component(seed, &random);
        uint64_t limit = seed % 4 > 0 ? UINT64_MAX : rp_random_below(&random, 3000);
        struct rp_pack_work work = {.limit = limit};
        expect(&p, limit, &f);
        rp_pack_box(&p, &work);
        if ((p.boxed != NULL) != (f.unit > 0) || p.n_boxings != RP_PACK_MAX_BOXINGS ||
            work.done != f.work || work.statistics.boxing_work != f.work ||
            work.statistics.boxings != (f.unit > 0) || (f.unit > 0 && !same_form(&p, &f))) {
            rp_gen_failed(seed);
            CU_FAIL("another form");
        }
        n_boxed += f.unit > 0;
        n_refused += f.n_refused;
        free_component(&p);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_boxed >= 300 && n_boxed < 1000 && n_refused >= 5));
}

/* Boxes and large items one above the other. */
static uint64_t stack(struct rp_pack_boxed *boxed) {
    uint64_t top = 0;
    for (size_t i = 0; i < boxed->buffers.n; i++) {
        boxed->buffers.at[i].offset = top;
        top += rp_round_up(boxed->buffers.at[i].size, boxed->unit);
    }
    return top;
}

static void a_lower_placement_of_the_boxes_is_recorded(void) {
    uint64_t random = 1, height = 0, top, offset;
    struct rp_pack_component p = component(60, &random);
    struct rp_pack_work work = {.limit = UINT64_MAX};
    bool same = true;
    p.n_boxings = 0;
    rp_pack_box(&p, &work);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p.boxed);
    top = stack(p.boxed);
    p.n_failed_attempts = p.n_failed_ejections = 3;
    rp_pack_unbox(&p);
    for (uint32_t i = 0; i < p.n; i++) {
        offset = p.boxed->buffers.at[p.boxed->buffer_of[i]].offset + p.boxed->inside[i];
        same = same && p.best[i] == offset;
        height = rp_max_u64(height, offset + p.items[i].size);
    }
    CU_ASSERT(same && p.height == height && height <= top);
    CU_ASSERT(p.n_failed_attempts == 0 && p.n_failed_ejections == 0);
    /* The same height is not lower, and is not recorded. */
    p.n_failed_attempts = 3;
    memset(p.best, 0, p.n * sizeof *p.best);
    rp_pack_unbox(&p);
    CU_ASSERT(p.n_failed_attempts == 3 && p.best[p.n - 1] == 0);
    free_component(&p);
}

void suite_boxing(void) {
    RP_SUITE("boxing");
    RP_TEST(a_boxed_form_is_that_of_the_naive_rules);
    RP_TEST(a_lower_placement_of_the_boxes_is_recorded);
}
