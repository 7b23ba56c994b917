/* program: a plan as a folder of source that carries it out by itself (`remat-plan emit`):
 * the tables as C, the kernels, what runs them, a Makefile and a README. */
#ifndef RP_EMIT_PROGRAM_H
#define RP_EMIT_PROGRAM_H

#include "emit/tables.h"

enum rp_target { RP_TARGET_C, RP_TARGET_CUDA, RP_N_TARGETS };
extern const char *const rp_target_word[RP_N_TARGETS]; /* "c", "cuda" */

/* Makes `folder` if need be, and writes or rewrites the program's files in it. *bytes is
 * their sum. RP_ENV if one cannot be written. */
rp_rc rp_program_write(const struct rp_tables *t, enum rp_target target, const char *folder,
                       uint64_t *bytes, struct rp_err *err);

/* plan.c alone (put_plan.c). */
void rp_program_put_plan(FILE *f, const struct rp_tables *t, enum rp_target target);

#endif
