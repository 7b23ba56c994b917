/* ViT-B/16: Dosovitskiy et al., "An image is worth 16x16 words", 2021 (arXiv 2010.11929),
 * as timm's vit_base_patch16_224 and torchvision's vit_b_16 build it: no dropout. Names
 * follow timm, with the three thirds of qkv as three matrices. The positional embedding has
 * one row for each token of the given image.
 */
#include "model/zoo/layers_seq.h"

static const double eps = 1e-6;

static struct rp_val block(struct rp_builder *b, struct rp_val x, uint64_t width) {
    const struct rp_heads heads = {12, 12};
    struct rp_val y = rp_nn_layer_norm(b, "norm1", x, eps);
    rp_scope_begin(b, "attn");
    struct rp_val q = rp_nn_linear(b, "q", y, width, RP_BIAS);
    struct rp_val k = rp_nn_linear(b, "k", y, width, RP_BIAS);
    struct rp_val v = rp_nn_linear(b, "v", y, width, RP_BIAS);
    y = rp_nn_attention(b, q, k, v, heads, false, 0);
    y = rp_nn_linear(b, "proj", y, width, RP_BIAS);
    rp_scope_end(b);
    x = rp_nn_add(b, "add1", x, y);
    y = rp_nn_layer_norm(b, "norm2", x, eps);
    y = rp_nn_linear(b, "mlp.fc1", y, 4 * width, RP_BIAS);
    y = rp_nn_linear(b, "mlp.fc2", rp_nn_unary(b, "gelu", "mlp.gelu", y), width, RP_BIAS);
    return rp_nn_add(b, "add2", x, y);
}

static void build_vit(struct rp_builder *b) {
    const uint64_t width = rp_width(b, 768);
    struct rp_val x = rp_nn_patches(b, "patch_embed", rp_nn_image(b, 3), width, 16);
    struct rp_val token = rp_param(b, "cls_token", RP_SHAPE(width));
    token = rp_view(b, rp_nn_repeat(b, "cls", token, b->o.batch),
                    RP_SHAPE(b->o.batch, 1, width));
    struct rp_val both[2] = {token, x};
    x = rp_nn_concat(b, "tokens", 1, 2, both);
    struct rp_val places = rp_param(b, "pos_embed", RP_SHAPE(x.dim[1], width));
    x = rp_nn_add_positions(b, "add_positions", x, places);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "blocks.%d", (int)i);
        x = block(b, x, width);
        rp_scope_end(b);
    }
    x = rp_nn_layer_norm(b, "norm", x, eps);
    x = rp_view(b, rp_nn_slice(b, "first", x, 1, 0, 1), RP_SHAPE(b->o.batch, width));
    rp_nn_classify(b, rp_nn_linear(b, "head", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_vit_b16 = {
    .name = "vit-b16",
    .build = build_vit,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES | RP_TAKES_LAYERS,
    .usual = {.batch = 64, .image = RP_NET_SQUARE(224), .classes = 1000, .layers = 12},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(32), .classes = 10, .layers = 2},
    .min_image = 16,
    .image_multiple = 16,
    .params = 86567656,
    .params_source = RP_NET_TORCHVISION,
    .macs = 17.56e9,
    .macs_source = RP_NET_TORCHVISION,
};
