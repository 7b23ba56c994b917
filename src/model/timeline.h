/* clock: the time line of a plan's steps as docs/formats.md defines it. Three queues, each
 * in program order: compute, device to host (D2H), host to device (H2D). Nanoseconds.
 *
 *   struct rp_timeline c;
 *   rp_timeline_init(&c, g);
 *   for (...) rp_timeline_step(&c, &plan->steps.at[i]);
 *   ... c.sound, rp_timeline_end(&c), c.stall_ns ...
 *   rp_timeline_fini(&c);
 */
#ifndef RP_MODEL_TIMELINE_H
#define RP_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"

struct rp_timeline {
    const struct rp_graph *g;
    uint64_t compute_ns, d2h_ns, h2d_ns; /* when each queue is free */
    uint64_t stall_ns;                   /* the compute queue waited so long in all */
    uint64_t d2h_busy_ns, h2d_busy_ns;   /* the copy queues were busy so long in all */
    bool sound;    /* nothing was freed or made again while its swap-in was under way */
    bool overflow; /* a time passes 63 bits: the figures are of no use */
    uint64_t *ready_ns, *host_ready_ns; /* per tensor; 0 where nothing is under way */
};

void rp_timeline_init(struct rp_timeline *c, const struct rp_graph *g);
void rp_timeline_fini(struct rp_timeline *c);

/* The step must be possible but for the timing: what it reads is there, a graph without
 * bandwidths has no swaps. */
void rp_timeline_step(struct rp_timeline *c, const struct rp_step *step);

uint64_t rp_timeline_end(const struct rp_timeline *c); /* the latest of the queues' ends */

#endif
