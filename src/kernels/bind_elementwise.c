/* Binders of elementwise kinds, of products, and of kinds that move data. */
#include <inttypes.h>
#include <jansson.h>

#include "base/mem.h"
#include "kernels/bind.h"

#define OUT0 (RP_OUT + 0)

void rp_bind_elements(struct rp_binding *b) {
    b->k->args.count = b->out[0].count;
    for (uint32_t i = 0; i < b->op->n_inputs; i++)
        rp_bind_same(b, (int)i, OUT0);
}

void rp_bind_scale(struct rp_binding *b) {
    rp_bind_elements(b);
    b->k->args.alpha = rp_bind_real(b, "factor");
}

void rp_bind_dropout(struct rp_binding *b) {
    const double p = rp_bind_real(b, "p");
    rp_bind_elements(b);
    if (!(p >= 0 && p < 1))
        rp_bind_fail(b, "attribute \"p\" is not in [0, 1)");
    b->k->args.p = p;
    const json_t *seed = json_object_get(b->op->attrs, "seed"); /* any 63 bits */
    if (!json_is_integer(seed) || json_integer_value(seed) < 0)
        rp_bind_fail(b, "attribute \"seed\" is missing or not an integer from 0 up");
    b->k->args.seed = (uint64_t)json_integer_value(seed);
}

/* v has the dimensions of x, beginning with the axis. */
void rp_bind_broadcast(struct rp_binding *b) {
    const struct rp_operand *x = &b->in[0], *v = &b->in[1];
    const size_t axis = rp_bind_axis(b, 0);
    bool fits = axis + v->n_dims <= x->n_dims;
    for (size_t i = 0; fits && i < v->n_dims; i++)
        fits = v->dim[i] == x->dim[axis + i];
    if (!fits)
        rp_bind_fail(b, "input 1 does not have the dimensions of input 0 from the axis on");
    rp_bind_same(b, OUT0, 0);
    rp_bind_groups(b, 0, axis, v->n_dims);
}

void rp_bind_bias_grad(struct rp_binding *b) {
    rp_bind_groups(b, 0, rp_bind_axis(b, 0), 1);
    rp_bind_count(b, OUT0, b->k->args.mid);
}

void rp_bind_matmul(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    a->batch = rp_bind_int(b, "batch");
    a->m = rp_bind_int(b, "m");
    a->n = rp_bind_int(b, "n");
    a->k = rp_bind_int(b, "k");
    a->transpose_a = rp_bind_bool(b, "transpose_a");
    a->transpose_b = rp_bind_bool(b, "transpose_b");
    a->alpha = rp_bind_real(b, "alpha");
    a->tf32 = rp_bind_tf32(b);
    const int64_t one_b = rp_bind_product(b, a->k, a->n);
    a->single_b = b->in[1].count == one_b;
    rp_bind_count(b, 0, rp_bind_product(b, a->batch, rp_bind_product(b, a->m, a->k)));
    rp_bind_count(b, 1, a->single_b ? one_b : rp_bind_product(b, a->batch, one_b));
    rp_bind_count(b, OUT0, rp_bind_product(b, a->batch, rp_bind_product(b, a->m, a->n)));
    if (a->n_in > 2)
        rp_bind_count(b, 2, a->n);
}

/* Fails if the strides address an element outside the operand. */
static void check_strides(struct rp_binding *b, int slot, int64_t rows, int64_t cols,
                          const int64_t stride[5]) {
    const int64_t *batches = b->k->args.batches, count = rp_bind_operand(b, slot)->count;
    const int64_t size[5] = {batches[0], batches[1], batches[2], rows, cols};
    int64_t last = 0;
    for (int d = 0; d < 5; d++) {
        if (size[d] == 0 || (stride[d] != 0 && size[d] - 1 > count / stride[d])) {
            rp_bind_fail(b, "the strides pass the end of an operand");
            return;
        }
        last += (size[d] - 1) * stride[d];
    }
    if (last >= count)
        rp_bind_fail(b, "the strides pass the end of an operand");
}

/* c must have as many elements as its strides address, so that every element is written. It
 * is not checked that none is written twice. */
void rp_bind_bmm(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    rp_bind_ints(b, "batch", 3, a->batches);
    rp_bind_ints(b, "strides_a", 5, a->stride_a);
    rp_bind_ints(b, "strides_b", 5, a->stride_b);
    rp_bind_ints(b, "strides_c", 5, a->stride_c);
    a->m = rp_bind_int(b, "m");
    a->n = rp_bind_int(b, "n");
    a->k = rp_bind_int(b, "k");
    a->alpha = rp_bind_real(b, "alpha");
    a->tf32 = rp_bind_tf32(b);
    int64_t written = rp_bind_product(b, a->m, a->n);
    for (int d = 0; d < 3; d++)
        if (a->stride_c[d] != 0)
            written = rp_bind_product(b, written, a->batches[d]);
    rp_bind_count(b, OUT0, written);
    check_strides(b, 0, a->m, a->k, a->stride_a);
    check_strides(b, 1, a->k, a->n, a->stride_b);
    check_strides(b, OUT0, a->m, a->n, a->stride_c);
}

/* ---- moving data ---- */

/* Reads the sizes of n operands along the axis. Their sum must be the whole's size. */
static void bind_parts(struct rp_binding *b, int whole, int first, uint32_t n) {
    const size_t axis = rp_bind_axis(b, whole);
    struct rp_kargs *a = &b->k->args;
    int64_t sum = 0;
    rp_bind_groups(b, whole, axis, 1);
    a->parts = b->k->parts = rp_calloc(n, sizeof *b->k->parts);
    for (uint32_t i = 0; i < n && b->rc == RP_OK; i++) {
        const struct rp_operand *part = first == 0 ? &b->in[i] : &b->out[i];
        const int64_t size = axis < part->n_dims ? part->dim[axis] : 0;
        if (rp_bind_product(b, size, a->outer * a->inner) != part->count)
            rp_bind_fail(b, "part %" PRIu32 " differs outside the axis", i);
        b->k->parts[i] = size;
        sum += size;
    }
    if (sum != a->mid)
        rp_bind_fail(b, "the parts' sizes along the axis do not add up");
}

void rp_bind_concat(struct rp_binding *b) {
    bind_parts(b, OUT0, 0, b->op->n_inputs);
}

void rp_bind_split(struct rp_binding *b) {
    bind_parts(b, 0, OUT0, b->op->n_outputs);
}

/* kind->x is the whole, kind->y the slice. */
void rp_bind_slice(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const size_t axis = rp_bind_axis(b, b->kind->x);
    const struct rp_operand *part = rp_bind_operand(b, b->kind->y);
    rp_bind_groups(b, b->kind->x, axis, 1);
    a->start = rp_bind_int(b, "start");
    a->k = axis < part->n_dims ? part->dim[axis] : 0;
    if (a->start > a->mid || a->k > a->mid - a->start ||
        part->count != a->outer * a->k * a->inner)
        rp_bind_fail(b, "the slice is not within its input");
}

void rp_bind_repeat(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    a->count = b->in[0].count;
    a->outer = b->out[0].n_dims > 0 ? b->out[0].dim[0] : 1;
    rp_bind_count(b, OUT0, rp_bind_product(b, a->outer, a->count));
}

void rp_bind_transpose(struct rp_binding *b) {
    const struct rp_operand *x = &b->in[0], *y = &b->out[0];
    struct rp_kargs *a = &b->k->args;
    if (x->n_dims < 2 || y->n_dims != x->n_dims ||
        y->dim[x->n_dims - 2] != x->dim[x->n_dims - 1] || y->count != x->count) {
        rp_bind_fail(b, "the output is not the input with its last two dimensions "
                        "exchanged");
        return;
    }
    a->m = x->dim[x->n_dims - 2];
    a->n = x->dim[x->n_dims - 1];
    a->batch = x->count / a->m / a->n;
}

/* kind->x is the table, kind->y the rows for the ids, which are input 1. */
void rp_bind_gather(struct rp_binding *b) {
    const struct rp_operand *table = rp_bind_operand(b, b->kind->x);
    struct rp_kargs *a = &b->k->args;
    if (table->n_dims != 2) {
        rp_bind_fail(b, "the table does not have two dimensions");
        return;
    }
    a->m = table->dim[0];
    a->n = table->dim[1];
    a->count = b->in[1].count;
    rp_bind_count(b, b->kind->y, rp_bind_product(b, a->count, a->n));
}
