#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "model/zoo/layers_seq.h"

/* ---- the strided batched product ---- */

static void read_numbers(const json_t *attrs, const char *key, size_t n, uint64_t *at) {
    const json_t *array = json_object_get(attrs, key);
    for (size_t i = 0; i < n; i++)
        at[i] = (uint64_t)json_integer_value(json_array_get(array, i));
}

struct rp_bmm rp_bmm_of(const json_t *attrs) {
    struct rp_bmm d;
    read_numbers(attrs, "batch", 3, d.batch);
    read_numbers(attrs, "strides_a", 5, d.a);
    read_numbers(attrs, "strides_b", 5, d.b);
    read_numbers(attrs, "strides_c", 5, d.c);
    d.m = (uint64_t)json_integer_value(json_object_get(attrs, "m"));
    d.n = (uint64_t)json_integer_value(json_object_get(attrs, "n"));
    d.k = (uint64_t)json_integer_value(json_object_get(attrs, "k"));
    d.alpha = json_number_value(json_object_get(attrs, "alpha"));
    return d;
}

/* How many different elements the strides address. A stride of 0 repeats them; a dimension
 * of size 1 may have any stride. */
static uint64_t n_addressed(const uint64_t batch[3], uint64_t rows, uint64_t cols,
                            const uint64_t strides[5]) {
    const uint64_t size[5] = {batch[0], batch[1], batch[2], rows, cols};
    uint64_t count = 1;
    for (size_t i = 0; i < 5; i++)
        count *= strides[i] != 0 ? size[i] : 1;
    return count;
}

struct rp_val rp_nn_bmm(struct rp_builder *b, const char *name, struct rp_val x,
                        struct rp_val y, struct rp_val like, const struct rp_bmm *d) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    assert(n_addressed(d->batch, d->m, d->k, d->a) == rp_count(&x));
    assert(n_addressed(d->batch, d->k, d->n, d->b) == rp_count(&y));
    assert(n_addressed(d->batch, d->m, d->n, d->c) == rp_count(&like));
    json_t *attrs =
        json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:f}", "batch", rp_numbers(3, d->batch),
                  "m", (json_int_t)d->m, "n", (json_int_t)d->n, "k", (json_int_t)d->k,
                  "strides_a", rp_numbers(5, d->a), "strides_b", rp_numbers(5, d->b),
                  "strides_c", rp_numbers(5, d->c), "alpha", d->alpha);
    struct rp_spec s = {.kind = "bmm",
                        .name = name,
                        .attrs = attrs,
                        .flops = rp_product(b, RP_SHAPE(2, d->batch[0], d->batch[1],
                                                        d->batch[2], d->m, d->n, d->k))};
    return rp_emit1(b, s, rp_like(like), RP_IN(x, y));
}

/* ---- attention ----
 * The three batch dimensions are the batch, the heads of keys and values, and the query
 * heads that share one of these. */

struct rp_val rp_nn_scores(struct rp_builder *b, const char *name, struct rp_val q,
                           struct rp_val k, struct rp_heads h) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const uint64_t m = q.dim[1], n = k.dim[1], group = h.heads / h.kv_heads;
    const uint64_t width = q.dim[2], kv_width = k.dim[2], size = width / h.heads;
    assert(width % h.heads == 0 && kv_width == size * h.kv_heads);
    const struct rp_bmm d = {.batch = {q.dim[0], h.kv_heads, group},
                             .m = m,
                             .n = n,
                             .k = size,
                             .a = {m * width, group * size, size, width, 1},
                             .b = {n * kv_width, size, 0, 1, kv_width},
                             .c = {h.heads * m * n, group * m * n, m * n, n, 1},
                             .alpha = 1 / sqrt((double)size)};
    return rp_nn_bmm(b, name, q, k, rp_shaped(q.dtype, RP_SHAPE(q.dim[0], h.heads, m, n)),
                     &d);
}

struct rp_val rp_nn_weigh(struct rp_builder *b, const char *name, struct rp_val p,
                          struct rp_val v, struct rp_heads h) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const uint64_t m = p.dim[2], n = p.dim[3], group = h.heads / h.kv_heads;
    const uint64_t kv_width = v.dim[2], size = kv_width / h.kv_heads;
    const uint64_t width = size * h.heads;
    const struct rp_bmm d = {.batch = {p.dim[0], h.kv_heads, group},
                             .m = m,
                             .n = size,
                             .k = n,
                             .a = {h.heads * m * n, group * m * n, m * n, n, 1},
                             .b = {n * kv_width, size, 0, kv_width, 1},
                             .c = {m * width, group * size, size, width, 1},
                             .alpha = 1};
    return rp_nn_bmm(b, name, p, v, rp_shaped(p.dtype, RP_SHAPE(p.dim[0], m, width)), &d);
}

struct rp_val rp_nn_attention(struct rp_builder *b, struct rp_val q, struct rp_val k,
                              struct rp_val v, struct rp_heads h, bool causal, double p) {
    struct rp_val x = rp_nn_scores(b, "scores", q, k, h);
    x = rp_nn_softmax(b, "softmax", x, 3, causal);
    if (p > 0)
        x = rp_nn_dropout(b, "dropout", x, p);
    return rp_nn_weigh(b, "context", x, v, h);
}
