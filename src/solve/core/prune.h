/* tidy: takes the holds and swap-ins that serve nothing out of a schedule. */
#ifndef RP_SOLVE_CORE_PRUNE_H
#define RP_SOLVE_CORE_PRUNE_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Clears S[t][x] and I[t][x] where stage t neither reads x nor holds it on (and at the end,
 * where x is not kept). What x was made for is gone then, so no stage runs more ops and
 * none holds more bytes than before. What is swapped anywhere keeps its holds: they may be
 * waits for its copy out. False, with `s` partly done, if `s` is not sound. */
bool rp_schedule_prune(const struct rp_instance *p, struct rp_schedule *s);

#endif
