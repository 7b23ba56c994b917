/* interval_actions: what happens to each tensor between two uses. A policy chooses an
 * action for every interval (intervals.h); interval_steps.h turns any choice into the steps
 * of a valid plan.
 *
 *   RP_INTERVAL_KEEP       the tensor stays on the device.
 *   RP_INTERVAL_RECOMPUTE  it is freed, and recomputed just before the use, together with
 *                     whatever its makers need that is not there (the closure).
 *   RP_INTERVAL_SWAP       it is swapped out, freed, and swapped in at the start of stage
 *                     trigger[e]. A closure that needs it earlier swaps it in on the spot.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_POLICY_INTERVAL_ACTIONS_H
#define RP_POLICY_INTERVAL_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"

enum rp_interval_action { RP_INTERVAL_KEEP, RP_INTERVAL_RECOMPUTE, RP_INTERVAL_SWAP };

/* Any values are allowed: interval_steps.h reads what is impossible as RP_INTERVAL_KEEP. */
struct rp_interval_actions {
    uint8_t *action;   /* per interval: enum rp_interval_action */
    uint32_t *trigger; /* per interval, for SWAP: the stage that begins with the swap-in */
    uint32_t *swap_out_stage; /* per tensor: the stage that begins with its swap-out */
    uint32_t *hold_until; /* per tensor: held for closures to the end of this stage, after
                             its last reader; 0: freed after its last reader. No closure may
                             need what can no longer be made after that */
    /* Per tensor: what a closure brings back in an interval stays until the next use. If
     * false, it is freed again at the end of the stage. */
    bool *keep_restored;
    /* The compute queue waits for a swap-out as soon as the interval begins. If false,
     * storage is freed when the copy is done; the compute queue waits only when memory runs
     * short.
     */
    bool wait_for_swap_out;
};

/* All KEEP; swap-outs right after the tensor is made, triggers at the use itself; restored
 * tensors stay. The caller ends it with fini. */
void rp_interval_actions_init(const struct rp_instance *p, struct rp_interval_actions *a);
void rp_interval_actions_fini(struct rp_interval_actions *a);

/* Both are of the same instance. */
void rp_interval_actions_copy(const struct rp_instance *p, struct rp_interval_actions *to,
                              const struct rp_interval_actions *from);

/* Gives every SWAP interval a trigger such that its copy, and all that follow it on the
 * queue, end in time. Copies are placed backwards from the last need, on the clock of first
 * runs. first_need[e] is the stage that needs interval e's tensor first
 * (rp_interval_steps_first_needs). */
void rp_interval_actions_schedule_swap_ins(const struct rp_instance *p,
                                           struct rp_interval_actions *a,
                                           const uint32_t *first_need);

/* How long recomputing x at the end of interval e takes: all runs of its closure, if the
 * actions of other tensors stay as they are. UINT64_MAX if that is impossible or takes more
 * than 512 runs. */
uint64_t rp_recompute_ns(const struct rp_instance *p, const struct rp_interval_actions *a,
                         uint32_t x, uint32_t e);

#endif
