/* device: what a GPU can do, according to its data sheet. These are figures only; cost.h
 * says what share of them an op reaches.
 *
 * Constant data: any thread may read it.
 */
#ifndef RP_MODEL_DEVICE_H
#define RP_MODEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rates are peaks, in bytes or in floating-point operations per second. A multiply-add
 * counts as two operations. Matrices are dense (no structured sparsity), the clock is
 * boosted. */
struct rp_device_model {
    const char *name;   /* "v100-16g": what --device takes */
    const char *title;  /* "Tesla V100 SXM2 16 GB" */
    uint64_t f64_flops; /* of matrix products */
    uint64_t f32_flops;
    uint64_t f16_flops;  /* of matrix products with f32 sums; f32_flops if there are none */
    uint64_t bf16_flops; /* likewise */
    uint64_t f8_flops;   /* likewise; 0 if there is no such arithmetic */
    bool tensor_cores;   /* what is above f32_flops comes from tensor cores */
    uint64_t memory_bytes;
    uint64_t memory_bytes_per_s;
    uint64_t link_bytes_per_s;  /* of the link to the host: raw, in one direction */
    uint64_t host_memory_bytes; /* of a usual server, for each of its GPUs */
};

/* All models; *n gets how many there are. */
const struct rp_device_model *rp_device_models(size_t *n);

/* By name, ignoring the case of letters, or by title. NULL if there is no such model. */
const struct rp_device_model *rp_device_find(const char *name);

#endif
