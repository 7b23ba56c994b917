/* ref_moves: kernels that move elements and compute nothing. Included by ref_TYPE.c.
 *
 * An index that is out of range (only a broken plan makes one) reads as 0 and writes
 * nothing, so that the replay which shows the plan wrong does not crash.
 */

static inline void move(real *to, const real *from, int64_t n) {
    memcpy(to, from, (size_t)n * sizeof *to);
}

static inline void clear(real *to, int64_t n) {
    memset(to, 0, (size_t)n * sizeof *to); /* all bits 0 is 0 in each type */
}

/* parts: sizes along the axis; outer and inner are what lies before and behind it. */
KERNEL(concat) {
    real *y = out[0];
    for (int64_t o = 0; o < a->outer; o++)
        for (int32_t p = 0; p < a->n_in; p++) {
            const int64_t n = a->parts[p] * a->inner;
            move(y, (const real *)in[p] + o * n, n);
            y += n;
        }
}

KERNEL(split) {
    const real *x = in[0];
    for (int64_t o = 0; o < a->outer; o++)
        for (int32_t p = 0; p < a->n_out; p++) {
            const int64_t n = a->parts[p] * a->inner;
            move((real *)out[p] + o * n, x, n);
            x += n;
        }
}

/* The larger tensor as (outer, mid, inner); k of its mid from `start` are in the other. */
KERNEL(slice) {
    const real *x = in[0];
    for (int64_t o = 0; o < a->outer; o++)
        move((real *)out[0] + o * a->k * a->inner, x + (o * a->mid + a->start) * a->inner,
             a->k * a->inner);
}

KERNEL(slice_grad) {
    real *gx = out[0];
    clear(gx, a->outer * a->mid * a->inner);
    for (int64_t o = 0; o < a->outer; o++)
        move(gx + (o * a->mid + a->start) * a->inner,
             (const real *)in[0] + o * a->k * a->inner, a->k * a->inner);
}

/* `outer` copies of x's `count` elements. */
KERNEL(repeat) {
    for (int64_t o = 0; o < a->outer; o++)
        move((real *)out[0] + o * a->count, in[0], a->count);
}

/* `batch` matrices m x n become n x m. */
KERNEL(transpose) {
    const real *x = in[0];
    real *y = out[0];
    for (int64_t o = 0; o < a->batch; o++, x += a->m * a->n, y += a->m * a->n)
        for (int64_t i = 0; i < a->m; i++)
            for (int64_t j = 0; j < a->n; j++)
                y[j * a->m + i] = x[i * a->n + j];
}

/* A table of m rows with n elements each, and `count` ids. */
KERNEL(gather) {
    const int32_t *id = in[1];
    real *y = out[0];
    for (int64_t i = 0; i < a->count; i++, y += a->n) {
        if (id[i] >= 0 && id[i] < a->m)
            move(y, (const real *)in[0] + id[i] * a->n, a->n);
        else
            clear(y, a->n);
    }
}

KERNEL(gather_grad) {
    const real *gy = in[0];
    const int32_t *id = in[1];
    real *gtable = out[0];
    for (int64_t row = 0; row < a->m; row++, gtable += a->n) {
        int64_t first = 0; /* most rows of a vocabulary are named by no id */
        while (first < a->count && id[first] != row)
            first++;
        clear(gtable, a->n);
        if (first == a->count)
            continue;
        for (int64_t col = 0; col < a->n; col++) {
            acc sum = 0;
            for (int64_t i = first; i < a->count; i++)
                if (id[i] == row)
                    sum += get(gy[i * a->n + col]);
            gtable[col] = put(sum);
        }
    }
}
