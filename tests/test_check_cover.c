/* The dynamic program behind a cover against all choices of variables. */
#include "verify/certificate/check_cover.h"

#include <stdlib.h>

#include "gen.h"
#include "run.h"

enum { MAX_ITEMS = 9, N_KEYS = 6 };

/* Does every choice of keys that fits count at most max_count? */
static bool naive_holds(const struct rp_cover_item *items, uint32_t n, int64_t capacity,
                        uint64_t max_count) {
    for (uint32_t set = 0; set < 1u << N_KEYS; set++) {
        __int128 weight = 0;
        uint64_t count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (set >> items[i].key & 1) {
                weight += items[i].weight;
                count += items[i].count;
            }
        if (weight <= capacity && count > max_count)
            return false;
    }
    return true;
}

static void covers_hold_as_for_all_choices(void) {
    uint32_t n = 2000, n_good = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_rng r = {seed};
        struct rp_cover_item items[MAX_ITEMS];
        int64_t capacity = (int64_t)rp_rng_below(&r, 14) - 2;
        uint64_t max_count = rp_rng_below(&r, 5);
        uint32_t n_items = (uint32_t)rp_rng_below(&r, MAX_ITEMS + 1);
        struct rp_cover_check k = {.capacity = capacity};
        for (uint32_t i = 0; i < n_items; i++) {
            items[i] =
                (struct rp_cover_item){rp_rng_below(&r, N_KEYS),
                                       (__int128)rp_rng_below(&r, 7), rp_rng_below(&r, 3)};
            rp_cover_check_add(&k, items[i].key, items[i].weight, items[i].count);
        }
        bool good = naive_holds(items, n_items, capacity, max_count);
        if (rp_cover_check_holds(&k, max_count) != good) {
            rp_gen_failed(seed);
            CU_FAIL("another answer");
        }
        n_good += good;
        free(k.at);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_good > 400 && n_good < 1600));
}

void suite_check_cover(void) {
    RP_SUITE("check_cover");
    RP_TEST(covers_hold_as_for_all_choices);
}
