/* SPDX-License-Identifier: MIT */
#include "kernels/fill.h"

#include <math.h>
#include <string.h>

#include "kernels/half.h"

static uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double draw(uint64_t seed, uint64_t i) {
    return (double)(mix(mix(seed * 0x9E3779B97F4A7C15u + i)) >> 40) * 0x1p-24;
}

void rp_fill_values(const struct rp_fill *fill, void *to) {
    for (uint64_t i = 0; i < fill->count; i++) {
        const double part = (fill->high - fill->low) * draw(fill->seed, i);
        switch (fill->element) {
        case RP_ELEMENT_F32:
            ((float *)to)[i] = (float)(fill->low + part);
            break;
        case RP_ELEMENT_F16:
            ((uint16_t *)to)[i] = rp_to_half((float)(fill->low + part));
            break;
        case RP_ELEMENT_BF16:
            ((uint16_t *)to)[i] = rp_to_bf16((float)(fill->low + part));
            break;
        case RP_ELEMENT_F64:
            ((double *)to)[i] = fill->low + part;
            break;
        case RP_ELEMENT_I32:
            ((int32_t *)to)[i] = (int32_t)(fill->low + floor(part));
            break;
        }
    }
}

uint64_t rp_checksum(const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ p[i]) * 0x100000001b3u;
    return sum;
}
