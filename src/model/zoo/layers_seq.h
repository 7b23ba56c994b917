/* layers_seq: the ops of sequence models: tokens, normalization, attention, LSTM steps.
 * docs/ops.md says what each computes. Activations are (batch, tokens, features) unless a
 * comment says otherwise.
 *
 * Not thread-safe: one builder, one thread.
 */
#ifndef RP_MODEL_ZOO_LAYERS_SEQ_H
#define RP_MODEL_ZOO_LAYERS_SEQ_H

#include "model/zoo/layers.h"

/* ---- layers_seq.c ---- */
/* Row ids[i] of the table for each i. The dimensions are those of ids, then the row's. */
struct rp_val rp_nn_gather(struct rp_builder *b, const char *name, struct rp_val table,
                           struct rp_val ids);
/* rp_nn_linear with an existing matrix (n, k), such as a tied embedding. */
struct rp_val rp_nn_linear_tied(struct rp_builder *b, const char *name, struct rp_val x,
                                struct rp_val weight, struct rp_val bias);
/* Adds the first rows of the table, one for each token, to every sequence. */
struct rp_val rp_nn_add_positions(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val table);
/* Over the last dimension; parameters name.weight and, for layer_norm, name.bias. */
struct rp_val rp_nn_layer_norm(struct rp_builder *b, const char *name, struct rp_val x,
                               double eps);
struct rp_val rp_nn_rms_norm(struct rp_builder *b, const char *name, struct rp_val x,
                             double eps);
/* Along `axis`. If causal, the last two dimensions are query and key, `axis` is the last,
 * and a query sees only the keys up to its own position. */
struct rp_val rp_nn_softmax(struct rp_builder *b, const char *name, struct rp_val x,
                            size_t axis, bool causal);
/* x is (batch, tokens, heads, size of a head). A token's position is its index. */
struct rp_val rp_nn_rotary(struct rp_builder *b, const char *name, struct rp_val x,
                           double base);
struct rp_val rp_nn_mul(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y);
/* The dimensions of v are those of x from `axis` on, one or more of them. v is repeated
 * over the others. */
struct rp_val rp_nn_add_broadcast(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val v, size_t axis);
struct rp_val rp_nn_mul_broadcast(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val v, size_t axis);
/* n copies of x along a new dimension 0. */
struct rp_val rp_nn_repeat(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t n);
struct rp_val rp_nn_slice(struct rp_builder *b, const char *name, struct rp_val x,
                          size_t axis, uint64_t start, uint64_t length);
/* n equal parts along `axis`: the inverse of rp_nn_concat. */
void rp_nn_split(struct rp_builder *b, const char *name, struct rp_val x, size_t axis,
                 size_t n, struct rp_val *part);
/* Swaps the last two dimensions. */
struct rp_val rp_nn_transpose(struct rp_builder *b, const char *name, struct rp_val x);
/* Cuts the image (batch, channels, height, width) into squares and projects each to `width`
 * features: (batch, squares, width). */
struct rp_val rp_nn_patches(struct rp_builder *b, const char *name, struct rp_val image,
                            uint64_t width, uint64_t square);
/* rp_nn_classify for every token of logits[..., classes]. */
void rp_nn_classify_tokens(struct rp_builder *b, struct rp_val logits);
/* The same for x (steps, batch, width), after a linear layer `name` with so many classes.
 * The steps are divided into --loss-parts equal parts, so that the logits of one part, and
 * their gradients, need not be in memory together with those of another. */
void rp_nn_classify_steps(struct rp_builder *b, const char *name, struct rp_val x,
                          uint64_t classes);
/* y = g * v / |v|, where g is a single number (Salimans and Kingma, arXiv 1602.07868). */
struct rp_val rp_nn_weight_norm(struct rp_builder *b, const char *name, struct rp_val v,
                                struct rp_val g);

/* ---- layers_attention.c ---- */
/* Kind bmm: c[i, row, col] = alpha * sum over j of a[i, row, j] * b[i, j, col], where i
 * runs over three batch dimensions. Strides are in elements: three of the batch dimensions,
 * then the operand's row and column. If c's stride of a batch dimension is 0, the products
 * are added up over it. With strides, heads are read and written where they lie, so no op
 * transposes, and the gradient of a bmm is two ops of the same kind. */
struct rp_bmm {
    uint64_t batch[3], m, n, k;
    uint64_t a[5], b[5], c[5];
    double alpha;
};
struct rp_val rp_nn_bmm(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y, struct rp_val like, const struct rp_bmm *d);
struct rp_bmm rp_bmm_of(const json_t *attrs);

/* Queries (batch, m, heads * size), keys and values (batch, n, kv_heads * size); heads is a
 * multiple of kv_heads, and head h reads keys and values h / (heads / kv_heads). */
struct rp_heads {
    uint64_t heads, kv_heads;
};
/* q * k^T / sqrt(size): (batch, heads, m, n). */
struct rp_val rp_nn_scores(struct rp_builder *b, const char *name, struct rp_val q,
                           struct rp_val k, struct rp_heads h);
/* p * v: (batch, m, heads * size). */
struct rp_val rp_nn_weigh(struct rp_builder *b, const char *name, struct rp_val p,
                          struct rp_val v, struct rp_heads h);
/* Scores, softmax, dropout if p > 0, then rp_nn_weigh, with names in the open scope. */
struct rp_val rp_nn_attention(struct rp_builder *b, struct rp_val q, struct rp_val k,
                              struct rp_val v, struct rp_heads h, bool causal, double p);

/* ---- layers_lstm.c: steps are dimension 0: (steps, batch, features) ---- */
enum rp_lstm_direction { RP_LSTM_FORWARD, RP_LSTM_REVERSE };
struct rp_lstm_state {
    struct rp_val h, c; /* (batch, hidden) */
};
/* One layer, unrolled over all steps. Its first state is what the previous training step
 * left: sources of kind state. Parameters are weight_ih, weight_hh, bias_ih and bias_hh,
 * with the gates in the order i f g o. If not NULL, *last gets the state after the last
 * step. */
struct rp_val rp_nn_lstm(struct rp_builder *b, const char *name, struct rp_val x,
                         uint64_t hidden, enum rp_lstm_direction direction,
                         struct rp_lstm_state *last);

#endif
