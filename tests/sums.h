/* sums: checks functions that add one struct of counters to another. */
#ifndef RP_TESTS_SUMS_H
#define RP_TESTS_SUMS_H

#include <stdint.h>

/* Checks that TYPE_add(into, from) adds every member. All members are uint64_t. */
#define RP_ADDS_EVERY_MEMBER(type)                                                         \
    do {                                                                                   \
        struct type into, from;                                                            \
        uint64_t *to_at = (uint64_t *)(void *)&into, *from_at = (uint64_t *)(void *)&from; \
        _Static_assert(sizeof into % sizeof *to_at == 0, "counters are uint64_t");         \
        for (uint64_t k = 0; k < sizeof into / sizeof *to_at; k++) {                       \
            to_at[k] = 1000 * k;                                                           \
            from_at[k] = k + 1;                                                            \
        }                                                                                  \
        type##_add(&into, &from);                                                          \
        for (uint64_t k = 0; k < sizeof into / sizeof *to_at; k++) {                       \
            CU_ASSERT_EQUAL(to_at[k], 1001 * k + 1);                                       \
            CU_ASSERT_EQUAL(from_at[k], k + 1);                                            \
        }                                                                                  \
    } while (0)

#endif
