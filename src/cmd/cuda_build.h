/* cmd_cuda: what commands that build and run a program for a GPU share: what the machine
 * has, a folder for the moment, commands run in it. What is missing is said in one line
 * that begins with `who`. */
#ifndef RP_CMD_CUDA_BUILD_H
#define RP_CMD_CUDA_BUILD_H

#include <stdint.h>

#include "base/status.h"

/* RP_ENV if there is no driver or no GPU of that number. *arch is nvcc's name for the GPU's
 * kind, such as sm_90, for the caller to free. */
rp_rc rp_cuda_find_gpu(const char *who, uint64_t gpu, char **arch, struct rp_err *err);

/* $CUDA_HOME's, else PATH's, else the usual place's; for the caller to free. */
rp_rc rp_cuda_find_nvcc(const char *who, char **nvcc, struct rp_err *err);

/* A new folder below $TMPDIR. Until it is closed, a signal that would end this program ends
 * the command that runs in it, and takes effect when the folder is gone. */
rp_rc rp_cuda_open_folder(char **folder, struct rp_err *err);
void rp_cuda_close_folder(char *folder); /* removes it; safe on NULL */

/* Runs argv in `folder`, its output in files `out` and `err` there. The exit code; 255 if
 * it could not be run, or was ended by a signal. */
int rp_cuda_run(const char *folder, char *const *argv);

/* The first line of a file there, empty if there is none; for the caller to free. */
char *rp_cuda_said(const char *folder, const char *name);

/* RP_ENV: "who: what: the first line of file `err`". */
rp_rc rp_cuda_failed(const char *who, const char *folder, const char *what,
                     struct rp_err *err);

/* Builds the emitted program as NAME. */
rp_rc rp_cuda_build(const char *who, const char *folder, const char *nvcc, const char *arch,
                    const char *name, struct rp_err *err);

#endif
