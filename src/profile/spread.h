/* spread: median and quartiles of measured values. */
#ifndef RP_PROFILE_SPREAD_H
#define RP_PROFILE_SPREAD_H

#include <stddef.h>
#include <stdint.h>

struct rp_spread {
    uint64_t min, q1, median, q3, max;
};

/* Of n >= 1 values, which it sorts. The median of an even number is the mean of the middle
 * two, rounded down; a quartile is the value at rank round((n - 1) / 4), counted from its
 * end. */
struct rp_spread rp_spread_of(uint64_t *values, size_t n);

#endif
