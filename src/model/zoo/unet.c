/* U-Net: Ronneberger, Fischer and Brox, "U-Net: convolutional networks for biomedical image
 * segmentation", 2015, in its common padded form with batch norm (milesial/Pytorch-UNet):
 * the output has the size of the image.
 *
 * 3D U-Net: Çiçek et al., "3D U-Net: learning dense volumetric segmentation from sparse
 * annotation", 2016, padded too. Its 19069955 parameters are those of convolutions with
 * bias, up-convolutions without, and batch norm without scale and shift (as in Caffe). */
#include "model/zoo/layers.h"

static struct rp_val two_convs(struct rp_builder *b, const char *name, struct rp_val x,
                               uint64_t out) {
    const struct rp_window w = rp_square(3, 1, 1);
    rp_scope_begin(b, "%s", name);
    x = rp_nn_conv_bn_relu(b, "0", x, out, w, RP_NO_BIAS, 1e-5);
    x = rp_nn_conv_bn_relu(b, "1", x, out, w, RP_NO_BIAS, 1e-5);
    rp_scope_end(b);
    return x;
}

static void build_unet(struct rp_builder *b) {
    enum { LEVELS = 5 };
    struct rp_val x = rp_nn_image(b, 3), skip[LEVELS];
    for (unsigned i = 0; i < LEVELS; i++) {
        rp_scope_begin(b, "down%u", i);
        if (i > 0)
            x = rp_nn_max_pool(b, "pool", x, rp_square(2, 2, 0));
        x = skip[i] = two_convs(b, "conv", x, rp_width(b, 64) << i);
        rp_scope_end(b);
    }
    for (unsigned i = LEVELS - 1; i-- > 0;) {
        uint64_t width = rp_width(b, 64) << i;
        rp_scope_begin(b, "up%u", i);
        x = rp_nn_conv_transpose(b, "up", x, width, rp_square(2, 2, 0), RP_BIAS);
        x = rp_nn_concat(b, "concat", 1, RP_IN(skip[i], x));
        x = two_convs(b, "conv", x, width);
        rp_scope_end(b);
    }
    x = rp_nn_conv(b, "out", x, b->o.classes, rp_square(1, 1, 0), RP_BIAS);
    rp_nn_classify(b, x);
}

static struct rp_val plain_conv(struct rp_builder *b, const char *name, struct rp_val x,
                                uint64_t out) {
    rp_scope_begin(b, "%s", name);
    x = rp_nn_conv(b, "conv", x, out, rp_square(3, 1, 1), RP_BIAS);
    x = rp_nn_relu(b, "relu", rp_nn_batch_norm(b, "bn", x, 1e-5, 0.1, RP_BN_PLAIN));
    rp_scope_end(b);
    return x;
}

static void build_unet3d(struct rp_builder *b) {
    enum { LEVELS = 4 };
    struct rp_val x = rp_nn_volume(b, 3), skip[LEVELS];
    for (unsigned i = 0; i < LEVELS; i++) {
        uint64_t width = rp_width(b, 64) << i;
        rp_scope_begin(b, "down%u", i);
        if (i > 0)
            x = rp_nn_max_pool(b, "pool", x, rp_square(2, 2, 0));
        x = skip[i] = plain_conv(b, "1", plain_conv(b, "0", x, width / 2), width);
        rp_scope_end(b);
    }
    for (unsigned i = LEVELS - 1; i-- > 0;) {
        uint64_t width = rp_width(b, 64) << i;
        rp_scope_begin(b, "up%u", i);
        x = rp_nn_conv_transpose(b, "up", x, 2 * width, rp_square(2, 2, 0), RP_NO_BIAS);
        x = rp_nn_concat(b, "concat", 1, RP_IN(skip[i], x));
        x = plain_conv(b, "1", plain_conv(b, "0", x, width), width);
        rp_scope_end(b);
    }
    x = rp_nn_conv(b, "out", x, b->o.classes, rp_square(1, 1, 0), RP_BIAS);
    rp_nn_classify(b, x);
}

const struct rp_zoo_entry rp_net_unet = {
    .name = "unet",
    .build = build_unet,
    RP_NET_IMAGES(8, 512, 2, 16),
    .image_multiple = 16,
    .params = 31037698,
    .params_source = "milesial/Pytorch-UNet, UNet(n_channels=3, n_classes=2)",
};

const struct rp_zoo_entry rp_net_unet3d = {
    .name = "unet3d",
    .build = build_unet3d,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES,
    .usual = {.batch = 1, .image = RP_NET_SQUARE(128), .classes = 3},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(8), .classes = 3},
    .min_image = 8,
    .image_multiple = 8,
    .volume = true,
    .params = 19069955,
    .params_source = "Çiçek et al. 2016, section 2",
};
