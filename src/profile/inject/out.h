/* out: the trace file of this process, "$REMAT_TRACE/PID.trace", which profile/trace.h
 * reads. It is created with its first line, and each line states one fact.
 *
 * Thread-safe: lines may come from any thread.
 */
#ifndef RP_PROFILE_INJECT_OUT_H
#define RP_PROFILE_INJECT_OUT_H

#include <stdbool.h>
#include <stdint.h>

/* The folder for traces; NULL if tracing is off. */
const char *rp_out_folder(void);

/* Adds a line, unless the file is closed. Control characters become '?'. */
void rp_out_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes buffered lines to the file, so that they survive a crash of the process. */
void rp_out_flush(void);

/* Writes the end line and closes the file. Later lines are dropped. */
void rp_out_close(void);

/* Around fork: the child starts a file of its own. Only the parent writes the lines that it
 * has buffered. */
void rp_out_before_fork(void);
void rp_out_in_parent(void);
void rp_out_in_child(void);

#endif
