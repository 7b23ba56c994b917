/* recorder: records the steps of a plan one after another, and keeps what a policy decides
 * by: what is on the device and on the host, the bytes live, and the time line.
 *
 * The caller keeps the rules of docs/formats.md: the inputs of a run are on the device, a
 * tensor is swapped out at most once, and so on. A step that breaks a rule is a bug
 * (assert). Ops and tensors are numbered as in the instance, not as in the graph. Sources
 * that live on the host, which the instance does not have, are numbered as in the graph.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_POLICY_RECORDER_H
#define RP_POLICY_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "model/plan.h"
#include "model/timeline.h"
#include "solve/core/instance.h"
#include "solve/core/schedule.h"

/* Read it freely; only the functions below write it. */
struct rp_recorder {
    const struct rp_instance *p; /* borrowed */
    struct rp_plan plan;         /* steps only, numbered as in the graph */
    struct rp_timeline time;     /* of these steps, numbered as in the graph */
    bool *on_device, *on_host;   /* per tensor; on_host: it was swapped out */
    bool *ran;                   /* per op */
    uint32_t n_first;            /* first runs so far */
    uint64_t recompute_ns;       /* sum over the runs after an op's first */
    /* Without the sources that stay on the device. */
    uint64_t live_bytes, peak_bytes;
    uint64_t out_bytes, in_bytes; /* copied, not rounded up to the alignment */
    bool *source_on_device;  /* per tensor of the graph: it lives on the host, and ... */
    bool *source_is_current; /* ... its host copy is up to date */
    uint64_t alignment;      /* of sources; 1 unless set */
    struct rp_stop *stop;    /* set it after rp_recorder_init; may be NULL. Once it
                                hits, policies end early: the steps are of no use */
    bool overflow;           /* a sum passed 63 bits: the steps are of no use */
};

/* `p` must outlive the recorder. A caller may take r->plan and leave an empty plan. It then
 * ends the plan with rp_plan_fini. */
void rp_recorder_init(struct rp_recorder *r, const struct rp_instance *p);
void rp_recorder_fini(struct rp_recorder *r);
void rp_recorder_clear(struct rp_recorder *r); /* forgets all steps */

/* Each appends one step. */
void rp_recorder_run(struct rp_recorder *r, uint32_t op);
void rp_recorder_free(struct rp_recorder *r, uint32_t x);
void rp_recorder_swap_out(struct rp_recorder *r, uint32_t x);
void rp_recorder_swap_in(struct rp_recorder *r, uint32_t x);

/* Source x lives on the host. Before all steps. */
void rp_recorder_source_home(struct rp_recorder *r, uint32_t x);
/* Each appends one step. A source that goes out has been updated since it came in. */
void rp_recorder_source_in(struct rp_recorder *r, uint32_t x);
void rp_recorder_source_out(struct rp_recorder *r, uint32_t x);
void rp_recorder_source_free(struct rp_recorder *r, uint32_t x);
/* What it takes on the device. */
uint64_t rp_recorder_source_bytes(const struct rp_recorder *r, uint32_t x);

/* Clears the recorder, then appends all steps of a schedule without swaps. If it is not
 * sound, as an update stands against what it runs again, these are the steps of keep-all.
 */
void rp_recorder_schedule(struct rp_recorder *r, const struct rp_schedule *s);

/* The same for keep-all, whatever the size of the graph. */
void rp_recorder_keep_all(struct rp_recorder *r);

/* The bytes that a run of `op` needs on top of what is live now: outputs that are not on
 * the device, and workspace. That includes the outputs on the device if it cannot rewrite
 * them. */
uint64_t rp_recorder_run_bytes(const struct rp_recorder *r, uint32_t op);

/* When the last swap-in of x ends, and its swap-out; 0 without one. */
uint64_t rp_recorder_ready_ns(const struct rp_recorder *r, uint32_t x);
uint64_t rp_recorder_host_ready_ns(const struct rp_recorder *r, uint32_t x);

/* The time of the plan so far: the end of the last queue. */
uint64_t rp_recorder_end_ns(const struct rp_recorder *r);

/* How long x takes to be swapped out and in (rp_device_d2h_ns), and whether it can be. */
uint64_t rp_swap_out_ns(const struct rp_instance *p, uint32_t x);
uint64_t rp_swap_in_ns(const struct rp_instance *p, uint32_t x);
bool rp_may_swap(const struct rp_instance *p);

#endif
