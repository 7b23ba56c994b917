/* SPDX-License-Identifier: MIT */
#include "kernels/cuda/library.h"

#include <stdio.h>
#include <string.h>

/* ---- outcomes ---- */

enum outcome declined(struct rp_cuda *c, const char *what, const char *why) {
    if (c->declined[0] == '\0')
        snprintf(c->declined, sizeof c->declined, "%s: %s", what, why);
    return DECLINED;
}

enum outcome of_dnn(struct rp_cuda *c, const char *what, cudnnStatus_t status) {
    if (status == CUDNN_STATUS_SUCCESS)
        return DONE;
    if (CUDNN_STATUS_CATEGORY(status) == (int)CUDNN_STATUS_NOT_SUPPORTED ||
        CUDNN_STATUS_CATEGORY(status) == (int)CUDNN_STATUS_BAD_PARAM)
        return declined(c, what, cudnnGetErrorString(status));
    snprintf(c->error, sizeof c->error, "%s: %s", what, cudnnGetErrorString(status));
    return FAILED;
}

enum outcome of_blas(struct rp_cuda *c, const char *what, cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return DONE;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
        return declined(c, what, cublasGetStatusString(status));
    snprintf(c->error, sizeof c->error, "%s: %s", what, cublasGetStatusString(status));
    return FAILED;
}

/* ---- handles ---- */

static __global__ void __launch_bounds__(1) probe(void) {
}

/* The program may hold no code for this GPU: neither its own nor PTX of an older one. */
static int check_architecture(struct rp_cuda *c, int major, int minor) {
    static const int built_for[] = {__CUDA_ARCH_LIST__}; /* such as 800; by nvcc */
    cudaFuncAttributes found;
    const cudaError_t status = cudaFuncGetAttributes(&found, (const void *)probe);
    if (status == cudaSuccess)
        return 0;
    snprintf(c->error, sizeof c->error,
             "it is sm_%d%d, but the program is built for sm_%d: make clean, then make "
             "ARCH=sm_%d%d (%s)",
             major, minor, built_for[0] / 10, major, minor, cudaGetErrorString(status));
    return -1;
}

/* The sizes that the documentation of cublasSetWorkspace recommends, by compute capability.
 * With less memory, cuBLAS chooses slower algorithms. */
static size_t recommended_workspace(int major) {
    const size_t mib = major == 9 || major == 10 ? 32 : major == 12 ? 12 : 4;
    return mib << 20;
}

static int examine_device(struct rp_cuda *c) {
    int device = 0, major = 0, minor = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (status == cudaSuccess && check_architecture(c, major, minor) != 0)
        return -1;
    c->blas_bytes = recommended_workspace(major);
    if (status == cudaSuccess)
        status = cudaMalloc(&c->scratch, RP_CUDA_SCRATCH_BYTES);
    if (status == cudaSuccess)
        return 0;
    snprintf(c->error, sizeof c->error, "%s", cudaGetErrorString(status));
    return -1;
}

int rp_cuda_open(struct rp_cuda *c, cudaStream_t stream) {
    memset(c, 0, sizeof *c);
    c->stream = stream;
    if (examine_device(c) != 0)
        return -1;
    if (of_blas(c, "cublasCreate", cublasCreate(&c->blas)) != DONE ||
        of_blas(c, "cublasSetStream", cublasSetStream(c->blas, stream)) != DONE ||
        of_blas(c, "cublasSetWorkspace",
                cublasSetWorkspace(c->blas, c->scratch, RP_CUDA_SCRATCH_BYTES)) != DONE ||
        of_blas(c, "cublasSetAtomicsMode",
                cublasSetAtomicsMode(c->blas, CUBLAS_ATOMICS_NOT_ALLOWED)) != DONE ||
        of_dnn(c, "cudnnCreate", cudnnCreate(&c->dnn)) != DONE ||
        of_dnn(c, "cudnnSetStream", cudnnSetStream(c->dnn, stream)) != DONE) {
        if (c->error[0] == '\0')
            snprintf(c->error, sizeof c->error, "cuBLAS or cuDNN refuses its stream");
        return -1;
    }
    return 0;
}

void rp_cuda_close(struct rp_cuda *c) {
    if (c->dnn != NULL)
        cudnnDestroy(c->dnn);
    if (c->blas != NULL)
        cublasDestroy(c->blas);
    if (c->scratch != NULL)
        cudaFree(c->scratch);
    memset(c, 0, sizeof *c);
}
