/* builder: a training step under construction. Families of networks call rp_nn_*
 * (layers.h), which call rp_emit. rp_differentiate (backward.h) then appends the backward
 * pass and, with an optimizer, the updates. Both passes are built once for every
 * micro-batch.
 *
 * Errors stick. After the first one b->rc is not RP_OK, every call returns at once, and
 * values are RP_NO_VALUE. So families need not check anything.
 *
 * Ops are pure: no op changes a tensor but what it updates, and each tensor has one
 * producer. A value (rp_val) is a tensor seen in some shape. Reshaping it (rp_view) makes
 * another value of the same tensor, without an op. An op that reads a tensor in another
 * shape than its own says so in its attribute "views" (docs/ops.md).
 *
 * Names: an op's name is the open scopes and its own name, joined by dots. Its first output
 * has the same name. The others have the op's name, a dot and a name of their own. What one
 * of several micro-batches makes, or reads alone, has a name that begins with it
 * ("micro1.").
 *
 * Not thread-safe: one builder, one thread. Different builders may be used by different
 * threads.
 */
#ifndef RP_MODEL_ZOO_BUILDER_H
#define RP_MODEL_ZOO_BUILDER_H

#include <jansson.h>

#include "base/mem.h"
#include "model/graph.h"
#include "model/zoo/registry.h"

#define RP_MAX_DIMS 6

struct rp_val {
    uint32_t tensor; /* RP_NONE: no value, or, in a template for rp_emit, not made yet */
    enum rp_dtype dtype;
    size_t n_dims;
    uint64_t dim[RP_MAX_DIMS];
};
#define RP_NO_VALUE ((struct rp_val){.tensor = RP_NONE})

/* The arguments "n_dims, dims" of a call: RP_SHAPE(n, c, h, w). */
#define RP_SHAPE(...)                                                                      \
    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]) {       \
        __VA_ARGS__                                                                        \
    }

/* A forward op with the shapes in which it saw its tensors, for its reverse-mode rule. */
struct rp_node {
    uint32_t op;
    uint32_t n_in, n_out;
    struct rp_val *in, *out;
};

struct rp_builder {
    struct rp_graph *g;
    const struct rp_zoo_entry *entry;
    struct rp_zoo_options o; /* defaults filled in */
    struct rp_err *err;
    rp_rc rc;
    enum rp_phase phase; /* of the ops being emitted */
    uint64_t micro;      /* the micro-batch that is being built, from 0 */
    char prefix[32];     /* "micro1.", or "" if there is only one */
    char *scope;         /* "layer1.0/", "" at the top */
    uint32_t cap_tensors, cap_ops, cap_keep;
    uint64_t n_seeds; /* dropout ops so far */
    uint64_t flops;   /* of all ops so far */
    bool *wants_grad; /* per tensor: is a gradient wanted? */
    RP_VEC(struct rp_node) nodes;
    RP_VEC(struct rp_val) params, losses;
    RP_VEC(struct rp_val) shared; /* by micro-batches; see rp_shared */
    size_t n_asked;               /* how many of these the micro-batch has asked for */
    /* Per tensor, of parameters: the sum of their gradients in the micro-batches so far.
     * NULL before the first backward pass. */
    struct rp_val *param_grad;
    struct rp_val step; /* the optimizer's count of steps, if it has one */
    struct rp_val loss; /* the sum of the losses so far; set by rp_differentiate */
};

/* An empty forward pass into `g`, which must be zeroed. `b` borrows g, entry and err; the
 * caller ends it with rp_builder_fini, which leaves the graph alone. */
void rp_builder_init(struct rp_builder *b, struct rp_graph *g,
                     const struct rp_zoo_entry *entry, const struct rp_zoo_options *o,
                     struct rp_err *err);
void rp_builder_fini(struct rp_builder *b);

/* Records the error "NETWORK: ..." unless there is one already. */
void rp_builder_fail(struct rp_builder *b, rp_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Names between these two calls begin with the text and a dot. Scopes nest. */
void rp_scope_begin(struct rp_builder *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void rp_scope_end(struct rp_builder *b);

/* A product that cannot wrap: if it passes 63 bits, it is 0 and the build has failed. */
uint64_t rp_product(struct rp_builder *b, size_t n, const uint64_t *factors);
uint64_t rp_count(const struct rp_val *v); /* elements; they fit in 63 bits */
bool rp_same_shape(const struct rp_val *a, const struct rp_val *b);

json_t *rp_numbers(size_t n, const uint64_t *at); /* for attrs */

uint64_t rp_dtype_bytes(enum rp_dtype dtype); /* of one element */

/* Goes on to the forward pass of the next micro-batch; false after the last. */
bool rp_next_micro_batch(struct rp_builder *b);
bool rp_is_last_micro_batch(const struct rp_builder *b);

/* Sources. `name` is appended to the open scopes. All micro-batches share the parameters.
 */
struct rp_val rp_source(struct rp_builder *b, enum rp_tensor_kind kind, enum rp_dtype dtype,
                        const char *name, size_t n_dims, const uint64_t *dims);
struct rp_val rp_param(struct rp_builder *b, const char *name, size_t n_dims,
                       const uint64_t *dims); /* in the network's dtype */

/* The place in b->shared of a value that goes from micro-batch to micro-batch. The first
 * one makes it as a source. Later ones, which must ask in the same order, find it as the
 * one before left it. */
size_t rp_shared(struct rp_builder *b, enum rp_tensor_kind kind, enum rp_dtype dtype,
                 const char *name, size_t n_dims, const uint64_t *dims);

/* The same tensor in another shape with the same number of elements. */
struct rp_val rp_view(struct rp_builder *b, struct rp_val v, size_t n_dims,
                      const uint64_t *dims);

/* Templates for outputs: a shape without a tensor. */
struct rp_val rp_shaped(enum rp_dtype dtype, size_t n_dims, const uint64_t *dims);
struct rp_val rp_like(struct rp_val v);

/* What an op is besides its inputs and outputs. The build fails if the flops of all ops
 * together pass 63 bits, so readers may add them up. */
struct rp_spec {
    const char *kind, *name;
    json_t *attrs;                /* rp_emit takes ownership; NULL: none */
    uint64_t flops;               /* becomes attrs.flops */
    bool once;                    /* recompute: false */
    enum rp_tensor_kind out_kind; /* 0: activation, or gradient in the backward phase */
    const char *const *out_names; /* of outputs 1..n_out-1; NULL if there is one */
    const struct rp_val *updates; /* sources that the op replaces in place */
    size_t n_updates;
};

/* Appends an op and its outputs. out[] holds templates and receives the values. After an
 * error nothing is appended. An input that is RP_NO_VALUE without an error is a bug. */
void rp_emit(struct rp_builder *b, struct rp_spec spec, size_t n_in,
             const struct rp_val *in, size_t n_out, struct rp_val *out);

/* The same with one output, which is returned. RP_IN(x, w) is "n_in, in". */
struct rp_val rp_emit1(struct rp_builder *b, struct rp_spec spec, struct rp_val out,
                       size_t n_in, const struct rp_val *in);
#define RP_IN(...)                                                                         \
    sizeof((const struct rp_val[]){__VA_ARGS__}) / sizeof(struct rp_val),                  \
        (const struct rp_val[]) {                                                          \
        __VA_ARGS__                                                                        \
    }

/* A number of channels. With --tiny a sixteenth of it, at least 4. */
uint64_t rp_width(const struct rp_builder *b, uint64_t channels);

/* A number of repeated blocks. With --tiny at most 2. */
uint64_t rp_depth(const struct rp_builder *b, uint64_t blocks);

/* Puts v into the graph's `keep`. */
void rp_keep(struct rp_builder *b, struct rp_val v);

#endif
