/* BERT: Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language
 * understanding", 2019 (arXiv 1810.04805), uncased, in pre-training: masked-LM head with
 * the embedding tied to its output, and next-sentence head. Names follow BertForPreTraining
 * of Hugging Face transformers, whose checkpoint counts 110,106,428 (bert-base-uncased, its
 * safetensors header) and 336,226,108 (large); "bert.*" alone, encoder and pooler, is the
 * 109,482,240 and 335,141,888 of BertModel (keras-hub's preset bert_large_en_uncased states
 * the latter too). Dropout 0.1 on hidden states and attention, as published.
 *
 * All sequences are full, so there is no padding mask. 15% of the positions are predicted,
 * rounded up: 20 of 128, as in google-research/bert's README.
 */
#include "model/zoo/layers_seq.h"

static const double eps = 1e-12, dropout = 0.1;

struct size {
    uint64_t width, inner, heads, vocabulary, positions;
};

static struct size size_of(const struct rp_builder *b) {
    const uint64_t width = b->o.width;
    return (struct size){.width = width,
                         .inner = 4 * width,
                         .heads = width / rp_width(b, b->entry->head_width),
                         .vocabulary = b->o.tiny ? 96 : 30522,
                         .positions = b->o.tiny ? 16 : 512};
}

static struct rp_val embeddings(struct rp_builder *b, const struct size *s,
                                struct rp_val words) {
    const uint64_t batch = b->o.batch, seq = b->o.seq;
    struct rp_val ids =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "input_ids", RP_SHAPE(batch, seq));
    struct rp_val types =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "token_type_ids", RP_SHAPE(batch, seq));
    struct rp_val places =
        rp_param(b, "position_embeddings.weight", RP_SHAPE(s->positions, s->width));
    struct rp_val kinds =
        rp_param(b, "token_type_embeddings.weight", RP_SHAPE(2, s->width));
    struct rp_val x = rp_nn_add(b, "add_types", rp_nn_gather(b, "words", words, ids),
                                rp_nn_gather(b, "types", kinds, types));
    x = rp_nn_add_positions(b, "add_positions", x, places);
    x = rp_nn_layer_norm(b, "LayerNorm", x, eps);
    return rp_nn_dropout(b, "dropout", x, dropout);
}

/* Both halves of a layer end with dense, dropout, residual and norm. */
static struct rp_val output(struct rp_builder *b, const struct size *s, struct rp_val x,
                            struct rp_val residual) {
    rp_scope_begin(b, "output");
    x = rp_nn_dropout(b, "dropout", rp_nn_linear(b, "dense", x, s->width, RP_BIAS),
                      dropout);
    x = rp_nn_layer_norm(b, "LayerNorm", rp_nn_add(b, "add", x, residual), eps);
    rp_scope_end(b);
    return x;
}

static struct rp_val layer(struct rp_builder *b, const struct size *s, struct rp_val x) {
    const struct rp_heads heads = {s->heads, s->heads};
    rp_scope_begin(b, "attention");
    rp_scope_begin(b, "self");
    struct rp_val q = rp_nn_linear(b, "query", x, s->width, RP_BIAS);
    struct rp_val k = rp_nn_linear(b, "key", x, s->width, RP_BIAS);
    struct rp_val v = rp_nn_linear(b, "value", x, s->width, RP_BIAS);
    struct rp_val y = rp_nn_attention(b, q, k, v, heads, false, dropout);
    rp_scope_end(b);
    x = output(b, s, y, x);
    rp_scope_end(b);
    y = rp_nn_linear(b, "intermediate.dense", x, s->inner, RP_BIAS);
    return output(b, s, rp_nn_unary(b, "gelu", "intermediate.gelu", y), x);
}

static void masked_lm(struct rp_builder *b, const struct size *s, struct rp_val x,
                      struct rp_val words) {
    const uint64_t batch = b->o.batch, seq = b->o.seq;
    const uint64_t n = rp_product(b, RP_SHAPE(batch, (seq * 15 + 99) / 100));
    rp_scope_begin(b, "cls.predictions");
    struct rp_val places = rp_source(b, RP_INPUT_TENSOR, RP_I32, "positions", RP_SHAPE(n));
    x = rp_nn_gather(b, "masked", rp_view(b, x, RP_SHAPE(batch * seq, s->width)), places);
    x = rp_nn_unary(b, "gelu", "gelu", rp_nn_linear(b, "dense", x, s->width, RP_BIAS));
    x = rp_nn_layer_norm(b, "LayerNorm", x, eps);
    struct rp_val bias = rp_param(b, "bias", RP_SHAPE(s->vocabulary));
    x = rp_nn_linear_tied(b, "decoder", x, words, bias);
    rp_nn_classify(b, x);
    rp_scope_end(b);
}

static void next_sentence(struct rp_builder *b, const struct size *s, struct rp_val x) {
    rp_scope_begin(b, "bert.pooler");
    x = rp_view(b, rp_nn_slice(b, "first", x, 1, 0, 1), RP_SHAPE(b->o.batch, s->width));
    x = rp_nn_unary(b, "tanh", "tanh", rp_nn_linear(b, "dense", x, s->width, RP_BIAS));
    rp_scope_end(b);
    rp_scope_begin(b, "cls.seq_relationship");
    rp_nn_classify(b, rp_nn_linear(b, "output", x, 2, RP_BIAS));
    rp_scope_end(b);
}

static void build_bert(struct rp_builder *b) {
    const struct size s = size_of(b);
    rp_scope_begin(b, "bert.embeddings");
    struct rp_val words =
        rp_param(b, "word_embeddings.weight", RP_SHAPE(s.vocabulary, s.width));
    struct rp_val x = embeddings(b, &s, words);
    rp_scope_end(b);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "bert.encoder.layer.%d", (int)i);
        x = layer(b, &s, x);
        rp_scope_end(b);
    }
    masked_lm(b, &s, x, words);
    next_sentence(b, &s, x);
}

const struct rp_zoo_entry rp_net_bert_base = {
    .name = "bert-base",
    .build = build_bert,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 32, .seq = 128, .layers = 12, .width = 768},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 110106428,
    .params_source = "bert-base-uncased, safetensors header; 109,482,240 without heads",
};

const struct rp_zoo_entry rp_net_bert_large = {
    .name = "bert-large",
    .build = build_bert,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 32, .seq = 128, .layers = 24, .width = 1024},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 336226108,
    .params_source = "bert-large-uncased, checkpoint; 335,141,888 without heads",
};
