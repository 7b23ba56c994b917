/* SPDX-License-Identifier: MIT */
/* convolution: convolutions and their gradients by cuDNN, in the first way that it takes
 * and that needs no more workspace than there is:
 *
 *   1. the op's algorithm on the whole batch;
 *   2. forward, implicit_gemm, which needs next to no workspace. For gradients algo_1 is
 *      cuDNN's implicit GEMM; its algo_0 does not give the same bits in every run;
 *   3. the same two on half of the images at a time, then on a quarter, .. and on one;
 *   4. our own kernel.
 *
 * cuDNN does not take tensors of 2^31 elements or more, and many algorithms need workspace
 * in proportion to the batch: smaller parts help in both cases. */
#include <stdio.h>
#include <string.h>

#include <algorithm>

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
    DO(describe_planes(c, v.x, real, a, a->channels, a->x_size));
    DO(describe_planes(c, v.y, real, a, a->filters, a->y_size));
    if (!narrow(2 + n, filter, dims) || !narrow(n, a->pad + skip, pad) ||
        !narrow(n, a->stride + skip, stride) || !narrow(n, a->dilation + skip, dilation))
        return declined(c, "convolution", too_large);
    DNN(cudnnSetFilterNdDescriptor(v.w, type_of(real)->dnn, CUDNN_TENSOR_NCHW, 2 + n,
                                   dims));
    DNN(cudnnSetConvolutionNdDescriptor(v.d, n, pad, stride, dilation,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DNN(cudnnSetConvolutionGroupCount(v.d, (int)a->groups));
    DNN(cudnnSetConvolutionMathType(v.d,
                                    a->tf32 ? CUDNN_DEFAULT_MATH : type_of(real)->math));
    return DONE;
}

/* ---- the three directions of a convolution ---- */

/* y and gy have the same descriptor, and so have x and gx. */
enum direction { TO_Y, TO_X, TO_W };

static cudnnConvolutionFwdAlgo_t forward_algorithm(enum rp_algorithm algorithm) {
    return algorithm == RP_IMPLICIT_PRECOMP_GEMM
               ? CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
               : CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

static enum outcome conv_bytes(struct rp_cuda *c, const struct convolution &v,
                               enum direction to, enum rp_algorithm algorithm,
                               size_t *bytes) {
    if (to == TO_Y)
        DNN(cudnnGetConvolutionForwardWorkspaceSize(c->dnn, v.x.d, v.w, v.d, v.y.d,
                                                    forward_algorithm(algorithm), bytes));
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

/* With beta 1, the result is added to what is there. */
static enum outcome run_conv(struct rp_cuda *c, const struct convolution &v,
                             enum direction to, enum rp_algorithm algorithm,
                             const struct conv_operands &o, void *workspace, size_t bytes,
                             const float *beta) {
    if (to == TO_Y)
        DNN(cudnnConvolutionForward(c->dnn, &one, v.x.d, o.x, v.w, o.w, v.d,
                                    forward_algorithm(algorithm), workspace, bytes, beta,
                                    v.y.d, o.to));
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

/* ---- ways to compute an op ---- */

static struct rp_cuda_way first_way(const struct rp_kargs *a, enum direction to) {
    const bool precomp = to == TO_Y && a->algorithm == RP_IMPLICIT_PRECOMP_GEMM;
    return {precomp      ? RP_IMPLICIT_PRECOMP_GEMM
            : to == TO_Y ? RP_IMPLICIT_GEMM
                         : RP_ALGO_1,
            a->batch, 0};
}

/* False if there is none: w was the last before our own kernel. */
static bool next_way(const struct rp_cuda_way &first, struct rp_cuda_way *w) {
    if (w->algorithm == RP_IMPLICIT_PRECOMP_GEMM) {
        w->algorithm = RP_IMPLICIT_GEMM;
        return true;
    }
    if (w->images == 1)
        return false;
    w->algorithm = first.algorithm;
    w->images = (w->images + 1) / 2;
    return true;
}

/* Describes `images` of the op's images. */
static enum outcome describe_part(struct rp_cuda *c, const struct rp_kargs *a,
                                  enum rp_real real, int64_t images,
                                  const struct convolution &v) {
    struct rp_kargs part = *a;
    part.batch = images;
    return describe_conv(c, &part, real, v);
}

/* How many images the last part has. */
static int64_t last_part(const struct rp_kargs *a, const struct rp_cuda_way *w) {
    return (a->batch - 1) % w->images + 1;
}

/* Sets w->workspace_bytes. Declined if cuDNN does not take the parts, or needs more than
 * `limit` bytes. On success v describes all parts but the last. */
static enum outcome check_way(struct rp_cuda *c, const struct rp_kargs *a,
                              enum rp_real real, enum direction to, size_t limit,
                              struct rp_cuda_way *w, const struct convolution &v) {
    size_t bytes = 0, of_last = 0;
    if (last_part(a, w) != w->images) {
        DO(describe_part(c, a, real, last_part(a, w), v));
        DO(conv_bytes(c, v, to, w->algorithm, &of_last));
    }
    DO(describe_part(c, a, real, w->images, v));
    DO(conv_bytes(c, v, to, w->algorithm, &bytes));
    w->workspace_bytes = std::max(bytes, of_last);
    if (w->workspace_bytes <= limit)
        return DONE;
    char why[96];
    snprintf(why, sizeof why, "it needs %zu bytes of workspace, more than %zu",
             w->workspace_bytes, limit);
    return declined(c, "convolution", why);
}

static const void *shift(const void *at, int64_t bytes) {
    return at == NULL ? NULL : (const char *)at + bytes;
}

/* The operands from image `start` on. A gradient of weights belongs to all images. */
static struct conv_operands from_image(const struct conv_operands &o,
                                       const struct rp_kargs *a, enum rp_real real,
                                       enum direction to, int64_t start) {
    const int64_t x = start * type_of(real)->bytes * a->channels * a->x_size[0] *
                      a->x_size[1] * a->x_size[2];
    const int64_t y = start * type_of(real)->bytes * a->filters * a->y_size[0] *
                      a->y_size[1] * a->y_size[2];
    const int64_t moved = to == TO_Y ? y : to == TO_X ? x : 0;
    return {shift(o.x, x), shift(o.y, y), o.w, (char *)o.to + moved, o.bias};
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

static enum outcome run_parts(struct rp_cuda *c, const struct rp_kargs *a,
                              enum rp_real real, enum direction to,
                              const struct conv_operands &o, const struct rp_cuda_way *w,
                              void *workspace, const struct convolution &v) {
    const int64_t last = a->batch - last_part(a, w);
    DO(put_bias(c, a, real, to, o));
    for (int64_t start = 0; start < a->batch; start += w->images) {
        const bool add = o.bias != NULL || (to == TO_W && start > 0);
        if (start == last && start > 0)
            DO(describe_part(c, a, real, a->batch - start, v));
        DO(run_conv(c, v, to, w->algorithm, from_image(o, a, real, to, start), workspace,
                    w->workspace_bytes, add ? &one : &zero));
    }
    return DONE;
}

/* Goes through the ways, from *w on, up to the first that cuDNN takes within `limit` bytes
 * and in which run() succeeds. */
template <class Run>
static enum outcome find_way(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                             enum direction to, size_t limit, struct rp_cuda_way *w,
                             const struct convolution &v, Run run) {
    const struct rp_cuda_way first = *w;
    enum outcome made;
    if (a->algorithm == RP_DIRECT)
        return declined(c, "convolution", "the graph asks for direct");
    do {
        made = check_way(c, a, real, to, std::max(limit, RP_CUDA_SCRATCH_BYTES), w, v);
        if (made == DONE)
            made = run();
    } while (made == DECLINED && next_way(first, w));
    return made;
}

static enum outcome convolve(struct rp_cuda *c, const struct rp_kargs *a, enum rp_real real,
                             enum direction to, const struct conv_operands &o,
                             void *workspace, size_t workspace_bytes) {
    const struct convolution v;
    const struct rp_cuda_way first = first_way(a, to);
    struct rp_cuda_way w = first;
    DO(find_way(c, a, real, to, workspace_bytes, &w, v, [&] {
        void *room = w.workspace_bytes <= workspace_bytes ? workspace : c->scratch;
        return run_parts(c, a, real, to, o, &w, room, v);
    }));
    c->n_in_parts += w.images < a->batch;
    c->n_implicit_gemm += w.images == a->batch && w.algorithm != first.algorithm;
    return DONE;
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

/* ---- choosing before the run ---- */

/* False if NAME is not a convolution. */
static bool direction_of(const char *name, enum direction *to) {
    static const struct {
        const char *name;
        enum direction to;
    } conv[] = {{"conv", TO_Y},
                {"conv_grad_input", TO_X},
                {"conv_grad_weight", TO_W},
                {"conv_transpose", TO_X},
                {"conv_transpose_grad_input", TO_Y},
                {"conv_transpose_grad_weight", TO_W}};
    for (const auto &row : conv)
        if (strcmp(name, row.name) == 0) {
            *to = row.to;
            return true;
        }
    return false;
}

int rp_cuda_choose(struct rp_cuda *c, const char *name, enum rp_real real,
                   const struct rp_kargs *args, size_t limit, struct rp_cuda_way *way) {
    enum direction to;
    enum outcome made = DONE;
    c->declined[0] = '\0';
    *way = {RP_USUAL, args->batch, 0};
    if (strcmp(name, "matmul") == 0 || strcmp(name, "bmm") == 0)
        way->workspace_bytes = c->blas_bytes;
    if (direction_of(name, &to)) {
        const struct convolution v;
        *way = first_way(args, to);
        made = find_way(c, args, real, to, limit, way, v, [] { return DONE; });
    }
    if (made == DECLINED)
        *way = {RP_DIRECT, args->batch, 0};
    return made == FAILED ? -1 : 0;
}
