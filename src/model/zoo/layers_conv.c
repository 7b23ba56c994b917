#include <assert.h>

#include "base/mem.h"
#include "model/zoo/layers.h"

struct rp_window rp_square(uint64_t kernel, uint64_t stride, uint64_t pad) {
    return (struct rp_window){.kernel = {kernel, kernel, kernel},
                              .stride = {stride, stride, stride},
                              .pad = {pad, pad, pad}};
}

struct rp_window rp_rect(uint64_t kernel_h, uint64_t kernel_w, uint64_t pad_h,
                         uint64_t pad_w) {
    return (struct rp_window){
        .kernel = {kernel_h, kernel_w}, .stride = {1, 1}, .pad = {pad_h, pad_w}};
}

static json_t *conv_attrs(size_t n_space, const struct rp_window *w, uint64_t groups) {
    static const uint64_t ones[3] = {1, 1, 1};
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:I}", "layout", n_space == 2 ? "NCHW" : "NCDHW",
                     "kernel", rp_numbers(n_space, w->kernel), "stride",
                     rp_numbers(n_space, w->stride), "pad", rp_numbers(n_space, w->pad),
                     "dilation", rp_numbers(n_space, ones), "groups", (json_int_t)groups);
}

/* 2 flops for each weight at each position where it is applied, and 1 for each bias added.
 */
static uint64_t conv_flops(struct rp_builder *b, const char *name,
                           const struct rp_val *grid, const struct rp_val *weight,
                           const struct rp_val *y, int bias) {
    uint64_t positions = 1;
    for (size_t i = 0; i < grid->n_dims; i++)
        positions = rp_product(b, RP_SHAPE(positions, i == 1 ? 1 : grid->dim[i]));
    uint64_t flops = rp_product(b, RP_SHAPE(2, positions, rp_count(weight)));
    if (bias && !rp_add(&flops, rp_count(y)))
        rp_builder_fail(b, RP_USAGE, "'%s': flops pass 2^63-1", name);
    return flops;
}

/* Makes the parameters and the op. The weight is applied at each position of x or of y. */
static struct rp_val conv(struct rp_builder *b, const char *kind, const char *name,
                          struct rp_val x, struct rp_val y, bool grid_is_x,
                          struct rp_val weight, json_t *attrs, int bias) {
    rp_scope_begin(b, "%s", name);
    weight = rp_param(b, "weight", weight.n_dims, weight.dim);
    struct rp_val c = bias ? rp_param(b, "bias", RP_SHAPE(y.dim[1])) : RP_NO_VALUE;
    rp_scope_end(b);
    if (b->rc != RP_OK) {
        json_decref(attrs);
        return RP_NO_VALUE;
    }
    uint64_t flops = conv_flops(b, name, grid_is_x ? &x : &y, &weight, &y, bias);
    struct rp_val in[3] = {x, weight, c};
    return rp_emit1(
        b, (struct rp_spec){.kind = kind, .name = name, .attrs = attrs, .flops = flops}, y,
        bias ? 3 : 2, in);
}

struct rp_val rp_nn_conv_groups(struct rp_builder *b, const char *name, struct rp_val x,
                                uint64_t out_channels, struct rp_window w, int bias,
                                uint64_t groups) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(x.dim[1] % groups == 0 && out_channels % groups == 0);
    size_t n_space = x.n_dims - 2;
    struct rp_val y = rp_like(x), weight = rp_like(x);
    y.dim[1] = weight.dim[0] = out_channels;
    weight.dim[1] = x.dim[1] / groups;
    for (size_t i = 0; i < n_space; i++) {
        uint64_t padded = x.dim[i + 2] + 2 * w.pad[i];
        y.dim[i + 2] = padded < w.kernel[i] ? 0 : (padded - w.kernel[i]) / w.stride[i] + 1;
        weight.dim[i + 2] = w.kernel[i];
    }
    return conv(b, n_space == 2 ? "conv2d" : "conv3d", name, x, y, false, weight,
                conv_attrs(n_space, &w, groups), bias);
}

struct rp_val rp_nn_conv(struct rp_builder *b, const char *name, struct rp_val x,
                         uint64_t out_channels, struct rp_window w, int bias) {
    return rp_nn_conv_groups(b, name, x, out_channels, w, bias, 1);
}

struct rp_val rp_nn_conv_transpose(struct rp_builder *b, const char *name, struct rp_val x,
                                   uint64_t out_channels, struct rp_window w, int bias) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    size_t n_space = x.n_dims - 2;
    struct rp_val y = rp_like(x), weight = rp_like(x);
    weight.dim[0] = x.dim[1];
    y.dim[1] = weight.dim[1] = out_channels;
    for (size_t i = 0; i < n_space; i++) {
        uint64_t full = (x.dim[i + 2] - 1) * w.stride[i] + w.kernel[i];
        y.dim[i + 2] = full < 2 * w.pad[i] ? 0 : full - 2 * w.pad[i];
        weight.dim[i + 2] = w.kernel[i];
    }
    return conv(b, n_space == 2 ? "conv_transpose2d" : "conv_transpose3d", name, x, y, true,
                weight, conv_attrs(n_space, &w, 1), bias);
}
