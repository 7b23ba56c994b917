/* cover: cuts from one memory row. In  sum a[i] x[i] <= b  over 0/1 columns, a set C too
 * heavy to be all 1 gives  sum over C of x[i] <= |C| - 1.  Other columns are lifted into it
 * one by one, each with the largest coefficient that keeps it valid:
 *
 *   (6)  sum of alpha[i] x[i] <= beta,  alpha and beta integers,
 *
 * which holds for every 0/1 x with sum a[i] x[i] <= b: that alone makes the cut right, and
 * a table of the least weight for each left side checks it. (Lifted cover inequalities:
 * Balas 1975; Zemel 1989 for the table.)
 */
#ifndef RP_SOLVE_LP_SEP_COVER_H
#define RP_SOLVE_LP_SEP_COVER_H

#include "solve/lp/formulation.h"

/* Appends to `to` a cut (6) from row i of `from`, if point v violates it by at least
 * `least` over its length. `to` must not be `from`. */
bool rp_sep_cover_find(const struct rp_row_set *from, uint32_t i, const double *v,
                       double least, struct rp_row_set *to);

#endif
