/* SPDX-License-Identifier: MIT
 *
 * replay: a plan as tables, and functions that execute it. `remat-plan verify --replay ref`
 * fills the tables in memory. `remat-plan emit` writes them as C, and this file with them.
 *
 * Queues, waits and addresses are those of the plan. There are three queues, each runs its
 * steps in order, and a step waits for the steps in its list. Addresses are offsets into
 * one arena on the device and one slab on the host.
 *
 * A training step may update sources. The next one then goes on with them: all steps run
 * the same schedule on the same inputs.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/fill.h"
#include "kernels/kargs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REPLAY_NOWHERE UINT64_MAX /* address of a source, which is outside the arena */
#define REPLAY_NO_FILL UINT32_MAX

enum { REPLAY_RUN, REPLAY_FREE, REPLAY_SWAP_OUT, REPLAY_SWAP_IN };
enum { REPLAY_COMPUTE, REPLAY_D2H, REPLAY_H2D, REPLAY_N_QUEUES };

struct replay_tensor {
    const char *name;
    uint64_t bytes;
    uint32_t fill; /* index of a source's fill; REPLAY_NO_FILL for other tensors */
};

/* `run` is an rp_kernel_fn on the CPU and an rp_cuda_fn on a GPU (kernels/cuda/cuda.h).
 * program.ends lists what it reads, then what it writes, from index `ends` on. A source
 * that it updates is in both, after the inputs and after the outputs. */
struct replay_op {
    const char *name;
    const char *kernel; /* NAME in rp_cuda_NAME_f32 */
    enum rp_real real;
    void (*run)(void);
    const struct rp_kargs *args;
    uint32_t ends, n_in, n_out;
    uint64_t workspace_bytes, time_ns;
};

/* A run's operands have their addresses in schedule.addresses from index `where` on, and
 * `at` is its workspace. For other steps `at` is the tensor on the device and `host_at` in
 * the slab. */
struct replay_step {
    uint8_t what;
    bool awaited; /* another step waits for it */
    uint16_t n_waits;
    uint32_t id; /* op or tensor */
    uint32_t where, waits;
    uint64_t at, host_at;
};

/* A source that lives on the host: between training steps its content is in the slab. */
struct replay_home {
    uint32_t tensor;
    uint64_t host_at;
};

struct replay_schedule {
    uint64_t arena_bytes, host_bytes;
    const struct replay_step *steps;
    uint32_t n_steps;
    const uint64_t *addresses;
    const uint32_t *waits;
    const uint64_t *kept_at; /* addresses of program.keep at the end */
    const struct replay_home *homes;
    uint32_t n_homes;
};

struct replay_program {
    const char *name; /* of the graph */
    const struct replay_tensor *tensors;
    const struct replay_op *ops;
    const uint32_t *ends;
    const struct rp_fill *fills;
    const uint32_t *keep;
    uint32_t n_tensors, n_ops, n_keep;
    uint64_t fixed_bytes;                    /* of the sources that stay on the device */
    uint64_t time_ns, baseline_ns, stall_ns; /* claimed by the plan */
    struct replay_schedule plan;
    struct replay_schedule keep_all; /* without rematerialization */
};

/* ---- on the CPU: replay.c ---- */

/* When copies run, as far as the waits allow a choice. The last two are the extreme orders:
 * the queues have a priority, H2D, D2H, compute or the reverse. So they are the same in
 * every run, and of two queues that lack a wait each comes first in one of them. Free
 * threads reveal a missing wait only if the race is lost. */
enum replay_order { REPLAY_FREELY, REPLAY_COPIES_FIRST, REPLAY_COPIES_LAST };

struct replay_expected; /* expected.h */

struct replay_result {
    uint64_t n_checked; /* comparisons: what ops write, and what there is at the end */
    uint64_t time_ns;   /* of a step, on average */
    char wrong[400];    /* the first difference; empty if all is equal bit for bit */
};

/* Executes a schedule of `p` on three threads as many times as *t has steps, in an arena of
 * exactly its size. Freed memory is overwritten. What an op writes is compared at once. At
 * the end of each step kept tensors are compared, and sources that ops update, on the host
 * those that live there. False if memory or threads are lacking; result->wrong has the
 * reason. */
bool replay_run(const struct replay_program *p, const struct replay_schedule *s,
                enum replay_order order, const struct replay_expected *t,
                struct replay_result *result);

#ifdef __cplusplus
}
#endif

#endif
