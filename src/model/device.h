/* device: what a GPU can do, from its data sheet. Figures only; what fraction of them an
 * op reaches is cost.c's business.
 */
#ifndef RP_MODEL_DEVICE_H
#define RP_MODEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rates are peaks: floating-point operations a second (a multiply-add counts two), dense
 * (no structured sparsity), at boost clock; bytes a second. */
struct rp_device_model {
    const char *name;  /* "v100-16g": what --device takes */
    const char *title; /* "Tesla V100 SXM2 16 GB" */
    uint64_t f32_flops;
    uint64_t f16_flops;  /* matrix products, f32 sums; f32_flops if f16 is storage only */
    uint64_t bf16_flops; /* likewise */
    bool tensor_cores;   /* rates above f32_flops come from them */
    uint64_t memory_bytes;
    uint64_t memory_bytes_per_s;
    uint64_t link_bytes_per_s; /* to the host, raw, one direction */
};

const struct rp_device_model *rp_device_models(size_t *n);

/* By name, letter case ignored; NULL if there is none. */
const struct rp_device_model *rp_device_find(const char *name);

#endif
