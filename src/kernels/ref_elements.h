/* SPDX-License-Identifier: MIT */
/* ref_elements: kernels that compute a->count results, one an element. Most are rows of
 * RP_REF_ELEMENTWISE in ref.h; their formulas use the functions here. */

DEVICE acc sigmoid(acc x) {
    return 1 / (1 + MATH(exp)(-x));
}

/* Phi(x), the cumulative distribution function of the standard normal distribution. */
DEVICE acc normal_cdf(acc x) {
    return (acc)0.5 * (1 + MATH(erf)(x * (acc)0.70710678118654752440));
}

/* The tanh of gelu's approximation (Hendrycks and Gimpel, 2016). */
#define ROOT_2_OVER_PI ((acc)0.79788456080286535588)
#define GELU_CUBIC ((acc)0.044715)
DEVICE acc gelu_tanh_of(acc x) {
    return MATH(tanh)(ROOT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
}
DEVICE acc gelu_slope(acc x) {
    const acc density = (acc)0.39894228040143267794 * MATH(exp)(-x * x / 2);
    return normal_cdf(x) + x * density;
}
DEVICE acc gelu_tanh_slope(acc x) {
    const acc t = gelu_tanh_of(x);
    return (1 + t) / 2 +
           x * (1 - t * t) / 2 * ROOT_2_OVER_PI * (1 + 3 * GELU_CUBIC * x * x);
}
DEVICE acc silu_slope(acc x) {
    const acc s = sigmoid(x);
    return s * (1 + x * (1 - s));
}

#define UNARY(name, result)                                                                \
    EACH(name, a->count) {                                                                 \
        const acc x = get(IN(0)[i]);                                                       \
        OUT(0)[i] = put(result);                                                           \
    }
#define BINARY(name, result)                                                               \
    EACH(name, a->count) {                                                                 \
        const acc x = get(IN(0)[i]), y = get(IN(1)[i]);                                    \
        OUT(0)[i] = put(result);                                                           \
    }
#define GRAD(name, result)                                                                 \
    EACH(name, a->count) {                                                                 \
        const acc gy = get(IN(0)[i]), v = get(IN(1)[i]);                                   \
        OUT(0)[i] = put(result);                                                           \
    }

RP_REF_ELEMENTWISE(UNARY, BINARY, GRAD)

#undef UNARY
#undef BINARY
#undef GRAD

EACH(scale, a->count) {
    OUT(0)[i] = put((acc)a->alpha * get(IN(0)[i]));
}

/* SplitMix64's mixer twice (Steele, Lea, Flood 2014), as docs/ops.md defines it. */
DEVICE double dropout_draw(uint64_t seed, uint64_t i) {
    uint64_t z = seed * 0x9E3779B97F4A7C15u + i;
    for (int k = 0; k < 2; k++) {
        z += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
    }
    return (double)(z >> 40) * 0x1p-24;
}

EACH(dropout, a->count) {
    const acc keep = (acc)(float)(1 / (1 - a->p));
    OUT(0)[i] = put(dropout_draw(a->seed, (uint64_t)i) >= a->p ? get(IN(0)[i]) * keep : 0);
}

/* x as (outer, mid, inner), and v with mid elements. */
EACH(add_broadcast, a->outer * a->mid * a->inner) {
    OUT(0)[i] = put(get(IN(0)[i]) + get(IN(1)[i / a->inner % a->mid]));
}

EACH(mul_broadcast, a->outer * a->mid * a->inner) {
    OUT(0)[i] = put(get(IN(0)[i]) * get(IN(1)[i / a->inner % a->mid]));
}
