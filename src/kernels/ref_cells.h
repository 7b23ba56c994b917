/* SPDX-License-Identifier: MIT */
/* ref_cells: kernels whose results depend on a few elements each: the loss's gradient,
 * running statistics, rotary positions and LSTM cells. */

/* (logits, labels, logsumexp) -> glogits */
EACH(softmax_cross_entropy_grad, a->outer * a->mid * a->inner) {
    const acc each = (acc)a->alpha / (acc)(a->outer * a->inner);
    const int64_t class_ = i / a->inner % a->mid;
    const int64_t label = i / a->inner / a->mid * a->inner + i % a->inner;
    const acc p = MATH(exp)(get(IN(0)[i]) - ((const stat_t *)in[2])[label]);
    OUT(0)[i] = put(each * (p - (acc)(((const int32_t *)in[1])[label] == class_)));
}

/* (mean, invstd, running mean, running variance) -> new running mean and variance, for mid
 * channels of `count` elements. Computed in f64, because 1 / invstd^2 - eps suffers from
 * cancellation if the variance is small. */
EACH(bn_update_stats, a->mid) {
    const double n = (double)a->count, unbiased = a->count > 1 ? n / (n - 1) : 1;
    const double s = ((const stat_t *)in[1])[i], var = (1 / (s * s) - a->eps) * unbiased;
    const double old_mean = ((const stat_t *)in[2])[i],
                 old_var = ((const stat_t *)in[3])[i];
    const double mean = ((const stat_t *)in[0])[i];
    ((stat_t *)out[0])[i] = (stat_t)((1 - a->momentum) * old_mean + a->momentum * mean);
    ((stat_t *)out[1])[i] = (stat_t)((1 - a->momentum) * old_var + a->momentum * var);
}

/* ---- rotary positions: `batch` sequences, m tokens, n heads of size k ---- */

/* Result i is a pair of elements. */
EACH(rotary, a->batch * a->m * a->n * (a->k / 2)) {
    const int64_t pairs = a->k / 2, pair = i % pairs, token = i / pairs / a->n % a->m;
    const double angle = (double)token * pow(a->base, -2 * (double)pair / (double)a->k);
    const acc c = (acc)cos(angle), s = (acc)(a->inverse ? -sin(angle) : sin(angle));
    const acc x0 = get(IN(0)[2 * i]), x1 = get(IN(0)[2 * i + 1]);
    OUT(0)[2 * i] = put(x0 * c - x1 * s);
    OUT(0)[2 * i + 1] = put(x0 * s + x1 * c);
}

/* ---- LSTM: `batch` rows of n hidden units; a row of gates is i, f, g, o of n each ---- */

struct gates {
    acc i, f, g, o;
};

/* The gates of hidden unit `at`, after their activation functions. */
DEVICE struct gates gates_of(const struct rp_kargs *a, const real *gates, int64_t at) {
    const real *row = gates + at / a->n * 4 * a->n + at % a->n;
    struct gates x;
    x.i = sigmoid(get(row[0]));
    x.f = sigmoid(get(row[a->n]));
    x.g = MATH(tanh)(get(row[2 * a->n]));
    x.o = sigmoid(get(row[3 * a->n]));
    return x;
}

/* (gates, c) -> h, c' */
EACH(lstm_cell, a->batch * a->n) {
    const struct gates x = gates_of(a, IN(0), i);
    const acc next = x.f * get(IN(1)[i]) + x.i * x.g;
    OUT(0)[i] = put(x.o * MATH(tanh)(next));
    OUT(1)[i] = put(next);
}

/* (gates, c, c', gh if grad_h, gc' if grad_c) -> ggates, optionally gc. tanh(c') is
 * computed from c' as stored. */
EACH(lstm_cell_grad, a->batch * a->n) {
    const struct gates x = gates_of(a, IN(0), i);
    const acc c = get(IN(1)[i]), t = MATH(tanh)(get(IN(2)[i]));
    const acc gh = a->grad_h ? get(IN(3)[i]) : 0;
    const acc s = (a->grad_c ? get(IN(3 + a->grad_h)[i]) : 0) + gh * x.o * (1 - t * t);
    real *ggates = OUT(0) + i / a->n * 4 * a->n + i % a->n;
    ggates[0] = put(s * x.g * x.i * (1 - x.i));
    ggates[a->n] = put(s * c * x.f * (1 - x.f));
    ggates[2 * a->n] = put(s * x.i * (1 - x.g * x.g));
    ggates[3 * a->n] = put(gh * t * x.o * (1 - x.o));
    if (a->n_out > 1)
        OUT(1)[i] = put(s * x.f);
}
