/* SPDX-License-Identifier: MIT */
/* ref_real: the number types of the kernels, and how a kernel is written. A source file
 * defines one of RP_INSTANCE_F32, _F16, _BF16 and _F64 and includes ref_bodies.h, which
 * includes this.
 *
 *   real    the type in which tensors of the network's type are stored
 *   acc     the type in which sums and functions are computed
 *   stat_t  the type of tensors that are f32 with f16 and bf16; otherwise the same as acc
 *
 * get() and put() convert between real and acc; MATH(exp) is exp or expf.
 *
 * Most kernels compute their results independently. They say how result i is computed, with
 * `a` the parameters:
 *
 *     EACH(relu, a->count) { ... in[0] ... out[0] ... i ... }
 *
 * In C this becomes a loop, under nvcc one thread for each i. So tests of the C kernel
 * cover the CUDA kernel too, except for the rounding of mathematical functions.
 *
 *   EACH_FALLBACK  the same, for a kernel that cuDNN or cuBLAS computes on a GPU. There it
 *                  runs only if the library declines the op.
 *   KERNEL         all other kernels, in C only
 *   DEVICE         begins a function that these call
 */
#ifndef RP_KERNELS_REF_REAL_H
#define RP_KERNELS_REF_REAL_H

#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/ref.h"

#ifdef __CUDACC__
#include "kernels/cuda/each.cuh"
#define DEVICE static __host__ __device__ inline
#else
#define DEVICE static inline
#endif

#if defined RP_INSTANCE_F32
typedef float real, acc, stat_t;
#define FN(name) rp_ref_##name##_f32
#define MATH(function) function##f
#elif defined RP_INSTANCE_F16
typedef uint16_t real;
typedef float acc, stat_t;
#define FN(name) rp_ref_##name##_f16
#define MATH(function) function##f
#elif defined RP_INSTANCE_BF16
typedef uint16_t real;
typedef float acc, stat_t;
#define FN(name) rp_ref_##name##_bf16
#define MATH(function) function##f
#elif defined RP_INSTANCE_F64
typedef double real, acc, stat_t;
#define FN(name) rp_ref_##name##_f64
#define MATH(function) function
#endif

#ifdef RP_INSTANCE_F16
DEVICE acc get(real x) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(x));
#else
    return rp_from_half(x);
#endif
}
DEVICE real put(acc x) {
#ifdef __CUDA_ARCH__
    return __half_as_ushort(__float2half_rn(x));
#else
    return rp_to_half(x);
#endif
}
#elif defined RP_INSTANCE_BF16
DEVICE acc get(real x) {
    return rp_from_bf16(x);
}
DEVICE real put(acc x) {
    return rp_to_bf16(x);
}
#else
DEVICE acc get(real x) {
    return x;
}
DEVICE real put(acc x) {
    return x;
}
#endif

/* Some kernels do not use `a`. */
#define OPERANDS                                                                           \
    __attribute__((unused)) const struct rp_kargs *a, const void *const *in,               \
        void *const *out

#ifndef __CUDACC__
#define KERNEL(name) void FN(name)(OPERANDS)
#define EACH(name, range)                                                                  \
    static void name##_at(OPERANDS, int64_t i);                                            \
    KERNEL(name) {                                                                         \
        const int64_t n = (range);                                                         \
        for (int64_t i = 0; i < n; i++)                                                    \
            name##_at(a, in, out, i);                                                      \
    }                                                                                      \
    DEVICE void name##_at(OPERANDS, int64_t i)
#define EACH_FALLBACK EACH
#endif

/* Operand k as an array. */
#define IN(k) ((const real *)in[k])
#define OUT(k) ((real *)out[k])

#endif
