/* MobileNet: Howard et al., "MobileNets: efficient convolutional neural networks for mobile
 * vision applications", 2017, as Keras does it, with symmetric padding; and Sandler et al.,
 * "MobileNetV2: inverted residuals and linear bottlenecks", 2018, as torchvision does it.
 */
#include "model/zoo/layers.h"

struct norm {
    double eps, momentum;
};

/* Convolution, batch norm and, unless `linear`, ReLU6. groups 0: one group per channel. */
static struct rp_val layer(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t out, struct rp_window w, uint64_t groups,
                           struct norm norm, bool linear) {
    rp_scope_begin(b, "%s", name);
    x = rp_nn_conv_groups(b, "conv", x, out, w, RP_NO_BIAS, groups ? groups : out);
    x = rp_nn_batch_norm(b, "bn", x, norm.eps, norm.momentum, RP_BN_AFFINE);
    if (!linear)
        x = rp_nn_unary(b, "relu6", "relu6", x);
    rp_scope_end(b);
    return x;
}

static void classify(struct rp_builder *b, struct rp_val x, double dropout) {
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    x = rp_nn_dropout(b, "dropout", x, dropout);
    rp_nn_classify(b, rp_nn_linear(b, "classifier", x, b->o.classes, RP_BIAS));
}

static void build_mobilenet_v1(struct rp_builder *b) {
    static const struct norm norm = {1e-3, 0.01};
    static const struct {
        uint64_t out, stride;
    } pairs[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                 {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    struct rp_val x = rp_nn_image(b, 3);
    x = layer(b, "stem", x, rp_width(b, 32), rp_square(3, 2, 1), 1, norm, false);
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        rp_scope_begin(b, "block%u", i + 1);
        x = layer(b, "depthwise", x, x.dim[1], rp_square(3, pairs[i].stride, 1), 0, norm,
                  false);
        x = layer(b, "pointwise", x, rp_width(b, pairs[i].out), rp_square(1, 1, 0), 1, norm,
                  false);
        rp_scope_end(b);
    }
    classify(b, x, 0.001);
}

static struct rp_val inverted_residual(struct rp_builder *b, struct rp_val x, uint64_t out,
                                       uint64_t stride, uint64_t expand, struct norm norm) {
    struct rp_val y = x;
    uint64_t hidden = x.dim[1] * expand;
    if (expand != 1)
        y = layer(b, "expand", y, hidden, rp_square(1, 1, 0), 1, norm, false);
    y = layer(b, "depthwise", y, hidden, rp_square(3, stride, 1), 0, norm, false);
    y = layer(b, "project", y, out, rp_square(1, 1, 0), 1, norm, true);
    return stride == 1 && x.dim[1] == out ? rp_nn_add(b, "add", x, y) : y;
}

static void build_mobilenet_v2(struct rp_builder *b) {
    static const struct norm norm = {1e-5, 0.1};
    static const struct {
        uint64_t expand, out, blocks, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    struct rp_val x = rp_nn_image(b, 3);
    x = layer(b, "stem", x, rp_width(b, 32), rp_square(3, 2, 1), 1, norm, false);
    for (unsigned s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (unsigned i = 0; i < rp_depth(b, stages[s].blocks); i++) {
            rp_scope_begin(b, "stage%u.%u", s + 1, i);
            x = inverted_residual(b, x, rp_width(b, stages[s].out),
                                  i == 0 ? stages[s].stride : 1, stages[s].expand, norm);
            rp_scope_end(b);
        }
    x = layer(b, "head", x, rp_width(b, 1280), rp_square(1, 1, 0), 1, norm, false);
    classify(b, x, 0.2);
}

const struct rp_zoo_entry rp_net_mobilenet_v1 = {
    .name = "mobilenet_v1",
    .build = build_mobilenet_v1,
    RP_NET_IMAGES(64, 224, 1000, 32),
    .params = 4231976,
    .params_source = "Keras, summary of MobileNet: trainable parameters",
    .macs = 569e6,
    .macs_source = "Howard et al. 2017, table 8: million mult-adds",
};

const struct rp_zoo_entry rp_net_mobilenet_v2 = {
    .name = "mobilenet_v2",
    .build = build_mobilenet_v2,
    RP_NET_IMAGES(64, 224, 1000, 32),
    RP_NET_PUBLISHED(3504872, 0.301e9, RP_NET_TORCHVISION),
};
