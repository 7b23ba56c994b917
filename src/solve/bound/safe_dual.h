/* safe_dual: the dual bound in exact integers. For rows A v <= b, columns in [0, 1] with
 * costs c, and any multipliers y >= 0, no schedule is faster than
 *
 *   (7)  sum of time + sum over columns of min(0, c + A'y) - b y        (weak duality).
 *
 * It is a safe dual bound. Neumaier and Shcherbina, "Safe bounds in linear and
 * mixed-integer linear programming", 2004, round every operation towards the safe side.
 * Here the multipliers become integers first, so that all sums are exact, and only the
 * result is rounded up, since times are whole ns.
 *
 * Thread-safe: only the arguments are touched.
 */
#ifndef RP_SOLVE_BOUND_SAFE_DUAL_H
#define RP_SOLVE_BOUND_SAFE_DUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/lp/formulation.h"

/* Rounds multipliers y, scaled as the formulation is, to integers m[i] / 2^*scale_log2, in
 * ns, in ns per byte where the row counts bytes, or in ns per ns. The scale is as fine as
 * the largest multiplier allows. Negative and huge ones become 0. */
void rp_safe_dual_round(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const double *y, int64_t *m, unsigned *scale_log2);

/* (7) from multipliers m >= 0 over 2^scale_log2, rounded up to whole ns. False, and
 * *bound_ns is not touched, if a multiplier is negative, a sum exceeds 127 bits or a
 * coefficient is no exact integer. */
bool rp_safe_dual_bound(const struct rp_formulation *f, const struct rp_row_set *rows,
                        const int64_t *m, unsigned scale_log2, uint64_t *bound_ns);

/* The same, and reduced-cost fixing with these multipliers: sets known[j] to the value that
 * column j has in every schedule that takes less than cutoff_ns, which is above 0, or to
 * RP_UNDECIDED. If (7) is cutoff_ns or more there is no such schedule, and the values mean
 * nothing. False as above. */
bool rp_safe_dual_fix(const struct rp_formulation *f, const struct rp_row_set *rows,
                      const int64_t *m, unsigned scale_log2, uint64_t cutoff_ns,
                      uint64_t *bound_ns, uint8_t *known);

#endif
