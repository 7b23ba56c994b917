#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "networks.h"
#include "run.h"

static struct rp_graph tiny(const char *name, enum rp_dtype dtype, enum rp_optimizer o) {
    struct rp_zoo_options options = rp_net_tiny();
    options.dtype = dtype;
    options.optimizer = o;
    return rp_net_build(name, options);
}

static uint32_t tensor_named(const struct rp_graph *g, const char *name) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (strcmp(g->tensors[x].name, name) == 0)
            return x;
    CU_FAIL_FATAL("no such tensor");
    return 0;
}

static const struct rp_op *op_named(const struct rp_graph *g, const char *name) {
    return &g->ops[rp_net_op(g, name)];
}

static bool is_of(const struct rp_tensor *t, const struct rp_tensor *param) {
    const char *of = json_string_value(json_object_get(t->attrs, "of"));
    return of != NULL && strcmp(of, param->name) == 0;
}

/* ---- every network ---- */

/* The op that updates source x: there must be exactly one. */
static uint32_t update_of(const struct rp_graph *g, uint32_t x) {
    uint32_t found = RP_NONE;
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates; k++)
            if (g->ops[i].updates[k] == x) {
                CU_ASSERT_EQUAL(found, RP_NONE);
                found = i;
            }
    CU_ASSERT_NOT_EQUAL_FATAL(found, RP_NONE);
    return found;
}

static void has_one_update_for_each_parameter(const struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        if (g->tensors[x].kind != RP_PARAMETER)
            continue;
        uint32_t u = update_of(g, x);
        const struct rp_op *op = &g->ops[u];
        CU_ASSERT_EQUAL(op->phase, RP_UPDATE);
        CU_ASSERT_EQUAL(op->updates[0], x);
        CU_ASSERT_EQUAL(rp_net_input(g, op, 0)->kind, RP_GRADIENT);
        CU_ASSERT_TRUE(is_of(rp_net_input(g, op, 0), &g->tensors[x]));
        for (uint32_t k = 1; k < op->n_updates; k++)
            CU_ASSERT_TRUE(is_of(&g->tensors[op->updates[k]], &g->tensors[x]));
        for (uint32_t r = g->reader_start[x]; r < g->reader_start[x + 1]; r++)
            CU_ASSERT_TRUE(g->readers[r] < u);
    }
}

static void keeps_no_gradient(const struct rp_graph *g) {
    for (uint32_t k = 0; k < g->n_keep; k++)
        CU_ASSERT_NOT_EQUAL(g->tensors[g->keep[k]].kind, RP_GRADIENT);
    CU_ASSERT_EQUAL(g->keep[g->n_keep - 1],
                    (uint32_t)json_integer_value(json_object_get(g->attrs, "loss")));
}

/* The forward op of a backward one: what stands before ".grad". */
static size_t forward_length(const char *name) {
    const char *end = strstr(name, ".grad");
    return end != NULL ? (size_t)(end - name) : strlen(name);
}

/* Between an update and the op that makes its gradient there are only backward ops of the
 * same layer, sums of gradients, and updates. */
static void updates_right_after_the_layer(const struct rp_graph *g) {
    for (uint32_t u = 0; u < g->n_ops; u++) {
        if (g->ops[u].phase != RP_UPDATE || g->ops[u].n_inputs == 0)
            continue;
        const uint32_t made = rp_net_input(g, &g->ops[u], 0)->producer;
        const char *of = g->ops[made].name;
        for (uint32_t i = made + 1; i < u; i++)
            CU_ASSERT_TRUE(g->ops[i].phase == RP_UPDATE ||
                           strstr(of, ".grad_sum") != NULL ||
                           strstr(g->ops[i].name, ".grad_sum") != NULL ||
                           strncmp(of, g->ops[i].name, forward_length(of)) == 0);
    }
}

static void every_parameter_of_every_network_is_updated_once_after_its_readers(void) {
    static const enum rp_optimizer all[] = {RP_SGD, RP_MOMENTUM, RP_ADAM, RP_ADAMW};
    for (size_t i = 0; i < 4; i++) {
        struct rp_zoo_options o = rp_net_tiny();
        o.optimizer = all[i];
        rp_net_all_with(o, has_one_update_for_each_parameter);
    }
}

static void gradients_are_not_kept_but_the_loss_is(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.optimizer = RP_ADAMW;
    rp_net_all_with(o, keeps_no_gradient);
}

static void an_update_follows_the_layer_that_completes_its_gradient(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.optimizer = RP_SGD;
    rp_net_all_with(o, updates_right_after_the_layer);
}

/* ---- state ---- */

/* Bytes of a parameter, its gradient and its state, over those of the number of elements.
 */
static void takes(enum rp_dtype dtype, enum rp_optimizer o, uint64_t bytes) {
    struct rp_graph g = tiny("llama-7b", dtype, o);
    for (uint32_t x = 0; x < g.n_tensors; x++) {
        const struct rp_tensor *t = &g.tensors[x];
        if (t->kind != RP_PARAMETER || t->n_dims < 2)
            continue;
        const struct rp_op *op = &g.ops[update_of(&g, x)];
        uint64_t sum = rp_net_input(&g, op, 0)->bytes;
        for (uint32_t k = 0; k < op->n_updates; k++)
            sum += g.tensors[op->updates[k]].bytes;
        CU_ASSERT_EQUAL(sum, bytes * rp_net_count(t));
    }
    rp_graph_fini(&g);
}

static void adam_takes_sixteen_bytes_a_parameter(void) {
    takes(RP_F32, RP_ADAM, 4 + 4 + 4 + 4);
    takes(RP_BF16, RP_ADAMW, 2 + 2 + 4 + 4 + 4);
    takes(RP_F16, RP_ADAMW, 2 + 2 + 4 + 4 + 4);
    takes(RP_BF16, RP_MOMENTUM, 2 + 2 + 4 + 4);
    takes(RP_BF16, RP_SGD, 2 + 2 + 4);
    takes(RP_F32, RP_SGD, 4 + 4);
}

static void updates_are_named(const struct rp_graph *g, const char *op,
                              const char *const *names, uint32_t n) {
    const struct rp_op *update = op_named(g, op);
    CU_ASSERT_EQUAL_FATAL(update->n_updates, n);
    for (uint32_t k = 0; k < n; k++)
        CU_ASSERT_STRING_EQUAL(g->tensors[update->updates[k]].name, names[k]);
}

static void state_is_named_as_in_pytorch(void) {
    static const char *const mixed[] = {"wpe", "wpe.exp_avg", "wpe.exp_avg_sq",
                                        "wpe.master"};
    static const char *const norm[] = {"ln_f.weight", "ln_f.weight.exp_avg",
                                       "ln_f.weight.exp_avg_sq"};
    static const char *const momentum[] = {"wpe", "wpe.momentum_buffer"};
    struct rp_graph g = tiny("gpt2", RP_BF16, RP_ADAMW);
    updates_are_named(&g, "wpe.update", mixed, 4);
    updates_are_named(&g, "ln_f.weight.update", norm, 3);
    rp_graph_fini(&g);
    g = tiny("gpt2", RP_F32, RP_MOMENTUM);
    updates_are_named(&g, "wpe.update", momentum, 2);
    rp_graph_fini(&g);
}

static void the_first_op_of_adam_counts_the_steps_and_all_updates_read_them(void) {
    struct rp_graph g = tiny("resnet18", RP_F32, RP_ADAM);
    CU_ASSERT_STRING_EQUAL(g.ops[0].kind, "count_step");
    const uint32_t step = g.ops[0].updates[0];
    CU_ASSERT_STRING_EQUAL(g.tensors[step].name, "step");
    CU_ASSERT_EQUAL(g.tensors[step].bytes, 4);
    for (uint32_t i = 1; i < g.n_ops; i++)
        if (g.ops[i].phase == RP_UPDATE)
            CU_ASSERT_EQUAL(g.ops[i].inputs[1], step);
    rp_graph_fini(&g);
    g = tiny("resnet18", RP_F32, RP_MOMENTUM);
    CU_ASSERT_FALSE(rp_net_has_kind(&g, "count_step"));
    rp_graph_fini(&g);
}

/* PyTorch's: torch.optim.SGD, Adam and AdamW. */
static void defaults_are_those_of_pytorch(void) {
    struct rp_graph g = tiny("gpt2", RP_F32, RP_ADAMW);
    const json_t *a = op_named(&g, "wte.update")->attrs;
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "lr")), 1e-3);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "beta1")), 0.9);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "beta2")), 0.999);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "eps")), 1e-8);
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "weight_decay")), 0.01);
    rp_graph_fini(&g);
    g = tiny("gpt2", RP_F32, RP_ADAM);
    a = op_named(&g, "wte.update")->attrs;
    CU_ASSERT_EQUAL(json_real_value(json_object_get(a, "weight_decay")), 0);
    rp_graph_fini(&g);
}

/* 2 of g, 2 of W written, and m, v and master read and written. */
static void an_update_with_a_master_does_not_read_the_parameter(void) {
    struct rp_graph g = tiny("gpt2", RP_BF16, RP_ADAMW);
    const struct rp_op *mixed = op_named(&g, "wpe.update");
    const struct rp_op *norm = op_named(&g, "ln_f.weight.update");
    const uint64_t n = rp_net_count(&g.tensors[mixed->updates[0]]);
    CU_ASSERT_EQUAL(rp_net_attr(mixed, "traffic_bytes"), (2 + 2 + 3 * 8) * n);
    CU_ASSERT_EQUAL(rp_net_attr(mixed, "flops"), 13 * n);
    CU_ASSERT_PTR_NULL(json_object_get(norm->attrs, "traffic_bytes"));
    rp_graph_fini(&g);
}

static void a_tied_weight_is_updated_by_the_sum_of_its_gradients(void) {
    struct rp_graph g = tiny("gpt2", RP_F32, RP_ADAMW);
    const struct rp_op *update = op_named(&g, "wte.update");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, update, 0)->name, "wte.grad_sum");
    rp_graph_fini(&g);
}

static void running_statistics_are_updated_in_place(void) {
    struct rp_graph g = tiny("resnet18", RP_F32, RP_SGD);
    const struct rp_op *op = op_named(&g, "bn1.update_stats");
    CU_ASSERT_EQUAL(op->n_inputs, 2);
    CU_ASSERT_EQUAL(op->n_outputs, 0);
    CU_ASSERT_EQUAL_FATAL(op->n_updates, 2);
    CU_ASSERT_STRING_EQUAL(g.tensors[op->updates[0]].name, "bn1.running_mean");
    CU_ASSERT_STRING_EQUAL(g.tensors[op->updates[1]].name, "bn1.running_var");
    CU_ASSERT_EQUAL(g.n_keep, 1);
    rp_graph_fini(&g);
}

static void parameters_and_state_have_the_homes_asked_for_and_nothing_else(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.optimizer = RP_ADAMW;
    o.dtype = RP_F16;
    o.param_home = RP_HOME_ANY;
    o.state_home = RP_HOME_HOST;
    struct rp_graph g = rp_net_build("resnet18", o);
    for (uint32_t x = 0; x < g.n_tensors; x++) {
        const struct rp_tensor *t = &g.tensors[x];
        const bool of = json_object_get(t->attrs, "of") != NULL;
        const bool state = t->producer == RP_NONE && t->kind == RP_STATE && of;
        CU_ASSERT_EQUAL(t->home, t->kind == RP_PARAMETER ? RP_HOME_ANY
                                 : state                 ? RP_HOME_HOST
                                                         : RP_HOME_DEVICE);
    }
    CU_ASSERT_EQUAL(g.tensors[tensor_named(&g, "fc.weight.master")].home, RP_HOME_HOST);
    rp_graph_fini(&g);
}

/* ---- micro-batches ---- */

static struct rp_graph in_parts(const char *name, uint64_t n, enum rp_dtype dtype,
                                enum rp_optimizer optimizer) {
    struct rp_zoo_options o = rp_net_tiny();
    o.batch = 6;
    o.micro_batches = n;
    o.dtype = dtype;
    o.optimizer = optimizer;
    return rp_net_build(name, o);
}

static uint32_t n_of_kind(const struct rp_graph *g, const char *kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_ops; i++)
        n += rp_net_is(&g->ops[i], kind);
    return n;
}

static uint32_t n_params(const struct rp_graph *g) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        n += g->tensors[x].kind == RP_PARAMETER;
    return n;
}

static void micro_batches_share_the_parameters_and_divide_the_batch(void) {
    struct rp_graph whole = in_parts("gpt2", 1, RP_F32, RP_NO_OPTIMIZER);
    struct rp_graph parts = in_parts("gpt2", 3, RP_F32, RP_NO_OPTIMIZER);
    CU_ASSERT_EQUAL(rp_zoo_n_params(&parts), rp_zoo_n_params(&whole));
    CU_ASSERT_EQUAL(rp_zoo_macs(&parts), rp_zoo_macs(&whole));
    CU_ASSERT_EQUAL(parts.tensors[tensor_named(&parts, "micro2.tokens")].shape[0], 2);
    CU_ASSERT_STRING_EQUAL(parts.name, "gpt2-tiny-b6");
    rp_graph_fini(&whole);
    rp_graph_fini(&parts);
}

/* f32 gradients of the first micro-batch are sums already; those with 16 bits are
 * converted. */
static void gradients_are_added_up_in_f32(void) {
    struct rp_graph g = in_parts("llama-7b", 3, RP_F32, RP_NO_OPTIMIZER);
    CU_ASSERT_EQUAL(n_of_kind(&g, "accumulate"), 2 * n_params(&g));
    CU_ASSERT_EQUAL(g.n_keep, 1 + n_params(&g));
    rp_graph_fini(&g);
    g = in_parts("llama-7b", 3, RP_BF16, RP_NO_OPTIMIZER);
    const struct rp_op *first = op_named(&g, "micro0.output.weight.accumulate");
    const struct rp_op *last = op_named(&g, "micro2.output.weight.accumulate");
    CU_ASSERT_EQUAL(first->n_inputs, 1);
    CU_ASSERT_EQUAL(last->n_inputs, 2);
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, last, 0)->dtype, "bf16");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, last, 1)->name,
                           "micro1.output.weight.accumulate");
    CU_ASSERT_STRING_EQUAL(rp_net_output(&g, last, 0)->dtype, "f32");
    rp_graph_fini(&g);
}

static void parameters_are_updated_in_the_last_micro_batch_by_the_sum(void) {
    struct rp_graph g = in_parts("gpt2", 3, RP_BF16, RP_ADAMW);
    has_one_update_for_each_parameter(&g);
    keeps_no_gradient(&g);
    CU_ASSERT_EQUAL(n_of_kind(&g, "count_step"), 1);
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, op_named(&g, "wte.update"), 0)->name,
                           "micro2.wte.accumulate");
    rp_graph_fini(&g);
}

static void the_loss_is_the_mean_over_micro_batches(void) {
    struct rp_graph g = in_parts("gpt2", 3, RP_F32, RP_NO_OPTIMIZER);
    double weight = 0;
    for (uint32_t i = 0; i < g.n_ops; i++)
        if (rp_net_is(&g.ops[i], "softmax_cross_entropy"))
            weight += json_real_value(json_object_get(g.ops[i].attrs, "weight"));
    CU_ASSERT_DOUBLE_EQUAL(weight, 1, 1e-15);
    CU_ASSERT_STRING_EQUAL(g.tensors[g.keep[0]].name, "micro2.loss_sum");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, op_named(&g, "micro2.loss_sum"), 0)->name,
                           "micro1.loss_sum");
    rp_graph_fini(&g);
}

static void running_statistics_go_from_micro_batch_to_micro_batch(void) {
    struct rp_graph g = in_parts("resnet18", 3, RP_F32, RP_NO_OPTIMIZER);
    const struct rp_op *second = op_named(&g, "micro1.bn1.update_stats");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, second, 2)->name, "micro0.bn1.update_stats");
    CU_ASSERT_STRING_EQUAL(rp_net_input(&g, second, 3)->name,
                           "micro0.bn1.update_stats.running_var");
    CU_ASSERT_TRUE(g.kept[tensor_named(&g, "micro2.bn1.update_stats")]);
    CU_ASSERT_FALSE(g.kept[tensor_named(&g, "micro1.bn1.update_stats")]);
    rp_graph_fini(&g);
}

static void a_batch_that_is_no_multiple_of_the_micro_batches_is_refused(void) {
    struct rp_zoo_options o = rp_net_tiny();
    struct rp_graph g;
    struct rp_err err = {{0}};
    o.batch = 6;
    o.micro_batches = 4;
    CU_ASSERT_EQUAL(rp_zoo_build("gpt2", &o, &g, &err), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(err.msg, "gpt2: --batch 6 is not a multiple of 4 micro-batches");
}

void suite_optimizer(void) {
    RP_SUITE("optimizer");
    RP_TEST(every_parameter_of_every_network_is_updated_once_after_its_readers);
    RP_TEST(gradients_are_not_kept_but_the_loss_is);
    RP_TEST(an_update_follows_the_layer_that_completes_its_gradient);
    RP_TEST(adam_takes_sixteen_bytes_a_parameter);
    RP_TEST(state_is_named_as_in_pytorch);
    RP_TEST(the_first_op_of_adam_counts_the_steps_and_all_updates_read_them);
    RP_TEST(defaults_are_those_of_pytorch);
    RP_TEST(an_update_with_a_master_does_not_read_the_parameter);
    RP_TEST(a_tied_weight_is_updated_by_the_sum_of_its_gradients);
    RP_TEST(running_statistics_are_updated_in_place);
    RP_TEST(parameters_and_state_have_the_homes_asked_for_and_nothing_else);
    RP_TEST(micro_batches_share_the_parameters_and_divide_the_batch);
    RP_TEST(gradients_are_added_up_in_f32);
    RP_TEST(parameters_are_updated_in_the_last_micro_batch_by_the_sum);
    RP_TEST(the_loss_is_the_mean_over_micro_batches);
    RP_TEST(running_statistics_go_from_micro_batch_to_micro_batch);
    RP_TEST(a_batch_that_is_no_multiple_of_the_micro_batches_is_refused);
}
