/* LLaMA 7B: Touvron et al., "LLaMA: Open and efficient foundation language models", 2023
 * (arXiv 2302.13971): a decoder with RMSNorm before each half (eps 1e-6), rotary embedding
 * (base 10,000, neighbouring pairs, as in the released code) and SwiGLU, 32 layers, no
 * biases, no dropout, output not tied. With --kv-heads below 32 it has the grouped-query
 * attention of Ainslie et al., 2023 (arXiv 2305.13245). Names follow the released code.
 *
 * 6,738,415,616 parameters, and 850 billion multiply-adds forward for 128 tokens
 * (MrYxJ/calculate-flops.pytorch, README, llama-7b).
 */
#include <inttypes.h>

#include "base/mem.h"
#include "model/zoo/layers_seq.h"

static const double eps = 1e-6, rotary_base = 10000;

struct size {
    uint64_t width, inner;
    struct rp_heads heads;
};

/* As in the released code, inner is two thirds of four times the width, rounded up to a
 * multiple of 256. */
static struct size size_of(const struct rp_builder *b) {
    const uint64_t width = b->o.width, heads = width / rp_width(b, b->entry->head_width);
    return (struct size){
        width, rp_round_up(width * 8 / 3, rp_width(b, 256)), {heads, b->o.kv_heads}};
}

static struct rp_val rotate(struct rp_builder *b, const char *name, struct rp_val x,
                            uint64_t heads) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const uint64_t n = x.dim[0], seq = x.dim[1], width = x.dim[2];
    struct rp_val y = rp_view(b, x, RP_SHAPE(n, seq, heads, width / heads));
    return rp_view(b, rp_nn_rotary(b, name, y, rotary_base), RP_SHAPE(n, seq, width));
}

static struct rp_val attention(struct rp_builder *b, const struct size *s,
                               struct rp_val x) {
    const uint64_t kv_width = s->width / s->heads.heads * s->heads.kv_heads;
    rp_scope_begin(b, "attention");
    struct rp_val q = rp_nn_linear(b, "wq", x, s->width, RP_NO_BIAS);
    struct rp_val k = rp_nn_linear(b, "wk", x, kv_width, RP_NO_BIAS);
    struct rp_val v = rp_nn_linear(b, "wv", x, kv_width, RP_NO_BIAS);
    q = rotate(b, "rotary_q", q, s->heads.heads);
    k = rotate(b, "rotary_k", k, s->heads.kv_heads);
    x = rp_nn_attention(b, q, k, v, s->heads, true, 0);
    x = rp_nn_linear(b, "wo", x, s->width, RP_NO_BIAS);
    rp_scope_end(b);
    return x;
}

/* w2(silu(w1 x) * w3 x) */
static struct rp_val feed_forward(struct rp_builder *b, const struct size *s,
                                  struct rp_val x) {
    rp_scope_begin(b, "feed_forward");
    struct rp_val gate = rp_nn_linear(b, "w1", x, s->inner, RP_NO_BIAS);
    struct rp_val up = rp_nn_linear(b, "w3", x, s->inner, RP_NO_BIAS);
    x = rp_nn_mul(b, "mul", rp_nn_unary(b, "silu", "silu", gate), up);
    x = rp_nn_linear(b, "w2", x, s->width, RP_NO_BIAS);
    rp_scope_end(b);
    return x;
}

static void build_llama(struct rp_builder *b) {
    const struct size s = size_of(b);
    const uint64_t vocabulary = b->o.tiny ? 96 : 32000;
    if (s.heads.heads % s.heads.kv_heads != 0)
        rp_builder_fail(b, RP_USAGE,
                        "--kv-heads %" PRIu64 " does not divide %" PRIu64 " heads",
                        s.heads.kv_heads, s.heads.heads);
    struct rp_val tokens =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "tokens", RP_SHAPE(b->o.batch, b->o.seq));
    struct rp_val table =
        rp_param(b, "tok_embeddings.weight", RP_SHAPE(vocabulary, s.width));
    struct rp_val x = rp_nn_gather(b, "tok_embeddings", table, tokens);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "layers.%d", (int)i);
        struct rp_val y = attention(b, &s, rp_nn_rms_norm(b, "attention_norm", x, eps));
        x = rp_nn_add(b, "add_attention", x, y);
        y = feed_forward(b, &s, rp_nn_rms_norm(b, "ffn_norm", x, eps));
        x = rp_nn_add(b, "add_ffn", x, y);
        rp_scope_end(b);
    }
    x = rp_nn_rms_norm(b, "norm", x, eps);
    rp_nn_classify_tokens(b, rp_nn_linear(b, "output", x, vocabulary, RP_NO_BIAS));
}

const struct rp_zoo_entry rp_net_llama_7b = {
    .name = "llama-7b",
    .build = build_llama,
    .takes = RP_TAKES_SEQ | RP_TAKES_LAYERS | RP_TAKES_KV_HEADS | RP_TAKES_WIDTH,
    .head_width = 128,
    .usual = {.batch = 1, .seq = 2048, .layers = 32, .width = 4096, .kv_heads = 32},
    .tiny = {.batch = 2, .seq = 8, .layers = 2, .kv_heads = 8},
    .params = 6738415616,
    .params_source = "MrYxJ/calculate-flops.pytorch, README, llama-7b",
};
