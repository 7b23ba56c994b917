/* io: reads and writes whole files, and text in memory.
 *
 * Different threads may use different files; standard output belongs to one thread. Running
 * out of memory ends the process, as base/mem.h says. */
#ifndef RP_BASE_IO_H
#define RP_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/* Opens each of the descriptors 0, 1 and 2 that is closed, so that no file gets its number.
 * Reading or writing such a stream still fails. main calls this before anything else. */
void rp_hold_standard_streams(void);

/* The name of a file to read in messages: "standard input" for "-". */
const char *rp_path_name(const char *path);

/* Reads all of `path`; "-" is standard input. On RP_OK, *text is NUL-terminated and the
 * caller frees it. RP_ENV if the file cannot be read. */
rp_rc rp_read_file(const char *path, char **text, size_t *len, struct rp_err *err);

/* Writes `text` to a new file beside `path`, syncs it and renames it to `path`. So `path`
 * holds either what it held before or all of `text`, whatever ends the program. Until it
 * has all of it the new file has no name, where the file system has such files, so that
 * nothing is left of it either. "-" is standard output. A link is
 * followed, and a file that is not a regular one is written in place. RP_ENV if the file
 * cannot be written. */
rp_rc rp_write_file(const char *path, const char *text, size_t len, struct rp_err *err);

/* Writes all of `text` to an open file. False, with errno set, if that fails. */
bool rp_write_all(int fd, const char *text, size_t len);

/* Checks that rp_write_file can write to `path`, before the work whose result goes there.
 * Leaves nothing behind. RP_ENV with the message of rp_write_file if it cannot. */
rp_rc rp_probe_file(const char *path, struct rp_err *err);

/* True if two outputs go to one place, by whatever names. They may both go to /dev/null.
 * Files that do not exist are the same if their names and folders are. "-" is standard
 * output. */
bool rp_same_output(const char *a, const char *b);

/* True if writing the output would take the place of the input, by whatever names: a file,
 * or a pipe. "-" is standard output and standard input. */
bool rp_replaces(const char *output, const char *input);

/* Opens a stream into memory. Once it is closed, its text is at *text, NUL-terminated, and
 * the caller frees it. */
FILE *rp_text_open(char **text, size_t *len);
void rp_text_close(FILE *f);

/* Closes such a stream, writes *text to `path` like rp_write_file, and frees *text. */
rp_rc rp_text_save(FILE *f, char **text, size_t *len, const char *path, struct rp_err *err);

/* Flushes standard output. Returns `rc`, or RP_ENV if some output could not be written. */
rp_rc rp_close_stdout(rp_rc rc, struct rp_err *err);

#endif
