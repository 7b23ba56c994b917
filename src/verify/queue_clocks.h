/* queue_clocks: when each step of a plan starts and ends on its three queues, as the
 * format defines it (docs/formats.md, "The time line"). Nanoseconds throughout.
 *
 * The planner has its own time line (model/timeline.h), which the checker must not share.
 * Not thread-safe: one object, one thread. */
#ifndef RP_VERIFY_QUEUE_CLOCKS_H
#define RP_VERIFY_QUEUE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct rp_queue_clocks {
    uint64_t compute_ns, d2h_ns, h2d_ns; /* when each queue is free */
    uint64_t stall_ns;                   /* sum of the compute queue's waits */
    uint64_t d2h_busy_ns, h2d_busy_ns;   /* sums of the copies' times */
};

/* Functions that return a bool return false if a time would pass 2^63-1. Stalls and busy
 * times cannot pass it: they are at most the clock of their queue. */

/* How long a copy takes: latency + ceil(bytes * 10^9 / bytes_per_s). */
bool rp_queue_clocks_copy_ns(uint64_t latency_ns, uint64_t bytes, uint64_t bytes_per_s,
                             uint64_t *ns);

/* The compute queue waits until `until_ns`, unless that is past. The wait is a stall. */
void rp_queue_clocks_wait(struct rp_queue_clocks *t, uint64_t until_ns);

/* An op starts now on the compute queue. */
bool rp_queue_clocks_run(struct rp_queue_clocks *t, uint64_t op_ns);

/* A copy starts at the latest of three times: the compute clock, `ready_ns`, and when its
 * queue is free. *end_ns is when the copy ends. */
bool rp_queue_clocks_copy_out(struct rp_queue_clocks *t, uint64_t ready_ns,
                              uint64_t copy_ns, uint64_t *end_ns);
bool rp_queue_clocks_copy_in(struct rp_queue_clocks *t, uint64_t ready_ns, uint64_t copy_ns,
                             uint64_t *end_ns);

/* When all three queues are free. */
uint64_t rp_queue_clocks_end(const struct rp_queue_clocks *t);

#endif
