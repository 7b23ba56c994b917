/* phases: where the forward phase of a step ends, and which op kinds policies tell apart.
 *
 * Thread-safe: functions only read what they are given.
 */
#ifndef RP_POLICY_PHASES_H
#define RP_POLICY_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"

/* How many ops the forward phase has: those before the first op of the backward phase, or
 * if there is none, of the update phase. (An update that counts steps may come first.) In a
 * graph without phases it ends with the op at which memory is fullest if every tensor is
 * kept to its last need. */
uint32_t rp_forward_ops(const struct rp_instance *p);

/* The first op of the backward phase that reads x; RP_NONE if none does. */
uint32_t rp_backward_need(const struct rp_instance *p, uint32_t n_forward, uint32_t x);

/* The last reader of x in the forward phase; its producer if it has none there. */
uint32_t rp_forward_last(const struct rp_instance *p, uint32_t n_forward, uint32_t x);

/* The graph was captured from PyTorch: some op has the name of one of its operators. */
bool rp_is_captured(const struct rp_graph *g);

/* By the op's kind. Dense: convolutions and matrix products. */
bool rp_is_convolution(const struct rp_instance *p, uint32_t op);
bool rp_is_dense(const struct rp_instance *p, uint32_t op);
bool rp_is_softmax(const struct rp_instance *p, uint32_t op);

#endif
