/* tape: records the steps of a plan one after another and keeps the books that a policy
 * decides by: what is on the device and on the host, the bytes live, the clocks of the
 * three queues (docs/formats.md, "The time line").
 *
 * The caller keeps to the rules of the format: inputs of a run are on the device, a tensor
 * is swapped out once, and so on. Tensors and ops are the problem's, not the graph's.
 */
#ifndef RP_POLICY_RECORDER_H
#define RP_POLICY_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"

struct rp_recorder {
    const struct rp_instance *p;
    struct rp_plan plan;                 /* steps only, named by the graph's indices */
    bool *on_device, *on_host;           /* per tensor */
    uint64_t *ready_ns, *host_ready_ns;  /* per tensor: when each copy is complete */
    bool *ran;                           /* per op */
    uint64_t compute_ns, d2h_ns, h2d_ns; /* when each queue is free */
    uint64_t stall_ns, recompute_ns;
    uint64_t live_bytes, peak_bytes; /* sources not included */
    uint64_t out_bytes, in_bytes;    /* moved, not rounded */
    bool too_long;                   /* a time passed 2^63-1 ns: the tape is void */
};

void rp_recorder_init(struct rp_recorder *t, const struct rp_instance *p);
void rp_recorder_fini(struct rp_recorder *t);
void rp_recorder_clear(struct rp_recorder *t); /* back to the start of the step */

void rp_recorder_run(struct rp_recorder *t, uint32_t op);
void rp_recorder_free(struct rp_recorder *t, uint32_t x);
void rp_recorder_swap_out(struct rp_recorder *t, uint32_t x);
void rp_recorder_swap_in(struct rp_recorder *t, uint32_t x);

/* What op would take on top of what is live: outputs that are not there, and workspace. */
uint64_t rp_recorder_need(const struct rp_recorder *t, uint32_t op);

/* All steps of a sound schedule, from the start. */
void rp_recorder_schedule(struct rp_recorder *t, const struct rp_schedule *s);

/* The end of the last queue. */
uint64_t rp_recorder_time(const struct rp_recorder *t);

/* How long the copy of tensor x takes out, and in. The device states both bandwidths. */
uint64_t rp_copy_out_ns(const struct rp_instance *p, uint32_t x);
uint64_t rp_copy_in_ns(const struct rp_instance *p, uint32_t x);
bool rp_may_swap(const struct rp_instance *p);

#endif
