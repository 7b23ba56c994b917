/* certificate: writes down why a bound holds, for verify --certificate
 * (docs/certificate.md).
 */
#ifndef RP_SOLVE_BOUND_CERTIFICATE_WRITER_H
#define RP_SOLVE_BOUND_CERTIFICATE_WRITER_H

#include "solve/lp/formulation.h"

/* Writes the rows with a multiplier above 0, whole or not at all ("-": standard output):
 * multipliers[i] / 2^scale_log2 each, in ns, in ns a byte for rows (4). Rows, multipliers,
 * their formulation `f` and horizon_ns (0: for plans without swaps) are what a bound has.
 * What is claimed is what they are worth; RP_BUG if that is nothing that 127 bits can hold.
 */
rp_rc rp_certificate_save(const char *path, const struct rp_graph *g,
                          const struct rp_formulation *f, bool addressed,
                          uint64_t budget_bytes, const struct rp_row_set *rows,
                          const int64_t *multipliers, unsigned scale_log2,
                          uint64_t horizon_ns, struct rp_err *err);

#endif
