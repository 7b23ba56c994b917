/* out: the trace file of this process, a line a fact (profile/trace.h reads it). Lines
 * from any thread. The file "$REMAT_TRACE/PID.trace" begins to exist with its first line.
 */
#ifndef RP_PROFILE_INJECT_OUT_H
#define RP_PROFILE_INJECT_OUT_H

#include <stdbool.h>
#include <stdint.h>

/* Where traces go; NULL: nobody asked for any. */
const char *rp_out_folder(void);

/* Nothing once the file is closed. Control characters become '?'. */
void rp_out_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What was said so far is in the file from now on, whatever becomes of the process. */
void rp_out_flush(void);

/* Writes the end line; what comes later is lost. */
void rp_out_close(void);

/* Around fork: the child begins anew, and what the parent has not written yet is the
 * parent's. */
void rp_out_before_fork(void);
void rp_out_in_parent(void);
void rp_out_in_child(void);

#endif
