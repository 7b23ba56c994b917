/* SPDX-License-Identifier: MIT */
/* library: what the kernels share that cuDNN and cuBLAS compute: outcomes of their calls,
 * types, cuDNN's descriptors of tensors, and the entry points. Only .cu files include this.
 *
 * Each such kernel has a fallback, a kernel of our own, for ops that the library declines.
 * Whether it declines depends only on the op's parameters and workspace, so all runs of an
 * op take the same path. */
#ifndef RP_KERNELS_CUDA_LIBRARY_H
#define RP_KERNELS_CUDA_LIBRARY_H

#include <limits.h>

#include "kernels/cuda/fallback.h"

/* ---- outcomes ---- */

enum outcome { DONE, DECLINED, FAILED };

/* DECLINED. c->declined keeps the first reason. */
enum outcome declined(struct rp_cuda *c, const char *what, const char *why);
enum outcome of_dnn(struct rp_cuda *c, const char *what, cudnnStatus_t status);
enum outcome of_blas(struct rp_cuda *c, const char *what, cublasStatus_t status);

/* Returns an outcome that is not DONE. DNN is for calls of cuDNN. */
#define DO(call)                                                                           \
    do {                                                                                   \
        const enum outcome outcome_ = (call);                                              \
        if (outcome_ != DONE)                                                              \
            return outcome_;                                                               \
    } while (0)
#define DNN(call) DO(of_dnn(c, #call, call))

/* ---- entry points: the library if it takes the op, otherwise the fallback ---- */

#define ENTRY                                                                              \
    struct rp_cuda *c, const struct rp_kargs *a, const void *const *in, void *const *out,  \
        void *workspace, size_t workspace_bytes

#define LIBRARY_AS(name, type, real)                                                       \
    extern "C" int rp_cuda_##name##_##type(ENTRY) {                                        \
        const enum outcome o = name(c, a, real, in, out, workspace, workspace_bytes);      \
        if (o != DECLINED)                                                                 \
            return o == DONE ? 0 : -1;                                                     \
        c->n_fallbacks++;                                                                  \
        return rp_fallback_##name##_##type(c, a, in, out, workspace, workspace_bytes);     \
    }
#define LIBRARY(name)                                                                      \
    LIBRARY_AS(name, f32, RP_REAL32)                                                       \
    LIBRARY_AS(name, f16, RP_REAL16)                                                       \
    LIBRARY_AS(name, bf16, RP_REAL_BF16)
#define LIBRARY_CALL(name)                                                                 \
    static enum outcome name(struct rp_cuda *c, const struct rp_kargs *a,                  \
                             enum rp_real real, const void *const *in, void *const *out,   \
                             void *workspace, size_t workspace_bytes)

/* ---- types ---- */

struct library_type {
    cudnnDataType_t dnn;
    cudnnMathType_t math;
    cudaDataType blas;
    cublasComputeType_t compute;
    int64_t bytes;
    rp_bias_fn *put_bias;
};

static inline const struct library_type *type_of(enum rp_real real) {
    static const struct library_type types[] = {
        {CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 4,
         rp_fallback_bias_f32},
        {CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2,
         rp_fallback_bias_f16},
        {CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2,
         rp_fallback_bias_bf16},
    };
    return &types[real];
}

static const float one = 1, zero = 0;
static const char too_large[] = "a size is 2^31 or more";

/* ---- cuDNN's descriptors of tensors ---- */

/* Destroyed when it goes out of scope. */
struct tensor {
    cudnnTensorDescriptor_t d = NULL;
    tensor() {
        cudnnCreateTensorDescriptor(&d);
    }
    ~tensor() {
        cudnnDestroyTensorDescriptor(d);
    }
    tensor(const tensor &) = delete;
};

/* The libraries take sizes as int. */
static inline bool narrow(int n, const int64_t *from, int *to) {
    for (int i = 0; i < n; i++) {
        if (from[i] > INT_MAX)
            return false;
        to[i] = (int)from[i];
    }
    return true;
}

/* A dense tensor whose second dimension is the channels. */
static inline enum outcome describe(struct rp_cuda *c, const struct tensor &t,
                                    enum rp_real real, int n, const int64_t *sizes) {
    int dims[5];
    int64_t count = 1;
    for (int i = 0; i < n; i++)
        count *= sizes[i];
    if (!narrow(n, sizes, dims))
        return declined(c, "tensor", too_large);
    const cudnnStatus_t status =
        cudnnSetTensorNdDescriptorEx(t.d, CUDNN_TENSOR_NCHW, type_of(real)->dnn, n, dims);
    if (status == CUDNN_STATUS_NOT_SUPPORTED && count > INT_MAX)
        return declined(c, "tensor", "it has 2^31 elements or more");
    return of_dnn(c, "tensor", status);
}

/* The number of spatial dimensions. Images have depth 1. */
static inline int n_spatial(const struct rp_kargs *a) {
    return a->x_size[0] == 1 && a->y_size[0] == 1 && a->kernel[0] == 1 && a->pad[0] == 0
               ? 2
               : 3;
}

static inline enum outcome describe_planes(struct rp_cuda *c, const struct tensor &t,
                                           enum rp_real real, const struct rp_kargs *a,
                                           int64_t channels, const int64_t size[3]) {
    const int n = n_spatial(a);
    int64_t sizes[5] = {a->batch, channels};
    for (int i = 0; i < n; i++)
        sizes[2 + i] = size[3 - n + i];
    return describe(c, t, real, 2 + n, sizes);
}

#endif
