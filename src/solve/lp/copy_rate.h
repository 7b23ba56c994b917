/* copy_rate: how many bytes a queue can copy in a given time, for bounds with swaps.
 *
 * Thread-safe: only the arguments are read.
 */
#ifndef RP_SOLVE_LP_COPY_RATE_H
#define RP_SOLVE_LP_COPY_RATE_H

#include <stdbool.h>

#include "solve/core/instance.h"

/* Bandwidth as a fraction of integers. */
struct rp_copy_rate {
    uint64_t bytes, ns;
};

/* The rate of the tensor with the most bytes per ns. copy_ns: p->out_ns or p->in_ns. */
struct rp_copy_rate rp_copy_rate_best(const struct rp_instance *p, const uint64_t *copy_ns);

/* How many bytes can be copied in horizon_ns - used_ns, at most `cap`; none if that is
 * negative. */
uint64_t rp_copy_rate_bytes(struct rp_copy_rate rate, uint64_t horizon_ns, uint64_t used_ns,
                            uint64_t cap);

/* How long a copy of this many bytes takes at that rate, which copies some. The result fits
 * in 64 bits. */
uint64_t rp_copy_rate_ns(struct rp_copy_rate rate, uint64_t bytes, bool round_up);

#endif
