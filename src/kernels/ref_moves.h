/* SPDX-License-Identifier: MIT */
/* ref_moves: kernels that only move elements.
 *
 * An index out of range, which only an invalid plan can cause, reads as 0 and writes
 * nothing. So the replay that proves the plan wrong does not crash.
 */

DEVICE int inside(int64_t index, int64_t size) {
    return index >= 0 && index < size;
}

/* The larger tensor as (outer, mid, inner). The smaller one has k of mid, from `start` on.
 */
EACH(slice, a->outer * a->k * a->inner) {
    const int64_t row = a->k * a->inner;
    OUT(0)[i] = IN(0)[(i / row * a->mid + a->start) * a->inner + i % row];
}

EACH(slice_grad, a->outer * a->mid * a->inner) {
    const int64_t row = a->mid * a->inner, from = i % row - a->start * a->inner;
    const int64_t cut = a->k * a->inner;
    OUT(0)[i] = inside(from, cut) ? IN(0)[i / row * cut + from] : put(0);
}

/* The output has `outer` copies of x, which has `count` elements. */
EACH(repeat, a->outer * a->count) {
    OUT(0)[i] = IN(0)[i % a->count];
}

/* `batch` matrices of m x n elements become n x m. */
EACH(transpose, a->batch * a->m * a->n) {
    const int64_t matrix = i / (a->m * a->n), row = i / a->m % a->n, col = i % a->m;
    OUT(0)[i] = IN(0)[(matrix * a->m + col) * a->n + row];
}

/* (table, ids) -> rows: the table has m rows of n elements, and there are `count` ids. */
EACH(gather, a->count * a->n) {
    const int64_t id = ((const int32_t *)in[1])[i / a->n];
    OUT(0)[i] = inside(id, a->m) ? IN(0)[id * a->n + i % a->n] : put(0);
}
