/* SPDX-License-Identifier: MIT */
/* fallback: kernels of our own for ops that cuDNN or cuBLAS normally computes (library.cu).
 * They run where the library declines an op. */
#ifndef RP_KERNELS_CUDA_FALLBACK_H
#define RP_KERNELS_CUDA_FALLBACK_H

#include "kernels/cuda/cuda.h"

/* clang-format off */
#define RP_FALLBACK_KERNELS(X)                                                             \
    X(conv) X(conv_grad_input) X(conv_grad_weight)                                         \
    X(conv_transpose) X(conv_transpose_grad_input) X(conv_transpose_grad_weight)           \
    X(batch_norm) X(batch_norm_grad) X(max_pool) X(max_pool_grad) X(avg_pool)              \
    X(avg_pool_grad) X(softmax) X(softmax_grad) X(matmul) X(bmm)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

#define X(name)                                                                            \
    rp_cuda_fn rp_fallback_##name##_f32, rp_fallback_##name##_f16,                         \
        rp_fallback_##name##_bf16;
RP_FALLBACK_KERNELS(X)
#undef X

/* Fills y, (outer, mid, inner) with n elements in all: y[o][i][r] = v[i]. */
typedef int rp_bias_fn(struct rp_cuda *c, const void *v, void *y, int64_t mid,
                       int64_t inner, int64_t n);
rp_bias_fn rp_fallback_bias_f32, rp_fallback_bias_f16, rp_fallback_bias_bf16;

#ifdef __cplusplus
}
#endif

#endif
