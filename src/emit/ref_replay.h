/* ref_replay: executes a plan with the reference kernels, and compares all results bit for
 * bit with those of the step without rematerialization: `verify --replay ref`.
 *
 * Thread-safe for different tables.
 */
#ifndef RP_EMIT_REF_REPLAY_H
#define RP_EMIT_REF_REPLAY_H

#include "emit/replay_tables.h"

struct rp_ref_replay {
    uint64_t n_checked; /* comparisons in all orders (runtime/replay.h) */
    uint32_t n_orders;  /* orders of the copies that were run */
    uint32_t n_kept;    /* tensors that are kept */
    uint32_t n_steps;   /* training steps that were run in each order */
};

/* Runs n_steps training steps in a row (0: replay_usual_steps). Runs each queue on a thread
 * of its own. With `extremes`, and if the plan has copies, two runs come first: one with
 * every copy as early as possible, one with every copy as late as possible. RP_NO: the
 * message names the first tensor that differs. RP_ENV if memory or threads are lacking. */
rp_rc rp_ref_replay(const struct rp_replay_tables *t, uint32_t n_steps, bool extremes,
                    struct rp_ref_replay *r, struct rp_err *err);

#endif
