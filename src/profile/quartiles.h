/* spread: median and quartiles of measured values. */
#ifndef RP_PROFILE_QUARTILES_H
#define RP_PROFILE_QUARTILES_H

#include <stddef.h>
#include <stdint.h>

struct rp_quartiles {
    uint64_t min, q1, median, q3, max;
};

/* Of n >= 1 values, which it sorts. The median of an even number is the mean of the middle
 * two, rounded down; a quartile is the value at rank round((n - 1) / 4), counted from its
 * end. */
struct rp_quartiles rp_quartiles_of(uint64_t *values, size_t n);

#endif
