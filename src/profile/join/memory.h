/* memory: what a program holds on the device and in pinned host memory, from CUPTI's
 * records of allocations. These are the driver's: an allocator that keeps freed memory for
 * later, such as PyTorch's, holds what it has taken from the driver.
 *
 * Memory without a record of its allocation, such as CUDA's own, is not counted. Managed
 * memory counts as the device's.
 *
 * Thread-safe for different results.
 */
#ifndef RP_PROFILE_JOIN_MEMORY_H
#define RP_PROFILE_JOIN_MEMORY_H

#include "profile/trace.h"

/* Bytes, the most over all steps that are looked at. */
struct rp_held_memory {
    bool known;           /* CUPTI recorded allocations */
    uint64_t begin_bytes; /* on the device when a step begins */
    uint64_t peak_bytes;  /* on the device at any time of a step */
    uint64_t pinned_bytes;
};

/* Raises *held to what the process held in those steps i for which used[i]; in its whole
 * life if it marked no steps. */
void rp_held_memory_add(const struct rp_trace *t, const bool *used,
                        struct rp_held_memory *held);

/* run[i] says which run the i-th range of the trace is a part of, SIZE_MAX for none; runs
 * have numbers below the number of ranges. bytes[r] becomes the most that run r held at
 * once of what it both allocated on the device and released. */
void rp_temporary_memory(const struct rp_trace *t, const size_t *run, uint64_t *bytes);

#endif
