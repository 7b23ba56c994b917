/* sep_cover: lifted cover inequalities from one memory row.
 *
 * In  sum a[i] x[i] <= b  over 0/1 columns, a cover C is a set of columns whose weights add
 * up to more than b. They cannot all be 1, so  sum over C of x[i] <= |C| - 1.  The other
 * columns are lifted into this row one by one, each with the largest coefficient that keeps
 * it valid:
 *
 *   (6)  sum of alpha[i] x[i] <= beta,  alpha and beta integers.
 *
 * (6) holds for every 0/1 x with sum a[i] x[i] <= b. That alone makes it valid, and a table
 * of the least weight for each value of the left side can check it. (Lifted cover
 * inequalities: Balas, "Facets of the knapsack polytope", 1975. Lifting by that table:
 * Zemel, "Easily computable facets of the knapsack polytope", 1989.)
 *
 * Thread-safe: rp_sep_cover_find touches only its arguments.
 */
#ifndef RP_SOLVE_LP_SEP_COVER_H
#define RP_SOLVE_LP_SEP_COVER_H

#include <stdbool.h>

#include "solve/lp/row_set.h"

/* Appends to `to` a cut (6) from row i of `from`, if its efficacy at point v is at least
 * min_efficacy: the violation divided by the Euclidean norm of alpha. `to` must not be
 * `from`. */
bool rp_sep_cover_find(const struct rp_row_set *from, uint32_t i, const double *v,
                       double min_efficacy, struct rp_row_set *to);

/* Branch and cut's family (separation.h): of each stage the most violated cover. */
struct rp_cut_family;
extern const struct rp_cut_family rp_sep_cover_family;

#endif
