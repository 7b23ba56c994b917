#include "solve/bound/safe_dual.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define MAX_LOG2 40   /* finer multipliers do not improve bounds */
#define VALUE_BITS 62 /* of multipliers, so that an int64_t holds them */

/* The factor that turns a row's coefficients into integers: some rows count scaled bytes or
 * scaled times. */
static double row_unit(const struct rp_formulation *f, const struct rp_row_set *rows,
                       uint32_t i) {
    switch (rows->name[i].kind) {
    case RP_ROW_MEM:
        return 1 / f->byte_scale;
    case RP_ROW_EXTRA:
    case RP_ROW_COPY:
        return 1 / f->time_scale;
    default:
        return 1;
    }
}

/* The unscaled row's multiplier from the scaled row's. Exact, since scales are powers of
 * two. */
static double unscale(const struct rp_formulation *f, const struct rp_row_set *rows,
                      uint32_t i, double y) {
    return y / f->time_scale / row_unit(f, rows, i);
}

void rp_safe_dual_round(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const double *y, int64_t *m, unsigned *scale_log2) {
    double largest = 1;
    int exponent;
    for (uint32_t i = 0; i < rows->n; i++)
        largest = fmax(largest, unscale(f, rows, i, y[i]));
    frexp(largest, &exponent);
    int log2 = VALUE_BITS - exponent;
    log2 = log2 > MAX_LOG2 ? MAX_LOG2 : log2 < 0 ? 0 : log2;
    *scale_log2 = (unsigned)log2;
    for (uint32_t i = 0; i < rows->n; i++) {
        double value = ldexp(unscale(f, rows, i, y[i]), log2);
        m[i] = value > 0 && value < ldexp(1, VALUE_BITS) ? (int64_t)llround(value) : 0;
    }
}

/* *sum += m * coef, where coef is in the row's unit. */
static bool add_product(__int128 *sum, int64_t m, double coef) {
    __int128 product;
    return fabs(coef) < 0x1p53 && floor(coef) == coef &&
           !__builtin_mul_overflow((__int128)m, (int64_t)coef, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

static bool add_rows(const struct rp_formulation *f, const struct rp_row_set *rows,
                     const int64_t *m, __int128 *price, __int128 *sum) {
    for (uint32_t i = 0; i < rows->n; i++) {
        double unit = row_unit(f, rows, i);
        if (m[i] < 0)
            return false;
        if (m[i] == 0)
            continue;
        if (!add_product(sum, m[i], -rows->rhs[i] * unit))
            return false;
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            if (!add_product(&price[rows->col[k]], m[i], rows->coef[k] * unit))
                return false;
    }
    return true;
}

static uint64_t cost_ns(const struct rp_formulation *f, uint32_t col) {
    if (col < f->n_run_cols)
        return f->instance->time_ns[f->col_id[col]];
    return col >= rp_formulation_wait(f, 0) ? f->slack_ns : 0;
}

/* Makes prices reduced costs, and adds those below 0 to the sum. */
static bool add_columns(const struct rp_formulation *f, unsigned scale_log2,
                        __int128 *price, __int128 *sum) {
    for (uint32_t j = 0; j < f->n_cols; j++) {
        __int128 cost = (__int128)cost_ns(f, j) << scale_log2;
        if (__builtin_add_overflow(cost, price[j], &price[j]) ||
            (price[j] < 0 && __builtin_add_overflow(*sum, price[j], sum)))
            return false;
    }
    return true;
}

/* The time of all runs that are constants 1. */
static __int128 fixed_ns(const struct rp_formulation *f) {
    __int128 sum = 0;
    for (uint32_t j = 0; j < f->instance->n_ops; j++)
        for (uint32_t t = f->stage_of[j]; t <= f->r_last[j]; t++)
            if (rp_formulation_run(f, t, j) == RP_COL_ONE)
                sum += (__int128)f->instance->time_ns[j];
    return sum;
}

/* Sets the value (7), times 2^scale_log2, and the reduced costs of all columns, which the
 * caller frees in any case. */
static bool evaluate(const struct rp_formulation *f, const struct rp_row_set *rows,
                     const int64_t *m, unsigned scale_log2, __int128 *sum,
                     __int128 **reduced) {
    *reduced = rp_calloc(f->n_cols, sizeof **reduced);
    *sum = fixed_ns(f) << scale_log2;
    return add_rows(f, rows, m, *reduced, sum) && add_columns(f, scale_log2, *reduced, sum);
}

static uint64_t to_ns(__int128 sum, unsigned scale_log2) {
    __int128 one = (__int128)1 << scale_log2;
    __int128 up = sum / one + (sum % one > 0); /* C rounds towards zero */
    return up < 0 ? 0 : up > INT64_MAX ? INT64_MAX : (uint64_t)up;
}

bool rp_safe_dual_bound(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const int64_t *m, unsigned scale_log2, uint64_t *bound_ns) {
    __int128 sum, *reduced;
    bool fits = evaluate(f, rows, m, scale_log2, &sum, &reduced);
    if (fits)
        *bound_ns = to_ns(sum, scale_log2);
    free(reduced);
    return fits;
}

bool rp_safe_dual_fix(const struct rp_formulation *f, const struct rp_row_set *rows,
                      const int64_t *m, unsigned scale_log2, uint64_t cutoff_ns,
                      uint64_t *bound_ns, uint8_t *known) {
    __int128 sum, *reduced;
    bool fits = evaluate(f, rows, m, scale_log2, &sum, &reduced);
    /* What takes more than this takes cutoff_ns at least, since times are whole. */
    __int128 room = ((__int128)cutoff_ns - 1) * ((__int128)1 << scale_log2) - sum;
    if (fits)
        *bound_ns = to_ns(sum, scale_log2);
    for (uint32_t j = 0; j < f->n_cols && fits; j++)
        known[j] = reduced[j] > room ? 0 : -reduced[j] > room ? 1 : RP_UNDECIDED;
    free(reduced);
    return fits;
}
