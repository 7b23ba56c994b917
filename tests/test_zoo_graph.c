#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "networks.h"
#include "run.h"

/* ---- the graph as a whole ---- */

static void reads_back_to_the_same_bytes(const struct rp_graph *g) {
    struct rp_graph h;
    struct rp_err err = {{0}};
    char *a, *b;
    size_t n, m;
    rp_graph_dump(g, &a, &n);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(a, n, "zoo", &h, &err), RP_OK);
    rp_graph_dump(&h, &b, &m);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
    rp_graph_fini(&h);
}

/* With everything that the options can add. */
static struct rp_zoo_options in_mixed_precision(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.dtype = RP_BF16;
    o.optimizer = RP_ADAMW;
    o.micro_batches = 2;
    o.param_home = RP_HOME_ANY;
    o.state_home = RP_HOME_HOST;
    return o;
}

static void every_graph_is_accepted_by_the_reader(void) {
    rp_net_all_tiny(reads_back_to_the_same_bytes);
    rp_net_all_with(in_mixed_precision(), reads_back_to_the_same_bytes);
}

static void is_of_version_1(const struct rp_graph *g) {
    char *text;
    size_t n;
    rp_graph_dump(g, &text, &n);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"version\":1,"));
    free(text);
}

static void graphs_without_updates_and_homes_are_of_version_1(void) {
    struct rp_zoo_options o = rp_net_tiny();
    rp_net_all_with(o, is_of_version_1);
    o.micro_batches = 2;
    o.dtype = RP_BF16;
    rp_net_all_with(o, is_of_version_1);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_unique(char **names, uint32_t n) {
    qsort(names, n, sizeof *names, by_text);
    for (uint32_t i = 1; i < n; i++)
        CU_ASSERT_STRING_NOT_EQUAL(names[i - 1], names[i]);
    free(names);
}

static void has_unique_names(const struct rp_graph *g) {
    char **names = rp_calloc(g->n_tensors, sizeof *names);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        names[x] = g->tensors[x].name;
    check_unique(names, g->n_tensors);
    names = rp_calloc(g->n_ops, sizeof *names);
    for (uint32_t i = 0; i < g->n_ops; i++)
        names[i] = g->ops[i].name;
    check_unique(names, g->n_ops);
}

static void names_of_tensors_and_ops_are_unique(void) {
    rp_net_all_tiny(has_unique_names);
    rp_net_all_with(in_mixed_precision(), has_unique_names);
}

static void bytes_are_elements_times_size(const struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        const struct rp_tensor *t = &g->tensors[x];
        CU_ASSERT_EQUAL(t->bytes,
                        rp_net_count(t) * (strstr(t->dtype, "f16") != NULL ? 2 : 4));
    }
}

static void bytes_of_a_tensor_are_those_of_its_shape(void) {
    rp_net_all_tiny(bytes_are_elements_times_size);
    rp_net_all_with(in_mixed_precision(), bytes_are_elements_times_size);
}

static void is_used(const struct rp_graph *g) {
    bool *updated = rp_calloc(g->n_tensors, sizeof *updated);
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++)
            updated[g->ops[i].updates[k]] = true;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (!g->kept[x] && !updated[x] && g->reader_start[x] == g->reader_start[x + 1])
            CU_FAIL(g->tensors[x].name);
    free(updated);
}

static void every_tensor_is_read_updated_or_kept(void) {
    rp_net_all_tiny(is_used);
    rp_net_all_with(in_mixed_precision(), is_used);
}

static void the_same_options_give_the_same_graph(void) {
    struct rp_graph g = rp_net_build("mobilenet_v2", rp_net_tiny()),
                    h = rp_net_build("mobilenet_v2", rp_net_tiny());
    char *a, *b;
    size_t n, m;
    rp_graph_dump(&g, &a, &n);
    rp_graph_dump(&h, &b, &m);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
    rp_graph_fini(&g);
    rp_graph_fini(&h);
}

static void op_times_are_zero_and_the_time_source_is_none(void) {
    struct rp_graph g = rp_net_build("vgg16", rp_net_tiny());
    CU_ASSERT_EQUAL(g.total_time_ns, 0);
    CU_ASSERT_STRING_EQUAL(g.time_source, "none");
    CU_ASSERT_STRING_EQUAL(g.name, "vgg16-tiny-b2");
    rp_graph_fini(&g);
}

/* ---- the backward pass ---- */

/* The parameter of a kept gradient, or RP_NONE. */
static uint32_t parameter_of(const struct rp_graph *g, uint32_t grad) {
    const char *of = json_string_value(json_object_get(g->tensors[grad].attrs, "of"));
    for (uint32_t x = 0; of != NULL && x < g->n_tensors; x++)
        if (g->tensors[x].kind == RP_PARAMETER && strcmp(g->tensors[x].name, of) == 0)
            return x;
    return RP_NONE;
}

static void has_one_gradient_a_parameter(const struct rp_graph *g) {
    uint32_t *n = rp_calloc(g->n_tensors, sizeof *n);
    uint32_t loss = (uint32_t)json_integer_value(json_object_get(g->attrs, "loss"));
    for (uint32_t k = 0; k < g->n_keep; k++) {
        const struct rp_tensor *t = &g->tensors[g->keep[k]];
        uint32_t p = parameter_of(g, g->keep[k]);
        CU_ASSERT_EQUAL(t->kind == RP_GRADIENT, p != RP_NONE);
        if (p == RP_NONE) {
            CU_ASSERT_TRUE(t->kind != RP_PARAMETER); /* new state, or the loss */
            continue;
        }
        n[p]++;
        CU_ASSERT_EQUAL(t->n_dims, g->tensors[p].n_dims);
        CU_ASSERT_EQUAL(memcmp(t->shape, g->tensors[p].shape, t->n_dims * sizeof *t->shape),
                        0);
        CU_ASSERT_STRING_EQUAL(t->dtype, g->tensors[p].dtype);
    }
    for (uint32_t x = 0; x < g->n_tensors; x++)
        CU_ASSERT_EQUAL(n[x], g->tensors[x].kind == RP_PARAMETER);
    CU_ASSERT_TRUE(g->kept[loss]);
    CU_ASSERT_EQUAL(rp_net_count(&g->tensors[loss]), 1);
    free(n);
}

static void every_parameter_has_one_gradient_of_its_shape_in_keep(void) {
    rp_net_all_tiny(has_one_gradient_a_parameter);
}

/* The forward op in the name of a backward op; RP_NONE for sums of gradients. */
static uint32_t origin(const struct rp_graph *g, uint32_t op) {
    const char *name = g->ops[op].name, *suffix = strstr(name, ".grad_");
    CU_ASSERT_PTR_NOT_NULL_FATAL(suffix);
    if (strncmp(suffix, ".grad_sum", 9) == 0)
        return RP_NONE;
    for (uint32_t i = 0; i < op; i++)
        if (strlen(g->ops[i].name) == (size_t)(suffix - name) &&
            strncmp(g->ops[i].name, name, (size_t)(suffix - name)) == 0)
            return i;
    CU_FAIL_FATAL("a gradient of no op");
    return RP_NONE;
}

static void runs_backwards(const struct rp_graph *g) {
    uint32_t last = RP_NONE;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        if (op->phase == RP_FORWARD) {
            CU_ASSERT_EQUAL(last, RP_NONE);
            continue;
        }
        CU_ASSERT_EQUAL(op->phase, RP_BACKWARD);
        uint32_t from = origin(g, i);
        if (from == RP_NONE)
            continue;
        CU_ASSERT_TRUE(from <= last);
        last = from;
    }
}

static void gradients_are_computed_in_the_reverse_order_of_the_forward_ops(void) {
    rp_net_all_tiny(runs_backwards);
}

static void only_tensors_that_depend_on_parameters_get_gradients(void) {
    struct rp_graph g = rp_net_build("resnet50", rp_net_tiny());
    CU_ASSERT_TRUE(rp_net_has_op(&g, "conv1.grad_weight"));
    CU_ASSERT_FALSE(rp_net_has_op(&g, "conv1.grad_input"));
    CU_ASSERT_TRUE(rp_net_has_op(&g, "layer1.0.conv1.grad_input"));
    rp_graph_fini(&g);
}

/* The next convolution and the shortcut read y. Its two gradients are added once, after
 * that of the later reader and before the gradient of the ReLU. */
static void gradients_of_several_readers_are_added(void) {
    struct rp_graph g = rp_net_build("resnet50", rp_net_tiny());
    const struct rp_op *sum = &g.ops[rp_net_op(&g, "layer1.0.relu3.grad_sum")];
    CU_ASSERT_STRING_EQUAL(sum->kind, "add");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, sum, 0)->name, "layer1.1.relu3.grad_input");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, sum, 1)->name, "layer1.1.conv1.grad_input");
    CU_ASSERT_STRING_EQUAL(
        rp_net_input(&g, &g.ops[rp_net_op(&g, "layer1.0.relu3.grad_input")], 0)->name,
        sum->name);
    rp_graph_fini(&g);
}

static void the_backward_pass_takes_about_twice_the_arithmetic(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        struct rp_zoo_options o = rp_net_defaults();
        o.batch = 1;
        struct rp_graph g = rp_net_build(rp_zoo_registry[i]->name, o);
        double sum[2] = {0};
        for (uint32_t k = 0; k < g.n_ops; k++)
            sum[g.ops[k].phase == RP_BACKWARD] += (double)rp_net_attr(&g.ops[k], "flops");
        CU_ASSERT_TRUE(sum[1] > 1.85 * sum[0] && sum[1] < 2.2 * sum[0]);
        rp_graph_fini(&g);
    }
}

static void the_loss_is_the_sum_of_all_heads(void) {
    struct rp_graph g = rp_net_build("googlenet", rp_net_tiny());
    uint32_t loss = (uint32_t)json_integer_value(json_object_get(g.attrs, "loss"));
    CU_ASSERT_STRING_EQUAL(g.tensors[loss].name, "loss_sum2");
    const struct rp_op *head = &g.ops[rp_net_op(&g, "aux1.loss")];
    CU_ASSERT_EQUAL(json_number_value(json_object_get(head->attrs, "weight")), 0.3);
    CU_ASSERT_EQUAL(head->inputs[1], g.ops[rp_net_op(&g, "loss")].inputs[1]);
    CU_ASSERT_TRUE(rp_net_has_op(&g, "aux1.loss.grad_input"));
    CU_ASSERT_TRUE(rp_net_has_op(&g, "aux2.loss.grad_input"));
    rp_graph_fini(&g);
}

/* ---- what kernels rely on ---- */

static uint64_t conv_size(const struct rp_op *op, size_t i, uint64_t size) {
    return (size + 2 * rp_net_attr_at(op, "pad", i) - rp_net_attr_at(op, "kernel", i)) /
               rp_net_attr_at(op, "stride", i) +
           1;
}

/* The shape in which the op reads an operand. */
struct operand_shape {
    uint64_t dim[6], n;
    size_t n_dims;
};

static struct operand_shape as_tensor(const struct rp_tensor *t) {
    struct operand_shape s = {.n = rp_net_count(t), .n_dims = t->n_dims};
    memcpy(s.dim, t->shape, t->n_dims * sizeof *t->shape);
    return s;
}

static struct operand_shape operand_shape(const struct rp_graph *g, const struct rp_op *op,
                                          uint32_t k) {
    json_t *view = json_array_get(json_object_get(op->attrs, "views"), k);
    struct operand_shape s = as_tensor(rp_net_input(g, op, k));
    if (json_is_array(view))
        s.n_dims = json_array_size(view);
    for (size_t i = 0; json_is_array(view) && i < s.n_dims; i++)
        s.dim[i] = (uint64_t)json_integer_value(json_array_get(view, i));
    return s;
}

/* Checks x, weight and y of a convolution, forward or either gradient. The weight is
 * applied on the grid of y, or of x if the convolution is transposed. */
static void check_conv(const struct rp_graph *g, const struct rp_op *op) {
    bool transposed = strncmp(op->kind, "conv_transpose", 14) == 0;
    bool grad_input = strstr(op->kind, "_grad_input") != NULL;
    bool grad_weight = strstr(op->kind, "_grad_weight") != NULL;
    bool bias = !grad_input && !grad_weight && op->n_inputs == 3;
    struct operand_shape first = operand_shape(g, op, 0), second = operand_shape(g, op, 1);
    struct operand_shape out = as_tensor(rp_net_output(g, op, 0));
    struct operand_shape x = grad_weight ? second : grad_input ? out : first;
    struct operand_shape w = grad_weight ? out : second;
    struct operand_shape y = grad_weight || grad_input ? first : out;
    struct operand_shape big = transposed ? y : x, grid = transposed ? x : y;
    CU_ASSERT_TRUE_FATAL(x.n_dims == y.n_dims && x.n_dims == w.n_dims);
    for (size_t i = 0; i + 2 < x.n_dims; i++) {
        CU_ASSERT_EQUAL(grid.dim[i + 2], conv_size(op, i, big.dim[i + 2]));
        CU_ASSERT_EQUAL(w.dim[i + 2], rp_net_attr_at(op, "kernel", i));
        CU_ASSERT_EQUAL(rp_net_attr_at(op, "dilation", i), 1);
    }
    CU_ASSERT_EQUAL(w.dim[0], grid.dim[1]);
    CU_ASSERT_EQUAL(w.dim[1] * rp_net_attr(op, "groups"), big.dim[1]);
    CU_ASSERT_EQUAL(x.dim[0], y.dim[0]);
    CU_ASSERT_EQUAL(rp_net_attr(op, "flops"),
                    2 * grid.n / grid.dim[1] * w.n + (bias ? y.n : 0));
}

static void check_matmul(const struct rp_graph *g, const struct rp_op *op) {
    uint64_t batch = rp_net_attr(op, "batch"), m = rp_net_attr(op, "m"),
             n = rp_net_attr(op, "n"), k = rp_net_attr(op, "k");
    CU_ASSERT_EQUAL(rp_net_count(rp_net_input(g, op, 0)), batch * m * k);
    CU_ASSERT_TRUE(rp_net_count(rp_net_input(g, op, 1)) == batch * k * n ||
                   rp_net_count(rp_net_input(g, op, 1)) == k * n);
    CU_ASSERT_EQUAL(rp_net_count(rp_net_output(g, op, 0)), batch * m * n);
    CU_ASSERT_EQUAL(rp_net_attr(op, "flops"),
                    2 * batch * m * n * k + (op->n_inputs == 3 ? batch * m * n : 0));
}

static void check_pool(const struct rp_graph *g, const struct rp_op *op) {
    const struct rp_tensor *x = rp_net_input(g, op, 0), *y = rp_net_output(g, op, 0);
    for (size_t i = 0; i + 2 < x->n_dims; i++)
        CU_ASSERT_EQUAL(y->shape[i + 2], conv_size(op, i, x->shape[i + 2]));
    CU_ASSERT_EQUAL(x->shape[1], y->shape[1]);
}

static void check_batch_norm(const struct rp_graph *g, const struct rp_op *op) {
    bool affine = json_is_true(json_object_get(op->attrs, "affine"));
    CU_ASSERT_EQUAL(op->n_inputs, affine ? 3 : 1);
    CU_ASSERT_EQUAL(op->n_outputs, 3);
    CU_ASSERT_EQUAL(rp_net_count(rp_net_output(g, op, 1)),
                    rp_net_input(g, op, 0)->shape[1]);
    CU_ASSERT_TRUE(json_number_value(json_object_get(op->attrs, "eps")) > 0);
    CU_ASSERT_EQUAL(rp_net_attr(op, "traffic_bytes"), 3 * rp_net_input(g, op, 0)->bytes);
}

static void check_update(const struct rp_graph *g, const struct rp_op *op) {
    CU_ASSERT_FALSE(op->recompute);
    CU_ASSERT_TRUE(g->kept[op->outputs[0]] && g->kept[op->outputs[1]]);
    CU_ASSERT_EQUAL(rp_net_output(g, op, 0)->kind, RP_STATE);
    CU_ASSERT_EQUAL(rp_net_input(g, op, 2)->producer, RP_NONE);
    CU_ASSERT_TRUE(rp_net_attr(op, "count") > 0);
}

static void states_what_kernels_need(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        if (strncmp(op->kind, "conv", 4) == 0 && !rp_net_is(op, "concat"))
            check_conv(g, op);
        if (rp_net_is(op, "matmul"))
            check_matmul(g, op);
        if (rp_net_is(op, "max_pool2d") || rp_net_is(op, "max_pool3d") ||
            rp_net_is(op, "avg_pool2d"))
            check_pool(g, op);
        if (rp_net_is(op, "batch_norm"))
            check_batch_norm(g, op);
        CU_ASSERT_EQUAL(op->recompute, !rp_net_is(op, "bn_update_stats"));
        if (!op->recompute)
            check_update(g, op);
        CU_ASSERT_EQUAL(op->workspace_bytes, 0);
        CU_ASSERT_TRUE(json_is_integer(json_object_get(op->attrs, "flops")));
    }
}

static void attributes_agree_with_the_shapes(void) {
    rp_net_all_tiny(states_what_kernels_need);
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        struct rp_graph g = rp_net_build(rp_zoo_registry[i]->name, rp_net_defaults());
        states_what_kernels_need(&g);
        rp_graph_fini(&g);
    }
}

/* attrs.views has one entry for each input. Each is a shape with as many elements as the
 * tensor. */
static void views_hold_their_tensors(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        json_t *views = json_object_get(op->attrs, "views"), *view, *size;
        size_t k, d;
        if (views == NULL)
            continue;
        CU_ASSERT_EQUAL_FATAL(json_array_size(views), op->n_inputs);
        json_array_foreach(views, k, view) {
            uint64_t n = 1;
            if (json_is_null(view))
                continue;
            json_array_foreach(view, d, size) n *= (uint64_t)json_integer_value(size);
            CU_ASSERT_EQUAL(n, rp_net_count(rp_net_input(g, op, (uint32_t)k)));
        }
    }
}

static void views_have_as_many_elements_as_their_tensors(void) {
    rp_net_all_tiny(views_hold_their_tensors);
    rp_net_all_with(in_mixed_precision(), views_hold_their_tensors);
}

static void flattening_is_a_view_and_not_an_op(void) {
    struct rp_graph g = rp_net_build("vgg16", rp_net_defaults());
    const struct rp_op *fc = &g.ops[rp_net_op(&g, "classifier.0.fc")];
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, fc, 0)->name, "block4.pool");
    CU_ASSERT_EQUAL(json_integer_value(json_array_get(
                        json_array_get(json_object_get(fc->attrs, "views"), 0), 1)),
                    25088);
    const struct rp_op *back = &g.ops[rp_net_op(&g, "classifier.0.fc.grad_input")];
    CU_ASSERT_EQUAL(rp_net_attr(back, "n"), 25088);
    rp_graph_fini(&g);
}

static void each_dropout_has_a_seed_of_its_own(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.seed = 7;
    struct rp_graph g = rp_net_build("vgg16", o);
    CU_ASSERT_EQUAL(rp_net_attr(&g.ops[rp_net_op(&g, "classifier.0.dropout")], "seed"), 7);
    CU_ASSERT_EQUAL(rp_net_attr(&g.ops[rp_net_op(&g, "classifier.1.dropout")], "seed"), 8);
    CU_ASSERT_EQUAL(
        rp_net_attr(&g.ops[rp_net_op(&g, "classifier.1.dropout.grad_input")], "seed"), 8);
    rp_graph_fini(&g);
}

static void half_precision_keeps_statistics_and_losses_in_f32(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.dtype = RP_F16;
    struct rp_graph g = rp_net_build("resnet18", o);
    const struct rp_op *bn = &g.ops[rp_net_op(&g, "layer1.0.bn1")];
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, bn, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, bn, 1)->dtype, "f32");
    CU_ASSERT_STRING_EQUAL(rp_net_output(&g, bn, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(rp_net_output(&g, bn, 1)->dtype, "f32");
    const struct rp_op *loss = &g.ops[rp_net_op(&g, "loss")];
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, loss, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, loss, 1)->dtype, "i32");
    CU_ASSERT_STRING_EQUAL(rp_net_output(&g, loss, 0)->dtype, "f32");
    has_one_gradient_a_parameter(&g);
    rp_graph_fini(&g);
}

/* Reads a text file. The tests run in the project's folder. */
static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    char *text = rp_calloc(1 << 18, 1);
    CU_ASSERT_TRUE(fread(text, 1, (1 << 18) - 1, f) < (1 << 18) - 1);
    fclose(f);
    return text;
}

static char *documents;

static void has_documented_kinds(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        char *quoted = rp_format("`%s`", g->ops[i].kind);
        if (strstr(documents, quoted) == NULL)
            CU_FAIL(g->ops[i].kind);
        free(quoted);
    }
}

static void every_op_kind_is_documented(void) {
    char *a = read_text("docs/ops.md"), *b = read_text("docs/ops-seq.md");
    documents = rp_format("%s%s", a, b);
    rp_net_all_tiny(has_documented_kinds);
    rp_net_all_with(in_mixed_precision(), has_documented_kinds);
    free(documents);
    free(a);
    free(b);
}

/* Odd sizes and unequal sides, for networks that do not need a multiple of some number. */
static void images_may_be_rectangular(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        const struct rp_zoo_entry *row = rp_zoo_registry[i];
        struct rp_zoo_options o = rp_net_tiny();
        if ((row->takes & RP_TAKES_IMAGE) == 0)
            continue;
        uint64_t step = row->image_multiple > 1 ? row->image_multiple : 1;
        o.image[0] = row->min_image + step;
        o.image[1] = row->min_image + 2 * step;
        o.image[2] = row->min_image + 7 * step;
        struct rp_graph g = rp_net_build(row->name, o);
        states_what_kernels_need(&g);
        rp_graph_fini(&g);
    }
}

void suite_zoo_graph(void) {
    RP_SUITE("zoo_graph");
    RP_TEST(every_graph_is_accepted_by_the_reader);
    RP_TEST(graphs_without_updates_and_homes_are_of_version_1);
    RP_TEST(names_of_tensors_and_ops_are_unique);
    RP_TEST(bytes_of_a_tensor_are_those_of_its_shape);
    RP_TEST(every_tensor_is_read_updated_or_kept);
    RP_TEST(the_same_options_give_the_same_graph);
    RP_TEST(op_times_are_zero_and_the_time_source_is_none);
    RP_TEST(every_parameter_has_one_gradient_of_its_shape_in_keep);
    RP_TEST(gradients_are_computed_in_the_reverse_order_of_the_forward_ops);
    RP_TEST(only_tensors_that_depend_on_parameters_get_gradients);
    RP_TEST(gradients_of_several_readers_are_added);
    RP_TEST(the_backward_pass_takes_about_twice_the_arithmetic);
    RP_TEST(the_loss_is_the_sum_of_all_heads);
    RP_TEST(attributes_agree_with_the_shapes);
    RP_TEST(views_have_as_many_elements_as_their_tensors);
    RP_TEST(flattening_is_a_view_and_not_an_op);
    RP_TEST(each_dropout_has_a_seed_of_its_own);
    RP_TEST(half_precision_keeps_statistics_and_losses_in_f32);
    RP_TEST(every_op_kind_is_documented);
    RP_TEST(images_may_be_rectangular);
}
