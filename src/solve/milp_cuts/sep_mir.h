/* sep_mir: mixed-integer rounding cuts of rows and of sums of rows (Marchand and Wolsey,
 * "Aggregation and mixed integer rounding to solve MIPs", 2001).
 *
 * Let  sum of a[j] x[j] <= b + s  hold for integers x[j] >= 0 and a number s >= 0. Then,
 * for any delta > 0 and f = b / delta - floor(b / delta),
 *
 *   sum of F(a[j] / delta) x[j] <= floor(b / delta) + s / (delta (1 - f)),
 *   F(u) = floor(u) + max(0, u - floor(u) - f) / (1 - f).
 *
 * A row gets this form with its integer columns, or their complements, as x, and with what
 * its continuous columns can take off as s. If that gives no cut, the continuous column
 * that takes off most at the point is eliminated by another row, whose slack becomes a part
 * of s. delta is the coefficient of a column that is positive at the point, or a half, a
 * quarter or an eighth of it.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_SEP_MIR_H
#define RP_SOLVE_MILP_SEP_MIR_H

#include "solve/lp/row_set.h"

/* Columns 0 .. n_integer - 1 are 0 or 1, and low = high where it is known which. The others
 * are continuous, and 0 or more. The caller owns the arrays. */
struct rp_mir_columns {
    uint32_t n, n_integer;
    const double *low, *high; /* per integer column */
};

struct rp_mir;
struct rp_mir *rp_mir_new(struct rp_mir_columns columns);
void rp_mir_free(struct rp_mir *m); /* NULL is fine */

/* Appends cuts for all points that meet `rows` and the columns' bounds, at most one for
 * each row, if their efficacy at point x is at least min_efficacy: the violation divided by
 * the Euclidean norm. They are scaled so that continuous columns have the coefficients of
 * the sum of rows. `cuts` may be `rows`. Returns how many terms it looked at. */
uint64_t rp_mir_find(struct rp_mir *m, const struct rp_row_set *rows, const double *x,
                     double min_efficacy, struct rp_row_set *cuts);

#endif
