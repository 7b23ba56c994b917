#include "model/zoo/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Keeps a graph below a gigabyte. nmt unrolled over 400 steps has 42,000 ops. */
enum { MAX_OPS = 200000 };

const char *const rp_dtype_word[4] = {"f32", "f16", "bf16", "i32"};

uint64_t rp_dtype_bytes(enum rp_dtype dtype) {
    return dtype == RP_F16 || dtype == RP_BF16 ? 2 : 4;
}

static void set_prefix(struct rp_builder *b) {
    if (b->o.micro_batches > 1)
        snprintf(b->prefix, sizeof b->prefix, "micro%" PRIu64 ".", b->micro);
}

void rp_builder_init(struct rp_builder *b, struct rp_graph *g,
                     const struct rp_zoo_entry *entry, const struct rp_zoo_options *o,
                     struct rp_err *err) {
    *b = (struct rp_builder){.g = g,
                             .entry = entry,
                             .o = *o,
                             .err = err,
                             .phase = RP_FORWARD,
                             .scope = rp_strdup(""),
                             .step = RP_NO_VALUE,
                             .loss = RP_NO_VALUE};
    set_prefix(b);
}

static void drop_nodes(struct rp_builder *b) {
    for (size_t i = 0; i < b->nodes.n; i++) {
        free(b->nodes.at[i].in);
        free(b->nodes.at[i].out);
    }
    b->nodes.n = 0;
}

void rp_builder_fini(struct rp_builder *b) {
    drop_nodes(b);
    free(b->nodes.at);
    free(b->params.at);
    free(b->losses.at);
    free(b->shared.at);
    free(b->param_grad);
    free(b->wants_grad);
    free(b->scope);
}

void rp_builder_fail(struct rp_builder *b, rp_rc rc, const char *fmt, ...) {
    char text[512];
    va_list ap;
    if (b->rc != RP_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    b->rc = rp_fail(b->err, rc, "%s: %s", b->entry->name, text);
}

void rp_scope_begin(struct rp_builder *b, const char *fmt, ...) {
    char part[64];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(part, sizeof part, fmt, ap);
    va_end(ap);
    assert(n >= 0 && (size_t)n < sizeof part);
    char *longer = rp_format("%s%s/", b->scope, part);
    free(b->scope);
    b->scope = longer;
}

/* In b->scope a '/' ends each scope, since a scope may have dots in it ("layer1.0"). */
void rp_scope_end(struct rp_builder *b) {
    char *last = strrchr(b->scope, '/');
    assert(last != NULL);
    *last = '\0';
    last = strrchr(b->scope, '/');
    *(last != NULL ? last + 1 : b->scope) = '\0';
}

bool rp_is_last_micro_batch(const struct rp_builder *b) {
    return b->micro + 1 == b->o.micro_batches;
}

bool rp_next_micro_batch(struct rp_builder *b) {
    if (b->rc != RP_OK || rp_is_last_micro_batch(b))
        return false;
    drop_nodes(b);
    b->losses.n = b->n_asked = 0;
    b->phase = RP_FORWARD;
    b->micro++;
    set_prefix(b);
    return true;
}

static char *scoped_name(const struct rp_builder *b, const char *prefix, const char *name) {
    char *full = rp_format("%s%s%s", prefix, b->scope, name);
    for (char *p = full; (p = strchr(p, '/')) != NULL;)
        *p = '.';
    return full;
}

/* After the forward pass names are made of names that have the prefix. */
static char *full_name(const struct rp_builder *b, const char *name) {
    return scoped_name(b, b->phase == RP_FORWARD ? b->prefix : "", name);
}

uint64_t rp_product(struct rp_builder *b, size_t n, const uint64_t *factors) {
    uint64_t product = 1;
    for (size_t i = 0; i < n; i++)
        if (factors[i] == 0)
            return 0;
    for (size_t i = 0; i < n; i++) {
        if (product > RP_MAX_QUANTITY / factors[i]) {
            rp_builder_fail(b, RP_USAGE, "sizes overflow: a product passes 2^63-1");
            return 0;
        }
        product *= factors[i];
    }
    return product;
}

uint64_t rp_count(const struct rp_val *v) {
    uint64_t count = 1;
    for (size_t i = 0; i < v->n_dims; i++)
        count *= v->dim[i];
    return count;
}

json_t *rp_numbers(size_t n, const uint64_t *at) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer((json_int_t)at[i]));
    return array;
}

bool rp_same_shape(const struct rp_val *a, const struct rp_val *b) {
    return a->n_dims == b->n_dims &&
           memcmp(a->dim, b->dim, a->n_dims * sizeof a->dim[0]) == 0;
}

struct rp_val rp_shaped(enum rp_dtype dtype, size_t n_dims, const uint64_t *dims) {
    struct rp_val v = {.tensor = RP_NONE, .dtype = dtype, .n_dims = n_dims};
    assert(n_dims <= RP_MAX_DIMS);
    if (n_dims > 0)
        memcpy(v.dim, dims, n_dims * sizeof v.dim[0]);
    return v;
}

struct rp_val rp_like(struct rp_val v) {
    v.tensor = RP_NONE;
    return v;
}

/* Makes room for one more element in an array of the graph. */
#define GROW(array, n, cap)                                                                \
    do {                                                                                   \
        if ((n) == (cap)) {                                                                \
            (cap) = (cap) ? 2 * (cap) : 64;                                                \
            (array) = rp_realloc((array), (cap), sizeof *(array));                         \
        }                                                                                  \
    } while (0)

/* Takes ownership of `name`. Sets v->tensor; v's shape is that of the template. */
static void new_tensor(struct rp_builder *b, enum rp_tensor_kind kind, char *name,
                       struct rp_val *v) {
    struct rp_graph *g = b->g;
    uint64_t count = rp_product(b, v->n_dims, v->dim);
    uint64_t bytes = rp_product(b, RP_SHAPE(count, rp_dtype_bytes(v->dtype)));
    if (count == 0)
        rp_builder_fail(b, RP_USAGE, "'%s' would be empty", name);
    if (b->rc != RP_OK) {
        free(name);
        *v = RP_NO_VALUE;
        return;
    }
    if (g->n_tensors == b->cap_tensors) {
        GROW(g->tensors, g->n_tensors, b->cap_tensors);
        b->wants_grad = rp_realloc(b->wants_grad, b->cap_tensors, sizeof *b->wants_grad);
    }
    v->tensor = g->n_tensors++;
    b->wants_grad[v->tensor] = kind == RP_PARAMETER;
    struct rp_tensor *t = &g->tensors[v->tensor];
    *t = (struct rp_tensor){.name = name,
                            .bytes = bytes,
                            .kind = kind,
                            .dtype = rp_strdup(rp_dtype_word[v->dtype]),
                            .shape = rp_calloc(v->n_dims, sizeof *t->shape),
                            .n_dims = v->n_dims,
                            .producer = RP_NONE};
    memcpy(t->shape, v->dim, v->n_dims * sizeof *t->shape);
}

size_t rp_shared(struct rp_builder *b, enum rp_tensor_kind kind, enum rp_dtype dtype,
                 const char *name, size_t n_dims, const uint64_t *dims) {
    struct rp_val v = rp_shaped(dtype, n_dims, dims);
    if (b->n_asked == b->shared.n) {
        new_tensor(b, kind, scoped_name(b, "", name), &v);
        rp_push(&b->shared, v);
    }
    return b->n_asked++;
}

static struct rp_val parameter(struct rp_builder *b, enum rp_dtype dtype, const char *name,
                               size_t n_dims, const uint64_t *dims) {
    const size_t i = rp_shared(b, RP_PARAMETER, dtype, name, n_dims, dims);
    const struct rp_val v = b->shared.at[i];
    if (b->rc == RP_OK && b->micro == 0) {
        b->g->tensors[v.tensor].home = b->o.param_home;
        rp_push(&b->params, v);
    }
    return v;
}

struct rp_val rp_source(struct rp_builder *b, enum rp_tensor_kind kind, enum rp_dtype dtype,
                        const char *name, size_t n_dims, const uint64_t *dims) {
    struct rp_val v = rp_shaped(dtype, n_dims, dims);
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    if (kind == RP_PARAMETER)
        return parameter(b, dtype, name, n_dims, dims);
    new_tensor(b, kind, full_name(b, name), &v);
    return v;
}

struct rp_val rp_param(struct rp_builder *b, const char *name, size_t n_dims,
                       const uint64_t *dims) {
    return rp_source(b, RP_PARAMETER, b->o.dtype, name, n_dims, dims);
}

struct rp_val rp_view(struct rp_builder *b, struct rp_val v, size_t n_dims,
                      const uint64_t *dims) {
    struct rp_val view = rp_shaped(v.dtype, n_dims, dims);
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(v.tensor != RP_NONE && rp_count(&v) == rp_count(&view));
    view.tensor = v.tensor;
    return view;
}

static bool own_shape(const struct rp_builder *b, const struct rp_val *v) {
    const struct rp_tensor *t = &b->g->tensors[v->tensor];
    return t->n_dims == v->n_dims &&
           memcmp(t->shape, v->dim, v->n_dims * sizeof v->dim[0]) == 0;
}

/* Sets attrs.views: one entry an input, null where the tensor is read in its own shape. */
static void note_views(const struct rp_builder *b, json_t *attrs, size_t n_in,
                       const struct rp_val *in) {
    bool any = false;
    json_t *views = json_array();
    for (size_t i = 0; i < n_in; i++) {
        if (own_shape(b, &in[i])) {
            json_array_append_new(views, json_null());
            continue;
        }
        any = true;
        json_array_append_new(views, rp_numbers(in[i].n_dims, in[i].dim));
    }
    if (any)
        json_object_set(attrs, "views", views);
    else
        json_object_del(attrs, "views");
    json_decref(views);
}

static enum rp_tensor_kind output_kind(const struct rp_builder *b,
                                       const struct rp_spec *spec) {
    if (spec->out_kind != RP_PARAMETER)
        return spec->out_kind;
    return b->phase == RP_BACKWARD ? RP_GRADIENT : RP_ACTIVATION;
}

static uint32_t *tensors_of(size_t n, const struct rp_val *v) {
    uint32_t *ids = rp_calloc(n, sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = v[i].tensor;
    return ids;
}

static void note_node(struct rp_builder *b, size_t n_in, const struct rp_val *in,
                      size_t n_out, const struct rp_val *out) {
    struct rp_node node = {.op = b->g->n_ops - 1,
                           .n_in = (uint32_t)n_in,
                           .n_out = (uint32_t)n_out,
                           .in = rp_calloc(n_in, sizeof *in),
                           .out = rp_calloc(n_out, sizeof *out)};
    for (size_t i = 0; i < n_in; i++)
        node.in[i] = in[i];
    for (size_t k = 0; k < n_out; k++)
        node.out[k] = out[k];
    for (size_t i = 0; i < n_in; i++)
        for (size_t k = 0; k < n_out; k++)
            b->wants_grad[out[k].tensor] |= b->wants_grad[in[i].tensor];
    rp_push(&b->nodes, node);
}

void rp_emit(struct rp_builder *b, struct rp_spec spec, size_t n_in,
             const struct rp_val *in, size_t n_out, struct rp_val *out) {
    struct rp_graph *g = b->g;
    json_t *attrs = spec.attrs != NULL ? spec.attrs : json_object();
    char *name = full_name(b, spec.name);
    for (size_t k = 0; k < n_out; k++)
        if (b->rc == RP_OK)
            new_tensor(b, output_kind(b, &spec),
                       k == 0 ? rp_strdup(name)
                              : rp_format("%s.%s", name, spec.out_names[k - 1]),
                       &out[k]);
    if (b->rc == RP_OK && !rp_add(&b->flops, spec.flops))
        rp_builder_fail(b, RP_USAGE, "sizes overflow: the sum of flops passes 2^63-1");
    if (g->n_ops == MAX_OPS)
        rp_builder_fail(b, RP_USAGE, "more than %d ops", MAX_OPS);
    if (b->rc != RP_OK) {
        for (size_t k = 0; k < n_out; k++)
            out[k] = RP_NO_VALUE;
        json_decref(attrs);
        free(name);
        return;
    }
    for (size_t i = 0; i < n_in; i++)
        assert(in[i].tensor != RP_NONE);
    note_views(b, attrs, n_in, in);
    json_object_set_new(attrs, "flops", json_integer((json_int_t)spec.flops));
    GROW(g->ops, g->n_ops, b->cap_ops);
    g->ops[g->n_ops++] = (struct rp_op){.name = name,
                                        .kind = rp_strdup(spec.kind),
                                        .inputs = tensors_of(n_in, in),
                                        .outputs = tensors_of(n_out, out),
                                        .n_inputs = (uint32_t)n_in,
                                        .n_outputs = (uint32_t)n_out,
                                        .updates = tensors_of(spec.n_updates, spec.updates),
                                        .n_updates = (uint32_t)spec.n_updates,
                                        .phase = b->phase,
                                        .recompute = !spec.once,
                                        .attrs = attrs};
    if (b->phase == RP_FORWARD)
        note_node(b, n_in, in, n_out, out);
}

struct rp_val rp_emit1(struct rp_builder *b, struct rp_spec spec, struct rp_val out,
                       size_t n_in, const struct rp_val *in) {
    rp_emit(b, spec, n_in, in, 1, &out);
    return out;
}

uint64_t rp_width(const struct rp_builder *b, uint64_t channels) {
    if (!b->o.tiny)
        return channels;
    return channels < 64 ? 4 : channels / 16;
}

uint64_t rp_depth(const struct rp_builder *b, uint64_t blocks) {
    return b->o.tiny && blocks > 2 ? 2 : blocks;
}

void rp_keep(struct rp_builder *b, struct rp_val v) {
    if (b->rc != RP_OK)
        return;
    GROW(b->g->keep, b->g->n_keep, b->cap_keep);
    b->g->keep[b->g->n_keep++] = v.tensor;
}
