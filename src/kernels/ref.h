/* SPDX-License-Identifier: MIT */
/* ref: the reference kernels in plain C. They define what an op kind computes (docs/ops.md)
 * and are written to be read. Each exists four times: rp_ref_NAME_f32, _f16, _bf16, _f64.
 *
 *   - f16 and bf16 are stored as uint16_t. They are converted exactly, and results round
 *     to nearest even. Sums are computed in f32, always in the same order, so equal inputs
 *     give equal bits.
 *   - With f16 and bf16, statistics, losses and parameters of normalizations (docs/ops.md)
 *     are f32.
 *   - Kernels keep no state, allocate nothing and need no workspace, so any thread may call
 *     them.
 *   - Compile with -ffp-contract=off, because a fused multiply-add rounds differently.
 *
 * An emitted program gets these files unchanged in its folder kernels/: kargs.h, half.h,
 * fill.h, fill.c and ref*.[ch] except ref_f64.c. They need only each other, the C library
 * and -lm. A GPU runs the same bodies, and the kernels of cuda/.
 */
#ifndef RP_KERNELS_REF_H
#define RP_KERNELS_REF_H

#include "kernels/kargs.h"

/* The op kinds that make element i of their result from element i of each operand, with the
 * result's formula. Adding a row adds the reference kernel, the CUDA kernel and the kind's
 * row in op_table.c. Formulas use the functions of ref_elements.h.
 *
 *   UNARY    x is the operand
 *   BINARY   x and y are the operands
 *   GRAD     operands (gy, v): v is the input x or the output y, whichever the slope is a
 *            function of
 */
/* clang-format off */
#define RP_REF_ELEMENTWISE(UNARY, BINARY, GRAD)                                            \
    UNARY(relu, x > 0 ? x : 0)                                                             \
    GRAD(relu_grad, v > 0 ? gy : 0)                             /* v = y */                \
    UNARY(relu6, x > 0 ? (x < 6 ? x : 6) : 0)                                              \
    GRAD(relu6_grad, v > 0 && v < 6 ? gy : 0)                   /* v = y */                \
    UNARY(tanh, MATH(tanh)(x))                                                             \
    GRAD(tanh_grad, gy * (1 - v * v))                           /* v = y */                \
    UNARY(gelu, x * normal_cdf(x))                                                         \
    GRAD(gelu_grad, gy * gelu_slope(v))                         /* v = x */                \
    UNARY(gelu_tanh, x * (1 + gelu_tanh_of(x)) / 2)                                        \
    GRAD(gelu_tanh_grad, gy * gelu_tanh_slope(v))               /* v = x */                \
    UNARY(silu, x * sigmoid(x))                                                            \
    GRAD(silu_grad, gy * silu_slope(v))                         /* v = x */                \
    BINARY(add, x + y)                                                                     \
    BINARY(mul, x * y)

/* Every kernel as X(NAME) or, for elementwise ones, X(NAME, formula): define X(name, ...).
 * Several op kinds may share a kernel (op_table.c). */
#define RP_REF_KERNELS(X)                                                                  \
    RP_REF_ELEMENTWISE(X, X, X)                                                            \
    X(conv) X(conv_grad_input) X(conv_grad_weight)                                         \
    X(conv_transpose) X(conv_transpose_grad_input) X(conv_transpose_grad_weight)           \
    X(bias_grad) X(matmul) X(bmm)                                                          \
    X(scale) X(dropout) X(add_broadcast) X(mul_broadcast)                                  \
    X(repeat) X(concat) X(split) X(slice) X(slice_grad) X(transpose)                       \
    X(gather) X(gather_grad)                                                               \
    X(max_pool) X(max_pool_grad) X(max_pool_index) X(max_unpool) X(max_unpool_grad)        \
    X(avg_pool) X(avg_pool_grad) X(adaptive_avg_pool) X(adaptive_avg_pool_grad)            \
    X(batch_norm) X(batch_norm_grad) X(bn_update_stats)                                    \
    X(layer_norm) X(layer_norm_grad) X(rms_norm) X(rms_norm_grad)                          \
    X(weight_norm) X(weight_norm_grad)                                                     \
    X(softmax) X(softmax_grad) X(softmax_cross_entropy) X(softmax_cross_entropy_grad)      \
    X(rotary) X(lstm_cell) X(lstm_cell_grad)                                               \
    X(sgd) X(momentum) X(adam) X(adamw) X(count_step) X(accumulate)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif
#define X(name, ...)                                                                       \
    rp_kernel_fn rp_ref_##name##_f32, rp_ref_##name##_f16, rp_ref_##name##_bf16,           \
        rp_ref_##name##_f64;
RP_REF_KERNELS(X)
#undef X
#ifdef __cplusplus
}
#endif

#endif
