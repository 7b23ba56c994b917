#include "solve/bound/safe_dual.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define MAX_LOG2 40  /* finer multipliers change no bound */
#define ROOM_LOG2 62 /* of an int64_t */

/* What turns a row's coefficients into integers; memory rows count scaled bytes. */
static double row_unit(const struct rp_formulation *f, const struct rp_row_set *rows,
                       uint32_t i) {
    return rows->name[i].kind == RP_ROW_MEM ? 1 / f->byte_scale : 1;
}

/* A multiplier of the scaled row in units of the real one. Powers of two: exact. */
static double real_multiplier(const struct rp_formulation *f, const struct rp_row_set *rows,
                              uint32_t i, double y) {
    return y / f->time_scale / row_unit(f, rows, i);
}

void rp_safe_dual_round(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const double *y, int64_t *m, unsigned *scale_log2) {
    double most = 1;
    int exponent;
    for (uint32_t i = 0; i < rows->n; i++)
        most = fmax(most, real_multiplier(f, rows, i, y[i]));
    frexp(most, &exponent);
    int log2 = ROOM_LOG2 - exponent;
    log2 = log2 > MAX_LOG2 ? MAX_LOG2 : log2 < 0 ? 0 : log2;
    *scale_log2 = (unsigned)log2;
    for (uint32_t i = 0; i < rows->n; i++) {
        double value = ldexp(real_multiplier(f, rows, i, y[i]), log2);
        m[i] = value > 0 && value < ldexp(1, ROOM_LOG2) ? (int64_t)llround(value) : 0;
    }
}

/* sum += m * coef, coef in the row's unit. */
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

static bool add_columns(const struct rp_formulation *f, const __int128 *price,
                        unsigned scale_log2, __int128 *sum) {
    for (uint32_t j = 0; j < f->n_cols; j++) {
        uint64_t time_ns = j < f->n_run_cols ? f->problem->time_ns[f->col_id[j]] : 0;
        __int128 reduced = (__int128)time_ns << scale_log2;
        if (__builtin_add_overflow(reduced, price[j], &reduced) ||
            (reduced < 0 && __builtin_add_overflow(*sum, reduced, sum)))
            return false;
    }
    return true;
}

bool rp_safe_dual_bound(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const int64_t *m, unsigned scale_log2, uint64_t *bound_ns) {
    __int128 *price = rp_calloc(f->n_cols, sizeof *price);
    __int128 sum = 0, one = (__int128)1 << scale_log2;
    for (uint32_t j = 0; j < f->problem->n_ops; j++)
        sum += (__int128)f->problem->time_ns[j] << scale_log2;
    bool fits =
        add_rows(f, rows, m, price, &sum) && add_columns(f, price, scale_log2, &sum);
    free(price);
    if (!fits)
        return false;
    __int128 up = sum / one + (sum % one > 0); /* division is towards zero */
    *bound_ns = up < 0 ? 0 : up > INT64_MAX ? INT64_MAX : (uint64_t)up;
    return true;
}
