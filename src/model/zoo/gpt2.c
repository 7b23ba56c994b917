/* GPT-2: Radford et al., "Language models are unsupervised multitask learners", 2019, in
 * its four sizes; the output is tied to the token embedding. Names follow openai/gpt-2,
 * with the three thirds of c_attn as three matrices q, k, v: the same count and the same
 * products. Dropout 0.1 on embeddings, attention and residuals, as in the released models'
 * hyper-parameters (Hugging Face configs: embd_pdrop, attn_pdrop, resid_pdrop).
 *
 * Counts: 124,439,808, 354,823,168, 774,030,080, 1,557,611,200 (keras-hub presets "params",
 * openai-community checkpoints). Forward pass of the smallest, 1,024 tokens:
 * 291,648,307,200 flops (karpathy/nanoGPT, transformer_sizing.ipynb).
 */
#include "model/zoo/layers_seq.h"

#define KERAS_HUB "keras-hub, gpt2_presets.py, params"

static const double eps = 1e-5, dropout = 0.1;

struct size {
    uint64_t width, heads;
};

static struct rp_val attention(struct rp_builder *b, const struct size *s,
                               struct rp_val x) {
    const struct rp_heads heads = {s->heads, s->heads};
    rp_scope_begin(b, "attn");
    struct rp_val q = rp_nn_linear(b, "q", x, s->width, RP_BIAS);
    struct rp_val k = rp_nn_linear(b, "k", x, s->width, RP_BIAS);
    struct rp_val v = rp_nn_linear(b, "v", x, s->width, RP_BIAS);
    x = rp_nn_attention(b, q, k, v, heads, true, dropout);
    x = rp_nn_linear(b, "c_proj", x, s->width, RP_BIAS);
    x = rp_nn_dropout(b, "resid_dropout", x, dropout);
    rp_scope_end(b);
    return x;
}

static struct rp_val block(struct rp_builder *b, const struct size *s, struct rp_val x) {
    struct rp_val y = attention(b, s, rp_nn_layer_norm(b, "ln_1", x, eps));
    x = rp_nn_add(b, "add_1", x, y);
    y = rp_nn_layer_norm(b, "ln_2", x, eps);
    rp_scope_begin(b, "mlp");
    y = rp_nn_linear(b, "c_fc", y, 4 * s->width, RP_BIAS);
    y = rp_nn_linear(b, "c_proj", rp_nn_unary(b, "gelu_tanh", "gelu", y), s->width,
                     RP_BIAS);
    y = rp_nn_dropout(b, "dropout", y, dropout);
    rp_scope_end(b);
    return rp_nn_add(b, "add_2", x, y);
}

static void build_gpt2(struct rp_builder *b) {
    const struct size s = {b->o.width, b->o.width / rp_width(b, b->entry->head_width)};
    const uint64_t vocabulary = b->o.tiny ? 96 : 50257, positions = b->o.tiny ? 16 : 1024;
    struct rp_val tokens =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "tokens", RP_SHAPE(b->o.batch, b->o.seq));
    struct rp_val wte = rp_param(b, "wte", RP_SHAPE(vocabulary, s.width));
    struct rp_val wpe = rp_param(b, "wpe", RP_SHAPE(positions, s.width));
    struct rp_val x = rp_nn_gather(b, "embedding", wte, tokens);
    x = rp_nn_add_positions(b, "add_positions", x, wpe);
    x = rp_nn_dropout(b, "dropout", x, dropout);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "h%d", (int)i);
        x = block(b, &s, x);
        rp_scope_end(b);
    }
    x = rp_nn_linear_tied(b, "logits", rp_nn_layer_norm(b, "ln_f", x, eps), wte,
                          RP_NO_VALUE);
    rp_nn_classify_tokens(b, x);
}

const struct rp_zoo_entry rp_net_gpt2 = {
    .name = "gpt2",
    .build = build_gpt2,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 8, .seq = 1024, .layers = 12, .width = 768},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 124439808,
    .params_source = KERAS_HUB,
    .macs = 291648307200 / 2.0,
    .macs_source = "karpathy/nanoGPT, transformer_sizing.ipynb, forward_total / 2",
};

const struct rp_zoo_entry rp_net_gpt2_medium = {
    .name = "gpt2-medium",
    .build = build_gpt2,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 8, .seq = 1024, .layers = 24, .width = 1024},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 354823168,
    .params_source = KERAS_HUB,
};

const struct rp_zoo_entry rp_net_gpt2_large = {
    .name = "gpt2-large",
    .build = build_gpt2,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 8, .seq = 1024, .layers = 36, .width = 1280},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 774030080,
    .params_source = KERAS_HUB,
};

const struct rp_zoo_entry rp_net_gpt2_xl = {
    .name = "gpt2-xl",
    .build = build_gpt2,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_WIDTH,
    .head_width = 64,
    .usual = {.batch = 4, .seq = 1024, .layers = 48, .width = 1600},
    .tiny = {.batch = 2, .seq = 8, .layers = 2},
    .params = 1557611200,
    .params_source = KERAS_HUB,
};
