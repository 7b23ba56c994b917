/* DenseNet: Huang, Liu, van der Maaten and Weinberger, "Densely connected convolutional
 * networks", 2017, as torchvision does it: each layer concatenates all maps of its block.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "model/zoo/layers.h"

struct maps {
    RP_VEC(struct rp_val);
};

static struct rp_val norm_relu(struct rp_builder *b, const char *norm, const char *relu,
                               struct rp_val x) {
    return rp_nn_relu(b, relu, rp_nn_batch_norm(b, norm, x, 1e-5, 0.1, RP_BN_AFFINE));
}

static struct rp_val joined(struct rp_builder *b, const struct maps *m) {
    return m->n == 1 ? m->at[0] : rp_nn_concat(b, "concat", 1, m->n, m->at);
}

/* A bottleneck of 4 times the growth, then the layer's own new maps. */
static struct rp_val layer(struct rp_builder *b, struct rp_val x, uint64_t growth) {
    x = norm_relu(b, "norm1", "relu1", x);
    x = rp_nn_conv(b, "conv1", x, 4 * growth, rp_square(1, 1, 0), RP_NO_BIAS);
    x = norm_relu(b, "norm2", "relu2", x);
    return rp_nn_conv(b, "conv2", x, growth, rp_square(3, 1, 1), RP_NO_BIAS);
}

static struct rp_val dense_block(struct rp_builder *b, struct rp_val x, unsigned block,
                                 uint64_t layers) {
    struct maps maps = {0};
    rp_push(&maps, x);
    for (unsigned i = 0; i < rp_depth(b, layers); i++) {
        rp_scope_begin(b, "denseblock%u.denselayer%u", block, i + 1);
        x = layer(b, joined(b, &maps), rp_width(b, 32));
        rp_scope_end(b);
        rp_push(&maps, x);
    }
    rp_scope_begin(b, "denseblock%u", block);
    x = joined(b, &maps);
    rp_scope_end(b);
    free(maps.at);
    return x;
}

static void build_densenet(struct rp_builder *b) {
    static const uint64_t layers[4] = {6, 12, 24, 16};
    struct rp_val x = rp_nn_image(b, 3);
    x = rp_nn_conv(b, "conv0", x, rp_width(b, 64), rp_square(7, 2, 3), RP_NO_BIAS);
    x = norm_relu(b, "norm0", "relu0", x);
    x = rp_nn_max_pool(b, "pool0", x, rp_square(3, 2, 1));
    for (unsigned i = 0; i < 4; i++) {
        x = dense_block(b, x, i + 1, layers[i]);
        if (i == 3)
            break;
        rp_scope_begin(b, "transition%u", i + 1);
        x = norm_relu(b, "norm", "relu", x);
        x = rp_nn_conv(b, "conv", x, x.dim[1] / 2, rp_square(1, 1, 0), RP_NO_BIAS);
        x = rp_nn_avg_pool(b, "pool", x, rp_square(2, 2, 0), true);
        rp_scope_end(b);
    }
    x = norm_relu(b, "norm5", "relu5", x);
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    rp_nn_classify(b, rp_nn_linear(b, "classifier", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_densenet121 = {
    .name = "densenet121",
    .build = build_densenet,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(7978856, 2.834e9, RP_NET_TORCHVISION),
};
