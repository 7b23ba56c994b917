/* swap_descent: takes copies out of a schedule, one by one.
 *
 * Where memory is short of what schedules without swaps need, the first schedule swaps
 * everything (local/offload_all.h) and takes 5 to 20 times as long as keep-all. A large
 * graph is hardly searched from there: annealing draws its moves at random, and the 20,000
 * intervals of a step of 10,000 ops leave it no time for each. This is a steepest descent
 * that looks at each copy in once. It is left out if the tensor fits on the device since
 * its last use, or if runs make it again from what is there or comes from the host in its
 * place. That takes a second or two at 10,000 ops and ends at 1.2 to 3.2 times keep-all on
 * ten networks, 4% above their floors, and at 5.4 times on ResNet-1001.
 *
 * Not thread-safe: one schedule, one thread.
 */
#ifndef RP_SOLVE_CONSTRUCT_SWAP_DESCENT_H
#define RP_SOLVE_CONSTRUCT_SWAP_DESCENT_H

#include "solve/core/schedule.h"

/* `s` fits the limits of the instance, which allows swaps and has no sources on the host.
 * Each change makes it faster, and it fits after each, so it does whenever `stop` (which
 * may be NULL) hits. At the end copies begin as early as memory allows (copy_ahead.h). */
void rp_swap_descent(const struct rp_instance *p, struct rp_stop *stop,
                     struct rp_schedule *s);

#endif
