/* SPDX-License-Identifier: MIT */
/* ref_elements: one result an element; a->count of them. */

#define UNARY(name, expression)                                                            \
    EACH(name, a->count) {                                                                 \
        const acc x = get(IN(0)[i]);                                                       \
        OUT(0)[i] = put(expression);                                                       \
    }

#define BINARY(name, expression)                                                           \
    EACH(name, a->count) {                                                                 \
        const acc x = get(IN(0)[i]), y = get(IN(1)[i]);                                    \
        OUT(0)[i] = put(expression);                                                       \
    }

DEVICE acc sigmoid(acc x) {
    return 1 / (1 + MATH(exp)(-x));
}

/* Phi(x), the normal distribution's; and the argument of tanh in its approximation. */
DEVICE acc normal(acc x) {
    return (acc)0.5 * (1 + MATH(erf)(x * (acc)0.70710678118654752440));
}
#define ROOT_2_OVER_PI ((acc)0.79788456080286535588)
#define GELU_CUBIC ((acc)0.044715)
DEVICE acc gelu_tanh_of(acc x) {
    return MATH(tanh)(ROOT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
}
DEVICE acc gelu_slope(acc x) {
    const acc density = (acc)0.39894228040143267794 * MATH(exp)(-x * x / 2);
    return normal(x) + x * density;
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

UNARY(relu, x > 0 ? x : 0)
UNARY(relu6, x > 0 ? (x < 6 ? x : 6) : 0)
UNARY(tanh, MATH(tanh)(x))
UNARY(gelu, (x)*normal(x))
UNARY(gelu_tanh, (x) * (1 + gelu_tanh_of(x)) / 2)
UNARY(silu, (x)*sigmoid(x))
UNARY(scale, (acc)a->alpha *(x))

BINARY(add, x + y)
BINARY(mul, (x)*y)

/* (gy, y): the slope is a function of the output. */
BINARY(relu_grad, y > 0 ? x : 0)
BINARY(relu6_grad, y > 0 && y < 6 ? x : 0)
BINARY(tanh_grad, (x) * (1 - y * y))

/* (gy, x): the slope is a function of the input, which is the second operand. */
BINARY(gelu_grad, (x)*gelu_slope(y))
BINARY(gelu_tanh_grad, (x)*gelu_tanh_slope(y))
BINARY(silu_grad, (x)*silu_slope(y))

/* Two rounds of SplitMix64's mixer (Steele, Lea, Flood 2014), as docs/ops.md gives it. */
DEVICE double dropout_draw(uint64_t seed, uint64_t i) {
    uint64_t z = seed * 0x9E3779B97F4A7C15u + i;
    for (int round = 0; round < 2; round++) {
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

/* x as (outer, mid, inner) and v of mid elements. */
EACH(add_broadcast, a->outer * a->mid * a->inner) {
    OUT(0)[i] = put(get(IN(0)[i]) + get(IN(1)[i / a->inner % a->mid]));
}

EACH(mul_broadcast, a->outer * a->mid * a->inner) {
    OUT(0)[i] = put(get(IN(0)[i]) * get(IN(1)[i / a->inner % a->mid]));
}

#undef UNARY
#undef BINARY
