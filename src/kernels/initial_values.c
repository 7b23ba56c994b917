#include "kernels/initial_values.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "kernels/element.h"

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

/* The tensor in a slot: slots count the inputs, then what the op updates. */
static uint32_t operand_of(const struct rp_op *op, uint32_t slot) {
    return slot < op->n_inputs ? op->inputs[slot] : op->updates[slot - op->n_inputs];
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

static void set_range(const struct rp_graph *g, uint32_t x, struct rp_fill *fill);

/* What an operand of an optimizer's op begins with: the step and what the optimizer keeps
 * with 0, and the f32 copy of a 16-bit parameter with the numbers whose rounding that is.
 * False if the op is no such op, or the operand is the parameter or its gradient. Slots
 * count the inputs, then the updates. */
static bool set_optimizer_range(const struct rp_graph *g, const struct rp_op *op,
                                uint32_t slot, struct rp_fill *fill) {
    static const struct {
        const char *kind;
        uint32_t weight, n_kept; /* the parameter's slot, and how many follow it */
    } kinds[] = {{"sgd", 1, 0}, {"momentum", 1, 1}, {"adam", 2, 2}, {"adamw", 2, 2}};
    bool zero = is_kind(op, "count_step");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const uint32_t weight = kinds[k].weight, master = weight + 1 + kinds[k].n_kept;
        if (!is_kind(op, kinds[k].kind))
            continue;
        zero |= slot > 0 && slot != weight && slot != master;
        if (slot != master)
            continue;
        fill->seed = operand_of(op, weight);
        set_range(g, operand_of(op, weight), fill);
        return true;
    }
    if (zero)
        set(fill, 0, 0);
    return zero;
}

/* The first op that reads x, or else the first that updates it; NULL without one. */
static const struct rp_op *first_user(const struct rp_graph *g, uint32_t x) {
    if (g->reader_start[x] < g->reader_start[x + 1])
        return &g->ops[g->readers[g->reader_start[x]]];
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++)
            if (g->ops[i].updates[k] == x)
                return &g->ops[i];
    return NULL;
}

/* The first user of x decides. Weights are uniform with variance 2 / fan-in (He et al.,
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
    const struct rp_op *op = first_user(g, x);
    uint32_t slot = 0;
    while (op != NULL && operand_of(op, slot) != x)
        slot++;
    if (op == NULL || set_optimizer_range(g, op, slot, fill))
        return;
    if (fill->element == RP_ELEMENT_I32)
        set(fill, 0, (double)n_values(g, op));
    else if (is_scale(op, slot))
        set(fill, 0.5, 1.5);
}

rp_rc rp_initial_values(const struct rp_graph *g, uint32_t x, enum rp_bind how,
                        const char *file, struct rp_fill *fill, struct rp_err *err) {
    const struct rp_tensor *t = &g->tensors[x];
    *fill = (struct rp_fill){.seed = x, .count = count_of(t)};
    if (!rp_element_find(t->dtype, &fill->element))
        return rp_fail(err, RP_INPUT,
                       "%s: tensors[%" PRIu32 "] \"%s\": its dtype must be f32, f16, bf16 "
                       "or i32",
                       file, x, t->name);
    const size_t size = rp_element_bytes(fill->element);
    if (how == RP_BIND_F64 && fill->element != RP_ELEMENT_I32)
        fill->element = RP_ELEMENT_F64;
    if (t->bytes % size != 0 || t->bytes / size != fill->count)
        return rp_fail(err, RP_INPUT,
                       "%s: tensors[%" PRIu32 "] \"%s\": its shape does not match its "
                       "bytes",
                       file, x, t->name);
    set_range(g, x, fill);
    return RP_OK;
}
