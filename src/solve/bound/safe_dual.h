/* dual: the bound (7) of pdhg_bound.h in exact integers. */
#ifndef RP_SOLVE_BOUND_SAFE_DUAL_H
#define RP_SOLVE_BOUND_SAFE_DUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/lp/formulation.h"

/* Multipliers y (scaled as the form is) rounded to integers m over 2^*scale_log2, in ns (a
 * byte, where the row counts bytes); the scale is as large as the largest of them allows.
 */
void rp_safe_dual_round(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const double *y, int64_t *m, unsigned *scale_log2);

/* (7), rounded up to whole ns, from multipliers m >= 0 over 2^scale_log2. False, *bound_ns
 * untouched, if a sum passes 127 bits or a coefficient is no exact integer. */
bool rp_safe_dual_bound(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const int64_t *m, unsigned scale_log2, uint64_t *bound_ns);

#endif
