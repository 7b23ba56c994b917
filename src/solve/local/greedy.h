/* greedy: a schedule that fits, in one pass, for graphs too large to search from nothing.
 *
 * The step is followed op by op. What is missing is made again, and where memory is short
 * that is dropped which is largest, longest unused and cheapest to make again: Belady's
 * rule with the costs of Kirisame et al., "Dynamic Tensor Rematerialization" (ICLR 2021),
 * but with the future known.
 */
#ifndef RP_SOLVE_LOCAL_GREEDY_H
#define RP_SOLVE_LOCAL_GREEDY_H

#include <stdbool.h>

#include "solve/core/schedule.h"

/* Into `s`, which has the problem's shape. False, with `s` partly changed, if the pass
 * comes to a dead end or makes too much again; nothing is swapped. */
bool rp_schedule_greedy(const struct rp_instance *p, struct rp_schedule *s);

/* The other extreme: whatever is not used in a stage is on the host alone meanwhile, so no
 * stage holds more than an op's working set; `early`: kept tensors are on the device from
 * their last use on, else they come in at the end. Nothing runs again, and much waits. For
 * where nothing better fits; `p` allows swaps. */
void rp_schedule_offload_all(const struct rp_instance *p, bool early,
                             struct rp_schedule *s);

#endif
