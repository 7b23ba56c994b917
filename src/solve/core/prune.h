/* prune: removes holds and swap-ins without a use from a schedule.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_CORE_PRUNE_H
#define RP_SOLVE_CORE_PRUNE_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Clears S[t][x] and I[t][x] where stage t neither reads x nor holds it on, and the last
 * row where x is not kept. No stage runs more ops or holds more bytes than before, since a
 * run that only made x for such a hold disappears with it. Tensors that are swapped
 * anywhere keep their holds, since these may wait for the copy out; so do sources that stay
 * on the device. False, with `s` partly pruned, if a stage lacks what it needs. A schedule
 * with swaps may be unsound although this is true: rp_schedule_cost says so. */
bool rp_schedule_prune(const struct rp_instance *p, struct rp_schedule *s);
/* The same, but false once `stop` hits. */
bool rp_schedule_prune_until(const struct rp_instance *p, struct rp_schedule *s,
                             struct rp_stop *stop);

#endif
