#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "model/zoo/zoo.h"
#include "run.h"

/* ---- helpers ---- */

static struct rp_zoo_options defaults(void) {
    struct rp_zoo_options o;
    rp_zoo_options_init(&o);
    return o;
}

static struct rp_zoo_options tiny(void) {
    struct rp_zoo_options o = defaults();
    o.tiny = true;
    return o;
}

static struct rp_graph build(const char *name, struct rp_zoo_options o) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_zoo_build(name, &o, &g, &err), RP_OK);
    return g;
}

/* Runs `check` on the smallest shape of every network. */
static void for_all_tiny(void (*check)(const struct rp_graph *g)) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        struct rp_graph g = build(rp_zoo_rows[i].name, tiny());
        check(&g);
        rp_graph_fini(&g);
    }
}

static void refused(const char *name, struct rp_zoo_options o, const char *message) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(rp_zoo_build(name, &o, &g, &err), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(err.msg, message);
    CU_ASSERT_EQUAL(g.n_tensors + g.n_ops, 0);
}

static bool is_kind(const struct rp_op *op, const char *kind) {
    return strcmp(op->kind, kind) == 0;
}

static uint64_t attr(const struct rp_op *op, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(op->attrs, key));
}

static uint64_t at(const struct rp_op *op, const char *key, size_t i) {
    return (uint64_t)json_integer_value(json_array_get(json_object_get(op->attrs, key), i));
}

static uint64_t count(const struct rp_tensor *t) {
    uint64_t n = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        n *= t->shape[i];
    return n;
}

static const struct rp_tensor *input(const struct rp_graph *g, const struct rp_op *op,
                                     uint32_t k) {
    return &g->tensors[op->inputs[k]];
}

static const struct rp_tensor *output(const struct rp_graph *g, const struct rp_op *op,
                                      uint32_t k) {
    return &g->tensors[op->outputs[k]];
}

static uint32_t find_op(const struct rp_graph *g, const char *name) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    CU_FAIL_FATAL("no such op");
    return 0;
}

static bool has_op(const struct rp_graph *g, const char *name) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return true;
    return false;
}

/* ---- published figures ---- */

static void parameter_counts_and_multiply_adds_are_the_published_ones(void) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        const struct rp_zoo_row *row = &rp_zoo_rows[i];
        struct rp_zoo_options o = defaults();
        o.batch = 1;
        struct rp_graph g = build(row->name, o);
        if (row->params != 0)
            CU_ASSERT_EQUAL(rp_zoo_n_params(&g), row->params);
        CU_ASSERT_EQUAL(row->params != 0, row->params_source != NULL);
        rp_graph_fini(&g);
        o.no_aux = (row->takes & RP_TAKES_NO_AUX) != 0;
        g = build(row->name, o);
        if (row->macs > 0)
            CU_ASSERT_TRUE(fabs((double)rp_zoo_macs(&g) / row->macs - 1) < 0.02);
        CU_ASSERT_EQUAL(row->macs > 0, row->macs_source != NULL);
        rp_graph_fini(&g);
    }
}

/* torchvision, googlenet: num_params is without the auxiliary classifiers. */
static void googlenet_without_auxiliary_classifiers_has_the_published_parameters(void) {
    struct rp_zoo_options o = defaults();
    o.no_aux = true;
    struct rp_graph g = build("googlenet", o);
    CU_ASSERT_EQUAL(rp_zoo_n_params(&g), 6624904);
    rp_graph_fini(&g);
}

/* Parameters: README of a study of U-SegNet variants, "SegNet (5 levels)", one class.
 * 286.03 GFLOP and 29.46 million parameters at 640x360: Paszke et al., "ENet", 2016, with
 * the 37 classes of SUN RGB-D. */
static void segnet_has_the_published_parameters_and_arithmetic(void) {
    struct rp_zoo_options o = defaults();
    o.classes = 1;
    struct rp_graph g = build("segnet", o);
    CU_ASSERT_EQUAL(rp_zoo_n_params(&g), 29443585);
    rp_graph_fini(&g);
    o.classes = 37;
    o.batch = 1;
    o.image[1] = 360;
    o.image[2] = 640;
    g = build("segnet", o);
    CU_ASSERT_TRUE(fabs(2e-9 * (double)rp_zoo_macs(&g) / 286.03 - 1) < 0.02);
    CU_ASSERT_EQUAL((rp_zoo_n_params(&g) + 5000) / 10000, 2946);
    rp_graph_fini(&g);
}

static void arithmetic_and_memory_grow_with_the_batch_parameters_do_not(void) {
    struct rp_zoo_options o = defaults();
    o.batch = 1;
    struct rp_graph one = build("resnet50", o);
    o.batch = 6;
    struct rp_graph six = build("resnet50", o);
    CU_ASSERT_EQUAL(rp_zoo_macs(&six), 6 * rp_zoo_macs(&one));
    CU_ASSERT_EQUAL(rp_zoo_n_params(&six), rp_zoo_n_params(&one));
    CU_ASSERT_EQUAL(six.n_ops, one.n_ops);
    rp_graph_fini(&one);
    rp_graph_fini(&six);
}

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

static void every_graph_is_accepted_by_the_reader(void) {
    for_all_tiny(reads_back_to_the_same_bytes);
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

static void no_two_tensors_or_ops_share_a_name(void) {
    for_all_tiny(has_unique_names);
}

static void bytes_are_elements_times_size(const struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        const struct rp_tensor *t = &g->tensors[x];
        CU_ASSERT_EQUAL(t->bytes, count(t) * (strcmp(t->dtype, "f16") == 0 ? 2 : 4));
    }
}

static void a_tensor_takes_the_bytes_of_its_shape(void) {
    struct rp_zoo_options o = tiny();
    for_all_tiny(bytes_are_elements_times_size);
    o.dtype = RP_F16;
    struct rp_graph g = build("resnet18", o);
    bytes_are_elements_times_size(&g);
    rp_graph_fini(&g);
}

static void is_read_or_kept(const struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (!g->kept[x] && g->reader_start[x] == g->reader_start[x + 1])
            CU_FAIL(g->tensors[x].name);
}

static void nothing_is_computed_for_nobody(void) {
    for_all_tiny(is_read_or_kept);
}

static void the_same_options_give_the_same_graph(void) {
    struct rp_graph g = build("mobilenet_v2", tiny()), h = build("mobilenet_v2", tiny());
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

static void times_are_zero_and_their_source_is_none(void) {
    struct rp_graph g = build("vgg16", tiny());
    CU_ASSERT_EQUAL(g.total_time_ns, 0);
    CU_ASSERT_STRING_EQUAL(g.time_source, "none");
    CU_ASSERT_STRING_EQUAL(g.name, "vgg16-tiny-b2");
    rp_graph_fini(&g);
}

/* ---- the backward pass ---- */

/* The parameter that a kept gradient is of, or RP_NONE. */
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
            CU_ASSERT_TRUE(t->kind != RP_PARAMETER); /* state, or the loss */
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
    CU_ASSERT_EQUAL(count(&g->tensors[loss]), 1);
    free(n);
}

static void every_parameter_has_one_gradient_of_its_shape_in_keep(void) {
    for_all_tiny(has_one_gradient_a_parameter);
}

/* The forward op that a backward op's name says it belongs to; RP_NONE for sums. */
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
    for_all_tiny(runs_backwards);
}

static void only_what_leads_to_a_parameter_gets_a_gradient(void) {
    struct rp_graph g = build("resnet50", tiny());
    CU_ASSERT_TRUE(has_op(&g, "conv1.grad_weight"));
    CU_ASSERT_FALSE(has_op(&g, "conv1.grad_input"));
    CU_ASSERT_TRUE(has_op(&g, "layer1.0.conv1.grad_input"));
    rp_graph_fini(&g);
}

/* y is read by the next convolution and by the shortcut: one addition, once both are
 * there, after the later reader's gradient and before the ReLU's. */
static void gradients_of_several_readers_are_added(void) {
    struct rp_graph g = build("resnet50", tiny());
    const struct rp_op *sum = &g.ops[find_op(&g, "layer1.0.relu3.grad_sum")];
    CU_ASSERT_STRING_EQUAL(sum->kind, "add");
    CU_ASSERT_STRING_EQUAL(input(&g, sum, 0)->name, "layer1.1.relu3.grad_input");
    CU_ASSERT_STRING_EQUAL(input(&g, sum, 1)->name, "layer1.1.conv1.grad_input");
    CU_ASSERT_STRING_EQUAL(
        input(&g, &g.ops[find_op(&g, "layer1.0.relu3.grad_input")], 0)->name, sum->name);
    rp_graph_fini(&g);
}

static void the_backward_pass_takes_about_twice_the_arithmetic(void) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        struct rp_zoo_options o = defaults();
        o.batch = 1;
        struct rp_graph g = build(rp_zoo_rows[i].name, o);
        double sum[2] = {0};
        for (uint32_t k = 0; k < g.n_ops; k++)
            sum[g.ops[k].phase == RP_BACKWARD] += (double)attr(&g.ops[k], "flops");
        CU_ASSERT_TRUE(sum[1] > 1.85 * sum[0] && sum[1] < 2.2 * sum[0]);
        rp_graph_fini(&g);
    }
}

static void the_loss_is_the_sum_of_all_heads(void) {
    struct rp_graph g = build("googlenet", tiny());
    uint32_t loss = (uint32_t)json_integer_value(json_object_get(g.attrs, "loss"));
    CU_ASSERT_STRING_EQUAL(g.tensors[loss].name, "loss_sum2");
    const struct rp_op *head = &g.ops[find_op(&g, "aux1.loss")];
    CU_ASSERT_EQUAL(json_number_value(json_object_get(head->attrs, "weight")), 0.3);
    CU_ASSERT_EQUAL(head->inputs[1], g.ops[find_op(&g, "loss")].inputs[1]);
    CU_ASSERT_TRUE(has_op(&g, "aux1.loss.grad_input"));
    CU_ASSERT_TRUE(has_op(&g, "aux2.loss.grad_input"));
    rp_graph_fini(&g);
}

/* ---- what kernels rely on ---- */

static uint64_t conv_size(const struct rp_op *op, size_t i, uint64_t size) {
    return (size + 2 * at(op, "pad", i) - at(op, "kernel", i)) / at(op, "stride", i) + 1;
}

/* An operand in the shape in which the op sees it. */
struct seen {
    uint64_t dim[6], n;
    size_t n_dims;
};

static struct seen as_tensor(const struct rp_tensor *t) {
    struct seen s = {.n = count(t), .n_dims = t->n_dims};
    memcpy(s.dim, t->shape, t->n_dims * sizeof *t->shape);
    return s;
}

static struct seen seen(const struct rp_graph *g, const struct rp_op *op, uint32_t k) {
    json_t *view = json_array_get(json_object_get(op->attrs, "views"), k);
    struct seen s = as_tensor(input(g, op, k));
    if (json_is_array(view))
        s.n_dims = json_array_size(view);
    for (size_t i = 0; json_is_array(view) && i < s.n_dims; i++)
        s.dim[i] = (uint64_t)json_integer_value(json_array_get(view, i));
    return s;
}

/* x, weight and y of a convolution, forward or either gradient, and the grid that the
 * weight is applied on: y, or x if it is transposed. */
static void check_conv(const struct rp_graph *g, const struct rp_op *op) {
    bool transposed = strncmp(op->kind, "conv_transpose", 14) == 0;
    bool grad_input = strstr(op->kind, "_grad_input") != NULL;
    bool grad_weight = strstr(op->kind, "_grad_weight") != NULL;
    bool bias = !grad_input && !grad_weight && op->n_inputs == 3;
    struct seen first = seen(g, op, 0), second = seen(g, op, 1);
    struct seen out = as_tensor(output(g, op, 0));
    struct seen x = grad_weight ? second : grad_input ? out : first;
    struct seen w = grad_weight ? out : second;
    struct seen y = grad_weight || grad_input ? first : out;
    struct seen big = transposed ? y : x, grid = transposed ? x : y;
    CU_ASSERT_TRUE_FATAL(x.n_dims == y.n_dims && x.n_dims == w.n_dims);
    for (size_t i = 0; i + 2 < x.n_dims; i++) {
        CU_ASSERT_EQUAL(grid.dim[i + 2], conv_size(op, i, big.dim[i + 2]));
        CU_ASSERT_EQUAL(w.dim[i + 2], at(op, "kernel", i));
        CU_ASSERT_EQUAL(at(op, "dilation", i), 1);
    }
    CU_ASSERT_EQUAL(w.dim[0], grid.dim[1]);
    CU_ASSERT_EQUAL(w.dim[1] * attr(op, "groups"), big.dim[1]);
    CU_ASSERT_EQUAL(x.dim[0], y.dim[0]);
    CU_ASSERT_EQUAL(attr(op, "flops"), 2 * grid.n / grid.dim[1] * w.n + (bias ? y.n : 0));
}

static void check_matmul(const struct rp_graph *g, const struct rp_op *op) {
    uint64_t batch = attr(op, "batch"), m = attr(op, "m"), n = attr(op, "n"),
             k = attr(op, "k");
    CU_ASSERT_EQUAL(count(input(g, op, 0)), batch * m * k);
    CU_ASSERT_TRUE(count(input(g, op, 1)) == batch * k * n ||
                   count(input(g, op, 1)) == k * n);
    CU_ASSERT_EQUAL(count(output(g, op, 0)), batch * m * n);
    CU_ASSERT_EQUAL(attr(op, "flops"),
                    2 * batch * m * n * k + (op->n_inputs == 3 ? batch * m * n : 0));
}

static void check_pool(const struct rp_graph *g, const struct rp_op *op) {
    const struct rp_tensor *x = input(g, op, 0), *y = output(g, op, 0);
    for (size_t i = 0; i + 2 < x->n_dims; i++)
        CU_ASSERT_EQUAL(y->shape[i + 2], conv_size(op, i, x->shape[i + 2]));
    CU_ASSERT_EQUAL(x->shape[1], y->shape[1]);
}

static void check_batch_norm(const struct rp_graph *g, const struct rp_op *op) {
    bool affine = json_is_true(json_object_get(op->attrs, "affine"));
    CU_ASSERT_EQUAL(op->n_inputs, affine ? 3 : 1);
    CU_ASSERT_EQUAL(op->n_outputs, 3);
    CU_ASSERT_EQUAL(count(output(g, op, 1)), input(g, op, 0)->shape[1]);
    CU_ASSERT_TRUE(json_number_value(json_object_get(op->attrs, "eps")) > 0);
    CU_ASSERT_EQUAL(attr(op, "traffic_bytes"), 3 * input(g, op, 0)->bytes);
}

static void check_update(const struct rp_graph *g, const struct rp_op *op) {
    CU_ASSERT_FALSE(op->recompute);
    CU_ASSERT_TRUE(g->kept[op->outputs[0]] && g->kept[op->outputs[1]]);
    CU_ASSERT_EQUAL(output(g, op, 0)->kind, RP_STATE);
    CU_ASSERT_EQUAL(input(g, op, 2)->producer, RP_NONE);
    CU_ASSERT_TRUE(attr(op, "count") > 0);
}

static void states_what_kernels_need(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        if (strncmp(op->kind, "conv", 4) == 0 && !is_kind(op, "concat"))
            check_conv(g, op);
        if (is_kind(op, "matmul"))
            check_matmul(g, op);
        if (is_kind(op, "max_pool2d") || is_kind(op, "max_pool3d") ||
            is_kind(op, "avg_pool2d"))
            check_pool(g, op);
        if (is_kind(op, "batch_norm"))
            check_batch_norm(g, op);
        CU_ASSERT_EQUAL(op->recompute, !is_kind(op, "bn_update_stats"));
        if (!op->recompute)
            check_update(g, op);
        CU_ASSERT_EQUAL(op->workspace_bytes, 0);
        CU_ASSERT_TRUE(json_is_integer(json_object_get(op->attrs, "flops")));
    }
}

static void attributes_agree_with_the_shapes(void) {
    for_all_tiny(states_what_kernels_need);
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        struct rp_graph g = build(rp_zoo_rows[i].name, defaults());
        states_what_kernels_need(&g);
        rp_graph_fini(&g);
    }
}

/* attrs.views: a list as long as the inputs, shapes with as many elements. */
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
            CU_ASSERT_EQUAL(n, count(input(g, op, (uint32_t)k)));
        }
    }
}

static void a_view_has_the_elements_of_its_tensor(void) {
    for_all_tiny(views_hold_their_tensors);
}

static void a_flattened_image_is_a_view_and_no_op(void) {
    struct rp_graph g = build("vgg16", defaults());
    const struct rp_op *fc = &g.ops[find_op(&g, "classifier.0.fc")];
    CU_ASSERT_STRING_EQUAL(input(&g, fc, 0)->name, "block4.pool");
    CU_ASSERT_EQUAL(json_integer_value(json_array_get(
                        json_array_get(json_object_get(fc->attrs, "views"), 0), 1)),
                    25088);
    const struct rp_op *back = &g.ops[find_op(&g, "classifier.0.fc.grad_input")];
    CU_ASSERT_EQUAL(attr(back, "n"), 25088);
    rp_graph_fini(&g);
}

static void each_dropout_has_a_seed_of_its_own(void) {
    struct rp_zoo_options o = tiny();
    o.seed = 7;
    struct rp_graph g = build("vgg16", o);
    CU_ASSERT_EQUAL(attr(&g.ops[find_op(&g, "classifier.0.dropout")], "seed"), 7);
    CU_ASSERT_EQUAL(attr(&g.ops[find_op(&g, "classifier.1.dropout")], "seed"), 8);
    CU_ASSERT_EQUAL(attr(&g.ops[find_op(&g, "classifier.1.dropout.grad_input")], "seed"),
                    8);
    rp_graph_fini(&g);
}

static void half_precision_leaves_statistics_and_losses_in_f32(void) {
    struct rp_zoo_options o = tiny();
    o.dtype = RP_F16;
    struct rp_graph g = build("resnet18", o);
    const struct rp_op *bn = &g.ops[find_op(&g, "layer1.0.bn1")];
    CU_ASSERT_STRING_EQUAL(input(&g, bn, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(input(&g, bn, 1)->dtype, "f32");
    CU_ASSERT_STRING_EQUAL(output(&g, bn, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(output(&g, bn, 1)->dtype, "f32");
    const struct rp_op *loss = &g.ops[find_op(&g, "loss")];
    CU_ASSERT_STRING_EQUAL(input(&g, loss, 0)->dtype, "f16");
    CU_ASSERT_STRING_EQUAL(input(&g, loss, 1)->dtype, "i32");
    CU_ASSERT_STRING_EQUAL(output(&g, loss, 0)->dtype, "f32");
    has_one_gradient_a_parameter(&g);
    rp_graph_fini(&g);
}

/* All of a text file; the tests run in the project's folder. */
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
    for_all_tiny(has_documented_kinds);
    free(documents);
    free(a);
    free(b);
}

/* ---- options ---- */

static void bad_options_are_refused_in_one_line(void) {
    struct rp_zoo_options o = defaults();
    refused("vgg17", o, "zoo: there is no network 'vgg17' ('zoo' lists them)");
    o.image[0] = o.image[1] = o.image[2] = 7;
    refused("vgg16", o, "zoo: vgg16: --image 7 is too small (at least 32)");
    o = defaults();
    o.image[1] = 64;
    o.image[2] = 72;
    refused("unet", o, "zoo: unet: --image 72 is not a multiple of 16");
    o = defaults();
    o.batch = 0;
    refused("vgg16", o, "zoo: vgg16: --batch 0: must be at least 1");
    o.batch = (uint64_t)1 << 63;
    refused("vgg16", o, "zoo: vgg16: --batch: too large");
    o = defaults();
    o.classes = 0;
    refused("resnet50", o, "zoo: resnet50: --classes 0: must be at least 1");
    o = defaults();
    o.steps = 3;
    refused("resnet50", o, "zoo: resnet50: --steps does not apply");
    o = defaults();
    o.no_aux = true;
    refused("resnet50", o, "zoo: resnet50: --no-aux does not apply");
    o = defaults();
    o.dtype = RP_I32;
    refused("resnet50", o, "zoo: resnet50: --dtype must be f32 or f16");
    o = defaults();
    o.seed = UINT64_MAX;
    refused("resnet50", o, "zoo: resnet50: --seed: too large");
}

/* First the sum of flops, then a product within one op. */
static void sizes_that_overflow_are_refused(void) {
    for (int shift = 0; shift < 63; shift++) {
        struct rp_zoo_options o = tiny();
        struct rp_graph g;
        struct rp_err err = {{0}};
        o.batch = (uint64_t)1 << shift;
        rp_rc rc = rp_zoo_build("resnet18", &o, &g, &err);
        CU_ASSERT_EQUAL(rc, shift < 43 ? RP_OK : RP_USAGE);
        if (rc != RP_OK)
            CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "2^63-1"));
        rp_graph_fini(&g);
    }
}

static void the_smallest_images_work_and_one_less_does_not(void) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        const struct rp_zoo_row *row = &rp_zoo_rows[i];
        struct rp_zoo_options o = tiny();
        struct rp_err err = {{0}};
        struct rp_graph g;
        if ((row->takes & RP_TAKES_IMAGE) == 0)
            continue;
        o.image[0] = o.image[1] = o.image[2] = row->min_image;
        g = build(row->name, o);
        rp_graph_fini(&g);
        o.image[2]--;
        CU_ASSERT_EQUAL(rp_zoo_build(row->name, &o, &g, &err), RP_USAGE);
    }
}

/* Odd sizes, and one side longer than the other, where no multiple is asked for. */
static void images_need_not_be_square(void) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        const struct rp_zoo_row *row = &rp_zoo_rows[i];
        struct rp_zoo_options o = tiny();
        if ((row->takes & RP_TAKES_IMAGE) == 0)
            continue;
        uint64_t step = row->image_multiple > 1 ? row->image_multiple : 1;
        o.image[0] = row->min_image + step;
        o.image[1] = row->min_image + 2 * step;
        o.image[2] = row->min_image + 7 * step;
        struct rp_graph g = build(row->name, o);
        states_what_kernels_need(&g);
        rp_graph_fini(&g);
    }
}

void suite_zoo(void) {
    RP_SUITE("zoo");
    RP_TEST(parameter_counts_and_multiply_adds_are_the_published_ones);
    RP_TEST(googlenet_without_auxiliary_classifiers_has_the_published_parameters);
    RP_TEST(segnet_has_the_published_parameters_and_arithmetic);
    RP_TEST(arithmetic_and_memory_grow_with_the_batch_parameters_do_not);
    RP_TEST(every_graph_is_accepted_by_the_reader);
    RP_TEST(no_two_tensors_or_ops_share_a_name);
    RP_TEST(a_tensor_takes_the_bytes_of_its_shape);
    RP_TEST(nothing_is_computed_for_nobody);
    RP_TEST(the_same_options_give_the_same_graph);
    RP_TEST(times_are_zero_and_their_source_is_none);
    RP_TEST(every_parameter_has_one_gradient_of_its_shape_in_keep);
    RP_TEST(gradients_are_computed_in_the_reverse_order_of_the_forward_ops);
    RP_TEST(only_what_leads_to_a_parameter_gets_a_gradient);
    RP_TEST(gradients_of_several_readers_are_added);
    RP_TEST(the_backward_pass_takes_about_twice_the_arithmetic);
    RP_TEST(the_loss_is_the_sum_of_all_heads);
    RP_TEST(attributes_agree_with_the_shapes);
    RP_TEST(a_view_has_the_elements_of_its_tensor);
    RP_TEST(a_flattened_image_is_a_view_and_no_op);
    RP_TEST(each_dropout_has_a_seed_of_its_own);
    RP_TEST(half_precision_leaves_statistics_and_losses_in_f32);
    RP_TEST(every_op_kind_is_documented);
    RP_TEST(bad_options_are_refused_in_one_line);
    RP_TEST(sizes_that_overflow_are_refused);
    RP_TEST(the_smallest_images_work_and_one_less_does_not);
    RP_TEST(images_need_not_be_square);
}
