/* program: a plan as a folder of source that carries it out by itself (`remat-plan emit`):
 * the tables as C, the kernels, what runs them, a Makefile and a README. */
#ifndef RP_EMIT_PROJECT_H
#define RP_EMIT_PROJECT_H

#include "emit/replay_tables.h"

/* PROFILE runs the step on a GPU for `remat-plan profile` to trace, and has no plan. */
enum rp_target { RP_TARGET_C, RP_TARGET_CUDA, RP_TARGET_PROFILE, RP_N_TARGETS };
extern const char *const rp_target_word[RP_N_TARGETS]; /* "c", "cuda", "profile" */

/* Makes `folder` if need be, and writes the program's files in it; what is there already,
 * byte for byte, is left alone and need not be compiled again. *bytes is their sum. RP_ENV
 * if one cannot be written. */
rp_rc rp_project_write(const struct rp_replay_tables *t, enum rp_target target,
                       const char *folder, uint64_t *bytes, struct rp_err *err);

/* plan.c alone (plan_c.c). */
void rp_project_put_plan(FILE *f, const struct rp_replay_tables *t, enum rp_target target);

#endif
