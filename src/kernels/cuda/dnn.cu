/* SPDX-License-Identifier: MIT */
/* dnn: batch norm, pooling and softmax by cuDNN. */
#include "kernels/cuda/library.h"

/* x as (outer, mid, inner), where mid are the channels. */
static enum outcome describe_groups(struct rp_cuda *c, const struct tensor &t,
                                    enum rp_real real, const struct rp_kargs *a) {
    const int64_t sizes[4] = {a->outer, a->mid, a->inner, 1};
    return describe(c, t, real, 4, sizes);
}

/* ---- batch norm: cuDNN has it with gamma and beta only ---- */

/* Fills the descriptors of x and of its statistics. */
static enum outcome describe_norm(struct rp_cuda *c, const struct rp_kargs *a,
                                  enum rp_real real, const struct tensor &x,
                                  const struct tensor &stats) {
    if (!a->affine)
        return declined(c, "batch norm", "no gamma and beta");
    DO(describe_groups(c, x, real, a));
    DNN(cudnnDeriveBNTensorDescriptor(stats.d, x.d, CUDNN_BATCHNORM_SPATIAL));
    return DONE;
}

LIBRARY_CALL(batch_norm) {
    const struct tensor x, stats;
    DO(describe_norm(c, a, real, x, stats));
    (void)workspace, (void)workspace_bytes;
    DNN(cudnnBatchNormalizationForwardTraining(
        c->dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, x.d, in[0], x.d, out[0], stats.d,
        in[1], in[2], 0, NULL, NULL, a->eps, out[1], out[2]));
    return DONE;
}

/* (gy, x, mean, invstd, gamma) -> gx, ggamma, gbeta. invstd includes eps. */
LIBRARY_CALL(batch_norm_grad) {
    const struct tensor x, stats;
    DO(describe_norm(c, a, real, x, stats));
    (void)workspace, (void)workspace_bytes;
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
    DO(describe_planes(c, v.x, real, a, a->channels, a->x_size));
    DO(describe_planes(c, v.y, real, a, a->channels, a->y_size));
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
    DO(describe_pool(c, a, real, v, mode));
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
    DO(describe_pool(c, a, real, v, CUDNN_POOLING_MAX_DETERMINISTIC));
    (void)workspace, (void)workspace_bytes;
    DNN(cudnnPoolingBackward(c->dnn, v.d, &one, v.y.d, in[2], v.y.d, in[0], v.x.d, in[1],
                             &zero, v.x.d, out[0]));
    return DONE;
}

/* cuDNN requires x and y, although the average's gradient does not read them. We pass gx as
 * x and gy as y. */
LIBRARY_CALL(avg_pool_grad) {
    const struct pooling v;
    DO(describe_pool(c, a, real, v, average(a)));
    (void)workspace, (void)workspace_bytes;
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
    DO(describe_groups(c, x, real, a));
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
    DO(describe_groups(c, x, real, a));
    DNN(cudnnSoftmaxBackward(c->dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
                             &one, x.d, in[1], x.d, in[0], &zero, x.d, out[0]));
    return DONE;
}

LIBRARY(batch_norm)
LIBRARY(batch_norm_grad)
LIBRARY(max_pool)
LIBRARY(max_pool_grad)
LIBRARY(avg_pool)
LIBRARY(avg_pool_grad)
LIBRARY(softmax)
LIBRARY(softmax_grad)
