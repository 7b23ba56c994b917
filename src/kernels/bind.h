/* bind: what the binders share, private to src/kernels. A binder fills an op's struct
 * rp_kargs from its operands and attributes, and fails the binding if they do not fit.
 *
 * After a failure (b->rc is not RP_OK) the functions that read values return 1, so binders
 * need not check each call. Whatever a binder accepts is safe to run: no kernel reads or
 * writes outside its operands, whatever numbers the tensors hold.
 *
 * Not thread-safe: one binding, one thread. Different bindings may be used by different
 * threads.
 */
#ifndef RP_KERNELS_BIND_H
#define RP_KERNELS_BIND_H

#include "kernels/kernel.h"
#include "kernels/op_table.h"

enum { RP_BIND_DIMS = 8 };
#define RP_BIND_MAX_COUNT ((int64_t)1 << 62) /* elements of an operand */

/* An operand in the shape in which the op reads it (attrs.views). */
struct rp_operand {
    size_t n_dims;
    int64_t dim[RP_BIND_DIMS];
    int64_t count;
};

struct rp_binding {
    const struct rp_graph *g;
    const struct rp_op *op; /* what it updates is in its inputs and in its outputs */
    uint32_t index;
    const char *file;
    const struct rp_op_kind *kind;
    struct rp_operand *in, *out;
    struct rp_kernel *k;
    struct rp_err *err;
    rp_rc rc;
};

/* Sets b->rc to RP_INPUT and records the message, unless the binding has failed already. */
void rp_bind_fail(struct rp_binding *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
const struct rp_operand *rp_bind_operand(const struct rp_binding *b, int slot);

/* Fails if the operand does not have this many elements. */
void rp_bind_count(struct rp_binding *b, int slot, int64_t count);
void rp_bind_same(struct rp_binding *b, int slot, int other); /* as many as `other` has */

/* Required attributes. Integers are from 0 to 2^40. */
int64_t rp_bind_int(struct rp_binding *b, const char *key);
void rp_bind_ints(struct rp_binding *b, const char *key, size_t n, int64_t *to);
double rp_bind_real(struct rp_binding *b, const char *key);
bool rp_bind_bool(struct rp_binding *b, const char *key);

/* The optional attribute "tf32" of convolutions and products; false for other types than
 * f32. */
bool rp_bind_tf32(struct rp_binding *b);

/* A product of counts; fails past 2^62. */
int64_t rp_bind_product(struct rp_binding *b, int64_t x, int64_t y);

/* The attribute "axis", which must be a dimension of the operand. */
size_t rp_bind_axis(struct rp_binding *b, int slot);
/* Sets outer, mid and inner: the products of the operand's dimensions before `axis`, of
 * n_mid dimensions from there on, and of the rest. */
void rp_bind_groups(struct rp_binding *b, int slot, size_t axis, size_t n_mid);

/* bind_window.c */
void rp_bind_conv(struct rp_binding *b);
void rp_bind_pool(struct rp_binding *b);
void rp_bind_pool_index(struct rp_binding *b);
void rp_bind_avg_pool(struct rp_binding *b);
void rp_bind_adaptive(struct rp_binding *b);
void rp_bind_unpool(struct rp_binding *b);

/* bind_norm_seq.c */
void rp_bind_batch_norm(struct rp_binding *b);
void rp_bind_batch_norm_grad(struct rp_binding *b);
void rp_bind_update_stats(struct rp_binding *b);
void rp_bind_row_norm(struct rp_binding *b);
void rp_bind_weight_norm(struct rp_binding *b);
void rp_bind_softmax(struct rp_binding *b);
void rp_bind_loss(struct rp_binding *b);
void rp_bind_rotary(struct rp_binding *b);
void rp_bind_lstm(struct rp_binding *b);

/* bind_optimizers.c */
void rp_bind_sgd(struct rp_binding *b);
void rp_bind_momentum(struct rp_binding *b);
void rp_bind_adam(struct rp_binding *b); /* adamw too */
void rp_bind_count_step(struct rp_binding *b);
void rp_bind_accumulate(struct rp_binding *b);

/* bind_elementwise.c */
void rp_bind_elements(struct rp_binding *b);
void rp_bind_scale(struct rp_binding *b);
void rp_bind_dropout(struct rp_binding *b);
void rp_bind_broadcast(struct rp_binding *b);
void rp_bind_bias_grad(struct rp_binding *b);
void rp_bind_matmul(struct rp_binding *b);
void rp_bind_bmm(struct rp_binding *b);
void rp_bind_concat(struct rp_binding *b);
void rp_bind_split(struct rp_binding *b);
void rp_bind_slice(struct rp_binding *b);
void rp_bind_repeat(struct rp_binding *b);
void rp_bind_transpose(struct rp_binding *b);
void rp_bind_gather(struct rp_binding *b);

#endif
