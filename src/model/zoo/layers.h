/* layers: the ops that networks are made of, each with its parameters, shapes and cost.
 * docs/ops.md says what each computes. `name` names the op. Its parameters are called
 * "name.weight" and "name.bias". Channels are dimension 1 (N, C, H, W or N, C, D, H, W).
 *
 * A multiply-add counts as 2 flops. For other ops, docs/ops.md lists the flops per element.
 *
 * Not thread-safe: one builder, one thread.
 */
#ifndef RP_MODEL_ZOO_LAYERS_H
#define RP_MODEL_ZOO_LAYERS_H

#include "model/zoo/builder.h"

/* The window of a convolution or a pooling, per spatial dimension. */
struct rp_window {
    uint64_t kernel[3], stride[3], pad[3];
};
struct rp_window rp_square(uint64_t kernel, uint64_t stride, uint64_t pad);
struct rp_window rp_rect(uint64_t kernel_h, uint64_t kernel_w, uint64_t pad_h,
                         uint64_t pad_w); /* stride 1 */

enum { RP_NO_BIAS = 0, RP_BIAS = 1 };

/* ---- layers_conv.c: kinds conv2d conv3d conv_transpose2d conv_transpose3d ---- */
struct rp_val rp_nn_conv(struct rp_builder *b, const char *name, struct rp_val x,
                         uint64_t out_channels, struct rp_window w, int bias);
struct rp_val rp_nn_conv_groups(struct rp_builder *b, const char *name, struct rp_val x,
                                uint64_t out_channels, struct rp_window w, int bias,
                                uint64_t groups);
/* Spatial sizes become (size - 1) * stride - 2 * pad + kernel. */
struct rp_val rp_nn_conv_transpose(struct rp_builder *b, const char *name, struct rp_val x,
                                   uint64_t out_channels, struct rp_window w, int bias);

/* ---- layers_pool.c ---- */
struct rp_val rp_nn_max_pool(struct rp_builder *b, const char *name, struct rp_val x,
                             struct rp_window w);
struct rp_val rp_nn_avg_pool(struct rp_builder *b, const char *name, struct rp_val x,
                             struct rp_window w, bool count_pad);
/* Spatial sizes become `size` each; window i is [floor(i*in/out), ceil((i+1)*in/out)). */
struct rp_val rp_nn_adaptive_avg_pool(struct rp_builder *b, const char *name,
                                      struct rp_val x, uint64_t size);
/* Repeats every element `by` times in each spatial dimension. It is the op above: with a
 * larger output each window holds one element. */
struct rp_val rp_nn_upsample(struct rp_builder *b, const char *name, struct rp_val x,
                             uint64_t by);
/* Max pooling that also returns where each maximum was, for rp_nn_max_unpool. */
struct rp_val rp_nn_max_pool_index(struct rp_builder *b, const char *name, struct rp_val x,
                                   struct rp_window w, struct rp_val *index);
struct rp_val rp_nn_max_unpool(struct rp_builder *b, const char *name, struct rp_val x,
                               struct rp_val index, struct rp_val like);

/* ---- layers_basic.c ---- */
/* x's last dimension k becomes n: y = x * weightT + bias. */
struct rp_val rp_nn_linear(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t n, int bias);
struct rp_matmul {
    bool transpose_a, transpose_b; /* of the last two dimensions */
    double alpha;                  /* factor of the product; 0 stands for 1 */
};
/* The matrix product over the last two dimensions, for each index of the leading ones.
 * These are the same in a and w, unless w is a matrix. `bias` may be RP_NO_VALUE. */
struct rp_val rp_nn_matmul(struct rp_builder *b, const char *name, struct rp_val a,
                           struct rp_val w, struct rp_val bias, struct rp_matmul m);
/* An op of any kind with one input and an output of the same shape, such as "relu6". */
struct rp_val rp_nn_unary(struct rp_builder *b, const char *kind, const char *name,
                          struct rp_val x);
struct rp_val rp_nn_relu(struct rp_builder *b, const char *name, struct rp_val x);
struct rp_val rp_nn_add(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y);
struct rp_val rp_nn_scale(struct rp_builder *b, const char *name, struct rp_val x,
                          double factor);
struct rp_val rp_nn_dropout(struct rp_builder *b, const char *name, struct rp_val x,
                            double p);
struct rp_val rp_nn_concat(struct rp_builder *b, const char *name, size_t axis, size_t n,
                           const struct rp_val *x);
/* All dimensions after the first become one. */
struct rp_val rp_nn_flatten(struct rp_builder *b, struct rp_val x);

/* ---- layers_norm.c ---- */
enum rp_bn { RP_BN_AFFINE, RP_BN_PLAIN }; /* PLAIN: without scale and shift */
struct rp_val rp_nn_batch_norm(struct rp_builder *b, const char *name, struct rp_val x,
                               double eps, double momentum, enum rp_bn affine);

/* Convolution, batch norm, ReLU: "name.conv", "name.bn", "name.relu". */
struct rp_val rp_nn_conv_bn_relu(struct rp_builder *b, const char *name, struct rp_val x,
                                 uint64_t out_channels, struct rp_window w, int bias,
                                 double eps);

/* ---- layers_ends.c ---- */
/* A source of class numbers, i32, shaped as logits without dimension `axis`. */
struct rp_val rp_nn_labels(struct rp_builder *b, const char *name, struct rp_val logits,
                           size_t axis);
/* A loss: the mean cross entropy over all labels, times `weight`, divided by the number of
 * micro-batches. The step's loss is the sum of all losses. */
void rp_nn_cross_entropy(struct rp_builder *b, const char *name, struct rp_val logits,
                         struct rp_val labels, size_t axis, double weight);

/* The usual head: labels for logits[n, classes] and their loss. */
void rp_nn_classify(struct rp_builder *b, struct rp_val logits);

/* The input "image": batch, channels, --image. Three spatial dimensions in a volume. */
struct rp_val rp_nn_image(struct rp_builder *b, uint64_t channels);
struct rp_val rp_nn_volume(struct rp_builder *b, uint64_t channels);

#endif
