/* SPDX-License-Identifier: MIT */
/* cuda: the kernels on a GPU, as rp_cuda_NAME_f32 and _f16 for each NAME in ref.h.
 *
 * The same inputs give the same bits on the same GPU with the same libraries: no atomics,
 * sums in trees whose shape depends on the op's sizes alone, and for each op one algorithm
 * of the library, chosen from its parameters and the bytes of its workspace. Operands and
 * workspace must be aligned to 256 bytes, for libraries choose by alignment as well.
 *
 *   cuDNN   convolution (FMA_MATH in f32, TENSOR_OP_MATH in f16), batch norm with gamma and
 *           beta (SPATIAL), pooling (MAX_DETERMINISTIC), softmax without mask (ACCURATE)
 *   cuBLAS  matmul, bmm (COMPUTE_32F_PEDANTIC in f32, COMPUTE_32F in f16)
 *   own     the rest, from the bodies that the reference kernels are made of (ref_*.h) and
 *           sums.cuh; and "spare" ones for what a library declines: a shape it does not
 *           support, more workspace than the op has
 *
 * CUDA 12 and cuDNN 9, or newer. Compile each .cu with nvcc -std=c++20 -fmad=false -I.
 * ("kernels/..." is how they include each other) and link cuDNN and cuBLAS. Workspace is
 * the op's, from the caller's arena; rp_cuda_workspace says how much an op's algorithm
 * wants. Nothing here allocates but rp_cuda_open: the libraries' handles, and
 * RP_CUDA_SCRATCH_BYTES that cuBLAS gets for ops without workspace, instead of memory of
 * its own.
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
    char error[256]; /* of the call that gave -1 */

    /* Calls that a library declined and a spare kernel of ours did, and the last reason:
     * our kernels are slower. */
    uint64_t n_spare;
    char declined[256];
};

/* 0, or -1 with c->error. */
int rp_cuda_open(struct rp_cuda *c, cudaStream_t stream);
void rp_cuda_close(struct rp_cuda *c); /* safe on a zeroed one */

/* Launches; 0, or -1 with c->error. args->parts may be anywhere in host memory and is read
 * before the call returns. */
typedef int rp_cuda_fn(struct rp_cuda *c, const struct rp_kargs *args,
                       const void *const *in, void *const *out, void *workspace,
                       size_t workspace_bytes);

#define X(name) rp_cuda_fn rp_cuda_##name##_f32, rp_cuda_##name##_f16;
RP_REF_KERNELS(X)
#undef X

/* The workspace in bytes with which kernel NAME uses the library's algorithm for the op; 0
 * for most. A product wants RP_CUDA_BLAS_BYTES. */
#define RP_CUDA_BLAS_BYTES ((size_t)4 << 20)
int rp_cuda_workspace(struct rp_cuda *c, const char *name, enum rp_real real,
                      const struct rp_kargs *args, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
