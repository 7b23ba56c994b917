/* SPDX-License-Identifier: MIT */
/* ref_moves: kernels that move elements and compute nothing.
 *
 * An index that is out of range (only a broken plan makes one) reads as 0 and writes
 * nothing, so that the replay which shows the plan wrong does not crash.
 */

DEVICE int inside(int64_t place, int64_t size) {
    return place >= 0 && place < size;
}

/* The larger tensor as (outer, mid, inner); k of its mid from `start` are in the other. */
EACH(slice, a->outer * a->k * a->inner) {
    const int64_t row = a->k * a->inner;
    OUT(0)[i] = IN(0)[(i / row * a->mid + a->start) * a->inner + i % row];
}

EACH(slice_grad, a->outer * a->mid * a->inner) {
    const int64_t row = a->mid * a->inner, from = i % row - a->start * a->inner;
    const int64_t cut = a->k * a->inner;
    OUT(0)[i] = inside(from, cut) ? IN(0)[i / row * cut + from] : put(0);
}

/* `outer` copies of x's `count` elements. */
EACH(repeat, a->outer * a->count) {
    OUT(0)[i] = IN(0)[i % a->count];
}

/* `batch` matrices m x n become n x m. */
EACH(transpose, a->batch * a->m * a->n) {
    const int64_t matrix = i / (a->m * a->n), row = i / a->m % a->n, col = i % a->m;
    OUT(0)[i] = IN(0)[(matrix * a->m + col) * a->n + row];
}

/* A table of m rows with n elements each, and `count` ids. */
EACH(gather, a->count * a->n) {
    const int64_t id = ((const int32_t *)in[1])[i / a->n];
    OUT(0)[i] = inside(id, a->m) ? IN(0)[id * a->n + i % a->n] : put(0);
}
