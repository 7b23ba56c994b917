#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/zoo/backward.h"
#include "run.h"

/* A parameter, so that its gradient is computed. */
#define P(name, ...) rp_param(b, name, RP_SHAPE(__VA_ARGS__))

/* For layers that read x in another shape, which a parameter cannot be read in. */
static struct rp_val viewed(struct rp_builder *b, struct rp_val x) {
    return rp_nn_scale(b, "times_two", x, 2);
}

/* Adds a loss of y, multiplied by constants so that every element counts differently. */
static void end(struct rp_builder *b, const char *name, struct rp_val y) {
    rp_scope_begin(b, "%s", name);
    struct rp_val weights =
        rp_source(b, RP_INPUT_TENSOR, y.dtype, "weights", y.n_dims, y.dim);
    y = rp_nn_mul(b, "weighed", y, weights);
    const uint64_t n = rp_count(&y);
    y = rp_view(b, y, RP_SHAPE(n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n));
    rp_nn_cross_entropy(b, "loss", y, rp_nn_labels(b, "labels", y, 1), 1, 1.0);
    rp_scope_end(b);
}

/* ---- windows ---- */

static struct rp_window window(uint64_t kernel_h, uint64_t kernel_w, uint64_t stride,
                               uint64_t pad) {
    struct rp_window w = rp_rect(kernel_h, kernel_w, pad, pad);
    w.stride[0] = w.stride[1] = stride;
    return w;
}

static void conv2d(struct rp_builder *b) {
    end(b, "y",
        rp_nn_conv_groups(b, "conv", P("x", 2, 4, 7, 5), 6, window(3, 2, 2, 1), RP_BIAS,
                          2));
}

/* Parts of this batch differ in size. */
static void conv2d_of_five(struct rp_builder *b) {
    end(b, "y", rp_nn_conv(b, "conv", P("x", 5, 2, 3, 4), 3, rp_square(2, 1, 1), RP_BIAS));
}

static void conv2d_depthwise(struct rp_builder *b) {
    end(b, "y",
        rp_nn_conv_groups(b, "conv", P("x", 2, 3, 4, 5), 3, rp_square(3, 1, 1), RP_NO_BIAS,
                          3));
}

/* No network of the zoo has dilation, but kernels and rules support it. */
static void conv2d_dilated(struct rp_builder *b) {
    const uint64_t kernel[] = {3, 2}, stride[] = {2, 1}, pad[] = {2, 1},
                   dilation[] = {2, 3};
    struct rp_val x = P("x", 1, 2, 8, 6), w = P("w", 3, 2, 3, 2);
    struct rp_spec s = {.kind = "conv2d", .name = "conv", .flops = 1};
    s.attrs =
        json_pack("{s:s,s:o,s:o,s:o,s:o,s:i}", "layout", "NCHW", "kernel",
                  rp_numbers(2, kernel), "stride", rp_numbers(2, stride), "pad",
                  rp_numbers(2, pad), "dilation", rp_numbers(2, dilation), "groups", 1);
    struct rp_val y = rp_shaped(x.dtype, RP_SHAPE(1, 3, 4, 5));
    end(b, "y", rp_emit1(b, s, y, RP_IN(x, w)));
}

static void conv3d(struct rp_builder *b) {
    struct rp_window w = {.kernel = {2, 3, 1}, .stride = {2, 2, 1}, .pad = {0, 1, 0}};
    end(b, "y", rp_nn_conv(b, "conv", P("x", 2, 2, 5, 5, 2), 3, w, RP_BIAS));
}

static void conv_transpose2d(struct rp_builder *b) {
    end(b, "y",
        rp_nn_conv_transpose(b, "up", P("x", 2, 3, 3, 2), 2, window(3, 2, 2, 1), RP_BIAS));
}

static void conv_transpose3d(struct rp_builder *b) {
    struct rp_window w = {.kernel = {2, 3, 2}, .stride = {2, 1, 2}, .pad = {0, 1, 0}};
    end(b, "y", rp_nn_conv_transpose(b, "up", P("x", 1, 2, 2, 3, 2), 3, w, RP_NO_BIAS));
}

static void max_pool2d(struct rp_builder *b) {
    end(b, "y", rp_nn_max_pool(b, "pool", P("x", 2, 2, 7, 6), rp_square(3, 2, 1)));
}

static void max_pool3d(struct rp_builder *b) {
    end(b, "y", rp_nn_max_pool(b, "pool", P("x", 1, 2, 4, 3, 5), rp_square(2, 1, 0)));
}

static void max_unpool2d(struct rp_builder *b) {
    struct rp_val x = P("x", 2, 2, 5, 6), index;
    struct rp_val y = rp_nn_max_pool_index(b, "pool", x, rp_square(2, 2, 0), &index);
    y = rp_nn_mul(b, "between", y, P("m", 2, 2, 2, 3));
    end(b, "y", rp_nn_max_unpool(b, "unpool", y, index, x));
}

static void avg_pool2d(struct rp_builder *b) {
    end(b, "y", rp_nn_avg_pool(b, "pool", P("x", 2, 2, 5, 6), rp_square(3, 2, 1), true));
}

static void avg_pool2d_of_what_is_there(struct rp_builder *b) {
    end(b, "y", rp_nn_avg_pool(b, "pool", P("x", 2, 2, 5, 6), rp_square(3, 1, 1), false));
}

static void adaptive_avg_pool2d(struct rp_builder *b) {
    end(b, "y", rp_nn_adaptive_avg_pool(b, "pool", P("x", 2, 2, 7, 4), 3));
}

/* The output is larger than the input: windows of one element, each used several times. */
static void adaptive_avg_pool2d_upward(struct rp_builder *b) {
    end(b, "y", rp_nn_adaptive_avg_pool(b, "pool", P("x", 1, 2, 2, 3), 5));
}

/* ---- products ---- */

static void linear(struct rp_builder *b) {
    end(b, "y", rp_nn_linear(b, "fc", viewed(b, P("x", 2, 3, 5)), 4, RP_BIAS));
}

static void product(struct rp_builder *b, bool ta, bool tb, struct rp_val x,
                    struct rp_val w) {
    struct rp_matmul t = {.transpose_a = ta, .transpose_b = tb, .alpha = 0.7};
    end(b, "y", rp_nn_matmul(b, "mm", x, w, RP_NO_VALUE, t));
}

static void matmul(struct rp_builder *b) {
    product(b, false, false, P("x", 3, 4), P("w", 4, 2));
}

static void matmul_left_transposed(struct rp_builder *b) {
    product(b, true, false, P("x", 2, 4, 3), P("w", 2, 4, 5));
}

static void matmul_right_transposed(struct rp_builder *b) {
    product(b, false, true, P("x", 2, 3, 4), P("w", 2, 5, 4));
}

static void matmul_both_transposed(struct rp_builder *b) {
    product(b, true, true, P("x", 2, 4, 3), P("w", 2, 5, 4));
}

static void matmul_one_matrix_for_all(struct rp_builder *b) {
    product(b, false, false, P("x", 2, 3, 4), P("w", 4, 5));
}

static void attention(struct rp_builder *b) {
    end(b, "y",
        rp_nn_attention(b, P("q", 2, 3, 8), P("k", 2, 3, 8), P("v", 2, 3, 8),
                        (struct rp_heads){2, 2}, true, 0.3));
}

static void attention_grouped(struct rp_builder *b) {
    end(b, "y",
        rp_nn_attention(b, P("q", 2, 3, 8), P("k", 2, 5, 4), P("v", 2, 5, 4),
                        (struct rp_heads){4, 2}, false, 0));
}

/* One matrix for the whole batch, so its gradient is a sum over the batch. */
static void talking_heads(struct rp_builder *b) {
    const struct rp_bmm d = {.batch = {3, 1, 1},
                             .m = 4,
                             .n = 5,
                             .k = 4,
                             .a = {0, 0, 0, 4, 1},
                             .b = {20, 0, 0, 5, 1},
                             .c = {20, 0, 0, 5, 1},
                             .alpha = 1.5};
    struct rp_val x = P("x", 3, 4, 5);
    end(b, "y", rp_nn_bmm(b, "talk", P("w", 4, 4), x, x, &d));
}

/* ---- element by element ---- */

static void unary(struct rp_builder *b, const char *kind) {
    end(b, "y", rp_nn_unary(b, kind, "f", P("x", 3, 8)));
}

static void relu6(struct rp_builder *b) { /* some elements are 6 or more */
    end(b, "y", rp_nn_unary(b, "relu6", "f", rp_nn_scale(b, "times", P("x", 3, 8), 12)));
}

static void dropout(struct rp_builder *b) {
    struct rp_val x = rp_nn_dropout(b, "first", P("x", 4, 6), 0.4);
    end(b, "y", rp_nn_dropout(b, "second", x, 0.1));
}

/* One tensor with three readers: its gradients are added. */
static void add(struct rp_builder *b) {
    struct rp_val x = P("x", 3, 4), y = P("y", 3, 4);
    struct rp_val sum = rp_nn_add(b, "sum", x, y);
    struct rp_val twice = rp_nn_add(b, "twice", sum, rp_nn_relu(b, "relu", x));
    end(b, "y", rp_nn_mul(b, "product", twice, x));
}

static void add_broadcast(struct rp_builder *b) {
    struct rp_val y = rp_nn_add_broadcast(b, "a", P("x", 2, 3, 4), P("u", 3), 1);
    end(b, "y", rp_nn_add_broadcast(b, "b", y, P("v", 3, 4), 1));
}

static void mul_broadcast(struct rp_builder *b) {
    struct rp_val y = rp_nn_mul_broadcast(b, "a", P("x", 2, 3, 4), P("u", 4), 2);
    end(b, "y", rp_nn_mul_broadcast(b, "b", y, P("v", 2), 0));
}

/* ---- moving data ---- */

static void repeat(struct rp_builder *b) {
    end(b, "y", rp_nn_repeat(b, "copies", P("x", 2, 3), 4));
}

static void concat(struct rp_builder *b) {
    struct rp_val x[] = {P("x", 2, 3, 2), P("y", 2, 1, 2), P("z", 2, 2, 2)};
    end(b, "y", rp_nn_concat(b, "all", 1, 3, x));
}

static void split(struct rp_builder *b) {
    struct rp_val part[3];
    rp_nn_split(b, "parts", P("x", 2, 6, 2), 1, 3, part);
    struct rp_val y = rp_nn_mul(b, "first", part[0], part[2]);
    end(b, "y", rp_nn_add(b, "second", y, part[1]));
}

static void slice(struct rp_builder *b) {
    end(b, "y", rp_nn_slice(b, "middle", P("x", 2, 5, 3), 1, 2, 2));
}

static void transpose(struct rp_builder *b) {
    end(b, "y", rp_nn_transpose(b, "turned", P("x", 2, 3, 4)));
}

static void gather(struct rp_builder *b) {
    struct rp_val ids = rp_source(b, RP_INPUT_TENSOR, RP_I32, "ids", RP_SHAPE(3, 4));
    end(b, "y", rp_nn_gather(b, "rows", P("table", 7, 3), ids));
}

/* ---- rows and channels ---- */

static void softmax(struct rp_builder *b) {
    end(b, "y", rp_nn_softmax(b, "p", P("x", 2, 5, 3), 1, false));
}

static void softmax_causal(struct rp_builder *b) {
    end(b, "y", rp_nn_softmax(b, "p", P("x", 2, 3, 4), 2, true));
}

static void batch_norm(struct rp_builder *b) {
    end(b, "y", rp_nn_batch_norm(b, "bn", P("x", 3, 2, 2, 3), 1e-3, 0.1, RP_BN_AFFINE));
}

static void batch_norm_plain(struct rp_builder *b) {
    end(b, "y", rp_nn_batch_norm(b, "bn", P("x", 2, 3, 2, 2, 2), 1e-3, 0.2, RP_BN_PLAIN));
}

static void layer_norm(struct rp_builder *b) {
    end(b, "y", rp_nn_layer_norm(b, "ln", P("x", 2, 3, 5), 1e-3));
}

static void rms_norm(struct rp_builder *b) {
    end(b, "y", rp_nn_rms_norm(b, "rms", P("x", 2, 3, 5), 1e-3));
}

static void rotary(struct rp_builder *b) {
    end(b, "y", rp_nn_rotary(b, "turned", P("x", 2, 3, 2, 4), 10000));
}

static void weight_norm(struct rp_builder *b) {
    end(b, "y", rp_nn_weight_norm(b, "w", P("v", 9), P("g", 1)));
}

/* The loss depends on the outputs and the last state, so that the cells differ in which
 * gradients reach them. */
static void lstm(struct rp_builder *b) {
    struct rp_lstm_state last;
    struct rp_val y =
        rp_nn_lstm(b, "lstm", viewed(b, P("x", 3, 2, 3)), 2, RP_LSTM_FORWARD, &last);
    end(b, "y", y);
    end(b, "c", last.c);
}

/* Nothing reads the h of the last step. */
static void lstm_state(struct rp_builder *b) {
    struct rp_lstm_state last;
    rp_nn_lstm(b, "lstm", viewed(b, P("x", 2, 2, 3)), 2, RP_LSTM_REVERSE, &last);
    end(b, "c", last.c);
}

static void cross_entropy(struct rp_builder *b) {
    struct rp_val z = P("z", 2, 5, 3, 2);
    rp_nn_cross_entropy(b, "loss", z, rp_nn_labels(b, "labels", z, 1), 1, 0.4);
    struct rp_val u = P("u", 4, 3);
    rp_nn_cross_entropy(b, "more", u, rp_nn_labels(b, "numbers", u, 1), 1, 1.0);
}

/* ---- updates, as ops that make new tensors ---- */

/* A tensor that has no gradient. */
static struct rp_val constant(struct rp_builder *b, enum rp_dtype dtype, const char *name,
                              size_t n_dims, const uint64_t *dim) {
    return rp_source(b, RP_INPUT_TENSOR, dtype, name, n_dims, dim);
}

/* Two steps of an optimizer that keeps n_kept tensors beside each parameter. `step` is
 * RP_NO_VALUE if it does not count them. */
static void updates(struct rp_builder *b, const char *kind, enum rp_dtype grad_type,
                    struct rp_val step, size_t n_kept) {
    static const char *const names[] = {"kept", "kept2", "kept3"};
    const size_t n = 1 + n_kept + (b->o.dtype != RP_F32);
    struct rp_val x[6], *w = x + 1;
    rp_scope_begin(b, "%s.%s", kind, grad_type == RP_F32 ? "f32" : "own");
    if (step.tensor != RP_NONE)
        *w++ = step;
    w[0] = constant(b, b->o.dtype, "weight", RP_SHAPE(3, 5));
    for (size_t k = 1; k < n; k++)
        w[k] = constant(b, RP_F32, names[k - 1], RP_SHAPE(3, 5));
    for (int round = 0; round < 2; round++) {
        struct rp_spec s = {.kind = kind, .name = kind, .out_names = names};
        s.attrs = json_pack("{s:f,s:f,s:f,s:f,s:f,s:f}", "lr", 0.01, "momentum", 0.9,
                            "beta1", 0.9, "beta2", 0.999, "eps", 1e-8, "weight_decay", 0.1);
        rp_scope_begin(b, "%d", round);
        x[0] = constant(b, grad_type, "grad", RP_SHAPE(3, 5));
        struct rp_val out[4];
        for (size_t k = 0; k < n; k++)
            out[k] = rp_like(w[k]);
        rp_emit(b, s, (size_t)(w - x) + n, x, n, out);
        memcpy(w, out, n * sizeof *w);
        rp_scope_end(b);
    }
    rp_scope_end(b);
}

static struct rp_val next_step(struct rp_builder *b) {
    struct rp_val step = constant(b, RP_I32, "step", RP_SHAPE(1));
    struct rp_spec s = {.kind = "count_step", .name = "count_step"};
    return rp_emit1(b, s, rp_like(step), RP_IN(step));
}

static void optimizers(struct rp_builder *b) {
    struct rp_val step = next_step(b);
    for (int wide = 0; wide < (b->o.dtype == RP_F32 ? 1 : 2); wide++) {
        const enum rp_dtype grad_type = wide ? RP_F32 : b->o.dtype;
        updates(b, "sgd", grad_type, RP_NO_VALUE, 0);
        updates(b, "momentum", grad_type, RP_NO_VALUE, 1);
        updates(b, "adam", grad_type, step, 2);
        updates(b, "adamw", grad_type, step, 2);
    }
    end(b, "y", P("x", 2, 3));
}

static void accumulate(struct rp_builder *b) {
    struct rp_spec s = {.kind = "accumulate", .name = "first"};
    struct rp_val g = constant(b, b->o.dtype, "g", RP_SHAPE(3, 5));
    struct rp_val sum = rp_emit1(b, s, rp_shaped(RP_F32, RP_SHAPE(3, 5)), RP_IN(g));
    s.name = "second";
    rp_emit1(b, s, rp_like(sum), RP_IN(g, sum));
    end(b, "y", P("x", 2, 3));
}

#define CASE(name)                                                                         \
    { #name, name, NULL }
#define UNARY(kind)                                                                        \
    { #kind, NULL, #kind }
const struct rp_case rp_cases[] = {
    CASE(conv2d),
    CASE(conv2d_of_five),
    CASE(conv2d_depthwise),
    CASE(conv2d_dilated),
    CASE(conv3d),
    CASE(conv_transpose2d),
    CASE(conv_transpose3d),
    CASE(max_pool2d),
    CASE(max_pool3d),
    CASE(max_unpool2d),
    CASE(avg_pool2d),
    CASE(avg_pool2d_of_what_is_there),
    CASE(adaptive_avg_pool2d),
    CASE(adaptive_avg_pool2d_upward),
    CASE(linear),
    CASE(matmul),
    CASE(matmul_left_transposed),
    CASE(matmul_right_transposed),
    CASE(matmul_both_transposed),
    CASE(matmul_one_matrix_for_all),
    CASE(attention),
    CASE(attention_grouped),
    CASE(talking_heads),
    UNARY(relu),
    CASE(relu6),
    UNARY(tanh),
    UNARY(gelu),
    UNARY(gelu_tanh),
    UNARY(silu),
    CASE(dropout),
    CASE(add),
    CASE(add_broadcast),
    CASE(mul_broadcast),
    CASE(repeat),
    CASE(concat),
    CASE(split),
    CASE(slice),
    CASE(transpose),
    CASE(gather),
    CASE(softmax),
    CASE(softmax_causal),
    CASE(batch_norm),
    CASE(batch_norm_plain),
    CASE(layer_norm),
    CASE(rms_norm),
    CASE(rotary),
    CASE(weight_norm),
    CASE(lstm),
    CASE(lstm_state),
    CASE(cross_entropy),
    CASE(optimizers),
    CASE(accumulate),
};
const size_t rp_n_cases = sizeof rp_cases / sizeof rp_cases[0];

struct rp_graph rp_case_graph(const struct rp_case *c, enum rp_dtype dtype) {
    static const struct rp_zoo_entry row = {.name = "case"};
    struct rp_graph g = {0};
    struct rp_err err = {{0}};
    struct rp_zoo_options o = {.micro_batches = 1, .seed = 5, .dtype = dtype};
    struct rp_builder b;
    rp_builder_init(&b, &g, &row, &o, &err);
    if (c->unary != NULL)
        unary(&b, c->unary);
    else
        c->layer(&b);
    rp_differentiate(&b);
    g.name = rp_strdup(c->name);
    g.time_source = rp_strdup("none");
    g.device.alignment_bytes = 512;
    g.attrs = json_pack("{s:I}", "loss", (json_int_t)b.loss.tensor);
    CU_ASSERT_EQUAL_FATAL(b.rc, RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_graph_check(&g, c->name, &err), RP_OK);
    rp_builder_fini(&b);
    return g;
}

void rp_case_all(enum rp_dtype dtype, void (*check)(const struct rp_graph *g)) {
    for (size_t i = 0; i < rp_n_cases; i++) {
        struct rp_graph g = rp_case_graph(&rp_cases[i], dtype);
        check(&g);
        rp_graph_fini(&g);
    }
}
