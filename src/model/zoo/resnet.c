/* ResNet: He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2016, as
 * torchvision does it: a bottleneck strides in its 3x3 convolution. */
#include "model/zoo/layers.h"

static const struct depth {
    int variant;
    bool bottleneck;
    uint64_t blocks[4];
} depths[] = {
    {18, false, {2, 2, 2, 2}},
    {50, true, {3, 4, 6, 3}},
    {101, true, {3, 4, 23, 3}},
    {152, true, {3, 8, 36, 3}},
};

static struct rp_val norm(struct rp_builder *b, const char *name, struct rp_val x) {
    return rp_nn_batch_norm(b, name, x, 1e-5, 0.1, RP_BN_AFFINE);
}

/* The shortcut: a projection where the shape changes. */
static struct rp_val shortcut(struct rp_builder *b, struct rp_val x, uint64_t out,
                              uint64_t stride) {
    if (x.dim[1] == out && stride == 1)
        return x;
    rp_scope_begin(b, "downsample");
    x = norm(b, "1", rp_nn_conv(b, "0", x, out, rp_square(1, stride, 0), RP_NO_BIAS));
    rp_scope_end(b);
    return x;
}

static struct rp_val basic(struct rp_builder *b, struct rp_val x, uint64_t width,
                           uint64_t stride) {
    struct rp_val y = rp_nn_conv(b, "conv1", x, width, rp_square(3, stride, 1), RP_NO_BIAS);
    y = rp_nn_relu(b, "relu1", norm(b, "bn1", y));
    y = rp_nn_conv(b, "conv2", y, width, rp_square(3, 1, 1), RP_NO_BIAS);
    y = norm(b, "bn2", y);
    y = rp_nn_add(b, "add", y, shortcut(b, x, width, stride));
    return rp_nn_relu(b, "relu2", y);
}

static struct rp_val bottleneck(struct rp_builder *b, struct rp_val x, uint64_t width,
                                uint64_t stride) {
    struct rp_val y = rp_nn_conv(b, "conv1", x, width, rp_square(1, 1, 0), RP_NO_BIAS);
    y = rp_nn_relu(b, "relu1", norm(b, "bn1", y));
    y = rp_nn_conv(b, "conv2", y, width, rp_square(3, stride, 1), RP_NO_BIAS);
    y = rp_nn_relu(b, "relu2", norm(b, "bn2", y));
    y = rp_nn_conv(b, "conv3", y, 4 * width, rp_square(1, 1, 0), RP_NO_BIAS);
    y = norm(b, "bn3", y);
    y = rp_nn_add(b, "add", y, shortcut(b, x, 4 * width, stride));
    return rp_nn_relu(b, "relu3", y);
}

static void build_resnet(struct rp_builder *b) {
    const struct depth *d = depths;
    while (d->variant != b->entry->variant)
        d++;
    struct rp_val x = rp_nn_image(b, 3);
    x = rp_nn_conv(b, "conv1", x, rp_width(b, 64), rp_square(7, 2, 3), RP_NO_BIAS);
    x = rp_nn_relu(b, "relu", norm(b, "bn1", x));
    x = rp_nn_max_pool(b, "maxpool", x, rp_square(3, 2, 1));
    for (unsigned stage = 0; stage < 4; stage++)
        for (unsigned i = 0; i < rp_depth(b, d->blocks[stage]); i++) {
            uint64_t width = rp_width(b, 64u << stage);
            uint64_t stride = stage > 0 && i == 0 ? 2 : 1;
            rp_scope_begin(b, "layer%u.%u", stage + 1, i);
            x = d->bottleneck ? bottleneck(b, x, width, stride)
                              : basic(b, x, width, stride);
            rp_scope_end(b);
        }
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    rp_nn_classify(b, rp_nn_linear(b, "fc", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_resnet18 = {
    .name = "resnet18",
    .build = build_resnet,
    .variant = 18,
    RP_NET_IMAGES(128, 224, 1000, 32),
    RP_NET_PUBLISHED(11689512, 1.814e9, RP_NET_TORCHVISION),
};

const struct rp_zoo_entry rp_net_resnet50 = {
    .name = "resnet50",
    .build = build_resnet,
    .variant = 50,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(25557032, 4.089e9, RP_NET_TORCHVISION),
};

const struct rp_zoo_entry rp_net_resnet101 = {
    .name = "resnet101",
    .build = build_resnet,
    .variant = 101,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(44549160, 7.801e9, RP_NET_TORCHVISION),
};

const struct rp_zoo_entry rp_net_resnet152 = {
    .name = "resnet152",
    .build = build_resnet,
    .variant = 152,
    RP_NET_IMAGES(32, 224, 1000, 32),
    RP_NET_PUBLISHED(60192808, 11.514e9, RP_NET_TORCHVISION),
};
