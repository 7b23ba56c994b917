/* random: pseudo-random numbers from a state of 64 bits that the caller owns. The same
 * state gives the same numbers on every machine. Not for cryptography.
 *
 * Thread safety: one state, one thread. There is no shared state.
 */
#ifndef RP_BASE_RANDOM_H
#define RP_BASE_RANDOM_H

#include <stdint.h>

/* 2^64 divided by the golden ratio: the step of splitmix64, and the multiplier of Fibonacci
 * hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4). */
#define RP_GOLDEN_RATIO_64 UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer of splitmix64: one to one, and every bit of x changes about half of the
 * result. */
static inline uint64_t rp_mix64(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * 2014). Any state is a good one, 0 included. */
static inline uint64_t rp_splitmix64(uint64_t *state) {
    return rp_mix64(*state += RP_GOLDEN_RATIO_64);
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled", 2016). The state must not be 0. */
static inline uint64_t rp_xorshift64(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* 0 .. n-1, by rp_xorshift64. The bias is below n / 2^32. */
static inline uint32_t rp_random_below(uint64_t *state, uint32_t n) {
    return (uint32_t)((rp_xorshift64(state) >> 32) * n >> 32);
}

/* 0 <= x < 1, by rp_xorshift64. */
static inline double rp_random_unit(uint64_t *state) {
    return (double)(rp_xorshift64(state) >> 11) * 0x1p-53;
}

#endif
