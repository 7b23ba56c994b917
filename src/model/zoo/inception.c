/* Inception-v3: Szegedy et al., "Rethinking the Inception architecture for computer
 * vision", 2016, as torchvision does it, with its auxiliary classifier, whose loss counts
 * 0.4. */
#include "model/zoo/layers.h"

static struct rp_val layer(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t out, struct rp_window w) {
    return rp_nn_conv_bn_relu(b, name, x, rp_width(b, out), w, RP_NO_BIAS, 1e-3);
}

static struct rp_val one(struct rp_builder *b, const char *name, struct rp_val x,
                         uint64_t out) {
    return layer(b, name, x, out, rp_square(1, 1, 0));
}

static struct rp_val pooled(struct rp_builder *b, struct rp_val x, uint64_t out) {
    x = rp_nn_avg_pool(b, "branch_pool.avg", x, rp_square(3, 1, 1), true);
    return one(b, "branch_pool", x, out);
}

static struct rp_val module_a(struct rp_builder *b, struct rp_val x, uint64_t pool) {
    struct rp_val part[4];
    part[0] = one(b, "branch1x1", x, 64);
    part[1] = one(b, "branch5x5_1", x, 48);
    part[1] = layer(b, "branch5x5_2", part[1], 64, rp_square(5, 1, 2));
    part[2] = one(b, "branch3x3dbl_1", x, 64);
    part[2] = layer(b, "branch3x3dbl_2", part[2], 96, rp_square(3, 1, 1));
    part[2] = layer(b, "branch3x3dbl_3", part[2], 96, rp_square(3, 1, 1));
    part[3] = pooled(b, x, pool);
    return rp_nn_concat(b, "concat", 1, 4, part);
}

static struct rp_val module_b(struct rp_builder *b, struct rp_val x) {
    struct rp_val part[3];
    part[0] = layer(b, "branch3x3", x, 384, rp_square(3, 2, 0));
    part[1] = one(b, "branch3x3dbl_1", x, 64);
    part[1] = layer(b, "branch3x3dbl_2", part[1], 96, rp_square(3, 1, 1));
    part[1] = layer(b, "branch3x3dbl_3", part[1], 96, rp_square(3, 2, 0));
    part[2] = rp_nn_max_pool(b, "branch_pool", x, rp_square(3, 2, 0));
    return rp_nn_concat(b, "concat", 1, 3, part);
}

static struct rp_val module_c(struct rp_builder *b, struct rp_val x, uint64_t c7) {
    const struct rp_window row = rp_rect(1, 7, 0, 3), column = rp_rect(7, 1, 3, 0);
    struct rp_val part[4];
    part[0] = one(b, "branch1x1", x, 192);
    part[1] = one(b, "branch7x7_1", x, c7);
    part[1] = layer(b, "branch7x7_2", part[1], c7, row);
    part[1] = layer(b, "branch7x7_3", part[1], 192, column);
    part[2] = one(b, "branch7x7dbl_1", x, c7);
    part[2] = layer(b, "branch7x7dbl_2", part[2], c7, column);
    part[2] = layer(b, "branch7x7dbl_3", part[2], c7, row);
    part[2] = layer(b, "branch7x7dbl_4", part[2], c7, column);
    part[2] = layer(b, "branch7x7dbl_5", part[2], 192, row);
    part[3] = pooled(b, x, 192);
    return rp_nn_concat(b, "concat", 1, 4, part);
}

static struct rp_val module_d(struct rp_builder *b, struct rp_val x) {
    struct rp_val part[3];
    part[0] = one(b, "branch3x3_1", x, 192);
    part[0] = layer(b, "branch3x3_2", part[0], 320, rp_square(3, 2, 0));
    part[1] = one(b, "branch7x7x3_1", x, 192);
    part[1] = layer(b, "branch7x7x3_2", part[1], 192, rp_rect(1, 7, 0, 3));
    part[1] = layer(b, "branch7x7x3_3", part[1], 192, rp_rect(7, 1, 3, 0));
    part[1] = layer(b, "branch7x7x3_4", part[1], 192, rp_square(3, 2, 0));
    part[2] = rp_nn_max_pool(b, "branch_pool", x, rp_square(3, 2, 0));
    return rp_nn_concat(b, "concat", 1, 3, part);
}

static struct rp_val module_e(struct rp_builder *b, struct rp_val x) {
    const struct rp_window row = rp_rect(1, 3, 0, 1), column = rp_rect(3, 1, 1, 0);
    struct rp_val part[6], y;
    part[0] = one(b, "branch1x1", x, 320);
    y = one(b, "branch3x3_1", x, 384);
    part[1] = layer(b, "branch3x3_2a", y, 384, row);
    part[2] = layer(b, "branch3x3_2b", y, 384, column);
    y = one(b, "branch3x3dbl_1", x, 448);
    y = layer(b, "branch3x3dbl_2", y, 384, rp_square(3, 1, 1));
    part[3] = layer(b, "branch3x3dbl_3a", y, 384, row);
    part[4] = layer(b, "branch3x3dbl_3b", y, 384, column);
    part[5] = pooled(b, x, 192);
    return rp_nn_concat(b, "concat", 1, 6, part);
}

static struct rp_val stem(struct rp_builder *b) {
    struct rp_val x = rp_nn_image(b, 3);
    x = layer(b, "conv1a", x, 32, rp_square(3, 2, 0));
    x = layer(b, "conv2a", x, 32, rp_square(3, 1, 0));
    x = layer(b, "conv2b", x, 64, rp_square(3, 1, 1));
    x = rp_nn_max_pool(b, "maxpool1", x, rp_square(3, 2, 0));
    x = one(b, "conv3b", x, 80);
    x = layer(b, "conv4a", x, 192, rp_square(3, 1, 0));
    return rp_nn_max_pool(b, "maxpool2", x, rp_square(3, 2, 0));
}

/* Emits one module in its scope. `width` is a parameter of module_a and module_c only. */
static struct rp_val module(struct rp_builder *b, const char *name, struct rp_val x,
                            uint64_t width) {
    rp_scope_begin(b, "mixed%s", name);
    if (name[0] == '5')
        x = module_a(b, x, width);
    else if (name[0] == '6')
        x = name[1] == 'a' ? module_b(b, x) : module_c(b, x, width);
    else
        x = name[1] == 'a' ? module_d(b, x) : module_e(b, x);
    rp_scope_end(b);
    return x;
}

/* Maps are pooled to 5x5. The 17x17 maps of a 299x299 image are pooled with a fixed window,
 * as in the paper, and others adaptively. */
static struct rp_val auxiliary(struct rp_builder *b, struct rp_val x) {
    rp_scope_begin(b, "aux");
    x = x.dim[2] == 17 && x.dim[3] == 17
            ? rp_nn_avg_pool(b, "pool", x, rp_square(5, 3, 0), true)
            : rp_nn_adaptive_avg_pool(b, "pool", x, 5);
    x = one(b, "conv0", x, 128);
    x = layer(b, "conv1", x, 768, rp_square(5, 1, 0));
    x = rp_nn_linear(b, "fc", rp_nn_flatten(b, x), b->o.classes, RP_BIAS);
    rp_scope_end(b);
    return x;
}

static void build_inception_v3(struct rp_builder *b) {
    static const struct {
        const char *name;
        uint64_t width;
    } modules[] = {{"5b", 32},  {"5c", 64},  {"5d", 64},  {"6a", 0},
                   {"6b", 128}, {"6c", 160}, {"6d", 160}, {"6e", 192},
                   {"7a", 0},   {"7b", 0},   {"7c", 0}};
    struct rp_val x = stem(b), aux = RP_NO_VALUE;
    for (unsigned i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        x = module(b, modules[i].name, x, modules[i].width);
        if (i == 7 && !b->o.no_aux)
            aux = auxiliary(b, x);
    }
    x = rp_nn_flatten(b, rp_nn_adaptive_avg_pool(b, "avgpool", x, 1));
    x = rp_nn_dropout(b, "dropout", x, 0.5);
    x = rp_nn_linear(b, "fc", x, b->o.classes, RP_BIAS);
    struct rp_val labels = rp_nn_labels(b, "labels", x, 1);
    rp_nn_cross_entropy(b, "loss", x, labels, 1, 1.0);
    if (!b->o.no_aux)
        rp_nn_cross_entropy(b, "aux.loss", aux, labels, 1, 0.4);
}

const struct rp_zoo_entry rp_net_inception_v3 = {
    .name = "inception_v3",
    .build = build_inception_v3,
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES | RP_TAKES_NO_AUX,
    .usual = {.batch = 64, .image = RP_NET_SQUARE(299), .classes = 1000},
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(75), .classes = 4},
    .min_image = 75,
    RP_NET_PUBLISHED(27161264, 5.713e9, RP_NET_TORCHVISION),
};
