/* bound_ns: what a bound in floating point proves of a time in whole ns. Thread-safe: there
 * is no state. */
#ifndef RP_SOLVE_LP_BOUND_NS_H
#define RP_SOLVE_LP_BOUND_NS_H

#include <stdint.h>

/* The least time of a plan that takes `ns` or more, if all times are multiples of
 * divisor_ns: `ns` rounded up to one, or beyond 2^52, where the quotient may be off by more
 * than 1, rounded down. 0 unless ns is above 0. UINT64_MAX where no plan takes so long,
 * from RP_MAX_QUANTITY on. */
uint64_t rp_bound_ns(double ns, uint64_t divisor_ns);

#endif
