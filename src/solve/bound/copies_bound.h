/* copies_bound: a lower bound of the time of plans that run each op once, in one pass over
 * the step.
 *
 * While op t runs, what has been made and is still needed takes e(t) bytes more than there
 * is room for, together with its workspace. So much is on the host alone. It was copied out
 * before op t begins, and is copied in after op t ends, each on a queue of its own:
 *
 *     time >= max(ops before t, copies out of e(t)) + time[t]
 *             + max(ops after t, copies in of e(t))
 *
 * Thread safety: reads p only.
 */
#ifndef RP_SOLVE_BOUND_COPIES_BOUND_H
#define RP_SOLVE_BOUND_COPIES_BOUND_H

#include "solve/core/instance.h"

/* p allows swaps; its ops run in its order. At least the sum of all op times, and no more
 * than that if sources may live on the host. */
uint64_t rp_copies_bound_ns(const struct rp_instance *p);

#endif
