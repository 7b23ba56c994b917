/* plan_c: writes plan.c of an emitted program: the tables of runtime/replay.h as source
 * that is both C11 and C++20. The same tables give the same bytes. Write errors stay with
 * the stream.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_EMIT_PLAN_C_H
#define RP_EMIT_PLAN_C_H

#include "emit/project.h"

void rp_plan_c_write(const struct rp_replay_tables *t, enum rp_target target, FILE *f);

#endif
