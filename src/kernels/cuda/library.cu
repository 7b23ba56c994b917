/* SPDX-License-Identifier: MIT */
/* The kernels that cuDNN and cuBLAS compute. Each has a fallback, a kernel of our own, for
 * ops that the library declines. Whether it declines depends only on the op's parameters
 * and workspace, so all runs of an op take the same path.
 *
 * The libraries' matrices are column-major. Our row-major matrices are transposed there, so
 * c = a b becomes c' = b' a'.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cuda/fallback.h"

#define ENTRY                                                                              \
    struct rp_cuda *c, const struct rp_kargs *a, const void *const *in, void *const *out,  \
        void *workspace, size_t workspace_bytes

/* The outcome of a library call. */
enum outcome { DONE, DECLINED, FAILED };

static enum outcome declined(struct rp_cuda *c, const char *what, const char *why) {
    snprintf(c->declined, sizeof c->declined, "%s: %s", what, why);
    return DECLINED;
}

static enum outcome of_dnn(struct rp_cuda *c, const char *what, cudnnStatus_t status) {
    if (status == CUDNN_STATUS_SUCCESS)
        return DONE;
    if (CUDNN_STATUS_CATEGORY(status) == (int)CUDNN_STATUS_NOT_SUPPORTED ||
        CUDNN_STATUS_CATEGORY(status) == (int)CUDNN_STATUS_BAD_PARAM)
        return declined(c, what, cudnnGetErrorString(status));
    snprintf(c->error, sizeof c->error, "%s: %s", what, cudnnGetErrorString(status));
    return FAILED;
}

static enum outcome of_blas(struct rp_cuda *c, const char *what, cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return DONE;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
        return declined(c, what, cublasGetStatusString(status));
    snprintf(c->error, sizeof c->error, "%s: %s", what, cublasGetStatusString(status));
    return FAILED;
}

/* The entry points: the library if it takes the op, otherwise the fallback. */
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
    LIBRARY_AS(name, f16, RP_REAL16)
#define LIBRARY_CALL(name)                                                                 \
    static enum outcome name(struct rp_cuda *c, const struct rp_kargs *a,                  \
                             enum rp_real real, const void *const *in, void *const *out,   \
                             void *workspace, size_t workspace_bytes)

static const float one = 1, zero = 0;
static const char too_large[] = "a size passes 2^31";

/* ---- handles ---- */

int rp_cuda_open(struct rp_cuda *c, cudaStream_t stream) {
    memset(c, 0, sizeof *c);
    c->stream = stream;
    const cudaError_t status = cudaMalloc(&c->scratch, RP_CUDA_SCRATCH_BYTES);
    if (status != cudaSuccess) {
        snprintf(c->error, sizeof c->error, "cudaMalloc: %s", cudaGetErrorString(status));
        return -1;
    }
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

/* ---- descriptors ---- */

static cudnnDataType_t dnn_type(enum rp_real real) {
    return real == RP_REAL16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

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

/* cuDNN takes sizes as int. */
static bool narrow(int n, const int64_t *from, int *to) {
    for (int i = 0; i < n; i++) {
        if (from[i] > INT_MAX)
            return false;
        to[i] = (int)from[i];
    }
    return true;
}

/* A dense tensor whose second dimension is the channels. */
static cudnnStatus_t describe(const struct tensor &t, enum rp_real real, int n,
                              const int64_t *sizes) {
    int dims[5];
    if (!narrow(n, sizes, dims))
        return CUDNN_STATUS_NOT_SUPPORTED;
    return cudnnSetTensorNdDescriptorEx(t.d, CUDNN_TENSOR_NCHW, dnn_type(real), n, dims);
}

/* x as (outer, mid, inner), where mid are the channels. */
static cudnnStatus_t describe_groups(const struct tensor &t, enum rp_real real,
                                     const struct rp_kargs *a) {
    const int64_t sizes[4] = {a->outer, a->mid, a->inner, 1};
    return describe(t, real, 4, sizes);
}

/* The number of spatial dimensions. Images have depth 1. */
static int n_spatial(const struct rp_kargs *a) {
    return a->x_size[0] == 1 && a->y_size[0] == 1 && a->kernel[0] == 1 && a->pad[0] == 0
               ? 2
               : 3;
}

static cudnnStatus_t describe_planes(const struct tensor &t, enum rp_real real,
                                     const struct rp_kargs *a, int64_t channels,
                                     const int64_t size[3]) {
    const int n = n_spatial(a);
    int64_t sizes[5] = {a->batch, channels};
    for (int i = 0; i < n; i++)
        sizes[2 + i] = size[3 - n + i];
    return describe(t, real, 2 + n, sizes);
}

#define DNN(call)                                                                          \
    do {                                                                                   \
        const cudnnStatus_t status_ = (call);                                              \
        if (status_ != CUDNN_STATUS_SUCCESS)                                               \
            return of_dnn(c, #call, status_);                                              \
    } while (0)

/* ---- convolution ---- */

struct convolution {
    struct tensor x, y;
    cudnnFilterDescriptor_t w = NULL;
    cudnnConvolutionDescriptor_t d = NULL;
    convolution() {
        cudnnCreateFilterDescriptor(&w);
        cudnnCreateConvolutionDescriptor(&d);
    }
    ~convolution() {
        cudnnDestroyFilterDescriptor(w);
        cudnnDestroyConvolutionDescriptor(d);
    }
    convolution(const convolution &) = delete;
};

static enum outcome describe_conv(struct rp_cuda *c, const struct rp_kargs *a,
                                  enum rp_real real, const struct convolution &v) {
    const int n = n_spatial(a), skip = 3 - n;
    const int64_t filter[5] = {a->filters, a->channels / a->groups, a->kernel[skip],
                               a->kernel[skip + 1], a->kernel[2]};
    int dims[5], pad[3], stride[3], dilation[3];
    DNN(describe_planes(v.x, real, a, a->channels, a->x_size));
    DNN(describe_planes(v.y, real, a, a->filters, a->y_size));
    if (!narrow(2 + n, filter, dims) || !narrow(n, a->pad + skip, pad) ||
        !narrow(n, a->stride + skip, stride) || !narrow(n, a->dilation + skip, dilation))
        return declined(c, "convolution", too_large);
    DNN(cudnnSetFilterNdDescriptor(v.w, dnn_type(real), CUDNN_TENSOR_NCHW, 2 + n, dims));
    DNN(cudnnSetConvolutionNdDescriptor(v.d, n, pad, stride, dilation,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DNN(cudnnSetConvolutionGroupCount(v.d, (int)a->groups));
    DNN(cudnnSetConvolutionMathType(v.d, real == RP_REAL16 ? CUDNN_TENSOR_OP_MATH
                                                           : CUDNN_FMA_MATH));
    return DONE;
}

static cudnnConvolutionFwdAlgo_t forward_algorithm(const struct rp_kargs *a) {
    return a->algorithm == RP_IMPLICIT_PRECOMP_GEMM
               ? CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
               : CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

/* The three directions of a convolution: its workspace and its call. y and gy have the same
 * descriptor, and so have x and gx. `b` is beta: 1 adds the result to the output. */
enum direction { TO_Y, TO_X, TO_W };

static enum outcome conv_bytes(struct rp_cuda *c, const struct rp_kargs *a,
                               const struct convolution &v, enum direction to,
                               size_t *bytes) {
    if (to == TO_Y)
        DNN(cudnnGetConvolutionForwardWorkspaceSize(c->dnn, v.x.d, v.w, v.d, v.y.d,
                                                    forward_algorithm(a), bytes));
    else if (to == TO_X)
        DNN(cudnnGetConvolutionBackwardDataWorkspaceSize(
            c->dnn, v.w, v.y.d, v.d, v.x.d, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, bytes));
    else
        DNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(
            c->dnn, v.x.d, v.y.d, v.d, v.w, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, bytes));
    return DONE;
}

struct conv_operands {
    const void *x, *y, *w; /* the one that the direction computes is in `to` instead */
    void *to;
    const void *bias; /* or NULL */
};

static enum outcome run_conv(struct rp_cuda *c, const struct rp_kargs *a,
                             const struct convolution &v, enum direction to,
                             const struct conv_operands &o, void *workspace, size_t bytes) {
    const float *beta = o.bias != NULL ? &one : &zero;
    if (to == TO_Y)
        DNN(cudnnConvolutionForward(c->dnn, &one, v.x.d, o.x, v.w, o.w, v.d,
                                    forward_algorithm(a), workspace, bytes, beta, v.y.d,
                                    o.to));
    else if (to == TO_X)
        DNN(cudnnConvolutionBackwardData(c->dnn, &one, v.w, o.w, v.y.d, o.y, v.d,
                                         CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, workspace,
                                         bytes, beta, v.x.d, o.to));
    else
        DNN(cudnnConvolutionBackwardFilter(c->dnn, &one, v.x.d, o.x, v.y.d, o.y, v.d,
                                           CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, workspace,
                                           bytes, beta, v.w, o.to));
    return DONE;
}

/* Writes the bias first, so that the result is added to it with one rounding, as in the
 * reference kernel. */
static enum outcome put_bias(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                             enum direction to, const struct conv_operands &o) {
    const int64_t *size = to == TO_Y ? a->y_size : a->x_size;
    const int64_t channels = to == TO_Y ? a->filters : a->channels;
    const int64_t plane = size[0] * size[1] * size[2];
    rp_bias_fn *put = real == RP_REAL16 ? rp_fallback_bias_f16 : rp_fallback_bias_f32;
    if (o.bias == NULL)
        return DONE;
    return put(c, o.bias, o.to, channels, plane, a->batch * channels * plane) == 0 ? DONE
                                                                                   : FAILED;
}

static enum outcome convolve(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                             enum direction to, const struct conv_operands &o,
                             void *workspace, size_t workspace_bytes) {
    const struct convolution v;
    size_t bytes = 0;
    if (a->algorithm == RP_DIRECT)
        return declined(c, "convolution", "the graph asks for \"direct\"");
    enum outcome made = describe_conv(c, a, real, v);
    if (made == DONE)
        made = conv_bytes(c, a, v, to, &bytes);
    if (made != DONE)
        return made;
    if (bytes > workspace_bytes)
        return declined(c, "convolution", "more workspace than the op has");
    made = put_bias(c, a, real, to, o);
    return made == DONE ? run_conv(c, a, v, to, o, workspace, bytes) : made;
}

LIBRARY_CALL(conv) {
    const struct conv_operands o = {in[0], NULL, in[1], out[0], a->n_in > 2 ? in[2] : NULL};
    return convolve(c, a, real, TO_Y, o, workspace, workspace_bytes);
}

LIBRARY_CALL(conv_grad_input) {
    const struct conv_operands o = {NULL, in[0], in[1], out[0], NULL};
    return convolve(c, a, real, TO_X, o, workspace, workspace_bytes);
}

LIBRARY_CALL(conv_grad_weight) {
    const struct conv_operands o = {in[1], in[0], NULL, out[0], NULL};
    return convolve(c, a, real, TO_W, o, workspace, workspace_bytes);
}

LIBRARY_CALL(conv_transpose) {
    const struct conv_operands o = {NULL, in[0], in[1], out[0], a->n_in > 2 ? in[2] : NULL};
    return convolve(c, a, real, TO_X, o, workspace, workspace_bytes);
}

LIBRARY_CALL(conv_transpose_grad_input) {
    const struct conv_operands o = {in[0], NULL, in[1], out[0], NULL};
    return convolve(c, a, real, TO_Y, o, workspace, workspace_bytes);
}

LIBRARY_CALL(conv_transpose_grad_weight) {
    const struct conv_operands o = {in[0], in[1], NULL, out[0], NULL};
    return convolve(c, a, real, TO_W, o, workspace, workspace_bytes);
}

/* ---- batch norm: cuDNN has it with gamma and beta only ---- */

/* Fills the descriptors of x and of its statistics. */
static enum outcome describe_norm(struct rp_cuda *c, const struct rp_kargs *a,
                                  enum rp_real real, const struct tensor &x,
                                  const struct tensor &stats) {
    if (!a->affine)
        return declined(c, "batch norm", "no gamma and beta");
    DNN(describe_groups(x, real, a));
    DNN(cudnnDeriveBNTensorDescriptor(stats.d, x.d, CUDNN_BATCHNORM_SPATIAL));
    return DONE;
}

LIBRARY_CALL(batch_norm) {
    const struct tensor x, stats;
    const enum outcome described = describe_norm(c, a, real, x, stats);
    (void)workspace, (void)workspace_bytes;
    if (described != DONE)
        return described;
    DNN(cudnnBatchNormalizationForwardTraining(
        c->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, x.d, in[0], x.d, out[0], stats.d,
        in[1], in[2], 0, NULL, NULL, a->eps, out[1], out[2]));
    return DONE;
}

/* (gy, x, mean, invstd, gamma) -> gx, ggamma, gbeta. invstd includes eps. */
LIBRARY_CALL(batch_norm_grad) {
    const struct tensor x, stats;
    const enum outcome described = describe_norm(c, a, real, x, stats);
    (void)workspace, (void)workspace_bytes;
    if (described != DONE)
        return described;
    DNN(cudnnBatchNormalizationBackward(
        c->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, x.d, in[1], x.d, in[0],
        x.d, out[0], stats.d, in[4], out[1], out[2], CUDNN_BN_MIN_EPSILON, in[2], in[3]));
    return DONE;
}

/* ---- pooling ---- */

struct pooling {
    struct tensor x, y;
    cudnnPoolingDescriptor_t d = NULL;
    pooling() {
        cudnnCreatePoolingDescriptor(&d);
    }
    ~pooling() {
        cudnnDestroyPoolingDescriptor(d);
    }
    pooling(const pooling &) = delete;
};

static enum outcome describe_pool(struct rp_cuda *c, const struct rp_kargs *a,
                                  enum rp_real real, const struct pooling &v,
                                  cudnnPoolingMode_t mode) {
    const int n = n_spatial(a), skip = 3 - n;
    int window[3], pad[3], stride[3];
    DNN(describe_planes(v.x, real, a, a->channels, a->x_size));
    DNN(describe_planes(v.y, real, a, a->channels, a->y_size));
    if (!narrow(n, a->kernel + skip, window) || !narrow(n, a->pad + skip, pad) ||
        !narrow(n, a->stride + skip, stride))
        return declined(c, "pooling", too_large);
    DNN(cudnnSetPoolingNdDescriptor(v.d, mode, CUDNN_NOT_PROPAGATE_NAN, n, window, pad,
                                    stride));
    return DONE;
}

static enum outcome pool(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                         cudnnPoolingMode_t mode, const void *x, void *y) {
    const struct pooling v;
    const enum outcome described = describe_pool(c, a, real, v, mode);
    if (described != DONE)
        return described;
    DNN(cudnnPoolingForward(c->dnn, v.d, &one, v.x.d, x, &zero, v.y.d, y));
    return DONE;
}

static cudnnPoolingMode_t average(const struct rp_kargs *a) {
    return a->count_pad ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                        : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
}

LIBRARY_CALL(max_pool) {
    (void)workspace, (void)workspace_bytes;
    return pool(c, a, real, CUDNN_POOLING_MAX_DETERMINISTIC, in[0], out[0]);
}

LIBRARY_CALL(avg_pool) {
    (void)workspace, (void)workspace_bytes;
    return pool(c, a, real, average(a), in[0], out[0]);
}

/* (gy, x, y) -> gx */
LIBRARY_CALL(max_pool_grad) {
    const struct pooling v;
    const enum outcome described =
        describe_pool(c, a, real, v, CUDNN_POOLING_MAX_DETERMINISTIC);
    (void)workspace, (void)workspace_bytes;
    if (described != DONE)
        return described;
    DNN(cudnnPoolingBackward(c->dnn, v.d, &one, v.y.d, in[2], v.y.d, in[0], v.x.d, in[1],
                             &zero, v.x.d, out[0]));
    return DONE;
}

/* cuDNN requires x and y, although the average's gradient does not read them. We pass gx as
 * x and gy as y. */
LIBRARY_CALL(avg_pool_grad) {
    const struct pooling v;
    const enum outcome described = describe_pool(c, a, real, v, average(a));
    (void)workspace, (void)workspace_bytes;
    if (described != DONE)
        return described;
    DNN(cudnnPoolingBackward(c->dnn, v.d, &one, v.y.d, in[0], v.y.d, in[0], v.x.d, out[0],
                             &zero, v.x.d, out[0]));
    return DONE;
}

/* ---- softmax ---- */

LIBRARY_CALL(softmax) {
    const struct tensor x;
    (void)workspace, (void)workspace_bytes;
    if (a->causal)
        return declined(c, "softmax", "masked");
    DNN(describe_groups(x, real, a));
    DNN(cudnnSoftmaxForward(c->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
                            &one, x.d, in[0], &zero, x.d, out[0]));
    return DONE;
}

/* (gy, y) -> gx */
LIBRARY_CALL(softmax_grad) {
    const struct tensor x;
    (void)workspace, (void)workspace_bytes;
    if (a->causal)
        return declined(c, "softmax", "masked");
    DNN(describe_groups(x, real, a));
    DNN(cudnnSoftmaxBackward(c->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
                             &one, x.d, in[1], x.d, in[0], &zero, x.d, out[0]));
    return DONE;
}

/* ---- matrix products ---- */

/* A column-major operand of a cuBLAS product, which may be transposed. */
struct matrix {
    const void *at;
    bool transposed;
    int64_t ld, step; /* distance of columns, of matrices in the batch; in elements */
};

/* `batch` products c = alpha * left * right + beta * c; c is m x n, column-major, at `to`.
 * */
static enum outcome gemm(struct rp_cuda *c, enum rp_real real, int64_t m, int64_t n,
                         int64_t k, double alpha, const struct matrix &left,
                         const struct matrix &right, float beta, void *to, int64_t to_ld,
                         int64_t to_step, int64_t batch) {
    const cudaDataType type = real == RP_REAL16 ? CUDA_R_16F : CUDA_R_32F;
    const cublasComputeType_t compute =
        real == RP_REAL16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
    const float factor = (float)alpha;
    const int64_t sizes[7] = {m, n, k, left.ld, right.ld, to_ld, batch};
    int size[7];
    if (!narrow(7, sizes, size))
        return declined(c, "product", too_large);
    return of_blas(c, "cublasGemmStridedBatchedEx",
                   cublasGemmStridedBatchedEx(
                       c->blas, left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, size[0], size[1],
                       size[2], &factor, left.at, type, size[3], left.step, right.at, type,
                       size[4], right.step, &beta, to, type, size[5], to_step, size[6],
                       compute, CUBLAS_GEMM_DEFAULT));
}

/* Gives cuBLAS the op's workspace or the scratch memory, so that it need not allocate. */
static enum outcome use_workspace(struct rp_cuda *c, void *workspace, size_t bytes) {
    const bool own = workspace != NULL && bytes >= RP_CUDA_SCRATCH_BYTES;
    return of_blas(c, "cublasSetWorkspace",
                   cublasSetWorkspace(c->blas, own ? workspace : c->scratch,
                                      own ? bytes : RP_CUDA_SCRATCH_BYTES));
}

/* With a single b and contiguous rows of a, the whole batch is one product. */
LIBRARY_CALL(matmul) {
    const bool merge = a->single_b && !a->transpose_a;
    const int64_t m = merge ? a->batch * a->m : a->m, batch = merge ? 1 : a->batch;
    const struct matrix right = {in[0], a->transpose_a != 0, a->transpose_a ? a->m : a->k,
                                 a->m * a->k};
    const struct matrix left = {in[1], a->transpose_b != 0, a->transpose_b ? a->k : a->n,
                                a->single_b ? 0 : a->k * a->n};
    const int64_t n = a->batch * a->m * a->n;
    rp_bias_fn *put = real == RP_REAL16 ? rp_fallback_bias_f16 : rp_fallback_bias_f32;
    const enum outcome ready = use_workspace(c, workspace, workspace_bytes);
    if (ready != DONE)
        return ready;
    if (a->n_in > 2 && put(c, in[2], out[0], a->n, 1, n) != 0)
        return FAILED;
    return gemm(c, real, a->n, m, a->k, a->alpha, left, right, a->n_in > 2 ? 1 : 0, out[0],
                a->n, a->m * a->n, batch);
}

/* The layout of a row-major matrix with these strides; false if no dimension is dense. */
static bool layout(int64_t rows, int64_t cols, const int64_t *stride, bool *transposed,
                   int64_t *ld) {
    const int64_t row = stride[3], col = stride[4];
    if (cols == 1 || col == 1) {
        *transposed = false;
        *ld = rows == 1 ? cols : row;
        return *ld >= cols;
    }
    *transposed = true;
    *ld = col;
    return (rows == 1 || row == 1) && *ld >= rows;
}

static const char *shift(const void *at, enum rp_real real, int64_t elements) {
    return (const char *)at + elements * (real == RP_REAL16 ? 2 : 4);
}

/* One call handles the batch dimension `batched`; the other two are loops. In dimensions
 * where c has stride 0, later products are added to the first. */
struct bmm_plan {
    int batched;
    bool swap;                 /* c is stored transposed: compute a b, not b' a' */
    struct matrix left, right; /* in the order of the cuBLAS call */
    int64_t ld;                /* of c */
};

static bool plan_bmm(const struct rp_kargs *a, struct bmm_plan *p) {
    bool ta, tb, tc;
    int64_t lda, ldb;
    if (!layout(a->m, a->k, a->stride_a, &ta, &lda) ||
        !layout(a->k, a->n, a->stride_b, &tb, &ldb) ||
        !layout(a->m, a->n, a->stride_c, &tc, &p->ld))
        return false;
    p->batched = -1;
    for (int d = 0; d < 3; d++)
        if (a->stride_c[d] != 0 && a->batches[d] > 1 &&
            (p->batched < 0 || a->batches[d] > a->batches[p->batched]))
            p->batched = d;
    const int b = p->batched;
    const struct matrix left = {NULL, ta, lda, b < 0 ? 0 : a->stride_a[b]};
    const struct matrix right = {NULL, tb, ldb, b < 0 ? 0 : a->stride_b[b]};
    p->swap = tc;
    p->left = tc ? left : right;
    p->right = tc ? right : left;
    if (tc) { /* in this order cuBLAS sees the transpose of each row-major operand */
        p->left.transposed = !p->left.transposed;
        p->right.transposed = !p->right.transposed;
    }
    return true;
}

static enum outcome run_bmm(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                            const void *const *in, void *const *out,
                            const struct bmm_plan *p, const int64_t at[3]) {
    int64_t at_a = 0, at_b = 0, at_c = 0;
    bool first = true; /* in every dimension that is summed over */
    for (int d = 0; d < 3; d++) {
        at_a += at[d] * a->stride_a[d];
        at_b += at[d] * a->stride_b[d];
        at_c += at[d] * a->stride_c[d];
        first = first && (a->stride_c[d] != 0 || at[d] == 0);
    }
    struct matrix left = p->left, right = p->right;
    left.at = p->swap ? shift(in[0], real, at_a) : shift(in[1], real, at_b);
    right.at = p->swap ? shift(in[1], real, at_b) : shift(in[0], real, at_a);
    const int b = p->batched;
    return gemm(c, real, p->swap ? a->m : a->n, p->swap ? a->n : a->m, a->k, a->alpha, left,
                right, first ? 0 : 1, (void *)shift(out[0], real, at_c), p->ld,
                b < 0 ? 0 : a->stride_c[b], b < 0 ? 1 : a->batches[b]);
}

LIBRARY_CALL(bmm) {
    struct bmm_plan p;
    int64_t n[3], at[3];
    if (!plan_bmm(a, &p))
        return declined(c, "product", "strides that cuBLAS does not have");
    enum outcome o = use_workspace(c, workspace, workspace_bytes);
    for (int d = 0; d < 3; d++)
        n[d] = d == p.batched ? 1 : a->batches[d];
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2] && o == DONE; at[2]++)
                o = run_bmm(c, a, real, in, out, &p, at);
    return o;
}

#define X LIBRARY
RP_FALLBACK_KERNELS(X)
#undef X

/* ---- workspace ---- */

int rp_cuda_workspace(struct rp_cuda *c, const char *name, enum rp_real real,
                      const struct rp_kargs *args, size_t *bytes) {
    static const struct {
        const char *name;
        enum direction to;
    } conv[] = {{"conv", TO_Y},
                {"conv_grad_input", TO_X},
                {"conv_grad_weight", TO_W},
                {"conv_transpose", TO_X},
                {"conv_transpose_grad_input", TO_Y},
                {"conv_transpose_grad_weight", TO_W}};
    *bytes =
        strcmp(name, "matmul") == 0 || strcmp(name, "bmm") == 0 ? RP_CUDA_BLAS_BYTES : 0;
    for (size_t i = 0; i < sizeof conv / sizeof conv[0]; i++) {
        if (strcmp(name, conv[i].name) != 0 || args->algorithm == RP_DIRECT)
            continue;
        const struct convolution v;
        enum outcome o = describe_conv(c, args, real, v);
        if (o == DONE)
            o = conv_bytes(c, args, v, conv[i].to, bytes);
        if (o == DECLINED)
            *bytes = 0; /* the fallback kernel needs none */
        if (o == FAILED)
            return -1;
    }
    return 0;
}
