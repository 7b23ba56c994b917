/* cuBLAS and cuDNN on a CPU. Matrix products follow the definition, the rest uses the
 * reference kernels with parameters taken from the descriptors alone. A wrong operand, size
 * or stride in a call changes the result. */
#include <string.h>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "kernels/half.h"

/* While true, the libraries decline everything, so that our fallback kernels run. */
extern "C" int emulated_decline;
int emulated_decline;

/* A number in the environment. Tests set these limits of cuDNN:
 *   CUDNN_ELEMENTS   it takes tensors with fewer elements only (2^31)
 *   IMAGE_WORKSPACE  bytes of workspace for each image; implicit_gemm needs none (0)
 *   DRIFT_AFTER      after so many calls, results are wrong in their first element */
static int64_t setting(const char *name, int64_t usual) {
    const char *value = getenv(name);
    return value != NULL ? atoll(value) : usual;
}

/* The next kernel may round factors to TF32. That takes half the time here. */
static bool next_in_tf32;

/* Reports a kernel that makes n elements. */
static void launched_for(long long n) {
    if (on_work != NULL)
        on_work(0, 2000 + (next_in_tf32 ? 2 : 4) * (uint64_t)n, 0);
    next_in_tf32 = false;
}

/* ---- cuBLAS ---- */

const char *cublasGetStatusString(cublasStatus_t) {
    return "declined";
}
cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    *handle = NULL;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t, void *) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *at, size_t bytes) {
    return at != NULL && bytes >= 16384 ? CUBLAS_STATUS_SUCCESS
                                        : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = 130002;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, int) {
    return CUBLAS_STATUS_SUCCESS;
}

static float element(const void *at, enum rp_real type, long long i) {
    return type == RP_REAL16      ? rp_from_half(((const uint16_t *)at)[i])
           : type == RP_REAL_BF16 ? rp_from_bf16(((const uint16_t *)at)[i])
                                  : ((const float *)at)[i];
}

static void store(void *at, enum rp_real type, long long i, float value) {
    if (type == RP_REAL16)
        ((uint16_t *)at)[i] = rp_to_half(value);
    else if (type == RP_REAL_BF16)
        ((uint16_t *)at)[i] = rp_to_bf16(value);
    else
        ((float *)at)[i] = value;
}

/* Column-major. With beta 0 the old value is not read, since it may be NaN. */
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A,
                                          cudaDataType Atype, int lda, long long strideA,
                                          const void *B, cudaDataType Btype, int ldb,
                                          long long strideB, const void *beta, void *C,
                                          cudaDataType Ctype, int ldc, long long strideC,
                                          int batchCount, cublasComputeType_t compute,
                                          int) {
    const enum rp_real type = Ctype == CUDA_R_16F    ? RP_REAL16
                              : Ctype == CUDA_R_16BF ? RP_REAL_BF16
                                                     : RP_REAL32;
    const float b = *(const float *)beta;
    if (emulated_decline)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (Atype != Ctype || Btype != Ctype || lda < (transa == CUBLAS_OP_N ? m : k) ||
        ldb < (transb == CUBLAS_OP_N ? k : n) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && Ctype != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    next_in_tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    launched_for((long long)batchCount * m * n);
    for (long long t = 0; t < batchCount; t++)
        for (long long col = 0; col < n; col++)
            for (long long row = 0; row < m; row++) {
                const long long to = t * strideC + row + col * ldc;
                float sum = 0;
                for (long long i = 0; i < k; i++)
                    sum += element(A, type,
                                   t * strideA + (transa == CUBLAS_OP_N ? row + i * lda
                                                                        : i + row * lda)) *
                           element(B, type,
                                   t * strideB + (transb == CUBLAS_OP_N ? i + col * ldb
                                                                        : col + i * ldb));
                sum *= *(const float *)alpha;
                store(C, type, to, b != 0 ? sum + b * element(C, type, to) : sum);
            }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- cuDNN: descriptors ---- */

struct tensor_shape {
    cudnnDataType_t type;
    int n, dim[5];
};
struct filter_shape : tensor_shape {};
struct conv_shape {
    int n, pad[3], stride[3], dilation[3], groups;
};
struct pool_shape {
    cudnnPoolingMode_t mode;
    int n, window[3], pad[3], stride[3];
};

#define LIFE(what, type, shape)                                                            \
    cudnnStatus_t cudnnCreate##what(type *d) {                                             \
        *d = new shape();                                                                  \
        return CUDNN_STATUS_SUCCESS;                                                       \
    }                                                                                      \
    cudnnStatus_t cudnnDestroy##what(type d) {                                             \
        delete d;                                                                          \
        return CUDNN_STATUS_SUCCESS;                                                       \
    }
LIFE(TensorDescriptor, cudnnTensorDescriptor_t, tensor_shape)
LIFE(FilterDescriptor, cudnnFilterDescriptor_t, filter_shape)
LIFE(ConvolutionDescriptor, cudnnConvolutionDescriptor_t, conv_shape)
LIFE(PoolingDescriptor, cudnnPoolingDescriptor_t, pool_shape)

const char *cudnnGetErrorString(cudnnStatus_t) {
    return "declined";
}
size_t cudnnGetVersion(void) {
    return 91200;
}
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    *handle = NULL;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t) {
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t, void *) {
    return CUDNN_STATUS_SUCCESS;
}

static void copy(int n, const int *from, int *to) {
    memcpy(to, from, (size_t)n * sizeof *to);
}

static int64_t count(const tensor_shape *d) {
    int64_t n = 1;
    for (int i = 0; i < d->n; i++)
        n *= d->dim[i];
    return n;
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t d, cudnnTensorFormat_t,
                                           cudnnDataType_t type, int n, const int *dims) {
    d->type = type;
    d->n = n;
    copy(n, dims, d->dim);
    return emulated_decline || count(d) >= setting("CUDNN_ELEMENTS", (int64_t)1 << 31)
               ? CUDNN_STATUS_NOT_SUPPORTED
               : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                         cudnnTensorFormat_t, int n, const int *dims) {
    d->type = type;
    d->n = n;
    copy(n, dims, d->dim);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int n,
                                              const int *pad, const int *stride,
                                              const int *dilation, cudnnConvolutionMode_t,
                                              cudnnDataType_t) {
    d->n = n;
    copy(n, pad, d->pad);
    copy(n, stride, d->stride);
    copy(n, dilation, d->dilation);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups) {
    d->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t,
                                          cudnnMathType_t math) {
    next_in_tf32 = math == CUDNN_DEFAULT_MATH;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t d,
                                          cudnnPoolingMode_t mode, cudnnNanPropagation_t,
                                          int n, const int *window, const int *pad,
                                          const int *stride) {
    d->mode = mode;
    d->n = n;
    copy(n, window, d->window);
    copy(n, pad, d->pad);
    copy(n, stride, d->stride);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- reference kernels whose result is blended into the output ---- */

static int64_t n_runs;

/* A kernel in each type. */
struct kernels {
    rp_kernel_fn *run[3];
};
#define KERNELS(name)                                                                      \
    kernels {                                                                              \
        { rp_ref_##name##_f32, rp_ref_##name##_f16, rp_ref_##name##_bf16 }                 \
    }

static enum rp_real type_of(const tensor_shape *x) {
    return x->type == CUDNN_DATA_HALF       ? RP_REAL16
           : x->type == CUDNN_DATA_BFLOAT16 ? RP_REAL_BF16
                                            : RP_REAL32;
}

static cudnnStatus_t run(const kernels &k, const struct rp_kargs *a, const void *const *in,
                         const tensor_shape *to, void *at, const void *alpha,
                         const void *beta) {
    const enum rp_real type = type_of(to);
    std::vector<float> room(count(to));
    void *out[1] = {room.data()};
    const float factor = *(const float *)alpha, b = *(const float *)beta;
    launched_for(count(to));
    k.run[type](a, in, out);
    if (++n_runs > setting("DRIFT_AFTER", INT64_MAX))
        store(room.data(), type, 0, element(room.data(), type, 0) + 1);
    for (int64_t i = 0; i < count(to); i++)
        store(at, type, i,
              factor * element(out[0], type, i) + (b != 0 ? b * element(at, type, i) : 0));
    return CUDNN_STATUS_SUCCESS;
}

/* n sizes behind `rest`. */
static void spatial(int n, const int *from, int64_t rest, int64_t to[3]) {
    to[0] = rest;
    for (int i = 0; i < n; i++)
        to[3 - n + i] = from[i];
}

static struct rp_kargs conv_args(const tensor_shape *x, const tensor_shape *w,
                                 const conv_shape *d, const tensor_shape *y) {
    struct rp_kargs a = {};
    a.n_in = 2;
    a.n_out = 1;
    a.batch = x->dim[0];
    a.channels = x->dim[1];
    a.filters = y->dim[1];
    a.groups = d->groups;
    spatial(d->n, x->dim + 2, 1, a.x_size);
    spatial(d->n, y->dim + 2, 1, a.y_size);
    spatial(d->n, w->dim + 2, 1, a.kernel);
    spatial(d->n, d->stride, 1, a.stride);
    spatial(d->n, d->pad, 0, a.pad);
    spatial(d->n, d->dilation, 1, a.dilation);
    return a;
}

static bool fits(const tensor_shape *x, const tensor_shape *w, const conv_shape *d,
                 const tensor_shape *y) {
    return x->n == d->n + 2 && w->n == x->n && y->n == x->n && x->dim[0] == y->dim[0] &&
           w->dim[0] == y->dim[1] && w->dim[1] * d->groups == x->dim[1];
}

static cudnnStatus_t workspace(const tensor_shape *x, const tensor_shape *w,
                               const conv_shape *d, const tensor_shape *y, size_t *bytes) {
    *bytes = 64 + (size_t)(x->dim[0] * setting("IMAGE_WORKSPACE", 0));
    return fits(x, w, d, y) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t d, cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes) {
    const cudnnStatus_t status = workspace(x, w, d, y, bytes);
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM)
        *bytes = 64;
    return status;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t d, cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t, size_t *bytes) {
    return workspace(dx, w, d, dy, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t d, cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t, size_t *bytes) {
    return workspace(x, dw, d, dy, bytes);
}

cudnnStatus_t
cudnnConvolutionForward(cudnnHandle_t, const void *alpha, cudnnTensorDescriptor_t x_desc,
                        const void *x, cudnnFilterDescriptor_t w_desc, const void *w,
                        cudnnConvolutionDescriptor_t d, cudnnConvolutionFwdAlgo_t, void *,
                        size_t, const void *beta, cudnnTensorDescriptor_t y_desc, void *y) {
    const struct rp_kargs a = conv_args(x_desc, w_desc, d, y_desc);
    const void *in[] = {x, w};
    return run(KERNELS(conv), &a, in, y_desc, y, alpha, beta);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void *alpha,
                                           cudnnFilterDescriptor_t w_desc, const void *w,
                                           cudnnTensorDescriptor_t dy_desc, const void *dy,
                                           cudnnConvolutionDescriptor_t d,
                                           cudnnConvolutionBwdDataAlgo_t, void *, size_t,
                                           const void *beta,
                                           cudnnTensorDescriptor_t dx_desc, void *dx) {
    const struct rp_kargs a = conv_args(dx_desc, w_desc, d, dy_desc);
    const void *in[] = {dy, w};
    return run(KERNELS(conv_grad_input), &a, in, dx_desc, dx,
               alpha, beta);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void *alpha,
                                             cudnnTensorDescriptor_t x_desc, const void *x,
                                             cudnnTensorDescriptor_t dy_desc,
                                             const void *dy, cudnnConvolutionDescriptor_t d,
                                             cudnnConvolutionBwdFilterAlgo_t, void *,
                                             size_t, const void *beta,
                                             cudnnFilterDescriptor_t dw_desc, void *dw) {
    const struct rp_kargs a = conv_args(x_desc, dw_desc, d, dy_desc);
    const void *in[] = {dy, x};
    return run(KERNELS(conv_grad_weight), &a, in, dw_desc,
               dw, alpha, beta);
}

/* Channels second: (outer, mid, inner). */
static struct rp_kargs channel_args(const tensor_shape *x) {
    struct rp_kargs a = {};
    a.outer = x->dim[0];
    a.mid = x->dim[1];
    a.inner = count(x) / a.outer / a.mid;
    a.m = a.affine = 1;
    return a;
}

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t,
                                            cudnnTensorDescriptor_t, cudnnBatchNormMode_t) {
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t, cudnnBatchNormMode_t, const void *, const void *,
    cudnnTensorDescriptor_t x_desc, const void *x, cudnnTensorDescriptor_t, void *y,
    cudnnTensorDescriptor_t, const void *scale, const void *bias, double,
    void *running_mean, void *running_var, double eps, void *mean, void *invstd) {
    struct rp_kargs a = channel_args(x_desc);
    const void *in[] = {x, scale, bias};
    void *out[] = {y, mean, invstd};
    if (running_mean != NULL || running_var != NULL) /* bn_update_stats computes them */
        return CUDNN_STATUS_BAD_PARAM;
    a.eps = eps;
    launched_for(count(x_desc));
    KERNELS(batch_norm).run[type_of(x_desc)](&a, in, out);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t, cudnnBatchNormMode_t, const void *, const void *, const void *,
    const void *, cudnnTensorDescriptor_t x_desc, const void *x, cudnnTensorDescriptor_t,
    const void *dy, cudnnTensorDescriptor_t, void *dx, cudnnTensorDescriptor_t,
    const void *scale, void *dscale, void *dbias, double, const void *mean,
    const void *invstd) {
    const struct rp_kargs a = channel_args(x_desc);
    const void *in[] = {dy, x, mean, invstd, scale};
    void *out[] = {dx, dscale, dbias};
    launched_for(count(x_desc));
    KERNELS(batch_norm_grad).run[type_of(x_desc)](&a, in, out);
    return CUDNN_STATUS_SUCCESS;
}

static struct rp_kargs pool_args(const pool_shape *d, const tensor_shape *x,
                                 const tensor_shape *y) {
    struct rp_kargs a = {};
    a.batch = x->dim[0];
    a.channels = a.filters = x->dim[1];
    spatial(d->n, x->dim + 2, 1, a.x_size);
    spatial(d->n, y->dim + 2, 1, a.y_size);
    spatial(d->n, d->window, 1, a.kernel);
    spatial(d->n, d->stride, 1, a.stride);
    spatial(d->n, d->pad, 0, a.pad);
    a.count_pad = d->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
    return a;
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t, cudnnPoolingDescriptor_t d,
                                  const void *alpha, cudnnTensorDescriptor_t x_desc,
                                  const void *x, const void *beta,
                                  cudnnTensorDescriptor_t y_desc, void *y) {
    const struct rp_kargs a = pool_args(d, x_desc, y_desc);
    const bool top = d->mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    const void *in[] = {x};
    return run(top ? KERNELS(max_pool) : KERNELS(avg_pool), &a, in, y_desc, y, alpha,
               beta);
}
cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t, cudnnPoolingDescriptor_t d,
                                   const void *alpha, cudnnTensorDescriptor_t y_desc,
                                   const void *y, cudnnTensorDescriptor_t, const void *dy,
                                   cudnnTensorDescriptor_t x_desc, const void *x,
                                   const void *beta, cudnnTensorDescriptor_t dx_desc,
                                   void *dx) {
    const struct rp_kargs a = pool_args(d, x_desc, y_desc);
    const bool top = d->mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    const void *in[] = {dy, x, y};
    return run(top ? KERNELS(max_pool_grad) : KERNELS(avg_pool_grad), &a, in, dx_desc,
               dx, alpha, beta);
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t, cudnnSoftmaxAlgorithm_t,
                                  cudnnSoftmaxMode_t, const void *alpha,
                                  cudnnTensorDescriptor_t x_desc, const void *x,
                                  const void *beta, cudnnTensorDescriptor_t y_desc,
                                  void *y) {
    const struct rp_kargs a = channel_args(x_desc);
    const void *in[] = {x};
    return run(KERNELS(softmax), &a, in, y_desc, y, alpha, beta);
}
cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t, cudnnSoftmaxAlgorithm_t,
                                   cudnnSoftmaxMode_t, const void *alpha,
                                   cudnnTensorDescriptor_t y_desc, const void *y,
                                   cudnnTensorDescriptor_t, const void *dy,
                                   const void *beta, cudnnTensorDescriptor_t dx_desc,
                                   void *dx) {
    const struct rp_kargs a = channel_args(y_desc);
    const void *in[] = {dy, y};
    return run(KERNELS(softmax_grad), &a, in, dx_desc, dx, alpha,
               beta);
}
