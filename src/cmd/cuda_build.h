/* cuda_build: builds and runs programs on this machine's GPU, in a folder.
 *
 * Messages begin with `caller`, the command and option that need the GPU. Not thread-safe:
 * one folder is open at a time, since signals are caught for it. */
#ifndef RP_CMD_CUDA_BUILD_H
#define RP_CMD_CUDA_BUILD_H

#include <stdint.h>

#include "base/status.h"

/* Finds a GPU by its number. *arch is nvcc's name for its architecture, such as sm_90, for
 * the caller to free. RP_ENV if there is no driver or no such GPU. */
rp_rc rp_cuda_find_gpu(const char *caller, const char *advice, uint64_t gpu, char **arch,
                       struct rp_err *err);

/* Makes the folder `given`, unless it is there, or a temporary one in $TMPDIR if it is
 * NULL. *folder is its absolute path. Until it is closed, a signal that would end
 * remat-plan ends the command that runs in the folder instead. rp_cuda_close_folder raises
 * the signal again after it has removed a temporary folder. RP_ENV, and *folder is NULL, if
 * the folder cannot be made. */
rp_rc rp_cuda_open_folder(const char *given, char **folder, struct rp_err *err);
void rp_cuda_close_folder(const char *given, char *folder); /* safe on a folder of NULL */

/* Runs argv in `folder`, with its output in the files `out` and `err` there. Returns its
 * exit code; 255 if it could not be run, or if a signal ended it. */
int rp_cuda_run(const char *folder, char *const *argv);

/* The first line of a file in the folder; empty if there is no such file. The caller frees
 * it. */
char *rp_cuda_first_line(const char *folder, const char *name);

/* Returns RP_ENV, with the message "caller: what: LINE". LINE is the first of the file
 * `err` that names an error, or else its first. */
rp_rc rp_cuda_fail(const char *caller, const char *folder, const char *what,
                   struct rp_err *err);

/* Builds the emitted program in the folder, as `name`, with what its find-cuda.sh finds.
 * RP_ENV if the compiler or a library is missing, or does not build for `arch`. */
rp_rc rp_cuda_build(const char *caller, const char *folder, const char *arch,
                    const char *name, struct rp_err *err);

#endif
