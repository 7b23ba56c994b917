/* SPDX-License-Identifier: MIT
 *
 * program: what both ways to run a program on the CPU need: memory, and what its tables say
 * about operands and sources. Only expected.c and replay.c include this file.
 *
 * Thread-safe: nothing is kept between calls. */
#ifndef REPLAY_PROGRAM_H
#define REPLAY_PROGRAM_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay.h"

#define ALIGNMENT 512 /* of memory, as on a GPU */
#define POISON 0xff   /* a float of these bytes is NaN */

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Allocates exactly `bytes`, so that memory checkers see accesses beyond. */
static inline char *allocate(uint64_t bytes) {
    void *at = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&at, ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
    memset(at, POISON, bytes);
    return at;
}

static inline void call(const struct replay_op *op, const void *const *in,
                        void *const *out) {
    ((rp_kernel_fn *)op->run)(op->args, in, out);
}

static inline uint32_t max_operands(const struct replay_program *p) {
    uint32_t max = 1;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].n_in + p->ops[i].n_out > max)
            max = p->ops[i].n_in + p->ops[i].n_out;
    return max;
}

static inline size_t n_ends(const struct replay_program *p) {
    if (p->n_ops == 0)
        return 0;
    const struct replay_op *last = &p->ops[p->n_ops - 1];
    return (size_t)last->ends + last->n_in + last->n_out;
}

static inline bool is_source(const struct replay_program *p, uint32_t x) {
    return p->tensors[x].fill != REPLAY_NO_FILL;
}

static inline void fill_source(const struct replay_program *p, uint32_t x, void *to) {
    rp_fill_values(&p->fills[p->tensors[x].fill], to);
}

static inline uint64_t checksum(const struct replay_program *p, uint32_t x,
                                const void *at) {
    return rp_checksum(at, p->tensors[x].bytes);
}

#endif
