/* SPDX-License-Identifier: MIT */
/* ref_sums: C kernels with sums over many elements, or with any number of operands. Their
 * CUDA versions are in cuda/sums.cuh and cuda/parts.cuh. */

/* g as (outer, mid, inner), one sum for each index in mid. */
KERNEL(bias_grad) {
    for (int64_t i = 0; i < a->mid; i++) {
        acc sum = 0;
        for (int64_t o = 0; o < a->outer; o++)
            for (int64_t r = 0; r < a->inner; r++)
                sum += get(IN(0)[(o * a->mid + i) * a->inner + r]);
        OUT(0)[i] = put(sum);
    }
}

/* (gy, ids) -> gtable: the table has m rows of n elements, and there are `count` ids. */
KERNEL(gather_grad) {
    const int32_t *id = in[1];
    real *gtable = out[0];
    for (int64_t row = 0; row < a->m; row++, gtable += a->n) {
        int64_t first = 0; /* shortcut: most rows of a vocabulary have no id */
        while (first < a->count && id[first] != row)
            first++;
        for (int64_t col = 0; col < a->n; col++) {
            acc sum = 0;
            for (int64_t i = first; i < a->count; i++)
                if (id[i] == row)
                    sum += get(IN(0)[i * a->n + col]);
            gtable[col] = put(sum);
        }
    }
}

/* ---- parts: their sizes along the axis; outer and inner: dimensions before and after ----
 */

KERNEL(concat) {
    real *y = out[0];
    for (int64_t o = 0; o < a->outer; o++)
        for (int32_t p = 0; p < a->n_in; p++) {
            const int64_t n = a->parts[p] * a->inner;
            memcpy(y, IN(p) + o * n, (size_t)n * sizeof *y);
            y += n;
        }
}

KERNEL(split) {
    const real *x = in[0];
    for (int64_t o = 0; o < a->outer; o++)
        for (int32_t p = 0; p < a->n_out; p++) {
            const int64_t n = a->parts[p] * a->inner;
            memcpy(OUT(p) + o * n, x, (size_t)n * sizeof *x);
            x += n;
        }
}

/* (x, index) -> y. x and index have the size of the parameters' y, the smaller side. An
 * index out of range, which only an invalid plan can cause, writes nothing. */
KERNEL(max_unpool) {
    const int64_t small = volume(a->y_size), large = volume(a->x_size);
    const int32_t *index = in[1];
    memset(out[0], 0, (size_t)(a->batch * a->channels * large) * sizeof(real));
    for (int64_t i = 0; i < a->batch * a->channels * small; i++)
        if (inside(index[i], large))
            OUT(0)[i / small * large + index[i]] = IN(0)[i];
}

/* ---- softmax: x as (outer, mid, inner), over mid ---- */

/* The number of elements in the softmax of row o. With a->causal its query is o mod m. */
static inline int64_t visible(const struct rp_kargs *a, int64_t o) {
    const int64_t n = o % a->m + 1;
    return a->causal && n < a->mid ? n : a->mid;
}

KERNEL(softmax) {
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t r = 0; r < a->inner; r++) {
            const real *x = (const real *)in[0] + o * a->mid * a->inner + r;
            real *y = (real *)out[0] + o * a->mid * a->inner + r;
            const int64_t n = visible(a, o);
            acc top = get(x[0]), sum = 0;
            for (int64_t i = 1; i < n; i++)
                top = get(x[i * a->inner]) > top ? get(x[i * a->inner]) : top;
            for (int64_t i = 0; i < n; i++)
                sum += MATH(exp)(get(x[i * a->inner]) - top);
            for (int64_t i = 0; i < a->mid; i++)
                y[i * a->inner] =
                    put(i < n ? MATH(exp)(get(x[i * a->inner]) - top) / sum : 0);
        }
}

/* (gy, y) -> gx */
KERNEL(softmax_grad) {
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t r = 0; r < a->inner; r++) {
            const int64_t first = o * a->mid * a->inner + r, n = visible(a, o);
            const real *gy = (const real *)in[0] + first, *y = (const real *)in[1] + first;
            real *gx = (real *)out[0] + first;
            acc sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += get(gy[i * a->inner]) * get(y[i * a->inner]);
            for (int64_t i = 0; i < a->mid; i++)
                gx[i * a->inner] =
                    put(i < n ? get(y[i * a->inner]) * (get(gy[i * a->inner]) - sum) : 0);
        }
}

/* ---- cross entropy: logits as (outer, mid, inner), labels (outer, inner) ---- */

/* (logits, labels) -> loss, logsumexp. A label out of range, which only an invalid plan can
 * cause, counts as a logit of 0. */
KERNEL(softmax_cross_entropy) {
    const int32_t *label = in[1];
    stat_t *loss = out[0], *logsumexp = out[1];
    acc total = 0;
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t r = 0; r < a->inner; r++, label++, logsumexp++) {
            const real *z = (const real *)in[0] + o * a->mid * a->inner + r;
            acc top = get(z[0]), sum = 0;
            for (int64_t i = 1; i < a->mid; i++)
                top = get(z[i * a->inner]) > top ? get(z[i * a->inner]) : top;
            for (int64_t i = 0; i < a->mid; i++)
                sum += MATH(exp)(get(z[i * a->inner]) - top);
            *logsumexp = top + MATH(log)(sum);
            total += *logsumexp - (inside(*label, a->mid) ? get(z[*label * a->inner]) : 0);
        }
    *loss = (acc)a->alpha * total / (acc)(a->outer * a->inner);
}
