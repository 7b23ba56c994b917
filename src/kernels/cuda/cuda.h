/* SPDX-License-Identifier: MIT */
/* cuda: the kernels on a GPU: rp_cuda_NAME_f32, _f16 and _bf16 for each NAME in ref.h.
 *
 * On the same GPU with the same libraries, equal inputs give equal bits. There are no
 * atomics, the shape of a sum's tree depends only on the op's sizes, and each op uses one
 * algorithm of the library, chosen by its parameters and workspace size. Operands and
 * workspace must be aligned to 256 bytes, because libraries choose by alignment too.
 *
 * Not thread-safe: one struct rp_cuda, one thread.
 *
 *   cuDNN   convolution (FMA_MATH in f32, TENSOR_OP_MATH in 16 bits), batch norm with gamma
 *           and beta (SPATIAL), pooling (MAX_DETERMINISTIC), softmax without mask
 * (ACCURATE) cuBLAS  matmul, bmm (COMPUTE_32F_PEDANTIC in f32, COMPUTE_32F in 16 bits) own
 * all others, from the bodies of the reference kernels (ref_*.h) and from sums.cuh.
 * Fallbacks for what a library declines, because it does not support a shape or needs more
 * workspace than the op has
 *
 * Needs CUDA 12 and cuDNN 9 or newer. Compile each .cu with nvcc -std=c++20 -fmad=false -I.
 * (files include each other as "kernels/...") and link cuDNN and cuBLAS. The caller
 * provides an op's workspace; rp_cuda_choose returns how much its algorithm needs. Only
 * rp_cuda_open allocates: the libraries' handles, and RP_CUDA_SCRATCH_BYTES for ops without
 * workspace, so that cuBLAS does not allocate memory itself.
 */
#ifndef RP_KERNELS_CUDA_CUDA_H
#define RP_KERNELS_CUDA_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include "kernels/kargs.h"
#include "kernels/ref.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RP_CUDA_SCRATCH_BYTES ((size_t)64 << 10)

struct rp_cuda {
    cudaStream_t stream; /* every kernel runs here */
    cublasHandle_t blas;
    cudnnHandle_t dnn;
    void *scratch;
    size_t blas_bytes; /* workspace of a product, as cuBLAS recommends for this GPU */
    char error[256];   /* of the call that returned -1 */

    /* Calls that ran in another way than the op's parameters say: convolutions by
     * implicit_gemm, convolutions in parts of the batch, and slower kernels of our own,
     * because a library declined the op. The reason of the first one. */
    uint64_t n_implicit_gemm, n_in_parts, n_fallbacks;
    char declined[256];
};

/* Returns 0, or -1 with c->error set. */
int rp_cuda_open(struct rp_cuda *c, cudaStream_t stream);
void rp_cuda_close(struct rp_cuda *c); /* safe on a zeroed one */

/* Launches the kernel on c->stream. Returns 0, or -1 with c->error set. args->parts is host
 * memory and is read before the call returns. */
typedef int rp_cuda_fn(struct rp_cuda *c, const struct rp_kargs *args,
                       const void *const *in, void *const *out, void *workspace,
                       size_t workspace_bytes);

#define X(name, ...)                                                                       \
    rp_cuda_fn rp_cuda_##name##_f32, rp_cuda_##name##_f16, rp_cuda_##name##_bf16;
RP_REF_KERNELS(X)
#undef X

/* How an op is computed. */
struct rp_cuda_way {
    enum rp_algorithm algorithm; /* of a convolution; RP_DIRECT: our own kernel */
    int64_t images;              /* of a convolution's batch at a time */
    size_t workspace_bytes;
};

/* Chooses how kernel NAME computes the op with up to `limit` bytes of workspace, beginning
 * with args->algorithm. A call with the chosen algorithm and workspace computes it in that
 * way. c->declined says why it is not the first that was tried; otherwise it is empty.
 * Kernels other than convolutions and products need no workspace, and products need
 * c->blas_bytes whatever the limit. Returns 0, or -1 with c->error set. */
int rp_cuda_choose(struct rp_cuda *c, const char *name, enum rp_real real,
                   const struct rp_kargs *args, size_t limit, struct rp_cuda_way *way);

#ifdef __cplusplus
}
#endif

#endif
