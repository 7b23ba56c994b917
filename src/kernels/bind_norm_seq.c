/* Binders of normalizations, softmax, losses, and kinds of sequence models. */
#include "kernels/bind.h"

#define OUT0 (RP_OUT + 0)

/* The slots from `first` to before `end` have this many elements each. */
static void check_counts(struct rp_binding *b, int first, int end, int64_t count) {
    for (int slot = first; slot < end; slot++)
        rp_bind_count(b, slot, count);
}

/* The channels are dimension 1 of x. */
static void read_channels(struct rp_binding *b, int x) {
    if (rp_bind_operand(b, x)->n_dims < 2)
        rp_bind_fail(b, "x has no channels");
    rp_bind_groups(b, x, 1, 1);
    b->k->args.affine = rp_bind_bool(b, "affine");
}

void rp_bind_batch_norm(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    read_channels(b, 0);
    a->eps = rp_bind_real(b, "eps");
    if ((a->affine != 0) != (a->n_in == 3))
        rp_bind_fail(b, "gamma and beta must be present if and only if \"affine\" is true");
    check_counts(b, 1, a->n_in, a->mid);
    rp_bind_same(b, OUT0, 0);
    check_counts(b, RP_OUT + 1, RP_OUT + 3, a->mid);
}

void rp_bind_batch_norm_grad(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    read_channels(b, 1);
    if ((a->affine != 0) != (a->n_in == 5) || (a->affine != 0) != (a->n_out == 3))
        rp_bind_fail(b, "gamma and its gradient must be present if and only if \"affine\" "
                        "is true");
    rp_bind_same(b, 0, 1);
    rp_bind_same(b, OUT0, 1);
    check_counts(b, 2, a->n_in, a->mid);
    check_counts(b, RP_OUT + 1, RP_OUT + a->n_out, a->mid);
}

void rp_bind_update_stats(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    a->mid = b->in[0].count;
    a->count = rp_bind_int(b, "count");
    a->eps = rp_bind_real(b, "eps");
    a->momentum = rp_bind_real(b, "momentum");
    check_counts(b, 1, 4, a->mid);
    check_counts(b, RP_OUT, RP_OUT + 2, a->mid);
}

/* layer_norm (x, weight, bias) and its gradient (gy, x, mean, invstd, weight); rms_norm
 * (x, weight) and its gradient (gy, x, invrms, weight). Outputs after the first are
 * statistics in the forward kinds, and gradients of parameters in the gradients. */
void rp_bind_row_norm(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const bool grad = a->n_in > 3;
    const struct rp_operand *x = &b->in[grad];
    if (x->n_dims < 1) {
        rp_bind_fail(b, "x has no dimension");
        return;
    }
    a->inner = x->dim[x->n_dims - 1];
    a->outer = x->count / a->inner;
    a->eps = rp_bind_real(b, "eps");
    rp_bind_same(b, OUT0, grad);
    if (grad) {
        rp_bind_same(b, 0, 1);
        check_counts(b, 2, a->n_in - 1, a->outer);
        check_counts(b, a->n_in - 1, a->n_in, a->inner);
    } else {
        check_counts(b, 1, a->n_in, a->inner);
    }
    check_counts(b, RP_OUT + 1, RP_OUT + a->n_out, grad ? a->inner : a->outer);
}

/* (v, g) -> w; (gw, v, g) -> gv, gg */
void rp_bind_weight_norm(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    a->count = b->in[0].count;
    rp_bind_same(b, OUT0, 0);
    if (a->n_in == 3) {
        rp_bind_same(b, 1, 0);
        rp_bind_count(b, RP_OUT + 1, 1);
    }
    rp_bind_count(b, a->n_in - 1, 1);
}

void rp_bind_softmax(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const struct rp_operand *x = &b->in[0];
    const size_t axis = rp_bind_axis(b, 0);
    rp_bind_groups(b, 0, axis, 1);
    a->causal = rp_bind_bool(b, "causal");
    a->m = 1;
    if (a->causal && (axis < 1 || axis + 1 != x->n_dims))
        rp_bind_fail(b, "a causal softmax is over the last of two or more dimensions");
    else if (a->causal)
        a->m = x->dim[axis - 1];
    rp_bind_same(b, a->n_in - 1, 0);
    rp_bind_same(b, OUT0, 0);
}

void rp_bind_loss(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    rp_bind_groups(b, 0, rp_bind_axis(b, 0), 1);
    a->alpha = rp_bind_real(b, "weight");
    const int64_t labels = rp_bind_product(b, a->outer, a->inner);
    check_counts(b, 1, a->n_in, labels);
    if (a->n_in == 2) {
        rp_bind_count(b, OUT0, 1);
        rp_bind_count(b, RP_OUT + 1, labels);
    } else {
        rp_bind_same(b, OUT0, 0);
    }
}

/* x is (batch, tokens, heads, size of a head). */
void rp_bind_rotary(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const struct rp_operand *x = &b->in[0];
    if (x->n_dims != 4 || x->dim[3] % 2 != 0) {
        rp_bind_fail(b, "x is not (batch, tokens, heads, an even size)");
        return;
    }
    a->batch = x->dim[0];
    a->m = x->dim[1];
    a->n = x->dim[2];
    a->k = x->dim[3];
    a->base = rp_bind_real(b, "base");
    a->inverse = rp_bind_bool(b, "inverse");
    rp_bind_same(b, OUT0, 0);
}

/* (gates, c) -> h, c'; the gradient has gh, gc' and the output gc only where they exist:
 * (gates, c, c', gh, gc') -> ggates, gc */
void rp_bind_lstm(struct rp_binding *b) {
    struct rp_kargs *a = &b->k->args;
    const struct rp_operand *gates = &b->in[0];
    const bool grad = b->op->n_inputs > 2;
    if (gates->n_dims != 2 || gates->dim[1] % 4 != 0) {
        rp_bind_fail(b, "gates are not (batch, 4 times hidden)");
        return;
    }
    a->batch = gates->dim[0];
    a->n = gates->dim[1] / 4;
    check_counts(b, 1, a->n_in, a->batch * a->n);
    if (!grad) {
        check_counts(b, RP_OUT, RP_OUT + 2, a->batch * a->n);
        return;
    }
    a->grad_h = rp_bind_bool(b, "grad_h");
    a->grad_c = rp_bind_bool(b, "grad_c");
    if (a->n_in != 3 + a->grad_h + a->grad_c)
        rp_bind_fail(b, "the number of inputs does not match \"grad_h\" and \"grad_c\"");
    rp_bind_same(b, OUT0, 0);
    check_counts(b, RP_OUT + 1, RP_OUT + a->n_out, a->batch * a->n);
}
