/* The part of cuBLAS that the kernels use. libraries.cc implements it. */
#ifndef RP_TESTS_CUBLAS_H
#define RP_TESTS_CUBLAS_H

#include <stddef.h>

typedef void *cublasHandle_t;
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T } cublasOperation_t;
typedef enum { CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF } cudaDataType;
typedef enum {
    CUBLAS_COMPUTE_32F,
    CUBLAS_COMPUTE_32F_PEDANTIC,
    CUBLAS_COMPUTE_32F_FAST_TF32
} cublasComputeType_t;
enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_GEMM_DEFAULT = -1 };

#ifdef __cplusplus
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, void *stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *at, size_t bytes);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, int mode);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
    int k, const void *alpha, const void *A, cudaDataType Atype, int lda, long long strideA,
    const void *B, cudaDataType Btype, int ldb, long long strideB, const void *beta,
    void *C, cudaDataType Ctype, int ldc, long long strideC, int batchCount,
    cublasComputeType_t computeType, int algo);
#endif

#endif
