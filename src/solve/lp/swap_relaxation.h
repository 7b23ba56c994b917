/* swap_relaxation: how many bytes can be offloaded, that is, on the host alone, at a given
 * moment. It turns the linear program of formulation.h into a relaxation for plans that
 * swap.
 *
 * Take a plan whose first runs come in the instance's order, which runs nothing after the
 * last of them (copies may follow it), and which takes at most `horizon_ns`. Read S[t][x] =
 * 1 as: x is on the device or on the host as stage t begins, and before it is made again it
 * will be read (or, if it is kept, be there at the end). Then (2) and (3) hold as they do
 * without swaps, and so does all that formulation.h says of columns.
 *
 * But rows (4) now count offloaded tensors too. Let X be the set of those while op k runs
 * in stage t. All of X has been copied out by then, one tensor after the other, and all of
 * it will be copied in again later. The run starts no later than horizon_ns minus the times
 * of ops t and later. It ends no earlier than the times of the ops before t (t included, if
 * k = t). So
 *
 *   sum over X of out_ns <= horizon_ns - times of ops t ..
 *   sum over X of in_ns  <= horizon_ns - times of ops .. t - 1, or .. t if k = t.
 *
 * The bytes of X are at most each of these times multiplied by the best rate of any tensor,
 * and at most what the host may hold. If few tensors can be in X at all (made before,
 * wanted later, with time for both copies), all sets of them are enumerated, and each is
 * checked against when its tensors are made and wanted. The largest number of bytes that X
 * can have is added to the limit of row (4).
 *
 * What is proved holds for plans of at most `horizon_ns`. So no bound above horizon_ns is
 * valid.
 */
#ifndef RP_SOLVE_LP_SWAP_RELAXATION_H
#define RP_SOLVE_LP_SWAP_RELAXATION_H

#include "solve/core/instance.h"

/* Fills limit_bytes, which is laid out as in struct rp_formulation. p has passed
 * rp_instance_allow_swap. last_use[x]: an op whose first run is the last read of x, or
 * comes after it; n_ops if x is kept. A horizon below the sum of all op times counts as
 * that sum. Thread-safe. */
void rp_swap_relaxation_limits(const struct rp_instance *p, const uint32_t *last_use,
                               uint64_t horizon_ns, uint64_t *limit_bytes);

#endif
