/* GoogLeNet: Szegedy et al., "Going deeper with convolutions", 2015, as torchvision does
 * it: batch norm after each convolution, 3x3 where the paper has 5x5, and two auxiliary
 * classifiers whose losses count 0.3. Pooling pads by 1 instead of rounding sizes up, which
 * gives the same sizes. */
#include "model/zoo/layers.h"

static struct rp_val layer(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t out, uint64_t kernel) {
    return rp_nn_conv_bn_relu(b, name, x, rp_width(b, out),
                              rp_square(kernel, 1, kernel / 2), RP_NO_BIAS, 1e-3);
}

/* Channels: 1x1; 3x3 reduced, 3x3; 5x5 reduced, 5x5; pooled. Table 1 of the paper. */
static const struct module {
    const char *name;
    uint64_t c1, r3, c3, r5, c5, pool;
} modules[] = {
    {"3a", 64, 96, 128, 16, 32, 32},     {"3b", 128, 128, 192, 32, 96, 64},
    {"4a", 192, 96, 208, 16, 48, 64},    {"4b", 160, 112, 224, 24, 64, 64},
    {"4c", 128, 128, 256, 24, 64, 64},   {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128}, {"5a", 256, 160, 320, 32, 128, 128},
    {"5b", 384, 192, 384, 48, 128, 128},
};

static struct rp_val inception(struct rp_builder *b, struct rp_val x,
                               const struct module *m) {
    struct rp_val part[4];
    rp_scope_begin(b, "inception%s", m->name);
    part[0] = layer(b, "branch1", x, m->c1, 1);
    part[1] = layer(b, "branch2.1", layer(b, "branch2.0", x, m->r3, 1), m->c3, 3);
    part[2] = layer(b, "branch3.1", layer(b, "branch3.0", x, m->r5, 1), m->c5, 3);
    part[3] = rp_nn_max_pool(b, "branch4.pool", x, rp_square(3, 1, 1));
    part[3] = layer(b, "branch4.1", part[3], m->pool, 1);
    x = rp_nn_concat(b, "concat", 1, 4, part);
    rp_scope_end(b);
    return x;
}

static struct rp_val auxiliary(struct rp_builder *b, const char *name, struct rp_val x) {
    rp_scope_begin(b, "%s", name);
    x = rp_nn_adaptive_avg_pool(b, "pool", x, 4);
    x = rp_nn_flatten(b, layer(b, "conv", x, 128, 1));
    x = rp_nn_linear(b, "fc1", x, rp_width(b, 1024), RP_BIAS);
    x = rp_nn_dropout(b, "dropout", rp_nn_relu(b, "relu", x), 0.7);
    x = rp_nn_linear(b, "fc2", x, b->o.classes, RP_BIAS);
    rp_scope_end(b);
    return x;
}

static struct rp_val stem(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3);
    x = rp_nn_conv_bn_relu(b, "conv1", x, rp_width(b, 64), rp_square(7, 2, 3), RP_NO_BIAS,
                           1e-3);
    x = rp_nn_max_pool(b, "maxpool1", x, rp_square(3, 2, 1));
    x = layer(b, "conv3", layer(b, "conv2", x, 64, 1), 192, 3);
    return rp_nn_max_pool(b, "maxpool2", x, rp_square(3, 2, 1));
}

static void build_googlenet(struct rp_builder *b) {
    struct rp_val x = stem(b), aux[2] = {{0}};
    for (unsigned i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        x = inception(b, x, &modules[i]);
        if (i == 1)
            x = rp_nn_max_pool(b, "maxpool3", x, rp_square(3, 2, 1));
        if (i == 6)
            x = rp_nn_max_pool(b, "maxpool4", x, rp_square(2, 2, 0));
        if (i == 2 && !b->o.no_aux)
            aux[0] = auxiliary(b, "aux1", x);
        if (i == 5 && !b->o.no_aux)
            aux[1] = auxiliary(b, "aux2", x);
    }
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    x = rp_nn_dropout(b, "dropout", x, 0.2);
    x = rp_nn_linear(b, "fc", x, b->o.classes, RP_BIAS);
    struct rp_val labels = rp_nn_labels(b, "labels", x, 1);
    rp_nn_cross_entropy(b, "loss", x, labels, 1, 1.0);
    if (b->o.no_aux)
        return;
    rp_nn_cross_entropy(b, "aux1.loss", aux[0], labels, 1, 0.3);
    rp_nn_cross_entropy(b, "aux2.loss", aux[1], labels, 1, 0.3);
}

const struct rp_zoo_entry rp_net_googlenet = {
    .name = "googlenet",
    .build = build_googlenet,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES | RP_TAKES_NO_AUX,
    .usual = {.batch = 64, .image = RP_NET_SQUARE(224), .classes = 1000},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(32), .classes = 4},
    .min_image = 32,
    .params = 13004888,
    .params_source = "torchvision googlenet(aux_logits=True); 6624904 without",
    .macs = 1.498e9,
    .macs_source = RP_NET_TORCHVISION,
};
