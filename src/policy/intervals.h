/* intervals: the intervals between uses of a tensor, in the order of first runs.
 *
 * An interval lies between a use of a tensor (or the run that makes it) and its next
 * reader. Intervals are numbered as the instance's `readers`: interval e of tensor x, with
 * reader_start[x] <= e < reader_start[x + 1], ends with the first run of op readers[e]. A
 * stage is as in solve/core/instance.h.
 *
 * Thread-safe: functions write only what they are given.
 */
#ifndef RP_POLICY_INTERVALS_H
#define RP_POLICY_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "solve/core/instance.h"

/* How many intervals there are in all. */
uint32_t rp_n_intervals(const struct rp_instance *p);

/* The op whose use begins interval e of tensor x: the reader before, or the producer. */
uint32_t rp_interval_begin(const struct rp_instance *p, uint32_t x, uint32_t e);

/* The first interval of x that ends in stage t or later; reader_start[x + 1] if there is
 * none.
 */
uint32_t rp_interval_ending_from(const struct rp_instance *p, uint32_t x, uint32_t t);

/* True if stage t lies inside interval e of x: x is not used there but would be held over
 * it. */
bool rp_interval_covers(const struct rp_instance *p, uint32_t x, uint32_t e, uint32_t t);

/* An interval in a list that a policy chooses from. */
struct rp_interval {
    uint32_t x, e;
    uint32_t begin, use; /* the stages at its two ends */
    double key;          /* what the list is sorted by */
};
struct rp_intervals { /* the owner frees `at` */
    RP_VEC(struct rp_interval);
};

/* The interval, with key 0. */
struct rp_interval rp_interval_of(const struct rp_instance *p, uint32_t x, uint32_t e);

/* Appends, by tensor, the intervals from the forward to the backward phase: at most one a
 * tensor. Tensors of 0 bytes and pinned ones are left out. */
void rp_intervals_across_phases(const struct rp_instance *p, uint32_t n_forward,
                                struct rp_intervals *intervals);

/* Ascending by key; ties by number. */
void rp_intervals_sort(struct rp_intervals *intervals);

#endif
