/* project: writes a plan as a folder of source files from which a program can be built
 * without remat-plan (`remat-plan emit`): the plan's tables as C, the kernels, main(), a
 * Makefile and a README.
 *
 * Thread-safe for different folders.
 */
#ifndef RP_EMIT_PROJECT_H
#define RP_EMIT_PROJECT_H

#include "emit/replay_tables.h"

/* RP_TARGET_PROFILE has no plan: it runs the step on a GPU for `remat-plan profile`, which
 * traces it. */
enum rp_target { RP_TARGET_C, RP_TARGET_CUDA, RP_TARGET_PROFILE, RP_N_TARGETS };
extern const char *const rp_target_word[RP_N_TARGETS]; /* "c", "cuda", "profile" */

/* Makes `folder` if it does not exist, and writes the program's files into it. A file that
 * is there already with the same bytes is not touched, so it need not be compiled again.
 * *bytes is the size of all files. RP_ENV if one cannot be written. */
rp_rc rp_project_write(const struct rp_replay_tables *t, enum rp_target target,
                       const char *folder, uint64_t *bytes, struct rp_err *err);

/* True if rp_project_write would replace the file at `path`, by whatever name. */
bool rp_project_replaces(enum rp_target target, const char *folder, const char *path);

#endif
