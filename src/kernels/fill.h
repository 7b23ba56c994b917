/* SPDX-License-Identifier: MIT */
/* fill: the values a step starts from, the same in every replay. Element i of source tensor
 * t has the 24-bit number u in [0, 1)
 *
 *     z = t * 0x9E3779B97F4A7C15 + i           (mod 2^64)
 *     z = splitmix(splitmix(z)),  u = (z >> 40) * 2^-24
 *
 * as dropout does with its seed (docs/ops.md), and the value low + (high - low) * u, made
 * in f64 and rounded to the tensor's type; of an i32 tensor the integer below: low + floor
 * of (high - low) * u, so `high` is never reached.
 */
#ifndef RP_KERNELS_FILL_H
#define RP_KERNELS_FILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rp_element { RP_ELEMENT_F32, RP_ELEMENT_F16, RP_ELEMENT_F64, RP_ELEMENT_I32 };

struct rp_fill {
    enum rp_element element;
    uint64_t count, seed; /* the tensor's elements and index */
    double low, high;
};

void rp_fill_values(const struct rp_fill *fill, void *to);

/* 64 bits that stand for the bytes: two buffers with equal bytes have equal checksums, and
 * one changed byte always changes it (FNV-1a, 64 bits). */
uint64_t rp_checksum(const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

#endif
