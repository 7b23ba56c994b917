/* The knapsack against all choices of a few items. */
#include "base/random.h"
#include "gen.h"
#include "policy/knapsack.h"
#include "run.h"

enum { MAX_ITEMS = 10 };

struct items {
    uint32_t n, size[MAX_ITEMS], capacity;
    uint64_t value[MAX_ITEMS];
};

/* The value of a set of items; -1 if it does not fit. */
static int64_t value_of(const struct items *k, uint32_t set) {
    uint32_t size = 0;
    int64_t value = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (set >> i & 1) {
            size += k->size[i];
            value += (int64_t)k->value[i];
        }
    return size <= k->capacity ? value : -1;
}

static void no_other_choice_is_worth_more(void) {
    uint32_t n = 1000;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        uint64_t random = seed;
        struct items k = {.n = (uint32_t)rp_random_below(&random, MAX_ITEMS + 1),
                          .capacity = (uint32_t)rp_random_below(&random, 40)};
        bool chosen[MAX_ITEMS];
        uint32_t set = 0;
        int64_t best = 0;
        for (uint32_t i = 0; i < k.n; i++) {
            k.size[i] = (uint32_t)rp_random_below(&random, 30);
            k.value[i] = rp_random_below(&random, 9);
        }
        rp_knapsack(k.n, k.size, k.value, k.capacity, chosen);
        for (uint32_t i = 0; i < k.n; i++)
            set |= (uint32_t)chosen[i] << i;
        for (uint32_t other = 0; other < (uint32_t)1 << k.n; other++)
            best = value_of(&k, other) > best ? value_of(&k, other) : best;
        CU_ASSERT_EQUAL(value_of(&k, set), best);
    }
}

static void of_equal_choices_the_earlier_items_stay(void) {
    const uint32_t size[] = {5, 5, 0};
    const uint64_t value[] = {7, 7, 0};
    bool chosen[3];
    rp_knapsack(3, size, value, 9, chosen);
    CU_ASSERT(chosen[0] && !chosen[1] && !chosen[2]);
}

void suite_knapsack(void) {
    RP_SUITE("knapsack");
    RP_TEST(no_other_choice_is_worth_more);
    RP_TEST(of_equal_choices_the_earlier_items_stay);
}
