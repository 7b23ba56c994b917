/* SPDX-License-Identifier: MIT */
/* kargs: a kernel's parameters: plain numbers that describe its op, but no addresses.
 *
 * This file needs nothing else of the project and is valid C and C++. Programs that
 * `remat-plan emit` writes contain it together with literals of struct rp_kargs, and call
 * the same kernels. Fields that a kernel does not use are 0.
 *
 * "x as (outer, mid, inner)" means x's dimensions in three groups, each multiplied
 * together. Each kernel says which dimensions these are.
 */
#ifndef RP_KERNELS_KARGS_H
#define RP_KERNELS_KARGS_H

#include <stddef.h>
#include <stdint.h>

/* The network's type: that of activations and weights. Other tensors are f32 or i32. With
 * RP_REAL64, which is for tests of the kernels, all real numbers are f64. */
enum rp_real { RP_REAL32, RP_REAL16, RP_REAL_BF16, RP_REAL64, RP_N_REALS };

/* How a GPU computes a convolution: the op's attribute "algorithm". Each one gives the same
 * bits in every run. */
enum rp_algorithm {
    RP_USUAL, /* no attribute: implicit_gemm forward, algo_1 for gradients */
    RP_IMPLICIT_GEMM,
    RP_IMPLICIT_PRECOMP_GEMM,
    RP_ALGO_1,
    RP_DIRECT /* our own kernel: slower, but needs no workspace */
};

struct rp_kargs {
    int32_t n_in, n_out; /* both with what the op updates */

    int64_t count; /* elements, for kernels that are one loop over all of them */
    int64_t outer, mid, inner;

    /* Products: `batch` matrices m x k times k x n. */
    int64_t batch, m, n, k;
    int64_t batches[3];                            /* of bmm: its batch dimensions */
    int64_t stride_a[5], stride_b[5], stride_c[5]; /* of bmm: batch, row and column */
    int32_t transpose_a, transpose_b;
    int32_t single_b; /* one matrix b serves the whole batch */

    /* Windows: `batch` images with `channels` planes each; in convolutions y has `filters`
     * planes. Sizes begin with the depth, which is 1 for images. x is the side that windows
     * slide over, and y has one position for each window, in gradients too. */
    int64_t channels, filters, groups;
    int64_t x_size[3], y_size[3], kernel[3], stride[3], pad[3], dilation[3];
    int32_t count_pad;
    int32_t algorithm; /* of a convolution on a GPU: enum rp_algorithm */
    int32_t tf32;      /* of f32 convolutions and products on a GPU: it may round factors */

    int64_t start;        /* of slice */
    const int64_t *parts; /* of concat and split: each part's size along the axis */

    int32_t causal, inverse, affine, grad_h, grad_c;
    double alpha; /* factor of a product, a scale or a loss */
    double eps, momentum, base, p;
    uint64_t seed;

    int32_t wide_grad, master; /* of an update: g is f32; W has an f32 copy */
    double lr, beta1, beta2, weight_decay;
};

/* `in` is what the op reads: its inputs, then what it updates. `out` is what it writes: its
 * outputs, then what it updates. Nothing else overlaps. */
typedef void rp_kernel_fn(const struct rp_kargs *args, const void *const *in,
                          void *const *out);

#endif
