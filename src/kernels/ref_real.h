/* SPDX-License-Identifier: MIT */
/* ref_real: the number types of the kernels, and how a kernel is written. A file defines
 * one RP_INSTANCE_F32, _F16 or _F64, includes this and then the bodies, ref_*.h.
 *
 *   real    how tensors in the network's type are stored
 *   acc     what sums and functions are computed in
 *   stat_t  storage of what is f32 with f16, and of acc's precision otherwise
 *
 * get() and put() go between real and acc; MATH(exp) is exp or expf.
 *
 * Most kernels make their results one by one, and say how result i is made:
 *
 *     EACH(relu, a->count) { ... in[0] ... out[0] ... i ... }
 *
 * with `a` the parameters. A C compiler makes a loop of it, nvcc a thread for each i, so
 * what the tests prove of the one holds for the other but for the rounding of functions.
 * DEVICE begins a function that they call. A kernel that cuDNN or cuBLAS computes on a GPU
 * is EACH_SPARE: there it does what the library declines. KERNEL is for the rest, in C
 * only.
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
#else
DEVICE acc get(real x) {
    return x;
}
DEVICE real put(acc x) {
    return x;
}
#endif

/* Not every kernel has parameters. */
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
#define EACH_SPARE EACH
#endif

/* Operands as arrays. */
#define IN(k) ((const real *)in[k])
#define OUT(k) ((real *)out[k])

#endif
