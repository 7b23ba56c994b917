/* pack_csv: buffers to place, in the CSV format of MiniMalloc.
 *
 * The first line names the columns, in any order: id, lower, upper, size, and perhaps
 * offset. A buffer is live in [lower, upper): `upper` is the first moment at which its
 * memory is free again. Fields are not quoted; numbers are plain decimal; lines end in LF
 * or CR LF. An offset that was read is replaced when the buffers are placed.
 */
#ifndef RP_PACK_BUFFERS_CSV_H
#define RP_PACK_BUFFERS_CSV_H

#include "pack/packer.h"

struct rp_buffers_csv {
    struct {
        struct rp_buffer *at;
        size_t n, cap;
    } buffers;
    struct {
        char **at; /* by buffer */
        size_t n, cap;
    } ids;
};

/* The caller owns `csv` on RP_OK; otherwise it is empty. RP_INPUT: "file:line: rule". */
rp_rc rp_buffers_csv_load(const char *path, struct rp_buffers_csv *csv, struct rp_err *err);
rp_rc rp_buffers_csv_parse(const char *text, size_t len, const char *file,
                           struct rp_buffers_csv *csv, struct rp_err *err);

/* The same lines with an offset column, columns in the order above, into a file or "-". */
rp_rc rp_buffers_csv_save(const struct rp_buffers_csv *csv, const char *path,
                          struct rp_err *err);
void rp_buffers_csv_fini(struct rp_buffers_csv *csv); /* safe on an empty or zeroed one */

#endif
