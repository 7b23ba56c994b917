/* timeline: when each step of a plan starts and ends on its three queues, as the format
 * defines it (docs/formats.md, "The time line"). Nanoseconds throughout. */
#ifndef RP_VERIFY_CHECK_TIMELINE_H
#define RP_VERIFY_CHECK_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct rp_check_timeline {
    uint64_t compute_ns, d2h_ns, h2d_ns; /* when each queue is free */
    uint64_t stall_ns;                   /* the compute queue waited so long in all */
    uint64_t d2h_busy_ns, h2d_busy_ns;   /* the copy queues were busy so long in all */
};

/* What returns a bool returns false if a time would pass 2^63-1. No stall and no queue's
 * busy time can: they are at most that queue's clock. */

/* How long a copy takes: latency + ceil(bytes * 10^9 / bytes_per_s). */
bool rp_check_timeline_copy_ns(uint64_t latency_ns, uint64_t bytes, uint64_t bytes_per_s,
                               uint64_t *ns);

/* The compute queue is held until `until_ns`, if that is not past: a stall. */
void rp_check_timeline_wait(struct rp_check_timeline *t, uint64_t until_ns);

/* An op runs at once on the compute queue. */
bool rp_check_timeline_run(struct rp_check_timeline *t, uint64_t op_ns);

/* A copy starts at the latest of: the compute clock, `ready_ns`, its queue being free.
 * *end_ns is when it has arrived. */
bool rp_check_timeline_copy_out(struct rp_check_timeline *t, uint64_t ready_ns,
                                uint64_t copy_ns, uint64_t *end_ns);
bool rp_check_timeline_copy_in(struct rp_check_timeline *t, uint64_t ready_ns,
                               uint64_t copy_ns, uint64_t *end_ns);

/* The latest of the three queues' ends. */
uint64_t rp_check_timeline_end(const struct rp_check_timeline *t);

#endif
