/* buffers_csv: buffers to place, in the CSV format of MiniMalloc.
 *
 * The first line names the columns, in any order: id, lower, upper, size, and
 * optionally offset. A buffer is live in [lower, upper): `upper` is the first moment at
 * which its memory is free again. Fields are not quoted, numbers are plain decimal, and
 * lines end in LF or CR LF. rp_pack replaces an offset that was read.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_PACK_BUFFERS_CSV_H
#define RP_PACK_BUFFERS_CSV_H

#include "base/mem.h"
#include "pack/packer.h"

struct rp_buffers_csv {
    RP_VEC(struct rp_buffer) buffers;
    RP_VEC(char *) ids; /* by buffer */
};

/* The caller owns `csv` on RP_OK; otherwise it is empty. RP_INPUT: "file:line: rule". */
rp_rc rp_buffers_csv_load(const char *path, struct rp_buffers_csv *csv, struct rp_err *err);
rp_rc rp_buffers_csv_parse(const char *text, size_t len, const char *file,
                           struct rp_buffers_csv *csv, struct rp_err *err);

/* Writes the same lines with an offset column to a file or to standard output ("-"). The
 * columns are in the order above. */
rp_rc rp_buffers_csv_save(const struct rp_buffers_csv *csv, const char *path,
                          struct rp_err *err);
void rp_buffers_csv_fini(struct rp_buffers_csv *csv); /* safe on an empty or zeroed one */

#endif
