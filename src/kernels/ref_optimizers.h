/* SPDX-License-Identifier: MIT */
/* ref_optimizers: what updates parameters, and what adds up their gradients. The formulas
 * are those of PyTorch (docs/ops.md). An update's operands are
 *
 *     (g, W, ...) or (g, step, W, ...) -> (W, ...)
 *
 * where ... is what the optimizer keeps and, with a->master, last an f32 copy of a 16-bit
 * W. The formulas then read and write the copy, and W is the copy rounded. In a graph both
 * lists name the same tensors: the op replaces them in place. A kernel reads element i of
 * all before it writes it, so it does not matter whether they are the same.
 */

DEVICE acc gradient_of(const struct rp_kargs *a, const void *const *in, int64_t i) {
    return a->wide_grad ? (acc)((const stat_t *)in[0])[i] : get(IN(0)[i]);
}

DEVICE acc weight_of(const struct rp_kargs *a, const void *const *in, int64_t i) {
    return a->master ? (acc)((const stat_t *)in[a->n_in - 1])[i]
                     : get(IN(a->n_in - a->n_out)[i]);
}

DEVICE void put_weight(const struct rp_kargs *a, void *const *out, int64_t i, acc w) {
    OUT(0)[i] = put(w);
    if (a->master)
        ((stat_t *)out[a->n_out - 1])[i] = w;
}

/* ---- stochastic gradient descent ---- */

EACH(sgd, a->count) {
    const acc w = weight_of(a, in, i);
    const acc d = gradient_of(a, in, i) + (acc)a->weight_decay * w;
    put_weight(a, out, i, w - (acc)a->lr * d);
}

EACH(momentum, a->count) {
    const acc w = weight_of(a, in, i);
    const acc d = gradient_of(a, in, i) + (acc)a->weight_decay * w;
    const acc b = (acc)a->momentum * ((const stat_t *)in[2])[i] + d;
    ((stat_t *)out[1])[i] = b;
    put_weight(a, out, i, w - (acc)a->lr * b);
}

/* ---- Adam ---- */

/* base^n, by the same products on every machine. */
DEVICE double power(double base, int32_t n) {
    double result = 1;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return result;
}

/* The new moments, and the new W from them. `step` counts from 1. */
DEVICE void adam_step(OPERANDS, int64_t i, acc w, acc d) {
    const int32_t step = *(const int32_t *)in[1];
    const acc rate = (acc)(a->lr / (1 - power(a->beta1, step)));
    const acc root = (acc)sqrt(1 - power(a->beta2, step));
    acc m = ((const stat_t *)in[3])[i], v = ((const stat_t *)in[4])[i];
    m += (acc)(1 - a->beta1) * (d - m);
    v = (acc)a->beta2 * v + (acc)(1 - a->beta2) * d * d;
    ((stat_t *)out[1])[i] = m;
    ((stat_t *)out[2])[i] = v;
    put_weight(a, out, i, w - rate * m / (MATH(sqrt)(v) / root + (acc)a->eps));
}

EACH(adam, a->count) {
    const acc w = weight_of(a, in, i);
    adam_step(a, in, out, i, w, gradient_of(a, in, i) + (acc)a->weight_decay * w);
}

EACH(adamw, a->count) {
    const acc w = (acc)(1 - a->lr * a->weight_decay) * weight_of(a, in, i);
    adam_step(a, in, out, i, w, gradient_of(a, in, i));
}

/* step + 1. It wraps instead of overflowing. */
EACH(count_step, 1) {
    ((int32_t *)out[0])[i] = (int32_t)(1 + (uint32_t)((const int32_t *)in[0])[i]);
}

/* ---- gradients of micro-batches ---- */

/* (g, sum) -> sum + g, or g alone in f32 */
EACH(accumulate, a->count) {
    const acc g = gradient_of(a, in, i);
    ((stat_t *)out[0])[i] = a->n_in > 1 ? ((const stat_t *)in[1])[i] + g : g;
}
