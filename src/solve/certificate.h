/* certificate: writes down why a bound holds, for verify --certificate
 * (docs/certificate.md).
 */
#ifndef RP_SOLVE_CERTIFICATE_H
#define RP_SOLVE_CERTIFICATE_H

#include "solve/formulate.h"

/* Writes the rows with a multiplier above 0, whole or not at all ("-": standard output).
 * They are rows of rp_form_init(p) with this most_ns (0: no swaps; away.h) and no other
 * option, multipliers[i] / 2^scale_log2 each, in ns, in ns a byte for rows (4): as
 * rp_bound_rows, rp_bound_multipliers and rp_bound_most_ns give them. What is claimed is
 * what they are worth; RP_BUG if that is nothing that 127 bits can hold. */
rp_rc rp_certificate_save(const char *path, const struct rp_graph *g,
                          const struct rp_problem *p, bool addressed, uint64_t budget_bytes,
                          const struct rp_rows *rows, const int64_t *multipliers,
                          unsigned scale_log2, uint64_t most_ns, struct rp_err *err);

#endif
