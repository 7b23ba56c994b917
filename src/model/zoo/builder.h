/* build: a training step under construction. Families call rp_nn_* (layers.h), which call
 * rp_emit; rp_differentiate then appends the backward pass.
 *
 * Errors stick: after the first, b->rc is not RP_OK, every call returns at once and values
 * are RP_NO_VALUE, so families test nothing.
 *
 * Ops are pure: no op changes a tensor, each tensor has one producer. A value (rp_val) is a
 * tensor seen in some shape: reshaping (rp_view) makes another value of the same tensor and
 * no op. An op that reads a tensor in another shape than the tensor's own says so in its
 * attribute "views", see docs/ops.md.
 *
 * Names: an op's name is the open scopes and its own name, joined by dots; its first output
 * has the same name, the others the op's name, a dot and their own.
 */
#ifndef RP_MODEL_ZOO_BUILDER_H
#define RP_MODEL_ZOO_BUILDER_H

#include <jansson.h>

#include "model/graph.h"
#include "model/zoo/networks.h"

#define RP_MAX_DIMS 6

struct rp_val {
    uint32_t tensor; /* RP_NONE: no value, or, as a template for rp_emit, not made yet */
    enum rp_dtype dtype;
    size_t n_dims;
    uint64_t dim[RP_MAX_DIMS];
};
#define RP_NO_VALUE ((struct rp_val){.tensor = RP_NONE})

/* "n_dims, dims" of a call: RP_SHAPE(n, c, h, w). */
#define RP_SHAPE(...)                                                                      \
    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]) {       \
        __VA_ARGS__                                                                        \
    }

/* A forward op and how it saw its tensors, for its reverse-mode rule. */
struct rp_node {
    uint32_t op;
    uint32_t n_in, n_out;
    struct rp_val *in, *out;
};

struct rp_builder {
    struct rp_graph *g;
    const struct rp_zoo_entry *row;
    struct rp_zoo_options o; /* defaults filled in */
    struct rp_err *err;
    rp_rc rc;
    enum rp_phase phase; /* of the ops being emitted */
    char *scope;         /* "layer1.0.", "" at the top */
    uint32_t cap_tensors, cap_ops, cap_keep;
    uint64_t n_seeds; /* dropout ops so far */
    uint64_t flops;   /* of all ops so far */
    bool *needs;      /* per tensor: a gradient is wanted */
    struct {
        struct rp_node *at;
        size_t n, cap;
    } nodes;
    struct {
        struct rp_val *at;
        size_t n, cap;
    } params, losses;
    uint32_t loss; /* the sum of the losses, from rp_differentiate */
};

/* Records "zoo: NETWORK: ..." unless there is an error already. */
void rp_builder_fail(struct rp_builder *b, rp_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Names between these calls begin with the text and a dot. Scopes nest. */
void rp_scope(struct rp_builder *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void rp_end(struct rp_builder *b);

/* Products that cannot wrap: past 63 bits is the build's error and gives 0. */
uint64_t rp_product(struct rp_builder *b, size_t n, const uint64_t *factors);
uint64_t rp_count(const struct rp_val *v); /* elements; fits for every value that exists */
bool rp_same_shape(const struct rp_val *a, const struct rp_val *b);

json_t *rp_numbers(size_t n, const uint64_t *at); /* for attrs */

/* Sources. `name` stands after the open scopes. */
struct rp_val rp_source(struct rp_builder *b, enum rp_tensor_kind kind, enum rp_dtype dtype,
                        const char *name, size_t n_dims, const uint64_t *dims);
struct rp_val rp_param(struct rp_builder *b, const char *name, size_t n_dims,
                       const uint64_t *dims); /* in the network's dtype */

/* The same tensor in another shape with as many elements. */
struct rp_val rp_view(struct rp_builder *b, struct rp_val v, size_t n_dims,
                      const uint64_t *dims);

/* Templates for outputs: a shape without a tensor. */
struct rp_val rp_shaped(enum rp_dtype dtype, size_t n_dims, const uint64_t *dims);
struct rp_val rp_like(struct rp_val v);

/* The build fails when the flops of all ops pass 63 bits, so readers may add them up. */
struct rp_spec {
    const char *kind, *name;
    json_t *attrs;                /* rp_emit takes it over; NULL: none */
    uint64_t flops;               /* becomes attrs.flops */
    bool once;                    /* recompute: false */
    enum rp_tensor_kind out_kind; /* RP_PARAMETER (0): activation, gradient in backward */
    const char *const *out_names; /* of outputs 1..n_out-1; NULL if there is one */
};

/* Appends an op and its outputs; out[] holds templates and receives the values. Nothing
 * happens if there was an error; an input that is RP_NO_VALUE is a bug. */
void rp_emit(struct rp_builder *b, struct rp_spec spec, size_t n_in,
             const struct rp_val *in, size_t n_out, struct rp_val *out);

/* The same with one output, returned. RP_IN(x, w): "n_in, in". */
struct rp_val rp_emit1(struct rp_builder *b, struct rp_spec spec, struct rp_val out,
                       size_t n_in, const struct rp_val *in);
#define RP_IN(...)                                                                         \
    sizeof((const struct rp_val[]){__VA_ARGS__}) / sizeof(struct rp_val),                  \
        (const struct rp_val[]) {                                                          \
        __VA_ARGS__                                                                        \
    }

/* A width of the network; a sixteenth of it, at least 4, with --tiny. */
uint64_t rp_width(const struct rp_builder *b, uint64_t channels);

/* Repetitions of a block; at most 2 with --tiny. */
uint64_t rp_depth(const struct rp_builder *b, uint64_t blocks);

void rp_keep(struct rp_builder *b, struct rp_val v);

/* backward.c: adds up the losses, then appends the reverse pass of everything that leads
 * from a parameter to a loss; loss and gradients go into keep. */
void rp_differentiate(struct rp_builder *b);

#endif
