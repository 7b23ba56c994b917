/* away: how much may be on the host alone. With it the linear program of formulation.h
 * becomes a relaxation for plans that swap.
 *
 * Let a plan have its first runs in the problem's order, run nothing after the last of
 * them, and take at most `horizon_ns`. Read S[t][x] = 1 as: x is on the device or the host
 * as stage t begins, and will be read, or be there at the end if it is kept, before it is
 * made again. Then (2) and (3) hold as they do without swaps, and so does all that is said
 * of columns.
 *
 * Rows (4) count what is on the host alone too. While op k runs in stage t let that be X.
 * All of X has been copied out, one tensor after the other, and will be copied in again
 * later. The run starts no later than horizon_ns - the times of ops t and later, and ends
 * no earlier than the times of ops before t (of t too, if k = t). So
 *
 *   sum over X of out_ns <= horizon_ns - time of ops t ..
 *   sum over X of in_ns  <= horizon_ns - time of ops .. t - 1, or .. t
 *
 * and the bytes of X are at most each of these times the best rate of any tensor, and at
 * most what the host holds. Where few tensors can be in X at all (made before, wanted
 * later, with time for both copies), all sets of them are tried against when they are made
 * and wanted. The most that X can have is added to the limit. What is proved is so for
 * plans of at most `horizon_ns`: a bound above that is cut off there.
 */
#ifndef RP_SOLVE_LP_SWAP_RELAXATION_H
#define RP_SOLVE_LP_SWAP_RELAXATION_H

#include "solve/core/instance.h"

/* limit_bytes as in struct rp_formulation; p has passed rp_instance_allow_swap. last_use:
 * per tensor the op before whose first run it is read for the last time, or which reads it
 * then; n_ops if it is kept. */
void rp_swap_relaxation_limits(const struct rp_instance *p, const uint32_t *last_use,
                               uint64_t horizon_ns, uint64_t *limit_bytes);

#endif
