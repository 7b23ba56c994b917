/* SPDX-License-Identifier: MIT */
/* ref: the reference kernels in plain C: what an op kind computes (docs/ops.md), written to
 * be read. Each exists three times, as rp_ref_NAME_f32, _f16 and _f64.
 *
 *   - f16 is stored as uint16_t and converted exactly, rounding to nearest even; sums are
 *     made in f32, always in the same order, so the same inputs give the same bits.
 *   - Statistics, losses, and parameters of normalizations (docs/ops.md) are f32 with f16.
 *   - Kernels keep nothing, allocate nothing and need no workspace.
 *   - Compile with -ffp-contract=off: a fused multiply-add rounds otherwise.
 *
 * Files, which an emitted program copies as they are into its own folder kernels/: kargs.h,
 * half.h, fill.h, fill.c and ref*.[ch] but ref_f64.c. They need each other, the C library
 * and -lm only. On a GPU the same bodies run, and cuda/ with them.
 */
#ifndef RP_KERNELS_REF_H
#define RP_KERNELS_REF_H

#include "kernels/kargs.h"

/* NAME of every kernel. Several op kinds may share one (bind.c). */
/* clang-format off */
#define RP_REF_KERNELS(X)                                                                  \
    X(conv) X(conv_grad_input) X(conv_grad_weight)                                         \
    X(conv_transpose) X(conv_transpose_grad_input) X(conv_transpose_grad_weight)           \
    X(bias_grad) X(matmul) X(bmm)                                                          \
    X(relu) X(relu_grad) X(relu6) X(relu6_grad) X(tanh) X(tanh_grad) X(gelu) X(gelu_grad)  \
    X(gelu_tanh) X(gelu_tanh_grad) X(silu) X(silu_grad)                                    \
    X(add) X(mul) X(scale) X(dropout) X(add_broadcast) X(mul_broadcast)                    \
    X(repeat) X(concat) X(split) X(slice) X(slice_grad) X(transpose)                       \
    X(gather) X(gather_grad)                                                               \
    X(max_pool) X(max_pool_grad) X(max_pool_index) X(max_unpool) X(max_unpool_grad)        \
    X(avg_pool) X(avg_pool_grad) X(adaptive_avg_pool) X(adaptive_avg_pool_grad)            \
    X(batch_norm) X(batch_norm_grad) X(bn_update_stats)                                    \
    X(layer_norm) X(layer_norm_grad) X(rms_norm) X(rms_norm_grad)                          \
    X(weight_norm) X(weight_norm_grad)                                                     \
    X(softmax) X(softmax_grad) X(softmax_cross_entropy) X(softmax_cross_entropy_grad)      \
    X(rotary) X(lstm_cell) X(lstm_cell_grad)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif
#define X(name) rp_kernel_fn rp_ref_##name##_f32, rp_ref_##name##_f16, rp_ref_##name##_f64;
RP_REF_KERNELS(X)
#undef X
#ifdef __cplusplus
}
#endif

#endif
