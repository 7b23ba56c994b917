/* SPDX-License-Identifier: MIT */
/* ref_norm: normalizations in C. Their CUDA versions are in cuda/sums.cuh. */

/* ---- batch norm: x as (outer, mid, inner), with one statistic for each channel of mid
 * ---- */

#define EACH_OF(c, i)                                                                      \
    for (int64_t o = 0; o < a->outer; o++)                                                 \
        for (int64_t i = (o * a->mid + (c)) * a->inner, end = i + a->inner; i < end; i++)

/* (x, gamma and beta if affine) -> y, mean, invstd */
KERNEL(batch_norm) {
    const real *x = in[0];
    const stat_t *gamma = a->affine ? in[1] : NULL, *beta = a->affine ? in[2] : NULL;
    real *y = out[0];
    stat_t *means = out[1], *invstds = out[2];
    const acc per_channel = (acc)(a->outer * a->inner);
    for (int64_t c = 0; c < a->mid; c++) {
        acc sum = 0, squares = 0;
        EACH_OF(c, i)
        sum += get(x[i]);
        const acc mean = sum / per_channel;
        EACH_OF(c, i)
        squares += (get(x[i]) - mean) * (get(x[i]) - mean);
        const acc invstd = 1 / MATH(sqrt)(squares / per_channel + (acc)a->eps);
        means[c] = mean;
        invstds[c] = invstd;
        EACH_OF(c, i) {
            const acc h = (get(x[i]) - mean) * invstd;
            y[i] = put(a->affine ? h * gamma[c] + beta[c] : h);
        }
    }
}

/* (gy, x, mean, invstd, gamma if affine) -> gx, ggamma and gbeta if affine */
KERNEL(batch_norm_grad) {
    const real *gy = in[0], *x = in[1];
    const stat_t *means = in[2], *invstds = in[3], *gamma = a->affine ? in[4] : NULL;
    real *gx = out[0];
    const acc per_channel = (acc)(a->outer * a->inner);
    for (int64_t c = 0; c < a->mid; c++) {
        const acc mean = means[c], invstd = invstds[c];
        acc sum = 0, product = 0;
        EACH_OF(c, i) {
            sum += get(gy[i]);
            product += get(gy[i]) * ((get(x[i]) - mean) * invstd);
        }
        const acc factor = a->affine ? gamma[c] * invstd : invstd;
        EACH_OF(c, i) {
            const acc h = (get(x[i]) - mean) * invstd;
            gx[i] =
                put(factor * (get(gy[i]) - sum / per_channel - h * product / per_channel));
        }
        if (a->affine) {
            ((stat_t *)out[1])[c] = product;
            ((stat_t *)out[2])[c] = sum;
        }
    }
}
#undef EACH_OF

/* ---- along rows: `outer` rows of `inner` elements ---- */

/* (x, weight, bias) -> y, mean, invstd */
KERNEL(layer_norm) {
    const real *x = in[0];
    const stat_t *weight = in[1], *bias = in[2];
    real *y = out[0];
    const acc n = (acc)a->inner;
    for (int64_t row = 0; row < a->outer; row++, x += a->inner, y += a->inner) {
        acc sum = 0, squares = 0;
        for (int64_t i = 0; i < a->inner; i++)
            sum += get(x[i]);
        const acc mean = sum / n;
        for (int64_t i = 0; i < a->inner; i++)
            squares += (get(x[i]) - mean) * (get(x[i]) - mean);
        const acc invstd = 1 / MATH(sqrt)(squares / n + (acc)a->eps);
        ((stat_t *)out[1])[row] = mean;
        ((stat_t *)out[2])[row] = invstd;
        for (int64_t i = 0; i < a->inner; i++)
            y[i] = put((get(x[i]) - mean) * invstd * weight[i] + bias[i]);
    }
}

/* (gy, x, mean, invstd, weight) -> gx, gweight, gbias */
KERNEL(layer_norm_grad) {
    const real *gy = in[0], *x = in[1];
    const stat_t *means = in[2], *invstds = in[3], *weight = in[4];
    real *gx = out[0];
    const int64_t n = a->inner;
    for (int64_t row = 0; row < a->outer; row++) {
        const acc mean = means[row], invstd = invstds[row];
        acc sum = 0, product = 0;
        for (int64_t i = row * n; i < (row + 1) * n; i++) {
            const acc u = get(gy[i]) * weight[i - row * n];
            sum += u;
            product += u * ((get(x[i]) - mean) * invstd);
        }
        for (int64_t i = row * n; i < (row + 1) * n; i++) {
            const acc u = get(gy[i]) * weight[i - row * n];
            const acc h = (get(x[i]) - mean) * invstd;
            gx[i] = put(invstd * (u - sum / (acc)n - h * (product / (acc)n)));
        }
    }
    for (int64_t col = 0; col < n; col++) {
        acc sum = 0, product = 0;
        for (int64_t row = 0; row < a->outer; row++) {
            const acc g = get(gy[row * n + col]);
            sum += g;
            product += g * ((get(x[row * n + col]) - means[row]) * invstds[row]);
        }
        ((stat_t *)out[1])[col] = product;
        ((stat_t *)out[2])[col] = sum;
    }
}

/* (x, weight) -> y, invrms */
KERNEL(rms_norm) {
    const real *x = in[0];
    const stat_t *weight = in[1];
    real *y = out[0];
    for (int64_t row = 0; row < a->outer; row++, x += a->inner, y += a->inner) {
        acc squares = 0;
        for (int64_t i = 0; i < a->inner; i++)
            squares += get(x[i]) * get(x[i]);
        const acc invrms = 1 / MATH(sqrt)(squares / (acc)a->inner + (acc)a->eps);
        ((stat_t *)out[1])[row] = invrms;
        for (int64_t i = 0; i < a->inner; i++)
            y[i] = put(get(x[i]) * invrms * weight[i]);
    }
}

/* (gy, x, invrms, weight) -> gx, gweight */
KERNEL(rms_norm_grad) {
    const real *gy = in[0], *x = in[1];
    const stat_t *invrms = in[2], *weight = in[3];
    real *gx = out[0];
    const int64_t n = a->inner;
    for (int64_t row = 0; row < a->outer; row++) {
        acc product = 0;
        for (int64_t i = row * n; i < (row + 1) * n; i++)
            product += get(gy[i]) * weight[i - row * n] * (get(x[i]) * invrms[row]);
        for (int64_t i = row * n; i < (row + 1) * n; i++) {
            const acc u = get(gy[i]) * weight[i - row * n], h = get(x[i]) * invrms[row];
            gx[i] = put(invrms[row] * (u - h * (product / (acc)n)));
        }
    }
    for (int64_t col = 0; col < n; col++) {
        acc product = 0;
        for (int64_t row = 0; row < a->outer; row++)
            product += get(gy[row * n + col]) * (get(x[row * n + col]) * invrms[row]);
        ((stat_t *)out[1])[col] = product;
    }
}

/* ---- weight norm: one vector v of `count` elements and a number g ---- */

static acc length_of(const real *v, int64_t n) {
    acc squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += get(v[i]) * get(v[i]);
    return MATH(sqrt)(squares);
}

/* (v, g) -> w */
KERNEL(weight_norm) {
    const real *v = in[0], *g = in[1];
    real *w = out[0];
    const acc factor = get(*g) / length_of(v, a->count);
    for (int64_t i = 0; i < a->count; i++)
        w[i] = put(factor * get(v[i]));
}

/* (gw, v, g) -> gv, gg */
KERNEL(weight_norm_grad) {
    const real *gw = in[0], *v = in[1], *g = in[2];
    real *gv = out[0], *gg = out[1];
    const acc length = length_of(v, a->count);
    acc sum = 0;
    for (int64_t i = 0; i < a->count; i++)
        sum += get(gw[i]) * (get(v[i]) / length);
    *gg = put(sum);
    for (int64_t i = 0; i < a->count; i++)
        gv[i] = put(get(*g) / length * (get(gw[i]) - get(v[i]) / length * sum));
}
