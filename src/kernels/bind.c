#include "kernels/bind.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/ref.h"

#define MAX_ATTR ((int64_t)1 << 40)
#define MAX_COUNT ((int64_t)1 << 62)

const char *const rp_real_word[3] = {"f32", "f16", "f64"};

void rp_bind_fail(struct rp_binding *b, const char *fmt, ...) {
    char text[512];
    va_list ap;
    if (b->rc != RP_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    b->rc = rp_fail(b->err, RP_INPUT, "%s: ops[%" PRIu32 "] \"%s\": %s", b->file, b->index,
                    b->op->name, text);
}

int64_t rp_bind_product(struct rp_binding *b, int64_t x, int64_t y) {
    if (x != 0 && y > MAX_COUNT / x) {
        rp_bind_fail(b, "sizes overflow");
        return 1;
    }
    return x * y;
}

/* ---- operands ---- */

static const char *slot_text(int slot, char text[32]) {
    snprintf(text, 32, "%s %d", slot < RP_OUT ? "input" : "output", slot % RP_OUT);
    return text;
}

const struct rp_operand *rp_bind_operand(const struct rp_binding *b, int slot) {
    return slot < RP_OUT ? &b->in[slot] : &b->out[slot - RP_OUT];
}

void rp_bind_count(struct rp_binding *b, int slot, int64_t count) {
    char text[32];
    const int64_t has = rp_bind_operand(b, slot)->count;
    if (has != count)
        rp_bind_fail(b, "%s has %" PRId64 " elements, not %" PRId64, slot_text(slot, text),
                     has, count);
}

void rp_bind_same(struct rp_binding *b, int slot, int other) {
    rp_bind_count(b, slot, rp_bind_operand(b, other)->count);
}

static void add_dim(struct rp_binding *b, struct rp_operand *x, uint64_t size) {
    if (x->n_dims == RP_BIND_DIMS || size == 0 || size > (uint64_t)MAX_COUNT) {
        rp_bind_fail(b, "a shape has more than %d dimensions, or an empty one",
                     RP_BIND_DIMS);
        return;
    }
    x->dim[x->n_dims++] = (int64_t)size;
    x->count = rp_bind_product(b, x->count, (int64_t)size);
}

/* The tensor's shape, or the view of it, which has as many elements. */
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
        rp_bind_fail(b, "a view of \"%s\" has another number of elements", t->name);
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

/* The type of operand i by the pattern, '\0' past its end. */
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

/* n operands fit "rr|r": two or three; "r*": one and more. */
static bool pattern_takes(const char *pattern, uint32_t n) {
    const char *bar = strchr(pattern, '|');
    const size_t least = bar != NULL ? (size_t)(bar - pattern)
                                     : strlen(pattern) - (strchr(pattern, '*') != NULL);
    if (strchr(pattern, '*') != NULL)
        return n >= least;
    return n == least || (bar != NULL && n == strlen(pattern) - 1);
}

static size_t element_bytes(const char *dtype) {
    return strcmp(dtype, "f16") == 0 ? 2 : 4;
}

/* The network's type in this op is that of the first operand that may be f16. */
static void check_type(struct rp_binding *b, char want, uint32_t tensor,
                       const char **real) {
    const struct rp_tensor *t = &b->g->tensors[tensor];
    const char *dtype = want == 's' ? "f32" : want == 'i' ? "i32" : *real;
    if (want == 'r' && *real == NULL &&
        (strcmp(t->dtype, "f32") == 0 || strcmp(t->dtype, "f16") == 0))
        dtype = *real = t->dtype;
    if (dtype == NULL || strcmp(t->dtype, dtype) != 0)
        rp_bind_fail(b, "tensor \"%s\" is %s; kind %s wants %s there", t->name, t->dtype,
                     b->op->kind, dtype != NULL ? dtype : "f32 or f16");
}

static void check_operand(struct rp_binding *b, char want, uint32_t tensor,
                          const struct rp_operand *x, const char **real) {
    const struct rp_tensor *t = &b->g->tensors[tensor];
    check_type(b, want, tensor, real);
    if (b->rc == RP_OK && (uint64_t)x->count * element_bytes(t->dtype) != t->bytes)
        rp_bind_fail(b, "tensor \"%s\": its shape does not make up its bytes", t->name);
}

static void check_operands(struct rp_binding *b, enum rp_bind how) {
    const char *real = NULL;
    if (!pattern_takes(b->kind->in, b->op->n_inputs) ||
        !pattern_takes(b->kind->out, b->op->n_outputs))
        rp_bind_fail(b, "kind %s does not take %" PRIu32 " inputs, %" PRIu32 " outputs",
                     b->op->kind, b->op->n_inputs, b->op->n_outputs);
    for (uint32_t i = 0; i < b->op->n_inputs && b->rc == RP_OK; i++)
        check_operand(b, pattern_at(b->kind->in, i), b->op->inputs[i], &b->in[i], &real);
    for (uint32_t i = 0; i < b->op->n_outputs && b->rc == RP_OK; i++)
        check_operand(b, pattern_at(b->kind->out, i), b->op->outputs[i], &b->out[i], &real);
    const bool half = real != NULL && strcmp(real, "f16") == 0;
    b->k->real = how == RP_BIND_F64 ? RP_REAL64 : half ? RP_REAL16 : RP_REAL32;
}

/* ---- attributes ---- */

static int64_t integer(struct rp_binding *b, const json_t *value, const char *key) {
    const json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || n > MAX_ATTR) {
        rp_bind_fail(b, "attribute \"%s\" is missing, or no number from 0 to 2^40", key);
        return 1;
    }
    return n;
}

int64_t rp_bind_int(struct rp_binding *b, const char *key) {
    return integer(b, json_object_get(b->op->attrs, key), key);
}

void rp_bind_ints(struct rp_binding *b, const char *key, size_t n, int64_t *to) {
    const json_t *array = json_object_get(b->op->attrs, key);
    if (json_array_size(array) != n)
        rp_bind_fail(b, "attribute \"%s\" is missing, or not a list of %zu", key, n);
    for (size_t i = 0; i < n; i++)
        to[i] = integer(b, json_array_get(array, i), key);
}

double rp_bind_real(struct rp_binding *b, const char *key) {
    const json_t *value = json_object_get(b->op->attrs, key);
    if (!json_is_number(value))
        rp_bind_fail(b, "attribute \"%s\" is missing, or no number", key);
    return json_is_number(value) ? json_number_value(value) : 1;
}

bool rp_bind_bool(struct rp_binding *b, const char *key) {
    const json_t *value = json_object_get(b->op->attrs, key);
    if (!json_is_boolean(value))
        rp_bind_fail(b, "attribute \"%s\" is missing, or neither true nor false", key);
    return json_is_true(value);
}

size_t rp_bind_axis(struct rp_binding *b, int slot) {
    const struct rp_operand *x = rp_bind_operand(b, slot);
    const int64_t axis = rp_bind_int(b, "axis");
    if (b->rc == RP_OK && axis < (int64_t)x->n_dims)
        return (size_t)axis;
    rp_bind_fail(b, "there is no axis %" PRId64, axis);
    return 0;
}

void rp_bind_groups(struct rp_binding *b, int slot, size_t axis, size_t n_mid) {
    const struct rp_operand *x = rp_bind_operand(b, slot);
    struct rp_kargs *a = &b->k->args;
    a->outer = a->mid = a->inner = 1;
    for (size_t i = 0; i < x->n_dims; i++)
        *(i < axis ? &a->outer : i < axis + n_mid ? &a->mid : &a->inner) *= x->dim[i];
}

/* ---- binding ---- */

static rp_kernel_fn *find_kernel(const char *name, enum rp_real real) {
    static const struct {
        const char *name;
        rp_kernel_fn *run[3];
    } kernels[] = {
#define X(name) {#name, {rp_ref_##name##_f32, rp_ref_##name##_f16, rp_ref_##name##_f64}},
        RP_REF_KERNELS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return kernels[i].run[real];
    return NULL;
}

rp_rc rp_kernel_bind(const struct rp_graph *g, uint32_t op, enum rp_bind how,
                     const char *file, struct rp_kernel *k, struct rp_err *err) {
    struct rp_binding b = {.g = g,
                           .op = &g->ops[op],
                           .index = op,
                           .file = file,
                           .kind = rp_kind_find(g->ops[op].kind),
                           .k = k,
                           .err = err,
                           .rc = RP_OK};
    *k = (struct rp_kernel){0};
    if (b.kind == NULL)
        rp_bind_fail(&b,
                     "there is no kernel for kind '%s' (docs/ops.md lists those there "
                     "are)",
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
    return b.rc;
}

void rp_kernel_run(const struct rp_kernel *k, const void *const *in, void *const *out) {
    k->run(&k->args, in, out);
}

void rp_kernel_fini(struct rp_kernel *k) {
    free(k->parts);
    *k = (struct rp_kernel){0};
}
