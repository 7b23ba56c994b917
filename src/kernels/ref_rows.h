/* ref_rows: softmax, losses, rotary positions, LSTM cells. Included by ref_TYPE.c. */

/* ---- softmax: x as (outer, mid, inner), over mid ---- */

/* Elements that take part. With a->causal, row o has the query o mod m. */
static inline int64_t seen(const struct rp_kargs *a, int64_t o) {
    const int64_t n = o % a->m + 1;
    return a->causal && n < a->mid ? n : a->mid;
}

KERNEL(softmax) {
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t r = 0; r < a->inner; r++) {
            const real *x = (const real *)in[0] + o * a->mid * a->inner + r;
            real *y = (real *)out[0] + o * a->mid * a->inner + r;
            const int64_t n = seen(a, o);
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
            const int64_t first = o * a->mid * a->inner + r, n = seen(a, o);
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

/* (logits, labels) -> loss, logsumexp. A label out of range, which only a broken plan
 * makes, stands for a logit of 0. */
KERNEL(softmax_cross_entropy) {
    const int32_t *label = in[1];
    stat *loss = out[0], *logsumexp = out[1];
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

/* (logits, labels, logsumexp) -> glogits */
KERNEL(softmax_cross_entropy_grad) {
    const int32_t *label = in[1];
    const stat *logsumexp = in[2];
    const acc each = (acc)a->alpha / (acc)(a->outer * a->inner);
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t r = 0; r < a->inner; r++, label++, logsumexp++) {
            const real *z = (const real *)in[0] + o * a->mid * a->inner + r;
            real *gz = (real *)out[0] + o * a->mid * a->inner + r;
            for (int64_t i = 0; i < a->mid; i++)
                gz[i * a->inner] =
                    put(each * (MATH(exp)(get(z[i * a->inner]) - *logsumexp) -
                                (acc)(*label == i)));
        }
}

/* ---- rotary positions: `batch` sequences, m tokens, n heads of size k ---- */

KERNEL(rotary) {
    const real *x = in[0];
    real *y = out[0];
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t t = 0; t < a->m; t++)
            for (int64_t h = 0; h < a->n; h++, x += a->k, y += a->k)
                for (int64_t i = 0; i < a->k / 2; i++) {
                    double angle = (double)t * pow(a->base, -2 * (double)i / (double)a->k);
                    angle = a->inverse ? -angle : angle;
                    const acc c = (acc)cos(angle), s = (acc)sin(angle);
                    const acc x0 = get(x[2 * i]), x1 = get(x[2 * i + 1]);
                    y[2 * i] = put(x0 * c - x1 * s);
                    y[2 * i + 1] = put(x0 * s + x1 * c);
                }
}

/* ---- LSTM: `batch` rows of n hidden units; gates i, f, g, o, each n wide ---- */

/* (gates, c) -> h, c' */
KERNEL(lstm_cell) {
    const real *gates = in[0], *c = in[1];
    real *h = out[0], *next = out[1];
    for (int64_t row = 0; row < a->batch; row++, gates += 4 * a->n)
        for (int64_t j = 0; j < a->n; j++) {
            const acc i = sigmoid(get(gates[j])), f = sigmoid(get(gates[a->n + j]));
            const acc g = MATH(tanh)(get(gates[2 * a->n + j]));
            const acc o = sigmoid(get(gates[3 * a->n + j]));
            const acc now = f * get(*c++) + i * g;
            *next++ = put(now);
            *h++ = put(o * MATH(tanh)(now));
        }
}

/* (gates, c, c', gh if grad_h, gc' if grad_c) -> ggates, gc or nothing. tanh(c') is of c'
 * as it is stored. */
KERNEL(lstm_cell_grad) {
    const real *gates = in[0], *c = in[1], *next = in[2];
    const real *gh = a->grad_h ? in[3] : NULL,
               *gnext = a->grad_c ? in[3 + a->grad_h] : NULL;
    real *ggates = out[0], *gc = a->n_out > 1 ? out[1] : NULL;
    for (int64_t row = 0; row < a->batch; row++, gates += 4 * a->n, ggates += 4 * a->n)
        for (int64_t j = 0; j < a->n; j++) {
            const int64_t at = row * a->n + j;
            const acc i = sigmoid(get(gates[j])), f = sigmoid(get(gates[a->n + j]));
            const acc g = MATH(tanh)(get(gates[2 * a->n + j]));
            const acc o = sigmoid(get(gates[3 * a->n + j])), t = MATH(tanh)(get(next[at]));
            const acc dh = gh != NULL ? get(gh[at]) : 0;
            const acc s = (gnext != NULL ? get(gnext[at]) : 0) + dh * o * (1 - t * t);
            ggates[j] = put(s * g * i * (1 - i));
            ggates[a->n + j] = put(s * get(c[at]) * f * (1 - f));
            ggates[2 * a->n + j] = put(s * i * (1 - g * g));
            ggates[3 * a->n + j] = put(dh * t * o * (1 - o));
            if (gc != NULL)
                gc[at] = put(s * f);
        }
}
