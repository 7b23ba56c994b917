/* perturb: the step of iterated local search (Lourenço, Martin and Stützle, "Iterated local
 * search", 2003) that leads away from a local optimum, for schedules that may swap.
 *
 * Which large tensors are on the host is what annealing changes least: the copy of one
 * takes the place of many others on its queue, and no single move brings it there and takes
 * them off. This does. It draws a tensor by its bytes, among those that nothing uses for
 * longer than both copies take. If it is on the host meanwhile, and can be made again, it
 * no longer is. Else it goes there, and others that are swapped, drawn at random, stay on
 * the device or are made again, until their copies took as long as its own.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_SEARCH_PERTURB_H
#define RP_SOLVE_SEARCH_PERTURB_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/schedule.h"

/* Leaves in `to` a changed copy of `from`: sound, but perhaps over the limit and slower.
 * `from` is sound. `to` has its shape or no rows yet. `random` is the state of random.h.
 * The instance allows swaps and has no sources that may live on the host. False if a few
 * draws lead to no such schedule, or once `stop` hits, which may be NULL; then what `to`
 * holds has no meaning. */
bool rp_perturb(const struct rp_instance *p, uint64_t *random, struct rp_stop *stop,
                const struct rp_schedule *from, struct rp_schedule *to);

#endif
