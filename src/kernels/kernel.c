#include "kernels/kernel.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/bind.h"
#include "kernels/element.h"
#include "kernels/op_table.h"
#include "kernels/ref.h"

const char *const rp_real_word[RP_N_REALS] = {"f32", "f16", "bf16", "f64"};

/* ---- operands ---- */

static void add_dim(struct rp_binding *b, struct rp_operand *x, uint64_t size) {
    if (x->n_dims == RP_BIND_DIMS || size == 0 || size > (uint64_t)RP_BIND_MAX_COUNT) {
        rp_bind_fail(b, "a shape has more than %d dimensions or a dimension of size 0",
                     RP_BIND_DIMS);
        return;
    }
    x->dim[x->n_dims++] = (int64_t)size;
    x->count = rp_bind_product(b, x->count, (int64_t)size);
}

/* Reads the tensor's shape, or the view of it, which must have as many elements. */
static void read_operand(struct rp_binding *b, uint32_t tensor, const json_t *view,
                         struct rp_operand *x) {
    const struct rp_tensor *t = &b->g->tensors[tensor];
    struct rp_operand own = {.count = 1};
    if (t->dtype == NULL || (t->shape == NULL && t->n_dims > 0))
        rp_bind_fail(b, "tensor \"%s\" has no dtype or no shape", t->name);
    for (size_t i = 0; i < t->n_dims && b->rc == RP_OK; i++)
        add_dim(b, &own, t->shape[i]);
    *x = own;
    if (!json_is_array(view))
        return;
    *x = (struct rp_operand){.count = 1};
    for (size_t i = 0; i < json_array_size(view); i++) {
        const json_int_t size = json_integer_value(json_array_get(view, i));
        add_dim(b, x, size > 0 ? (uint64_t)size : 0);
    }
    if (x->count != own.count)
        rp_bind_fail(b, "a view of \"%s\" has a different number of elements", t->name);
}

static void read_operands(struct rp_binding *b) {
    const json_t *views = json_object_get(b->op->attrs, "views");
    b->in = rp_calloc(b->op->n_inputs, sizeof *b->in);
    b->out = rp_calloc(b->op->n_outputs, sizeof *b->out);
    for (uint32_t i = 0; i < b->op->n_inputs; i++)
        read_operand(b, b->op->inputs[i], json_array_get(views, i), &b->in[i]);
    for (uint32_t i = 0; i < b->op->n_outputs; i++)
        read_operand(b, b->op->outputs[i], NULL, &b->out[i]);
}

/* ---- how many operands, and of which type ---- */

/* The type of operand i in the pattern; '\0' past its end. */
static char pattern_at(const char *pattern, uint32_t i) {
    char last = '\0';
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '*')
            return last;
        if (*pattern == '|')
            continue;
        last = *pattern;
        if (i-- == 0)
            return last;
    }
    return '\0';
}

/* The type that input i must have. */
static char type_of_input(const struct rp_binding *b, uint32_t i) {
    const char type = pattern_at(b->kind->in, i);
    const bool f32 = strcmp(b->g->tensors[b->op->inputs[i]].dtype, "f32") == 0;
    return type != 'g' ? type : f32 ? 's' : 'r';
}

/* Does the pattern allow n operands? "rr|r" allows two or three, "r*" one or more. */
static bool pattern_takes(const char *pattern, uint32_t n) {
    const char *bar = strchr(pattern, '|');
    const size_t min = bar != NULL ? (size_t)(bar - pattern)
                                   : strlen(pattern) - (strchr(pattern, '*') != NULL);
    if (strchr(pattern, '*') != NULL)
        return n >= min;
    return n == min || (bar != NULL && n == strlen(pattern) - 1);
}

/* The first operand of type r decides the op's network type. */
static void check_type(struct rp_binding *b, char want, uint32_t tensor,
                       const char **real) {
    const struct rp_tensor *t = &b->g->tensors[tensor];
    const char *dtype = want == 's' ? "f32" : want == 'i' ? "i32" : *real;
    enum rp_element e;
    if (want == 'r' && *real == NULL && rp_element_find(t->dtype, &e) &&
        e != RP_ELEMENT_I32)
        dtype = *real = t->dtype;
    if (dtype == NULL || strcmp(t->dtype, dtype) != 0)
        rp_bind_fail(b, "tensor \"%s\" is %s; kind %s needs %s there", t->name, t->dtype,
                     b->op->kind, dtype != NULL ? dtype : "f32, f16 or bf16");
}

static void check_operand(struct rp_binding *b, char want, uint32_t tensor,
                          const struct rp_operand *x, const char **real) {
    const struct rp_tensor *t = &b->g->tensors[tensor];
    enum rp_element e;
    check_type(b, want, tensor, real);
    if (b->rc == RP_OK && rp_element_find(t->dtype, &e) &&
        (uint64_t)x->count * rp_element_bytes(e) != t->bytes)
        rp_bind_fail(b, "tensor \"%s\": its shape does not match its bytes", t->name);
}

static enum rp_real real_of(const char *dtype) {
    static const enum rp_real reals[] = {[RP_ELEMENT_F32] = RP_REAL32,
                                         [RP_ELEMENT_F16] = RP_REAL16,
                                         [RP_ELEMENT_BF16] = RP_REAL_BF16};
    enum rp_element e;
    return rp_element_find(dtype, &e) ? reals[e] : RP_REAL32;
}

static void check_operands(struct rp_binding *b, enum rp_bind how) {
    const char *real = NULL;
    if (!pattern_takes(b->kind->in, b->op->n_inputs) ||
        !pattern_takes(b->kind->out, b->op->n_outputs))
        rp_bind_fail(b, "kind %s does not take %" PRIu32 " inputs and %" PRIu32 " outputs",
                     b->op->kind, b->op->n_inputs, b->op->n_outputs);
    for (uint32_t i = 0; i < b->op->n_inputs && b->rc == RP_OK; i++)
        check_operand(b, type_of_input(b, i), b->op->inputs[i], &b->in[i], &real);
    for (uint32_t i = 0; i < b->op->n_outputs && b->rc == RP_OK; i++)
        check_operand(b, pattern_at(b->kind->out, i), b->op->outputs[i], &b->out[i], &real);
    b->k->real = how == RP_BIND_F64 ? RP_REAL64 : real_of(real);
}

/* ---- binding ---- */

static rp_kernel_fn *find_kernel(const char *name, enum rp_real real) {
    static const struct {
        const char *name;
        rp_kernel_fn *run[RP_N_REALS];
    } kernels[] = {
#define X(name, ...)                                                                       \
    {#name,                                                                                \
     {rp_ref_##name##_f32, rp_ref_##name##_f16, rp_ref_##name##_bf16,                      \
      rp_ref_##name##_f64}},
        RP_REF_KERNELS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return kernels[i].run[real];
    return NULL;
}

/* The tensors of a list, then those that the op updates. The caller frees the array. */
static uint32_t *and_updates(const struct rp_op *op, const uint32_t *list, uint32_t n) {
    uint32_t *all = rp_calloc((size_t)n + op->n_updates, sizeof *all);
    for (uint32_t k = 0; k < n + op->n_updates; k++)
        all[k] = k < n ? list[k] : op->updates[k - n];
    return all;
}

/* A kernel reads what its op updates after the inputs, and writes it after the outputs. */
static struct rp_op with_updates(const struct rp_op *op) {
    struct rp_op all = *op;
    all.inputs = and_updates(op, op->inputs, op->n_inputs);
    all.outputs = and_updates(op, op->outputs, op->n_outputs);
    all.n_inputs += op->n_updates;
    all.n_outputs += op->n_updates;
    return all;
}

rp_rc rp_kernel_bind(const struct rp_graph *g, uint32_t op, enum rp_bind how,
                     const char *file, struct rp_kernel *k, struct rp_err *err) {
    const struct rp_op all = with_updates(&g->ops[op]);
    struct rp_binding b = {.g = g,
                           .op = &all,
                           .index = op,
                           .file = file,
                           .kind = rp_op_kind_find(g->ops[op].kind),
                           .k = k,
                           .err = err,
                           .rc = RP_OK};
    *k = (struct rp_kernel){0};
    if (b.kind == NULL)
        rp_bind_fail(&b,
                     "no kernel for kind '%s' (docs/ops.md lists the kinds that have one)",
                     b.op->kind);
    if (b.rc == RP_OK)
        read_operands(&b);
    if (b.rc == RP_OK)
        check_operands(&b, how);
    if (b.rc == RP_OK) {
        k->args.n_in = (int32_t)b.op->n_inputs;
        k->args.n_out = (int32_t)b.op->n_outputs;
        b.kind->bind(&b);
    }
    if (b.rc == RP_OK) {
        k->name = b.kind->kernel;
        k->run = find_kernel(k->name, k->real);
    } else {
        rp_kernel_fini(k);
    }
    free(b.in);
    free(b.out);
    free(all.inputs);
    free(all.outputs);
    return b.rc;
}

void rp_kernel_run(const struct rp_kernel *k, const void *const *in, void *const *out) {
    k->run(&k->args, in, out);
}

void rp_kernel_fini(struct rp_kernel *k) {
    free(k->parts);
    *k = (struct rp_kernel){0};
}
