/* SPDX-License-Identifier: MIT */
/* fill: fills source tensors with values that are the same in every replay. Element i of
 * source tensor t draws a 24-bit number u in [0, 1)
 *
 *     z = t * 0x9E3779B97F4A7C15 + i           (mod 2^64)
 *     z = splitmix(splitmix(z)),  u = (z >> 40) * 2^-24
 *
 * as dropout does with its seed (docs/ops.md). Its value is low + (high - low) * u,
 * computed in f64 and rounded to the tensor's type. In an i32 tensor it is low + floor of
 * (high - low) * u, so that it stays below `high`.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_KERNELS_FILL_H
#define RP_KERNELS_FILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rp_element {
    RP_ELEMENT_F32,
    RP_ELEMENT_F16,
    RP_ELEMENT_BF16,
    RP_ELEMENT_F64,
    RP_ELEMENT_I32
};

struct rp_fill {
    enum rp_element element;
    uint64_t count, seed; /* the tensor's elements and index */
    double low, high;
};

void rp_fill_values(const struct rp_fill *fill, void *to);

/* The 64-bit FNV-1a hash. Equal bytes have equal checksums, and a change of a single byte
 * always changes the checksum. */
uint64_t rp_checksum(const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

#endif
