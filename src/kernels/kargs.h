/* SPDX-License-Identifier: MIT */
/* kargs: what a kernel is told about its op: plain numbers, everything but addresses.
 *
 * This file needs nothing of the project and is C and C++ alike: programs that
 * `remat-plan emit` writes carry it, with literals of struct rp_kargs, and call the same
 * kernels. Fields that a kernel does not use are 0.
 *
 * A tensor is read as (outer, mid, inner): its dimensions in three groups, each multiplied
 * up. What groups a kernel means is said at the kernel.
 */
#ifndef RP_KERNELS_KARGS_H
#define RP_KERNELS_KARGS_H

#include <stddef.h>
#include <stdint.h>

/* Of the tensors that are in the network's type; the rest are f32 or i32 always.
 * RP_REAL64, where these others are f64 too, is for tests of the kernels themselves. */
enum rp_real { RP_REAL32, RP_REAL16, RP_REAL64 };

/* How cuDNN computes a convolution; attribute "algorithm" of the op. Each gives the same
 * bits every time (kernels/cuda/cuda.h says which cuDNN calls them what). */
enum rp_algorithm {
    RP_USUAL, /* not stated: implicit_gemm forward, algo_1 for gradients */
    RP_IMPLICIT_GEMM,
    RP_IMPLICIT_PRECOMP_GEMM,
    RP_ALGO_1,
    RP_DIRECT /* our own kernel: slow, without workspace */
};

struct rp_kargs {
    int32_t n_in, n_out;

    int64_t count; /* elements, where one loop over all of them is enough */
    int64_t outer, mid, inner;

    /* Products: `batch` matrices m x k times k x n. */
    int64_t batch, m, n, k;
    int64_t batches[3];                            /* of bmm: three batch dimensions */
    int64_t stride_a[5], stride_b[5], stride_c[5]; /* of bmm: those, then row and column */
    int32_t transpose_a, transpose_b;
    int32_t single_b; /* one matrix b for the whole batch */

    /* Windows: `batch` images of `channels` planes (of convolutions: `filters` in y), depth
     * first; two-dimensional ones have depth 1. x is the larger side, y what a window
     * becomes, whatever direction the kernel goes. */
    int64_t channels, filters, groups;
    int64_t x_size[3], y_size[3], kernel[3], stride[3], pad[3], dilation[3];
    int32_t count_pad;
    int32_t algorithm; /* of a convolution on a GPU: enum rp_algorithm */

    int64_t start;        /* of slice */
    const int64_t *parts; /* of concat and split: sizes along the axis, one a part */

    int32_t causal, inverse, affine, grad_h, grad_c;
    double alpha; /* factor of a product, of scale, of a loss */
    double eps, momentum, base, p;
    uint64_t seed;
};

/* in and out in the op's order. No output overlaps an input. */
typedef void rp_kernel_fn(const struct rp_kargs *args, const void *const *in,
                          void *const *out);

#endif
