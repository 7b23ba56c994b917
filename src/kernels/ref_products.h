/* SPDX-License-Identifier: MIT */
/* ref_products: matrix products. */

/* (a, b, optional bias) -> c */
EACH_FALLBACK(matmul, a->batch * a->m * a->n) {
    const int64_t batch = i / a->n / a->m, row = i / a->n % a->m, col = i % a->n;
    const real *left = IN(0) + batch * a->m * a->k;
    const real *right = IN(1) + (a->single_b ? 0 : batch * a->k * a->n);
    const int64_t left_step = a->transpose_a ? a->m : 1;
    const int64_t right_step = a->transpose_b ? 1 : a->n;
    acc sum = 0;
    left += a->transpose_a ? row : row * a->k;
    right += a->transpose_b ? col * a->k : col;
    for (int64_t t = 0; t < a->k; t++)
        sum += get(left[t * left_step]) * get(right[t * right_step]);
    sum *= (acc)a->alpha;
    OUT(0)[i] = put(a->n_in > 2 ? sum + get(IN(2)[col]) : sum);
}

/* One element of c: the sum over k and over the batch dimensions in which c has stride 0,
 * in increasing order of their indices. */
DEVICE acc bmm_sum(const struct rp_kargs *a, const real *left, const real *right,
                   const int64_t summed[3]) {
    acc sum = 0;
    for (int64_t i0 = 0; i0 < summed[0]; i0++)
        for (int64_t i1 = 0; i1 < summed[1]; i1++)
            for (int64_t i2 = 0; i2 < summed[2]; i2++) {
                const real *x =
                    left + i0 * a->stride_a[0] + i1 * a->stride_a[1] + i2 * a->stride_a[2];
                const real *y =
                    right + i0 * a->stride_b[0] + i1 * a->stride_b[1] + i2 * a->stride_b[2];
                for (int64_t t = 0; t < a->k; t++)
                    sum += get(x[t * a->stride_a[4]]) * get(y[t * a->stride_b[3]]);
            }
    return sum;
}

DEVICE int64_t bmm_range(const struct rp_kargs *a) {
    int64_t range = a->m * a->n;
    for (int d = 0; d < 3; d++)
        range *= a->stride_c[d] != 0 ? a->batches[d] : 1;
    return range;
}

/* Strides are those of three batch dimensions, then of row and column. */
EACH_FALLBACK(bmm, bmm_range(a)) {
    int64_t summed[3], at_a = 0, at_b = 0, at_c = 0;
    const int64_t col = i % a->n, row = i / a->n % a->m;
    int64_t rest = i / a->n / a->m;
    for (int d = 2; d >= 0; d--) {
        const int64_t moved = a->stride_c[d] != 0 ? a->batches[d] : 1;
        summed[d] = a->stride_c[d] != 0 ? 1 : a->batches[d];
        at_a += rest % moved * a->stride_a[d];
        at_b += rest % moved * a->stride_b[d];
        at_c += rest % moved * a->stride_c[d];
        rest /= moved;
    }
    OUT(0)
    [at_c + row * a->stride_c[3] + col * a->stride_c[4]] =
        put((acc)a->alpha * bmm_sum(a, IN(0) + at_a + row * a->stride_a[3],
                                    IN(1) + at_b + col * a->stride_b[4], summed));
}
