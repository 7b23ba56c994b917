/* ref_products: matrix products and the sums that are their bias gradients. Included by
 * ref_TYPE.c. */

/* (a, b, bias or nothing) -> c */
KERNEL(matmul) {
    const real *bias = a->n_in > 2 ? in[2] : NULL;
    real *c = out[0];
    const int64_t a_row = a->transpose_a ? 1 : a->k, a_step = a->transpose_a ? a->m : 1;
    const int64_t b_col = a->transpose_b ? a->k : 1, b_step = a->transpose_b ? 1 : a->n;
    for (int64_t batch = 0; batch < a->batch; batch++) {
        const real *left = (const real *)in[0] + batch * a->m * a->k;
        const real *right = (const real *)in[1] + (a->single_b ? 0 : batch * a->k * a->n);
        for (int64_t i = 0; i < a->m; i++)
            for (int64_t j = 0; j < a->n; j++) {
                acc sum = 0;
                for (int64_t t = 0; t < a->k; t++)
                    sum += get(left[i * a_row + t * a_step]) *
                           get(right[t * b_step + j * b_col]);
                sum *= (acc)a->alpha;
                *c++ = put(bias != NULL ? sum + get(bias[j]) : sum);
            }
    }
}

/* One element of c: the sum over k, and over the batch dimensions along which c does not
 * move, in increasing order of their indices. */
static acc bmm_sum(const struct rp_kargs *a, const real *left, const real *right,
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

/* The five strides are of three batch dimensions, then of row and column. */
KERNEL(bmm) {
    const real *left = in[0], *right = in[1];
    real *c = out[0];
    int64_t moved[3], summed[3];
    for (int d = 0; d < 3; d++) {
        moved[d] = a->stride_c[d] != 0 ? a->batches[d] : 1;
        summed[d] = a->stride_c[d] != 0 ? 1 : a->batches[d];
    }
#define AT(s, row, col)                                                                    \
    (i0 * (s)[0] + i1 * (s)[1] + i2 * (s)[2] + (row) * (s)[3] + (col) * (s)[4])
    for (int64_t i0 = 0; i0 < moved[0]; i0++)
        for (int64_t i1 = 0; i1 < moved[1]; i1++)
            for (int64_t i2 = 0; i2 < moved[2]; i2++)
                for (int64_t i = 0; i < a->m; i++)
                    for (int64_t j = 0; j < a->n; j++)
                        c[AT(a->stride_c, i, j)] = put(
                            (acc)a->alpha * bmm_sum(a, left + AT(a->stride_a, i, 0),
                                                    right + AT(a->stride_b, 0, j), summed));
#undef AT
}

/* g as (outer, mid, inner); one sum for each of mid. */
KERNEL(bias_grad) {
    const real *g = in[0];
    real *sums = out[0];
    for (int64_t i = 0; i < a->mid; i++) {
        acc sum = 0;
        for (int64_t o = 0; o < a->outer; o++)
            for (int64_t r = 0; r < a->inner; r++)
                sum += get(g[(o * a->mid + i) * a->inner + r]);
        sums[i] = put(sum);
    }
}
