/* SPDX-License-Identifier: MIT
 *
 * replay: a plan as tables, and what carries it out. `remat-plan verify --replay ref` fills
 * the tables in memory; `remat-plan emit` writes them as C with this file beside them.
 *
 * Queues, waits and addresses are those of the plan: three queues, each in order; a step
 * waits for the steps in its list; addresses are offsets into one arena and one host slab.
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

#define REPLAY_NOWHERE UINT64_MAX /* address of a source: it lies outside the arena */
#define REPLAY_NO_FILL UINT32_MAX

enum { REPLAY_RUN, REPLAY_FREE, REPLAY_SWAP_OUT, REPLAY_SWAP_IN };
enum { REPLAY_COMPUTE, REPLAY_D2H, REPLAY_H2D, REPLAY_N_QUEUES };

struct replay_tensor {
    const char *name;
    uint64_t bytes;
    uint32_t fill; /* of a source, else REPLAY_NO_FILL */
};

/* `run` is a rp_kernel_fn on the CPU, a rp_cuda_fn on a GPU (kernels/cuda/cuda.h). Inputs,
 * then outputs, are in `ends`. */
struct replay_op {
    const char *name;
    const char *kernel; /* NAME of rp_cuda_NAME_f32 and the like */
    enum rp_real real;
    void (*run)(void);
    const struct rp_kargs *args;
    uint32_t ends, n_in, n_out;
    uint64_t workspace_bytes, time_ns;
};

/* A run has an address an operand in `addresses` from `where` on, and `at` is its
 * workspace's; `at` of the others is on the device, `host_at` in the slab. */
struct replay_step {
    uint8_t what;
    bool awaited; /* some step waits for it */
    uint16_t n_waits;
    uint32_t id; /* op or tensor */
    uint32_t where, waits;
    uint64_t at, host_at;
};

struct replay_schedule {
    uint64_t arena_bytes, host_bytes;
    const struct replay_step *steps;
    uint32_t n_steps;
    const uint64_t *addresses;
    const uint32_t *waits;
    const uint64_t *kept_at; /* where each of `keep` is at the end */
};

struct replay_program {
    const char *name; /* of the graph */
    const struct replay_tensor *tensors;
    const struct replay_op *ops;
    const uint32_t *ends;
    const struct rp_fill *fills;
    const uint32_t *keep;
    uint32_t n_tensors, n_ops, n_keep;
    uint64_t fixed_bytes;                    /* of sources */
    uint64_t time_ns, baseline_ns, stall_ns; /* as the plan has them */
    struct replay_schedule plan;
    struct replay_schedule keep_all; /* nothing freed early, copied or run twice */
};

/* ---- on the CPU: replay.c ---- */

/* When a copy takes place, as far as the waits leave it open. The last two are the extreme
 * orders: they show a missing wait every time, threads only when the race is lost. */
enum replay_order { REPLAY_FREELY, REPLAY_COPIES_FIRST, REPLAY_COPIES_LAST };

/* What every tensor must hold: its checksum, from running each op once with every tensor in
 * storage of its own. */
struct replay_truth {
    uint64_t *sums; /* per tensor */
    void **sources; /* per tensor; NULL if it is none */
    uint64_t time_ns;
};
/* False if there is not enough memory. Empty *t with replay_forget in any case. */
bool replay_find_truth(const struct replay_program *p, struct replay_truth *t);
void replay_forget(const struct replay_program *p, struct replay_truth *t);

struct replay_result {
    uint64_t n_checked; /* outputs of runs and kept tensors compared */
    uint64_t time_ns;
    char wrong[400]; /* empty: everything was equal, bit for bit */
};

/* Carries out one schedule of `p` on three threads, in one arena of exactly its bytes whose
 * freed parts are overwritten. Every output is compared as it is made, kept tensors once
 * more at the end. False if there is not enough memory or no thread; the reason is in
 * result->wrong. */
bool replay_run(const struct replay_program *p, const struct replay_schedule *s,
                enum replay_order order, const struct replay_truth *t,
                struct replay_result *result);

#ifdef __cplusplus
}
#endif

#endif
