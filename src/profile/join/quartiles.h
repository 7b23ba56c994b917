/* quartiles: median and quartiles of measured values.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_PROFILE_JOIN_QUARTILES_H
#define RP_PROFILE_JOIN_QUARTILES_H

#include <stddef.h>
#include <stdint.h>

struct rp_quartiles {
    uint64_t min, q1, median, q3, max;
};

/* Of n >= 1 values, which are sorted in place. The median of an even number of values is
 * the mean of the middle two, rounded down. q1 is the value at rank round((n - 1) / 4) from
 * the smallest, q3 the one at that rank from the largest. */
struct rp_quartiles rp_quartiles_of(uint64_t *values, size_t n);

#endif
