/* SPDX-License-Identifier: MIT */
/* half: conversion between IEEE 754 binary32 (float) and two types of 16 bits, binary16
 * (f16) and bfloat16 (bf16, the upper half of a float), in integer arithmetic. It is exact
 * to binary32 and rounds to nearest even from it. Numbers that are too large become
 * infinite, and a NaN stays a NaN with its sign. */
#ifndef RP_KERNELS_HALF_H
#define RP_KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define RP_HALF static __host__ __device__ inline
#else
#define RP_HALF static inline
#endif

RP_HALF float rp_from_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u;
    uint32_t fraction = h & 0x3ffu, bits;
    float value;
    if (exponent == 0) { /* zero or subnormal: fraction * 2^-24, exact in binary32 */
        value = (float)fraction * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
        bits |= sign;
    } else if (exponent == 31) { /* infinity or NaN */
        bits = sign | 0x7f800000u | fraction << 13;
    } else {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

RP_HALF uint16_t rp_to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) /* NaN: make it quiet, keep the sign */
        return sign | 0x7e00u;
    if (bits >= 0x477ff000u) /* 65520 and up round to infinity */
        return sign | 0x7c00u;
    if (bits < 0x38800000u) { /* below 2^-14: a multiple of 2^-24 */
        /* Adding 0.5 rounds |value| to a multiple of 2^-24 and leaves it in the last bits.
         */
        float magnitude;
        memcpy(&magnitude, &bits, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&bits, &magnitude, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    uint32_t odd = (bits >> 13) & 1u; /* ties go to the even neighbour */
    bits += 0xfffu + odd - (112u << 23);
    return (uint16_t)(sign | bits >> 13);
}

RP_HALF float rp_from_bf16(uint16_t b) {
    const uint32_t bits = (uint32_t)b << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

RP_HALF uint16_t rp_to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) /* NaN: quiet, or it could become infinity */
        return (uint16_t)(bits >> 16 | 0x40u);
    uint32_t odd = (bits >> 16) & 1u; /* ties go to the even neighbour */
    return (uint16_t)((bits + 0x7fffu + odd) >> 16);
}

#endif
