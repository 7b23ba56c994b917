/* SPDX-License-Identifier: MIT */
/* convolution: convolutions and their gradients by cuDNN. */
#include <string.h>

#include "kernels/cuda/library.h"

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
    DNN(cudnnSetFilterNdDescriptor(v.w, type_of(real)->dnn, CUDNN_TENSOR_NCHW, 2 + n,
                                   dims));
    DNN(cudnnSetConvolutionNdDescriptor(v.d, n, pad, stride, dilation,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DNN(cudnnSetConvolutionGroupCount(v.d, (int)a->groups));
    DNN(cudnnSetConvolutionMathType(v.d, type_of(real)->math));
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
    if (o.bias == NULL)
        return DONE;
    return type_of(real)->put_bias(c, o.bias, o.to, channels, plane,
                                   a->batch * channels * plane) == 0
               ? DONE
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

LIBRARY(conv)
LIBRARY(conv_grad_input)
LIBRARY(conv_grad_weight)
LIBRARY(conv_transpose)
LIBRARY(conv_transpose_grad_input)
LIBRARY(conv_transpose_grad_weight)

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
