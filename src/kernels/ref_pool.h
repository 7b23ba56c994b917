/* ref_pool: pooling. `batch` images of `channels` planes; x is the larger side, y has one
 * place a window. Included by ref_TYPE.c.
 *
 * Gradients ask of each place of x which windows it is in, so that no sum is ever stored
 * rounded.
 */

struct box { /* places from[d] <= place < to[d] */
    int64_t from[3], to[3];
};

/* The window of y's place `at`, cut off at the edges of x. */
static struct box window_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        const int64_t from = at[d] * a->stride[d] - a->pad[d], to = from + a->kernel[d];
        b.from[d] = from > 0 ? from : 0;
        b.to[d] = to < a->x_size[d] ? to : a->x_size[d];
    }
    return b;
}

/* The places of y whose windows hold x's place `at`. */
static struct box holding_box(const struct rp_kargs *a, const int64_t at[3]) {
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
static struct box adaptive_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        b.from[d] = at[d] * a->x_size[d] / a->y_size[d];
        b.to[d] = ((at[d] + 1) * a->x_size[d] + a->y_size[d] - 1) / a->y_size[d];
    }
    return b;
}

static struct box adaptive_holding_box(const struct rp_kargs *a, const int64_t at[3]) {
    struct box b;
    for (int d = 0; d < 3; d++) {
        b.from[d] = at[d] * a->y_size[d] / a->x_size[d];
        b.to[d] = ((at[d] + 1) * a->y_size[d] + a->x_size[d] - 1) / a->x_size[d];
    }
    return b;
}

static inline int64_t box_count(const struct box *b) {
    return (b->to[0] - b->from[0]) * (b->to[1] - b->from[1]) * (b->to[2] - b->from[2]);
}

#define EACH_PLACE(p, lo, hi)                                                              \
    for ((p)[0] = (lo)[0]; (p)[0] < (hi)[0]; (p)[0]++)                                     \
        for ((p)[1] = (lo)[1]; (p)[1] < (hi)[1]; (p)[1]++)                                 \
            for ((p)[2] = (lo)[2]; (p)[2] < (hi)[2]; (p)[2]++)

static const int64_t origin[3] = {0, 0, 0};

static inline int64_t index_in(const int64_t size[3], const int64_t p[3]) {
    return (p[0] * size[1] + p[1]) * size[2] + p[2];
}

/* ---- maximum ---- */

/* Where the first largest element of the window is, in row-major order. */
static int64_t largest(const struct rp_kargs *a, const real *x, const int64_t at[3]) {
    const struct box b = window_box(a, at);
    int64_t p[3], best = -1;
    EACH_PLACE(p, b.from, b.to) {
        const int64_t i = index_in(a->x_size, p);
        if (best < 0 || get(x[i]) > get(x[best]))
            best = i;
    }
    return best;
}

KERNEL(max_pool) {
    const real *x = in[0];
    real *y = out[0];
    int64_t at[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, x += volume(a->x_size))
        EACH_PLACE(at, origin, a->y_size)
    *y++ = x[largest(a, x, at)];
}

KERNEL(max_pool_index) {
    const real *x = in[0];
    real *y = out[0];
    int32_t *index = out[1];
    int64_t at[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, x += volume(a->x_size))
        EACH_PLACE(at, origin, a->y_size) {
            const int64_t i = largest(a, x, at);
            *y++ = x[i];
            *index++ = (int32_t)i;
        }
}

/* (gy, x, y): a window gives its gradient to the first place where x equals y. */
static int takes(const struct rp_kargs *a, const real *x, acc y, const int64_t at[3],
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

KERNEL(max_pool_grad) {
    const real *gy = in[0], *x = in[1], *y = in[2];
    real *gx = out[0];
    int64_t at[3], w[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++) {
        EACH_PLACE(at, origin, a->x_size) {
            const struct box b = holding_box(a, at);
            const int64_t place = index_in(a->x_size, at);
            acc sum = 0;
            EACH_PLACE(w, b.from, b.to) {
                const int64_t i = index_in(a->y_size, w);
                if (takes(a, x, get(y[i]), w, place))
                    sum += get(gy[i]);
            }
            *gx++ = put(sum);
        }
        x += volume(a->x_size);
        y += volume(a->y_size);
        gy += volume(a->y_size);
    }
}

/* (x, index) -> y. x and index are the smaller side, kargs' y. An index out of range is one
 * that a broken plan made: nothing is written for it. */
KERNEL(max_unpool) {
    const int64_t small = volume(a->y_size), large = volume(a->x_size);
    const real *x = in[0];
    const int32_t *index = in[1];
    real *y = out[0];
    clear(y, a->batch * a->channels * large);
    for (int64_t c = 0; c < a->batch * a->channels; c++, y += large)
        for (int64_t i = 0; i < small; i++, x++, index++)
            if (inside(*index, large))
                y[*index] = *x;
}

KERNEL(max_unpool_grad) {
    const int64_t small = volume(a->y_size), large = volume(a->x_size);
    const real *gy = in[0];
    const int32_t *index = in[1];
    real *gx = out[0];
    for (int64_t c = 0; c < a->batch * a->channels; c++, gy += large)
        for (int64_t i = 0; i < small; i++, gx++, index++)
            *gx = inside(*index, large) ? gy[*index] : put(0);
}

/* ---- mean ---- */

static acc box_sum(const struct rp_kargs *a, const real *x, const struct box *b) {
    acc sum = 0;
    int64_t p[3];
    EACH_PLACE(p, b->from, b->to)
    sum += get(x[index_in(a->x_size, p)]);
    return sum;
}

static inline acc divisor(const struct rp_kargs *a, const struct box *b) {
    return (acc)(a->count_pad ? volume(a->kernel) : box_count(b));
}

KERNEL(avg_pool) {
    const real *x = in[0];
    real *y = out[0];
    int64_t at[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, x += volume(a->x_size))
        EACH_PLACE(at, origin, a->y_size) {
            const struct box b = window_box(a, at);
            *y++ = put(box_sum(a, x, &b) / divisor(a, &b));
        }
}

KERNEL(avg_pool_grad) {
    const real *gy = in[0];
    real *gx = out[0];
    int64_t at[3], w[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, gy += volume(a->y_size))
        EACH_PLACE(at, origin, a->x_size) {
            const struct box holding = holding_box(a, at);
            acc sum = 0;
            EACH_PLACE(w, holding.from, holding.to) {
                const struct box b = window_box(a, w);
                sum += get(gy[index_in(a->y_size, w)]) / divisor(a, &b);
            }
            *gx++ = put(sum);
        }
}

KERNEL(adaptive_avg_pool) {
    const real *x = in[0];
    real *y = out[0];
    int64_t at[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, x += volume(a->x_size))
        EACH_PLACE(at, origin, a->y_size) {
            const struct box b = adaptive_box(a, at);
            *y++ = put(box_sum(a, x, &b) / (acc)box_count(&b));
        }
}

KERNEL(adaptive_avg_pool_grad) {
    const real *gy = in[0];
    real *gx = out[0];
    int64_t at[3], w[3];
    for (int64_t c = 0; c < a->batch * a->channels; c++, gy += volume(a->y_size))
        EACH_PLACE(at, origin, a->x_size) {
            const struct box holding = adaptive_holding_box(a, at);
            acc sum = 0;
            EACH_PLACE(w, holding.from, holding.to) {
                const struct box b = adaptive_box(a, w);
                sum += get(gy[index_in(a->y_size, w)]) / (acc)box_count(&b);
            }
            *gx++ = put(sum);
        }
}
#undef EACH_PLACE
