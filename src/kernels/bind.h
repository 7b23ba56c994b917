/* bind: what the binders share. A binder fills struct rp_kargs of one kind from operands
 * and attributes, and fails the binding where they do not fit; private to src/kernels.
 *
 * After a failure (b->rc is not RP_OK) the readers give 1, so binders need not look. What a
 * binder lets through is safe to run: no kernel reads or writes beyond its operands,
 * whatever numbers the tensors hold.
 */
#ifndef RP_KERNELS_BIND_H
#define RP_KERNELS_BIND_H

#include "kernels/kernel.h"

enum { RP_BIND_DIMS = 8 };

/* An operand as the op sees it: attrs.views applied. */
struct rp_operand {
    size_t n_dims;
    int64_t dim[RP_BIND_DIMS];
    int64_t count;
};

struct rp_binding {
    const struct rp_graph *g;
    const struct rp_op *op;
    uint32_t index;
    const char *file;
    const struct rp_kind *kind;
    struct rp_operand *in, *out;
    struct rp_kernel *k;
    struct rp_err *err;
    rp_rc rc;
};

struct rp_kind {
    const char *kind, *kernel;
    /* Dtypes of the operands: r the network's, s of statistics, i i32; those behind | may
     * be left out together; * repeats the one before it. */
    const char *in, *out;
    void (*bind)(struct rp_binding *b);
    /* Of windows: the operands that are x and y of the window, and its weight. */
    int8_t x, y, weight;
};
#define RP_OUT 16 /* RP_OUT + i: output i; i alone: input i */

void rp_bind_fail(struct rp_binding *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
const struct rp_operand *rp_bind_operand(const struct rp_binding *b, int slot);

/* The operand has this many elements. */
void rp_bind_count(struct rp_binding *b, int slot, int64_t count);
void rp_bind_same(struct rp_binding *b, int slot, int other); /* equal counts */

/* Attributes. Integers are 0 .. 2^40. */
int64_t rp_bind_int(struct rp_binding *b, const char *key);
void rp_bind_ints(struct rp_binding *b, const char *key, size_t n, int64_t *to);
double rp_bind_real(struct rp_binding *b, const char *key);
bool rp_bind_bool(struct rp_binding *b, const char *key);

/* A product of counts; fails past 2^62. */
int64_t rp_bind_product(struct rp_binding *b, int64_t x, int64_t y);

/* The operand's dimensions before, at and behind attribute "axis" (below n_dims). */
size_t rp_bind_axis(struct rp_binding *b, int slot);
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

/* op_table.c; by name, NULL if there is no kernel for it. */
extern const struct rp_kind rp_kinds[];
extern const size_t rp_n_kinds;
const struct rp_kind *rp_kind_find(const char *kind);

#endif
