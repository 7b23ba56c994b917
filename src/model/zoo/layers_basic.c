#include <assert.h>

#include "base/mem.h"
#include "model/zoo/layers.h"

static struct rp_spec spec(const char *kind, const char *name, json_t *attrs,
                           uint64_t flops) {
    return (struct rp_spec){.kind = kind, .name = name, .attrs = attrs, .flops = flops};
}

static uint64_t times(struct rp_builder *b, uint64_t n, uint64_t m) {
    return rp_product(b, RP_SHAPE(n, m));
}

struct rp_val rp_nn_matmul(struct rp_builder *b, const char *name, struct rp_val a,
                           struct rp_val w, struct rp_val bias, struct rp_matmul t) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    size_t i = a.n_dims - 2, j = w.n_dims - 2;
    uint64_t m = a.dim[i + t.transpose_a], k = a.dim[i + !t.transpose_a];
    uint64_t n = w.dim[j + !t.transpose_b], batch = rp_product(b, i, a.dim);
    assert(k == w.dim[j + t.transpose_b] && (j == 0 || j == i));
    assert(j != 0 || i == 0 || !t.transpose_a);
    struct rp_val c = rp_shaped(a.dtype, a.n_dims, a.dim);
    c.dim[i] = m;
    c.dim[i + 1] = n;
    uint64_t flops = rp_product(b, RP_SHAPE(2, batch, m, n, k));
    bool has_bias = bias.tensor != RP_NONE;
    if (has_bias && !rp_add(&flops, rp_count(&c)))
        rp_builder_fail(b, RP_USAGE, "'%s': flops pass 2^63-1", name);
    json_t *attrs = json_pack("{s:b,s:b,s:f,s:I,s:I,s:I,s:I}", "transpose_a", t.transpose_a,
                              "transpose_b", t.transpose_b, "alpha",
                              t.alpha != 0 ? t.alpha : 1.0, "batch", (json_int_t)batch, "m",
                              (json_int_t)m, "n", (json_int_t)n, "k", (json_int_t)k);
    struct rp_val in[3] = {a, w, bias};
    return rp_emit1(b, spec("matmul", name, attrs, flops), c, has_bias ? 3 : 2, in);
}

struct rp_val rp_nn_linear(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t n, int bias) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    uint64_t k = x.dim[x.n_dims - 1];
    struct rp_val rows = rp_view(b, x, RP_SHAPE(rp_count(&x) / k, k));
    rp_scope_begin(b, "%s", name);
    struct rp_val w = rp_param(b, "weight", RP_SHAPE(n, k));
    struct rp_val c = bias ? rp_param(b, "bias", RP_SHAPE(n)) : RP_NO_VALUE;
    rp_scope_end(b);
    struct rp_val y =
        rp_nn_matmul(b, name, rows, w, c, (struct rp_matmul){.transpose_b = true});
    x.dim[x.n_dims - 1] = n;
    return rp_view(b, y, x.n_dims, x.dim);
}

struct rp_val rp_nn_unary(struct rp_builder *b, const char *kind, const char *name,
                          struct rp_val x) {
    return rp_emit1(b, spec(kind, name, NULL, rp_count(&x)), rp_like(x), RP_IN(x));
}

struct rp_val rp_nn_relu(struct rp_builder *b, const char *name, struct rp_val x) {
    return rp_nn_unary(b, "relu", name, x);
}

struct rp_val rp_nn_add(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y) {
    assert(b->rc != RP_OK || rp_same_shape(&x, &y));
    return rp_emit1(b, spec("add", name, NULL, rp_count(&x)), rp_like(x), RP_IN(x, y));
}

struct rp_val rp_nn_scale(struct rp_builder *b, const char *name, struct rp_val x,
                          double factor) {
    return rp_emit1(b,
                    spec("scale", name, json_pack("{s:f}", "factor", factor), rp_count(&x)),
                    rp_like(x), RP_IN(x));
}

struct rp_val rp_nn_dropout(struct rp_builder *b, const char *name, struct rp_val x,
                            double p) {
    uint64_t seed = (b->o.seed + b->n_seeds++) & RP_MAX_QUANTITY;
    json_t *attrs = json_pack("{s:f,s:I}", "p", p, "seed", (json_int_t)seed);
    return rp_emit1(b, spec("dropout", name, attrs, times(b, 2, rp_count(&x))), rp_like(x),
                    RP_IN(x));
}

struct rp_val rp_nn_concat(struct rp_builder *b, const char *name, size_t axis, size_t n,
                           const struct rp_val *x) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    struct rp_val y = rp_like(x[0]);
    y.dim[axis] = 0;
    for (size_t i = 0; i < n; i++)
        y.dim[axis] += x[i].dim[axis];
    json_t *attrs = json_pack("{s:I}", "axis", (json_int_t)axis);
    return rp_emit1(b, spec("concat", name, attrs, 0), y, n, x);
}

struct rp_val rp_nn_flatten(struct rp_builder *b, struct rp_val x) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    return rp_view(b, x, RP_SHAPE(x.dim[0], rp_count(&x) / x.dim[0]));
}
