/* numbers: the larger and the smaller of two numbers, their order, and their
 * greatest common divisor.
 * Thread-safe: there is no state. */
#ifndef RP_BASE_NUMBERS_H
#define RP_BASE_NUMBERS_H

#include <stdint.h>

static inline uint64_t rp_max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint64_t rp_min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint32_t rp_max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static inline uint32_t rp_min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Neither may be NaN. */
static inline double rp_max_double(double a, double b) {
    return a > b ? a : b;
}
static inline double rp_min_double(double a, double b) {
    return a < b ? a : b;
}

/* For qsort of uint64_t, ascending. */
static inline int rp_compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The greatest common divisor; x for 0 and x. */
static inline uint64_t rp_gcd_u64(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
