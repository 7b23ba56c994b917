/* Reverse-mode rules of the op kinds in layers_seq.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/zoo/backward.h"
#include "model/zoo/layers_seq.h"

static const json_t *attrs_of(const struct rp_builder *b, const struct rp_node *n) {
    return b->g->ops[n->op].attrs;
}

static char *grad_name(const struct rp_builder *b, const struct rp_node *n,
                       const char *suffix) {
    return rp_format("%s.%s", b->g->ops[n->op].name, suffix);
}

static uint64_t per_element(struct rp_builder *b, uint64_t flops, const struct rp_val *v) {
    return rp_product(b, RP_SHAPE(flops, rp_count(v)));
}

/* Emits KIND_grad with n_out outputs, shaped as the first n_out inputs of the node. */
static void grad_ops(struct rp_builder *b, const struct rp_node *n, uint64_t flops,
                     const char *const *out_names, size_t n_in, const struct rp_val *in,
                     size_t n_out, struct rp_val *gx) {
    char *kind = rp_format("%s_grad", rp_kind_of(b, n));
    char *name = grad_name(b, n, "grad_input");
    struct rp_spec s = rp_grad_spec(b, n, kind, name, flops);
    s.out_names = out_names;
    for (size_t i = 0; i < n_out; i++)
        gx[i] = rp_like(n->in[i]);
    rp_emit(b, s, n_in, in, n_out, gx);
    free(kind);
    free(name);
}

/* ---- products ---- */

/* c = a b: the gradients are gc bT and aT gc, written where a and b lie. The gradient of an
 * operand is summed over every batch dimension along which the operand is repeated (stride
 * 0). */
static void bmm(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                struct rp_val *gx) {
    const struct rp_bmm d = rp_bmm_of(attrs_of(b, n));
    struct rp_bmm da = d, db = d;
    da.n = d.k;
    da.k = d.n;
    db.m = d.k;
    db.k = d.m;
    for (size_t i = 0; i < 5; i++) {
        const size_t turned = i < 3 ? i : 7 - i;
        da.a[i] = d.c[i];
        da.b[i] = d.b[turned];
        da.c[i] = d.a[i];
        db.a[i] = d.a[turned];
        db.b[i] = d.c[i];
        db.c[i] = d.b[i];
    }
    char *name_a = grad_name(b, n, "grad_a"), *name_b = grad_name(b, n, "grad_b");
    if (rp_wants_grad(b, &n->in[0]))
        gx[0] = rp_nn_bmm(b, name_a, gy[0], n->in[1], n->in[0], &da);
    if (rp_wants_grad(b, &n->in[1]))
        gx[1] = rp_nn_bmm(b, name_b, n->in[0], gy[0], n->in[1], &db);
    free(name_a);
    free(name_b);
}

static void mul(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                struct rp_val *gx) {
    const uint64_t flops = rp_count(&gy[0]);
    if (rp_wants_grad(b, &n->in[0]))
        gx[0] = rp_grad_op(b, n, "grad_a", "mul", flops, n->in[0], RP_IN(gy[0], n->in[1]));
    if (rp_wants_grad(b, &n->in[1]))
        gx[1] = rp_grad_op(b, n, "grad_b", "mul", flops, n->in[1], RP_IN(gy[0], n->in[0]));
}

/* ---- broadcasts: the gradient of what was repeated is a sum ---- */

/* The dimensions of g are those before `axis`, then those that v has, then the rest. Emits
 * the sum over the first and the last of these three. */
static struct rp_val sum_like(struct rp_builder *b, const struct rp_node *n,
                              struct rp_val g, size_t axis, struct rp_val v) {
    uint64_t outer = 1;
    for (size_t i = 0; i < axis; i++)
        outer *= g.dim[i];
    const uint64_t inner = rp_count(&g) / outer / rp_count(&v);
    return rp_grad_bias(b, n, rp_view(b, g, RP_SHAPE(outer, rp_count(&v), inner)), 1, v);
}

static size_t axis_of(const struct rp_builder *b, const struct rp_node *n) {
    return (size_t)json_integer_value(json_object_get(attrs_of(b, n), "axis"));
}

static void add_broadcast(struct rp_builder *b, const struct rp_node *n,
                          const struct rp_val *gy, struct rp_val *gx) {
    gx[0] = gy[0];
    if (rp_wants_grad(b, &n->in[1]))
        gx[1] = sum_like(b, n, gy[0], axis_of(b, n), n->in[1]);
}

static void mul_broadcast(struct rp_builder *b, const struct rp_node *n,
                          const struct rp_val *gy, struct rp_val *gx) {
    const struct rp_val *x = &n->in[0];
    if (rp_wants_grad(b, x))
        gx[0] = rp_grad_op(b, n, "grad_input", "mul_broadcast", rp_count(x), *x,
                           RP_IN(gy[0], n->in[1]));
    if (rp_wants_grad(b, &n->in[1])) {
        char *name = grad_name(b, n, "grad_product");
        struct rp_val product = rp_nn_mul(b, name, gy[0], *x);
        gx[1] = sum_like(b, n, product, axis_of(b, n), n->in[1]);
        free(name);
    }
}

static void repeat(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                   struct rp_val *gx) {
    gx[0] = sum_like(b, n, gy[0], 1, n->in[0]);
}

/* ---- moving data ---- */

static void gather(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                   struct rp_val *gx) {
    gx[0] = rp_grad_op(b, n, "grad_weight", "gather_grad", rp_count(&gy[0]), n->in[0],
                       RP_IN(gy[0], n->in[1]));
}

static void slice(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                  struct rp_val *gx) {
    gx[0] = rp_grad_op(b, n, "grad_input", "slice_grad", 0, n->in[0], RP_IN(gy[0]));
}

/* Networks here use every part, so each has a gradient. */
static void split(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                  struct rp_val *gx) {
    for (uint32_t i = 0; i < n->n_out; i++)
        assert(b->rc != RP_OK || gy[i].tensor != RP_NONE);
    gx[0] = rp_grad_op(b, n, "grad_input", "concat", 0, n->in[0], n->n_out, gy);
}

/* ---- element by element, along a row ---- */

/* KIND_grad(gy, x): the derivative is a function of the input. */
static void by_input(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                     struct rp_val *gx) {
    grad_ops(b, n, per_element(b, 2, &gy[0]), NULL, RP_IN(gy[0], n->in[0]), 1, gx);
}

static void softmax(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                    struct rp_val *gx) {
    grad_ops(b, n, per_element(b, 4, &gy[0]), NULL, RP_IN(gy[0], n->out[0]), 1, gx);
}

/* The gradient is a rotation by the opposite angle. */
static void rotary(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                   struct rp_val *gx) {
    char *name = grad_name(b, n, "grad_input");
    struct rp_spec s = rp_grad_spec(b, n, "rotary", name, per_element(b, 3, &gy[0]));
    json_object_set_new(s.attrs, "inverse", json_true());
    gx[0] = rp_emit1(b, s, rp_like(n->in[0]), RP_IN(gy[0]));
    free(name);
}

static void layer_norm(struct rp_builder *b, const struct rp_node *n,
                       const struct rp_val *gy, struct rp_val *gx) {
    static const char *const out_names[] = {"weight", "bias"};
    grad_ops(b, n, per_element(b, 14, &gy[0]), out_names,
             RP_IN(gy[0], n->in[0], n->out[1], n->out[2], n->in[1]), 3, gx);
}

static void rms_norm(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                     struct rp_val *gx) {
    static const char *const out_names[] = {"weight"};
    grad_ops(b, n, per_element(b, 10, &gy[0]), out_names,
             RP_IN(gy[0], n->in[0], n->out[1], n->in[1]), 2, gx);
}

static void weight_norm(struct rp_builder *b, const struct rp_node *n,
                        const struct rp_val *gy, struct rp_val *gx) {
    static const char *const out_names[] = {"g"};
    grad_ops(b, n, per_element(b, 8, &gy[0]), out_names, RP_IN(gy[0], n->in[0], n->in[1]),
             2, gx);
}

/* ---- LSTM ---- */

/* The gradients of h and c are inputs where the loss depends on them. The gradient of the
 * previous c is an output, except at the beginning of the sequence. */
static void lstm_cell(struct rp_builder *b, const struct rp_node *n,
                      const struct rp_val *gy, struct rp_val *gx) {
    static const char *const out_names[] = {"c"};
    struct rp_val in[5] = {n->in[0], n->in[1], n->out[1]};
    size_t n_in = 3;
    for (size_t k = 0; k < 2; k++)
        if (gy[k].tensor != RP_NONE)
            in[n_in++] = gy[k];
    char *name = grad_name(b, n, "grad_input");
    struct rp_spec s =
        rp_grad_spec(b, n, "lstm_cell_grad", name, per_element(b, 6, &n->in[0]));
    json_object_set_new(s.attrs, "grad_h", json_boolean(gy[0].tensor != RP_NONE));
    json_object_set_new(s.attrs, "grad_c", json_boolean(gy[1].tensor != RP_NONE));
    s.out_names = out_names;
    gx[0] = rp_like(n->in[0]);
    gx[1] = rp_like(n->in[1]);
    rp_emit(b, s, n_in, in, rp_wants_grad(b, &n->in[1]) ? 2 : 1, gx);
    free(name);
}

const struct rp_rule rp_rules_seq[] = {
    {"bmm", bmm, false},
    {"mul", mul, false},
    {"add_broadcast", add_broadcast, false},
    {"mul_broadcast", mul_broadcast, false},
    {"repeat", repeat, false},
    {"gather", gather, false},
    {"slice", slice, false},
    {"split", split, false},
    {"gelu", by_input, false},
    {"gelu_tanh", by_input, false},
    {"silu", by_input, false},
    {"softmax", softmax, false},
    {"rotary", rotary, false},
    {"layer_norm", layer_norm, false},
    {"rms_norm", rms_norm, false},
    {"weight_norm", weight_norm, false},
    {"lstm_cell", lstm_cell, false},
    {NULL, NULL, false},
};
