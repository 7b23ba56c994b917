/* certificate_writer: writes a bound's proof to a file, for `verify --certificate`. The
 * format is docs/certificate.md. src/verify derives each row from the graph anew and shares
 * no code with this.
 */
#ifndef RP_SOLVE_BOUND_CERTIFICATE_WRITER_H
#define RP_SOLVE_BOUND_CERTIFICATE_WRITER_H

#include "solve/lp/formulation.h"

/* Writes the rows whose multiplier is above 0 to a file, whole or not at all ("-": standard
 * output). Row i has multiplier multipliers[i] / 2^scale_log2, in ns, or in ns per byte for
 * rows (4). Rows, multipliers, their formulation `f` and horizon_ns (0: for plans without
 * swaps) are those of a bound (pdhg_bound.h). The bound that the file claims is evaluated
 * from them anew. RP_BUG if a sum exceeds 127 bits; RP_ENV as rp_write_file.
 * Thread-safe. */
rp_rc rp_certificate_save(const char *path, const struct rp_graph *g,
                          const struct rp_formulation *f, bool addressed,
                          uint64_t budget_bytes, const struct rp_row_set *rows,
                          const int64_t *multipliers, unsigned scale_log2,
                          uint64_t horizon_ns, struct rp_err *err);

#endif
