/* network_layers: the layers of a network, as far as the graph shows them: the forward pass
 * is cut where the fewest tensors cross, which is one in a network without skips between
 * blocks.
 *
 * Thread-safe: functions only read what they are given.
 */
#ifndef RP_POLICY_NETWORK_LAYERS_H
#define RP_POLICY_NETWORK_LAYERS_H

#include <stdint.h>

#include "solve/core/instance.h"

/* The layer of each of n runs; op[i] is the op of run i. A forward op belongs to the layer
 * in which it lies. Another op belongs to the layer whose sources it uses, and if it uses
 * none, to that of the run before it. The order of the instance is the graph's. The caller
 * frees the result. */
uint32_t *rp_layers_of_runs(const struct rp_instance *p, const uint32_t *op, uint32_t n);

#endif
