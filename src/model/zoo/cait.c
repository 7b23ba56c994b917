/* CaiT-S24: Touvron et al., "Going deeper with image transformers", 2021 (arXiv
 * 2103.17239): 24 blocks of talking-heads attention with LayerScale on the patches, then
 * two blocks of class attention, as timm's cait_s24_224 builds it, whose defaults have no
 * dropout and no stochastic depth. Names follow timm, with the three thirds of qkv as three
 * matrices.
 * --layers sets the first kind of blocks.
 */
#include "model/zoo/layers_seq.h"

static const double eps = 1e-6;
enum { HEADS = 8 };

/* Mixes the heads of x (batch, heads, m, n): a linear layer across dimension 1. */
static struct rp_val mix_heads(struct rp_builder *b, const char *name, struct rp_val x) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const uint64_t mn = x.dim[2] * x.dim[3];
    rp_scope_begin(b, "%s", name);
    struct rp_val weight = rp_param(b, "weight", RP_SHAPE(HEADS, HEADS));
    struct rp_val bias = rp_param(b, "bias", RP_SHAPE(HEADS));
    const struct rp_bmm d = {.batch = {x.dim[0], 1, 1},
                             .m = HEADS,
                             .n = mn,
                             .k = HEADS,
                             .a = {0, 0, 0, HEADS, 1},
                             .b = {HEADS * mn, 0, 0, mn, 1},
                             .c = {HEADS * mn, 0, 0, mn, 1},
                             .alpha = 1};
    x = rp_nn_bmm(b, "product", weight, x, x, &d);
    x = rp_nn_add_broadcast(b, "add_bias", x, bias, 1);
    rp_scope_end(b);
    return x;
}

struct qkv {
    struct rp_val q, k, v;
};

/* Queries from `from`, keys and values from all of x. */
static struct qkv project(struct rp_builder *b, struct rp_val from, struct rp_val x,
                          uint64_t width) {
    return (struct qkv){rp_nn_linear(b, "q", from, width, RP_BIAS),
                        rp_nn_linear(b, "k", x, width, RP_BIAS),
                        rp_nn_linear(b, "v", x, width, RP_BIAS)};
}

static struct rp_val talking_heads(struct rp_builder *b, struct rp_val x, uint64_t width) {
    const struct rp_heads heads = {HEADS, HEADS};
    rp_scope_begin(b, "attn");
    const struct qkv p = project(b, x, x, width);
    x = mix_heads(b, "proj_l", rp_nn_scores(b, "scores", p.q, p.k, heads));
    x = mix_heads(b, "proj_w", rp_nn_softmax(b, "softmax", x, 3, false));
    x = rp_nn_weigh(b, "context", x, p.v, heads);
    x = rp_nn_linear(b, "proj", x, width, RP_BIAS);
    rp_scope_end(b);
    return x;
}

/* x is (batch, 1 + tokens, width). The first token is the class token, the only query. */
static struct rp_val class_attention(struct rp_builder *b, struct rp_val x,
                                     uint64_t width) {
    const struct rp_heads heads = {HEADS, HEADS};
    rp_scope_begin(b, "attn");
    const struct qkv p = project(b, rp_nn_slice(b, "first", x, 1, 0, 1), x, width);
    x = rp_nn_attention(b, p.q, p.k, p.v, heads, false, 0);
    x = rp_nn_linear(b, "proj", x, width, RP_BIAS);
    rp_scope_end(b);
    return x;
}

/* x + gamma * y, with one factor gamma per channel (LayerScale). */
static struct rp_val add_scaled(struct rp_builder *b, int half, struct rp_val x,
                                struct rp_val y, uint64_t width) {
    rp_scope_begin(b, "half%d", half);
    struct rp_val gamma = rp_param(b, "gamma", RP_SHAPE(width));
    x = rp_nn_add(b, "add", x, rp_nn_mul_broadcast(b, "scale", y, gamma, 2));
    rp_scope_end(b);
    return x;
}

static struct rp_val feed_forward(struct rp_builder *b, struct rp_val x, uint64_t width) {
    struct rp_val y = rp_nn_layer_norm(b, "norm2", x, eps);
    y = rp_nn_linear(b, "mlp.fc1", y, 4 * width, RP_BIAS);
    y = rp_nn_linear(b, "mlp.fc2", rp_nn_unary(b, "gelu", "mlp.gelu", y), width, RP_BIAS);
    return add_scaled(b, 2, x, y, width);
}

static struct rp_val class_token(struct rp_builder *b, struct rp_val x, uint64_t width) {
    struct rp_val token = rp_param(b, "cls_token", RP_SHAPE(width));
    token = rp_view(b, rp_nn_repeat(b, "cls", token, b->o.batch),
                    RP_SHAPE(b->o.batch, 1, width));
    for (int i = 0; i < 2; i++) {
        rp_scope_begin(b, "blocks_token_only.%d", i);
        struct rp_val all[2] = {token, x};
        struct rp_val y = rp_nn_concat(b, "tokens", 1, 2, all);
        y = class_attention(b, rp_nn_layer_norm(b, "norm1", y, eps), width);
        token = feed_forward(b, add_scaled(b, 1, token, y, width), width);
        rp_scope_end(b);
    }
    return token;
}

static void build_cait(struct rp_builder *b) {
    const uint64_t width = rp_width(b, 384);
    struct rp_val x = rp_nn_patches(b, "patch_embed", rp_nn_image(b, 3), width, 16);
    struct rp_val places = rp_param(b, "pos_embed", RP_SHAPE(x.dim[1], width));
    x = rp_nn_add_positions(b, "add_positions", x, places);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "blocks.%d", (int)i);
        struct rp_val y = talking_heads(b, rp_nn_layer_norm(b, "norm1", x, eps), width);
        x = feed_forward(b, add_scaled(b, 1, x, y, width), width);
        rp_scope_end(b);
    }
    /* Only the class token is read from here on, so it alone is normalized. */
    x = rp_nn_layer_norm(b, "norm", class_token(b, x, width), eps);
    x = rp_view(b, x, RP_SHAPE(b->o.batch, width));
    rp_nn_classify(b, rp_nn_linear(b, "head", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_cait_s24 = {
    .name = "cait-s24",
    .build = build_cait,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES | RP_TAKES_LAYERS,
    .usual = {.batch = 64, .image = RP_NET_SQUARE(224), .classes = 1000, .layers = 24},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(32), .classes = 10, .layers = 2},
    .min_image = 16,
    .image_multiple = 16,
    .macs = 9.35e9, /* parameters: 46.92 million there, 46,916,200 here */
    .macs_source = "timm, results/benchmark-infer-amp-nchw-pt113-cu117-rtx3090.csv",
};
