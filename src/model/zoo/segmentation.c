/* FCN-8s: Long, Shelhamer and Darrell, "Fully convolutional networks for semantic
 * segmentation", 2015. It is padded by 3 before the 7x7 layer instead of by 100 at the
 * image, so nothing is cropped. SegNet: Badrinarayanan, Kendall and Cipolla, "SegNet: a
 * deep convolutional encoder-decoder architecture for image segmentation", 2017. U-Net with
 * VGG-16 as its encoder: vgg_unet of divamgupta/image-segmentation-keras, which Checkmate
 * was measured with. Its output has half the image's size. All three begin with the
 * convolutions of VGG-16. */
#include "model/zoo/layers.h"

enum { STAGES = 5 };
static const uint64_t widths[STAGES] = {64, 128, 256, 512, 512};
static const unsigned n_convs[STAGES] = {2, 2, 3, 3, 3};

/* ---- FCN-8s ---- */

static struct rp_val vgg_stage(struct rp_builder *b, struct rp_val x, unsigned stage) {
    rp_scope_begin(b, "block%u", stage);
    for (unsigned i = 0; i < n_convs[stage]; i++) {
        rp_scope_begin(b, "%u", i);
        x = rp_nn_conv(b, "conv", x, rp_width(b, widths[stage]), rp_square(3, 1, 1),
                       RP_BIAS);
        x = rp_nn_relu(b, "relu", x);
        rp_scope_end(b);
    }
    x = rp_nn_max_pool(b, "pool", x, rp_square(2, 2, 0));
    rp_scope_end(b);
    return x;
}

static struct rp_val fully_convolutional(struct rp_builder *b, const char *name,
                                         struct rp_val x, struct rp_window w) {
    rp_scope_begin(b, "%s", name);
    x = rp_nn_conv(b, "conv", x, rp_width(b, 4096), w, RP_BIAS);
    x = rp_nn_dropout(b, "dropout", rp_nn_relu(b, "relu", x), 0.5);
    rp_scope_end(b);
    return x;
}

static struct rp_val score(struct rp_builder *b, const char *name, struct rp_val x) {
    return rp_nn_conv(b, name, x, b->o.classes, rp_square(1, 1, 0), RP_BIAS);
}

static struct rp_val upsample(struct rp_builder *b, const char *name, struct rp_val x,
                              uint64_t by) {
    return rp_nn_conv_transpose(b, name, x, b->o.classes, rp_square(2 * by, by, by / 2),
                                RP_NO_BIAS);
}

static void build_fcn8(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3), pool[STAGES];
    for (unsigned i = 0; i < STAGES; i++)
        x = pool[i] = vgg_stage(b, x, i);
    x = fully_convolutional(b, "fc6", x, rp_square(7, 1, 3));
    x = fully_convolutional(b, "fc7", x, rp_square(1, 1, 0));
    x = upsample(b, "upscore2", score(b, "score", x), 2);
    x = rp_nn_add(b, "fuse4", x, score(b, "score_pool4", pool[3]));
    x = upsample(b, "upscore4", x, 2);
    x = rp_nn_add(b, "fuse3", x, score(b, "score_pool3", pool[2]));
    rp_nn_classify(b, upsample(b, "upscore8", x, 8));
}

/* ---- U-Net with VGG-16 ---- */

static struct rp_val conv_bn(struct rp_builder *b, struct rp_val x, uint64_t out) {
    x = rp_nn_conv(b, "conv", x, rp_width(b, out), rp_square(3, 1, 1), RP_BIAS);
    return rp_nn_batch_norm(b, "bn", x, 1e-3, 0.01, RP_BN_AFFINE);
}

static void build_vgg_unet(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3), pool[STAGES - 1];
    for (unsigned i = 0; i < STAGES - 1; i++)
        x = pool[i] = vgg_stage(b, x, i);
    rp_scope_begin(b, "up%u", STAGES - 1);
    x = conv_bn(b, x, widths[STAGES - 1]);
    rp_scope_end(b);
    for (unsigned i = STAGES - 1; i-- > 1;) {
        rp_scope_begin(b, "up%u", i);
        x = rp_nn_upsample(b, "larger", x, 2);
        x = rp_nn_concat(b, "concat", 1, RP_IN(x, pool[i - 1]));
        x = conv_bn(b, x, widths[i - 1]);
        rp_scope_end(b);
    }
    rp_nn_classify(b, rp_nn_conv(b, "out", x, b->o.classes, rp_square(3, 1, 1), RP_BIAS));
}

/* ---- SegNet ---- */

static struct rp_val conv(struct rp_builder *b, unsigned i, struct rp_val x, uint64_t out) {
    rp_scope_begin(b, "%u", i);
    x = rp_nn_conv(b, "conv", x, out, rp_square(3, 1, 1), RP_BIAS);
    x = rp_nn_batch_norm(b, "bn", x, 1e-5, 0.1, RP_BN_AFFINE);
    x = rp_nn_relu(b, "relu", x);
    rp_scope_end(b);
    return x;
}

static void build_segnet(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3), index[STAGES], full[STAGES];
    for (unsigned s = 0; s < STAGES; s++) {
        rp_scope_begin(b, "encoder%u", s);
        for (unsigned i = 0; i < n_convs[s]; i++)
            x = conv(b, i, x, rp_width(b, widths[s]));
        full[s] = x;
        x = rp_nn_max_pool_index(b, "pool", x, rp_square(2, 2, 0), &index[s]);
        rp_scope_end(b);
    }
    for (unsigned s = STAGES; s-- > 0;) {
        rp_scope_begin(b, "decoder%u", s);
        x = rp_nn_max_unpool(b, "unpool", x, index[s], full[s]);
        for (unsigned i = n_convs[s]; i-- > 1;)
            x = conv(b, i, x, rp_width(b, widths[s]));
        if (s > 0)
            x = conv(b, 0, x, rp_width(b, widths[s - 1]));
        rp_scope_end(b);
    }
    x = rp_nn_conv(b, "decoder0.out", x, b->o.classes, rp_square(3, 1, 1), RP_BIAS);
    rp_nn_classify(b, x);
}

const struct rp_zoo_entry rp_net_fcn8 = {
    .name = "fcn8",
    .build = build_fcn8,
    RP_NET_IMAGES(8, 512, 21, 32),
    .image_multiple = 32,
    .params = 134489759,
    .params_source = "YBIGTA/DL_Models, README of fcn, PyTorch; 134M in the paper",
};

const struct rp_zoo_entry rp_net_segnet = {
    .name = "segnet",
    .build = build_segnet, /* see tests/test_networks.c for figures */
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES,
    .usual = {.batch = 8, .image = {1, 360, 480}, .classes = 11},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(32), .classes = 4},
    .min_image = 32,
};

const struct rp_zoo_entry rp_net_vgg_unet = {
    .name = "vgg_unet",
    .build = build_vgg_unet,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES,
    .usual = {.batch = 8, .image = {1, 416, 608}, .classes = 19},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(32), .classes = 4},
    .min_image = 16,
    .image_multiple = 16,
};
