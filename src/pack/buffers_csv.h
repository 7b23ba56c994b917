/* buffers_csv: buffers to place, in the CSV format of MiniMalloc.
 *
 * The first line names the columns, in any order: id, lower, upper, size, and
 * optionally alignment, gaps, hint and offset. A buffer is live in [lower, upper): `upper`
 * is the first moment at which its memory is free again. MiniMalloc's older names are read
 * too: buffer or buffer_id for id, begin or start for lower, and `end` for the last moment
 * at which a buffer is live, which then goes for the ends of gaps as well. Fields are not
 * quoted, numbers are plain decimal, and lines end in LF or CR LF.
 *
 * The alignment is of the offset alone. `gaps` has spans "3-5" with blanks between them, in
 * which nothing of the buffer is live, or, as "3-5@16:32", only its bytes from 16 to
 * below 32. A hint or an offset that was read is not used.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_PACK_BUFFERS_CSV_H
#define RP_PACK_BUFFERS_CSV_H

#include "base/mem.h"
#include "pack/packer.h"
#include "pack/piecewise.h"

struct rp_buffers_csv {
    RP_VEC(struct rp_buffer) buffers;
    RP_VEC(char *) ids;            /* by buffer */
    RP_VEC(uint64_t) alignments;   /* by buffer; 1: any */
    RP_VEC(struct rp_gap) gaps;    /* by buffer, and by time */
    bool has_alignments, has_gaps; /* in the header */
};

/* The caller owns `csv` on RP_OK; otherwise it is empty. RP_INPUT: "file:line: rule". */
rp_rc rp_buffers_csv_load(const char *path, struct rp_buffers_csv *csv, struct rp_err *err);
rp_rc rp_buffers_csv_parse(const char *text, size_t len, const char *file,
                           struct rp_buffers_csv *csv, struct rp_err *err);

/* Writes the same lines with an offset column to a file or to standard output ("-"). The
 * columns are in the order above, with the alignment and gaps only if they were read. */
rp_rc rp_buffers_csv_save(const struct rp_buffers_csv *csv, const char *path,
                          struct rp_err *err);
void rp_buffers_csv_fini(struct rp_buffers_csv *csv); /* safe on an empty or zeroed one */

#endif
