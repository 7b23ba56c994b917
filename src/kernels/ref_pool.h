/* SPDX-License-Identifier: MIT */
/* ref_pool: pooling of `batch` images with `channels` planes. x is the larger side, and y
 * has one position for each window.
 *
 * Gradients visit, for each position of x, all windows that contain it. So each sum is
 * complete before it is rounded and stored.
 */

struct box { /* positions with from[d] <= position < to[d] */
    int64_t from[3], to[3];
};

/* The window at position `at` of y, cut off at the edges of x. */
DEVICE struct box window_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        const int64_t from = at[d] * a->stride[d] - a->pad[d], to = from + a->kernel[d];
        b.from[d] = from > 0 ? from : 0;
        b.to[d] = to < a->x_size[d] ? to : a->x_size[d];
    }
    return b;
}

/* The positions of y whose windows contain position `at` of x. */
DEVICE struct box containing_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        const int64_t place = at[d] + a->pad[d], below = place - a->kernel[d];
        b.from[d] = below < 0 ? 0 : below / a->stride[d] + 1;
        b.to[d] = place / a->stride[d] + 1;
        if (b.to[d] > a->y_size[d])
            b.to[d] = a->y_size[d];
    }
    return b;
}

/* The same for adaptive windows [floor(i X / Y), ceil((i + 1) X / Y)). */
DEVICE struct box adaptive_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        b.from[d] = at[d] * a->x_size[d] / a->y_size[d];
        b.to[d] = ((at[d] + 1) * a->x_size[d] + a->y_size[d] - 1) / a->y_size[d];
    }
    return b;
}

DEVICE struct box adaptive_containing_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        b.from[d] = at[d] * a->y_size[d] / a->x_size[d];
        b.to[d] = ((at[d] + 1) * a->y_size[d] + a->x_size[d] - 1) / a->x_size[d];
    }
    return b;
}

DEVICE int64_t box_count(const struct box *b) {
    return (b->to[0] - b->from[0]) * (b->to[1] - b->from[1]) * (b->to[2] - b->from[2]);
}

#define EACH_PLACE(p, lo, hi)                                                              \
    for ((p)[0] = (lo)[0]; (p)[0] < (hi)[0]; (p)[0]++)                                     \
        for ((p)[1] = (lo)[1]; (p)[1] < (hi)[1]; (p)[1]++)                                 \
            for ((p)[2] = (lo)[2]; (p)[2] < (hi)[2]; (p)[2]++)

DEVICE int64_t index_in(const int64_t size[3], const int64_t p[3]) {
    return (p[0] * size[1] + p[1]) * size[2] + p[2];
}

/* ---- maximum ---- */

/* The index of the window's maximum: the first one in row-major order. */
DEVICE int64_t argmax(const struct rp_kargs *a, const real *x, const int64_t at[3]) {
    const struct box b = window_box(a, at);
    int64_t p[3], best = -1;
    EACH_PLACE(p, b.from, b.to) {
        const int64_t i = index_in(a->x_size, p);
        if (best < 0 || get(x[i]) > get(x[best]))
            best = i;
    }
    return best;
}

#define Y_RANGE (a->batch * a->channels * volume(a->y_size))
#define X_RANGE (a->batch * a->channels * volume(a->x_size))

EACH_FALLBACK(max_pool, Y_RANGE) {
    int64_t at[3];
    const real *x = IN(0) + locate(a->y_size, i, at) * volume(a->x_size);
    OUT(0)[i] = x[argmax(a, x, at)];
}

EACH(max_pool_index, Y_RANGE) {
    int64_t at[3];
    const real *x = IN(0) + locate(a->y_size, i, at) * volume(a->x_size);
    const int64_t place = argmax(a, x, at);
    OUT(0)[i] = x[place];
    ((int32_t *)out[1])[i] = (int32_t)place;
}

/* (gy, x, y): a window passes its gradient to its first position where x equals y. Is that
 * `place`? */
DEVICE int is_argmax(const struct rp_kargs *a, const real *x, acc y, const int64_t at[3],
                     int64_t place) {
    const struct box b = window_box(a, at);
    int64_t p[3];
    EACH_PLACE(p, b.from, b.to) {
        const int64_t i = index_in(a->x_size, p);
        if (i >= place || get(x[i]) == y)
            return i == place && get(x[i]) == y;
    }
    return 0;
}

EACH_FALLBACK(max_pool_grad, X_RANGE) {
    int64_t at[3], w[3];
    const int64_t plane = locate(a->x_size, i, at);
    const real *x = IN(1) + plane * volume(a->x_size);
    const real *gy = IN(0) + plane * volume(a->y_size);
    const real *y = IN(2) + plane * volume(a->y_size);
    const struct box b = containing_box(a, at);
    acc sum = 0;
    EACH_PLACE(w, b.from, b.to) {
        const int64_t j = index_in(a->y_size, w);
        if (is_argmax(a, x, get(y[j]), w, index_in(a->x_size, at)))
            sum += get(gy[j]);
    }
    OUT(0)[i] = put(sum);
}

/* (gy, index) -> gx. gx and index have the size of the parameters' y, the smaller side. */
EACH(max_unpool_grad, Y_RANGE) {
    const int64_t large = volume(a->x_size), place = ((const int32_t *)in[1])[i];
    const int64_t plane = i / volume(a->y_size);
    OUT(0)[i] = inside(place, large) ? IN(0)[plane * large + place] : put(0);
}

/* ---- mean ---- */

DEVICE acc box_sum(const struct rp_kargs *a, const real *x, const struct box *b) {
    acc sum = 0;
    int64_t p[3];
    EACH_PLACE(p, b->from, b->to)
    sum += get(x[index_in(a->x_size, p)]);
    return sum;
}

DEVICE acc divisor(const struct rp_kargs *a, const struct box *b) {
    return (acc)(a->count_pad ? volume(a->kernel) : box_count(b));
}

EACH_FALLBACK(avg_pool, Y_RANGE) {
    int64_t at[3];
    const real *x = IN(0) + locate(a->y_size, i, at) * volume(a->x_size);
    const struct box b = window_box(a, at);
    OUT(0)[i] = put(box_sum(a, x, &b) / divisor(a, &b));
}

EACH_FALLBACK(avg_pool_grad, X_RANGE) {
    int64_t at[3], w[3];
    const real *gy = IN(0) + locate(a->x_size, i, at) * volume(a->y_size);
    const struct box windows = containing_box(a, at);
    acc sum = 0;
    EACH_PLACE(w, windows.from, windows.to) {
        const struct box b = window_box(a, w);
        sum += get(gy[index_in(a->y_size, w)]) / divisor(a, &b);
    }
    OUT(0)[i] = put(sum);
}

EACH(adaptive_avg_pool, Y_RANGE) {
    int64_t at[3];
    const real *x = IN(0) + locate(a->y_size, i, at) * volume(a->x_size);
    const struct box b = adaptive_box(a, at);
    OUT(0)[i] = put(box_sum(a, x, &b) / (acc)box_count(&b));
}

EACH(adaptive_avg_pool_grad, X_RANGE) {
    int64_t at[3], w[3];
    const real *gy = IN(0) + locate(a->x_size, i, at) * volume(a->y_size);
    const struct box windows = adaptive_containing_box(a, at);
    acc sum = 0;
    EACH_PLACE(w, windows.from, windows.to) {
        const struct box b = adaptive_box(a, w);
        sum += get(gy[index_in(a->y_size, w)]) / (acc)box_count(&b);
    }
    OUT(0)[i] = put(sum);
}

#undef EACH_PLACE
#undef Y_RANGE
#undef X_RANGE
