/* The backward pass: one reverse-mode rule an op kind (those of sequence models are in
 * backward_seq.c), and the pass that applies them.
 *
 * Gradients of a tensor with several readers are added as they arrive, in reverse order of
 * the readers, as an eager automatic differentiation does.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/zoo/backward.h"

bool rp_wants(const struct rp_builder *b, const struct rp_val *v) {
    return b->needs[v->tensor];
}

struct rp_spec rp_grad_spec(const struct rp_builder *b, const struct rp_node *n,
                            const char *kind, char *name, uint64_t flops) {
    json_t *attrs = json_copy(b->g->ops[n->op].attrs);
    json_object_del(attrs, "traffic_bytes");
    return (struct rp_spec){.kind = kind, .name = name, .attrs = attrs, .flops = flops};
}

struct rp_val rp_grad_op(struct rp_builder *b, const struct rp_node *n, const char *suffix,
                         const char *kind, uint64_t flops, struct rp_val like, size_t n_in,
                         const struct rp_val *in) {
    char *name = rp_format("%s.%s", b->g->ops[n->op].name, suffix);
    struct rp_val out =
        rp_emit1(b, rp_grad_spec(b, n, kind, name, flops), rp_like(like), n_in, in);
    free(name);
    return out;
}

const char *rp_kind_of(const struct rp_builder *b, const struct rp_node *n) {
    return b->g->ops[n->op].kind;
}

static uint64_t flops_of(const struct rp_builder *b, const struct rp_node *n) {
    const json_t *attrs = b->g->ops[n->op].attrs;
    return (uint64_t)json_integer_value(json_object_get(attrs, "flops"));
}

struct rp_val rp_grad_bias(struct rp_builder *b, const struct rp_node *n, struct rp_val gy,
                           size_t axis, struct rp_val bias) {
    char *name = rp_format("%s.grad_bias", b->g->ops[n->op].name);
    struct rp_spec s = {.kind = "bias_grad",
                        .name = name,
                        .attrs = json_pack("{s:I}", "axis", (json_int_t)axis),
                        .flops = rp_count(&gy)};
    struct rp_val out = rp_emit1(b, s, rp_like(bias), RP_IN(gy));
    free(name);
    return out;
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
    if (rp_wants(b, x))
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

/* Emits one more product of the same size as the node's, with its own m, n, k. */
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

/* All leading dimensions in one: a matrix with the same last dimension. */
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
    if (rp_wants(b, &a)) {
        struct product p =
            ta ? (struct product){w, g, tb, true} : (struct product){g, w, false, !tb};
        gx[0] = product(b, n, layer ? "grad_input" : "grad_a", p, a);
    }
    if (rp_wants(b, &w)) {
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

/* The same function of gy: linear, and its own transpose. */
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
    uint64_t element = x->dtype == RP_F16 ? 2 : 4;
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

/* The step's loss is the sum of these, so the gradient of each is 1. */
static void cross_entropy(struct rp_builder *b, const struct rp_node *n,
                          const struct rp_val *gy, struct rp_val *gx) {
    (void)gy;
    gx[0] = rp_grad_op(b, n, "grad_input", "softmax_cross_entropy_grad",
                       rp_product(b, RP_SHAPE(4, rp_count(&n->in[0]))), n->in[0],
                       RP_IN(n->in[0], n->in[1], n->out[1]));
}

static const struct rp_rule rules[] = {
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

static const struct rp_rule *find_rule(const char *kind) {
    const struct rp_rule *const tables[] = {rules, rp_rules_seq};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct rp_rule *r = tables[i]; r->kind != NULL; r++)
            if (strcmp(r->kind, kind) == 0)
                return r;
    return NULL;
}

/* ---- the reverse pass ---- */

struct sums { /* per tensor of the forward pass */
    struct rp_val *grad;
    uint32_t *n; /* gradients added so far */
};

static struct rp_val total_loss(struct rp_builder *b) {
    struct rp_val sum = b->losses.at[0];
    for (size_t i = 1; i < b->losses.n; i++) {
        char *name = i == 1 ? rp_strdup("loss_sum") : rp_format("loss_sum%zu", i);
        sum = rp_emit1(b, (struct rp_spec){.kind = "add", .name = name, .flops = 1},
                       rp_like(sum), RP_IN(sum, b->losses.at[i]));
        free(name);
    }
    return sum;
}

/* A gradient in the shape of the tensor itself, whatever the reader saw. */
static void add_gradient(struct rp_builder *b, struct sums *s, uint32_t x,
                         struct rp_val g) {
    const struct rp_tensor *t = &b->g->tensors[x];
    g = rp_view(b, g, t->n_dims, t->shape);
    if (s->n[x]++ == 0) {
        s->grad[x] = g;
        return;
    }
    char *name = s->n[x] == 2 ? rp_format("%s.grad_sum", t->name)
                              : rp_format("%s.grad_sum%u", t->name, s->n[x] - 1);
    struct rp_spec sp = {.kind = "add", .name = name, .flops = rp_count(&g)};
    if (g.tensor != s->grad[x].tensor) {
        s->grad[x] = rp_emit1(b, sp, rp_like(g), RP_IN(s->grad[x], g));
    } else { /* an op reads no tensor twice */
        sp.kind = "scale";
        sp.attrs = json_pack("{s:f}", "factor", 2.0);
        s->grad[x] = rp_emit1(b, sp, rp_like(g), RP_IN(g));
    }
    free(name);
}

static void reverse_node(struct rp_builder *b, const struct rp_node *n, struct sums *s) {
    const struct rp_rule *rule = find_rule(rp_kind_of(b, n));
    bool reached = rule != NULL && rule->is_loss && rp_wants(b, &n->out[0]);
    struct rp_val *gy = rp_calloc(n->n_out, sizeof *gy);
    struct rp_val *gx = rp_calloc(n->n_in, sizeof *gx);
    for (uint32_t k = 0; k < n->n_out; k++) {
        gy[k] = s->grad[n->out[k].tensor];
        reached |= gy[k].tensor != RP_NONE && rp_wants(b, &n->out[k]);
    }
    for (uint32_t i = 0; i < n->n_in; i++)
        gx[i] = RP_NO_VALUE;
    if (reached && rule == NULL)
        rp_builder_fail(b, RP_BUG, "no reverse-mode rule for '%s'", rp_kind_of(b, n));
    else if (reached)
        rule->apply(b, n, gy, gx);
    for (uint32_t i = 0; i < n->n_in && b->rc == RP_OK; i++)
        if (gx[i].tensor != RP_NONE && rp_wants(b, &n->in[i]))
            add_gradient(b, s, n->in[i].tensor, gx[i]);
    free(gy);
    free(gx);
}

/* attrs.of names the parameter; the gradient has its shape, whatever the rule saw. */
static void keep_gradient(struct rp_builder *b, const struct rp_val *param,
                          const struct rp_val *grad) {
    const struct rp_tensor *p = &b->g->tensors[param->tensor];
    if (grad->tensor == RP_NONE) {
        rp_builder_fail(b, RP_BUG, "parameter '%s' gets no gradient", p->name);
        return;
    }
    struct rp_tensor *t = &b->g->tensors[grad->tensor];
    assert(t->n_dims == p->n_dims && t->attrs == NULL &&
           memcmp(t->shape, p->shape, p->n_dims * sizeof *p->shape) == 0);
    t->attrs = json_pack("{s:s}", "of", p->name);
    rp_keep(b, *grad);
}

void rp_differentiate(struct rp_builder *b) {
    if (b->rc != RP_OK)
        return;
    assert(b->losses.n > 0 && b->scope[0] == '\0');
    struct rp_val loss = total_loss(b);
    uint32_t n_forward = b->g->n_tensors;
    struct sums s = {rp_calloc(n_forward, sizeof *s.grad),
                     rp_calloc(n_forward, sizeof *s.n)};
    for (uint32_t x = 0; x < n_forward; x++)
        s.grad[x] = RP_NO_VALUE;
    b->loss = loss.tensor;
    b->phase = RP_BACKWARD;
    rp_keep(b, loss);
    for (size_t i = b->nodes.n; i-- > 0 && b->rc == RP_OK;)
        reverse_node(b, &b->nodes.at[i], &s);
    for (size_t i = 0; i < b->params.n && b->rc == RP_OK; i++)
        keep_gradient(b, &b->params.at[i], &s.grad[b->params.at[i].tensor]);
    free(s.grad);
    free(s.n);
}
