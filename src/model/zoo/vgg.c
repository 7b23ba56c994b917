/* VGG: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image
 * recognition", 2015, configurations D and E. As torchvision does it: dropout after the
 * first two fully connected layers, and pooling to 7x7 if the image is not 224x224. */
#include "model/zoo/layers.h"

static struct rp_val features(struct rp_builder *b, struct rp_val x, int deep_stage) {
    static const uint64_t width[5] = {64, 128, 256, 512, 512};
    for (int stage = 0; stage < 5; stage++) {
        int n_convs = stage < 2 ? 2 : deep_stage;
        for (int i = 0; i < n_convs; i++) {
            rp_scope_begin(b, "block%d.%d", stage, i);
            x = rp_nn_conv(b, "conv", x, rp_width(b, width[stage]), rp_square(3, 1, 1),
                           RP_BIAS);
            x = rp_nn_relu(b, "relu", x);
            rp_scope_end(b);
        }
        rp_scope_begin(b, "block%d", stage);
        x = rp_nn_max_pool(b, "pool", x, rp_square(2, 2, 0));
        rp_scope_end(b);
    }
    return x;
}

static void build_vgg(struct rp_builder *b) {
    struct rp_val x = features(b, rp_nn_image(b, 3), b->entry->variant == 16 ? 3 : 4);
    uint64_t hidden = rp_width(b, 4096);
    if (x.dim[2] != 7 || x.dim[3] != 7)
        x = rp_nn_adaptive_avg_pool(b, "avgpool", x, 7);
    x = rp_nn_flatten(b, x);
    for (int i = 0; i < 2; i++) {
        rp_scope_begin(b, "classifier.%d", i);
        x = rp_nn_relu(b, "relu", rp_nn_linear(b, "fc", x, hidden, RP_BIAS));
        x = rp_nn_dropout(b, "dropout", x, 0.5);
        rp_scope_end(b);
    }
    rp_nn_classify(b, rp_nn_linear(b, "classifier.2.fc", x, b->o.classes, RP_BIAS));
}

const struct rp_zoo_entry rp_net_vgg16 = {
    .name = "vgg16",
    .build = build_vgg,
    .variant = 16,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(138357544, 15.47e9, RP_NET_TORCHVISION),
};

const struct rp_zoo_entry rp_net_vgg19 = {
    .name = "vgg19",
    .build = build_vgg,
    .variant = 19,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(143667240, 19.632e9, RP_NET_TORCHVISION),
};
