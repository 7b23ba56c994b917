/* Pre-activation ResNet: He, Zhang, Ren and Sun, "Identity mappings in deep residual
 * networks", 2016: ResNet-200 for ImageNet, and the bottleneck ResNet-1001 for CIFAR, whose
 * three stages have (1001 - 2) / 9 = 111 units each. A stage's first unit projects its
 * pre-activated input; striding is in the 3x3 convolution. */
#include "model/zoo/layers.h"

static struct rp_val norm_relu(struct rp_builder *b, const char *norm, const char *relu,
                               struct rp_val x) {
    return rp_nn_relu(b, relu, rp_nn_batch_norm(b, norm, x, 1e-5, 0.1, RP_BN_AFFINE));
}

static struct rp_val unit(struct rp_builder *b, struct rp_val x, uint64_t width,
                          uint64_t stride, bool project) {
    struct rp_val y = norm_relu(b, "bn1", "relu1", x);
    if (project)
        x = rp_nn_conv(b, "shortcut", y, 4 * width, rp_square(1, stride, 0), RP_NO_BIAS);
    y = rp_nn_conv(b, "conv1", y, width, rp_square(1, 1, 0), RP_NO_BIAS);
    y = norm_relu(b, "bn2", "relu2", y);
    y = rp_nn_conv(b, "conv2", y, width, rp_square(3, stride, 1), RP_NO_BIAS);
    y = norm_relu(b, "bn3", "relu3", y);
    y = rp_nn_conv(b, "conv3", y, 4 * width, rp_square(1, 1, 0), RP_NO_BIAS);
    return rp_nn_add(b, "add", y, x);
}

static struct rp_val stage(struct rp_builder *b, struct rp_val x, unsigned number,
                           uint64_t width, uint64_t units) {
    for (unsigned i = 0; i < rp_depth(b, units); i++) {
        rp_scope_begin(b, "layer%u.%u", number, i);
        x = unit(b, x, rp_width(b, width), i == 0 && number > 1 ? 2 : 1, i == 0);
        rp_scope_end(b);
    }
    return x;
}

static struct rp_val imagenet(struct rp_builder *b, struct rp_val x) {
    static const uint64_t units[4] = {3, 24, 36, 3};
    x = rp_nn_conv(b, "conv1", x, rp_width(b, 64), rp_square(7, 2, 3), RP_NO_BIAS);
    x = norm_relu(b, "bn1", "relu1", x);
    x = rp_nn_max_pool(b, "maxpool", x, rp_square(3, 2, 1));
    for (unsigned i = 0; i < 4; i++)
        x = stage(b, x, i + 1, 64u << i, units[i]);
    return x;
}

static struct rp_val cifar(struct rp_builder *b, struct rp_val x) {
    uint64_t units = ((uint64_t)b->entry->variant - 2) / 9;
    x = rp_nn_conv(b, "conv1", x, rp_width(b, 16), rp_square(3, 1, 1), RP_NO_BIAS);
    for (unsigned i = 0; i < 3; i++)
        x = stage(b, x, i + 1, 16u << i, units);
    return x;
}

static void build_resnet_preact(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3);
    x = b->entry->variant == 200 ? imagenet(b, x) : cifar(b, x);
    x = norm_relu(b, "bn", "relu", x);
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    rp_nn_classify(b, rp_nn_linear(b, "fc", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_resnet200 = {
    .name = "resnet200",
    .build = build_resnet_preact,
    .variant = 200,
    RP_NET_IMAGES(32, 224, 1000, 32),
    RP_NET_PUBLISHED(64666280, 15068.63e6, RP_NET_IMGCLSMOB),
};

const struct rp_zoo_entry rp_net_resnet1001 = {
    .name = "resnet1001",
    .build = build_resnet_preact,
    .variant = 1001,
    RP_NET_IMAGES(64, 32, 10, 8),
    .params = 10327706,
    .params_source = RP_NET_IMGCLSMOB,
};
