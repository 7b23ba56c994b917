#include "profile/join/quartiles.h"

#include <assert.h>
#include <stdlib.h>

#include "base/numbers.h"

struct rp_quartiles rp_quartiles_of(uint64_t *values, size_t n) {
    assert(n > 0);
    qsort(values, n, sizeof *values, rp_compare_u64);
    uint64_t low = values[(n - 1) / 2], high = values[n / 2];
    size_t quarter = (n + 1) / 4;
    return (struct rp_quartiles){
        .min = values[0],
        .q1 = values[quarter],
        .median = low + (high - low) / 2,
        .q3 = values[n - 1 - quarter],
        .max = values[n - 1],
    };
}
