/* SPDX-License-Identifier: MIT */
/* each: EACH, EACH_FALLBACK and kernel launches on a GPU; included by ref_real.h. */
#ifndef RP_KERNELS_CUDA_EACH_CUH
#define RP_KERNELS_CUDA_EACH_CUH

#include <cuda_fp16.h>
#include <stdio.h>

#include "kernels/cuda/cuda.h"

/* The parameters of an entry point, as in rp_cuda_fn. */
#define ENTRY                                                                              \
    struct rp_cuda *c, const struct rp_kargs *a, const void *const *in, void *const *out,  \
        void *workspace, size_t workspace_bytes

/* cuda_TYPE.cu chooses the type. */
#if defined RP_INSTANCE_F16
#define CUDA_FN(name) rp_cuda_##name##_f16
#define FALLBACK_FN(name) rp_fallback_##name##_f16
#elif defined RP_INSTANCE_BF16
#define CUDA_FN(name) rp_cuda_##name##_bf16
#define FALLBACK_FN(name) rp_fallback_##name##_bf16
#else
#define CUDA_FN(name) rp_cuda_##name##_f32
#define FALLBACK_FN(name) rp_fallback_##name##_f32
#endif

/* Passed to kernels by value, because the caller's arrays are in host memory. */
struct operands {
    const void *in[6];
    void *out[4];
};

static inline struct operands operands_of(const struct rp_kargs *a, const void *const *in,
                                          void *const *out) {
    struct operands x = {};
    for (int k = 0; k < a->n_in && k < 6; k++)
        x.in[k] = in[k];
    for (int k = 0; k < a->n_out && k < 4; k++)
        x.out[k] = out[k];
    return x;
}

static const int each_threads = 256;

/* If there are more results than 2^20 blocks have threads, each thread computes several. */
static inline unsigned each_blocks(int64_t n) {
    const int64_t blocks = (n + each_threads - 1) / each_threads;
    return (unsigned)(blocks < (1 << 20) ? blocks : 1 << 20);
}

static inline int launched(struct rp_cuda *c, const char *name) {
    const cudaError_t status = cudaPeekAtLastError();
    if (status == cudaSuccess)
        return 0;
    snprintf(c->error, sizeof c->error, "%s: %s", name, cudaGetErrorString(status));
    return -1;
}

/* Tests also run this on a CPU, with their own definition of a launch. */
#ifndef LAUNCH_ON
#define LAUNCH_ON(kernel, blocks, threads, ...)                                            \
    kernel<<<blocks, threads, 0, c->stream>>>(__VA_ARGS__)
#endif

#define EACH_AS(entry, name, range)                                                        \
    static __device__ void name##_at(OPERANDS, int64_t i);                                 \
    static __global__ void __launch_bounds__(each_threads)                                 \
        name##_each(const __grid_constant__ struct rp_kargs a,                             \
                    const __grid_constant__ struct operands x, int64_t n) {                \
        const int64_t step = (int64_t)gridDim.x * blockDim.x;                              \
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) \
            name##_at(&a, x.in, x.out, i);                                                 \
    }                                                                                      \
    extern "C" int entry(ENTRY) {                                                          \
        const int64_t n = (range);                                                         \
        (void)workspace, (void)workspace_bytes;                                            \
        LAUNCH_ON(name##_each, each_blocks(n), each_threads, *a, operands_of(a, in, out),  \
                  n);                                                                      \
        return launched(c, #name);                                                         \
    }                                                                                      \
    static __device__ inline void name##_at(OPERANDS, int64_t i)

#define EACH(name, range) EACH_AS(CUDA_FN(name), name, range)
#define EACH_FALLBACK(name, range) EACH_AS(FALLBACK_FN(name), name, range)

#endif
