/* timeline: when the steps of a plan start and end, as docs/formats.md defines it
 * ("The time line"). There are three queues, each in the order of the steps: compute,
 * device to host (D2H) and host to device (H2D).
 *
 *   struct rp_timeline t;
 *   rp_timeline_init(&t, g);
 *   for (...) rp_timeline_step(&t, &plan->steps.at[i]);
 *   ... t.sound, t.overflow, rp_timeline_end(&t), t.stall_ns ...
 *   rp_timeline_fini(&t);
 *
 * It only computes times. Where a swap-in stands among the steps is decided elsewhere, as
 * solve/core/schedule.h says.
 *
 * All planning code uses this time line; the local search also keeps an incremental copy of
 * it (solve/incremental/incremental_timeline.h). verify/ has its own (queue_clocks.h), on
 * purpose: it must not share a mistake with the planner. Times are nanoseconds since the
 * step began.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_MODEL_TIMELINE_H
#define RP_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"

/* The device states both bandwidths, so tensors may be swapped. */
bool rp_device_can_swap(const struct rp_device *d);

/* How long a copy takes: copy_latency_ns + ceil(bytes * 10^9 / bytes_per_s). UINT64_MAX if
 * that passes 63 bits. The device must state the bandwidth of the direction. */
uint64_t rp_device_d2h_ns(const struct rp_device *d, uint64_t bytes);
uint64_t rp_device_h2d_ns(const struct rp_device *d, uint64_t bytes);

/* Read it freely; only the functions below write it. */
struct rp_timeline {
    const struct rp_graph *g;            /* borrowed */
    uint64_t compute_ns, d2h_ns, h2d_ns; /* when each queue is free */
    uint64_t stall_ns;                   /* how long the compute queue has waited */
    uint64_t d2h_busy_ns, h2d_busy_ns;   /* how long the copy queues were busy */
    /* False: a tensor was freed or recomputed while its swap-in was under way. */
    bool sound;
    bool overflow; /* a time passed 63 bits and stands at RP_MAX_QUANTITY: use no figures */
    uint64_t *ready_ns;      /* per tensor: when its last swap-in ends; 0 without one */
    uint64_t *host_ready_ns; /* per tensor: when its last swap-out ends; 0 without */
};

/* `g` must outlive the time line. */
void rp_timeline_init(struct rp_timeline *t, const struct rp_graph *g);
void rp_timeline_fini(struct rp_timeline *t); /* safe on a zeroed time line */

/* Appends a step. Apart from its timing it must be valid: what it reads is on the device,
 * and there are no swaps unless rp_device_can_swap. */
void rp_timeline_step(struct rp_timeline *t, const struct rp_step *step);

/* The compute queue waits until tensor x has come in, as a run that reads it does. */
void rp_timeline_wait(struct rp_timeline *t, uint32_t x);

/* The end of the last queue: the time of the plan so far. */
uint64_t rp_timeline_end(const struct rp_timeline *t);

/* The time of a plan with these n steps; UINT64_MAX if it is not sound or overflows. */
uint64_t rp_steps_time_ns(const struct rp_graph *g, const struct rp_step *steps, size_t n);

#endif
