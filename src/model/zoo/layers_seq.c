#include "model/zoo/layers_seq.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static struct rp_spec spec(struct rp_builder *b, const char *kind, const char *name,
                           json_t *attrs, uint64_t per_element, const struct rp_val *x) {
    return (struct rp_spec){.kind = kind,
                            .name = name,
                            .attrs = attrs,
                            .flops = rp_product(b, RP_SHAPE(per_element, rp_count(x)))};
}

/* For an op that copies y out of something larger: it reads and writes only y. */
static void set_copy_traffic(struct rp_builder *b, json_t *attrs, const struct rp_val *y) {
    const uint64_t element = rp_dtype_bytes(y->dtype);
    const uint64_t bytes = rp_product(b, RP_SHAPE(2, element, rp_count(y)));
    json_object_set_new(attrs, "traffic_bytes", json_integer((json_int_t)bytes));
}

static json_t *axis_attr(size_t axis) {
    return json_pack("{s:I}", "axis", (json_int_t)axis);
}

struct rp_val rp_nn_gather(struct rp_builder *b, const char *name, struct rp_val table,
                           struct rp_val ids) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(table.n_dims == 2 && ids.dtype == RP_I32 && ids.n_dims < RP_MAX_DIMS);
    struct rp_val y = rp_shaped(table.dtype, ids.n_dims, ids.dim);
    y.dim[y.n_dims++] = table.dim[1];
    json_t *attrs = json_object();
    set_copy_traffic(b, attrs, &y);
    return rp_emit1(b, spec(b, "gather", name, attrs, 0, &y), y, RP_IN(table, ids));
}

struct rp_val rp_nn_linear_tied(struct rp_builder *b, const char *name, struct rp_val x,
                                struct rp_val weight, struct rp_val bias) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    uint64_t k = x.dim[x.n_dims - 1];
    struct rp_val rows = rp_view(b, x, RP_SHAPE(rp_count(&x) / k, k));
    struct rp_val y =
        rp_nn_matmul(b, name, rows, weight, bias, (struct rp_matmul){.transpose_b = true});
    x.dim[x.n_dims - 1] = weight.dim[0];
    return rp_view(b, y, x.n_dims, x.dim);
}

/* As in batch_norm, parameters and statistics are f32 whatever the dtype. */
static struct rp_val norm_param(struct rp_builder *b, const char *name, uint64_t n) {
    return rp_source(b, RP_PARAMETER, RP_F32, name, RP_SHAPE(n));
}

struct rp_val rp_nn_layer_norm(struct rp_builder *b, const char *name, struct rp_val x,
                               double eps) {
    static const char *const out_names[] = {"mean", "invstd"};
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    uint64_t n = x.dim[x.n_dims - 1];
    rp_scope_begin(b, "%s", name);
    struct rp_val in[3] = {x, norm_param(b, "weight", n), norm_param(b, "bias", n)};
    rp_scope_end(b);
    struct rp_val row = rp_shaped(RP_F32, RP_SHAPE(rp_count(&x) / n));
    struct rp_val out[3] = {rp_like(x), row, row};
    struct rp_spec s = spec(b, "layer_norm", name, json_pack("{s:f}", "eps", eps), 8, &x);
    s.out_names = out_names;
    rp_emit(b, s, 3, in, 3, out);
    return out[0];
}

struct rp_val rp_nn_rms_norm(struct rp_builder *b, const char *name, struct rp_val x,
                             double eps) {
    static const char *const out_names[] = {"invrms"};
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    uint64_t n = x.dim[x.n_dims - 1];
    rp_scope_begin(b, "%s", name);
    struct rp_val weight = norm_param(b, "weight", n);
    rp_scope_end(b);
    struct rp_val out[2] = {rp_like(x), rp_shaped(RP_F32, RP_SHAPE(rp_count(&x) / n))};
    struct rp_spec s = spec(b, "rms_norm", name, json_pack("{s:f}", "eps", eps), 4, &x);
    s.out_names = out_names;
    rp_emit(b, s, RP_IN(x, weight), 2, out);
    return out[0];
}

struct rp_val rp_nn_softmax(struct rp_builder *b, const char *name, struct rp_val x,
                            size_t axis, bool causal) {
    assert(b->rc != RP_OK || !causal || axis + 1 == x.n_dims);
    json_t *attrs = json_pack("{s:I,s:b}", "axis", (json_int_t)axis, "causal", causal);
    return rp_emit1(b, spec(b, "softmax", name, attrs, 4, &x), rp_like(x), RP_IN(x));
}

struct rp_val rp_nn_rotary(struct rp_builder *b, const char *name, struct rp_val x,
                           double base) {
    assert(b->rc != RP_OK || (x.n_dims == 4 && x.dim[3] % 2 == 0));
    json_t *attrs = json_pack("{s:f,s:b}", "base", base, "inverse", false);
    return rp_emit1(b, spec(b, "rotary", name, attrs, 3, &x), rp_like(x), RP_IN(x));
}

struct rp_val rp_nn_mul(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y) {
    assert(b->rc != RP_OK || rp_same_shape(&x, &y));
    return rp_emit1(b, spec(b, "mul", name, NULL, 1, &x), rp_like(x), RP_IN(x, y));
}

/* ---- broadcasts ---- */

static struct rp_val broadcast(struct rp_builder *b, const char *kind, const char *name,
                               struct rp_val x, struct rp_val v, size_t axis) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(v.n_dims > 0 && axis + v.n_dims <= x.n_dims);
    for (size_t i = 0; i < v.n_dims; i++)
        assert(v.dim[i] == x.dim[axis + i]);
    return rp_emit1(b, spec(b, kind, name, axis_attr(axis), 1, &x), rp_like(x),
                    RP_IN(x, v));
}

struct rp_val rp_nn_add_broadcast(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val v, size_t axis) {
    return broadcast(b, "add_broadcast", name, x, v, axis);
}

struct rp_val rp_nn_mul_broadcast(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val v, size_t axis) {
    return broadcast(b, "mul_broadcast", name, x, v, axis);
}

struct rp_val rp_nn_repeat(struct rp_builder *b, const char *name, struct rp_val x,
                           uint64_t n) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(x.n_dims < RP_MAX_DIMS);
    struct rp_val y = rp_shaped(x.dtype, RP_SHAPE(n));
    for (size_t i = 0; i < x.n_dims; i++)
        y.dim[y.n_dims++] = x.dim[i];
    return rp_emit1(b, spec(b, "repeat", name, NULL, 0, &y), y, RP_IN(x));
}

/* ---- parts ---- */

struct rp_val rp_nn_slice(struct rp_builder *b, const char *name, struct rp_val x,
                          size_t axis, uint64_t start, uint64_t length) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(start + length <= x.dim[axis]);
    struct rp_val y = rp_like(x);
    y.dim[axis] = length;
    json_t *attrs = axis_attr(axis);
    json_object_set_new(attrs, "start", json_integer((json_int_t)start));
    set_copy_traffic(b, attrs, &y);
    return rp_emit1(b, spec(b, "slice", name, attrs, 0, &y), y, RP_IN(x));
}

void rp_nn_split(struct rp_builder *b, const char *name, struct rp_val x, size_t axis,
                 size_t n, struct rp_val *part) {
    char **names = rp_calloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        part[i] = rp_like(x);
        if (b->rc == RP_OK)
            part[i].dim[axis] = x.dim[axis] / n;
        names[i] = rp_format("%zu", i);
    }
    assert(b->rc != RP_OK || x.dim[axis] % n == 0);
    struct rp_spec s = spec(b, "split", name, axis_attr(axis), 0, &x);
    s.out_names = (const char *const *)names + 1;
    rp_emit(b, s, RP_IN(x), n, part);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

struct rp_val rp_nn_add_positions(struct rp_builder *b, const char *name, struct rp_val x,
                                  struct rp_val table) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    if (x.dim[1] > table.dim[0]) {
        rp_builder_fail(b, RP_USAGE, "at most %llu tokens in a sequence, not %llu",
                        (unsigned long long)table.dim[0], (unsigned long long)x.dim[1]);
        return RP_NO_VALUE;
    }
    if (x.dim[1] < table.dim[0]) {
        rp_scope_begin(b, "%s", name);
        table = rp_nn_slice(b, "rows", table, 0, 0, x.dim[1]);
        rp_scope_end(b);
    }
    return rp_nn_add_broadcast(b, name, x, table, 1);
}

struct rp_val rp_nn_transpose(struct rp_builder *b, const char *name, struct rp_val x) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    struct rp_val y = rp_like(x);
    y.dim[x.n_dims - 2] = x.dim[x.n_dims - 1];
    y.dim[x.n_dims - 1] = x.dim[x.n_dims - 2];
    return rp_emit1(b, spec(b, "transpose", name, NULL, 0, &x), y, RP_IN(x));
}

struct rp_val rp_nn_patches(struct rp_builder *b, const char *name, struct rp_val image,
                            uint64_t width, uint64_t square) {
    rp_scope_begin(b, "%s", name);
    struct rp_val x =
        rp_nn_conv(b, "proj", image, width, rp_square(square, square, 0), RP_BIAS);
    if (b->rc == RP_OK)
        x = rp_view(b, x, RP_SHAPE(x.dim[0], width, x.dim[2] * x.dim[3]));
    x = rp_nn_transpose(b, "tokens", x);
    rp_scope_end(b);
    return x;
}

void rp_nn_classify_tokens(struct rp_builder *b, struct rp_val logits) {
    if (b->rc != RP_OK)
        return;
    uint64_t classes = logits.dim[logits.n_dims - 1];
    rp_nn_classify(b, rp_view(b, logits, RP_SHAPE(rp_count(&logits) / classes, classes)));
}

void rp_nn_classify_steps(struct rp_builder *b, const char *name, struct rp_val x,
                          uint64_t classes) {
    const size_t n = b->o.loss_parts;
    if (b->rc != RP_OK)
        return;
    if (n == 1) {
        rp_nn_classify_tokens(b, rp_nn_linear(b, name, x, classes, RP_BIAS));
        return;
    }
    if (x.dim[0] % n != 0) {
        rp_builder_fail(b, RP_USAGE, "--loss-parts %zu does not divide the steps", n);
        return;
    }
    struct rp_val *part = rp_calloc(n, sizeof *part);
    rp_scope_begin(b, "%s", name);
    struct rp_val weight = rp_param(b, "weight", RP_SHAPE(classes, x.dim[2]));
    struct rp_val bias = rp_param(b, "bias", RP_SHAPE(classes));
    rp_nn_split(b, "parts", x, 0, n, part);
    for (size_t i = 0; i < n && b->rc == RP_OK; i++) {
        rp_scope_begin(b, "%zu", i);
        struct rp_val y = rp_nn_linear_tied(b, "logits", part[i], weight, bias);
        y = rp_view(b, y, RP_SHAPE(rp_count(&y) / classes, classes));
        struct rp_val labels = rp_nn_labels(b, "labels", y, 1);
        rp_nn_cross_entropy(b, "loss", y, labels, 1, 1.0 / (double)n);
        rp_scope_end(b);
    }
    rp_scope_end(b);
    free(part);
}

struct rp_val rp_nn_weight_norm(struct rp_builder *b, const char *name, struct rp_val v,
                                struct rp_val g) {
    return rp_emit1(b, spec(b, "weight_norm", name, NULL, 3, &v), rp_like(v), RP_IN(v, g));
}
