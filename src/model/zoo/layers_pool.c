#include <assert.h>

#include "model/zoo/layers.h"

static json_t *window_attrs(size_t n_space, const struct rp_window *w) {
    return json_pack("{s:s,s:o,s:o,s:o}", "layout", n_space == 2 ? "NCHW" : "NCDHW",
                     "kernel", rp_numbers(n_space, w->kernel), "stride",
                     rp_numbers(n_space, w->stride), "pad", rp_numbers(n_space, w->pad));
}

static struct rp_val pooled(struct rp_val x, const struct rp_window *w) {
    struct rp_val y = rp_like(x);
    for (size_t i = 2; i < x.n_dims; i++) {
        uint64_t padded = x.dim[i] + 2 * w->pad[i - 2];
        y.dim[i] = padded < w->kernel[i - 2]
                       ? 0
                       : (padded - w->kernel[i - 2]) / w->stride[i - 2] + 1;
    }
    return y;
}

/* One operation for each element of each window. */
static uint64_t window_flops(struct rp_builder *b, const struct rp_val *y,
                             const struct rp_window *w) {
    uint64_t flops = rp_product(b, y->n_dims, y->dim);
    for (size_t i = 2; i < y->n_dims; i++)
        flops = rp_product(b, RP_SHAPE(flops, w->kernel[i - 2]));
    return flops;
}

static struct rp_spec pool_spec(struct rp_builder *b, const char *kind, const char *name,
                                const struct rp_val *y, const struct rp_window *w) {
    return (struct rp_spec){.kind = kind,
                            .name = name,
                            .attrs = window_attrs(y->n_dims - 2, w),
                            .flops = window_flops(b, y, w)};
}

struct rp_val rp_nn_max_pool(struct rp_builder *b, const char *name, struct rp_val x,
                             struct rp_window w) {
    struct rp_val y = pooled(x, &w);
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const char *kind = x.n_dims == 4 ? "max_pool2d" : "max_pool3d";
    return rp_emit1(b, pool_spec(b, kind, name, &y, &w), y, RP_IN(x));
}

struct rp_val rp_nn_avg_pool(struct rp_builder *b, const char *name, struct rp_val x,
                             struct rp_window w, bool count_pad) {
    struct rp_val y = pooled(x, &w);
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    struct rp_spec s = pool_spec(b, "avg_pool2d", name, &y, &w);
    json_object_set_new(s.attrs, "count_pad", json_boolean(count_pad));
    return rp_emit1(b, s, y, RP_IN(x));
}

static struct rp_val adaptive_pool(struct rp_builder *b, const char *name, struct rp_val x,
                                   struct rp_val y) {
    struct rp_spec s = {.kind = "adaptive_avg_pool2d",
                        .name = name,
                        .attrs = json_pack("{s:s}", "layout", "NCHW"),
                        .flops = rp_count(&x)};
    return rp_emit1(b, s, y, RP_IN(x));
}

struct rp_val rp_nn_adaptive_avg_pool(struct rp_builder *b, const char *name,
                                      struct rp_val x, uint64_t size) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    struct rp_val y = rp_like(x);
    for (size_t i = 2; i < x.n_dims; i++)
        y.dim[i] = size;
    return adaptive_pool(b, name, x, y);
}

struct rp_val rp_nn_upsample(struct rp_builder *b, const char *name, struct rp_val x,
                             uint64_t by) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    struct rp_val y = rp_like(x);
    for (size_t i = 2; i < x.n_dims; i++)
        y.dim[i] = by * x.dim[i];
    return adaptive_pool(b, name, x, y);
}

struct rp_val rp_nn_max_pool_index(struct rp_builder *b, const char *name, struct rp_val x,
                                   struct rp_window w, struct rp_val *index) {
    static const char *const names[] = {"index"};
    *index = RP_NO_VALUE;
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(w.stride[0] >= w.kernel[0] && w.stride[1] >= w.kernel[1]); /* no overlap */
    struct rp_val out[2] = {pooled(x, &w), pooled(x, &w)};
    out[1].dtype = RP_I32;
    struct rp_spec s = pool_spec(b, "max_pool2d_index", name, &out[0], &w);
    s.out_names = names;
    rp_emit(b, s, RP_IN(x), 2, out);
    *index = out[1];
    return out[0];
}

struct rp_val rp_nn_max_unpool(struct rp_builder *b, const char *name, struct rp_val x,
                               struct rp_val index, struct rp_val like) {
    struct rp_val y = rp_like(like);
    y.dim[1] = x.dim[1];
    return rp_emit1(b,
                    (struct rp_spec){.kind = "max_unpool2d",
                                     .name = name,
                                     .attrs = json_pack("{s:s}", "layout", "NCHW")},
                    y, RP_IN(x, index));
}
