/* Neural machine translation with LSTMs: GNMT (Wu et al., 2016, arXiv 1609.08144) in the
 * form of MLPerf v0.5 and NVIDIA/DeepLearningExamples, PyTorch/Translation/GNMT: four
 * layers of 1,024 units on either side, the first of the encoder in both directions,
 * residual connections from the third on, one embedding of 32,320 subwords for both
 * languages, dropout 0.2. 160,671,297 parameters (NVIDIA/apex, tests of the distributed
 * optimizers: "MLPerf GNMT has 160671297 parameters").
 *
 * Attention is Bahdanau's, additive and normalized (arXiv 1409.0473, 1602.07868), from the
 * decoder's first layer, one step after another and in its elementary ops:
 *
 *     e = tanh(keys + query), score = e v, weight = softmax(score), context = weight values
 *
 * e and the sum in it have one element for each batch item, source word and unit. They are
 * large, cheap to recompute, and made from small tensors. A plan that recomputes them step
 * by step in the backward pass is the memory-efficient attention of Zheng et al., "Echo",
 * ISCA 2020.
 *
 * Differences: all sentences have --steps words, so nothing is masked or packed. The loss
 * is cross entropy without label smoothing. normalize_bias is added to the keys once, not
 * to every sum.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "model/zoo/layers_seq.h"

static const double dropout = 0.2;

static struct rp_val words(struct rp_builder *b, const char *name, struct rp_val table) {
    rp_scope_begin(b, "%s", name);
    struct rp_val ids =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "words", RP_SHAPE(b->o.steps, b->o.batch));
    struct rp_val x = rp_nn_gather(b, "embedding", table, ids);
    rp_scope_end(b);
    return x;
}

static struct rp_val encoder(struct rp_builder *b, struct rp_val x, uint64_t width) {
    rp_scope_begin(b, "encoder.0");
    struct rp_val in = rp_nn_dropout(b, "dropout", x, dropout);
    struct rp_val both[2] = {rp_nn_lstm(b, "forward", in, width, RP_LSTM_FORWARD, NULL),
                             rp_nn_lstm(b, "reverse", in, width, RP_LSTM_REVERSE, NULL)};
    x = rp_nn_concat(b, "output", 2, 2, both);
    rp_scope_end(b);
    for (uint64_t i = 1; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "encoder.%d", (int)i);
        struct rp_val y = rp_nn_dropout(b, "dropout", x, dropout);
        y = rp_nn_lstm(b, "lstm", y, width, RP_LSTM_FORWARD, NULL);
        x = i < 2 ? y : rp_nn_add(b, "add", y, x);
        rp_scope_end(b);
    }
    return x;
}

struct attention {
    struct rp_val keys, values; /* (source words, batch, width) */
    struct rp_val v;            /* (1, width) */
};

static struct attention attention_begin(struct rp_builder *b, struct rp_val values,
                                        uint64_t width) {
    struct rp_val keys = rp_nn_linear(b, "linear_k", values, width, RP_NO_BIAS);
    struct rp_val bias = rp_param(b, "normalize_bias", RP_SHAPE(width));
    struct rp_val v = rp_param(b, "linear_att", RP_SHAPE(width));
    struct rp_val g = rp_param(b, "normalize_scalar", RP_SHAPE(1));
    v = rp_nn_weight_norm(b, "v", v, g);
    return (struct attention){rp_nn_add_broadcast(b, "keys", keys, bias, 2), values,
                              rp_view(b, v, RP_SHAPE(1, width))};
}

/* The context of one query (batch, width): (1, batch, width). */
static struct rp_val attend(struct rp_builder *b, const struct attention *a,
                            struct rp_val query) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const uint64_t n = a->keys.dim[0], batch = a->keys.dim[1], width = a->keys.dim[2];
    struct rp_val e = rp_nn_add_broadcast(b, "sum", a->keys, query, 1);
    e = rp_nn_unary(b, "tanh", "tanh", e);
    struct rp_val score = rp_nn_linear_tied(b, "score", e, a->v, RP_NO_VALUE);
    score = rp_view(b, score, RP_SHAPE(n, batch));
    struct rp_val weight = rp_nn_softmax(b, "softmax", score, 0, false);
    const struct rp_bmm d = {.batch = {batch, 1, 1},
                             .m = 1,
                             .n = width,
                             .k = n,
                             .a = {1, 0, 0, 0, batch},
                             .b = {width, 0, 0, batch * width, 1},
                             .c = {width, 0, 0, 0, 1},
                             .alpha = 1};
    return rp_nn_bmm(b, "context", weight, a->values,
                     rp_shaped(query.dtype, RP_SHAPE(1, batch, width)), &d);
}

/* Contexts of all steps' queries: (steps, batch, width). */
static struct rp_val attention(struct rp_builder *b, struct rp_val queries,
                               struct rp_val values, uint64_t width) {
    const size_t steps = b->o.steps;
    rp_scope_begin(b, "decoder.attention");
    const struct attention a = attention_begin(b, values, width);
    struct rp_val *at = rp_calloc(steps, sizeof *at);
    queries = rp_nn_linear(b, "linear_q", queries, width, RP_NO_BIAS);
    rp_nn_split(b, "queries", queries, 0, steps, at);
    for (size_t t = 0; t < steps && b->rc == RP_OK; t++) {
        rp_scope_begin(b, "t%zu", t);
        at[t] = attend(b, &a, rp_view(b, at[t], RP_SHAPE(b->o.batch, width)));
        rp_scope_end(b);
    }
    struct rp_val contexts = rp_nn_concat(b, "output", 0, steps, at);
    rp_scope_end(b);
    free(at);
    return contexts;
}

static struct rp_val decoder(struct rp_builder *b, struct rp_val x, struct rp_val values,
                             uint64_t width) {
    rp_scope_begin(b, "decoder.0");
    x = rp_nn_lstm(b, "lstm", x, width, RP_LSTM_FORWARD, NULL);
    rp_scope_end(b);
    const struct rp_val context = attention(b, x, values, width);
    for (uint64_t i = 1; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "decoder.%d", (int)i);
        struct rp_val in[2] = {rp_nn_dropout(b, "dropout", x, dropout), context};
        struct rp_val y = rp_nn_concat(b, "input", 2, 2, in);
        y = rp_nn_lstm(b, "lstm", y, width, RP_LSTM_FORWARD, NULL);
        x = i < 2 ? y : rp_nn_add(b, "add", y, x);
        rp_scope_end(b);
    }
    return x;
}

static void build_nmt(struct rp_builder *b) {
    const uint64_t width = rp_width(b, 1024), vocabulary = b->o.tiny ? 96 : 32320;
    if (b->o.layers < 2)
        rp_builder_fail(b, RP_USAGE, "--layers must be at least 2");
    struct rp_val table = rp_param(b, "embedding.weight", RP_SHAPE(vocabulary, width));
    struct rp_val values = encoder(b, words(b, "source", table), width);
    struct rp_val x = decoder(b, words(b, "target", table), values, width);
    rp_nn_classify_steps(b, "classifier", x, vocabulary);
}

const struct rp_zoo_entry rp_net_nmt = {
    .name = "nmt",
    .build = build_nmt,
    .takes = RP_TAKES_LAYERS | RP_TAKES_STEPS | RP_TAKES_LOSS_PARTS,
    .usual = {.batch = 128, .layers = 4, .steps = 50},
    .tiny = {.batch = 2, .layers = 3, .steps = 4},
    .params = 160671297,
    .params_source = "NVIDIA/apex, tests of the distributed optimizers, MLPerf GNMT",
};
