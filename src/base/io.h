/* io: whole files in, whole files out. */
#ifndef RP_BASE_IO_H
#define RP_BASE_IO_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/* Opens descriptors 0, 1 and 2 where they are closed, so that no file of ours lands there;
 * using them still fails, as it should. For main, before anything else. */
void rp_hold_standard_streams(void);

/* How messages name the file to read: "-" is "standard input". */
const char *rp_path_name(const char *path);

/* Reads all of `path` ("-" is standard input). *text is NUL-terminated and the caller's to
 * free on RP_OK. RP_ENV if it cannot be read. */
rp_rc rp_read_file(const char *path, char **text, size_t *len, struct rp_err *err);

/* Writes beside `path`, syncs and renames: `path` holds either what it held before or all
 * of `text`. "-" is standard output; a link is followed; what is not a plain file is
 * written into. RP_ENV if it cannot be written. */
rp_rc rp_write_file(const char *path, const char *text, size_t len, struct rp_err *err);

/* Could rp_write_file write there? Asked before the work whose result it is; leaves nothing
 * behind. RP_ENV, and the same words, if not. */
rp_rc rp_probe_file(const char *path, struct rp_err *err);

/* A stream whose text is at *text (NUL-terminated, the caller's to free) once it is closed.
 */
FILE *rp_text_open(char **text, size_t *len);
void rp_text_close(FILE *f);

/* Output that did not reach its end is a failure, whatever the command said before. */
rp_rc rp_close_stdout(rp_rc rc, struct rp_err *err);

#endif
