/* SPDX-License-Identifier: MIT */
/* ref_conv: convolutions and their gradients. Each result is a plain sum over all that it
 * depends on. There are three spatial dimensions, depth first; images have depth 1.
 *
 * The window at position i of y reads, at its tap r, position i * stride - pad + r *
 * dilation of x. x has a->channels planes and y has a->filters. The weight is (filters,
 * channels / groups, kernel).
 */

DEVICE int64_t volume(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

DEVICE int64_t x_place(const struct rp_kargs *a, int d, int64_t i, int64_t r) {
    return i * a->stride[d] - a->pad[d] + r * a->dilation[d];
}

/* The sum of one window over the planes of its group. */
DEVICE acc window_sum(const struct rp_kargs *a, const real *x, const real *w, int64_t depth,
                      const int64_t at[3]) {
    acc sum = 0;
    int64_t place[3];
    for (int64_t c = 0; c < depth; c++, x += volume(a->x_size), w += volume(a->kernel))
        for (int64_t r0 = 0; r0 < a->kernel[0]; r0++) {
            if (!inside(place[0] = x_place(a, 0, at[0], r0), a->x_size[0]))
                continue;
            for (int64_t r1 = 0; r1 < a->kernel[1]; r1++) {
                if (!inside(place[1] = x_place(a, 1, at[1], r1), a->x_size[1]))
                    continue;
                const real *row = x + (place[0] * a->x_size[1] + place[1]) * a->x_size[2];
                const real *tap = w + (r0 * a->kernel[1] + r1) * a->kernel[2];
                for (int64_t r2 = 0; r2 < a->kernel[2]; r2++)
                    if (inside(place[2] = x_place(a, 2, at[2], r2), a->x_size[2]))
                        sum += get(row[place[2]]) * get(tap[r2]);
            }
        }
    return sum;
}

/* Splits index i over planes of this size into the plane, which is returned, and at[]. */
DEVICE int64_t locate(const int64_t size[3], int64_t i, int64_t at[3]) {
    at[2] = i % size[2];
    at[1] = i / size[2] % size[1];
    at[0] = i / size[2] / size[1] % size[0];
    return i / size[2] / size[1] / size[0];
}

/* (x, weight, optional bias) -> y */
EACH_FALLBACK(conv, a->batch * a->filters * volume(a->y_size)) {
    const int64_t depth = a->channels / a->groups, per_group = a->filters / a->groups;
    int64_t at[3];
    const int64_t plane = locate(a->y_size, i, at);
    const int64_t n = plane / a->filters, k = plane % a->filters;
    const int64_t first = n * a->channels + k / per_group * depth;
    const acc sum = window_sum(a, IN(0) + first * volume(a->x_size),
                               IN(1) + k * depth * volume(a->kernel), depth, at);
    OUT(0)[i] = put(a->n_in > 2 ? sum + get(IN(2)[k]) : sum);
}

/* The position of y whose window has position `place` of x at tap r, or -1. */
DEVICE int64_t y_place(const struct rp_kargs *a, int d, int64_t place, int64_t r) {
    const int64_t t = place + a->pad[d] - r * a->dilation[d];
    if (t < 0 || t % a->stride[d] != 0 || t / a->stride[d] >= a->y_size[d])
        return -1;
    return t / a->stride[d];
}

/* The sum over all terms in which x's position takes part, over the filters of its group.
 */
DEVICE acc scatter_sum(const struct rp_kargs *a, const real *gy, const real *w,
                       const int64_t at[3]) {
    const int64_t depth = a->channels / a->groups, per_group = a->filters / a->groups;
    const int64_t y_plane = volume(a->y_size), w_step = depth * volume(a->kernel);
    acc sum = 0;
    int64_t i[3];
    for (int64_t r0 = 0; r0 < a->kernel[0]; r0++) {
        if ((i[0] = y_place(a, 0, at[0], r0)) < 0)
            continue;
        for (int64_t r1 = 0; r1 < a->kernel[1]; r1++) {
            if ((i[1] = y_place(a, 1, at[1], r1)) < 0)
                continue;
            for (int64_t r2 = 0; r2 < a->kernel[2]; r2++) {
                if ((i[2] = y_place(a, 2, at[2], r2)) < 0)
                    continue;
                const real *g = gy + (i[0] * a->y_size[1] + i[1]) * a->y_size[2] + i[2];
                const real *tap = w + (r0 * a->kernel[1] + r1) * a->kernel[2] + r2;
                for (int64_t k = 0; k < per_group; k++)
                    sum += get(g[k * y_plane]) * get(tap[k * w_step]);
            }
        }
    }
    return sum;
}

DEVICE acc scatter_at(const struct rp_kargs *a, const real *gy, const real *w, int64_t i,
                      int64_t *channel) {
    const int64_t depth = a->channels / a->groups, per_group = a->filters / a->groups;
    int64_t at[3];
    const int64_t plane = locate(a->x_size, i, at);
    const int64_t n = plane / a->channels, c = plane % a->channels;
    const int64_t k = c / depth * per_group; /* the group's first filter */
    *channel = c;
    return scatter_sum(a, gy + (n * a->filters + k) * volume(a->y_size),
                       w + (k * depth + c % depth) * volume(a->kernel), at);
}

/* (gy, weight) -> gx */
EACH_FALLBACK(conv_grad_input, a->batch * a->channels * volume(a->x_size)) {
    int64_t c;
    OUT(0)[i] = put(scatter_at(a, IN(0), IN(1), i, &c));
}

/* The gradient of one tap of a filter, from the planes of one image. */
DEVICE acc tap_sum(const struct rp_kargs *a, const real *x, const real *gy,
                   const int64_t r[3]) {
    acc sum = 0;
    int64_t place[3];
    for (int64_t i0 = 0; i0 < a->y_size[0]; i0++) {
        if (!inside(place[0] = x_place(a, 0, i0, r[0]), a->x_size[0]))
            continue;
        for (int64_t i1 = 0; i1 < a->y_size[1]; i1++) {
            if (!inside(place[1] = x_place(a, 1, i1, r[1]), a->x_size[1]))
                continue;
            const real *row = x + (place[0] * a->x_size[1] + place[1]) * a->x_size[2];
            const real *g = gy + (i0 * a->y_size[1] + i1) * a->y_size[2];
            for (int64_t i2 = 0; i2 < a->y_size[2]; i2++)
                if (inside(place[2] = x_place(a, 2, i2, r[2]), a->x_size[2]))
                    sum += get(row[place[2]]) * get(g[i2]);
        }
    }
    return sum;
}

DEVICE acc weight_grad_at(const struct rp_kargs *a, const real *gy, const real *x,
                          int64_t i) {
    const int64_t depth = a->channels / a->groups, per_group = a->filters / a->groups;
    const int64_t x_plane = volume(a->x_size), y_plane = volume(a->y_size);
    int64_t r[3];
    const int64_t pair = locate(a->kernel, i, r), k = pair / depth;
    const int64_t c = k / per_group * depth + pair % depth;
    acc sum = 0;
    for (int64_t n = 0; n < a->batch; n++)
        sum += tap_sum(a, x + (n * a->channels + c) * x_plane,
                       gy + (n * a->filters + k) * y_plane, r);
    return sum;
}

#define WEIGHTS (a->filters * (a->channels / a->groups) * volume(a->kernel))

/* (gy, x) -> gweight */
EACH_FALLBACK(conv_grad_weight, WEIGHTS) {
    OUT(0)[i] = put(weight_grad_at(a, IN(0), IN(1), i));
}

/* A transposed convolution is the input gradient of a convolution. Its x is that one's y,
 * with a->filters planes, and its y is that one's x, with a->channels planes. */
EACH_FALLBACK(conv_transpose, a->batch * a->channels * volume(a->x_size)) {
    int64_t c;
    const acc sum = scatter_at(a, IN(0), IN(1), i, &c);
    OUT(0)[i] = put(a->n_in > 2 ? sum + get(IN(2)[c]) : sum);
}

/* (gy, weight) -> gx */
EACH_FALLBACK(conv_transpose_grad_input, a->batch * a->filters * volume(a->y_size)) {
    conv_at(a, in, out, i);
}

/* (gy, x) -> gweight */
EACH_FALLBACK(conv_transpose_grad_weight, WEIGHTS) {
    OUT(0)[i] = put(weight_grad_at(a, IN(1), IN(0), i));
}

#undef WEIGHTS
