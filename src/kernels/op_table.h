/* op_table: the op kinds of docs/ops.md, with the kernel that computes each and the binder
 * that checks its operands. Read-only data: any thread may read it.
 */
#ifndef RP_KERNELS_OP_TABLE_H
#define RP_KERNELS_OP_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct rp_binding;

/* Operands are numbered by slots: i is input i, RP_OUT + i is output i. */
#define RP_OUT 16

struct rp_op_kind {
    const char *kind, *kernel; /* kernel: NAME in ref.h; several kinds may share one */
    /* The operands' types, one letter each: r the network's type, s f32 (statistics and
     * parameters of normalizations), g either of them, i i32. Operands after | are
     * optional: all of them or none. * repeats the letter before it. What an op updates
     * comes after its inputs, and again after its outputs. */
    const char *in, *out;
    void (*bind)(struct rp_binding *b);
    /* For windows, slices and gathers: the slots of the larger side, of the smaller side,
     * and of a convolution's weight. */
    int8_t x, y, weight;
};

extern const struct rp_op_kind rp_op_kinds[];
extern const size_t rp_n_op_kinds;

/* NULL if there is no kernel for the kind. */
const struct rp_op_kind *rp_op_kind_find(const char *kind);

#endif
