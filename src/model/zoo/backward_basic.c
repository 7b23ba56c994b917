/* Reverse-mode rules of the op kinds in layers.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "model/zoo/backward.h"

static uint64_t flops_of(const struct rp_builder *b, const struct rp_node *n) {
    const json_t *attrs = b->g->ops[n->op].attrs;
    return (uint64_t)json_integer_value(json_object_get(attrs, "flops"));
}

/* ---- convolutions ---- */

static void conv(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                 struct rp_val *gx) {
    const struct rp_val *x = &n->in[0], *w = &n->in[1];
    uint64_t flops = flops_of(b, n);
    if (n->n_in == 3)
        flops -= rp_count(&n->out[0]);
    char *input = rp_format("%s_grad_input", rp_kind_of(b, n));
    char *weight = rp_format("%s_grad_weight", rp_kind_of(b, n));
    if (rp_wants_grad(b, x))
        gx[0] = rp_grad_op(b, n, "grad_input", input, flops, *x, RP_IN(gy[0], *w));
    gx[1] = rp_grad_op(b, n, "grad_weight", weight, flops, *w, RP_IN(gy[0], *x));
    if (n->n_in == 3)
        gx[2] = rp_grad_bias(b, n, gy[0], 1, n->in[2]);
    free(input);
    free(weight);
}

/* ---- matrix products: C = alpha op(A) op(B) ---- */

struct product {
    struct rp_val left, right;
    bool transpose_left, transpose_right;
};

/* Emits another product with as many multiply-adds as the node's, with its own m, n, k. */
static struct rp_val product(struct rp_builder *b, const struct rp_node *n,
                             const char *suffix, struct product p, struct rp_val like) {
    size_t i = p.left.n_dims - 2, j = p.right.n_dims - 2;
    uint64_t rows = p.left.dim[i + p.transpose_left];
    uint64_t inner = p.left.dim[i + !p.transpose_left];
    uint64_t cols = p.right.dim[j + !p.transpose_right];
    uint64_t batch = rp_product(b, i, p.left.dim);
    char *name = rp_format("%s.%s", b->g->ops[n->op].name, suffix);
    struct rp_spec s = rp_grad_spec(b, n, "matmul", name,
                                    rp_product(b, RP_SHAPE(2, batch, rows, inner, cols)));
    json_object_set_new(s.attrs, "transpose_a", json_boolean(p.transpose_left));
    json_object_set_new(s.attrs, "transpose_b", json_boolean(p.transpose_right));
    json_object_set_new(s.attrs, "batch", json_integer((json_int_t)batch));
    json_object_set_new(s.attrs, "m", json_integer((json_int_t)rows));
    json_object_set_new(s.attrs, "n", json_integer((json_int_t)cols));
    json_object_set_new(s.attrs, "k", json_integer((json_int_t)inner));
    struct rp_val out = rp_emit1(b, s, rp_like(like), RP_IN(p.left, p.right));
    free(name);
    return out;
}

/* A matrix with the same last dimension: all leading dimensions become one. */
static struct rp_val as_rows(struct rp_builder *b, struct rp_val v) {
    uint64_t last = v.dim[v.n_dims - 1];
    return rp_view(b, v, RP_SHAPE(rp_count(&v) / last, last));
}

static void matmul(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                   struct rp_val *gx) {
    struct rp_val a = n->in[0], w = n->in[1], g = gy[0];
    const json_t *attrs = b->g->ops[n->op].attrs;
    bool ta = json_is_true(json_object_get(attrs, "transpose_a"));
    bool tb = json_is_true(json_object_get(attrs, "transpose_b"));
    bool layer = b->g->tensors[w.tensor].kind == RP_PARAMETER;
    if (rp_wants_grad(b, &a)) {
        struct product p =
            ta ? (struct product){w, g, tb, true} : (struct product){g, w, false, !tb};
        gx[0] = product(b, n, layer ? "grad_input" : "grad_a", p, a);
    }
    if (rp_wants_grad(b, &w)) {
        if (w.n_dims == 2 && a.n_dims > 2) { /* one matrix for the whole batch */
            a = as_rows(b, a);
            g = as_rows(b, g);
        }
        struct product p =
            tb ? (struct product){g, a, true, ta} : (struct product){a, g, !ta, false};
        gx[1] = product(b, n, layer ? "grad_weight" : "grad_b", p, w);
    }
    if (n->n_in == 3)
        gx[2] = rp_grad_bias(b, n, gy[0], gy[0].n_dims - 1, n->in[2]);
}

/* ---- element by element ---- */

/* KIND_grad(gy, y): the derivative is a function of the output. */
static void by_output(struct rp_builder *b, const struct rp_node *n,
                      const struct rp_val *gy, struct rp_val *gx) {
    char *kind = rp_format("%s_grad", rp_kind_of(b, n));
    gx[0] = rp_grad_op(b, n, "grad_input", kind, rp_count(&gy[0]), n->in[0],
                       RP_IN(gy[0], n->out[0]));
    free(kind);
}

/* The op is linear and its own transpose, so the gradient is the same function of gy. */
static void by_itself(struct rp_builder *b, const struct rp_node *n,
                      const struct rp_val *gy, struct rp_val *gx) {
    gx[0] = rp_grad_op(b, n, "grad_input", rp_kind_of(b, n), flops_of(b, n), n->in[0],
                       RP_IN(gy[0]));
}

static void add(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                struct rp_val *gx) {
    (void)b;
    for (uint32_t i = 0; i < n->n_in; i++)
        gx[i] = gy[0];
}

/* ---- moving data ---- */

static void concat(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                   struct rp_val *gx) {
    char *name = rp_format("%s.grad_input", b->g->ops[n->op].name);
    char **part = rp_calloc(n->n_in, sizeof *part);
    for (uint32_t i = 0; i < n->n_in; i++) {
        gx[i] = rp_like(n->in[i]);
        part[i] = rp_format("%u", i);
    }
    struct rp_spec s = rp_grad_spec(b, n, "split", name, 0);
    s.out_names = (const char *const *)part + 1;
    rp_emit(b, s, RP_IN(gy[0]), n->n_in, gx);
    for (uint32_t i = 0; i < n->n_in; i++)
        free(part[i]);
    free(part);
    free(name);
}

/* ---- pooling ---- */

static void max_pool(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                     struct rp_val *gx) {
    const char *kind = n->in[0].n_dims == 4 ? "max_pool2d_grad" : "max_pool3d_grad";
    gx[0] = rp_grad_op(b, n, "grad_input", kind, rp_count(&n->in[0]), n->in[0],
                       RP_IN(gy[0], n->in[0], n->out[0]));
}

static void avg_pool(struct rp_builder *b, const struct rp_node *n, const struct rp_val *gy,
                     struct rp_val *gx) {
    char *kind = rp_format("%s_grad", rp_kind_of(b, n));
    gx[0] =
        rp_grad_op(b, n, "grad_input", kind, rp_count(&n->in[0]), n->in[0], RP_IN(gy[0]));
    free(kind);
}

static void max_pool_index(struct rp_builder *b, const struct rp_node *n,
                           const struct rp_val *gy, struct rp_val *gx) {
    gx[0] = rp_grad_op(b, n, "grad_input", "max_unpool2d", 0, n->in[0],
                       RP_IN(gy[0], n->out[1]));
}

static void max_unpool(struct rp_builder *b, const struct rp_node *n,
                       const struct rp_val *gy, struct rp_val *gx) {
    gx[0] = rp_grad_op(b, n, "grad_input", "max_unpool2d_grad", 0, n->in[0],
                       RP_IN(gy[0], n->in[1]));
}

/* ---- normalization ---- */

static void batch_norm(struct rp_builder *b, const struct rp_node *n,
                       const struct rp_val *gy, struct rp_val *gx) {
    static const char *const out_names[] = {"weight", "bias"};
    const struct rp_val *x = &n->in[0];
    char *name = rp_format("%s.grad_input", b->g->ops[n->op].name);
    uint64_t element = rp_dtype_bytes(x->dtype);
    struct rp_val in[5] = {gy[0], *x, n->out[1], n->out[2]};
    for (uint32_t i = 1; i < n->n_in; i++)
        gx[i] = rp_like(n->in[i]);
    if (n->n_in == 3)
        in[4] = n->in[1];
    gx[0] = rp_like(*x);
    struct rp_spec s = rp_grad_spec(b, n, "batch_norm_grad", name,
                                    rp_product(b, RP_SHAPE(10, rp_count(x))));
    /* gy and x are read twice: for the two sums, and for the result. */
    json_object_set_new(
        s.attrs, "traffic_bytes",
        json_integer((json_int_t)rp_product(b, RP_SHAPE(5, element, rp_count(x)))));
    s.out_names = out_names;
    rp_emit(b, s, n->n_in == 3 ? 5 : 4, in, n->n_in, gx);
    free(name);
}

/* ---- losses ---- */

/* The step's loss is the sum of all losses, so the gradient of each is 1. */
static void cross_entropy(struct rp_builder *b, const struct rp_node *n,
                          const struct rp_val *gy, struct rp_val *gx) {
    (void)gy;
    gx[0] = rp_grad_op(b, n, "grad_input", "softmax_cross_entropy_grad",
                       rp_product(b, RP_SHAPE(4, rp_count(&n->in[0]))), n->in[0],
                       RP_IN(n->in[0], n->in[1], n->out[1]));
}

const struct rp_rule rp_rules_basic[] = {
    {"conv2d", conv, false},
    {"conv3d", conv, false},
    {"conv_transpose2d", conv, false},
    {"conv_transpose3d", conv, false},
    {"matmul", matmul, false},
    {"relu", by_output, false},
    {"relu6", by_output, false},
    {"tanh", by_output, false},
    {"add", add, false},
    {"scale", by_itself, false},
    {"dropout", by_itself, false},
    {"transpose", by_itself, false},
    {"concat", concat, false},
    {"max_pool2d", max_pool, false},
    {"max_pool3d", max_pool, false},
    {"avg_pool2d", avg_pool, false},
    {"adaptive_avg_pool2d", avg_pool, false},
    {"max_pool2d_index", max_pool_index, false},
    {"max_unpool2d", max_unpool, false},
    {"batch_norm", batch_norm, false},
    {"softmax_cross_entropy", cross_entropy, true},
    {NULL, NULL, false},
};
