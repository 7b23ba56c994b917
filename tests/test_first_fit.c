/* First fit and best fit against an arena of cells: a unit of memory each, taken or not. */
#include "pack/component/first_fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "gen.h"
#include "run.h"

enum { MAX_ITEMS = 12, MAX_SECTIONS = 10, MAX_SIZE = 6, CELLS = 256, MANY = 20001 };

/* ---- naive placement in an order ---- */

static void take(bool *cells, uint64_t at, uint64_t size) {
    for (uint64_t c = at; c < at + size; c++)
        cells[c] = true;
}

/* How many cells are free from `at` on. */
static uint64_t free_run(const bool *cells, uint64_t at) {
    uint64_t n = 0;
    while (at + n < CELLS && !cells[at + n])
        n++;
    return n;
}

/* The lowest gap that is large enough, or the lowest of the tightest; what lies above all
 * that is taken counts as larger than any gap. */
static uint64_t lowest_gap(const bool *cells, uint64_t size, bool best_fit) {
    uint64_t best = RP_NONE, tightest = CELLS + 1;
    for (uint64_t at = 0, n; at < CELLS; at += n + 1) {
        n = free_run(cells, at);
        if (n >= size && n < tightest && (best_fit || best == RP_NONE)) {
            best = at;
            tightest = n;
        }
    }
    return best;
}

static uint64_t place(const struct rp_pack_component *p, const uint32_t *order,
                      bool best_fit, uint64_t *offset) {
    uint64_t height = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rp_pack_item *x = &p->items[order[i]];
        bool cells[CELLS] = {false};
        for (uint32_t k = 0; k < i; k++) {
            const struct rp_pack_item *y = &p->items[order[k]];
            if (y->lo < x->hi && x->lo < y->hi)
                take(cells, offset[order[k]], y->size);
        }
        offset[order[i]] = lowest_gap(cells, x->size, best_fit);
        height = rp_max_u64(height, offset[order[i]] + x->size);
    }
    return height;
}

/* ---- the orders ---- */

/* The largest sum of sizes in a section of the item. */
static uint64_t pressure(const struct rp_pack_component *p, uint32_t i) {
    uint64_t largest = 0;
    for (uint32_t t = p->items[i].lo; t < p->items[i].hi; t++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < p->n; k++)
            sum += p->items[k].lo <= t && t < p->items[k].hi ? p->items[k].size : 0;
        largest = rp_max_u64(largest, sum);
    }
    return largest;
}

/* What comes first: size, lifetime, area, start, end or pressure, then what breaks ties. */
static uint64_t key_of(const struct rp_pack_component *p, uint32_t i, char rule) {
    const struct rp_pack_item *x = &p->items[i];
    uint64_t life = x->hi - x->lo;
    switch (rule) {
    case 's':
        return x->size * 1000 + life;
    case 'l':
        return life * 1000 + x->size;
    case 'a':
        return x->size * life * 1000 + x->size;
    case 'b':
        return (p->n_sections - x->lo) * 1000 + life;
    case 'e':
        return x->hi * 1000 + life;
    default:
        return pressure(p, i) * 1000 + x->size;
    }
}

static void sort(const struct rp_pack_component *p, char rule, uint32_t *order) {
    bool used[MAX_ITEMS] = {false};
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t best = RP_NONE;
        for (uint32_t i = 0; i < p->n; i++)
            if (!used[i] && (best == RP_NONE || key_of(p, i, rule) > key_of(p, best, rule)))
                best = i;
        used[best] = true;
        order[k] = best;
    }
}

/* The first of the lowest of all passes. */
static uint64_t lowest_placement(const struct rp_pack_component *p, uint64_t *best) {
    static const char rules[] = "spslalbeabep";
    static const bool best_fit[] = {0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0};
    uint64_t lowest = UINT64_MAX, offset[MAX_ITEMS];
    for (int k = 0; k < 12; k++) {
        uint32_t order[MAX_ITEMS];
        sort(p, rules[k], order);
        uint64_t height = place(p, order, best_fit[k], offset);
        if (height < lowest) {
            lowest = height;
            memcpy(best, offset, sizeof offset);
        }
    }
    return lowest;
}

/* ---- components ---- */

static int by_lo(const void *a, const void *b) {
    const struct rp_pack_item *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* `items` and `best` have room for n. */
static struct rp_pack_component draw(uint64_t *random, uint32_t n, uint32_t n_sections,
                                     uint32_t max_life, struct rp_pack_item *items,
                                     uint64_t *best) {
    for (uint32_t i = 0; i < n; i++) {
        items[i].lo = (uint32_t)rp_random_below(random, n_sections);
        items[i].hi = rp_min_u32(
            n_sections, items[i].lo + 1 + (uint32_t)rp_random_below(random, max_life));
        items[i].size = 1 + rp_random_below(random, MAX_SIZE);
        items[i].buffer = i;
    }
    qsort(items, n, sizeof *items, by_lo);
    return (struct rp_pack_component){.items = items,
                                      .n = n,
                                      .n_sections = n_sections,
                                      .unit = 1,
                                      .best = best,
                                      .height = UINT64_MAX};
}

static void every_pass_places_by_its_rule(void) {
    uint32_t n = 500;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        uint64_t random = seed, best[MAX_ITEMS] = {0}, expected[MAX_ITEMS] = {0};
        struct rp_pack_item items[MAX_ITEMS];
        struct rp_pack_work work = {.limit = UINT64_MAX};
        struct rp_pack_component p =
            draw(&random, 1 + (uint32_t)seed % MAX_ITEMS, MAX_SECTIONS, 5, items, best);
        rp_pack_first_fit(&p, 0, &work);
        if (p.height != lowest_placement(&p, expected) ||
            memcmp(best, expected, p.n * sizeof *best) != 0) {
            rp_gen_failed(seed);
            CU_FAIL("another placement");
        }
    }
}

/* Runs of free cells below the last one that is taken. */
static uint64_t gaps_of(const bool *cells) {
    uint64_t n = 0, last = 0;
    for (uint64_t c = 0; c < CELLS; c++)
        last = cells[c] ? c : last;
    for (uint64_t c = 0; c < last; c++)
        n += !cells[c] && cells[c + 1];
    return n;
}

/* Of very many items each is placed at the lowest free cells as it begins. The work is a
 * step for each item and for each gap. */
static void many_items_are_placed_as_they_begin(void) {
    struct rp_pack_item *items = rp_calloc(MANY, sizeof *items);
    uint64_t *best = rp_calloc(MANY, sizeof *best), random = 1, height = 0;
    uint64_t n_steps = 0;
    struct rp_pack_work work = {0};
    struct rp_pack_component p = draw(&random, MANY, MANY / 2, 8, items, best);
    bool cells[CELLS] = {false}, same = true;
    rp_pack_first_fit(&p, 0, &work);
    for (uint32_t i = 0, ended = 0; i < MANY && same; i++) {
        while (items[ended].hi <= items[i].lo)
            ended++;
        memset(cells, 0, sizeof cells);
        for (uint32_t k = ended; k < i; k++)
            if (items[k].hi > items[i].lo)
                take(cells, best[k], items[k].size);
        uint64_t at = 0;
        while (free_run(cells, at) < items[i].size)
            at++;
        same = best[i] == at;
        take(cells, at, items[i].size);
        n_steps += 1 + gaps_of(cells);
        height = rp_max_u64(height, at + items[i].size);
    }
    CU_ASSERT(same && p.height == height);
    CU_ASSERT_EQUAL(work.done, n_steps);
    CU_ASSERT_EQUAL(work.statistics.first_fit_passes, 1);
    free(items);
    free(best);
}

void suite_first_fit(void) {
    RP_SUITE("first_fit");
    RP_TEST(every_pass_places_by_its_rule);
    RP_TEST(many_items_are_placed_as_they_begin);
}
