/* interval_steps: turns a choice of actions (interval_actions.h) into the steps of a valid
 * plan.
 *
 * Each stage begins with the swap-outs and swap-ins that are due. Then its closure runs:
 * what must be recomputed for op t, in the order of first runs, and op t last. A tensor is
 * freed after its last use in a stage if its interval's action says so.
 *
 * What is impossible is read as RP_INTERVAL_KEEP: recomputing what may run only once,
 * swapping without both bandwidths, and a trigger before the interval begins. If an op that
 * is to be recomputed would meet a swap-in of another of its outputs, that swap-in is
 * delayed or becomes a recomputation, and everything is recorded anew.
 *
 * All functions clear the recorder first. Not thread-safe: one recorder, one thread.
 */
#ifndef RP_POLICY_INTERVAL_STEPS_H
#define RP_POLICY_INTERVAL_STEPS_H

#include <stdint.h>

#include "policy/interval_actions.h"
#include "policy/recorder.h"

/* Records the steps. stage_peak_bytes, if not NULL, gets the peak of each stage. */
void rp_interval_steps_record(const struct rp_interval_actions *a, struct rp_recorder *r,
                              uint64_t *stage_peak_bytes);

/* Records the steps. Then, a few times, swap-ins that are early while memory is short are
 * delayed until there is room again. a->trigger holds the final triggers afterwards. */
void rp_interval_steps_record_delayed(struct rp_interval_actions *a, struct rp_recorder *r,
                                      uint64_t *stage_peak_bytes);

/* Chooses the triggers (rp_interval_actions_schedule_swap_ins), then records as
 * rp_interval_steps_record_delayed. first_need gets rp_interval_steps_first_needs. */
void rp_interval_steps_record_scheduled(struct rp_interval_actions *a,
                                        struct rp_recorder *r, uint32_t *first_need,
                                        uint64_t *stage_peak_bytes);

/* For each interval, the first stage that needs its tensor: the reader's, or that of an
 * earlier closure. Triggers are ignored: every swap-in is as late as it can be. */
void rp_interval_steps_first_needs(const struct rp_interval_actions *a,
                                   struct rp_recorder *r, uint32_t *first_need);

/* The stage with the highest peak; the first of equals. */
uint32_t rp_fullest_stage(const struct rp_instance *p, const uint64_t *stage_peak_bytes);

/* The smallest k from 0 to n for which record(arg, k) stays within the limit; n if there is
 * none. On return the recorder holds the steps for that k. More swaps (a larger k) must not
 * need more memory, or the smallest k may be missed. */
uint32_t rp_min_that_fits(uint32_t n, void (*record)(void *arg, uint32_t k), void *arg,
                          const struct rp_recorder *r);

#endif
