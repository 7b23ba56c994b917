/* forward: where the forward phase of a step ends, and where it can be cut.
 *
 * Policies of the literature speak of layers in a chain. Here any position of the forward
 * phase can be cut: what crosses it are the tensors made before it and read by forward ops
 * after it. In a chain that is one tensor; in a network with branches a cut where fewer
 * tensors cross than at its neighbours takes the place of the chain's layer boundary.
 */
#ifndef RP_POLICY_PHASES_H
#define RP_POLICY_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"

/* How many ops come before the backward phase: before the first op of that phase, or, in a
 * graph without phases, before memory is fullest when nothing is freed early. */
uint32_t rp_forward_ops(const struct rp_instance *p);

/* The op before the first that needs x in the backward phase; per tensor made in the
 * forward phase. RP_NONE: not needed there. */
uint32_t rp_backward_need(const struct rp_instance *p, uint32_t n_forward, uint32_t x);

/* The last reader of x in the forward phase, its producer if it has none. */
uint32_t rp_forward_last(const struct rp_instance *p, uint32_t n_forward, uint32_t x);

/* Words that begin the kinds of convolutions, and of products of matrices. */
bool rp_is_convolution(const struct rp_instance *p, uint32_t op);
bool rp_is_dense(const struct rp_instance *p, uint32_t op);

/* Segments of the forward phase: segment k is ops end[k-1] .. end[k]-1 (end[-1] is 0). */
struct rp_segments {
    uint32_t *end;
    uint32_t n;
};

/* The finest sensible segments: cut wherever not more tensors cross than at the positions
 * before and after, and something is dropped in between. */
void rp_segments_init(const struct rp_instance *p, uint32_t n_forward,
                      struct rp_segments *s);
void rp_segments_fini(struct rp_segments *s);

/* Tensors that cross the end of segment k: out[0 .. result-1], room for n_tensors. */
uint32_t rp_crossing(const struct rp_instance *p, uint32_t n_forward, uint32_t end,
                     uint32_t *out);

#endif
