#include "kernels/initial_values.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static uint64_t count_of(const struct rp_tensor *t) {
    uint64_t count = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        count *= t->shape[i];
    return count;
}

static bool is_kind(const struct rp_op *op, const char *kind) {
    return strcmp(op->kind, kind) == 0;
}

/* The number of values that an i32 input may have: rows of a table or classes. */
static uint64_t n_values(const struct rp_graph *g, const struct rp_op *op) {
    const struct rp_tensor *x = &g->tensors[op->inputs[0]];
    const json_t *views = json_object_get(op->attrs, "views");
    const json_t *view = json_array_get(views, 0);
    size_t axis = 0;
    if (is_kind(op, "softmax_cross_entropy"))
        axis = (size_t)json_integer_value(json_object_get(op->attrs, "axis"));
    else if (!is_kind(op, "gather"))
        return 1;
    if (json_is_array(view))
        return (uint64_t)json_integer_value(json_array_get(view, axis));
    return axis < x->n_dims ? x->shape[axis] : 1;
}

/* Scales, variances and lengths: positive numbers near 1. */
static bool is_scale(const struct rp_op *op, uint32_t slot) {
    const bool norm = is_kind(op, "batch_norm") || is_kind(op, "layer_norm") ||
                      is_kind(op, "rms_norm") || is_kind(op, "weight_norm");
    return (norm && slot == 1) || (is_kind(op, "bn_update_stats") && slot == 3);
}

static void set(struct rp_fill *fill, double low, double high) {
    fill->low = low;
    fill->high = high;
}

/* The first reader of x decides. Weights are uniform with variance 2 / fan-in (He et al.,
 * 2015). The fan-in is the number of terms in a filter's or a row's sum. */
static void set_range(const struct rp_graph *g, uint32_t x, struct rp_fill *fill) {
    const struct rp_tensor *t = &g->tensors[x];
    set(fill, -1, 1);
    if (t->kind == RP_PARAMETER && t->n_dims < 2)
        set(fill, -0.1, 0.1);
    else if (t->kind == RP_PARAMETER && t->shape[0] > 0) {
        const double limit = sqrt(6 / ((double)fill->count / (double)t->shape[0]));
        set(fill, -limit, limit);
    }
    for (uint32_t r = g->reader_start[x]; r < g->reader_start[x + 1]; r++) {
        const struct rp_op *op = &g->ops[g->readers[r]];
        for (uint32_t slot = 0; slot < op->n_inputs; slot++) {
            if (op->inputs[slot] != x)
                continue;
            if (fill->element == RP_ELEMENT_I32)
                set(fill, 0, (double)n_values(g, op));
            else if (is_scale(op, slot))
                set(fill, 0.5, 1.5);
            return;
        }
    }
}

rp_rc rp_initial_values(const struct rp_graph *g, uint32_t x, enum rp_bind how,
                        const char *file, struct rp_fill *fill, struct rp_err *err) {
    const struct rp_tensor *t = &g->tensors[x];
    const char *dtype = t->dtype != NULL ? t->dtype : "";
    uint64_t size = 4;
    *fill = (struct rp_fill){.seed = x, .count = count_of(t)};
    if (strcmp(dtype, "i32") == 0)
        fill->element = RP_ELEMENT_I32;
    else if (strcmp(dtype, "f32") == 0 && how != RP_BIND_F64)
        fill->element = RP_ELEMENT_F32;
    else if (strcmp(dtype, "f16") == 0 && how != RP_BIND_F64)
        fill->element = RP_ELEMENT_F16;
    else if (strcmp(dtype, "f32") == 0 || strcmp(dtype, "f16") == 0)
        fill->element = RP_ELEMENT_F64;
    else
        return rp_fail(err, RP_INPUT,
                       "%s: tensors[%" PRIu32 "] \"%s\": its dtype must be f32, "
                       "f16 or i32",
                       file, x, t->name);
    if (strcmp(dtype, "f16") == 0)
        size = 2;
    if (t->bytes % size != 0 || t->bytes / size != fill->count)
        return rp_fail(err, RP_INPUT,
                       "%s: tensors[%" PRIu32 "] \"%s\": its shape does not match its "
                       "bytes",
                       file, x, t->name);
    set_range(g, x, fill);
    return RP_OK;
}
