/* fold: a smaller linear program with the same optimum, where columns are alike.
 *
 *   minimise  sum of cost[j] x[j],   rows  sum of a[i][j] x[j] <= b[i],   0 <= x[j] <= 1
 *
 * Columns that no row and no cost tells apart form a class, and one column stands for the
 * mean of its values. Rows that are alike become one, their mean. Classes are found by
 * colour refinement: two columns differ if their costs differ or what they have in rows
 * that differ, and two rows likewise (Grohe, Kersting, Mladenov and Selman, "Dimension
 * reduction via colour refinement", ESA 2014).
 *
 * Every point of the program gives one of the folded program that costs no more, whatever
 * the classes are: the coefficient of a class is the least of its columns, times their
 * number, so rows only become weaker and costs smaller. So a bound of the folded program is
 * one of the program, even if two hash values were equal by chance.
 *
 * Not thread-safe: one object, one thread. The same input gives the same result.
 */
#ifndef RP_SOLVE_MOMENT_FOLD_H
#define RP_SOLVE_MOMENT_FOLD_H

#include <stdbool.h>

#include "solve/lp/row_set.h"

struct rp_fold {
    uint32_t n_cols;        /* classes, in the order of their first columns */
    uint32_t *class_of;     /* per column */
    uint32_t *size;         /* per class: columns */
    double *cost;           /* per class */
    struct rp_row_set rows; /* about classes */
};

/* alone[j]: column j is a class of its own. The caller owns *f. */
void rp_fold_init(struct rp_fold *f, uint32_t n_cols, const double *cost, const bool *alone,
                  const struct rp_row_set *rows);
void rp_fold_fini(struct rp_fold *f); /* safe on a zeroed one */

#endif
